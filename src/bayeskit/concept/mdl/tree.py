"""A decision tree as arrays, one entry per node; a parent comes before its children."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayeskit._kernels import content_hashes, group_rows, grow_tree, n_threads

SPLITS = ("values", "one-value", "groups")
# A group of values is a number with one bit per value; a wider column is split into one value and the others.
WIDEST_GROUP = 62
Rows = NDArray[np.int64]


class Test(IntEnum):
    """The kinds of test of a node."""

    LEAF = 0  # nothing
    EVERY_VALUE = 1  # one child for each value that occurs, a missing cell being a value too
    ONE_VALUE = 2  # the first child has the value, the second all others
    CUT = 3  # the first child has the ranks up to the value, the second those above it
    GROUP = 4  # each child has a group of values; the last value that occurs is in the second


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table as both sender and receiver of a tree have it: integers, without the labels.

    A categorical column holds codes 0 … size − 1; a numeric column holds ranks among its distinct numbers. The
    code ``size`` marks a missing cell.
    """

    codes: NDArray[np.uint32]  # (n_features, n_rows)
    sizes: NDArray[np.int64]  # (n_features,)
    ordered: NDArray[np.int64]  # (n_features,): 1 for a numeric column

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of a tree; node 0 is the root."""

    test: NDArray[np.int8]  # (n_nodes,)
    feature: NDArray[np.int64]
    value: NDArray[np.int64]  # the value of ONE_VALUE, the last rank of the first child of CUT, the first GROUP's bits
    # CUT: missing cells go to the first child (1) or the second (0). ONE_VALUE: 0 where some cells are missing, which
    # are then a value like others. −1 where no cell is missing.
    missing_first: NDArray[np.int8]
    first_child: NDArray[np.int64]
    n_children: NDArray[np.int64]
    branch: NDArray[np.int64]  # the value that leads from a test of EVERY_VALUE here; the bits of a GROUP's values
    n_usable: NDArray[np.int64]  # columns that could part the rows of the node
    n_choices: NDArray[np.int64]  # tests of the chosen column
    counts: NDArray[np.float64]  # (n_nodes, n_classes): rows of each class, or their weight

    @classmethod
    def grow(
        cls,
        table: CodedTable,
        y: NDArray[np.uint32],
        weight: NDArray[np.float64] | None,
        n_classes: int,
        splits: str,
    ) -> Tree:
        """Grow a tree until every leaf is pure or no column splits its rows."""
        # Of tests that are equally good the kernel takes the first: in this order, not in that of the table.
        order = _order_by_content(table, y, weight, n_classes)
        codes = np.ascontiguousarray(table.codes[order])
        kind = SPLITS.index(splits)
        tree = cls(**grow_tree(codes, table.sizes[order], table.ordered[order], y, weight, n_classes, kind))
        return replace(tree, feature=np.where(tree.test == Test.LEAF, tree.feature, order[tree.feature]))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.test)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.test == Test.LEAF).sum())

    @property
    def depth(self) -> int:
        """The largest number of tests from the root to a leaf."""
        depth = np.zeros(self.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(self.test).tolist():
            depth[self.children(node)] = depth[node] + 1
        return int(depth.max())

    def children(self, node: int) -> slice:
        """Return the range of a node's children."""
        first = int(self.first_child[node])
        return slice(first, first + int(self.n_children[node]))

    def sides(self, node: int, cells: NDArray[Any], missing: int) -> Rows:
        """Return the child of each cell, or −1 where there is none: an unknown value, or a missing cell.

        ``missing`` is the code of a missing cell; unknown values have any code above it.
        """
        test = self.test[node]
        if test == Test.EVERY_VALUE:
            branches = self.branch[self.children(node)]  # rising
            place = np.minimum(np.searchsorted(branches, cells), len(branches) - 1)
            return np.asarray(np.where(branches[place] == cells, place, -1))
        if test == Test.GROUP:
            groups = self.branch[self.children(node)]
            bit = np.minimum(cells, WIDEST_GROUP)  # an unknown value has a bit that no group holds
            return np.asarray(np.where(groups[0] >> bit & 1, 0, np.where(groups[1] >> bit & 1, 1, -1)))
        if test == Test.ONE_VALUE:
            known = (cells < missing) | ((cells == missing) & (self.missing_first[node] >= 0))
            return np.asarray(np.where(cells == self.value[node], 0, np.where(known, 1, -1)))
        first = self.missing_first[node]
        lost = -1 if first < 0 else 0 if first else 1
        return np.asarray(np.where(cells >= missing, lost, np.where(cells <= self.value[node], 0, 1)))

    @cached_property
    def label_bits(self) -> NDArray[np.float64]:
        """The bits of the labels of each node as a leaf, (n_nodes,)."""
        return label_bits(self.counts)

    @cached_property
    def levels(self) -> list[Rows]:
        """The tests, those of one depth together, from the root down."""
        levels = []
        nodes = np.flatnonzero(self.test[:1])
        while len(nodes):
            levels.append(nodes)
            children = self.all_children(nodes)
            nodes = children[self.test[children] != Test.LEAF]
        return levels

    def all_children(self, nodes: Rows) -> Rows:
        """Return the children of some tests, those of one test together."""
        n = self.n_children[nodes]
        first = np.repeat(self.first_child[nodes] - np.cumsum(n) + n, n)
        return np.asarray(first + np.arange(int(n.sum())))

    def starts(self, nodes: Rows) -> Rows:
        """Return where the children of each test begin in ``all_children(nodes)``."""
        n = self.n_children[nodes]
        return np.asarray(np.cumsum(n) - n)

    def kept(self, is_leaf: NDArray[np.bool_]) -> Rows:
        """Return the nodes that are left where some become leaves."""
        keep = np.zeros(self.n_nodes, dtype=bool)
        keep[0] = True
        for nodes in self.levels:
            keep[self.all_children(nodes)] = np.repeat(keep[nodes] & ~is_leaf[nodes], self.n_children[nodes])
        return np.flatnonzero(keep)

    def cut_back(self, is_leaf: NDArray[np.bool_]) -> Tree:
        """Return the tree in which some nodes are leaves, without what was below them."""
        kept = self.kept(is_leaf)
        place = np.zeros(self.n_nodes, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        leaf = is_leaf[kept]
        first = np.where(leaf, 0, self.first_child[kept])
        return Tree(
            np.where(leaf, np.int8(Test.LEAF), self.test[kept]).astype(np.int8),
            np.where(leaf, -1, self.feature[kept]),
            np.where(leaf, -1, self.value[kept]),
            np.where(leaf, np.int8(-1), self.missing_first[kept]).astype(np.int8),
            np.where(leaf, -1, place[first]),
            np.where(leaf, 0, self.n_children[kept]),
            self.branch[kept],
            self.n_usable[kept],
            np.where(leaf, 1, self.n_choices[kept]),
            self.counts[kept],
        )


def log2_factorial(n: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return log₂ n!, by the gamma function where weights are not integers."""
    return np.asarray(gammaln(n + 1.0) / np.log(2.0))


def label_bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bits of the labels of leaves, given the rows of each class; shape (n_leaves, n_classes) → (n_leaves,).

    The code is described in :mod:`bayeskit.concept.mdl.lengths`.

    Examples
    --------
    >>> label_bits(np.array([[8.0, 0.0], [6.0, 2.0]])).round(4)  # log₂ 5, and log₂ 5 + log₂ 28
    array([2.3219, 7.1293])
    """
    k = counts.shape[1]
    # Of many classes a node has few: only these are read.
    node, label = np.nonzero(counts)
    rows = counts[node, label]
    n, most = np.bincount(node, rows, minlength=len(counts)).astype(np.float64), np.zeros(len(counts))
    np.maximum.at(most, node, rows)
    e = np.maximum(n - most, 0.0)
    bound = n - np.ceil(n / k) if (rows == np.floor(rows)).all() else n - n / k
    bits = np.log2(bound + 1.0) + log2_factorial(n) - log2_factorial(e) - log2_factorial(most)
    if k > 2:
        others = np.bincount(node, log2_factorial(rows), minlength=len(counts)) - log2_factorial(most)
        compositions = log2_factorial(e + k - 2) - log2_factorial(e) - log2_factorial(float(k - 2))
        bits = bits + np.where(e > 0.0, compositions + log2_factorial(e) - others, 0.0)
    return np.asarray(bits)


def _order_by_content(
    table: CodedTable, y: NDArray[np.uint32], weight: NDArray[np.float64] | None, n_classes: int
) -> NDArray[np.int64]:
    """Return the columns in an order that their cells give: rows, names and values in any order have the same one."""
    threads = n_threads(table.codes.size)
    numeric = table.ordered == 1
    columns = [
        np.where(cells == size, np.nan, cells) if is_numeric else cells
        for cells, size, is_numeric in zip(table.codes, table.sizes.tolist(), numeric.tolist(), strict=True)
    ]
    rows, weights, _ = group_rows(columns, y, weight, False, threads)
    n_values = np.where(numeric, -1, table.sizes + 1)  # a missing cell is a value
    of_columns = content_hashes(columns, rows, y, weights, n_values, n_classes, 3, threads)[1]
    return np.argsort(of_columns, kind="stable")
