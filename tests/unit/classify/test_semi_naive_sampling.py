"""Rows drawn from classifiers with a structure."""

import itertools

import numpy as np
import pytest

from bayeskit import AODE, KDB, ODE, SPODE, TAN, bayes_risk
from bayeskit.decide.protocol import SamplingModel, as_column

RNG = np.random.default_rng(5)
N = 60
CLASS = RNG.integers(0, 2, N)
A = (CLASS + (RNG.random(N) < 0.3)) % 2
B = (A + RNG.integers(0, 2, N) * (RNG.random(N) < 0.4)) % 3
TABLE = {
    "a": [None if k % 11 == 0 else "pq"[v] for k, v in enumerate(A)],
    "b": ["uvw"[v] for v in B],
    "number": (A + 2.0 * CLASS + RNG.random(N)).tolist(),
    "never": [None] * N,
}
MODELS = {
    "ODE": ODE({"b": "a"}),
    "TAN": TAN(),
    "KDB": KDB(k=2),
    "SPODE": SPODE("b"),
    "AODE": AODE(min_rows=0),
    "A2DE": AODE(min_rows=0, n_parents=2),
    "unseen": TAN(unseen="smooth"),
    "unseen AODE": AODE(min_rows=0, unseen="smooth"),
}


def fitted(name):
    with pytest.warns(UserWarning, match="never"):
        return MODELS[name].fit(TABLE, CLASS)


@pytest.mark.parametrize("name", MODELS)
def test_rows_come_as_often_as_the_sum_over_the_classes_says(name):
    model, n_rows = fitted(name), 20_000
    assert isinstance(model, SamplingModel)
    drawn = model.sample_columns(n_rows, np.random.default_rng(1))
    assert all(value is None for value in drawn[3])
    values = [domain.values or (None,) for domain in model.domains()]
    cells = list(itertools.product(*values))
    joint = np.exp(model.log_joint([as_column(column) for column in zip(*cells, strict=True)])).sum(axis=1)
    expected = joint / joint.sum()
    place = {cell: k for k, cell in enumerate(cells)}
    found = np.bincount([place[row] for row in zip(*drawn, strict=True)], minlength=len(cells)) / n_rows
    # A slot for unseen values is left out column by column, so that rare rows come a little more often.
    slack = 0.005 if name.startswith("unseen") else 0.0
    assert (np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / n_rows) + slack).all()


@pytest.mark.parametrize("name", ["TAN", "KDB", "SPODE", "AODE", "A2DE"])
def test_the_risk_over_drawn_rows_is_the_exact_sum_within_its_error(name):
    model = fitted(name)
    exact = bayes_risk(model)
    drawn = bayes_risk(model, method="monte carlo", n_samples=20_000)
    assert exact.method == "exact"
    assert abs(drawn.risk - exact.risk) < 4 * drawn.standard_error


def test_a_wide_tree_has_a_bayes_risk_without_rows():
    y = np.arange(200) % 2
    X = (np.random.default_rng(0).random((200, 40)) < 0.3 + 0.2 * y[:, None]).astype(int)
    risk = bayes_risk(TAN(kinds="categorical").fit(X, y), n_samples=5_000)
    assert risk.method == "monte carlo"
    assert 0 < risk.risk < 0.5


def test_a_feature_that_selection_leaves_out_is_not_drawn():
    y = np.arange(100) % 2
    X = {"y": y.tolist(), "noise": np.random.default_rng(0).integers(0, 9, 100).tolist()}
    model = KDB(k=1, selective=True, kinds="categorical").fit(X, y)
    assert model.structure_.parents[1] is None
    assert all(value is None for value in model.sample_columns(5, np.random.default_rng(0))[1])
