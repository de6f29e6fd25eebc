"""Dask: pieces are read and counted by its workers. Frames are counted partition by partition."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa
from dask.base import compute, get_scheduler
from dask.delayed import delayed

from bayeskit.cluster.groups import Scorer, columns_of, given_columns, groups_of, hits, mean_of, refuse_in_words
from bayeskit.errors import TableError
from bayeskit.table.scan import Scan
from bayeskit.table.scan.frames import open_pandas as scan_pandas
from bayeskit.table.scan.pieces import Merge, PieceReader, Task, merge_tree

T = TypeVar("T")

# Parts that are added in one task.
_FAN = 8


def open_scan(source: Any) -> Scan | None:
    """Describe a Dask frame; its partitions are the pieces, and its own scheduler's workers count them."""
    if not _is_frame(source):
        return None
    schema = scan_pandas(source._meta).schema  # type: ignore[union-attr]
    pieces = tuple(PartitionPiece(part, k) for k, part in enumerate(source.to_delayed()))
    return Scan("a Dask frame", schema, pieces, engine=DaskEngine())


def on(source: Scan, client: Any = None) -> Scan:
    """Return the same table, read by the workers of ``client``, or of the current Dask client or scheduler."""
    return replace(source, engine=DaskEngine(client))


def fit(
    model: Any,
    source: Any,
    *,
    target: str,
    sample_weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    client: Any = None,
) -> Any:
    """Fit a model on a table that Dask's workers read; the counts are those of one machine.

    Parameters
    ----------
    model : classifier
        Any model that learns from counts.
    source : Scan or Dask frame
        What :func:`bayeskit.scan` gave, of files that the workers see too; or a frame.
    target : str
        The column that holds the labels.
    sample_weight : str, optional
        The column that holds the row weights.
    group, time : str, optional
        For a HiddenMarkov: the columns with the sequence and the time of each row. The table is sorted by group.
    client : dask.distributed.Client, optional
        The client whose workers are used; by default the current client or scheduler.
    """
    return model.fit(on(_scan_of(source), client), target=target, **given_columns(sample_weight, group, time))


def predict(model: Any, source: Any, *, probabilities: bool = False, client: Any = None) -> Any:
    """Predict on the workers, with the predictions as additional columns.

    Of a Dask frame a Dask frame comes back, which is computed lazily; of a scan an iterator over Arrow tables, one for
    each piece, in order, of which the workers are a few pieces ahead.

    Parameters
    ----------
    model : classifier
        A fitted model.
    source : Dask frame or Scan
        The rows to predict.
    probabilities : bool, default False
        Add P(c | x) of each class too.
    client : dask.distributed.Client, optional
        The client whose workers read a scan; by default the current client or scheduler. A frame takes none: it is
        computed by the client that computes it.
    """
    scorer = Scorer(model, probabilities)
    if not _is_frame(source):
        return DaskEngine(client).stream(_answered, scorer, _readers(_scan_of(source)))
    if client is not None:
        raise TableError("a Dask frame is computed by the client that computes it; client= is for what scan() returns.")
    return source.map_partitions(_with_predictions, scorer, meta=_with_predictions(source._meta, scorer))


def score(model: Any, source: Any, *, target: str, client: Any = None) -> float:
    """Return the accuracy on a Dask frame or a scan, counted by the workers."""
    parts = DaskEngine(client).stream(_listed, hits(model, target), _readers(_scan_of(source)))
    return mean_of([pair for part in parts for pair in part])


