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
    tests = np.flatnonzero(tree.test)
    if not (_nodes_are_sound(tree, tests, len(sizes)) and _is_one_tree(tree, tests)):
        raise ValueError("the nodes do not make a tree")
    for node in tests.tolist():
        j = int(tree.feature[node])
        if bool(ordered[j]) != (tree.test[node] == Test.CUT) or not _test_fits(tree, node, int(sizes[j])):
            raise ValueError(f"node {node} has a test that does not fit its column")


def _nodes_are_sound(tree: Tree, tests: NDArray[np.intp], n_columns: int) -> bool:
    feature = tree.feature[tests]
    checks = (
        np.isin(tree.test, list(Test)),
        np.isin(tree.missing_first, (-1, 0, 1)),
        np.isfinite(tree.counts) & (tree.counts >= 0),
        tree.counts.sum(axis=1) > 0,
        (feature >= 0) & (feature < n_columns),
    )
    return tree.n_nodes > 0 and all(check.all() for check in checks)


def _is_one_tree(tree: Tree, tests: NDArray[np.intp]) -> bool:
    """Return whether every node but the root is the child of one node before it, so that there are no circles."""
    n, first, many = tree.n_nodes, tree.first_child[tests], tree.n_children[tests]
    if not ((first > tests) & (first <= n) & (many >= 2) & (many <= n)).all():
        return False
    return bool(np.array_equal(np.sort(tree.all_children(tests)), np.arange(1, n)))


def _test_fits(tree: Tree, node: int, size: int) -> bool:
    """Return whether the test of a node is one of a column with so many values; a missing cell is one more."""
    branches, value = tree.branch[tree.children(node)].tolist(), int(tree.value[node])
    if tree.test[node] == Test.EVERY_VALUE:
        return bool(branches == sorted(set(branches)) and branches[0] >= 0 and branches[-1] <= size)
    if len(branches) != 2:
        return False
    if tree.test[node] == Test.GROUP:
        inside = size < WIDEST_GROUP and all(0 < group < 1 << (size + 1) for group in branches)
        return bool(inside and branches[0] & branches[1] == 0 and branches[0] == value)
    return 0 <= value <= (size - 2 if tree.test[node] == Test.CUT else size)
