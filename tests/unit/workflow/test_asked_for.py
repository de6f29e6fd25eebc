"""Logistic regression and Gaussian classes are compared, trained and reported when they are asked for."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayeskit
from bayeskit.cli.app import run
from bayeskit.datasets import load_heart
from bayeskit.workflow.candidates import candidates

NAMES = ["LogisticRegression", "GaussianBayes", "GaussianBayes-tied"]


def numbers(n=240):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) + np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 2, 0]])[y], y


def test_nobody_tries_them_unless_they_are_named():
    assert not set(NAMES) & set(candidates())
    assert list(candidates(["logisticregression", "gaussianbayes"])) == NAMES[:2]


@pytest.mark.parametrize("name", NAMES)
def test_a_fold_is_predicted_by_the_model_of_the_others(name):
    X, y = numbers()
    X[::7, 1] = np.nan
    board = bayeskit.compare(X, y, models=[name], folds=3)
    for fold in range(3):
        model = candidates([name])[name].fit(X[board.part != fold], y[board.part != fold])
        rows = board.part == fold
        assert_allclose(board.best.posterior[rows], model.predict_proba(X[rows]), rtol=1e-6, atol=1e-9)


def test_gaussian_classes_say_which_column_they_cannot_take():
    board = bayeskit.compare(load_heart(), target="disease", models=["NaiveBayes", "GaussianBayes"], folds=3)
    assert "column 'sex' cannot be gaussian" in str(board)
    assert board.best.name == "NaiveBayes"


@pytest.mark.parametrize(("name", "says"), [("LogisticRegression", "log-likelihood"), ("GaussianBayes", "covariances")])
def test_train_saves_and_reports_them(name, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = numbers()
    with open("t.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "d", "y"], *([*x, f"k{c}"] for x, c in zip(X, y, strict=True))])
    assert run(["train", "t.csv", "--target", "y", "-m", name, "-o", "m.bayes"]) == 0
    assert says in (tmp_path / "m.html").read_text(encoding="utf-8")
    model = bayeskit.load("m.bayes")
    assert type(model).__name__ == name
    expected = candidates([name])[name].fit(dict(zip("abcd", X.T, strict=True)), [f"k{c}" for c in y])
    table = dict(zip("abcd", X.T, strict=True))
    assert_allclose(model.predict_proba(table), expected.predict_proba(table), rtol=1e-6)
    assert run(["evaluate", "m.bayes", "t.csv"]) == 0
    assert run(["explain", "m.bayes", "t.csv", "--row", "1"]) == 0
