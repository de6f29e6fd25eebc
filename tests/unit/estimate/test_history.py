"""One history for all that iterates: it says why it stopped, plots, and goes into a file."""

import numpy as np
import pytest

from bayeskit import (
    BayesianNetwork,
    GaussianBayes,
    GaussianMixture,
    LatentClass,
    LogisticRegression,
    NaiveBayes,
    SemiSupervised,
    SigmoidUnit,
    datasets,
    learn_structure,
)
from bayeskit.errors import ModelFileError
from bayeskit.estimate.history import History

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, (60, 2)), RNG.normal(4, 1, (60, 2))])
Y = np.repeat([0, 1], 60)
Y[::7] = 1 - Y[::7]  # the classes overlap
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
ASIA = datasets.load_asia()
CASES = {name: [None if RNG.random() < 0.1 else v for v in c] for name, c in ASIA.sample(150, random_state=0).items()}
UNSURE = np.where(RNG.random(len(Y)) < 0.5, None, Y.astype(object))

HISTORIES = {
    "mixture": lambda: GaussianMixture(2).fit(X).history_,
    "latent class": lambda: LatentClass(2).fit(X).history_,
    "semi-supervised": lambda: SemiSupervised(NaiveBayes()).fit(X, UNSURE).history_,
    "gaussian with missing cells": lambda: GaussianBayes().fit(HOLES, Y).em_histories_[0],
    "tables by EM": lambda: ASIA.fitted(CASES, missing="em").history,
    "tables by gradient": lambda: ASIA.fitted(CASES, missing="gradient", tol=1e-4).history,
    "search": lambda: learn_structure(ASIA.sample(200, random_state=0)).history,
    "lbfgs": lambda: LogisticRegression().fit(X, Y).history_,
    "newton": lambda: LogisticRegression(solver="newton").fit(X, Y).history_,
    "sigmoid": lambda: SigmoidUnit(solver="lbfgs").fit(X, Y).histories_[0],
    "squared error": lambda: SigmoidUnit(rule="squared-error", solver="lbfgs", tol=1e-3).fit(X, Y).histories_[0],
}


@pytest.mark.parametrize("what", HISTORIES)
def test_every_iteration_has_the_same_history(what):
    pytest.importorskip("matplotlib")
    history = HISTORIES[what]()
    assert type(history) is History
    assert history.converged
    assert history.reason
    assert len(history.objective) == history.n_steps + 1
    assert history.parameters == ()
    assert (np.diff(history.objective) >= -1e-9 * np.abs(history.objective[0])).all()
    line = history.plot().lines[0]
    np.testing.assert_array_equal(line.get_ydata(), history.objective)
    assert History.from_json(history.to_json()).objective == history.objective


def test_tables_of_each_step_are_kept_where_they_are_asked_for():
    for way in ("em", "gradient"):
        net = ASIA.fitted(CASES, missing=way, tol=1e-4, record=True)
        assert len(net.history.parameters) == len(net.history.objective)
        last = BayesianNetwork.from_tables(ASIA.names, ASIA.states, ASIA.parents, net.history.parameters[-1])
        assert last.equals(net)


def test_a_history_without_a_step_is_refused():
    with pytest.raises(ModelFileError, match="no step"):
        History.from_json({"method": "em", "objective": [], "reason": "", "converged": True, "starts": []})
