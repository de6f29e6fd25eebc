"""The discretizer as a transformer."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from bayeskit import Discretizer, NaiveBayes
from bayeskit.errors import BayeskitError, TableError


@pytest.mark.parametrize("method", ["mdl", "equal-width", "equal-frequency"])
def test_the_discretiser_passes_scikit_learns_checks(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SkipTestWarning)
        check_estimator(Discretizer(method))


def test_bins_are_learned_on_training_rows_only_inside_a_pipeline():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = y[:, None] * 2 + rng.normal(size=(300, 3))
    pipe = make_pipeline(Discretizer(), CategoricalNB(min_categories=20))
    found = cross_val_predict(pipe, X, y, cv=3, method="predict_proba")
    for train, test in StratifiedKFold(3).split(X, y):
        bins = Discretizer().fit(X[train], y[train])
        model = CategoricalNB(min_categories=20).fit(bins.transform(X[train]), y[train])
        assert_array_equal(found[test], model.predict_proba(bins.transform(X[test])))
        whole = Discretizer().fit(X, y)
        assert [list(a) for a in whole.edges_] != [list(b) for b in bins.edges_]  # so a leak would be seen


def test_the_bins_are_those_of_the_classifier():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    frame = pd.DataFrame(y[:, None] + rng.normal(size=(300, 2)), columns=["age", "height"])
    bins = Discretizer().fit(frame, y)
    model = NaiveBayes(numeric="mdl").fit(frame, y)
    for j, variable in enumerate(model.schema_):
        assert_array_equal(bins.edges_[j], variable.edges)
        assert bins.bin_names_[j] == variable.values
    assert_array_equal(bins.get_feature_names_out(), ["age", "height"])
    assert list(bins.set_output(transform="pandas").transform(frame).columns) == ["age", "height"]


def test_missing_cells_stay_missing_and_borders_belong_to_the_bin_above():
    bins = Discretizer("equal-width", bins=2).fit([[0.0], [10.0], [np.nan]])
    assert_array_equal(bins.transform([[4.9], [5.0], [np.nan]]), [[0.0], [1.0], [np.nan]])


def test_a_row_of_zero_weight_is_as_if_it_were_not_there():
    X, y = [[1.0], [2.0], [3.0], [4.0], [7.0], [8.0], [9.0], [10.0]], [0, 0, 0, 0, 1, 1, 1, 1]
    with_more = Discretizer().fit([*X, [5.0]], [*y, 2], sample_weight=[1] * 8 + [0])
    assert_array_equal(with_more.edges_[0], Discretizer().fit(X, y).edges_[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"bins": 0}, "bins must be a whole number of at least 1; got 0"),
        ({"bins": 2.5}, "got 2.5"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(BayeskitError, match=message):
        Discretizer(**options).fit([[1.0], [2.0]], [0, 1])


def test_mdl_without_labels_is_refused():
    with pytest.raises(TableError, match="requires y to be passed"):
        Discretizer().fit([[1.0], [2.0]])
