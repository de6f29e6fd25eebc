"""Separation: classes that are linearly separable, so that the likelihood has no maximum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from bayeskit.result import Result

# Rows that a linear program starts with; those that its answer gets wrong are added.
_FIRST_ROWS = 2000
_ROUNDING = 1e-7


@dataclass(frozen=True, repr=False)
class ClassSeparation(Result):
    """How classes are separated: ``complete`` where every row is on its side, and the inputs that do it."""

    complete: bool
    inputs: tuple[int, ...]  # positions among the inputs


def find_separation(x: NDArray[np.float64], y: NDArray[Any], n_classes: int) -> ClassSeparation | None:
    r"""Return the separation of classes by inputs of about deviation 1, or None where maximum likelihood exists.

    A direction β with x_i · (β_{y_i} − β_c) ≥ 0 for all rows and classes, and above 0 for some, increases the
    likelihood without bound (Albert & Anderson 1984). A linear program finds the direction with the largest sum; a
    second one, with the largest minimum over the rows, decides whether the separation is complete.
    """
    x = np.column_stack([x, np.ones(len(x))])
    beta = _cut(x, y, n_classes, complete=False)
    if beta is None:
        return None
    sharp = _cut(x, y, n_classes, complete=True)
    used = np.abs((beta if sharp is None else sharp).reshape(-1, x.shape[1])).max(axis=0) > _ROUNDING
    alone = _single_inputs(x[:, :-1], y) if n_classes == 2 else []
    return ClassSeparation(sharp is not None, tuple(alone or np.flatnonzero(used[:-1]).tolist()))


def _cut(x: NDArray[np.float64], y: NDArray[Any], n_classes: int, complete: bool) -> NDArray[np.float64] | None:
    """Return a separating direction; the program starts with some rows and gets those that its answer has wrong."""
    rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), _FIRST_ROWS)).astype(np.int64))
    while True:
        direction = _best_direction(_differences(x[rows], y[rows], n_classes), complete)
        if direction is None:
            # Rows that all lie on the border say nothing of the others, unless they span all directions.
            if complete or len(rows) == len(x) or np.linalg.matrix_rank(x[rows]) == np.linalg.matrix_rank(x):
                return None
            rows = np.arange(len(x))
            continue
        beta, margin = direction
        gain = _gains(x, y, beta)
        wrong = np.flatnonzero(gain < (margin / 2 if complete else -_ROUNDING))
        if not len(wrong):
            return beta
        more = np.union1d(rows, wrong[np.argsort(gain[wrong])[:_FIRST_ROWS]])
        if len(more) == len(rows):  # only rounding is left
            return None
        rows = more


def _single_inputs(x: NDArray[np.float64], y: NDArray[Any]) -> list[int]:
    """Return the inputs that alone separate two classes, up to a shared boundary."""
    first, second = x[y == 0], x[y == 1]
    apart = (first.max(axis=0) <= second.min(axis=0)) | (second.max(axis=0) <= first.min(axis=0))
    return np.flatnonzero(apart & (np.ptp(x, axis=0) > 0)).tolist()


def _differences(x: NDArray[np.float64], y: NDArray[Any], n_classes: int) -> Any:
    """Return one line per row and other class: x · (β_y − β_c), with β_0 = 0."""
    p = x.shape[1]
    blocks = []
    for c in range(n_classes):
        other = np.flatnonzero(y != c)
        if not len(other):
            continue
        lines = np.repeat(np.arange(len(other)), p)
        values, true_class = x[other].ravel(), y[other].astype(np.int64)
        columns = (true_class[:, None] * p + np.arange(p)).ravel()
        minus = np.tile(c * p + np.arange(p), len(other))
        part = sparse.coo_matrix((values, (lines, columns)), (len(other), n_classes * p))
        part = part - sparse.coo_matrix((values, (lines, minus)), (len(other), n_classes * p))
        blocks.append(sparse.csr_matrix(part)[:, p:])
    return sparse.vstack(blocks).tocsr()


def _best_direction(constraints: Any, complete: bool) -> tuple[NDArray[np.float64], float] | None:
    n, p = constraints.shape
    if complete:  # the last variable is the gain of the least row
        towards = np.append(np.zeros(p), 1.0)
        least = sparse.hstack([-constraints, sparse.csr_matrix(np.ones((n, 1)))]).tocsr()
    else:
        towards, least = np.asarray(constraints.sum(axis=0)).ravel(), -constraints
        towards = towards / max(float(np.abs(towards).max(initial=0.0)), 1e-300)
    solution = optimize.linprog(-towards, A_ub=least, b_ub=np.zeros(n), bounds=(-1, 1), method="highs")
    if not solution.success or solution.x is None:
        return None
    answer: NDArray[np.float64] = np.asarray(solution.x)
    beta = answer[:p]
    margin = float(answer[-1]) if complete else float((constraints @ beta).max(initial=0.0))
    return (beta, margin) if margin > 10 * _ROUNDING else None


def _gains(x: NDArray[np.float64], y: NDArray[Any], beta: NDArray[np.float64]) -> NDArray[np.float64]:
    p = x.shape[1]
    scores = np.column_stack([np.zeros(len(x)), x @ beta.reshape(-1, p).T])
    of_true_class = scores[np.arange(len(x)), y]
    scores = of_true_class[:, None] - scores
    scores[np.arange(len(x)), y] = np.inf
    return np.asarray(scores.min(axis=1))
