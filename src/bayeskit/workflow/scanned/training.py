"""Training from a table of any size: the kinds of the columns come from a sample, and all rows are counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import TableError
from bayeskit.kinds.infer import ColumnNote, infer_kinds, read_features
from bayeskit.kinds.written import read_columns, read_labels_as_written
from bayeskit.progress import Progress, renamed
from bayeskit.table.labels import read_labels
from bayeskit.table.names import not_found
from bayeskit.table.scan import Scan
from bayeskit.table.scan.sample import Sample, draw_sample
from bayeskit.table.target import read_target
from bayeskit.workflow.scanned.columns import ScanConversion, as_models_read, numbers_rows, result_types
from bayeskit.workflow.scanned.comparison import ScanRows, refuse_unreadable
from bayeskit.workflow.training import TrainingTable, refuse_misfits

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss


@dataclass(frozen=True)
class ScannedFiles:
    """The names of the files of a scan."""

    name: str
    names: tuple[str, ...]


def read_training_scan(
    scan: Scan,
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
    """Read a scan once: a sample of its rows decides the kinds of the columns, and every label is counted.

    A table that the sample holds whole is trained on as any small table. ``also`` names columns that folds need;
    the others are as in :func:`bayeskit.workflow.training.read_training_table`.
    """
    refuse_unreadable(scan, target)
    for name in ignore:
        if name not in scan.names:
            raise TableError(f"{scan.shown}: {not_found('column', name, scan.names)}")
    raw = scan.with_types(dict.fromkeys(scan.names))
    sample = draw_sample(raw, target, random_state, progress=renamed(progress, "sampling rows"))
    held, labels = sample.table, read_labels_as_written(list(sample.n_class))
    given = dict(kinds or {})
    written = read_columns(held, target, given, ignore, decimal=decimal, date_order=date_order, place=_place(sample))
    # All labels say whether they are numbers, not those of the sample alone.
    place = written.table.column_names.index(target)
    table = written.table.set_column(place, target, held[target].cast(labels.type))
    found = read_target(table, target)
    classes = read_labels(labels)[0]
    y = np.searchsorted(classes, found.classes)[found.y].astype(found.y.dtype)
    found = replace(found, classes=classes, y=y, n_unlabelled=sample.n_unlabelled)
    notes = _without_row_numbers(infer_kinds(found.table, target, ignore, given, written), found.table, sample, given)
    features = read_features(found.table, notes)
    refuse_misfits(features, given)
    files = ScannedFiles(scan.shown.strip("'"), scan.names)
    costs = loss(classes.tolist())
    result = TrainingTable(files, target, found, features, costs, written.conventions)
    if sample.is_all:
        return result
    source = {name: name for name in scan.names}
    source |= {name: part for part in written.conventions for name in written.parts if name.startswith(f"{part} (")}
    columns = ScanConversion({**result_types(table), target: labels.type}, source, written.conventions)
    names = list(dict.fromkeys([*features.source.names, target, *also]))
    read = as_models_read(scan, columns, names)
    rows = ScanRows(read, target, replace(sample, table=found.table), features.source, y, classes)
    n_class = np.array([sample.n_class[label] for label in sample.n_class])
    order = np.argsort(read_labels(labels)[1], kind="stable")
    return replace(result, scanned=rows, n_class_of_all=n_class[order])


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
