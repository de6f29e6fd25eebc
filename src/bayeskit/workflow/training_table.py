"""The table to train on: a file read into memory, or a sample of a table of any size with all its rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.kinds.infer import Features
from bayeskit.kinds.reader import NOTHING, read_written_table
from bayeskit.kinds.remedies import Remedies
from bayeskit.kinds.written import read_labels_as_written
from bayeskit.learn.labelled import without_texts
from bayeskit.progress import Progress, renamed
from bayeskit.table.conversions import Conversions
from bayeskit.table.dates import AMOUNTS, CATEGORIES, part_name
from bayeskit.table.files import Rows, TableFile
from bayeskit.table.labels import read_labels
from bayeskit.table.read_result import ReadTable
from bayeskit.table.scan import Scan
from bayeskit.table.scan.rows import ScannedRows
from bayeskit.table.scan.sample import Sample, sample_rows
from bayeskit.table.target import Target, read_target
from bayeskit.workflow.held_rows import HeldRows, refuse_unreadable
from bayeskit.workflow.scan_columns import ScanConversion, as_models_read, result_types

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss


@dataclass(frozen=True)
class TrainingTable:
    """A table that was read and is ready to learn from; of a large one, labels and features are those of a sample."""

    file: Rows
    read: ReadTable
    labels: Target
    loss: Loss | None
    n_class: NDArray[Any]  # (n_classes,) rows of each class
    # Of a table that is not held in memory: all its rows, and how the others were drawn.
    scan: Scan | None = None
    sample: Sample | None = None

    @property
    def target(self) -> str:
        """The column to predict."""
        return str(self.read.target)

    @property
    def features(self) -> Features:
        """The columns that models learn from."""
        return Features(self.read.features, dict(self.read.source.kinds), self.read.columns)

    def readable_by(self, models: Mapping[str, Any]) -> TrainingTable:
        """Return the table without its columns of text, with a warning, where none of the models can read them."""
        free = tuple(note.name for note in self.read.columns if note.kind == "text")
        if not free or any(getattr(model, "_reads_text", False) for model in models.values()):
            return self
        source = without_texts(self.read.features, free, " and ".join(list(models)[:3]))
        notes = tuple(
            replace(note, kind="left out", why="free text, which the classifiers asked for cannot read")
            if note.name in free
            else note
            for note in self.read.columns
        )
        scan = None if self.scan is None else self.scan.select([*source.names, self.target])
        return replace(self, read=replace(self.read, source=source, columns=notes), scan=scan)

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.n_class.sum())

    @property
    def n_sampled(self) -> int:
        """Rows of the sample that a larger table is shown and scored by; 0 where all rows are held."""
        return 0 if self.scan is None else len(self.labels.y)

    @property
    def skipped(self) -> tuple[str, ...]:
        """What was left out of a scan since it cannot be read, in words."""
        return tuple(self.file.scan.skipped) if isinstance(self.file, ScannedRows) else ()

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
    missing: Sequence[str] = (),
    remedies: Remedies = NOTHING,
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
    missing : sequence of str
        Words for a missing cell with which the file was opened.
    remedies : Remedies
        What is done to the rows first; a table in memory is needed.
    also : sequence of str
        Columns that folds need.
    random_state : int
        The seed of the sample.
    progress : callable, optional
        Called while a scan is read.
    """
    given = dict(kinds or {})
    sample, n_rows = None, None
    if isinstance(file, Scan):
        if remedies:
            raise TableError(
                f"{file.shown} is read piece by piece, and rows are compared with each other to merge labels and to "
                "find copies; read it into memory.",
                "stream",
            )
        rows: Rows = ScannedRows(file)
        refuse_unreadable(file, target)
        rows.refuse_absent(ignore)
        raw = file.with_types(dict.fromkeys(file.names))
        sample = sample_rows(raw, target, random_state, progress=renamed(progress, "sampling rows"))
        table, place, n_rows = sample.table, _place(sample), sample.n_rows + sample.n_unlabelled
    else:
        rows = file
        _refuse_absent(file, target, ignore, given)
        table, place = file.read_written(), file.place
    read = read_written_table(
        table,
        target,
        name=rows.name,
        ignore=ignore,
        kinds=given,
        decimal=decimal,
        date_order=date_order,
        missing=missing,
        remedies=remedies,
        n_rows=n_rows,
        also=also,
        said=file.said if isinstance(file, TableFile) else (),
        **(file.form if isinstance(file, TableFile) else {"place": place}),
    )
    read.features  # noqa: B018 - a table without any is refused before the work starts
    labels, n_class = _labels(read, sample)
    result = TrainingTable(rows, read, labels, loss(labels.classes.tolist()), n_class)
    if not isinstance(file, Scan) or sample is None or sample.is_all:
        return result
    return replace(result, scan=_as_sample(file, read, labels.table, also), sample=sample)


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


def _labels(read: ReadTable, sample: Sample | None) -> tuple[Target, NDArray[Any]]:
    """Return the labels of a table, and the rows of each class; of a sample, the classes are those of all rows."""
    if sample is None:
        labels = cast(Target, read.labels)
        return labels, np.bincount(labels.y, minlength=len(labels.classes))
    # All labels say whether they are numbers, not those of the sample alone.
    written, target = read_labels_as_written(list(sample.n_class)), str(read.target)
    as_held = read.rows[target].cast(written.type)
    labels = read_target(read.data.set_column(read.names.index(target), target, as_held), target)
    classes, places = read_labels(written)
    y = np.searchsorted(classes, labels.classes)[labels.y].astype(labels.y.dtype)
    n_class = np.array(list(sample.n_class.values()))[np.argsort(places, kind="stable")]
    return replace(labels, classes=classes, y=y, n_unlabelled=sample.n_unlabelled), n_class


def _as_sample(scan: Scan, read: ReadTable, table: Any, also: Sequence[str]) -> Scan:
    """Return a scan whose columns are read as those of the sample, ``table``."""
    target = str(read.target)
    # A column of folds may be one of the features.
    names = list(dict.fromkeys([*read.source.names, target, *also]))
    types = {**result_types(table), target: table.schema.field(target).type}
    return as_models_read(scan, ScanConversion(types, read.source.conversions or Conversions()), names)


def _place(sample: Sample) -> Callable[[int], str]:
    if sample.is_all:
        return "row {}".format
    return lambda row: f"row {row + 1} of the sample"
