"""MultinomialNB, BernoulliNB and ComplementNB: what scikit-learn's own tests do not ask."""

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bayeskit
from bayeskit import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, MergeError, TableError

MODELS = [MultinomialNB, BernoulliNB, ComplementNB]
X = np.array([[2, 0, 1], [0, 3, 0], [1, 0, 0], [0, 1, 4]])
Y = np.array(["a", "b", "a", "b"])


@pytest.mark.parametrize("model", MODELS)
def test_save_merge_and_unlearn(model, tmp_path):
    whole = model().fit(X, Y)
    whole.save(tmp_path / "model.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "model.bayes").predict_log_proba(X), whole.predict_log_proba(X))
    merged = model().fit(X[:2], Y[:2]).merge(model().fit(X[2:], Y[2:]))
    assert_array_equal(merged.feature_count_, whole.feature_count_)
    assert merged.feature_count_.dtype == np.int64
    with pytest.raises(MergeError, match="would become negative"):
        whole.unlearn([[0, 0, 1], [0, 0, 1]], ["a", "a"])
    with pytest.raises(MergeError, match="counts of 3 features do not fit counts of 2 features"):
        model().fit(X, Y).merge(model().fit(X[:, :2], Y))


@pytest.mark.parametrize("model", MODELS)
def test_a_pseudo_count_for_each_feature(model):
    alpha = [0.5, 1.0, 2.0]
    found = model(alpha=alpha).fit(X, Y).feature_log_prob_
    if model is BernoulliNB:  # scikit-learn cannot add one number per feature to one per class
        assert_allclose(np.exp(found[0]), (np.array([2, 0, 1]) + alpha) / (2 + 2 * np.array(alpha)), rtol=1e-12)
    else:
        peer = getattr(theirs, model.__name__)(alpha=alpha).fit(X, Y)
        assert_allclose(found, peer.feature_log_prob_, rtol=1e-12)
    with pytest.raises(ValueError, match="Got 2 elements instead of 3"):
        model(alpha=[1.0, 2.0]).fit(X, Y)
    with pytest.raises(BayeskitError, match="The 'alpha' parameter"):
        model(alpha=-1).fit(X, Y)


@pytest.mark.parametrize("model", MODELS)
def test_explanations_sum_to_the_log_odds(model):
    pd = pytest.importorskip("pandas", reason="a row with names")
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    fitted = model().fit(frame, Y)
    for row in (frame.iloc[[1]], {"x": 0, "y": 3, "z": 0}):
        found = fitted.explain(row, classes=("a", "b"))
        log_proba = fitted.predict_log_proba(frame.iloc[[1]])[0]
        assert_allclose(found.log_odds, log_proba[0] - log_proba[1], rtol=1e-9)
    assert fitted.explain({"x": 1}, classes=("a", "b")).used.tolist() == [True, False, False]


@pytest.mark.parametrize("model", MODELS)
def test_a_table_with_its_target(model):
    table = {"x": [2, 0, 1, 0], "y": [0, 3, 0, 1], "z": [1, 0, 0, 4], "c": Y.tolist()}
    assert_array_equal(model().fit(table, target="c").feature_count_, model().fit(X, Y).feature_count_)


@pytest.mark.parametrize("model", MODELS)
def test_a_pseudo_count_whose_sum_would_overflow_is_refused(model):
    with pytest.raises(BayeskitError, match=r"'alpha' parameter of \w+ must be a finite number from 0 to 1e\+100"):
        model(alpha=1e308).fit(X, Y)
    assert_allclose(model(alpha=1e100).fit(X, Y).predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


def test_without_alpha_what_was_never_seen_is_impossible():
    model = MultinomialNB(alpha=0).fit(X, Y)
    assert_array_equal(model.predict([[1, 0, 0], [0, 1, 0]]), ["a", "b"])
    for form in (np.array, sparse.csr_array):
        with pytest.raises(ImpossibleEvidenceError, match="row 0: x has probability 0 under every class"):
            model.predict(form([[1, 1, 0]]))
    certain = BernoulliNB(alpha=0).fit(X, Y)  # in every row of a the first feature is there
    assert_array_equal(certain.predict_proba([[1, 0, 0]]), [[1.0, 0.0]])


def test_binarize_none_takes_zeros_and_ones_only():
    assert_array_equal(BernoulliNB(binarize=None).fit(X > 0, Y).feature_count_, BernoulliNB().fit(X, Y).feature_count_)
    with pytest.raises(TableError, match="with binarize=None the matrix must hold 0 and 1 only"):
        BernoulliNB(binarize=None).fit(X, Y)


def test_a_probability_near_one_keeps_its_digits():
    # 1 − p from the counts: scikit-learn's log(1 − exp(log p)) loses half of them here.
    model = BernoulliNB(alpha=1e-12).fit([[1]] * 1000 + [[0]], ["a"] * 1000 + ["b"])
    assert_allclose(model.predict_log_proba([[0]])[0, 0], np.log(1e-12 / 1000 * 1000 / 1.0), rtol=1e-9)


def test_counts_of_columns_with_other_names_do_not_add():
    one = MultinomialNB().fit({"a": [1, 2], "b": [0, 3]}, [0, 1]).counts_
    other = MultinomialNB().fit({"a": [1, 2], "c": [0, 3]}, [0, 1]).counts_
    with pytest.raises(MergeError, match="column 'b' on one side is column 'c' on the other"):
        one + other
    assert (one + one).n_class.tolist() == [2, 2]


@pytest.mark.parametrize("model", [GaussianNB(), BernoulliNB(), MultinomialNB(), ComplementNB()], ids=repr)
def test_other_classes_in_a_later_call_are_refused_as_scikit_learn_does(model):
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), [0, 1]
    model.partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    with pytest.raises(BayeskitError, match="is not the same as on the last call to partial_fit"):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.class_count_.tolist() == [3, 3, 0]
