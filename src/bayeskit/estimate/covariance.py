"""Joint moments → means and covariance matrices by maximum likelihood, with missing cells by EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit.counts.double_double import add, wide
from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.counts.moments import Moments
from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.gaussian import VARIANCE_FLOOR, Variance, gaussian
from bayeskit.estimate.history import History

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Gaussians:
    """A normal distribution for each class."""

    mean: Matrix  # (n_classes, n_columns)
    rest: Matrix  # (n_classes, n_columns): what the mean lacks when it is rounded to a double
    covariance: Matrix  # (n_classes, n_columns, n_columns)
    rank: NDArray[np.int64]  # (n_classes,): of the estimate before its narrow directions were widened
    histories: tuple[History, ...] = ()


@dataclass(frozen=True)
class _Floor:
    """The smallest spread of a distribution: in no direction below a thousandth of the columns' spread."""

    scale: Matrix  # (n_columns,): the deviation of each whole column
    least: float  # the least eigenvalue in units of it

    def raised(self, covariance: Matrix) -> tuple[Matrix, int]:
        """Return the covariance with eigenvalues of at least the floor, and how many were above it.

        Of all matrices with such eigenvalues it is the most likely one, so the likelihood still increases in EM.
        """
        share = covariance / self.scale[:, None] / self.scale
        values, vectors = linalg.eigh(share)
        rank = int((values > self.least).sum())
        if rank == len(values):
            return covariance, rank
        share = (vectors * np.maximum(values, self.least)) @ vectors.T
        return (share + share.T) / 2 * self.scale[:, None] * self.scale, rank


@dataclass(frozen=True)
class _Group:
    weight: float
    known: NDArray[np.intp]  # positions of the columns that these rows have
    hidden: NDArray[np.intp]
    mean: Matrix  # (n_columns,)
    scatter: Matrix  # (n_columns, n_columns)


