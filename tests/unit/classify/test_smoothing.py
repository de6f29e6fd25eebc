"""Every classifier takes λ or a smoothing object, and keeps it in copies and files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import bayeskit
from bayeskit import AODE, KDB, ODE, SPODE, TAN, Lidstone, MEstimate, NaiveBayes
from bayeskit.errors import BayeskitError
from bayeskit.learn.parameters import from_json

MODELS = [
    NaiveBayes(),
    ODE(parents={"a": "b"}),
    TAN(),
    KDB(k=2),
    KDB(k=1, selective=True),
    SPODE(),
    AODE(),
    AODE(n_parents=2),
]
NAMES = [type(model).__name__ for model in MODELS]
TABLE = {
    "a": ["x", "y", "x", "x", "y", "x", "y", "y", "x", "y"],
    "b": ["1", "2", "3", "1", "2", "3", "3", "1", "1", "2"],
    "c": ["u", "v", "v", "u", "w", "u", "t", "v", "v", "u"],
}
Y = ["no", "no", "yes", "no", "yes", "yes", "yes", "no", "yes", "yes"]


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_number_is_lidstones_lambda(model):
    number = clone(model).set_params(smoothing=0.5).fit(TABLE, Y).predict_proba(TABLE)
    assert_array_equal(clone(model).set_params(smoothing=Lidstone(0.5)).fit(TABLE, Y).predict_proba(TABLE), number)


def test_naive_bayes_with_m_rows_more_is_the_formula():
    m, y = 3.0, np.array(Y)
    joint = np.array([[((y == c).sum() + m / 2) / (len(y) + m) for c in ("no", "yes")]] * len(y))
    for column in map(np.array, TABLE.values()):
        share = m / len(np.unique(column))
        for k, c in enumerate(("no", "yes")):
            of = (y == c).sum() + m
            joint[:, k] *= [(((column == v) & (y == c)).sum() + share) / of for v in column]
    found = NaiveBayes(smoothing=MEstimate(m)).fit(TABLE, Y).predict_proba(TABLE)
    assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-13)


def test_m_rows_of_a_poisson_column_lie_at_its_mean():
    X, y = np.array([[0], [3], [1], [8], [0], [2]]), np.array([0, 0, 0, 1, 1, 1])
    found = [
        NaiveBayes(smoothing=smoothing, prior="data", numeric="poisson").fit(X, y).predict_proba(X)
        for smoothing in (MEstimate(2.0), 2.0)
    ]
    assert_array_equal(*found)


@pytest.mark.parametrize("model", MODELS[1:6], ids=NAMES[1:6])
def test_the_network_of_a_model_with_m_estimates_gives_its_posteriors(model):
    fitted = clone(model).set_params(smoothing=MEstimate(2.0)).fit(TABLE, Y)
    found = fitted.to_network().predict_proba(TABLE)
    assert_allclose(np.asarray(found), fitted.predict_proba(TABLE), rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_aode_with_m_estimates_is_the_mean_of_its_networks(order):
    fitted = AODE(n_parents=order, min_rows=0, smoothing=MEstimate(2.0)).fit(TABLE, Y)
    networks = fitted.to_networks()
    rows = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
    target = next(name for name in networks[0].names if name not in TABLE)
    joint = [
        [np.mean([np.exp(net.log_probability([{**row, target: c}])[0]) for net in networks]) for c in ("no", "yes")]
        for row in rows
    ]
    assert_allclose(fitted.predict_proba(TABLE), joint / np.sum(joint, axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_saved_model_keeps_its_smoothing(model, tmp_path):
    fitted = clone(model).set_params(smoothing=MEstimate(2.0)).fit(TABLE, Y)
    fitted.save(tmp_path / "model.bayes")
    again = bayeskit.load(tmp_path / "model.bayes")
    assert again.smoothing == MEstimate(2.0)
    assert_array_equal(again.predict_proba(TABLE), fitted.predict_proba(TABLE))


@pytest.mark.parametrize("value", [{"smoothing": "eval", "number": 1.0}, {"smoothing": "MEstimate", "number": "1"}, {}])
def test_an_unknown_smoothing_of_a_file_is_refused(value):
    with pytest.raises(BayeskitError, match="a smoothing of the file is unknown"):
        from_json({"smoothing": value})
