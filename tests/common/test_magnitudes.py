"""Numbers at the ends of what a double holds: every model is right, or refuses the column by its name."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_clusterer, is_regressor

from bayeskit import LogisticRegression, NaiveBayes, TextClassifier
from bayeskit.errors import BayeskitError, TableError
from common.registry import classifiers, mixtures, semi_supervised, whole_models

N = 30
CELLS = [1e308, -1e308, 1.7e308, 1e300, -1e300, 1e200, 1e160, 1e-320, -1e-320, 5e-324]
MODELS = [
    *classifiers(),
    *whole_models(),
    *mixtures(),
    *semi_supervised(),
    LogisticRegression(solver="gradient"),
    NaiveBayes(kinds="kde"),
]


def tables():
    """Tables in which the column "far" has numbers of unusual size."""
    rng = np.random.default_rng(0)
    plain = np.abs(rng.normal(size=(N, 3)))
    for cell in CELLS:
        table = plain.copy()
        table[4, 1] = cell
        yield f"one cell {cell:g}", table
        yield f"all cells {cell:g}", np.where([False, True, False], cell, plain)
    for scale in (1e307, 1e154, 1e-155, 1e-310):
        yield f"scale {scale:g}", plain * [1.0, scale, 1.0]
    yield "both ends", np.where([False, True, False], np.where(np.arange(N) % 4 == 0, -1e308, 1e308)[:, None], plain)
    yield "missing", np.where([False, True, False], np.nan, plain)


def named(table):
    return dict(zip(("near", "far", "other"), table.T, strict=True))


def fitted(model, table):
    labels = np.arange(N) % 3
    if is_regressor(model):
        return clone(model).fit(table, labels.astype(float))
    return clone(model).fit(table) if is_clusterer(model) else clone(model).fit(table, labels)


def assert_answers_or_names_a_column(model, learn, ask, columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column that is missing, EM that has not converged, …
        try:
            answers = fitted(model, learn)
            found = answers.predict(ask) if is_regressor(model) else answers.predict_proba(ask)
        except BayeskitError as error:
            if any(f"'{name}'" in str(error) for name in columns):
                return
            raise
    assert np.isfinite(found).all()
    if found.ndim == 2:
        assert (found >= 0).all()
        assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in tables()])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_number_of_any_size_is_learned_from_or_refused_by_its_column(model, table):
    assert_answers_or_names_a_column(model, named(table), named(table), ["far"])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_number_of_any_size_is_predicted_or_refused_by_its_column(model):
    plain = np.abs(np.random.default_rng(1).normal(size=(N, 3)))
    for _, table in tables():
        assert_answers_or_names_a_column(model, named(plain), named(table), ["far"])
    for signs in ([1, 1, 1], [1, -1, 1], [-1, 1, -1]):
        for size in (1e308, 1e300):
            row = named(np.full((1, 3), size) * signs)
            assert_answers_or_names_a_column(model, named(plain), row, ["near", "far", "other"])


def test_a_column_that_overflows_is_named_and_not_its_neighbour():
    from bayeskit import ComplementNB, GaussianBayes, GaussianNB

    plain = np.abs(np.random.default_rng(0).normal(size=(N, 3)))
    far = plain.copy()
    far[:, 1] = 1e308
    y = np.arange(N) % 3
    with pytest.raises(TableError, match=r"column 'x1' holds numbers so large that their squares overflow"):
        GaussianBayes().fit(np.where(np.arange(N)[:, None] == 4, far, plain), y)
    with pytest.raises(TableError, match="column 'x1' holds numbers so large that their sum overflows"):
        ComplementNB().fit(far, y)
    with pytest.raises(TableError, match=r"column 'x1', row 0 holds 1e\+308, so large that the score of the row over"):
        ComplementNB().fit(plain, y).predict_proba(far)
    with pytest.raises(TableError, match="column 'x1' is missing in every row"):
        GaussianNB().fit(np.where([False, True, False], np.nan, plain), y)


def test_a_constant_column_of_any_size_changes_no_prediction():
    rng = np.random.default_rng(0)
    plain, y = rng.normal(size=(N, 2)), np.arange(N) % 3
    expected = NaiveBayes().fit(plain, y).predict_proba(plain)
    for size in (1e308, -1e308, 5e-324):
        more = np.column_stack([plain, np.full(N, size)])
        assert_allclose(NaiveBayes().fit(more, y).predict_proba(more), expected, rtol=1e-12)


def test_a_weight_of_any_size_of_a_text_is_learned_from_or_refused():
    texts, y = ["cheap pills", "lunch at noon", "cheap watches"], ["spam", "ham", "spam"]
    for weight in (5e-324, 1e-320, 1e300):
        try:
            found = TextClassifier().fit(texts, y, sample_weight=[1.0, weight, 1.0]).predict_proba(texts)
        except BayeskitError:
            continue
        assert np.isfinite(found).all()
        assert_allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-9)
