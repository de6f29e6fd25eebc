"""`bayeskit.read`: one reader of files and frames for Python, the command and the page."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bayeskit.errors import TableError
from bayeskit.kinds.reader import read_written_table
from bayeskit.kinds.remedies import Remedies
from bayeskit.table.files import TableFile, require_pyarrow
from bayeskit.table.frames import arrow_table
from bayeskit.table.missing_words import usual_as_missing, without_words
from bayeskit.table.names import not_found
from bayeskit.table.read_result import ReadTable


def read(
    table: Any,
    target: str | None = None,
    *,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    date_order: str | None = None,
    missing: Sequence[str] = (),
    merge_labels: bool = False,
    drop_duplicates: bool = False,
    drop_rare_classes: bool = False,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    sheet: str | int | None = None,
    skip: int = 0,
) -> ReadTable:
    """Read a file or a frame: what its columns are and why, what was converted and how, and what is wrong with it.

    Parameters
    ----------
    table : path or frame
        A CSV, JSON Lines, Parquet, Feather or Excel file; or a pandas or polars frame, an Arrow table or a dict of
        columns.
    target : str, optional
        The column to predict.
    ignore : collection of str
        Columns to leave out.
    kinds : dict of column name to kind, optional
        Kinds that are given rather than inferred.
    decimal, date_order : str, optional
        The decimal separator of text columns, "." or ",", and the order of their dates, "dmy", "mdy" or "ymd"; decided
        from the cells when it is not given.
    missing : sequence of str
        Words for a missing cell, besides the usual ones; ``"age=-1"`` is one of the column ``age`` only.
    merge_labels : bool
        Merge other spellings of a value, such as `` Yes`` and ``yes``, in the target and in categorical columns.
    drop_duplicates, drop_rare_classes : bool
        Leave out rows that are equal to an earlier one, and rows of classes with fewer than five rows.
    encoding, delimiter : str, optional
        Of a text file; both are detected, and a guess of the encoding is a warning.
    sheet : str or int, optional
        The sheet of a workbook, by name or by number from 1; the first by default.
    skip : int
        Lines of a text file, or rows of a sheet, before the column names. Title rows of a sheet are skipped without.

    Returns
    -------
    ReadTable
        Every model's ``fit`` takes it.

    Examples
    --------
    >>> import bayeskit
    >>> table = bayeskit.read({"doors": [2, 4, 4], "price": ["1.5", "2", "7"], "sold": ["no", "yes", "no"]}, "sold")
    >>> table.kinds
    {'doors': 'categorical', 'price': 'numeric'}
    """
    require_pyarrow("bayeskit.read")
    if isinstance(table, str | os.PathLike):
        file = TableFile.open(table, encoding, delimiter, missing=missing, keep=True, sheet=sheet, skip=skip)
        raw, name, form = file.read_written(), file.name, {**file.form, "said": file.said}
    else:
        _refuse_options_of_files({"delimiter": delimiter, "sheet": sheet, "skip": skip or None})
        raw, said = usual_as_missing(arrow_table(table))
        name, form = "table", {"said": said}
        raw = raw.from_arrays([without_words(column, missing) for column in raw.columns], names=raw.column_names)
    if target is not None and target not in raw.column_names:
        raise TableError(f"target: {not_found('column', target, raw.column_names)}")
    return read_written_table(
        raw,
        target,
        name=name,
        ignore=ignore,
        kinds=kinds,
        decimal=decimal,
        date_order=date_order,
        missing=missing,
        remedies=Remedies(merge_labels, drop_duplicates, drop_rare_classes),
        **form,
    )


def _refuse_options_of_files(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise TableError(f"{name} is for files; a frame has none. Leave it out.", name)
