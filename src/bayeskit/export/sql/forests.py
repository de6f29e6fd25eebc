"""The terms of trees: the leaf of a row in each tree; where cells are hidden, the weight of every leaf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeskit.export.scorer import Floats, Forest, Integers, Scorer
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect, PairLists, RecordDialect
from bayeskit.export.sql.levels import add_levels
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import LOG_ZERO

# How many tests a stage of a walk goes on: more stages take longer to plan, and an expression may be only so deep.
_TESTS_AT_ONCE = 16


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
        self.number_of = {int(node): k + 1 for k, node in enumerate(self.paths.leaves)}

    def add_stages(self, query: Query) -> list[str]:
        """Add to the query the leaf of each tree, and the weights of all leaves where cells are hidden."""
        end, classes = self.suffix, range(self.part.lines.shape[1])
        leaves = self._add_leaves(query)
        known = self._add_lines(query, leaves)
        if not self.columns:
            return known
        if isinstance(self.dialect, PairLists):
            shared = self._add_walk(query, self.dialect)
        else:
            sums = {f"go{c}{end}": sum_of(self._weighed_trees(c)) for c in classes}
            shared = query.add_where(f"gg0{end}", sums)
        return [f"CASE WHEN gg0{end} THEN {shared[f'go{c}{end}']} ELSE {known[c]} END" for c in classes]

    def _add_lines(self, query: Query, leaves: Sequence[str]) -> list[str]:
        """Add whether a row goes to several leaves of a tree; return P(c | x) of the rows that do not."""
        dialect, end = self.dialect, self.suffix
        # A leaf of 0 is a row that goes to all children of a node, though no cell is hidden.
        to_all = (self.part.sides < 0).any() or (self.part.absent < 0).any()
        several = " OR ".join([f"g0{end}", *(f"{leaf} = 0" for leaf in leaves if to_all)])
        lines, trees = self.paths.lines.T.tolist(), range(len(leaves))
        if not isinstance(dialect, RecordDialect):
            query.add({f"gg0{end}": several})
            return [sum_of([self._line(line, t, leaves[t]) for t in trees]) for line in lines]
        looked_up = {f"gr{t}{end}": dialect.item(f"gl0{end}", leaf) for t, leaf in enumerate(leaves)}
        query.add({**looked_up, f"gg0{end}": several}, {f"gl0{end}": dialect.records(lines)})
        return [sum_of([dialect.member(f"gr{t}{end}", c) for t in trees]) for c in range(len(lines))]

    def _line(self, numbers: Sequence[float], t: int, leaf: str) -> str:
        """The number of a row's leaf, looked up among those of its tree."""
        first, last = np.searchsorted(self.paths.leaves, self.part.tree_at[t : t + 2]).tolist()
        return self.dialect.lookup(numbers[first:last], f"{leaf} - {first}" if first else leaf)

    # -- the leaf of a row ------------------------------------------------------------------------------------------

    def _add_leaves(self, query: Query) -> list[str]:
        """Add the leaf of each tree, in as many stages as the parser needs; return their names.

        A stage that does not come to a leaf says −1 − node, from which the next goes on.
        """
        end, leaves = self.suffix, list[str]()
        below = {t: [int(root)] for t, root in enumerate(self.part.tree_at[:-1])}
        hidden = " OR ".join(f"v{j} = 0" for j in self.columns) or self.dialect.false
        stage = 0
        while any(below.values()):
            columns = {f"g0{end}": hidden} if stage == 0 else {}
            for t, nodes in below.items():
                if not nodes:
                    continue
                cut: list[int] = []
                walks = [self._leaf(node, self.dialect.most_depth, cut) for node in nodes]
                name = f"f{t}_{stage}{end}" if stage else f"f{t}{end}"
                if stage == 0:
                    columns[name] = walks[0]
                    leaves.append(name)
                else:
                    cases = " ".join(f"WHEN {-1 - node} THEN {walk}" for node, walk in zip(nodes, walks, strict=True))
                    columns[name] = f"CASE {leaves[t]} {cases} ELSE {leaves[t]} END"
                    leaves[t] = name
                below[t] = cut
            query.add(columns)
            stage += 1
        return leaves

    def _leaf(self, node: int, depth: int, cut: list[int]) -> str:
        """The number of the leaf below a node, from 1; 0 where a row goes to all children.

        After ``depth`` tests the walk ends at a node, which is added to those that are ``cut`` off.
        """
        part = self.part
        if part.feature[node] < 0:
            return str(self.number_of[node])
        if depth == 0:
            cut.append(node)
            return str(-1 - node)
        cell, first = f"v{int(part.feature[node])}", int(part.child[node])
        children = [self._leaf(first + k, depth - 1, cut) for k in range(int(part.n_children[node]))]
        at = int(part.cut[node])
        if at < 0:
            return self._by_sides(node, cell, children)
        below = f"{cell} < {at + 1}"
        lost = int(part.absent[node])
        if lost == 1 and at > 0:
            below = f"{cell} > 1 AND {below}"
        missing = f"WHEN {cell} = 1 THEN 0 " if lost < 0 else ""
        return f"CASE {missing}WHEN {below} THEN {children[0]} ELSE {children[1]} END"

    def _by_sides(self, node: int, cell: str, children: Sequence[str]) -> str:
        sides = self._sides(node)
        cases, last = [], children[-1]
        for k, child in enumerate(children):
            places = (np.flatnonzero(sides == k) + 1).tolist()
            if k < len(children) - 1 and places:
                cases.append(f"WHEN {self.dialect.is_one_of(cell, places)} THEN {child}")
        lost = (np.flatnonzero(sides < 0) + 1).tolist()
        if lost:
            cases.insert(0, f"WHEN {self.dialect.is_one_of(cell, lost)} THEN 0")
        return f"CASE {' '.join(cases)} ELSE {last} END" if cases else last

    def _sides(self, node: int) -> Integers:
        """The sides of a node: up to the next that begin later."""
        begin = int(self.part.side_at[node])
        later = self._starts[np.searchsorted(self._starts, begin, side="right")]
        return self.part.sides[begin : int(later)]

    @cached_property
    def _starts(self) -> Integers:
        used = self.part.side_at[(self.part.feature >= 0) & (self.part.cut < 0)]
        return np.append(np.unique(used), len(self.part.sides))

    # -- hidden cells -----------------------------------------------------------------------------------------------

    def _weighed_trees(self, c: int) -> list[str]:
        """P(c) by each tree; what is below the depth that the parser reads is a term of its own."""
        terms, number = list[str](), self.dialect.number
        for root in self.part.tree_at[:-1].tolist():
            left: list[tuple[int, tuple[str, ...]]] = [(root, ())]
            while left:
                node, way = left.pop(0)
                below = self._weighed(node, c, self.dialect.most_depth // 2, way, left)
                terms.append(f"{' * '.join(f'({share})' for share in way)} * ({below})" if way else below)
        return terms or [number(0.0)]

    def _weighed(
        self, node: int, c: int, depth: int, way: tuple[str, ...], left: list[tuple[int, tuple[str, ...]]]
    ) -> str:
        """P(c) below a node as one expression; branches that a row does not take are not computed.

        After ``depth`` tests nodes are ``left`` for later, with the shares of the row on the ``way`` to them.
        """
        part, number = self.part, self.dialect.number
        if part.feature[node] < 0:
            return number(self.paths.lines[self.number_of[node] - 1, c])
        if depth == 0:
            left.append((node, way))
            return number(0.0)
        first, (every, takes) = int(part.child[node]), self._conditions(node)
        one, none = number(1.0), number(0.0)
        terms = []
        for k, condition in enumerate(takes):
            share = f"CASE WHEN {every} THEN {number(part.share[first + k])} ELSE {one} END"
            whole = (
                f"CASE WHEN {every} THEN {number(part.share[first + k])} WHEN {condition} THEN {one} ELSE {none} END"
            )
            below = self._weighed(first + k, c, depth - 1, (*way, whole), left)
            terms.append(f"CASE WHEN {every} OR {condition} THEN ({share}) * ({below}) ELSE {none} END")
        return sum_of(terms)

    def _conditions(self, node: int) -> tuple[str, list[str]]:
        """The condition under which a row goes to all children of a node, and those under which it goes to each."""
        part = self.part
        cell, n, cut, lost = (
            f"v{int(part.feature[node])}",
            *(int(x[node]) for x in (part.n_children, part.cut, part.absent)),
        )
        to_all = [0]
        if cut < 0:
            sides = self._sides(node)
            to_all += (np.flatnonzero(sides < 0) + 1).tolist()
            takes = [self.dialect.is_one_of(cell, (np.flatnonzero(sides == k) + 1).tolist()) for k in range(n)]
        else:
            to_all += [1] * (lost < 0)
            takes = [f"{cell} > 1 AND {cell} < {cut + 1}", f"{cell} > 1 AND {cell} >= {cut + 1}"]
            if lost >= 0:
                takes[lost] = f"({takes[lost]} OR {cell} = 1)"
        return self.dialect.is_one_of(cell, to_all), takes

    def _add_walk(self, query: Query, lists: PairLists) -> dict[str, str]:
        """Add P(c) as the sum over the leaves that a row comes to, of their shares times their lines.

        A walk is a list of nodes with the share of the row in each, at first the roots; each stage goes some tests on.
        """
        dialect, end, lines = self.dialect, self.suffix, self.paths.lines.T.tolist()
        here = f"gg0{end}"
        tables, names = self._node_tables()
        roots = lists.pairs([(int(root) + 1, 1.0) for root in self.part.tree_at[:-1]])
        levels = dialect.list_of([f"v{j}" for j in self.columns])
        now = query.add_where(here, {f"gv0{end}": levels, f"gn0{end}": roots})
        cells, walk = now[f"gv0{end}"], now[f"gn0{end}"]
        depth = self.paths.nodes.shape[1]
        for begin in range(0, depth, _TESTS_AT_ONCE):
            for _ in range(begin, min(begin + _TESTS_AT_ONCE, depth)):
                walk = lists.spread(walk, lambda node, share: self._next(lists, names, cells, node, share))
            name = f"gn{begin + 1}{end}"
            walk = query.add_where(here, {name: walk}, tables)[name]
        numbers = np.zeros((len(lines), len(self.part.feature)))
        numbers[:, self.paths.leaves] = lines
        more, line = self._constants({f"gc{c}": each for c, each in enumerate(numbers.tolist())}, whole=False)
        sums = {}
        for c, name in enumerate(line.values()):
            sums[f"go{c}{end}"] = lists.sum_of_pairs(walk, lambda n, p, name=name: f"{p} * {dialect.item(name, n)}")  # type: ignore[misc]
        return query.add_where(here, sums, more)

    def _node_tables(self) -> tuple[dict[str, str], dict[str, str]]:
        """The arrays of the trees as constants of the query, and what each is called; numbers count from 1."""
        part, place = self.part, {j: k + 1 for k, j in enumerate(self.columns)}
        whole = {
            "gf": [place[int(j)] if j >= 0 else 0 for j in part.feature],
            "gk": (part.cut + 1).tolist(),
            "ga": part.absent.tolist(),
            "gt": (part.side_at + 1).tolist(),
            "gs": part.sides.tolist() or [0],
            "gb": (part.child + 1).tolist(),
            "gm": part.n_children.tolist(),
        }
        tables, names = self._constants(whole, whole=True)
        more, shares = self._constants({"gh": part.share.tolist()}, whole=False)
        return tables | more, names | shares

    def _next(self, lists: PairLists, names: Mapping[str, str], cells: str, node: str, share: str) -> str:
        """What a node with a share becomes: itself where it is a leaf, one child, or all of them."""
        item = self.dialect.item
        feature, cut, absent, side_at, first, n = (item(names[f"g{x}"], node) for x in "fkatbm")
        level = item(cells, feature)
        by_side = item(names["gs"], f"{side_at} + {level} - 1")
        # Of a node with a cut; the cut of the others is 0.
        side = (
            f"CASE WHEN {level} = 0 THEN -1 WHEN {cut} = 0 THEN {by_side} WHEN {level} = 1 THEN {absent} "
            f"WHEN {level} < {cut} THEN 0 ELSE 1 END"
        )
        leaf, one = lists.pair(node, share), lists.pair(f"{first} + {side}", share)
        every = lists.children(first, n, share, lambda child: item(names["gh"], child))
        return f"CASE WHEN {feature} = 0 THEN {leaf} WHEN {side} >= 0 THEN {one} ELSE {every} END"

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
