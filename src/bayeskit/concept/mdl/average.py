r"""Predictions averaged over all prunings of grown trees, weighted by their posterior probability.

A code is a prior, :math:`P(h) = 2^{-L(h)}`, so that a tree has the posterior :math:`P(h \mid D) \propto 2^{-L(h) - L(D
\mid h)}`; the shortest tree is the most probable one, and the optimal prediction is :math:`\sum_h P(c \mid x, h) P(h
\mid D)`. The sum over all prunings of a tree takes one pass from the leaves up, as in context-tree weighting (Willems,
Shtarkov & Tjalkens 1995): with :math:`\ell_v` the bits of node v as a leaf and :math:`t_v` those of its test,

.. math:: 2^{-m_v} = 2^{-\ell_v} + 2^{-t_v} \prod_{children} 2^{-m_u}, \qquad P(v \text{ is a leaf}) = 2^{m_v - \ell_v}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.lengths import leaf_bits, test_bits
from bayeskit.concept.mdl.tree import CodedTable, Test, Tree
from bayeskit.io.expect import expect_array

Vector = NDArray[np.float64]
# Nodes that are reached with less probability are dropped; no prediction changes by more.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Average:
    """Trees with the probability of each, and of each of its nodes to be a leaf where it is reached."""

    trees: tuple[Tree, ...]
    weight: Vector  # (n_trees,), sums to 1
    leaf: tuple[Vector, ...]  # of each tree (n_nodes,); 1 where there is no test

    @classmethod
    def only(cls, tree: Tree) -> Self:
        """Return the predictions of one tree."""
        return cls((tree,), np.ones(1), ((tree.test == Test.LEAF).astype(np.float64),))

    @classmethod
    def over(cls, grown: Sequence[Tree]) -> Self:
        """Return the average over all prunings of some trees, which are equally probable beforehand."""
        summed = [leaf_probability(tree) for tree in grown]
        bits = np.array([total for total, _ in summed])
        weight = np.exp2(bits.min() - bits)
        weight /= weight.sum()
        kept = [i for i in range(len(grown)) if weight[i] >= NEGLIGIBLE]
        folded = [_fold(grown[i], summed[i][1], float(weight[i])) for i in kept]
        return cls(tuple(tree for tree, _ in folded), weight[kept] / weight[kept].sum(), tuple(p for _, p in folded))

    def predict(self, table: CodedTable, smoothing: float) -> NDArray[np.float64]:
        """Return P(c | x) of each row, of shape (n_rows, n_classes)."""
        proba = np.zeros((table.n_rows, self.trees[0].counts.shape[1]))
        for tree, weight, leaf in zip(self.trees, self.weight, self.leaf, strict=True):
            proba += weight * _predict(tree, leaf, table, smoothing)
        # Parts of many branches sum to 1 up to rounding.
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, without the trees."""
        return {"average_weight": self.weight, **{f"average{i}_leaf": leaf for i, leaf in enumerate(self.leaf)}}

    @classmethod
    def from_arrays(cls, trees: Sequence[Tree], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read the weights of some trees; raise where they are not probabilities."""
        weight = expect_array(arrays, "average_weight", np.float64, (len(trees),))
        leaf = tuple(expect_array(arrays, f"average{i}_leaf", np.float64, (t.n_nodes,)) for i, t in enumerate(trees))
        good = bool((weight >= 0).all()) and abs(float(weight.sum()) - 1.0) < 1e-9
        for tree, p in zip(trees, leaf, strict=True):
            good = good and bool(((p >= 0) & (p <= 1)).all() and (p[tree.test == Test.LEAF] == 1).all())
        if not good:
            raise ValueError("the weights of the trees are not probabilities")
        return cls(tuple(trees), weight, leaf)


def leaf_probability(tree: Tree) -> tuple[float, Vector]:
    """Return the bits of all prunings together, and P(leaf) of each node given that it is reached.

    The bits are -log₂ Σ 2^(-L(h) - L(D | h)), without the choice of how values are split.
    """
    as_leaf, as_test = leaf_bits(tree) + tree.label_bits, test_bits(tree)
    together = as_leaf.copy()
    for nodes in tree.levels[::-1]:
        below = as_test[nodes] + np.add.reduceat(together[tree.all_children(nodes)], tree.starts(nodes))
        together[nodes] = -np.logaddexp2(-as_leaf[nodes], -below)
    return float(together[0]), np.minimum(np.exp2(together - as_leaf), 1.0)


def _fold(tree: Tree, leaf: Vector, weight: float) -> tuple[Tree, Vector]:
    """Drop nodes that are reached with negligible probability."""
    reached = np.zeros(tree.n_nodes)
    reached[0] = weight
    for nodes in tree.levels:
        reached[tree.all_children(nodes)] = np.repeat(reached[nodes] * (1.0 - leaf[nodes]), tree.n_children[nodes])
    is_leaf = (tree.test == Test.LEAF) | (reached * (1.0 - leaf) < NEGLIGIBLE)
    kept = tree.kept(is_leaf)
    return tree.cut_back(is_leaf), np.where(is_leaf[kept], 1.0, leaf[kept])


def _predict(tree: Tree, leaf: Vector, table: CodedTable, smoothing: float) -> NDArray[np.float64]:
    n_classes = tree.counts.shape[1]
    total = tree.counts.sum(axis=1, keepdims=True)
    answer = (tree.counts + smoothing) / (total + smoothing * n_classes)
    proba = np.zeros((table.n_rows, n_classes))
    rows = np.arange(table.n_rows)
    open_nodes: list[tuple[int, NDArray[np.int64], Vector]] = [(0, rows, np.ones(len(rows)))]
    while open_nodes:
        node, rows, share = open_nodes.pop()
        if leaf[node] > 0.0:
            proba[rows] += (leaf[node] * share)[:, None] * answer[node]
        if tree.test[node] == Test.LEAF:
            continue
        share = share * (1.0 - leaf[node])
        j = int(tree.feature[node])
        sides = tree.sides(node, table.codes[j][rows].astype(np.int64), int(table.sizes[j]))
        for k, child in enumerate(range(tree.n_nodes)[tree.children(node)]):
            # A value that was not seen in fit goes down every branch, weighted by the rows of fit.
            goes = np.where(sides == k, 1.0, np.where(sides < 0, total[child, 0] / total[node, 0], 0.0))
            there = np.flatnonzero(goes)
            if len(there):
                open_nodes.append((child, rows[there], share[there] * goes[there]))
    return proba
