"""Overlap: the proof that classes are not separated, so that the likelihood has a maximum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayeskit.estimate.linear_problem import LogisticProblem
from bayeskit.estimate.steep_directions import steep_directions

Matrix = NDArray[np.float64]

# Below this share of the largest eigenvalue a direction counts as one in which the rows do not vary.
_FLAT = 1e-13


def proves_overlap(problem: LogisticProblem, coef: Matrix, step: int = 1) -> bool:
    r"""Return whether coefficients near the maximum prove that a maximum exists; False if unknown.

    No direction separates the classes exactly when there are weights λ_ic > 0, for every row and each class but its
    own, with Σ_i Σ_c λ_ic (e_{y_i} − e_c) ⊗ x_i = 0 (Stiemke's theorem). At the maximum the probabilities P(c | x_i)
    are such weights. Nearby, the sum is the gradient g, and

    .. math:: λ_{ic} = P(c \mid x_i) - s_i \, x_i \cdot a_c, \qquad a_c = \Big(\sum_i s_i x_i x_i^\top\Big)^{-1} g_c,
              \qquad s_i = \min_{c \ne y_i} P(c \mid x_i)

    makes it zero; all these weights are above 0 where every |x_i · a_c| < 1. With ``step``, s_i is 0 but for every
    so-manieth row, which is faster but needs coefficients closer to the maximum.
    """
    gradient = problem.value(coef)[1] * problem.total
    gradient -= gradient.mean(axis=0) if problem.n_units > 1 else 0.0
    moved = _moved(problem, coef, gradient, step)
    if moved is None:
        return False
    return all(np.abs(x @ moved.T).max(initial=0.0) < 0.5 for x, _, _ in problem.blocks(step))


def _moved(problem: LogisticProblem, coef: Matrix, gradient: Matrix, step: int) -> Matrix | None:
    """Return a_c of each unit; None where the weighted rows leave out a direction in which rows vary."""
    scatter = np.zeros((coef.shape[1], coef.shape[1]))
    for x, y, w in problem.blocks(step):
        least = w * _least_other(x @ coef.T, y)
        scatter += (x * least[:, None]).T @ x
    unit = np.sqrt(np.diagonal(scatter))
    unit = np.where(unit > 0, unit, 1.0)
    directions = steep_directions(scatter, unit, _FLAT)
    size = problem.unit @ np.abs(directions.flat)  # what each column can add, in its own unit
    if size.size and any((np.abs(x @ directions.flat) > 1e-9 * size).any() for x, _, _ in problem.blocks()):
        return None
    return directions.solve(gradient.T).T


def _least_other(scores: Matrix, y: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the least probability of a class that is not the row's own."""
    if scores.shape[1] == 1:
        return np.asarray(expit(np.where(y == 1, -scores[:, 0], scores[:, 0])))
    shares = softmax(scores, axis=1)
    shares[np.arange(len(y)), y] = np.inf
    return np.asarray(shares.min(axis=1))