@dataclass(frozen=True)
class PartitionPiece:
    """A partition of a frame, not computed yet."""

    partition: Any  # dask.delayed
    number: int
    n_rows: int | None = None

    @property
    def name(self) -> str:
        """The partition."""
        return f"partition {self.number} of the Dask frame"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the partition, which Dask has computed where a worker reads it."""
        frame = self.partition.compute() if hasattr(self.partition, "dask") else self.partition
        scan = scan_pandas(frame)
        assert scan is not None
        return scan.pieces[0].batches(columns)


@dataclass(frozen=True)
class DaskEngine:
    """Dask's workers."""

    client: Any = None

    def run(self, task: Task[T], readers: Sequence[PieceReader], merge: Merge[T], on_rows: Callable[[int], None]) -> T:
        """Send groups of pieces to the workers, which also add up their parts; one sum comes back."""
        groups = groups_of(readers, self._n_cores())
        if not groups:
            raise TableError("the table has no pieces, so there is nothing to learn from.")
        client, local = self.client or _current_client(), compute  # type: Any, Any
        try:
            # Dask looks into the pieces: where one holds a partition, a worker gets it computed.
            if client is None:
                (total,) = local(_tree([delayed(_run)(task, group) for group in groups], merge))
            else:
                everywhere = client.scatter(task, broadcast=True, hash=False)
                parts = client.compute([delayed(_run)(everywhere, group) for group in groups])
                result = client.compute(_tree(parts, merge))
                _report(parts, groups, on_rows)
                total = client.gather(result)
        except Exception as error:  # Dask wraps some errors of workers into plain ones
            refuse_in_words(error, "Dask")
            raise
        if client is None:
            on_rows(sum(reader.piece.n_rows or 0 for reader in readers))
        return total  # type: ignore[no-any-return]

    def stream(self, function: Any, shared: Any, items: Sequence[Any], ahead: int = 0) -> Iterator[Any]:
        """Return the results in order as they are asked for; the workers are so many items ahead, 2 per core if 0."""
        client, local = self.client or _current_client(), compute  # type: Any, Any
        ahead = ahead or 2 * self._n_cores()
        try:
            if client is None:
                for first in range(0, len(items), ahead):
                    yield from local(*[delayed(function)(shared, item) for item in items[first : first + ahead]])
                return
            # Each worker has it before it is asked for: were it a result of one worker, the tasks would gather there.
            everywhere = client.scatter(shared, broadcast=True, hash=False)
            tasks = (delayed(function)(everywhere, item) for item in items)
            waiting = deque(client.compute(list(islice(tasks, ahead))))
            while waiting:
                yield client.gather(waiting.popleft())
                waiting.extend(client.compute(list(islice(tasks, 1))))
        except Exception as error:  # Dask wraps some errors of workers into plain ones
            refuse_in_words(error, "Dask")
            raise

    def _n_cores(self) -> int:
        client = self.client or _current_client()
        return sum(client.ncores().values()) if client is not None else 2


def _current_client() -> Any:
    """Return the client that Dask would use; None where another scheduler is set."""
    scheduler: Any = get_scheduler  # without types, as above
    client = getattr(scheduler(), "__self__", None)  # a client's scheduler is its method
    return client if hasattr(client, "scatter") else None


def _is_frame(source: Any) -> bool:
    return hasattr(source, "to_delayed") and hasattr(source, "_meta")


def _scan_of(source: Any) -> Scan:
    scan = source if isinstance(source, Scan) else open_scan(source)
    if scan is None:
        raise TableError(f"expected a Dask frame or what bayeskit.scan returns; got {type(source).__name__}.")
    return scan


def _with_predictions(frame: Any, scorer: Scorer) -> Any:
    """Return a partition with the new columns; rows keep their index, and columns that the model lacks are not read."""
    names = columns_of(scorer.model, [str(name) for name in frame.columns])
    scan = scan_pandas(frame[names])
    assert scan is not None
    answered = [scorer(batch) for batch in scan.pieces[0].batches(names)]
    schema = pa.schema([*scan.schema, *scorer.fields()])
    table = pa.Table.from_batches(answered) if answered else schema.empty_table()
    new = table.select([field.name for field in scorer.fields()]).to_pandas()
    return frame.assign(**{name: new[name].to_numpy() for name in new.columns})


def _readers(source: Scan) -> list[PieceReader]:
    return [PieceReader(number, piece, source.names) for number, piece in enumerate(source.pieces)]


def _run(task: Any, readers: Any) -> Any:
    return task(readers)


def _tree(parts: Sequence[Any], merge: Any) -> Any:
    """Return the sum of parts, by tasks that add a few neighbours each."""
    parts = list(parts)
    while len(parts) > 1:
        parts = [delayed(_added)(merge, parts[first : first + _FAN]) for first in range(0, len(parts), _FAN)]
    return parts[0]


def _added(merge: Any, parts: Sequence[Any]) -> Any:
    return merge_tree(iter(parts), merge)


def _report(parts: list[Any], groups: Sequence[Sequence[PieceReader]], on_rows: Callable[[int], None]) -> None:
    """Report the rows of each group once its part is there; its sum may go then."""
    from dask.distributed import wait

    for group in groups:
        wait(parts.pop(0))  # type: ignore[no-untyped-call]
        on_rows(sum(reader.piece.n_rows or 0 for reader in group))


def _answered(scorer: Any, reader: PieceReader) -> pa.Table:
    return pa.Table.from_batches([scorer(batch) for batch in reader])


def _listed(function: Any, reader: PieceReader) -> list[Any]:
    return [function(batch) for batch in reader]
