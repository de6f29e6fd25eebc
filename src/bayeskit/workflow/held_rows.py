"""The rows that classifiers are compared on: a whole table in memory, or a sample of a table of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.plan import labelled_batches
from bayeskit.progress import Progress, renamed
from bayeskit.table.labels import read_labels
from bayeskit.table.names import not_found
from bayeskit.table.read import Source
from bayeskit.table.scan import Scan
from bayeskit.table.scan.sample import Sample, sample_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class HeldRows:
    """Rows of known classes: all rows of a table, or a random sample of the rows that ``scan`` reads."""

    source: Source
    y: NDArray[Any]  # (n_rows,) class positions
    classes: NDArray[Any]  # of all rows
    target: str | None = None
    table: pa.Table | None = None  # of the same rows, with the columns that folds need
    # Of a table with more rows: all of them, with the columns as models read them, and how these were drawn.
    scan: Scan | None = None
    sample: Sample | None = None

    @property
    def labelled(self) -> Labelled:
        """These rows, as classifiers count them."""
        return Labelled(self.source, self.y, self.classes, None, self.target)


def hold_rows(
    X: Any, y: Any = None, target: str | None = None, random_state: int = 0, progress: Progress | None = None
) -> HeldRows:
    """Read the arguments of :func:`bayeskit.compare`; of a scan with many rows, a sample is held."""
    if not isinstance(X, Scan):
        rows = read_labelled(X, y, None, target, None, "comparison", texts=True)
        return HeldRows(rows.source, rows.y, rows.classes, rows.target)
    if y is not None or target is None:
        raise TableError("a scan needs target=, the name of the column that holds the labels.")
    refuse_unreadable(X, target)
    sample = sample_rows(X, target, random_state, progress=renamed(progress, "sampling rows"))
    if sample.n_unlabelled:
        for _ in labelled_batches(X.select([target]).batches(), target):
            pass  # until the first row without a label, which it names
    rows = read_labelled(sample.table, None, None, target, None, "comparison", texts=True)
    if sample.is_all:  # a small table, whatever it came as
        return HeldRows(rows.source, rows.y, rows.classes, target)
    classes = read_labels(list(sample.n_class))[0]
    places = np.searchsorted(classes, rows.classes)[rows.y]
    return HeldRows(rows.source, places, classes, target, sample.table, X, sample)


def refuse_unreadable(scan: Scan, target: str) -> None:
    """Raise an error for a scan without the target, or one that can be read only once: two passes are needed."""
    if target not in scan.names:
        raise TableError(f"{scan.shown}: {not_found('column', target, scan.names)}")
    if scan.once:
        raise TableError(
            f"{scan.shown} can be read only once, and a comparison reads the rows twice; pass files instead."
        )
    if len(scan.names) < 2:
        raise TableError(f"{scan.shown} has the target and no other column to learn from.", "delimiter")
