"""The weights of the members in the pool, how sure the pool may be, and which classes it takes for each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import fit_class_matrix, n_threads
from bayeskit.classify.auto.pool import COARSE, LEAST_LOG, fit_pool, pool_of_members, pooled
from bayeskit.classify.auto.training_rows import TrainingRows, log_prior, log_softmax

# Strengths of the penalties that keep weights near 1 / M, powers near 1, and the matrix of classes near the identity.
PENALTY, MATRIX_PENALTY = 15.0, 50.0
LEAST_POWER, MOST_POWER = 0.02, 4.0
# The logarithm of the greatest power that is extrapolated from fewer trees.
MOST_SHARPENED = 0.25
# Nats that the pool must be ahead of the class shares to be believed as much as they are.
PRIOR_NATS = 1.0
# The sums of P(c | x) come near the numbers of rows in so many steps, with so many rows more in each class.
STEPS_TO_SHARES, ROWS_TO_SHARES = 8, 4.0
# Rows left out for each number of the matrix. Of two classes it would say no more than a power does.
ROWS_PER_NUMBER, FEWEST_CLASSES = 10, 3


@dataclass(frozen=True)
class MemberWeights:
    """What turns the log P(c | x) of the members into that of the pool."""

    weight: NDArray[np.float64]  # (n_members,)
    bias: NDArray[np.float64]  # (n_classes,)
    class_matrix: NDArray[np.float64]  # (n_classes, n_classes + 1)
    losses: NDArray[np.float64]  # (n_members + 1,): of each member, and of the pool, on the rows left out
    believed: float  # from 0, the class shares, to 1: how far the pool is believed
    # (n_members + n_classes,): weights and biases of rows left out, which have fewer trees than new ones
    left_out: NDArray[np.float64]


def weigh_members(
    log_posteriors: list[NDArray[np.float64]],
    by_half: list[NDArray[np.float64]],
    sample: TrainingRows,
    n_class_all: NDArray[np.float64],
) -> MemberWeights:
    """Choose weights by the log-loss of rows left out.

    Parameters
    ----------
    log_posteriors : list of float64 arrays of shape (n_rows, n_classes)
        log P(c | x) by each member.
    by_half : list of arrays of the same shape
        The same by half of the trees.
    sample : TrainingRows
        The rows left out.
    n_class_all : float64 array of shape (n_classes,)
        The number of rows of each class in the whole table.
    """
    n, k = len(log_posteriors), sample.n_classes
    as_it_is = np.eye(k, k + 1)
    if k == 1:
        return MemberWeights(np.ones(n), np.zeros(1), as_it_is, np.zeros(n + 1), 1.0, np.ones(n + 1))
    scores = _as_scores(log_posteriors)
    # Each member gets the power that suits it first: then equal weights are a good guess, whatever its confidence was.
    power = np.array([_best_power(scores[m : m + 1], sample) for m in range(n)])
    tempered = scores * power[:, None, None].astype(np.float32)
    solution = fit_pool(tempered, sample.y, sample.weight, np.full(n, 1.0 / n), PENALTY)
    solution[:n] *= power
    by_pool = pooled(scores, solution)
    of_all = _best_power(_as_scores([by_pool]), sample)
    of_half = _best_power(_as_scores([pooled(_as_scores(by_half), solution)]), sample)
    solution *= of_all
    left_out, class_matrix = log_softmax(by_pool * of_all), as_it_is
    n_class = np.bincount(sample.y, weights=sample.weight, minlength=k).astype(np.float64)
    n_fitted = _n_fitted(tempered, np.exp(left_out), of_all, n_class, sample.weight)
    if k >= FEWEST_CLASSES and ROWS_PER_NUMBER * k * k <= sample.weight.sum():
        z = np.ascontiguousarray((left_out - left_out.mean(axis=1, keepdims=True)).T)
        class_matrix = fit_class_matrix(z, sample.y, sample.weight, MATRIX_PENALTY, COARSE, n_threads(z.size * k))
        left_out = pool_of_members([left_out], np.ones(1), np.zeros(k), class_matrix, np.ones(k, dtype=np.bool_))
    shift = _shift_to_shares(left_out, n_class, sample.weight)
    left_out = log_softmax(left_out + shift)
    of_true = np.arange(sample.n_rows), sample.y
    losses = np.array([-np.average(each[of_true], weights=sample.weight) for each in (*log_posteriors, left_out)])
    of_left_out, sharpness = solution.copy(), _sharpness(of_all, of_half)
    solution *= sharpness
    believed = _believed(left_out[of_true], n_class, n_fitted, sample)
    shares = log_prior(n_class)
    shares -= shares.mean()
    # More trees say more of what sets a row apart from the class shares, not of these.
    solution[n:] += (1.0 - sharpness) * shares
    bias = believed * solution[n:] + (1.0 - believed) * shares
    shift += log_prior(n_class_all) - log_prior(n_class)  # the sample has other shares than the table
    class_matrix[:, -1] += believed * (shift - shift.mean())
    return MemberWeights(believed * solution[:n], bias, class_matrix, losses, believed, of_left_out)


def _shift_to_shares(
    log_posterior: NDArray[np.float64], n_class: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what to add to the scores of the classes, so that Σ P(c | x) of the rows is the number of rows of class c.

    A power that suits the pool moves rare classes away from their share. A few rows more in each class keep the shift
    of a small one small.
    """
    shift = np.zeros(len(n_class))
    for _ in range(STEPS_TO_SHARES):
        expected = weight @ np.exp(log_softmax(log_posterior + shift))
        shift += np.log((n_class + ROWS_TO_SHARES) / (expected + ROWS_TO_SHARES))
    return shift


