"""Chapter 2, decisions."""

from __future__ import annotations

import numpy as np

from bayeskit.decide.loss import read_loss, with_reject
from bayeskit.decide.regions import threshold
from bayeskit.decide.risk import bayes_action, expected_loss, overall_risk, risk

_THREE = [[0.5, 0.3, 0.2]]
_ROWS = [[0.9, 0.1], [0.4, 0.6]]


def ask_below() -> float:
    """Return the largest posterior below which asking an expert for 0.2 is the Bayes action."""
    loss = with_reject(read_loss(None, range(2)), 0.2)
    p = np.linspace(0.5, 1.0, 500_001)
    asked = bayes_action(np.stack([p, 1.0 - p], axis=1), loss) == 2
    return float(p[asked].max())


def nearest_neighbour_error() -> float:
    """Return how often a row and its twin with the same posterior have different classes."""
    posterior = np.array([0.9, 0.1])
    return float(overall_risk([posterior, posterior], None, [0, 1], sample_weight=posterior))


ANSWERS = {
    "2.1": lambda: risk([[0.7915, 0.2085]], [[0, 1], [50, 0]])[0, 0],
    "2.2": lambda: threshold(read_loss([[0, 1], [20, 0]], range(2))),
    "2.3": lambda: expected_loss(_THREE, None)[0],
    "2.4": lambda: bayes_action(_THREE, [[0, 1, 1], [1, 0, 1], [10, 10, 0]])[0],
    "2.5": ask_below,
    "2.6": lambda: overall_risk(_ROWS),
    "2.7": lambda: overall_risk(_ROWS, None, [0, 0]),
    "2.8": nearest_neighbour_error,
    "2.9": lambda: risk([[0.7, 0.3]], [[-1, 1], [1, -1]])[0, 0],
    "2.10": lambda: overall_risk(_ROWS, None, [0, 0]) - overall_risk(_ROWS),
}
