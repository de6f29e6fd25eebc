"""How much columns tell about each other: mutual information, given the class or not, and the tree that keeps most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.errors import BayeskitError


def mutual_information(counts: ArrayLike) -> float:
    r"""Return the mutual information of two columns in nats, from their table of counts.

    .. math:: I(x; y) = \sum_{x, y} P(x, y) \log \frac{P(x, y)}{P(x) P(y)}

    Parameters
    ----------
    counts : array of shape (n_x, n_y)
        How many rows have each pair of values; all margins are taken from this table.

    Examples
    --------
    >>> round(mutual_information([[5, 0], [0, 5]]), 6)  # log 2
    0.693147
    """
    return conditional_mutual_information(np.asarray(counts, dtype=np.float64)[:, :, None])


def conditional_mutual_information(counts: ArrayLike) -> float:
    r"""Return the mutual information of two columns given a third in nats, from their table of counts.

    .. math:: I(x; y \mid c) = \sum_{x, y, c} P(x, y, c) \log \frac{P(x, y \mid c)}{P(x \mid c) P(y \mid c)}

    Parameters
    ----------
    counts : array of shape (n_x, n_y, n_c)
        How many rows have each triple of values; all margins are taken from this table.

    Examples
    --------
    >>> round(conditional_mutual_information([[[4, 0], [0, 4]], [[0, 4], [4, 0]]]), 6)
    0.693147
    """
    n = np.asarray(counts, dtype=np.float64)
    total = n.sum()
    if total <= 0:
        return 0.0
    expected = n.sum(axis=1, keepdims=True) * n.sum(axis=0, keepdims=True)
    seen = n > 0
    ratio = np.divide(n * n.sum(axis=(0, 1), keepdims=True), expected, out=np.ones_like(n), where=seen)
    return max(0.0, float((n[seen] * np.log(ratio[seen])).sum() / total))


def maximum_spanning_tree(weight: NDArray[np.float64], root: int = 0) -> NDArray[np.int64]:
    """Return each node's parent in a spanning tree of greatest total weight; the root's is −1.

    The tree grows from the root, always by the heaviest edge that leaves it; of equal edges the one whose new node has
    the lower number is taken, then the one whose old node has.

    Parameters
    ----------
    weight : array of shape (n_nodes, n_nodes)
        Symmetric weights; the diagonal is not read.
    root : int
        The node from which all edges point away.

    References
    ----------
    Prim (1957), Shortest connection networks and some generalizations.

    Examples
    --------
    >>> maximum_spanning_tree(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    array([-1,  0,  1])
    """
    n = len(weight)
    if weight.shape != (n, n) or not 0 <= root < n:
        raise BayeskitError(
            f"a spanning tree needs square weights and a root among the nodes; got shape {weight.shape}, root {root}."
        )
    parent = np.full(n, root, dtype=np.int64)
    parent[root] = -1
    best = np.array(weight[root], dtype=np.float64)
    outside = np.ones(n, dtype=bool)
    outside[root] = False
    while outside.any():
        node = int(np.where(outside, best, -np.inf).argmax())
        outside[node] = False
        heavier = outside & ((weight[node] > best) | ((weight[node] == best) & (node < parent)))
        parent[heavier] = node
        best[heavier] = weight[node][heavier]
    return parent


def table_information(tables: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the mutual information of each column with the class, from tables of shape (n_values, n_classes)."""
    return np.array([mutual_information(table) for table in tables])
