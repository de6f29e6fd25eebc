r"""How sure a model of text may be: its log-joint is multiplied by a number that depends on the length of a document.

.. math:: P(c \mid d) \propto P(d, c)^{g(L)}, \qquad
          g(L) = w_0 + \frac{w_1}{\sqrt L} + \frac{w_2}{L} \le 2

Words of a document are not independent, as the model has it: one that speaks for a class brings others with it. The
order of the classes stays. w is fitted to documents left out of the counts.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of fewer documents nothing is fitted.
FEWEST_DOCUMENTS = 50
MOST_STEPS = 100
# Log-odds beyond these say no more.
_MOST_ODDS = 1e6
_LEAST, _MOST = 1e-6, 2.0


def powers(weight: Floats, length: Floats) -> Floats:
    """Return g(L) of documents with so many words; one without any word has the prior, as it is.

    >>> powers(np.array([0.0, 1.0, 0.0]), np.array([0.0, 4.0, 100.0]))
    array([1. , 0.5, 0.1])
    """
    return np.where(length > 0, np.clip(_features(length) @ weight, _LEAST, _MOST), 1.0)


def _features(length: Floats) -> Floats:
    n = np.maximum(length, 1.0)
    return np.stack([np.ones(len(n)), 1.0 / np.sqrt(n), 1.0 / n], axis=1)


def fit_powers(log_joint: Floats, y: NDArray[Any], length: Floats, count: Floats) -> Floats:
    """Return w of at least 0 with the least log-loss of documents left out, (n_documents, n_classes).

    ``count`` says how often each document counts. The penalty is that of one document for each number that differs
    from the textbook's 1, 0, 0 by its own size, so that few documents change little.
    """
    score = np.maximum(log_joint - log_joint.max(axis=1, keepdims=True), -_MOST_ODDS)
    feature = _features(length)
    textbook, size = np.array([1.0, 0.0, 0.0]), 1.0 / np.maximum(feature.mean(axis=0), 1e-12)
    of_true = score[np.arange(len(y)), y]

    def parts(w: Floats) -> tuple[float, Floats, Floats]:
        scaled = (feature @ w)[:, None] * score
        top = scaled.max(axis=1, keepdims=True)
        p = np.exp(scaled - top)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        mean = (p * score).sum(axis=1)
        spread = (p * (score - mean[:, None]) ** 2).sum(axis=1)
        away = (w - textbook) / size
        loss = float(count @ (top[:, 0] + np.log(total[:, 0]) - (feature @ w) * of_true)) + 0.5 * float(away @ away)
        slope = feature.T @ (count * (mean - of_true)) + away / size
        return loss, slope, (feature * (count * spread)[:, None]).T @ feature + np.diag(1.0 / size**2)

    w = textbook.copy()
    loss, slope, curve = parts(w)
    for _ in range(MOST_STEPS):
        step = _best_step(w, slope, curve)
        rate = 1.0
        while rate > 1e-6:
            new = np.maximum(w + rate * step, 0.0)
            now = parts(new)
            if now[0] < loss:
                break
            rate *= 0.5
        else:
            return w
        gained, (loss, slope, curve), w = loss - now[0], now, new
        if gained < 1e-9 * max(abs(loss), 1.0):
            break
    return w


def _best_step(w: Floats, slope: Floats, curve: Floats) -> Floats:
    """Return the step to the least of the quadratic with this slope and curvature where all weights are at least 0."""
    best, least = np.zeros(len(w)), 0.0
    for free in product((True, False), repeat=len(w)):
        step = np.where(free, 0.0, -w)  # the others go to 0
        at = np.flatnonzero(free)
        if len(at):
            step[at] = np.linalg.solve(curve[np.ix_(at, at)], -(slope + curve @ step)[at])
        value = float(slope @ step + 0.5 * step @ curve @ step)
        if (w + step >= -1e-12).all() and value < least:
            best, least = step, value
    return best
