"""A tree and the labels of its rows as bits: the message whose length `lengths` computes.

Every item of the code is a choice s of N. The message is the whole number s₁ + N₁ (s₂ + N₂ (s₃ + …)), which is below
∏ N and so takes ⌈Σ log₂ N⌉ bits: no more than one bit is lost in all. The receiver divides by N₁, N₂, … as it learns
them; `decoder` does so and shares no code with this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.tree import SPLITS, CodedTable, Test, Tree
from bayeskit.errors import BayeskitError
from bayeskit.result import Result


@dataclass(frozen=True)
class Message(Result):
    """The bits that encode a tree and the labels of its rows, for a receiver who has the table without labels."""

    data: bytes
    n_bits: int

    def __repr__(self) -> str:
        return f"Message of {self.n_bits} bits"


def encode(tree: Tree, table: CodedTable, y: NDArray[np.uint32], splits: str) -> Message:
    """Write a tree and the labels of the rows that it was grown on.

    Parameters
    ----------
    tree : Tree
        The tree, pruned or not.
    table : CodedTable
        The rows without labels; the receiver has them too.
    y : array of shape (n_rows,)
        The labels as codes.
    splits : {"values", "one-value", "groups"}
        The tests of categorical columns in the code; one choice of three in the message.
    """
    writer = _Writer(tree, table, np.asarray(y, dtype=np.int64), splits)
    writer.put(SPLITS.index(splits), len(SPLITS))
    writer.node(0, np.arange(table.n_rows))
    number, limit = 0, 1
    for choice, n in reversed(writer.choices):
        number = choice + n * number
        limit *= n
    n_bits = (limit - 1).bit_length()
    return Message(number.to_bytes(-(-n_bits // 8), "little"), n_bits)


class _Writer:
    def __init__(self, tree: Tree, table: CodedTable, y: NDArray[np.int64], splits: str) -> None:
        self.tree, self.table, self.y, self.splits = tree, table, y, splits
        self.n_classes = tree.counts.shape[1]
        self.choices: list[tuple[int, int]] = []

    def put(self, choice: int, n: int) -> None:
        """Write one choice of n; a single choice takes no bits."""
        assert 0 <= choice < n
        if n > 1:
            self.choices.append((choice, n))

    def node(self, node: int, rows: NDArray[np.int64]) -> None:
        """Write a node and its subtree."""
        tree = self.tree
        if not np.array_equal(np.bincount(self.y[rows], minlength=self.n_classes), tree.counts[node]):
            raise BayeskitError("a tree is encoded with the rows and labels that it was fitted to; got other ones.")
        usable = [j for j in range(len(self.table.sizes)) if self._n_known(j, rows) > 1]
        test = Test(int(tree.test[node]))
        if usable:
            self.put(int(test != Test.LEAF), 2)
        if test == Test.LEAF:
            self._labels(self.y[rows])
            return
        j = int(tree.feature[node])
        self.put(usable.index(j), len(usable))
        cells = self.table.codes[j][rows].astype(np.int64)
        self._test(node, test, cells, int(self.table.sizes[j]))
        sides = tree.sides(node, cells, int(self.table.sizes[j]))
        for k, child in enumerate(range(tree.n_nodes)[tree.children(node)]):
            self.node(child, rows[sides == k])

    def _n_known(self, j: int, rows: NDArray[np.int64]) -> int:
        """Count the distinct cells of a column among some rows; in a numeric column missing ones are not counted."""
        cells = np.unique(self.table.codes[j][rows])
        return len(cells[cells < self.table.sizes[j]]) if self.table.ordered[j] else len(cells)

    def _test(self, node: int, test: Test, cells: NDArray[np.int64], missing: int) -> None:
        present = np.unique(cells)
        value = int(self.tree.value[node])
        if test == Test.CUT:
            known = present[present < missing]
            if present[-1] == missing:
                self.put(int(self.tree.missing_first[node]), 2)
            self.put(int(np.searchsorted(known, value)), len(known) - 1)
        elif test == Test.GROUP:
            # The last value is always in the second group, so that the bits of the others number the ways to part.
            inside = [int(value >> code & 1) << rank for rank, code in enumerate(present.tolist())]
            self.put(sum(inside) - 1, (1 << (len(present) - 1)) - 1)
        elif self.splits != "values" and len(present) > 2:
            self.put(int(np.searchsorted(present, value)), len(present))

    def _labels(self, y: NDArray[np.int64]) -> None:
        n, k = len(y), self.n_classes
        counts = np.bincount(y, minlength=k)
        majority = int(counts.argmax())
        self.put(majority, k)
        other = y != majority
        e = int(other.sum())
        self.put(e, n - -(-n // k) + 1)
        self._subset(np.flatnonzero(other).tolist(), n)
        if k > 2 and e:
            left = y[other]
            rest = [c for c in range(k) if c != majority]
            # How many of each class: bars between stars.
            bars = np.cumsum([counts[c] + 1 for c in rest[:-1]]) - 1
            self._subset(bars.tolist(), e + k - 2)
            for c in rest[:-1]:
                self._subset(np.flatnonzero(left == c).tolist(), len(left))
                left = left[left != c]

    def _subset(self, places: Sequence[int], n: int) -> None:
        """Write a subset of n positions, by its rank among all subsets of its size."""
        size = len(places)
        if size == 0 or size == n:
            return
        # The subset p₁ < p₂ < … has the number C(p₁, 1) + C(p₂, 2) + …; each binomial comes from the one before.
        taken = np.zeros(n, dtype=bool)
        taken[list(places)] = True
        number, binomial, i = 0, 0, 1  # binomial = C(place, i)
        for place, is_taken in enumerate(taken.tolist()):
            if is_taken:
                number += binomial
                i += 1
                binomial = binomial * (place + 1) // i
            else:
                binomial = binomial * (place + 1) // (place + 1 - i) if place + 1 > i else 1
        self.put(number, comb(n, size))
