"""Rows without a label: one rule for every model, and one function that drops them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import bayeskit
from bayeskit.errors import TableError

N = 12
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 3, (N, 2))
LABELS = ["yes", "no"] * (N // 2)
GAPS = [None if i in (1, 4, 5, 6, 8, 9) else label for i, label in enumerate(LABELS)]
TEXTS = ["good day" if label == "yes" else "bad day" for label in LABELS]
MODELS = {
    **{
        name: (getattr(bayeskit, name)(), COUNTS)
        for name in (
            *("NaiveBayes", "TAN", "AODE", "KDB", "SPODE", "ODE", "AutoBayes", "NetworkClassifier", "GaussianBayes"),
            *("GaussianNB", "CategoricalNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "KNeighbors", "MDLTree"),
            *("LogisticRegression", "SigmoidUnit", "FindS", "CandidateElimination", "BruteForceMAP"),
        )
    },
    "TextClassifier": (bayeskit.TextClassifier(), TEXTS),
    "BayesDecision": (bayeskit.BayesDecision(bayeskit.NaiveBayes()), COUNTS),
    "BayesOptimalClassifier": (bayeskit.BayesOptimalClassifier([bayeskit.NaiveBayes(), bayeskit.TAN()]), COUNTS),
    "Discretizer": (bayeskit.Discretizer(), COUNTS.astype(float)),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_refuses_rows_without_a_label_by_number_and_says_what_drops_them(name):
    model, X = MODELS[name]
    for y in (GAPS, pd.Series(GAPS), np.array([np.nan if label is None else label == "yes" for label in GAPS])):
        with pytest.raises(TableError) as refusal:
            model.fit(X, y)
        assert "Input y contains NaN: rows 1, 4, 5, 6, 8, … (6 of 12) have no label" in str(refusal.value)
        assert "bayeskit.drop_unlabeled(X, y)" in str(refusal.value)


def test_a_missing_number_to_predict_is_refused_in_the_same_way():
    with pytest.raises(TableError, match=r"Input y contains NaN: row 1 has no label\. bayeskit\.drop_unlabeled"):
        bayeskit.LeastSquares().fit([[0.0], [1.0]], [1.0, np.nan])


TABLES = {
    "array": COUNTS,
    "list": COUNTS.tolist(),
    "dict": {"a": COUNTS[:, 0].tolist(), "b": COUNTS[:, 1]},
    "pandas": pd.DataFrame(COUNTS, columns=["a", "b"], index=range(100, 100 + N)),
    "polars": pl.DataFrame(COUNTS, schema=["a", "b"]),
    "arrow": pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1]}),
    "sparse": sparse.coo_matrix(COUNTS),
}


@pytest.mark.parametrize("name", TABLES)
def test_dropping_keeps_the_rows_with_a_label_and_the_type_of_the_table(name):
    X, y, weight = bayeskit.drop_unlabeled(TABLES[name], GAPS, np.arange(N))
    kept = [i for i, label in enumerate(GAPS) if label is not None]
    assert y == [LABELS[i] for i in kept]
    assert_array_equal(weight, kept)
    assert name == "sparse" or type(X) is type(TABLES[name])
    one, all_rows = bayeskit.NaiveBayes().fit(X, y), bayeskit.NaiveBayes().fit(COUNTS[kept], y)
    assert_array_equal(one.predict_proba(X), all_rows.predict_proba(COUNTS[kept]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_table_that_holds_its_labels_is_dropped_by_the_name_of_their_column(frame):
    table = bayeskit.drop_unlabeled(frame({"a": COUNTS[:, 0], "play": GAPS}), target="play")
    assert type(table) is (pa.Table if frame is pa.table else frame)
    assert bayeskit.NaiveBayes().fit(table, target="play").class_count_.sum() == N - 6
    rows = bayeskit.drop_unlabeled([{"a": 1, "play": None}, {"a": 2, "play": "no"}], target="play")
    assert rows == [{"a": 2, "play": "no"}]


def test_labels_that_come_twice_never_or_under_another_name_are_refused():
    with pytest.raises(TableError, match="takes the labels once"):
        bayeskit.drop_unlabeled({"a": [1]}, [1], target="a")
    with pytest.raises(TableError, match="takes the labels once"):
        bayeskit.drop_unlabeled({"a": [1]})
    with pytest.raises(TableError, match="there is no column 'play'; did you mean 'plays'"):
        bayeskit.drop_unlabeled({"plays": ["x"]}, target="play")


def test_many_different_numbers_as_labels_look_like_a_number_to_predict():
    with pytest.raises(TableError, match=r"holds numbers such as 0\.25\. It looks like a number .* LeastSquares"):
        bayeskit.NaiveBayes().fit(COUNTS, [0.25, *range(N - 1)])
    with pytest.warns(bayeskit.errors.BayeskitWarning, match="40 different numbers in 40 rows. It looks like a number"):
        bayeskit.NaiveBayes().fit({"a": [0, 1] * 20}, np.arange(40))
