"""Sequences of a table larger than memory: whole groups are counted where the rows are, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import TableError
from bayeskit.sequence.counts import SequenceCounts
from bayeskit.table.names import not_found
from bayeskit.table.scan import Scan
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

# Counts the sequences of a table, under a schema or one of its own.
Count = Callable[["pa.Table", Schema | None], SequenceCounts]


@dataclass(frozen=True)
class ScannedPart:
    """What some consecutive rows say: counts of the groups that are whole in them, and the rows of the outer two.

    The first group may have begun before and the last may go on after; a part with one group has no last.
    """

    first: pa.Table
    last: pa.Table | None = None
    counts: SequenceCounts | None = None
    groups: frozenset[Any] = frozenset()


@dataclass(frozen=True)
class CountSequences:
    """Counts sequences over the pieces of a scan; parts that follow one another are added by :meth:`plus`."""

    group: str
    count: Count
    schema: Schema | None = None

    def __call__(self, readers: Iterable[Iterable[pa.RecordBatch]]) -> ScannedPart | None:
        """Return the part of all batches; None where there is no row."""
        total: ScannedPart | None = None
        n_rows = 0
        for reader in readers:
            for batch in reader:
                if batch.num_rows:
                    known = self.schema if total is None or total.counts is None else total.counts.schema
                    total = self.plus(total, self._of(batch, n_rows, known))
                    n_rows += batch.num_rows
        return total

    def _of(self, batch: pa.RecordBatch, n_before: int, schema: Schema | None) -> ScannedPart:
        """Return the part of one batch."""
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        column = batch.column(self.group)
        if column.null_count:
            row = n_before + int(np.asarray(column.is_null()).argmax())
            raise TableError(f"group, row {row}: there is no value; leave such rows out.")
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = np.asarray(encoded.indices, dtype=np.int64)
        begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        names = column.take(pa.array(begins)).to_pylist()
        groups = frozenset(names)
        if len(groups) < len(names):
            raise _comes_again(next(name for k, name in enumerate(names) if name in names[:k]))
        if len(begins) == 1:
            return ScannedPart(table, groups=groups)
        low, high = int(begins[1]), int(begins[-1])
        inner = self.count(table.slice(low, high - low), schema) if high > low else None
        return ScannedPart(table.slice(0, low), table.slice(high), inner, groups)

    def plus(self, a: ScannedPart | None, b: ScannedPart | None) -> ScannedPart | None:
        """Return the part of the rows of ``a`` and then those of ``b``."""
        if a is None or b is None:
            return b if a is None else a
        end, begin = a.first if a.last is None else a.last, b.first
        joins = self._name(end, -1) == self._name(begin, 0)
        twice = a.groups & b.groups - ({self._name(end, -1)} if joins else set())
        if twice:
            raise _comes_again(min(twice, key=str))
        groups = a.groups | b.groups
        middle = [_joined(end, begin)] if joins else [end, begin]
        first = middle.pop(0) if a.last is None else a.first
        last = (middle.pop() if middle else None) if b.last is None else b.last
        counts = _sum(a.counts, b.counts)
        for table in middle:
            counts = _sum(counts, self.count(table, self.schema if counts is None else counts.schema))
        return ScannedPart(first, last, counts, groups)

    def whole(self, part: ScannedPart | None) -> SequenceCounts:
        """Return the counts of a part after which nothing comes."""
        if part is None:
            raise TableError("the scan has no rows.")
        counts = part.counts
        for table in (part.first, part.last):
            if table is not None:
                counts = _sum(counts, self.count(table, self.schema if counts is None else counts.schema))
        assert counts is not None
        return counts

    def _name(self, table: pa.Table, row: int) -> Any:
        return table.column(self.group)[row].as_py()


def count_scan(
    scan: Scan, group: Any, time: str | None, target: str | None, count: Count, schema: Schema | None
) -> SequenceCounts:
    """Count the sequences of a scan by its engine; refuse one in which the rows of a group do not follow each other.

    Memory holds some batches and the rows of the groups at the borders of pieces. A frame that has no order, such as
    Spark's, is put in the order of its groups first.
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
    for name in (group, target, *([time] if time is not None else [])):
        if name not in scan.names:
            raise TableError(not_found("column", name, scan.names))
    unordered = any(hasattr(piece, "by_group") for piece in scan.pieces)
    if unordered:
        if time is None:
            raise TableError(f"the rows of {scan.shown} have no order, so that a sequence needs the name of its time=.")
        pieces = tuple(p.by_group(group, time) if hasattr(p, "by_group") else p for p in scan.pieces)
        scan = replace(scan, pieces=pieces)
    task = CountSequences(group, count, schema)
    if schema is None and len(scan.pieces) > 1 and not unordered:
        task = replace(task, schema=_first_schema(scan, task))
    return task.whole(scan.run(task, task.plus))


def _first_schema(scan: Scan, task: CountSequences) -> Schema:
    """Return the schema of the first whole sequences, under which all pieces are counted: their bins are the same."""
    total: ScannedPart | None = None
    for batch in scan.batches():
        total = task.plus(total, task([[batch]]))
        if total is not None and total.counts is not None:
            return total.counts.schema
    return task.whole(total).schema


def _joined(a: pa.Table, b: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([a, b])


def _sum(a: SequenceCounts | None, b: SequenceCounts | None) -> SequenceCounts | None:
    return a if b is None else b if a is None else a + b


def _comes_again(name: Any) -> TableError:
    return TableError(
        f"rows of group {name!r} come again after those of others; a scan must be sorted by group, so that a "
        "sequence is whole. Sort the files, or read the table into memory, where fit sorts it."
    )
