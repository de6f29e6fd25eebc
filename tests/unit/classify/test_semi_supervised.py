"""Rows without labels take part by EM: against a plain twin, and on texts as in Nigam et al. (2000)."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import NaiveBayes, SemiSupervised, TextClassifier
from bayeskit.errors import BayeskitError, TableError


def table(n=200, seed=0, labelled=20):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    X = (rng.random((n, 4)) < np.where(z[:, None] == 0, 0.25, 0.8)).astype(int)
    y = np.array(["ill" if c else "well" for c in z], dtype=object)
    given_labels = y.copy()
    given_labels[labelled:] = None
    return X, y, given_labels


def twin(X, y, weight, steps, smoothing=1.0):
    """Nigam's EM for 0-1 columns in plain loops over classes: P(c), and P(x_j = 1 | c)."""
    classes = sorted({label for label in y if label is not None})
    known = np.array([label is not None for label in y])
    share = np.array([[float(label == c) for c in classes] if label is not None else [0.0, 0.0] for label in y])
    for step in range(steps + 1):
        row = np.where(known, 1.0, weight)[:, None] * share
        n = row.sum(axis=0)
        prior = (n + smoothing) / (n.sum() + 2 * smoothing)
        one = (row.T @ X + smoothing) / (n[:, None] + 2 * smoothing)  # (classes, columns)
        log = np.log(prior) + X @ np.log(one).T + (1 - X) @ np.log(1 - one).T
        posterior = np.exp(log - log.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        share = np.where(known[:, None], share, posterior)
        if step == steps:
            return prior, one, posterior


@pytest.mark.parametrize("weight", [1.0, 0.3])
@pytest.mark.parametrize("steps", [1, 4])
def test_each_step_is_that_of_the_twin(weight, steps):
    X, _, y = table()
    model = SemiSupervised(NaiveBayes(kinds="categorical"), weight=weight, max_iter=steps, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few steps are not enough
        model.fit(X, y)
    _, _, posterior = twin(X, y, weight, steps + 1)
    assert_allclose(model.predict_proba(X), posterior, rtol=1e-10)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 1.0]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_no_step_lowers_the_objective(seed, weight, numeric):
    X, _, y = table(60, seed, 30)
    assume(len(set(y[:30])) > 1)
    X = X + np.random.default_rng(seed).normal(size=X.shape) if numeric else X
    model = SemiSupervised(NaiveBayes(kinds=None if numeric else "categorical"), weight=weight, max_iter=30, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = np.array(model.fit(X, y).history_.objective)
    assert (np.diff(path) >= -1e-9 * np.abs(path).max()).all()


def test_labels_for_all_rows_or_no_weight_for_the_others_is_a_plain_fit():
    X, y, some = table()
    plain = NaiveBayes(kinds="categorical")
    full = SemiSupervised(NaiveBayes(kinds="categorical")).fit(X, y)
    assert_array_equal(full.predict_proba(X), plain.fit(X, y).predict_proba(X))
    alone = SemiSupervised(NaiveBayes(kinds="categorical"), weight=0).fit(X, some)
    assert_array_equal(alone.predict_proba(X), plain.fit(X[:20], y[:20]).predict_proba(X))


def test_rows_without_labels_lower_the_error():
    error_with, error_without = [], []
    for seed in range(10):
        X, y, some = table(600, seed, 6)
        if len(set(some[:6])) < 2:
            continue
        model = SemiSupervised(NaiveBayes(kinds="categorical")).fit(X, some)
        error_with.append((model.transduction_[6:] != y[6:]).mean())
        plain = NaiveBayes(kinds="categorical").fit(X[:6], y[:6])
        error_without.append((plain.predict(X[6:]) != y[6:]).mean())
    assert np.mean(error_with) < np.mean(error_without) - 0.02


def test_texts_without_labels_teach_words():
    texts = ["ball goal team", "vote law party", "goal team match", "law party court", "match referee", "court judge"]
    labels = ["sport", "politics", None, None, None, None]
    model = SemiSupervised(TextClassifier()).fit(texts, labels)
    assert model.transduction_.tolist() == ["sport", "politics"] * 3
    assert model.predict(["the referee", "a judge"]).tolist() == ["sport", "politics"]
    plain = TextClassifier().fit(texts[:2], labels[:2])
    assert_allclose(plain.predict_proba(["referee"]), [[0.5, 0.5]])  # a word that no label knew
    assert (np.diff(model.history_.objective) >= -1e-9).all()


def test_frames_nan_and_target():
    pd = pytest.importorskip("pandas", reason="frames come from pandas")
    X, _, some = table()
    frame = pd.DataFrame(X, columns=list("abcd")).astype(str)
    by_y = SemiSupervised(NaiveBayes()).fit(frame, pd.Series(some))
    by_target = SemiSupervised(NaiveBayes()).fit(frame.assign(state=some), target="state")
    assert_array_equal(by_y.predict_proba(frame), by_target.predict_proba(frame))
    numbers = np.where(some == "ill", 1.0, 0.0)
    numbers[20:] = np.nan
    assert SemiSupervised(NaiveBayes()).fit(frame, numbers).classes_.tolist() == [0.0, 1.0]


def test_the_fitted_classifier_can_be_saved(tmp_path):
    import bayeskit

    X, _, some = table()
    model = SemiSupervised(NaiveBayes(kinds="categorical")).fit(X, some)
    model.estimator_.save(tmp_path / "m.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "m.bayes").predict_proba(X), model.predict_proba(X))


def test_what_cannot_be_is_refused():
    X, _, some = table()
    with pytest.raises(TableError, match="no row has a label"):
        SemiSupervised(NaiveBayes()).fit(X, [None] * 200)
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(BayeskitError, match="takes a classifier of bayeskit that learns from counts"):
        SemiSupervised(LogisticRegression()).fit(X, some)
    with pytest.raises(BayeskitError, match="The 'weight' parameter"):
        SemiSupervised(NaiveBayes(), weight=-1).fit(X, some)
    with pytest.raises(TableError, match="inconsistent numbers of samples"):
        SemiSupervised(NaiveBayes()).fit(X, some[:5])
