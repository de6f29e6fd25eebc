"""Naive Bayes predicts each row of its fit without that row, as a refit of the others would."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import CategoricalNB as TheirCategoricalNB
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from bayeskit import CategoricalNB, GaussianNB, MEstimate, NaiveBayes
from bayeskit.errors import BayeskitError, TableError
from refits import refits

REFIT = 1e-9  # the digits that moments keep when a row is taken out of them
KINDS = {"visits": "poisson", "price": "lognormal", "gap": "kde", "member": "bernoulli"}


def mixed(n_rows: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(11)
    y = np.array(["no", "yes", "maybe"])[rng.integers(0, 3, n_rows)]
    X = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "green", None], n_rows), ["blue", "green", "red"]),
            "height": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows) + (y == "yes")),
            "offset": 1e9 + rng.integers(0, 3, n_rows) * 1e-3,
            "visits": rng.poisson(2, n_rows).astype(float),
            "price": rng.lognormal(size=n_rows),
            "gap": rng.choice([1.0, 2.5, 2.5, 9.0], n_rows),
            "member": rng.integers(0, 2, n_rows),
        }
    )
    X.loc[3, "visits"] = np.nan
    return X, y


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"smoothing": 0},
        {"smoothing": MEstimate(2), "unseen": "smooth"},
        {"prior": "data", "variance": "ml"},
        {"prior": [0.2, 0.3, 0.5], "variance": "unbiased"},
        {"prior": "uniform", "variance_prior": 1},
    ],
    ids=str,
)
def test_a_row_left_out_is_answered_as_by_a_refit_of_the_others(settings):
    X, y = mixed()
    model = NaiveBayes(kinds=KINDS, **settings).fit(X, y)
    found = model.leave_one_out(X, y)
    expected = refits(model, X, y, impossible="prior")
    assert_allclose(np.exp(found.log_posterior), expected, rtol=REFIT, atol=1e-12)
    true = expected[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    assert_allclose(found.rmse, np.sqrt(np.mean((1 - true) ** 2)), rtol=REFIT)
    assert found.error == np.mean(model.classes_[expected.argmax(axis=1)] != y)


@pytest.mark.parametrize("numeric", ["equal-width", "equal-frequency", "mdl"])
def test_bins_stay_those_of_all_rows(numeric):
    X, y = mixed()
    X = X[["height", "price"]]
    model = NaiveBayes(numeric=numeric, bins=4).fit(X, y)
    assert_allclose(
        np.exp(model.leave_one_out(X, y).log_posterior), refits(model, X, y, impossible="prior"), rtol=REFIT
    )


def test_of_a_row_that_counts_several_times_one_copy_is_left_out():
    X, y = mixed(30)
    weight = np.random.default_rng(5).choice([0.0, 0.25, 1.0, 2.0, 3.5], len(y))
    model = NaiveBayes(kinds=KINDS).fit(X, y, weight)
    found = model.leave_one_out(X, y, weight)
    counted = weight > 0
    expected = refits(model, X, y, weight, impossible="prior")
    assert_allclose(np.exp(found.log_posterior)[counted], expected[counted], rtol=1e-7)
    wrong = model.classes_[expected.argmax(axis=1)] != y
    assert_allclose(found.error, np.average(wrong, weights=weight), rtol=REFIT)


def test_gaussian_nb_leaves_rows_out_as_scikit_learn_does_by_refitting():
    X, y = mixed(60)
    numbers = np.column_stack([np.nan_to_num(X["height"]), X["price"], X["visits"].fillna(0) * 100])
    theirs = cross_val_predict(TheirGaussianNB(), numbers, y, cv=LeaveOneOut(), method="predict_proba")
    ours = GaussianNB().fit(numbers, y).leave_one_out(numbers, y)
    assert_allclose(np.exp(ours.log_posterior), theirs, rtol=1e-7, atol=1e-14)


def test_gaussian_nb_leaves_rows_with_missing_cells_out_as_refits_do():
    X, y = mixed(40)
    numbers = X[["height", "visits"]]
    model = GaussianNB().fit(numbers, y)
    expected = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        expected.append(GaussianNB().fit(numbers[rest], y[rest]).predict_proba(numbers.iloc[[i]])[0])
    assert_allclose(np.exp(model.leave_one_out(numbers, y).log_posterior), expected, rtol=REFIT, atol=1e-14)


def test_categorical_nb_leaves_rows_out_as_scikit_learn_does_by_refitting():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (50, 4)), rng.integers(0, 2, 50)
    theirs = cross_val_predict(TheirCategoricalNB(min_categories=3), X, y, cv=LeaveOneOut(), method="predict_proba")
    ours = CategoricalNB(min_categories=3).fit(X, y).leave_one_out(X, y)
    assert_allclose(np.exp(ours.log_posterior), theirs, rtol=1e-12)


def test_a_column_that_is_constant_without_a_row_is_taken_for_constant():
    X = pd.DataFrame({"x": [5.0, 5.0, 5.0, 5.0, 1e8], "z": [0.0, 1.0, 2.0, 5.0, 3.0]})
    y = np.array(["a", "b", "a", "b", "a"])
    model = NaiveBayes().fit(X, y)
    assert_allclose(
        np.exp(model.leave_one_out(X, y).log_posterior),
        refits(model, X, y, impossible="prior"),
        rtol=REFIT,
        atol=1e-300,
    )


def test_a_row_that_no_class_can_give_without_itself_gets_the_prior_without_it():
    X, y = {"a": ["p", "q", "q", "r"]}, ["no", "no", "yes", "yes"]
    found = NaiveBayes(smoothing=0).fit(X, y).leave_one_out(X, y)
    assert_allclose(np.exp(found.log_posterior[0]), [1 / 3, 2 / 3], rtol=1e-12)
    assert_allclose(np.exp(found.log_posterior[1]), [0, 1], rtol=1e-12)


def test_leaving_out_reads_tables_as_fit_does_and_refuses_what_it_cannot_know():
    X, y = mixed(20)
    table = {**{name: X[name] for name in X}, "class": y}
    model = NaiveBayes(kinds=KINDS).fit(table, target="class")
    assert_array_equal(
        model.leave_one_out(dict(reversed(table.items())), target="class").log_posterior,
        model.leave_one_out(X, y).log_posterior,
    )
    with pytest.raises(TableError, match="needs the labels"):
        model.leave_one_out(X)
    with pytest.raises(BayeskitError, match="fit without class_weight"):
        NaiveBayes(kinds=KINDS, class_weight="balanced").fit(X, y).leave_one_out(X, y)