def estimate_gaussians(
    counts: GaussianCounts,
    covariance: str = "full",
    variance: Variance = "ml",
    shrinkage: float = 0.0,
    *,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> Gaussians:
    r"""Estimate mean and covariance of each class.

    .. math:: \mu_c = \frac1{n_c} \sum_i x_i \qquad \Sigma_c = \frac1{n_c} \sum_i (x_i - \mu_c)(x_i - \mu_c)^\top

    with ``variance="unbiased"`` dividing by n_c − 1, or by n − K where classes share one matrix. With missing cells,
    full and tied matrices are found by EM from the moments of the rows with the same missing cells; for the others
    maximum likelihood is the mean and variance of the known cells. Shrinkage α mixes Σ with the sphere of the same
    trace, (1 − α) Σ + α tr(Σ)/d I. Directions narrower than ``VARIANCE_FLOOR`` of the columns' variances are widened.

    Parameters
    ----------
    counts : GaussianCounts
        The counts.
    covariance : {"full", "tied", "diagonal", "spherical"}
        The form of the matrices.
    variance : {"ml", "unbiased"}
        The divisor.
    shrinkage : float
        α, from 0 to 1.
    tol : float
        EM stops when a step improves the log-likelihood per row by less than this.
    max_iter : int
        The largest number of EM steps.
    """
    columns = _by_column(counts)
    n_classes, d = len(counts.classes), len(counts.schema.numeric)
    mean, variances = (part.T for part in gaussian(columns, variance))  # (n_classes, d)
    whole = gaussian(columns.pooled(), "ml")[1][:, 0]
    floor = _Floor(np.sqrt(whole), VARIANCE_FLOOR)
    groups = [_groups(counts, c, mean[c]) for c in range(n_classes)]
    rest = np.array([_available_mean(class_groups, d) for class_groups in groups]).reshape(n_classes, d)
    start = np.array([np.diag(v) for v in variances]).reshape(n_classes, d, d)
    histories: tuple[History, ...] = ()
    if covariance == "diagonal":
        matrices = start
    elif covariance == "spherical":
        divisor = (columns.weight - (variance == "unbiased")).sum(axis=0)
        size = np.divide(columns.scatter.sum(axis=0), divisor, out=variances.mean(axis=1), where=divisor > 0)
        matrices = np.maximum(size, VARIANCE_FLOOR * whole.mean())[:, None, None] * np.eye(d)
    else:
        together = [list(range(n_classes))] if covariance == "tied" else [[c] for c in range(n_classes)]
        matrices = start.copy()
        for members in together:
            some = [groups[c] for c in members]
            climbed = _climb(some, rest[members], start[members], variance, floor, tol, max_iter)
            rest[members], matrices[members] = climbed[:2]
            histories += climbed[2]
    ranks = np.zeros(n_classes, dtype=np.int64)
    for c in range(n_classes):
        _, ranks[c] = floor.raised(matrices[c]) if d else (matrices[c], 0)
        sphere = np.trace(matrices[c]) / max(d, 1) * np.eye(d)
        matrices[c] = floor.raised((1.0 - shrinkage) * matrices[c] + shrinkage * sphere)[0] if d else matrices[c]
    exact = add(wide(mean), wide(rest))
    return Gaussians(exact[0], exact[1], matrices, ranks, histories)


def _by_column(counts: GaussianCounts) -> Moments:
    """Return weight, mean and scatter of each column in each class, over the cells that are known."""
    d, n_classes = len(counts.schema.numeric), len(counts.classes)
    moments = counts.moments
    weight, sums, scatter = np.zeros((3, n_classes, d))
    cells = moments.weight[:, None] * counts.known  # (n_groups, d)
    # Around the first group of a class that has the column: means far from zero would lose the digits of its spread.
    around = np.zeros((n_classes, d))
    for g in range(len(counts.label) - 1, -1, -1):
        around[counts.label[g], counts.known[g]] = moments.mean[g, counts.known[g]]
    off = np.where(counts.known, (moments.mean - around[counts.label]) + moments.wide_mean[1], 0.0)
    np.add.at(weight, counts.label, cells)
    np.add.at(sums, counts.label, cells * off)
    shift = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
    apart = np.where(counts.known, off - shift[counts.label], 0.0)
    np.add.at(scatter, counts.label, np.diagonal(moments.scatter, axis1=1, axis2=2) + cells * apart**2)
    parts = np.stack([weight.T, (around + shift).T, scatter.T])
    return Moments(np.concatenate([parts, np.zeros_like(parts)]))


def _groups(counts: GaussianCounts, c: int, around: Matrix) -> list[_Group]:
    """Return the groups of a class, with means as differences from a point near them, which keeps their digits."""
    groups = []
    for g in np.flatnonzero(counts.label == c).tolist():
        known = counts.known[g]
        mean = (counts.moments.wide_mean[0, g] - around) + counts.moments.wide_mean[1, g]
        places = np.flatnonzero(known), np.flatnonzero(~known)
        groups.append(
            _Group(float(counts.moments.weight[g]), *places, np.where(known, mean, 0.0), counts.moments.scatter[g])
        )
    return groups


def _available_mean(groups: list[_Group], d: int) -> Matrix:
    weight, sums = np.zeros(d), np.zeros(d)
    for group in groups:
        weight[group.known] += group.weight
        sums[group.known] += group.weight * group.mean[group.known]
    return np.divide(sums, weight, out=np.zeros(d), where=weight > 0)


def _climb(
    classes: list[list[_Group]],
    origin: Matrix,
    start: Matrix,
    variance: Variance,
    floor: _Floor,
    tol: float,
    max_iter: int,
) -> tuple[Matrix, Matrix, tuple[History, ...]]:
    """Return means as differences like those of the groups, covariances of classes with one matrix, and how EM went."""
    total = sum(group.weight for groups in classes for group in groups)
    if not total > 0:
        return origin, start, ()

    def maximise(statistics: list[tuple[float, Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
        scatter = np.sum([scatter for _, _, scatter in statistics], axis=0)
        return np.array([mean for _, mean, _ in statistics]), scatter / total

    divisor = total - (sum(1 for groups in classes if groups) if variance == "unbiased" else 0.0)
    widened = total / divisor if divisor > 0 else 0.0

    whole = all(not len(group.hidden) for groups in classes for group in groups)
    if whole:
        statistics = [_completed(groups, origin[0], start[0])[0] for groups in classes]
        mean, matrix = maximise(statistics)
        return mean, np.broadcast_to(matrix * widened, start.shape).copy(), ()

    def expect(parameters: tuple[Matrix, Matrix]) -> tuple[list[tuple[float, Matrix, Matrix]], float]:
        means, matrix = parameters
        completed = [_completed(groups, mean, matrix) for groups, mean in zip(classes, means, strict=True)]
        return [statistic for statistic, _ in completed], sum(likelihood for _, likelihood in completed) / total

    def raised(statistics: list[tuple[float, Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
        mean, matrix = maximise(statistics)
        return mean, floor.raised(matrix)[0]

    first = np.average(start, axis=0, weights=[max(sum(g.weight for g in groups), 1e-300) for groups in classes])
    result = expectation_maximisation((origin, first), expect, raised, tol=tol, max_iter=max_iter)
    mean, matrix = result.parameters
    return mean, np.broadcast_to(matrix * widened, start.shape).copy(), (result.history,)


def _completed(groups: list[_Group], mean: Matrix, matrix: Matrix) -> tuple[tuple[float, Matrix, Matrix], float]:
    r"""Return expected weight, mean and scatter of a class when missing cells are filled in, and the log-likelihood.

    With B = Σ_ho Σ_oo⁻¹, hidden cells are expected at μ_h + B (x_o − μ_o), and vary by Σ_hh − B Σ_oh around it.
    """
    d = len(mean)
    weight, likelihood = sum(group.weight for group in groups), 0.0
    sums, parts = np.zeros(d), []
    for group in groups:
        o, h = group.known, group.hidden
        filled, spread = group.mean.copy(), group.scatter
        if len(h):
            filled, spread, gain = _filled(group, mean, matrix)
            likelihood += gain
        sums += group.weight * filled
        parts.append((group.weight, filled, spread))
        if not len(h):
            likelihood += _log_likelihood(group, mean, matrix, o)
    centre = sums / weight if weight > 0 else mean
    scatter = np.zeros((d, d))
    for w, filled, spread in parts:
        scatter += spread + w * np.outer(filled - centre, filled - centre)
    return (weight, centre, scatter), likelihood


def _filled(group: _Group, mean: Matrix, matrix: Matrix) -> tuple[Matrix, Matrix, float]:
    o, h = group.known, group.hidden
    filled, spread = mean.copy(), np.zeros_like(matrix)
    if not len(o):
        return filled, group.weight * matrix, 0.0
    factor = linalg.cho_factor(matrix[np.ix_(o, o)], lower=True)
    slopes = linalg.cho_solve(factor, matrix[np.ix_(o, h)]).T  # (n_hidden, n_known)
    filled[o] = group.mean[o]
    filled[h] = mean[h] + slopes @ (group.mean[o] - mean[o])
    onto = np.zeros((len(mean), len(o)))
    onto[o, np.arange(len(o))] = 1.0
    onto[h] = slopes
    spread = onto @ group.scatter[np.ix_(o, o)] @ onto.T
    spread[np.ix_(h, h)] += group.weight * (matrix[np.ix_(h, h)] - slopes @ matrix[np.ix_(o, h)])
    return filled, spread, _log_likelihood(group, mean, matrix, o, factor)


def _log_likelihood(group: _Group, mean: Matrix, matrix: Matrix, o: NDArray[np.intp], factor: Any = None) -> float:
    factor = linalg.cho_factor(matrix[np.ix_(o, o)], lower=True) if factor is None else factor
    off = group.mean[o] - mean[o]
    inside = group.scatter[np.ix_(o, o)] + group.weight * np.outer(off, off)
    log_size = 2.0 * float(np.log(np.diagonal(factor[0])).sum())
    distance = float(np.trace(linalg.cho_solve(factor, inside)))
    return -0.5 * (group.weight * (len(o) * float(np.log(2 * np.pi)) + log_size) + distance)
