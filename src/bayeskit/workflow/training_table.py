"""The table to train on: a file read into memory, or a sample of a table of any size with all its rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.kinds import FitContext, words
from bayeskit.kinds.infer import Features, infer_kinds, read_features
from bayeskit.kinds.written import WrittenColumns, part_name, read_columns, read_labels_as_written
from bayeskit.progress import Progress, renamed
from bayeskit.table.dates import AMOUNTS, CATEGORIES
from bayeskit.table.files import Rows, TableFile
from bayeskit.table.labels import read_labels
from bayeskit.table.read_result import ColumnNote
from bayeskit.table.scan import Scan
from bayeskit.table.scan.rows import ScannedRows
from bayeskit.table.scan.sample import Sample, draw_sample
from bayeskit.table.target import Target, read_target
from bayeskit.workflow.held_rows import HeldRows, refuse_unreadable
from bayeskit.workflow.scan_columns import ScanConversion, as_models_read, numbers_rows, result_types

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.table.conventions import Convention


@dataclass(frozen=True)
class TrainingTable:
    """A table that was read and is ready to learn from; of a large one, labels and features are those of a sample."""

    file: Rows
    target: str
    labels: Target
    features: Features
    loss: Loss | None
    n_class: NDArray[Any]  # (n_classes,) rows of each class
    conventions: dict[str, Convention] = field(default_factory=dict)  # how columns of the file are written
    # Of a table that is not held in memory: all its rows, and how the others were drawn.
    scan: Scan | None = None
    sample: Sample | None = None

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.n_class.sum())

    @property
    def n_sampled(self) -> int:
        """Rows of the sample that a larger table is shown and scored by; 0 where all rows are held."""
        return 0 if self.scan is None else len(self.labels.y)

    @property
    def rows(self) -> HeldRows:
        """The rows that classifiers are compared on."""
        labels = self.labels
        return HeldRows(
            self.features.source, labels.y, labels.classes, self.target, labels.table, self.scan, self.sample
        )


def read_training_table(
    file: TableFile | Scan,
    target: str,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    loss: Callable[[Sequence[Any]], Loss | None] = lambda classes: None,
    decimal: str | None = None,
    date_order: str | None = None,
    *,
    also: Sequence[str] = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> TrainingTable:
    """Read a table and infer the kinds of its columns.

    A file is read into memory. A scan is read once: a sample of its rows decides the kinds, and every label is counted.

    Parameters
    ----------
    file : TableFile or Scan
        The file, or a table of any size.
    target : str
        The column to predict.
    ignore : collection of str
        Columns to leave out.
    kinds : dict of column name to kind, optional
        Kinds that are given rather than inferred.
    loss : callable
        Returns the loss for a list of classes, which are known once the table is read.
    decimal, date_order : str, optional
        The decimal separator of text columns, "." or ",", and the order of their dates, "dmy", "mdy" or "ymd"; decided
        from the cells of each column when it is not given.
    also : sequence of str
        Columns that folds need.
    random_state : int
        The seed of the sample.
    progress : callable, optional
        Called while a scan is read.
    """
    given = dict(kinds or {})
    sample = None
    if isinstance(file, Scan):
        rows: Rows = ScannedRows(file)
        refuse_unreadable(file, target)
        rows.refuse_absent(ignore)
        raw = file.with_types(dict.fromkeys(file.names))
        sample = draw_sample(raw, target, random_state, progress=renamed(progress, "sampling rows"))
        table, place = sample.table, _place(sample)
    else:
        rows = file
        _refuse_absent(file, target, ignore, given)
        table, place = file.read_written(), file.place
    written = read_columns(table, target, given, ignore, decimal=decimal, date_order=date_order, place=place)
    labels, n_class = _labels(written.table, target, sample, table)
    notes = infer_kinds(labels.table, target, ignore, given, written)
    if sample is not None:
        notes = _without_row_numbers(notes, labels.table, sample, given)
    features = read_features(labels.table, notes)
    refuse_misfits(features, given)
    result = TrainingTable(rows, target, labels, features, loss(labels.classes.tolist()), n_class, written.conventions)
    if not isinstance(file, Scan) or sample is None or sample.is_all:
        return result
    scan = _as_sample(file, written, labels.table, target, [*features.source.names, target, *also])
    return replace(result, scan=scan, sample=sample)


def _refuse_absent(file: TableFile, target: str, ignore: Collection[str], given: Mapping[str, str]) -> None:
    """Raise an error for a column that the file does not have, where no part of a date has its name."""
    made = {part_name(name, part) for name in file.names for part in (*CATEGORIES, *AMOUNTS)}
    file.refuse_absent((target, *(name for name in (*ignore, *given) if name not in made)))
    if len(file.names) < 2:
        raise TableError(
            f"{file.raw.shown} has the target and no other column to learn from; is its delimiter something other "
            "than a comma?",
            "delimiter",
        )


def _labels(table: Any, target: str, sample: Sample | None, as_held: Any) -> tuple[Target, NDArray[Any]]:
    """Read the target; of a sample, the classes are those of all rows. Return also the rows of each class."""
    if sample is None:
        labels = read_target(table, target)
        return labels, np.bincount(labels.y, minlength=len(labels.classes))
    # All labels say whether they are numbers, not those of the sample alone.
    written = read_labels_as_written(list(sample.n_class))
    place = table.column_names.index(target)
    labels = read_target(table.set_column(place, target, as_held[target].cast(written.type)), target)
    classes, places = read_labels(written)
    y = np.searchsorted(classes, labels.classes)[labels.y].astype(labels.y.dtype)
    n_class = np.array(list(sample.n_class.values()))[np.argsort(places, kind="stable")]
    return replace(labels, classes=classes, y=y, n_unlabelled=sample.n_unlabelled), n_class


def _as_sample(scan: Scan, written: WrittenColumns, table: Any, target: str, names: list[str]) -> Scan:
    """Return a scan whose columns are read as those of the sample, ``table``."""
    source = {name: name for name in scan.names}
    source |= {name: part for part in written.conventions for name in written.parts if name.startswith(f"{part} (")}
    names = list(dict.fromkeys(names))  # a column of folds may be one of the features
    types = {**result_types(table), target: table.schema.field(target).type}
    return as_models_read(scan, ScanConversion(types, source, written.conventions), names)


def refuse_misfits(features: Features, given: Mapping[str, str]) -> None:
    """Raise an error, before any fit, for a column that does not fit the given kind, such as fractions as counts."""
    for name, word in given.items():
        if word in words() and word == words()[word].name and name in features.source.names:
            column = features.source.column(features.source.names.index(name))
            if not column.all_missing():
                words()[word].learn([column], [name], word, FitContext())


def _place(sample: Sample) -> Callable[[int], str]:
    if sample.is_all:
        return "row {}".format
    return lambda row: f"row {row + 1} of the sample"


def _without_row_numbers(
    notes: tuple[ColumnNote, ...], table: Any, sample: Sample, given: Mapping[str, str]
) -> tuple[ColumnNote, ...]:
    """Leave out a column that numbers the rows, which a sample cannot show by its values."""
    n_rows = sample.n_rows + sample.n_unlabelled
    return tuple(
        replace(note, kind="left out", why="it numbers the rows")
        if note.kind == "numeric" and note.name not in given and numbers_rows(table[note.name], n_rows)
        else note
        for note in notes
    )
