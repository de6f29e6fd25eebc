"""Chapter 15, from table to decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit import AODE, TAN, NaiveBayes, datasets, overall_risk
from bayeskit.decide.loss import read_loss
from bayeskit.decide.regions import threshold
from bayeskit.decide.risk import bayes_action, expected_loss, realised_loss

_COSTS = [[0, 1], [10, 0]]


def shares() -> NDArray[np.float64]:
    """Return the class frequencies of the heart table."""
    count: NDArray[np.float64] = NaiveBayes().fit(datasets.load_heart(), target="disease").class_count_
    return np.asarray(count / count.sum())


def always(action: int) -> float:
    """Return the cost per patient of one action for all."""
    return float(overall_risk([shares()], _COSTS, [action]))


def paid_by_aode() -> float:
    """Return what the Bayes decisions of AODE cost per patient, each predicted without itself."""
    table = datasets.load_heart()
    left_out = AODE().fit(table, target="disease").leave_one_out(table, target="disease")
    actions = bayes_action(np.exp(left_out.log_posterior), _COSTS)
    truth = [int(label == "yes") for label in table["disease"]]
    return float(realised_loss(truth, actions, _COSTS).mean())


def lower_error() -> str:
    """Return which of two classifiers errs less on rows left out."""
    table = datasets.load_heart()
    errors = {
        type(model).__name__: model.fit(table, target="disease").leave_one_out(table, target="disease").error
        for model in (NaiveBayes(), TAN())
    }
    return str(min(errors, key=lambda name: errors[name]))


ANSWERS = {
    "15.1": lambda: threshold(read_loss(_COSTS, range(2))),
    "15.2": lambda: shares()[1],
    "15.3": lambda: always(1),
    "15.4": lambda: always(0),
    "15.5": paid_by_aode,
    "15.6": lambda: bool(expected_loss([[1 - 0.459, 0.459]], _COSTS)[0] > 0.3),
    "15.7": lambda: expected_loss([[0.95, 0.05]], _COSTS)[0],
    "15.8": lambda: bool(expected_loss([[0.95, 0.05]], _COSTS)[0] > 0.3),
    "15.9": lower_error,
    "15.10": lambda: NaiveBayes().fit(datasets.load_heart(), target="disease").class_count_[1],
}
