"""A random sample of the rows of a scan, the same for any number of workers, and how many rows there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.progress import Progress
from bayeskit.table.scan.pieces import Merge, PieceReader, Scan, Task
from bayeskit.table.scan.row_keys import row_keys

if TYPE_CHECKING:
    import pyarrow as pa

# Rows of a sample, and cells where the table is wide: what a report shows and what errors are estimated on.
MOST_ROWS = 1 << 17
MOST_CELLS = 1 << 23
# A target with more values than this is no target, and its labels would fill the memory.
MOST_LABELS = 1 << 16
# Added to the seed: the fold of a row must not depend on whether it is in the sample.
_FOLDS = 1_000_003


@dataclass(frozen=True)
class Sample:
    """Rows with a label, drawn from all such rows with equal probability, in the order of the table."""

    table: pa.Table
    keys: NDArray[np.uint64]  # (n_sampled,) the random numbers by which they were drawn
    fold_keys: NDArray[np.uint64]  # (n_sampled,) random numbers for folds
    n_class: dict[Any, int]  # label → rows of the whole table
    n_unlabelled: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of the whole table that have a label."""
        return sum(self.n_class.values())

    @property
    def is_all(self) -> bool:
        """Whether the sample is the whole table."""
        return len(self.keys) == self.n_rows


def sample_rows(
    scan: Scan, target: str, seed: int, most_rows: int | None = None, progress: Progress | None = None
) -> Sample:
    """Read a scan once and return a sample of its rows; a table of at most ``most_rows`` rows is kept whole.

    The rows with the smallest random keys are kept, and a key depends on the seed and the place of the row alone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from bayeskit import scan
    >>> table = pa.table({"wind": ["weak", "calm", "strong"], "play": ["yes", None, "no"]})
    >>> sample = sample_rows(scan(table), "play", seed=0)
    >>> sample.n_rows, sample.n_unlabelled, sample.table["wind"].to_pylist()
    (2, 1, ['weak', 'strong'])
    """
    return scan.run(*sampling(target, seed, most_rows or sample_size(len(scan.names))), progress).sample(
        scan.shown, target
    )


def sample_size(n_columns: int) -> int:
    """Return the largest number of rows of a sample, given the number of columns."""
    return max(2000, min(MOST_ROWS, MOST_CELLS // max(1, n_columns)))


def sampling(target: str, seed: int, most: int) -> tuple[Task[Drawn], Merge[Drawn]]:
    """Return the pass over a scan that draws a sample of the rows with a label, for :meth:`Scan.run`."""
    return _Draw(target, seed, most), _Merge(most)


@dataclass
class Drawn:
    """A growing sample: parts that are still to be cut to size, and the largest key that is kept."""

    most: int
    parts: list[tuple[Any, NDArray[np.uint64], NDArray[np.uint64]]] = field(default_factory=list)
    waiting: int = 0
    below: int = 2**64 - 1
    n_class: Counter[Any] = field(default_factory=Counter)
    n_unlabelled: int = 0

    def add(self, table: Any, keys: NDArray[np.uint64], fold_keys: NDArray[np.uint64]) -> None:
        """Add rows; some may be dropped again."""
        self.parts.append((table, keys, fold_keys))
        self.waiting += len(keys)
        if self.waiting > 2 * self.most:
            self.compact()

    def compact(self) -> Drawn:
        """Keep the rows with the smallest keys, in the order of the table."""
        import pyarrow as pa

        if not self.parts or (len(self.parts) == 1 and self.waiting <= self.most):
            return self
        table = pa.concat_tables([part[0] for part in self.parts], promote_options="permissive")
        keys, fold_keys = (np.concatenate([part[k] for part in self.parts]) for k in (1, 2))
        if len(keys) > self.most:
            rows = np.sort(np.argpartition(keys, self.most)[: self.most])
            table, keys, fold_keys = table.take(pa.array(rows)), keys[rows], fold_keys[rows]
            self.below = int(keys.max())
        self.parts, self.waiting = [(table.combine_chunks(), keys, fold_keys)], len(keys)
        return self

    def sample(self, shown: str, target: str) -> Sample:
        """Return the sample; a table without rows, or without any label, is an error."""
        if not self.n_class and not self.n_unlabelled:
            raise TableError(f"{shown} has no rows, so there is nothing to learn from.")
        if not self.n_class:
            raise TableError(f"the target {target!r} has no value in any of {self.n_unlabelled:,} rows.")
        table, keys, fold_keys = self.compact().parts[0]
        return Sample(table, keys, fold_keys, dict(self.n_class), self.n_unlabelled)


@dataclass(frozen=True)
class _Merge:
    most: int

    def __call__(self, one: Drawn, other: Drawn) -> Drawn:
        both = Drawn(self.most, [*one.parts, *other.parts], one.waiting + other.waiting)
        both.n_class = one.n_class + other.n_class
        both.n_unlabelled = one.n_unlabelled + other.n_unlabelled
        return both.compact()


@dataclass(frozen=True)
class _Draw:
    target: str
    seed: int
    most: int

    def __call__(self, readers: Iterable[PieceReader]) -> Drawn:
        drawn = Drawn(self.most)
        for reader in readers:
            first = 0
            for batch in reader:
                if batch.num_rows:
                    self._take(drawn, batch, reader.number, first)
                first += batch.num_rows
        return drawn.compact()

    def _take(self, drawn: Drawn, batch: Any, piece: int, first: int) -> None:
        import pyarrow as pa

        n = batch.num_rows
        target = batch.column(batch.schema.get_field_index(self.target))
        known = _labelled(target)
        drawn.n_unlabelled += n - int(known.sum())
        drawn.n_class.update(_count_labels(target))
        if len(drawn.n_class) > MOST_LABELS:
            raise TableError(
                f"the target {self.target!r} has more than {MOST_LABELS:,} different values; a target names one of a "
                "few classes in each row."
            )
        keys = row_keys(self.seed, piece, first, n)
        rows = np.flatnonzero(known & (keys <= np.uint64(drawn.below)))
        if len(rows):
            place = pa.array(rows)
            columns = [_plain(column.take(place)) for column in batch.columns]
            table = pa.table(columns, names=batch.schema.names)
            drawn.add(table, keys[rows], fold_keys(self.seed, piece, first, n)[rows])


def fold_keys(seed: int, piece: int, first: int, n: int) -> NDArray[np.uint64]:
    """Return the random numbers by which the rows of a batch are assigned to folds, as those of the sample were."""
    return row_keys(seed + _FOLDS, piece, first, n)


def _labelled(column: Any) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_float = pa.types.is_floating(column.type)
    if not column.null_count and not is_float:
        return np.ones(len(column), dtype=bool)
    return ~np.asarray(pc.is_null(column, nan_is_null=is_float))


def _count_labels(column: Any) -> dict[Any, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pa.types.is_dictionary(column.type)
    counted = pc.value_counts(column.indices if coded else column)
    values, counts = counted.field("values"), counted.field("counts").to_pylist()
    labels = (column.dictionary.take(values) if coded else values).to_pylist()
    n_class: Counter[Any] = Counter()
    for label, n in zip(labels, counts, strict=True):
        if label is not None and label == label:  # neither null nor NaN
            n_class[label] += n
    return n_class


def _plain(column: Any) -> Any:
    # A dictionary that declares nothing is a way to store text; those of two batches differ.
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) and not column.type.ordered else column
