r"""Tables by gradient ascent on the likelihood (Russell, Binder, Koller & Kanazawa 1995).

.. math:: \frac{∂ \ln P(D \mid h)}{∂ w_{ijk}} = \sum_{d ∈ D} \frac{P(y_{ij}, u_{ik} \mid d)}{w_{ijk}}

Each cell has a rate of its own, η :math:`w_{ijk}` over the expected rows of its distribution: a cell near 0 is steep,
and one rate for all would have to be as small as the steepest cell needs. η adapts: no step lowers the objective. After
a step the numbers of each distribution are brought back to :math:`w ≥ 0, \sum_j w_{ijk} = 1` by the nearest point that
satisfies it. (To divide by the sum after a step with one rate would move the maximum itself: there the gradient is the
same for all j, so a step adds the same number to each, and dividing makes them more alike.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.estimate.history import History
from bayeskit.network.learn.flat_tables import FlatTables
from bayeskit.network.learn.hidden_rows import HiddenRows
from bayeskit.progress import Progress, report_step

Flat = NDArray[np.float64]

# An accepted step makes the next one longer, a refused one is tried again at a third of its length.
_LONGER, _SHORTER = 1.3, 1 / 3
# Numbers stay above this, so that no cell is lost on the way that a shorter step would have kept.
_LEAST = 1e-12


def to_simplex(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest distribution to each row of numbers, shape (n, states).

    References
    ----------
    Duchi, Shalev-Shwartz, Singer & Chandra (2008), Efficient projections onto the l1-ball, ICML.

    Examples
    --------
    >>> to_simplex(np.array([[0.7, 0.7], [2.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    falling = -np.sort(-rows, axis=1)
    above = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    last = (falling > above).sum(axis=1) - 1
    return np.asarray(np.maximum(rows - above[np.arange(len(rows)), last][:, None], 0.0))


def learn_by_gradient(
    rows: HiddenRows,
    starts: Iterable[Flat],
    *,
    tol: float,
    max_iter: int,
    progress: Progress | None = None,
    record: bool = False,
) -> tuple[Flat, History]:
    """Return the tables of the best start, and its history; the rate adapts so that no step lowers the objective."""
    if max_iter < 1 or tol < 0:
        raise BayeskitError(f"max_iter must be at least 1 and tol at least 0; got {max_iter}, {tol}.")
    runs = [_climb(rows, start, tol * rows.total, max_iter, progress, record) for start in starts]
    if not runs:
        raise BayeskitError("gradient ascent needs at least one start; got none.")
    tables, history = max(runs, key=lambda run: run[1].objective[-1])
    ends = tuple(each.objective[-1] for _, each in runs)
    if not history.converged:
        warnings.warn(
            f"gradient ascent stopped after {max_iter} steps; raise max_iter or tol, or use missing='em', "
            "which needs fewer steps.",
            BayeskitWarning,
            stacklevel=4,
        )
    return tables, replace(history, starts=ends)


def _climb(
    rows: HiddenRows, tables: Flat, tol: float, max_iter: int, progress: Progress | None, record: bool
) -> tuple[Flat, History]:
    counts, objective = rows.expect(tables)
    path, kept, rate = [objective], [tables] if record else [], 0.5
    for step in range(1, max_iter + 1):
        moved = _step(rows, tables, counts, path[-1], rate)
        if moved is None:
            return tables, History("gradient", tuple(path), "no step improves the objective", True, (), tuple(kept))
        tables, counts, objective, rate = moved
        path.append(objective)
        if record:
            kept.append(tables)
        report_step(progress, "gradient", step, objective=objective)
        # One short step says little: the last five together must have gained nothing.
        if len(path) > 5 and path[-1] - path[-6] <= 5 * tol:
            reason = f"five steps improved the objective by {path[-1] - path[-6]:.3g}, no more than {5 * tol:.3g}"
            return tables, History("gradient", tuple(path), reason, True, (), tuple(kept))
        rate *= _LONGER
    reason = f"the limit of {max_iter} steps was reached"
    return tables, History("gradient", tuple(path), reason, False, (), tuple(kept))


def _step(
    rows: HiddenRows, tables: Flat, counts: Flat, before: float, rate: float
) -> tuple[Flat, Flat, float, float] | None:
    gradient = rows.gradient(tables, counts)
    while rate > 1e-12:
        tried = _moved(rows.flat, tables, gradient, counts + rows.pseudo, rate)
        new_counts, objective = rows.expect(tried)
        if objective >= before:
            return tried, new_counts, objective, rate
        rate *= _SHORTER
    return None


def _moved(flat: FlatTables, tables: Flat, gradient: Flat, total: Flat, rate: float) -> Flat:
    parts = []
    for w, g, n in zip(flat.split(tables), flat.split(gradient), flat.split(total), strict=True):
        rows_w, rows_g = w.reshape(-1, w.shape[-1]), g.reshape(-1, w.shape[-1])
        reach = n.reshape(-1, w.shape[-1]).sum(axis=1, keepdims=True)
        # The part of the gradient that keeps the sum at 1 in this metric: w g / n − w.
        step = np.divide(rows_w * rows_g, reach, out=rows_w.copy(), where=reach > 0) - rows_w
        new = np.maximum(to_simplex(rows_w + rate * step), _LEAST)
        parts.append(new / new.sum(axis=1, keepdims=True))
    return flat.join(parts)
