"""Pruning a tree to the shortest description, with both parts of the length before and after each cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.lengths import SPLITS_BITS, leaf_bits, test_bits
from bayeskit.concept.mdl.tree import Test, Tree
from bayeskit.result import fields_text, html_text

# A cut that changes the length by less than rounding is made: of two trees of one length the smaller is taken.
_TIE = 1e-9


class Cut(NamedTuple):
    """A test that became a leaf, and L(h) and L(D | h) of the whole tree before and after, in bits."""

    path: str
    tree_bits_before: float
    data_bits_before: float
    tree_bits_after: float
    data_bits_after: float

    def __repr__(self) -> str:
        return fields_text(type(self).__name__, self._asdict().items())

    def _repr_html_(self) -> str:
        return html_text(str(self))


@dataclass(frozen=True, eq=False)
class Pruned:
    """A pruned tree, the nodes that were pruned, in order, and the lengths of the whole tree.

    ``lengths`` has shape (n_cuts + 1, 2): L(h) and L(D | h) of the grown tree, then after each cut.
    """

    tree: Tree
    cuts: NDArray[np.int64]  # (n_cuts,): numbers of nodes of the grown tree
    lengths: NDArray[np.float64]

    @property
    def bits(self) -> float:
        """L(h) + L(D | h) of the tree that is left."""
        return float(self.lengths[-1].sum())


def prune(tree: Tree) -> Pruned:
    """Prune from the leaves up wherever a leaf is not longer than the test with its subtree.

    A subtree does not change the length of its siblings, so this finds the shortest of all prunings of the given tree.

    """
    as_leaf = np.stack([leaf_bits(tree), tree.label_bits], axis=1)  # (n_nodes, 2): L(h), L(D | h)
    as_test = test_bits(tree)
    standing, grown = as_leaf.copy(), as_leaf.copy()  # of the subtree at each node, as it stands and as it was grown
    is_leaf = tree.test == Test.LEAF
    cuts: list[NDArray[np.int64]] = []
    gains: list[NDArray[np.float64]] = []
    for nodes in tree.levels[::-1]:
        for part in (grown, standing):
            below = np.add.reduceat(part[tree.all_children(nodes)], tree.starts(nodes), axis=0)
            below[:, 0] += as_test[nodes]
            part[nodes] = below
        cut = nodes[as_leaf[nodes].sum(axis=1) <= standing[nodes].sum(axis=1) + _TIE]
        cuts.append(cut)
        gains.append(as_leaf[cut] - standing[cut])
        standing[cut] = as_leaf[cut]
        is_leaf[cut] = True
    whole = grown[:1] + np.array([SPLITS_BITS, 0.0])
    steps = [whole, *gains]
    order = np.concatenate(cuts) if cuts else np.empty(0, dtype=np.int64)
    return Pruned(tree.cut_back(is_leaf), order, np.cumsum(np.concatenate(steps), axis=0))
