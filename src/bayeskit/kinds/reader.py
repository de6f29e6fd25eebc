"""A table as it was written → a table that was read: cells converted, labels read, kinds inferred."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from bayeskit.kinds.infer import infer_kinds, read_features
from bayeskit.kinds.written import read_columns
from bayeskit.table.problem import Problem
from bayeskit.table.read_result import ReadTable
from bayeskit.table.target import Target, read_target

if TYPE_CHECKING:
    import pyarrow as pa


def read_written_table(
    raw: pa.Table,
    target: str | None = None,
    *,
    name: str = "table",
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    date_order: str | None = None,
    place: Callable[[int], str] = "row {}".format,
) -> ReadTable:
    """Convert the cells of a table, read its labels and infer the kinds of its columns.

    Parameters
    ----------
    raw : pyarrow.Table
        The table as a file or a frame holds it.
    target : str, optional
        The column to predict.
    name : str
        The name of the table, for messages.
    ignore, kinds, decimal, date_order
        As in :func:`bayeskit.read`.
    place : callable
        Returns the location of a row, for messages; the first row is 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = read_written_table(pa.table({"price": ["2,5", "13,75"], "sold": ["no", "yes"]}), "sold")
    >>> table["price"].to_pylist(), table.kinds
    ([2.5, 13.75], {'price': 'numeric'})
    """
    given = dict(kinds or {})
    written = read_columns(raw, target or "", given, ignore, decimal=decimal, date_order=date_order, place=place)
    labels: Target | None = None if target is None else read_target(written.table, target)
    data = written.table if labels is None else labels.table
    notes = infer_kinds(data, target or "", ignore, given, written)
    features = read_features(data, notes)
    said = []
    if labels is not None and labels.n_unlabelled:
        n = labels.n_unlabelled
        rows = "1 row has" if n == 1 else f"{n} rows have"
        said.append(Problem("no label", f"{rows} no label and are left out", (str(target),), n))
    return ReadTable(name, target, notes, data, raw, features.source, labels, place, tuple(said))
