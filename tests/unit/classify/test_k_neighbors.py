"""Neighbours are the nearest rows by HEOM."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from bayeskit import KNeighbors, NaiveBayes, datasets
from bayeskit.errors import BayeskitError, BayeskitWarning, ImpossibleEvidenceError

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


def shared_votes(X, y, asked, k, weights, n_classes):
    """Rows closer than the k-th have one vote each; those as far as it share the votes that are left."""
    result = np.zeros((len(asked), n_classes))
    for i, row in enumerate(asked):
        d = [round(float(np.sum((row - other) ** 2)), 13) for other in X]
        reach = sorted(d)[k - 1]
        closer = sum(each < reach for each in d)
        for each, c in zip(d, y, strict=True):
            vote = 1.0 if each < reach else (k - closer) / d.count(reach) if each == reach else 0.0
            if weights == "distance" and vote:
                vote = vote * (each == 0) if 0 in d else vote / np.sqrt(each)
            result[i, c] += vote
    return result / result.sum(axis=1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=40),
    st.integers(1, 6),
    st.sampled_from(["uniform", "distance"]),
    st.randoms(use_true_random=False),
)
def test_equally_far_rows_share_their_votes_whatever_their_order(rows, k, weights, random):
    assume(len({row[2] for row in rows}) == 3)
    for j in (0, 1):
        assume({0, 3} <= {row[j] for row in rows})
    X, y = np.array([row[:2] for row in rows], dtype=float) / 3.0, np.array([row[2] for row in rows])
    k = min(k, len(X) - 1)
    model = KNeighbors(k, weights=weights).fit(X, y)
    asked = np.array([[a, b] for a in (0.0, 1 / 3, 0.5, 1.0) for b in (0.0, 2 / 3)])
    assert_allclose(model.predict_proba(asked), shared_votes(X, y, asked, k, weights, 3), rtol=1e-9, atol=1e-12)
    order = list(range(len(X)))
    random.shuffle(order)
    other = KNeighbors(k, weights=weights).fit(X[order], y[order])
    assert_array_equal(model.predict_proba(asked), other.predict_proba(asked))
    left_out = np.exp(model.leave_one_out().log_posterior)
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        expected = shared_votes(X[rest], y[rest], X[i : i + 1], k, weights, 3)
        assert_allclose(left_out[i], expected[0], rtol=1e-9, atol=1e-12)


def test_many_equal_rows_share_one_vote_too():
    # One binary column: whoever asks finds hundreds of rows at distance 0, in the proportion of P(c | x).
    x, y = np.repeat([0, 0, 1, 1], [70, 30, 30, 70]), np.repeat([0, 1, 0, 1], [70, 30, 30, 70])
    for k in (1, 5):
        model = KNeighbors(k, kinds="categorical").fit(x[:, None], y)
        assert_allclose(model.predict_proba([[0], [1]]), [[0.7, 0.3], [0.3, 0.7]], rtol=1e-12)


def test_bad_input_is_refused_by_name():
    X = [[0.0], [1.0]]
    with pytest.raises(BayeskitError, match="n_neighbors"):
        KNeighbors(0).fit(X, [0, 1])
    with pytest.raises(BayeskitError, match="has no other row"):
        KNeighbors().fit([[1.0]], [0]).kneighbors()


def test_a_column_without_any_value_is_named():
    with pytest.warns(BayeskitWarning, match="column 'b' has no value in any row"):
        KNeighbors(1).fit({"a": [0.0, 1.0], "b": [np.nan, np.nan]}, ["x", "y"])


def test_odds_of_nothing_are_refused_with_what_the_model_has():
    tennis = datasets.load_tennis()
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "weak"}
    with pytest.raises(ImpossibleEvidenceError, match="raise n_neighbors of the model"):
        KNeighbors(1).fit(tennis, target="play").explain(day)
    table = {"a": list("xyzz"), "y": list("nmkk")}
    with pytest.raises(ImpossibleEvidenceError, match="pass smoothing > 0 to the model, or other classes"):
        NaiveBayes(smoothing=0).fit(table, target="y").explain({"a": "z"}, classes=("n", "m"))
