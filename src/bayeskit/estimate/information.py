"""Mutual information of columns, given the class or not, and the maximum spanning tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import conditional_information, n_threads
from bayeskit.counts.families import FamilyCounts, sizes_of
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

    The tree grows from the root, always by the heaviest arc that leaves it; of equal arcs the one whose new node has
    the lower number is taken, then the one whose old node has. Where only weights of zero (or below) are left, the
    node of the lowest number begins a new tree: an arc without weight is left out.

    Parameters
    ----------
    weight : array of shape (n_nodes, n_nodes)
        The weight of the arc from each node to each other one, symmetric where the direction does not matter; the
        diagonal is not read.
    root : int
        The node from which all edges point away.

    References
    ----------
    Prim (1957), Shortest connection networks and some generalizations.

    Examples
    --------
    >>> maximum_spanning_tree(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    array([-1,  0,  1])
    >>> maximum_spanning_tree(np.array([[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    array([-1,  0, -1])
    """
    parent = np.full(len(weight), -1, dtype=np.int64)
    for node, above in tree_growth(weight, root):
        parent[node] = above
    return parent


def tree_growth(weight: NDArray[np.float64], root: int = 0) -> Iterator[tuple[int, int]]:
    """Yield each node with its parent, in the order in which the maximum spanning tree takes them; −1 begins a tree.

    Examples
    --------
    >>> list(tree_growth(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])))
    [(0, -1), (2, 0), (1, 2)]
    """
    n = len(weight)
    if weight.shape != (n, n) or not 0 <= root < n:
        raise BayeskitError(
            f"a spanning tree needs square weights and a root among the nodes; got shape {weight.shape}, root {root}."
        )
    parent = np.full(n, -1, dtype=np.int64)
    best = np.zeros(n)
    outside = np.ones(n, dtype=bool)
    node = root
    while outside.any():
        outside[node] = False
        yield node, int(parent[node])
        heavier = outside & ((weight[node] > best) | ((weight[node] == best) & (parent >= 0) & (node < parent)))
        parent[heavier] = node
        best[heavier] = weight[node][heavier]
        node = int(np.where(outside, best, -np.inf).argmax())


def pair_information(counts: FamilyCounts) -> NDArray[np.float64]:
    """Return the mutual information of all pairs of columns in nats, of shape (n_columns, n_columns).

    Given the class where the counts have one, I(x_i; x_j | c); otherwise I(x_i; x_j). The counts are of all pairs.
    """
    return _information(counts, 0.0)


def pair_gain(counts: FamilyCounts) -> NDArray[np.float64]:
    """Return the gain of an arc in log-likelihood per row: information times the share of known rows.

    Without missing cells this is `pair_information` itself. With them, a pair that is known in few rows cannot
    outweigh a pair that is known in all rows by the chance patterns of its few rows.
    """
    return _information(counts, float(counts.n_class.sum()))


def edge_cost(counts: FamilyCounts) -> NDArray[np.float64]:
    r"""Return what the further parameters of an arc must gain in log-likelihood per row, (n_columns, n_columns).

    .. math:: \frac{1}{2N} \sum_c (\log N_c + 1) (S_i^c - 1)(S_j^c - 1)

    is the penalty of the consistent AIC, class by class: each class has tables of its own, learned from its N_c rows.
    S_i^c is how many values of column i occur in class c: cells of values that a class never has cost nothing, since
    nothing is estimated there.

    References
    ----------
    Bozdogan (1987), Model selection and Akaike's information criterion, section 3.2.
    """
    n_rows = np.maximum(counts.n_class, 1.0)
    present = np.array([(counts.column(j) > 0).sum(axis=0) for j in range(len(counts.schema))])
    free = np.maximum(present - 1.0, 0.0)  # (n_columns, n_classes)
    return np.asarray(((np.log(n_rows) + 1.0) * free) @ free.T / (2.0 * max(float(counts.n_class.sum()), 1.0)))


def pair_rows(counts: FamilyCounts) -> NDArray[np.float64]:
    """Return in how many rows each pair of columns is known, of shape (n_columns, n_columns); the diagonal: each one.

    The counts are of all pairs.
    """
    n_columns, sizes = len(counts.schema), sizes_of(counts.schema)
    rows = np.diag([float(counts.column(j).sum()) for j in range(n_columns)])
    for i in range(n_columns - 1):
        # One column with all that follow it at a time: sums over the whole array would need several times its memory.
        first = i * n_columns - i * (i + 1) // 2
        ends = counts.offsets[first : first + n_columns - i]
        block = counts.pairs[ends[0] : ends[-1]]
        later = np.array([j for j in range(i + 1, n_columns) if sizes[i] and sizes[j]], dtype=np.intp)
        if len(later):
            rows[i, later] = np.add.reduceat(block, ends[later - i - 1] - ends[0], dtype=np.float64)
            rows[later, i] = rows[i, later]
    return rows


def class_order(counts: FamilyCounts) -> list[int]:
    """Return the features that have values, the most informative about the class first, ties by position.

    The score of a feature is I(x_i; c) times the number of rows in which it is known.
    """
    known = [j for j, size in enumerate(sizes_of(counts.schema)) if size]
    information = {j: mutual_information(counts.column(j)) * float(counts.column(j).sum()) for j in known}
    return sorted(known, key=lambda j: (-information[j], j))


def _information(counts: FamilyCounts, all_rows: float) -> NDArray[np.float64]:
    cells = np.ascontiguousarray(counts.pairs)
    threads = n_threads(8 * len(cells))
    return conditional_information(cells, sizes_of(counts.schema), counts.n_classes, all_rows, threads)
