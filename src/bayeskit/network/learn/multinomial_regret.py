"""The regret of a multinomial: the cost of its normalised maximum likelihood code, in nats."""

from __future__ import annotations

from functools import lru_cache
from math import exp, floor, log, log1p, sqrt

import numpy as np
from scipy.special import gammaln, xlogy

# With more values than this the sum of the recurrence takes longer than a score is worth, and the formula is as good.
_MOST_VALUES = 1000


def log_regret(n: float, n_values: int) -> float:
    r"""Return :math:`\ln C^r_n`, where :math:`C^r_n = \sum_{data} \max_θ P(data \mid θ)` over n rows of r values.

    :math:`C^1_n = 1`, :math:`C^2_n` is a sum, and :math:`C^{r + 2}_n = C^{r + 1}_n + \frac nr C^r_n` (Kontkanen &
    Myllymäki 2007); beyond 1,000 values the formula of Szpankowski & Weinberger (2012). Weights between two whole
    numbers are between their regrets.

    Examples
    --------
    >>> round(exp(log_regret(2, 2)), 10)  # aa and bb have probability 1, ab and ba 1/4
    2.5
    """
    low = floor(n)
    below = _of_whole(low, n_values)
    return below if low == n else below + (n - low) * (_of_whole(low + 1, n_values) - below)


@lru_cache(maxsize=1 << 16)
def _of_whole(n: int, n_values: int) -> float:
    if n == 0 or n_values <= 1:
        return 0.0
    if n_values > _MOST_VALUES:
        a = n_values / n
        c = 0.5 + 0.5 * sqrt(1.0 + 4.0 / a)
        return n * (log(a) + (a + 2.0) * log(c) - 1.0 / c) - 0.5 * log(c + 2.0 / a)
    before, now = 0.0, _of_two(n)
    for r in range(1, n_values - 1):  # logarithms of C^r and C^(r + 1)
        before, now = now, now + log1p(n / r * exp(before - now))
    return now


@lru_cache(maxsize=1 << 16)
def _of_two(n: int) -> float:
    k = np.arange(n + 1)
    terms = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    return float(np.log(np.exp(terms).sum()))
