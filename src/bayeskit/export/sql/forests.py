"""The terms of trees: the leaf of a row in each tree; where cells are hidden, the weight of every leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.scorer import Floats, Forest, Integers, Scorer
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect, RecordDialect
from bayeskit.export.sql.levels import add_levels
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import LOG_ZERO

# The side of a root, which every row reaches.
_ROOT = 99


class ForestTerms:
    """log P(c | x) of a classifier that is a forest."""

    def __init__(self, part: Forest, dialect: Dialect, scorer: Scorer) -> None:
        self.forest, self.dialect, self.scorer = ForestPart(part, dialect), dialect, scorer

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return self.forest.columns

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the levels, the leaves and P(c | x); return its logarithms."""
        add_levels(query, self.scorer.columns, self.columns)
        answers = self.forest.add_stages(query)
        query.add({f"y{c}": answer for c, answer in enumerate(answers)})
        nothing = self.dialect.number(LOG_ZERO)
        return [f"CASE WHEN y{c} > 0 THEN ln(y{c}) ELSE {nothing} END" for c in range(len(answers))]


@dataclass(frozen=True)
class Paths:
    """The way to each leaf: the nodes on it, the root left out."""

    leaves: Integers  # (n_leaves,): the node of each
    nodes: Integers  # (n_leaves, depth): filled up with 0, which is a root
    lines: Floats  # (n_leaves, n_classes): what the leaf and the nodes on its way answer, weighed by its tree


