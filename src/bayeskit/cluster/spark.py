"""Spark: its executors read files by themselves, as (file, row group); frames are counted where their rows are."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pyarrow as pa

from bayeskit.cluster.groups import Scorer, given_columns, groups_of, hits, mean_of, refuse_in_words
from bayeskit.errors import TableError
from bayeskit.table.scan import Scan
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.pieces import Merge, PieceReader, Task, merge_tree

T = TypeVar("T")

_PART = "place bigint, part binary"
# Parts that are added in one task.
_FAN = 16


def open_scan(source: Any) -> Scan | None:
    """Describe a Spark frame; its executors count its partitions."""
    if not hasattr(source, "mapInArrow"):
        return None
    schema = source.limit(0).toArrow().schema
    return Scan("a Spark frame", schema, (FramePiece(source),), engine=SparkEngine(source.sparkSession))


def on(source: Scan, session: Any) -> Scan:
    """Return the same table, read by the executors of a session."""
    return replace(source, engine=SparkEngine(session))


def fit(
    model: Any,
    source: Any,
    *,
    target: str,
    session: Any = None,
    sample_weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
) -> Any:
    """Fit a model on a table that Spark's executors read; the counts are those of one machine.

    Parameters
    ----------
    model : classifier
        Any model that learns from counts.
    source : Scan or Spark frame
        What :func:`bayeskit.scan` gave, of files that the executors see too; or a frame.
    target : str
        The column that holds the labels.
    session : SparkSession, optional
        The session whose executors are used; a frame has its own.
    sample_weight : str, optional
        The column that holds the row weights.
    group, time : str, optional
        For a HiddenMarkov: the columns with the sequence and the time of each row. Files are sorted by group; a frame
        is put in order by Spark.
    """
    return model.fit(_with_session(source, session), target=target, **given_columns(sample_weight, group, time))


def predict(model: Any, frame: Any, *, probabilities: bool = False) -> Any:
    """Return the Spark frame with the predictions as additional columns.

    It is computed lazily, and may be a stream. Columns that the model does not know are carried.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    _refuse_scan(frame)
    scorer = Scorer(model, probabilities)
    new = from_arrow_schema(pa.schema(scorer.fields()))
    # What the frame says of itself: to look at a row of it would start a stream.
    return frame.mapInArrow(scorer.batches, StructType([*frame.schema.fields, *new.fields]))


def score(model: Any, frame: Any, *, target: str) -> float:
    """Return the accuracy on a Spark frame, counted by the executors."""
    _refuse_scan(frame)
    return mean_of(_summed(frame, _Each(hits(model, target)), _plus_pairs, _n_partitions(frame)))


@dataclass(frozen=True)
class FramePiece:
    """All partitions of a frame; only the engine of its session can read them."""

    frame: Any
    name: str = "the Spark frame"
    n_rows: int | None = None

    def by_group(self, group: str, time: str) -> FramePiece:
        """Return the frame in which each group is whole in one partition, its rows in the order of time."""
        group, time = (f"`{name.replace('`', '``')}`" for name in (group, time))
        return replace(self, frame=self.frame.repartition(group).sortWithinPartitions(group, time))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Collect the rows in this process: only for small frames."""
        return iter(self.frame.select(*[f"`{name.replace('`', '``')}`" for name in columns]).toArrow().to_batches())


@dataclass(frozen=True)
class SparkEngine:
    """The executors of a session."""

    session: Any

    def run(self, task: Task[T], readers: Sequence[PieceReader], merge: Merge[T], on_rows: Callable[[int], None]) -> T:
        """Send groups of pieces, or the partitions of a frame, to the executors, which also add up their parts."""
        parts: list[Any] = []
        files = [reader for reader in readers if not isinstance(reader.piece, FramePiece)]
        for reader in readers:
            if isinstance(reader.piece, FramePiece):
                quoted = [f"`{name.replace('`', '``')}`" for name in reader.columns]
                frame = reader.piece.frame.select(*quoted)
                parts += _summed(frame, _OnPartition(task, reader.columns), merge, _n_partitions(frame))
        if files:
            groups = groups_of([_absolute(reader) for reader in files], self._n_cores())
            frame = self.session.range(0, len(groups), 1, len(groups))
            parts += _summed(frame, _OnGroups(task, groups), merge, len(groups))
            on_rows(sum(reader.piece.n_rows or 0 for reader in files))
        merged: T | None = merge_tree(iter(parts), merge)
        if merged is None:
            raise TableError("the table has no rows, so there is nothing to learn from.")
        return merged

    def _n_cores(self) -> int:
        try:
            return int(self.session.sparkContext.defaultParallelism)
        except (AttributeError, NotImplementedError):  # a session over Spark Connect does not say
            return 8


@dataclass(frozen=True)
class _OnPartition:
    task: Any
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None  # executors have one
        number = context.partitionId()
        yield number, self.task([_Stream(number, self.columns, batches)])


@dataclass(frozen=True)
class _Stream:
    number: int
    columns: tuple[str, ...]
    stream: Iterator[pa.RecordBatch]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Join the batches, which Spark makes small: what is done for each batch weighs less then."""
        waiting: list[pa.RecordBatch] = []
        n_rows = 0
        for batch in self.stream:
            waiting.append(batch)
            n_rows += batch.num_rows
            if n_rows >= ROWS_AT_ONCE:
                yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
                waiting, n_rows = [], 0
        if waiting:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


