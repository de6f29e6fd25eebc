"""The engine that reads in this process: units of pieces, on several threads, added in the order of the table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from bayeskit._kernels import n_threads, threads

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.scan.checkpoint import Kept
    from bayeskit.table.scan.pieces import Merge, PieceReader, Task

T = TypeVar("T")

# A unit of work is a few tenths of a second long: enough to make adding its counts cheap, little to lose.
_ROWS_OF_A_UNIT = 1 << 21
_BYTES_OF_A_UNIT = 1 << 26


@dataclass(frozen=True)
class Here:
    """Reads in this process, on ``n_jobs`` threads; None is one per core.

    What is added, and in which order, does not depend on the number of threads, nor on whether the work was
    interrupted: the sums are the same bit for bit.
    """

    n_jobs: int | None = None

    def run(
        self,
        task: Task[T],
        readers: Sequence[PieceReader],
        merge: Merge[T],
        on_rows: Callable[[int], None],
        kept: Kept | None = None,
    ) -> T:
        """Call ``task`` for each unit of pieces, and add the results from left to right."""
        units = units_of(readers)
        if not units:
            return task([])
        n_done, total = (0, None) if kept is None else kept.load(units)  # type: int, Any
        if n_done:
            on_rows(sum(reader.piece.n_rows or 0 for unit in units[:n_done] for reader in unit))
        try:
            for part in self._parts(task, units[n_done:], on_rows):
                total = part if n_done == 0 else merge(total, part)
                n_done += 1
                if kept is not None:
                    kept.save(n_done, total)
        except BaseException:
            if kept is not None and n_done:
                kept.save(n_done, total, interrupted=True)
            raise
        return total  # type: ignore[no-any-return]

    def _parts(
        self, task: Task[T], units: Sequence[Sequence[PieceReader]], on_rows: Callable[[int], None]
    ) -> Iterator[T]:
        n_jobs = min(self.n_jobs or n_threads(), len(units))
        if n_jobs <= 1:
            for unit in units:
                yield task([_Watched(reader, on_rows) for reader in unit])  # type: ignore[misc]
            return
        stop, rows = Event(), SimpleQueue[int]()

        def on_thread_rows(n: int) -> None:
            rows.put(n)
            if stop.is_set():
                raise _StoppedError

        def work(unit: Sequence[PieceReader]) -> T:
            try:
                with threads(1):
                    return task([_Watched(reader, on_thread_rows) for reader in unit])  # type: ignore[misc]
            finally:
                rows.put(0)  # wakes whoever waits for the result

        pool, rest = ThreadPoolExecutor(n_jobs, "bayeskit-scan"), iter(units)
        try:
            waiting = deque(pool.submit(work, unit) for unit in islice(rest, n_jobs + 1))
            while waiting:
                part = _result(waiting.popleft(), rows, on_rows)
                waiting.extend(pool.submit(work, unit) for unit in islice(rest, 1))
                yield part
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


class _StoppedError(Exception):
    """Ends a thread whose result nobody waits for any more."""


def _result(future: Future[T], rows: SimpleQueue[int], on_rows: Callable[[int], None]) -> T:
    """Wait for a result; the rows that all threads read meanwhile are reported by the thread that waits."""
    while not future.done():
        with suppress(Empty):
            on_rows(rows.get(timeout=0.2))
    with suppress(Empty):
        while True:
            on_rows(rows.get_nowait())
    return future.result()


@dataclass(frozen=True)
class _Watched:
    """A reader that reports its rows as they are read."""

    reader: PieceReader
    on_rows: Callable[[int], None]

    @property
    def number(self) -> int:
        return self.reader.number

    @property
    def piece(self) -> Any:
        return self.reader.piece

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reader.columns

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.reader:
            yield batch
            self.on_rows(batch.num_rows)


def units_of(readers: Sequence[PieceReader]) -> list[list[PieceReader]]:
    """Return groups of consecutive pieces that are counted in one go; they depend on the table alone.

    >>> from types import SimpleNamespace
    >>> pieces = [SimpleNamespace(piece=SimpleNamespace(n_rows=n)) for n in (1 << 20, 1 << 20, None, 5, 5)]
    >>> [len(unit) for unit in units_of(pieces)]
    [2, 1, 2]
    """
    units: list[list[PieceReader]] = [[]]
    rows = n_bytes = 0
    for reader in readers:
        units[-1].append(reader)
        known, size = reader.piece.n_rows, getattr(reader.piece, "n_bytes", 0)
        rows, n_bytes = rows + (known or 0), n_bytes + (size if known is None else 0)
        if rows >= _ROWS_OF_A_UNIT or n_bytes >= _BYTES_OF_A_UNIT or (known is None and not size):
            units.append([])
            rows = n_bytes = 0
    return [unit for unit in units if unit]
