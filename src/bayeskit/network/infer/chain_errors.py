"""Standard errors of Markov chains: the error of the mean of several chains, and whether they agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]  # (n_chains, n_steps, n_cells)


def split_r_hat(series: Series) -> NDArray[np.float64]:
    r"""Return split-R̂ of each cell: 1 where the halves of all chains agree, larger where they do not.

    .. math:: \hat R = \sqrt{\left(\tfrac{n - 1}{n} W + B\right) / W}

    W is the mean variance within the halves of length n, B the variance of their means (Gelman et al., Bayesian Data
    Analysis, 3rd edition, section 11.4).

    Examples
    --------
    >>> apart = np.stack([np.zeros((8, 1)), np.ones((8, 1))]) + 0.01 * np.arange(8)[:, None]
    >>> bool(split_r_hat(apart)[0] > 10)
    True
    """
    half = series.shape[1] // 2
    halves = np.concatenate([series[:, :half], series[:, -half:]])
    within, total = _variances(halves)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = total / within
    return np.asarray(np.sqrt(np.where(total > 0, ratio, 1.0)))


def _variances(series: Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean variance within the chains, and the estimate of the whole variance, for each cell."""
    n = series.shape[1]
    within = series.var(axis=1, ddof=1).mean(axis=0)
    between = series.mean(axis=1).var(axis=0, ddof=1) if len(series) > 1 else np.zeros(series.shape[2])
    return within, (n - 1) / n * within + between


def error_of_mean(series: Series) -> NDArray[np.float64]:
    r"""Return the standard error of the mean over all chains and steps, for each cell.

    .. math:: \mathrm{Var}(\bar x) = \frac{\hat\sigma^2}{mn} \Big(1 + 2 \sum_{t \ge 1} \rho_t\Big)

    The variance :math:`\hat\sigma^2` counts differences between the m chains, and the autocorrelations
    :math:`\rho_t` are taken against it, so that chains that stay apart make the error large (Vehtari et al. 2021,
    section 3.2). The sum ends with the first pair :math:`\rho_{2k} + \rho_{2k+1}` below 0, and pairs never rise
    (Geyer 1992, section 3.3).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(abs(error_of_mean(rng.standard_normal((8, 64, 1)))[0] * np.sqrt(8 * 64) - 1) < 0.2)
    True
    """
    m, n, _ = series.shape
    within, total = _variances(series)
    centred = series - series.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariance = np.fft.irfft(abs(spectrum) ** 2, 2 * n, axis=1)[:, :n].mean(axis=0) / n  # (n_steps, n_cells)
    correlation = 1.0 - (within - covariance) / np.where(total > 0, total, 1.0)
    correlation[0] = 1.0
    pairs = correlation[0 : n - n % 2 : 2] + correlation[1::2]
    pairs = np.where(np.logical_and.accumulate(pairs > 0, axis=0), pairs, 0.0)
    length = 2.0 * np.minimum.accumulate(pairs, axis=0).sum(axis=0) - 1.0
    # An estimate below this would claim that the chain is far better than independent samples.
    length = np.maximum(length, 1.0 / np.log10(max(m * n, 10)))
    return np.asarray(np.sqrt(total * length / (m * n)))
