"""Sequences of a table larger than memory: whole groups at a time, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.names import not_found
from bayeskit.table.scan import Scan

if TYPE_CHECKING:
    import pyarrow as pa


def whole_sequences(scan: Scan, group: Any, target: str | None) -> Iterator[pa.Table]:
    """Yield tables that hold whole groups; refuse a scan in which the rows of a group do not follow each other.

    Memory holds one batch and the rows of one group that goes on in the next.
    """
    if not isinstance(group, str):
        raise TableError(
            f"a scan needs the name of the column that says to which sequence a row belongs; got {group!r}."
        )
    if target is None:
        raise TableError(
            "hidden states are learned by EM, which reads the rows again and again; of a scan, states are counted "
            "once, so it needs target=. Read the table into memory to learn hidden states."
        )
    for name in (group, target):
        if name not in scan.names:
            raise TableError(not_found("column", name, scan.names))
    seen: set[Any] = set()
    waiting: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in scan.batches():
        if not batch.num_rows:
            continue
        codes = _codes(batch.column(group), n_rows)
        others = np.flatnonzero(codes != codes[-1])
        cut = int(others[-1]) + 1 if len(others) else 0  # where the last group of the batch begins
        goes_on = bool(waiting) and waiting[-1].column(group)[-1].as_py() == batch.column(group)[0].as_py()
        if cut == 0 and goes_on:
            waiting.append(batch)
        else:
            ended = [*waiting, batch.slice(0, cut)] if cut else waiting
            if ended:
                yield _checked(ended, group, seen)
            waiting = [batch.slice(cut)]
        n_rows += batch.num_rows
    if not waiting:
        raise TableError("the scan has no rows.")
    yield _checked(waiting, group, seen)


def _codes(column: Any, n_before: int) -> NDArray[np.int64]:
    if column.null_count:
        row = n_before + int(np.asarray(column.is_null()).argmax())
        raise TableError(f"group, row {row}: there is no value; leave such rows out.")
    return np.asarray(column.dictionary_encode().indices, dtype=np.int64)


def _checked(batches: list[pa.RecordBatch], group: str, seen: set[Any]) -> pa.Table:
    """Return batches as one table, and note its groups."""
    import pyarrow as pa

    table = pa.Table.from_batches(batches)
    column = table.column(group).combine_chunks()
    encoded = column.dictionary_encode() if not pa.types.is_dictionary(column.type) else column
    codes = np.asarray(encoded.indices, dtype=np.int64)
    begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    for name in column.take(pa.array(begins)).to_pylist():
        if name in seen:
            raise TableError(
                f"rows of group {name!r} come again after those of others; a scan must be sorted by group, so that a "
                "sequence is whole. Sort the files, or read the table into memory, where fit sorts it."
            )
        seen.add(name)
    return table
