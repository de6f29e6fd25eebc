"""The terms of evidence networks: the bins of each column, the deepest context that was seen, and its line."""

from __future__ import annotations

import numpy as np

from bayeskit.export.scorer import Integers, Networks
from bayeskit.export.sql.dialect import Dialect, RecordDialect
from bayeskit.export.sql.query import Query, sum_of


class NetworkTerms:
    """Σ log P(x_j | c, context) over the columns: with their weights, and without."""

    def __init__(self, part: Networks, dialect: Dialect) -> None:
        self.part, self.dialect = part, dialect
        self.used: list[int] = np.flatnonzero(part.plain_weight).tolist()

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        parents = self.part.parents[:, self.used]
        return sorted({*self.used, *(int(j) for j in np.unique(parents) if j >= 0)})

    def add_stages(self, query: Query) -> tuple[list[str], list[str]]:
        """Add to the query the bins, contexts and lines; return the weighted score of each class, and the plain one."""
        part, number = self.part, self.dialect.number
        networks, classes = range(len(part.sizes)), range(part.lines.shape[1])
        query.add({name: item for t in networks for j in self.columns for name, item in self._bin(t, j).items()})
        for depth in range(part.parents.shape[2]):
            columns: dict[str, str] = {}
            tables: dict[str, str] = {}
            for t in networks:
                for j in self.used:
                    self._add_context(t, j, depth, columns, tables)
            query.add(columns, tables)
        terms = self._add_lines(query)
        query.add({f"na{c}_{j}": sum_of([terms[t, j][c] for t in networks]) for c in classes for j in self.used})
        plain = [sum_of([f"na{c}_{j} * {number(part.plain_weight[j])}" for j in self.used]) for c in classes]
        weighted = [
            sum_of([number(part.start[c]), *(f"na{c}_{j} * {number(part.weight[j])}" for j in self.used)])
            for c in classes
        ]
        return weighted, plain

    def _bin(self, t: int, j: int) -> dict[str, str]:
        """The bin of a column, from 0; NULL where the cell is hidden. Networks with the same bins share a column."""
        first = self._first_alike(t, j)
        if first < t:
            return {}
        bins = self._bins(t, j)
        if (bins == np.arange(len(bins))).all():
            return {f"nb{j}_{t}": f"nullif(v{j}, 0) - 1"}
        return {f"nb{j}_{t}": self.dialect.whole(bins.tolist(), f"nullif(v{j}, 0)")}

    def _bins(self, t: int, j: int) -> Integers:
        at = self.part.level_at
        return self.part.bins[t, at[j] : at[j + 1]]

    def _first_alike(self, t: int, j: int) -> int:
        mine = self._bins(t, j)
        return next(other for other in range(t + 1) if np.array_equal(self._bins(other, j), mine))

    def _bin_name(self, t: int, j: int) -> str:
        return f"nb{j}_{self._first_alike(t, j)}"

    def _add_context(self, t: int, j: int, depth: int, columns: dict[str, str], tables: dict[str, str]) -> None:
        """The context at the next depth, 0 where there is none; and the deepest so far."""
        part = self.part
        unit = t * part.sizes.shape[1] + j
        n_nodes, parents = part.n_nodes[t, j], part.parents[t, j]
        if parents[depth] < 0 or not n_nodes[depth + 1]:
            return
        begin = int(part.child_at[unit])
        for above in range(depth):
            begin += int(n_nodes[above] * part.sizes[t, parents[above]])
        size, first = int(part.sizes[t, parents[depth]]), int(n_nodes[:depth].sum())
        child = part.child[begin : begin + int(n_nodes[depth]) * size].tolist()
        bin_name = self._bin_name(t, int(parents[depth]))
        if depth == 0:
            place = f"{bin_name} + 1"
        else:
            place = f"(nullif(nc{j}_{t}_{depth}, 0) - {first}) * {size} + {bin_name} + 1"
        name = f"nc{j}_{t}_{depth + 1}"
        if isinstance(self.dialect, RecordDialect):
            tables[f"nt{j}_{t}_{depth + 1}"] = self.dialect.integers(child)
            item = self.dialect.item(f"nt{j}_{t}_{depth + 1}", place)
        else:
            item = self.dialect.whole(child, place)
        columns[name] = f"coalesce({item}, 0)"

    def _deepest(self, t: int, j: int) -> str:
        part = self.part
        # A column that has no parent at a depth has none below it.
        n_depths = int(np.count_nonzero((part.parents[t, j] >= 0) & (part.n_nodes[t, j, 1:] > 0)))
        names = [f"nullif(nc{j}_{t}_{depth}, 0)" for depth in range(n_depths, 0, -1)]
        return f"coalesce({', '.join(names)}, 0)" if names else "0"

    def _add_lines(self, query: Query) -> dict[tuple[int, int], list[str]]:
        """Add the place of each line; return the terms of each network and column, 0 for a hidden cell."""
        part, dialect = self.part, self.dialect
        places, lines = {}, {}
        for t in range(len(part.sizes)):
            for j in self.used:
                unit = t * part.sizes.shape[1] + j
                size = int(part.sizes[t, j])
                places[t, j] = f"{self._deepest(t, j)} * {size} + {self._bin_name(t, j)} + 1"
                table = part.lines[part.value_at[unit] : part.value_at[unit + 1]].astype(np.float64)
                lines[t, j] = table.T.tolist()
        none = dialect.number(0.0)
        if not isinstance(dialect, RecordDialect):
            query.add({f"np{j}_{t}": place for (t, j), place in places.items()})
            return {
                (t, j): [f"coalesce({dialect.lookup(column, f'np{j}_{t}')}, {none})" for column in columns]
                for (t, j), columns in lines.items()
            }
        tables = {f"nl{j}_{t}": dialect.records(columns) for (t, j), columns in lines.items()}
        query.add({f"nr{j}_{t}": dialect.item(f"nl{j}_{t}", place) for (t, j), place in places.items()}, tables)
        classes = range(part.lines.shape[1])
        return {(t, j): [f"coalesce({dialect.member(f'nr{j}_{t}', c)}, {none})" for c in classes] for t, j in places}
