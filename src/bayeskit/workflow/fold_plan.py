"""How rows are assigned to folds: at random, by group, or in time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.names import not_found
from bayeskit.table.scan.sample import fold_keys
from bayeskit.workflow.folds import group_parts, stratified_parts, time_parts
from bayeskit.workflow.held_rows import HeldRows
from bayeskit.workflow.wording import count

if TYPE_CHECKING:
    import pyarrow as pa

_PLAN = re.compile(r"(?P<how>group|time):(?P<column>.+?)(:(?P<n>\d+))?")


@dataclass(frozen=True)
class FoldPlan:
    """A number of folds and the way to fill them.

    Examples
    --------
    >>> FoldPlan.read("group:patient").described
    '5-fold cross-validation, each patient in one fold'
    """

    n: int = 5
    how: str = "stratified"  # or "group", "time"
    column: str = ""  # of the groups or times
    n_scored: int = 0  # rows of the sample that scores are taken on, where the table is larger; 0 is all rows

    @classmethod
    def read(cls, text: str) -> FoldPlan:
        """Read ``5``, ``group:COLUMN`` or ``time:COLUMN``; ``group:COLUMN:10`` has ten folds."""
        if text.isdecimal() and int(text) >= 2:
            return cls(int(text))
        match = _PLAN.fullmatch(text)
        n = int(match["n"] or 5) if match else 0
        if match is None or n < 2:
            raise BayeskitError(
                f"folds are a number from 2 on, group:COLUMN or time:COLUMN, with :NUMBER at the end if not 5; got "
                f"{text!r}."
            )
        return cls(n, match["how"], match["column"])

    @property
    def columns(self) -> list[str]:
        """The column that the folds need, where they need one."""
        return [self.column] if self.column else []

    @property
    def left_out(self) -> list[str]:
        """The column that is no feature: which group a row is of says nothing about rows of other groups."""
        return self.columns if self.how == "group" else []

    @property
    def described(self) -> str:
        """The plan as text."""
        if self.n_scored:
            return f"{replace(self, n_scored=0).described}, scored on a random sample of {self.n_scored:,} rows"
        if self.how == "group":
            return f"{self.n}-fold cross-validation, each {self.column} in one fold"
        if self.how == "time":
            return f"{count(self.n, 'stretch')} of time by {self.column}, each predicted from the rows before it"
        return f"{self.n}-fold cross-validation"

    def parts(self, y: NDArray[Any], table: pa.Table | None, random_state: int) -> NDArray[np.intp]:
        """Return the fold of each row of a table in memory, which has the column of the groups or times."""
        if self.how == "stratified":
            return stratified_parts(y, self.n, random_state)
        import pyarrow.compute as pc

        assert table is not None
        if self.column not in table.column_names:
            raise TableError(not_found("column", self.column, table.column_names))
        column = table[self.column]
        if column.null_count:
            row = int(np.asarray(pc.is_null(column)).argmax()) + 1
            raise TableError(f"row {row} has no value of {self.column!r}, by which rows are assigned to folds.")
        if self.how == "group":
            return group_parts(np.unique(column.to_pylist(), return_inverse=True)[1], self.n, random_state)
        return time_parts(_times(column, self.column), self.n)


@dataclass(frozen=True)
class ScanFolds:
    """The fold of each row: by its random number, by the group that it is of, or by its time.

    It depends only on the row and these settings, not on other rows; so no row needs to be stored.
    """

    n: int
    seed: int
    how: str = "stratified"
    column: str = ""
    cuts: tuple[float, ...] = ()  # of time: where each stretch but the first begins

    @classmethod
    def of_plan(cls, plan: FoldPlan, seed: int, rows: HeldRows) -> ScanFolds:
        """Return the folds of a plan; stretches of time are cut where they have equal shares of the sample."""
        if plan.how != "time":
            return cls(plan.n, seed, plan.how, plan.column)
        assert rows.table is not None
        times = _times(rows.table[plan.column], plan.column)
        parts = time_parts(times, plan.n)
        cuts = tuple(float(times[parts == k].min()) for k in range(1, int(parts.max()) + 1))
        return cls(len(cuts) + 1, seed, plan.how, plan.column, cuts)

    def of_rows(self, rows: HeldRows) -> NDArray[np.intp]:
        """Return the fold of each row of the sample."""
        assert rows.sample is not None
        return self._of(rows.table, rows.sample.fold_keys)

    def of_batch(self, batch: pa.RecordBatch, piece: int, first: int) -> NDArray[np.intp]:
        """Return the fold of each row of a batch."""
        return self._of(batch, fold_keys(self.seed, piece, first, batch.num_rows))

    def _of(self, rows: Any, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        if self.how == "stratified":
            return (keys % np.uint64(self.n)).astype(np.intp)
        column = rows.column(rows.schema.get_field_index(self.column))
        if column.null_count:
            raise TableError(f"some row has no value of {self.column!r}, by which rows are assigned to folds.")
        if self.how == "time":
            return np.searchsorted(np.array(self.cuts), _times(column, self.column), side="right").astype(np.intp)
        return self._of_groups(column)

    def _of_groups(self, column: Any) -> NDArray[np.intp]:
        import pyarrow as pa

        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        chunks = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]
        folds = []
        for chunk in chunks:
            names = (f"{self.seed} {value}".encode() for value in chunk.dictionary.to_pylist())
            fold_of = [int.from_bytes(blake2b(name, digest_size=8).digest(), "little") % self.n for name in names]
            folds.append(np.array(fold_of, dtype=np.intp)[np.asarray(chunk.indices)])
        return np.concatenate(folds) if folds else np.empty(0, dtype=np.intp)


def _times(column: Any, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_temporal(kind):
        column = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TableError(
            f"column {name!r} holds {kind} such as {column[0].as_py()!r}; folds in time need numbers or dates.",
            "date_order",
        )
    return np.asarray(column, dtype=np.float64)
