"""Chapter 6, logistic regression."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.special import expit, logit

from bayeskit.classify.logistic_regression import LogisticRegression
from bayeskit.concept.sigmoid import SigmoidUnit
from bayeskit.network.network import BayesianNetwork

_ROWS, _LABELS = {"x": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 0, 1]


def weight(rule: str, steps: int) -> float:
    """Return w after some literal steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unit = SigmoidUnit(rule=rule, standardize=False, learning_rate=0.1, max_iter=steps).fit(_ROWS, _LABELS)
    return float(unit.coef_[0, 0])


def best() -> LogisticRegression:
    """Return the model of greatest likelihood."""
    return LogisticRegression().fit(_ROWS, _LABELS)


def third_class() -> float:
    """Return P(c₃) from the log-odds of the others, as the normalised row of a table."""
    net = BayesianNetwork(["c"], states={"c": list("123")}, tables={"c": np.exp([1.0, 0.0, 0.0])}, normalize=True)
    return float(net.posterior("c").array[2])


ANSWERS = {
    "6.1": lambda: weight("cross-entropy", 2),
    "6.2": lambda: weight("squared-error", 1),
    "6.3": lambda: expit(2.0),
    "6.4": lambda: logit(0.9),
    "6.5": lambda: best().history_.objective[-1] * len(_LABELS),
    "6.6": lambda: best().predict_proba(_ROWS)[:, 1].sum(),
    "6.7": third_class,
    "6.8": lambda: round(2 - float(best().predict_proba(_ROWS)[:, 1].sum()), 6),
    "6.9": lambda: np.exp(best().coef_[0, 0]),
    "6.10": lambda: -best().intercept_[0] / best().coef_[0, 0],
}
