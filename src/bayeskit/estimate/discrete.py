r"""Counts → probabilities: maximum likelihood, Laplace's λ, the m-estimate, Dirichlet.

All four are one formula, the posterior mean under a Dirichlet prior with pseudo-counts :math:`\alpha_v`:

.. math:: P(v) = \frac{n_v + \alpha_v}{\sum_{v'} (n_{v'} + \alpha_{v'})}
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.defaults import SMOOTHING
from bayeskit.errors import BayeskitError


def dirichlet(counts: ArrayLike, pseudo_counts: ArrayLike) -> NDArray[np.float64]:
    """Estimate probabilities with any pseudo-counts; the first axis runs over the values.

    Where counts and pseudo-counts are all zero, the distribution is uniform.

    Examples
    --------
    >>> dirichlet([3, 0, 1], [1.0, 1.0, 2.0])
    array([0.5  , 0.125, 0.375])
    """
    n = np.asarray(counts, dtype=np.float64)
    alpha = np.asarray(pseudo_counts, dtype=np.float64)
    if (alpha < 0).any() or np.isnan(alpha).any():
        raise BayeskitError(f"pseudo-counts must not be negative; got {alpha.min()}.")
    total = n + (alpha.reshape(alpha.shape + (1,) * (n.ndim - alpha.ndim)) if alpha.ndim else alpha)
    norm = total.sum(axis=0)
    even = np.full_like(total, 1.0 / max(len(total), 1))
    return np.asarray(np.divide(total, norm, out=even, where=norm > 0))


def maximum_likelihood(counts: ArrayLike) -> NDArray[np.float64]:
    """Estimate probabilities by relative frequency, n_v / n.

    >>> maximum_likelihood([3, 0, 1])
    array([0.75, 0.  , 0.25])
    """
    return dirichlet(counts, 0.0)


def laplace(counts: ArrayLike, smoothing: float = SMOOTHING) -> NDArray[np.float64]:
    """Estimate probabilities with λ added to each count, (n_v + λ) / (n + Sλ); λ = 1 is Laplace's rule.

    >>> laplace([3, 0, 1], 1.0)
    array([0.57142857, 0.14285714, 0.28571429])
    """
    return dirichlet(counts, smoothing)


def m_estimate(counts: ArrayLike, prior: ArrayLike, m: float) -> NDArray[np.float64]:
    """Estimate probabilities as if m more rows had been seen, distributed as the prior: (n_v + m p_v) / (n + m).

    References
    ----------
    Mitchell (1997), Machine Learning, eq. 6.22.

    Examples
    --------
    >>> m_estimate([3, 1], [0.5, 0.5], m=4)
    array([0.625, 0.375])
    """
    p = np.asarray(prior, dtype=np.float64)
    if m < 0:
        raise BayeskitError(f"m must not be negative; got {m}.")
    if (p < 0).any() or not np.isclose(p.sum(), 1.0, rtol=0, atol=1e-9):
        raise BayeskitError(f"the prior of an m-estimate must be probabilities that sum to 1; they sum to {p.sum()}.")
    return dirichlet(counts, m * p)