class ForestPart:
    """P(c | x) by a forest, from levels v_j. ``suffix`` tells the names of several forests in one query apart."""

    def __init__(self, part: Forest, dialect: Dialect, suffix: str = "") -> None:
        self.part, self.dialect, self.suffix = part, dialect, suffix
        self.columns: list[int] = sorted({int(j) for j in part.feature[part.feature >= 0]})
        self.paths = paths_of(part)
        self.refuse_large()
        self.number_of = {int(node): k + 1 for k, node in enumerate(self.paths.leaves)}

    def refuse_large(self) -> None:
        """Raise an error for trees that are too deep for the parser of the database, or too large for its lists."""
        depth, dialect, n = self.paths.nodes.shape[1], self.dialect, len(self.part.feature)
        if depth > dialect.most_depth:
            raise TooLargeError(
                f"the model has trees of {depth} tests in a row, and {dialect.name} reads expressions of at most "
                f"{dialect.most_depth}; export it for another database, or fit AutoBayes with effort='fast', which has "
                "no trees."
            )
        if not dialect.row_by_row and n > dialect.most_nodes:
            raise TooLargeError(
                f"the trees of the model have {n} nodes, more than the {dialect.most_nodes} that {dialect.name} can "
                "weigh in rows with missing cells; export it for another database, or fit with a smaller max_nodes."
            )

    def add_stages(self, query: Query) -> list[str]:
        """Add to the query the leaf of each tree, and the weights of all leaves where cells are hidden."""
        dialect, end = self.dialect, self.suffix
        trees, classes = range(len(self.part.weight)), range(self.part.lines.shape[1])
        hidden = [f"v{j} = 0" for j in self.columns]
        query.add(
            {
                **{f"f{t}{end}": self._leaf(int(self.part.tree_at[t])) for t in trees},
                f"g0{end}": " OR ".join(hidden) or dialect.false,
            }
        )
        # A leaf of 0 is a row that goes to all children of a node, though no cell is hidden.
        unknown = (
            [f"f{t}{end} = 0" for t in trees] if (self.part.sides < 0).any() or (self.part.absent < 0).any() else []
        )
        lines = self.paths.lines.T.tolist()
        if isinstance(dialect, RecordDialect):
            records = {f"gl0{end}": dialect.records(lines)}
            looked_up = {f"gr{t}{end}": dialect.item(f"gl0{end}", f"f{t}{end}") for t in trees}
            known = [sum_of([dialect.member(f"gr{t}{end}", c) for t in trees]) for c in classes]
            query.add({**looked_up, f"gg0{end}": " OR ".join([f"g0{end}", *unknown])}, records)
        else:
            known = [sum_of([self._line(lines[c], t) for t in trees]) for c in classes]
            query.add({f"gg0{end}": " OR ".join([f"g0{end}", *unknown])})
        if not self.columns:
            return known
        if dialect.row_by_row:
            sums = {
                f"go{c}{end}": sum_of([self._weighed(int(root), c) for root in self.part.tree_at[:-1]]) for c in classes
            }
            shared = query.add_where(f"gg0{end}", sums)
        else:
            shared = self._add_sums(query, lines)
        return [f"CASE WHEN gg0{end} THEN {shared[f'go{c}{end}']} ELSE {known[c]} END" for c in classes]

    def _line(self, numbers: Sequence[float], t: int) -> str:
        """The number of a row's leaf, looked up among those of its tree."""
        first, last = np.searchsorted(self.paths.leaves, self.part.tree_at[t : t + 2]).tolist()
        return self.dialect.lookup(
            numbers[first:last], f"f{t}{self.suffix} - {first}" if first else f"f{t}{self.suffix}"
        )

    # -- the leaf of a row ------------------------------------------------------------------------------------------

    def _leaf(self, node: int) -> str:
        """The number of the leaf below a node, from 1; 0 where a row goes to all children."""
        part = self.part
        if part.feature[node] < 0:
            return str(self.number_of[node])
        cell, first = f"v{int(part.feature[node])}", int(part.child[node])
        children = [self._leaf(first + k) for k in range(int(part.n_children[node]))]
        cut = int(part.cut[node])
        if cut < 0:
            return self._by_sides(node, cell, children)
        below = f"{cell} < {cut + 1}"
        lost = int(part.absent[node])
        if lost == 1 and cut > 0:
            below = f"{cell} > 1 AND {below}"
        missing = f"WHEN {cell} = 1 THEN 0 " if lost < 0 else ""
        return f"CASE {missing}WHEN {below} THEN {children[0]} ELSE {children[1]} END"

    def _by_sides(self, node: int, cell: str, children: Sequence[str]) -> str:
        sides = self._sides(node)
        cases, last = [], children[-1]
        for k, child in enumerate(children):
            places = [str(level + 1) for level in np.flatnonzero(sides == k).tolist()]
            if k < len(children) - 1 and places:
                cases.append(f"WHEN {cell} IN ({', '.join(places)}) THEN {child}")
        lost = [str(level + 1) for level in np.flatnonzero(sides < 0).tolist()]
        if lost:
            cases.insert(0, f"WHEN {cell} IN ({', '.join(lost)}) THEN 0")
        return f"CASE {' '.join(cases)} ELSE {last} END" if cases else last

    def _sides(self, node: int) -> Integers:
        """The sides of a node: up to the next that begin later."""
        begin = int(self.part.side_at[node])
        later = self._starts[np.searchsorted(self._starts, begin, side="right")]
        return self.part.sides[begin : int(later)]

    @property
    def _starts(self) -> Integers:
        used = self.part.side_at[(self.part.feature >= 0) & (self.part.cut < 0)]
        return np.append(np.unique(used), len(self.part.sides))

    # -- hidden cells -----------------------------------------------------------------------------------------------

    def _weighed(self, node: int, c: int) -> str:
        """P(c) below a node as one expression; branches that a row does not take are not computed."""
        part, number = self.part, self.dialect.number
        if part.feature[node] < 0:
            return number(self.paths.lines[self.number_of[node] - 1, c])
        cell, first, n = f"v{int(part.feature[node])}", int(part.child[node]), int(part.n_children[node])
        cut, lost = int(part.cut[node]), int(part.absent[node])
        to_all = [0]
        if cut < 0:
            sides = self._sides(node)
            to_all += (np.flatnonzero(sides < 0) + 1).tolist()
            takes = [f"{cell} IN ({', '.join(map(str, (np.flatnonzero(sides == k) + 1).tolist()))})" for k in range(n)]
        else:
            to_all += [1] * (lost < 0)
            takes = [f"{cell} > 1 AND {cell} < {cut + 1}", f"{cell} > 1 AND {cell} >= {cut + 1}"]
            if lost >= 0:
                takes[lost] = f"({takes[lost]} OR {cell} = 1)"
        every = f"{cell} IN ({', '.join(map(str, to_all))})"
        terms = []
        for k in range(n):
            share = f"CASE WHEN {every} THEN {number(part.share[first + k])} ELSE {number(1.0)} END"
            below = self._weighed(first + k, c)
            terms.append(f"CASE WHEN {every} OR {takes[k]} THEN ({share}) * ({below}) ELSE {number(0.0)} END")
        return sum_of(terms)

    def _add_sums(self, query: Query, lines: Sequence[Sequence[float]]) -> dict[str, str]:
        """Add P(c) as the sum over all leaves of their weights times their lines."""
        dialect, weights = self.dialect, self._add_weights(query)
        tables, names = self._constants({f"gc{c}": line for c, line in enumerate(lines)}, whole=False)
        sums = {}
        for c in range(len(lines)):
            term = f"{dialect.item(weights, 'i + 1')} * {dialect.item(names[f'gc{c}'], 'i + 1')}"
            sums[f"go{c}{self.suffix}"] = dialect.list_sum(len(self.paths.leaves), term)
        return query.add_where(f"gg0{self.suffix}", sums, tables)

    def _add_weights(self, query: Query) -> str:
        """Add the share of each node among its parent's rows, and the product of these on the way to each leaf."""
        dialect, end, part = self.dialect, self.suffix, self.part
        above, side = np.zeros((2, len(part.feature)), dtype=np.int64)
        side[part.tree_at[:-1]] = _ROOT
        inner = np.flatnonzero(part.feature >= 0)
        for node in inner.tolist():
            children = slice(int(part.child[node]), int(part.child[node] + part.n_children[node]))
            above[children], side[children] = node, np.arange(children.stop - children.start)
        place = {j: k + 1 for k, j in enumerate(self.columns)}
        column = [place[int(j)] if j >= 0 else 1 for j in part.feature[above]]
        whole = {
            "gf": column,
            "gk": (part.cut[above] + 1).tolist(),
            "ga": part.absent[above].tolist(),
            "gt": (part.side_at[above] + 1).tolist(),
            "gs": part.sides.tolist() or [0],
            "gd": side.tolist(),
        }
        tables, names = self._constants(whole, whole=True)
        more, shares = self._constants({"gh": part.share.tolist()}, whole=False)
        names |= shares
        here = {name: dialect.item(names[name], "i + 1") for name in whole if name != "gs"}
        level = dialect.item(f"gv0{end}", here["gf"])
        by_side = dialect.item(names["gs"], f"{here['gt']} + {level} - 1")
        # Of a node with a cut; the cut of the others is 0.
        goes = (
            f"CASE WHEN {level} = 0 THEN -1 WHEN {here['gk']} = 0 THEN {by_side} WHEN {level} = 1 THEN {here['ga']} "
            f"WHEN {level} < {here['gk']} THEN 0 ELSE 1 END"
        )
        one, none = dialect.number(1.0), dialect.number(0.0)
        share = (
            f"CASE WHEN {here['gd']} = {_ROOT} OR ({goes}) = {here['gd']} THEN {one} "
            f"WHEN ({goes}) < 0 THEN {dialect.item(names['gh'], 'i + 1')} ELSE {none} END"
        )
        levels = query.add_where(f"gg0{end}", {f"gv0{end}": dialect.list_of([f"v{j}" for j in self.columns])})
        share = share.replace(f"gv0{end}", levels[f"gv0{end}"])
        reached = query.add_where(
            f"gg0{end}", {f"gn0{end}": dialect.tabulate(len(part.feature), share)}, {**tables, **more}
        )
        return self._add_products(query, reached[f"gn0{end}"])

    def _add_products(self, query: Query, shares: str) -> str:
        dialect, end = self.dialect, self.suffix
        depth = self.paths.nodes.shape[1]
        tables, names = self._constants(
            {f"gp{d}": (self.paths.nodes[:, d] + 1).tolist() for d in range(depth)}, whole=True
        )
        factors = [dialect.item(shares, dialect.item(names[f"gp{d}"], "i + 1")) for d in range(depth)]
        product = " * ".join(factors) or dialect.number(1.0)
        weights = query.add_where(f"gg0{end}", {f"gw0{end}": dialect.tabulate(len(self.paths.leaves), product)}, tables)
        return weights[f"gw0{end}"]

    def _constants(self, lists: dict[str, Any], whole: bool) -> tuple[dict[str, str], dict[str, str]]:
        """Return constants for the query, and what stands for each list: a name, or where that is no use the list."""
        write = self.dialect.integers if whole else self.dialect.numbers
        texts = {name: write(values) for name, values in lists.items()}
        if not isinstance(self.dialect, RecordDialect):
            return {}, texts
        names = {name: f"{name}0{self.suffix}" if name[-1].isalpha() else f"{name}{self.suffix}" for name in lists}
        return {names[name]: text for name, text in texts.items()}, names


def paths_of(part: Forest) -> Paths:
    """Return the way to each leaf of a forest."""
    n, n_classes = part.lines.shape
    lines, keep = np.zeros((n, n_classes)), np.ones(n)
    way: list[tuple[int, ...]] = [()] * n
    leaves = []
    for t, root in enumerate(part.tree_at[:-1].tolist()):
        for node in range(root, int(part.tree_at[t + 1])):  # a parent comes before its children
            if node == root:
                keep[node] = part.weight[t]
            lines[node] += keep[node] * part.stop[node] * part.lines[node]
            if part.feature[node] < 0:
                leaves.append(node)
                continue
            for child in range(int(part.child[node]), int(part.child[node] + part.n_children[node])):
                lines[child] = lines[node]
                keep[child] = keep[node] * (1.0 - part.stop[node])
                way[child] = (*way[node], child)
    depth = max(len(way[leaf]) for leaf in leaves)
    nodes = np.zeros((len(leaves), depth), dtype=np.int64)
    for k, leaf in enumerate(leaves):
        nodes[k, : len(way[leaf])] = way[leaf]
    return Paths(np.array(leaves), nodes, lines[leaves])