@dataclass(frozen=True)
class _OnGroups:
    task: Any
    groups: list[list[PieceReader]]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield place, self.task(self.groups[place])


@dataclass(frozen=True)
class _Each:
    function: Any

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        pairs = [self.function(batch) for batch in batches]
        yield context.partitionId(), _plus_pairs((0, 0), *pairs)


def _plus_pairs(*pairs: tuple[int, int]) -> tuple[int, int]:
    return sum(right for right, _ in pairs), sum(n for _, n in pairs)


@dataclass(frozen=True)
class _Pickled:
    function: Any

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, part in self.function(batches):
            yield pa.record_batch([pa.array([place], pa.int64()), pa.array([pickle.dumps(part)])], ["place", "part"])


def _adder(merge: Any) -> Callable[[pa.Table], pa.Table]:
    """Return what adds up some parts, in the order of their places, where they are."""

    def added(rows: pa.Table) -> pa.Table:  # Spark counts the arguments of a plain function only
        rows = rows.sort_by("place")
        parts = (pickle.loads(part.as_py()) for part in rows["part"])
        total = pickle.dumps(merge_tree(parts, merge))
        return pa.table({"place": rows["up"].slice(0, 1), "part": pa.array([total])})

    return added


def _summed(frame: Any, function: Any, merge: Any, n_parts: int) -> list[Any]:
    """Run a function on each partition, and add up its parts on the executors; one comes back, or none for no part.

    Parts are added by sixteen, then those sums by sixteen, and so on: no process holds more than a few, and the driver
    gets one. Only neighbours are added, so that the order is that of the partitions.
    """
    parts = frame.mapInArrow(_Pickled(function).__call__, _PART)
    while n_parts > 1:
        parts = parts.selectExpr("place", "part", f"place div {_FAN} AS up").groupBy("up")
        parts = parts.applyInArrow(_adder(merge), _PART)
        n_parts = -(-n_parts // _FAN)
    try:
        rows = parts.collect()
    except Exception as error:
        refuse_in_words(error, "Spark")
        raise
    return [pickle.loads(row.part) for row in rows]


def _n_partitions(frame: Any) -> int:
    """Return a number of partitions that is not exceeded."""
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # a session over Spark Connect does not say
        return _FAN**3


def _absolute(reader: PieceReader) -> PieceReader:
    """Executors have another working directory than the driver, so that a file is sent with its whole path."""
    path = getattr(reader.piece, "path", None)
    if path is None or os.path.isabs(path):
        return reader
    piece: Any = replace(reader.piece, path=os.path.abspath(path))  # type: ignore[type-var]
    return PieceReader(reader.number, piece, reader.columns)


def _with_session(source: Any, session: Any) -> Scan:
    scan = source if isinstance(source, Scan) else open_scan(source)
    if scan is None:
        raise TableError(f"expected a Spark frame or what bayeskit.scan returns; got {type(source).__name__}.")
    if session is None and not isinstance(scan.engine, SparkEngine):
        raise TableError("files are read by the executors of a session: pass session=spark.")
    return scan if session is None else on(scan, session)


def _refuse_scan(frame: Any) -> None:
    if not hasattr(frame, "mapInArrow"):
        raise TableError(f"expected a Spark frame, as spark.read gives for files; got {type(frame).__name__}.")
