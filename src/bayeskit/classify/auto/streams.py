"""AutoBayes from a scan: a plan from a sample of the rows, then one pass that counts all of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.learn.plan import Pass, Plan, counting, labelled_batches
from bayeskit.table.arrow import BatchReader
from bayeskit.table.scan.pieces import PieceReader
from bayeskit.table.scan.row_keys import row_keys

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.classify.auto.counts import AutoCounts

# Rows of the sample; of a wide table as many as have so many cells, but never fewer than the second number.
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 1 << 16, 2000, 1 << 26


@dataclass(frozen=True)
class Reservoir:
    """The rows with the smallest keys, as Arrow gave them, and how many rows there were.

    A row's key depends on the seed, the piece and its position there. So the sample is the same for any number of
    workers and any order in which their parts are merged.
    """

    most: int
    rows: pa.Table | None = None
    keys: NDArray[np.uint64] | None = None
    n_rows: int = 0

    def plus(self, other: Reservoir) -> Reservoir:
        """Return the union of both."""
        if self.rows is None or other.rows is None:
            kept, rest = (other, self) if self.rows is None else (self, other)
            return replace(kept, n_rows=kept.n_rows + rest.n_rows)
        import pyarrow as pa

        assert self.keys is not None
        assert other.keys is not None
        rows = pa.concat_tables([self.rows, other.rows], promote_options="permissive")
        keys = np.concatenate([self.keys, other.keys])
        return replace(self, rows=rows, keys=keys, n_rows=self.n_rows + other.n_rows).kept()

    def kept(self) -> Reservoir:
        """Return it cut to its largest size."""
        if self.rows is None or self.keys is None or len(self.keys) <= self.most:
            return self
        best = np.sort(np.argpartition(self.keys, self.most)[: self.most])
        return replace(self, rows=self.rows.take(best), keys=self.keys[best])


@dataclass(frozen=True)
class _Sample:
    plan: Plan
    seed: int
    most: int

    def __call__(self, readers: Iterable[PieceReader]) -> Reservoir:
        import pyarrow as pa

        seen, columns = Reservoir(self.most), BatchReader()
        for reader in readers:
            row = 0
            for batch in labelled_batches(reader, self.plan.target):
                rows = self.plan.labelled(batch, columns)[0]
                keys = row_keys(self.seed, reader.number, row, batch.num_rows)
                row += batch.num_rows
                if rows is None:
                    continue
                names = [*self.plan.schema.names, self.plan.target, *([self.plan.weight] if self.plan.weight else [])]
                table = pa.Table.from_batches([batch]).select(names)
                seen = seen.plus(Reservoir(self.most, table, keys, batch.num_rows).kept())
        return seen


def passes(model: Any, plan: Plan) -> Generator[Pass, Any, AutoCounts]:
    """Return the passes over a scan; where the sample holds all rows, one pass is enough."""
    most = int(np.clip(MOST_CELLS // len(plan.schema), FEWEST_ROWS, MOST_ROWS))
    seed = 0 if model.random_state is None else int(model.random_state)
    seen: Reservoir = yield _Sample(plan, seed, most), Reservoir.plus
    if seen.rows is None:
        raise TableError(f"the target {plan.target!r} has no value in any row, so there is nothing to learn from.")
    weight = None
    if plan.weight is not None:
        weight = np.asarray(seen.rows[plan.weight].to_numpy(), dtype=np.float64)
    rows = seen.rows.select([*plan.schema.names, plan.target])
    counts, _ = model._learn(rows, None, weight, plan.target, None, None)
    if seen.n_rows <= most:
        return counts  # type: ignore[no-any-return]
    # What was counted on the sample says how all rows are counted; the plan is one for all of them.
    total = counts.n_rows * seen.n_rows / len(rows)
    frozen: Any = replace(counts, plan=replace(counts.plan, n_rows=total))
    counted: AutoCounts = (yield counting(replace(plan, families=frozen, schema=counts.schema))).counts
    return replace(counted, holds_first=True, first=None)  # the rows that copies of the model will have in common
