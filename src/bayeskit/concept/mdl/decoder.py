"""The decoder: rebuilds a tree and the labels from a message and the table without labels.

Written from the description in `lengths` alone. It shares no code with the encoder, so that what it rebuilds proves the
length of the message to be real.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import NDArray


@dataclass
class DecodedNode:
    """A node as the receiver reads it: a leaf with its class, or a test with its children."""

    label: int | None = None  # the class of a leaf
    feature: int | None = None
    # A cut: ranks up to this number go to the first child. One value against the others: the value. Otherwise None.
    value: int | None = None
    missing_first: bool | None = None
    group: frozenset[int] | None = None  # two groups: the values of the first child
    children: list[DecodedNode] = field(default_factory=list)


@dataclass(frozen=True)
class Decoded:
    """The content of a message: the tree, and the label of every row as a code."""

    root: DecodedNode
    labels: NDArray[np.int64]  # (n_rows,)


def decode(
    data: bytes,
    codes: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    ordered: NDArray[np.int64],
    n_classes: int,
) -> Decoded:
    """Rebuild a tree and the labels of its rows.

    Parameters
    ----------
    data : bytes
        The message.
    codes : array of shape (n_features, n_rows)
        The table: codes of values or ranks of numbers, and ``sizes[j]`` where a cell of column j is missing.
    sizes, ordered : arrays of shape (n_features,)
        The number of values of each column, and 1 for numeric columns.
    n_classes : int
        The number of classes.
    """
    reader = _Reader(int.from_bytes(data, "little"), codes, sizes, ordered, n_classes)
    reader.way = reader.take(3)
    labels = np.full(codes.shape[1], -1, dtype=np.int64)
    root = reader.read_node(list(range(codes.shape[1])), labels)
    if reader.rest:
        raise ValueError("the message is longer than the tree and the labels that it encodes.")
    return Decoded(root, labels)


class _Reader:
    def __init__(
        self,
        rest: int,
        codes: NDArray[np.uint32],
        sizes: NDArray[np.int64],
        ordered: NDArray[np.int64],
        n_classes: int,
    ) -> None:
        self.rest, self.codes, self.sizes, self.ordered, self.n_classes = rest, codes, sizes, ordered, n_classes
        self.way = 0  # 0: all values, 1: one value and the others, 2: two groups

    def take(self, n: int) -> int:
        self.rest, choice = divmod(self.rest, n)
        return choice

    def read_node(self, rows: list[int], labels: NDArray[np.int64]) -> DecodedNode:
        columns = [j for j in range(len(self.sizes)) if self._parts(j, rows)]
        if not columns or self.take(2) == 0:
            return self._read_leaf(rows, labels)
        j = columns[self.take(len(columns))]
        node = DecodedNode(feature=j)
        node.children = [self.read_node(group, labels) for group in self._read_test(node, j, rows)]
        return node

    def _read_test(self, node: DecodedNode, j: int, rows: list[int]) -> list[list[int]]:
        """Read the test of a node and return the rows of each child."""
        cells = {row: int(self.codes[j, row]) for row in rows}
        present = sorted(set(cells.values()))
        missing = int(self.sizes[j])
        if self.ordered[j]:
            if present[-1] == missing:
                node.missing_first = self.take(2) == 1
                present.pop()
            node.value = present[self.take(len(present) - 1)]
            low = [r for r in rows if (cells[r] <= node.value if cells[r] != missing else node.missing_first)]
            return _two(rows, low)
        if self.way == 2 and len(present) > 2 and missing < 62:
            chosen = 1 + self.take(2 ** (len(present) - 1) - 1)
            node.group = frozenset(value for rank, value in enumerate(present) if chosen >> rank & 1)
            return _two(rows, [r for r in rows if cells[r] in node.group])
        if self.way > 0 and len(present) > 2:
            node.value = present[self.take(len(present))]
            return _two(rows, [r for r in rows if cells[r] == node.value])
        return [[r for r in rows if cells[r] == value] for value in present]

    def _parts(self, j: int, rows: list[int]) -> bool:
        cells = set(self.codes[j, rows].tolist())
        if self.ordered[j]:
            cells.discard(int(self.sizes[j]))
        return len(cells) > 1

    def _read_leaf(self, rows: list[int], labels: NDArray[np.int64]) -> DecodedNode:
        n, k = len(rows), self.n_classes
        label = self.take(k)
        most = n - (n + k - 1) // k
        n_exceptions = self.take(most + 1)
        exceptions = self._take_subset(n, n_exceptions)
        labels[rows] = label
        odd = [rows[place] for place in exceptions]
        others = [c for c in range(k) if c != label]
        if k == 2:
            labels[odd] = others[0]
        elif odd:
            bars = [-1, *self._take_subset(n_exceptions + k - 2, k - 2), n_exceptions + k - 2]
            for c, low, high in zip(others, bars[:-1], bars[1:], strict=True):
                chosen = set(self._take_subset(len(odd), high - low - 1)) if c != others[-1] else set(range(len(odd)))
                labels[[row for place, row in enumerate(odd) if place in chosen]] = c
                odd = [row for place, row in enumerate(odd) if place not in chosen]
        return DecodedNode(label=label)

    def _take_subset(self, n: int, size: int) -> list[int]:
        number = self.take(comb(n, size))
        subset: list[int] = []
        binomial = comb(n - 1, size) if n else 0
        place, left = n - 1, size
        while left:
            if number >= binomial:
                subset.append(place)
                number -= binomial
                binomial = binomial * left // place if place else 0
                left -= 1
            else:
                binomial = binomial * (place - left) // place
            place -= 1
        return subset[::-1]


def _two(rows: list[int], first: list[int]) -> list[list[int]]:
    chosen = set(first)
    return [first, [row for row in rows if row not in chosen]]
