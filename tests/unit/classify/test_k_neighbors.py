"""Neighbours are the nearest rows by HEOM; bounds of the Bayes error are Cover and Hart's."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from bayeskit import KNeighbors, bayes_error
from bayeskit.errors import BayeskitError, BayeskitWarning

cells = st.tuples(
    st.sampled_from(["a", "b", "c", None]), st.one_of(st.none(), st.integers(-5, 5)), st.sampled_from(["x", "y"])
)


def heom(a, b, spans):
    """The distance of two rows, cell by cell."""
    total = 0.0
    for left, right, span in zip(a, b, spans, strict=True):
        if left is None or right is None:
            total += 1.0
        elif span is None:
            total += float(left != right)
        else:
            total += (abs(left - right) / span) ** 2
    return np.sqrt(total)


@settings(max_examples=60, deadline=None)
@given(st.lists(cells, min_size=3, max_size=12), st.lists(cells, min_size=1, max_size=4))
def test_distances_are_those_of_each_pair_of_cells(rows, asked):
    assume(any(row[0] is not None for row in rows) and any(row[1] is not None for row in rows))
    known = [number for _, number, _ in rows if number is not None]
    spans = (None, (max(known) - min(known)) or 1.0)
    table = {"text": [row[0] for row in rows], "number": [row[1] for row in rows]}
    model = KNeighbors(len(rows)).fit(table, [row[2] for row in rows])
    question = {"text": [row[0] for row in asked], "number": [row[1] for row in asked]}
    values = {row[0] for row in rows}
    distance, place = model.kneighbors(question)
    for i, row in enumerate(asked):
        text = row[0] if row[0] in values else None  # what the fit did not have is unlike everything
        expected = [heom((text, row[1]), rows[j][:2], spans) for j in place[i]]
        assert_allclose(distance[i], expected, atol=1e-6)
        assert sorted(place[i]) == list(range(len(rows)))
        assert (np.diff(distance[i]) >= -1e-12).all()


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_numbers_of_one_range_are_answered_as_scikit_learn_does(weights):
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    X[:2] = [[0, 0, 0], [1, 1, 1]]  # ranges of 1
    y = np.where(X[:, 0] + 0.3 * rng.random(200) > 0.6, "b", "a")
    asked = rng.random((50, 3))
    mine = KNeighbors(7, weights=weights).fit(X, y)
    theirs = KNeighborsClassifier(7, weights=weights).fit(X, y)
    assert_allclose(mine.predict_proba(asked), theirs.predict_proba(asked), rtol=1e-12, atol=1e-15)
    assert_array_equal(mine.predict(asked), theirs.predict(asked))


def test_rows_of_the_fit_are_not_their_own_neighbours():
    X = np.array([[0.0], [0.1], [1.0]])
    assert KNeighbors(1).fit(X, [0, 0, 1]).kneighbors()[1].ravel().tolist() == [1, 0, 1]
    missing = np.vstack([X, [[np.nan]]])
    assert 3 not in KNeighbors(1).fit(missing, [0, 0, 1, 1]).kneighbors()[1].ravel()[3:]


def test_numbers_at_the_end_of_the_doubles_have_finite_distances():
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    distance, _ = KNeighbors(2).fit(X, [0, 1, 1]).kneighbors()
    assert np.isfinite(distance).all()


def test_the_bounds_are_those_of_cover_and_hart():
    # P(c | x) is .9 and .1 in each half: the Bayes error is .1, and the nearest neighbour errs 2 · .9 · .1 = .18.
    rng = np.random.default_rng(1)
    x = rng.random(20_000)
    y = (x > 0.5) ^ (rng.random(20_000) < 0.1)
    bounds = bayes_error(x[:, None], y.astype(int))
    four_errors = 4 * np.sqrt(0.18 * 0.82 / 20_000)
    assert abs(bounds.upper - 0.18) < 2 * four_errors  # the misses of neighbours go together, hence twice
    assert bounds.lower_interval[0] <= 0.1 <= bounds.upper_interval[1]
    assert abs(bounds.lower - 0.1) < four_errors
    assert "asymptotic" in str(bounds)


def test_bad_input_is_refused_by_name():
    X = [[0.0], [1.0]]
    with pytest.raises(BayeskitError, match="n_neighbors"):
        KNeighbors(0).fit(X, [0, 1])
    with pytest.raises(BayeskitError, match="all rows are of the class"):
        bayes_error(X, [1, 1])
    with pytest.raises(BayeskitError, match="confidence must be between 0 and 1"):
        bayes_error(X, [0, 1], confidence=2)
    with pytest.raises(BayeskitError, match="has no other row"):
        KNeighbors().fit([[1.0]], [0]).kneighbors()


def test_a_column_without_any_value_is_named():
    with pytest.warns(BayeskitWarning, match="column 'b' has no value in any row"):
        KNeighbors(1).fit({"a": [0.0, 1.0], "b": [np.nan, np.nan]}, ["x", "y"])