def _as_scores(log_posteriors: list[NDArray[np.float64]]) -> NDArray[np.float32]:
    scores = np.empty((len(log_posteriors), *log_posteriors[0].shape[::-1]), dtype=np.float32)
    for each, out in zip(log_posteriors, scores, strict=True):
        np.maximum(each.T, LEAST_LOG, out=out, casting="same_kind")
    return scores


def _best_power(scores: NDArray[np.float32], sample: TrainingRows) -> float:
    """Return the power s with which P^s / Z has the least log-loss."""
    solution = fit_pool(scores, sample.y, sample.weight, np.ones(1), PENALTY, tolerance=COARSE)
    return float(np.clip(solution[0], LEAST_POWER, MOST_POWER))


def _sharpness(by_all: float, by_half: float) -> float:
    """Return the power that a new row may have, since it has twice the trees of a row left out.

    The mean of T trees is noisy by 1 / T, so the logarithm of the best power is a - b / T. It is fitted with all trees
    that a row left out has, and with half of them, and twice as many follow from both.
    """
    return float(np.exp(np.clip(0.5 * np.log(by_all / by_half), 0.0, MOST_SHARPENED)))


def _n_fitted(
    tempered: NDArray[np.float32],
    posterior: NDArray[np.float64],
    power: float,
    n_class: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> float:
    r"""Return how many numbers the rows chose, and not the penalties, beyond those of the class shares.

    It is tr H (H + Λ)⁻¹, where H is the second derivative of the log-loss by the weights of the members (n, n_classes,
    n_rows) and the biases together and Λ are the penalties; less the same of the biases alone. Members mostly agree,
    so that they count together and not one by one.
    """
    n, k = tempered.shape[:2]
    h = np.empty((n + k, n + k))
    means = []
    for m in range(n):
        score = power * tempered[m].T.astype(np.float64)  # (n_rows, n_classes)
        means.append(score - (posterior * score).sum(axis=1, keepdims=True))
        weighted = posterior * means[m] * weight[:, None]
        h[m, : m + 1] = [(weighted * other).sum() for other in means]
        h[m, n:] = weighted.sum(axis=0)
    h[n:, n:] = np.diag(weight @ posterior) - (posterior * weight[:, None]).T @ posterior
    h[:n, :n] = np.tril(h[:n, :n]) + np.tril(h[:n, :n], -1).T
    h[n:, :n] = h[:n, n:].T
    share = n_class / n_class.sum()
    of_shares = n_class.sum() * (np.diag(share) - np.outer(share, share))
    penalties = np.append(np.full(n, PENALTY), np.ones(k))
    return _degrees(h, penalties) - _degrees(of_shares, np.ones(k))


def _degrees(h: NDArray[np.float64], penalties: NDArray[np.float64]) -> float:
    return float(np.trace(np.linalg.solve(h + np.diag(penalties), h)))


def _believed(log_p: NDArray[np.float64], n_class: NDArray[np.float64], n_fitted: float, sample: TrainingRows) -> float:
    """Return how far the pool is to be believed: its Akaike weight against the class shares.

    Rows left out gain so many nats over the shares of their classes, which have seen them as the biases have, and each
    number that was fitted to them takes one back. The pool is believed by half where one more nat is left.
    """
    gain = float(sample.weight @ (log_p - np.log(n_class[sample.y] / n_class.sum())))
    return float(1.0 / (1.0 + np.exp(np.clip(PRIOR_NATS + n_fitted - gain, -500.0, 500.0))))
