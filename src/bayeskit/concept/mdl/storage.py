"""The arrays of a tree in a model file, checked when they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.tree import WIDEST_GROUP, Test, Tree
from bayeskit.io.expect import expect_array

_INTS = ("feature", "value", "first_child", "n_children", "branch", "n_usable", "n_choices")


def tree_to_arrays(tree: Tree, prefix: str = "tree") -> dict[str, NDArray[Any]]:
    """Return the arrays of a tree by name."""
    names = ("test", "missing_first", *_INTS, "counts")
    return {f"{prefix}_{name}": getattr(tree, name) for name in names}


def tree_from_arrays(
    arrays: dict[str, NDArray[Any]],
    sizes: NDArray[np.int64],
    ordered: NDArray[np.int64],
    n_classes: int,
    prefix: str = "tree",
) -> Tree:
    """Read a tree; refuse one whose nodes do not fit together or do not fit the columns."""
    test = expect_array(arrays, f"{prefix}_test", np.int8, (None,))
    n = len(test)
    whole = {name: expect_array(arrays, f"{prefix}_{name}", np.int64, (n,)) for name in _INTS}
    missing = expect_array(arrays, f"{prefix}_missing_first", np.int8, (n,))
    counts = expect_array(arrays, f"{prefix}_counts", np.float64, (n, n_classes))
    tree = Tree(test=test, missing_first=missing, counts=counts, **whole)
    _check(tree, sizes, ordered)
    return tree


def _check(tree: Tree, sizes: NDArray[np.int64], ordered: NDArray[np.int64]) -> None:
    n = tree.n_nodes
    good = n > 0 and np.isin(tree.test, list(Test)).all() and np.isin(tree.missing_first, (-1, 0, 1)).all()
    good = good and np.isfinite(tree.counts).all() and (tree.counts >= 0).all() and (tree.counts.sum(axis=1) > 0).all()
    inner = np.flatnonzero(tree.test)
    good = good and ((tree.feature[inner] >= 0) & (tree.feature[inner] < len(sizes))).all()
    first, many = tree.first_child[inner], tree.n_children[inner]
    # Every node but the root is the child of one node before it, so there is no way round in circles.
    good = good and (first > inner).all() and (many >= 2).all() and (many <= n).all() and (first <= n).all()
    if not good:
        raise ValueError("the nodes do not make a tree")
    children = [range(a, a + m) for a, m in zip(first.tolist(), many.tolist(), strict=True)]
    if sorted(child for own in children for child in own) != list(range(1, n)):
        raise ValueError("the nodes do not make a tree")
    for node in inner.tolist():
        j = int(tree.feature[node])
        cut = tree.test[node] == Test.CUT
        branches = tree.branch[tree.children(node)]
        last = sizes[j] - 2 if cut else sizes[j]
        fits = bool(ordered[j]) == cut
        if tree.test[node] == Test.EVERY_VALUE:
            fits = fits and bool((np.diff(branches) > 0).all() and branches[0] >= 0 and branches[-1] <= last)
        elif tree.test[node] == Test.GROUP:
            groups = branches.tolist()
            whole = len(groups) == 2 and last < WIDEST_GROUP and all(0 < group < 1 << int(last + 1) for group in groups)
            fits = fits and whole and groups[0] & groups[1] == 0 and groups[0] == tree.value[node]
        else:
            fits = fits and 0 <= tree.value[node] <= last and len(branches) == 2
        if not fits:
            raise ValueError(f"node {node} has a test that does not fit its column")
