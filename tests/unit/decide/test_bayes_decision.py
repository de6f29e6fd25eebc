import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayeskit import BayesDecision, NaiveBayes, datasets, mean_loss
from bayeskit.decide.regions import Region
from bayeskit.errors import BayeskitError, BayeskitWarning

X, Y = load_breast_cancer(return_X_y=True)  # 0 malignant, 1 benign
COSTLY_MISS = {0: {0: 0, 1: 20}, 1: {0: 1, 1: 0}}


def test_without_a_loss_it_predicts_as_the_classifier_does():
    plain = GaussianNB().fit(X, Y)
    wrapped = BayesDecision(GaussianNB()).fit(X, Y)
    assert_array_equal(wrapped.predict(X), plain.predict(X))
    assert_array_equal(wrapped.decide(X), plain.predict(X))
    assert_array_equal(wrapped.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(wrapped.predict_log_proba(X), plain.predict_log_proba(X))


def test_a_costly_miss_lowers_misses_and_realised_loss():
    plain = BayesDecision(NaiveBayes()).fit(X[::2], Y[::2])
    careful = BayesDecision(NaiveBayes(), loss=COSTLY_MISS).fit(X[::2], Y[::2])
    missed = [np.sum((Y[1::2] == 0) & (model.predict(X[1::2]) == 1)) for model in (plain, careful)]
    assert missed[1] < missed[0]
    scorer = mean_loss.using(COSTLY_MISS)
    assert scorer(careful, X[1::2], Y[1::2]) >= -20 * np.mean((Y[1::2] == 0) & (plain.predict(X[1::2]) == 1))


def test_risk_and_expected_loss_are_those_of_the_posterior():
    model = BayesDecision(GaussianNB(), loss=[[0, 20], [1, 0]]).fit(X, Y)
    posterior = model.predict_proba(X)
    assert_allclose(model.risk(X), posterior @ [[0, 20], [1, 0]], rtol=1e-12)
    assert_allclose(model.expected_loss(X), model.risk(X).min(axis=1), rtol=1e-9, atol=1e-300)


def test_decide_gives_actions_and_predict_gives_classes():
    loss = {"setosa": {"keep": 0, "throw away": 5}, "versicolor": {"keep": 1, "throw away": 0}}
    table, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor"])[y[y < 2]]
    model = BayesDecision(GaussianNB(), loss=loss).fit(table[y < 2], names)
    assert set(model.decide(table[y < 2])) == {"keep", "throw away"}
    assert_array_equal(model.predict(table[y < 2]), names)
    assert model.regions_ == (Region("keep", 0.0, 5 / 6), Region("throw away", 5 / 6, 1.0))


def test_a_reject_is_decided_but_never_predicted():
    model = BayesDecision(LogisticRegression(C=1e-3, max_iter=5000), reject={"ask a human": 0.1}).fit(X, Y)
    decided = model.decide(X)
    assert decided.dtype == object
    unsure = model.predict_proba(X).max(axis=1) < 0.9
    assert unsure.any()
    assert_array_equal(decided == "ask a human", unsure)
    assert_array_equal(decided[~unsure].astype(int), model.predict(X)[~unsure])
    assert set(model.predict(X)) == {0, 1}


def test_decide_takes_a_loss_for_each_row():
    model = BayesDecision(GaussianNB()).fit(X, Y)
    always_first = np.zeros((len(X), 2, 3))
    always_first[:, :, 1:] = 1.0
    assert_array_equal(model.decide(X, loss=always_first), np.zeros(len(X)))
    assert model.risk(X, loss=always_first).shape == (len(X), 3)
    assert_array_equal(model.expected_loss(X, loss=always_first), np.zeros(len(X)))


def test_the_equivalent_threshold_is_shown():
    model = BayesDecision(GaussianNB(), loss=[[0, 1], [3, 0]]).fit(X, Y)
    text = model.summary()
    assert "truth 1: 0 3, 1 0" in text
    assert "0 for P(1) from 0 to 0.25" in text
    assert "1 for P(1) from 0.25 to 1" in text


def test_frames_of_strings_go_through_to_our_models():
    frame = pd.DataFrame(datasets.load_tennis())
    model = BayesDecision(NaiveBayes(), loss={"no": {"no": 0, "yes": 9}, "yes": {"no": 1, "yes": 0}})
    model.fit(frame.drop(columns="play"), frame["play"])
    assert list(model.feature_names_in_) == ["outlook", "temperature", "humidity", "wind"]
    assert (model.predict(frame.drop(columns="play")) == "no").sum() > (frame["play"] == "no").sum()


def test_batches_give_what_one_fit_gives():
    whole = BayesDecision(NaiveBayes(), loss=COSTLY_MISS).fit(X, Y)
    parts = BayesDecision(NaiveBayes(), loss=COSTLY_MISS)
    parts.partial_fit(X[:300], Y[:300], classes=[0, 1]).partial_fit(X[300:], Y[300:])
    assert_allclose(parts.risk(X), whole.risk(X), rtol=1e-6, atol=1e-12)
    assert not hasattr(BayesDecision(LogisticRegression()), "partial_fit")


def test_a_fitted_classifier_is_kept_when_it_is_frozen():
    fitted = GaussianNB().fit(X, Y)
    model = BayesDecision(FrozenEstimator(fitted), loss=COSTLY_MISS).fit(X, Y)
    assert model.estimator_.estimator is fitted


def test_pickle_and_clone_keep_the_decisions():
    model = BayesDecision(GaussianNB(), loss=COSTLY_MISS, reject=0.3).fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decide(X), model.decide(X))
    assert clone(model).get_params()["loss"] == COSTLY_MISS


def test_grid_search_by_mean_loss_finds_the_smallest_loss():
    grid = GridSearchCV(
        BayesDecision(NaiveBayes(numeric="equal-frequency"), loss=COSTLY_MISS),
        {"estimator__bins": [2, 8]},
        scoring=mean_loss,
        cv=3,
    ).fit(X, Y)
    by_hand = [
        cross_val_score(
            BayesDecision(NaiveBayes(numeric="equal-frequency", bins=bins), loss=COSTLY_MISS),
            X,
            Y,
            scoring=mean_loss,
            cv=3,
        ).mean()
        for bins in (2, 8)
    ]
    assert_allclose(grid.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    assert grid.best_params_["estimator__bins"] == (2, 8)[int(np.argmax(by_hand))]


def test_weights_reach_the_classifier_with_and_without_routing():
    weight = np.where(Y == 0, 5.0, 1.0)
    expected = GaussianNB().fit(X, Y, sample_weight=weight).predict_proba(X)
    assert_array_equal(BayesDecision(GaussianNB()).fit(X, Y, sample_weight=weight).predict_proba(X), expected)
    with config_context(enable_metadata_routing=True):
        routed = BayesDecision(GaussianNB().set_fit_request(sample_weight=True)).fit(X, Y, sample_weight=weight)
        assert_array_equal(routed.predict_proba(X), expected)
        ignored = BayesDecision(GaussianNB().set_fit_request(sample_weight=False)).fit(X, Y)
        assert not np.array_equal(ignored.predict_proba(X), expected)


def test_weights_reach_the_scorer_by_routing():
    weight = np.where(Y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = BayesDecision(GaussianNB().set_fit_request(sample_weight=False), loss=COSTLY_MISS)
        scores = cross_val_score(
            model, X, Y, scoring=mean_loss.set_score_request(sample_weight=True), cv=3, params={"sample_weight": weight}
        )
        plain = cross_val_score(model, X, Y, scoring=mean_loss, cv=3)
    assert (scores < plain).all()  # misses are in the class that weighs more


def test_weights_reach_its_own_score_by_routing():
    weight = np.where(Y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=False)
        model = BayesDecision(inner).set_score_request(sample_weight=True)
        scores = cross_val_score(model, X, Y, cv=3, params={"sample_weight": weight})
        plain = cross_val_score(BayesDecision(inner), X, Y, cv=3)
    assert not np.allclose(scores, plain)


def test_a_class_without_weight_is_no_class_for_our_models():
    weight = (Y == 1).astype(float)
    model = BayesDecision(NaiveBayes()).fit(X, Y, sample_weight=weight)
    assert list(model.classes_) == [1]
    assert set(model.predict(X)) == {1}


@pytest.mark.parametrize("estimator", [LinearSVC(), Ridge(), "naive"])
def test_what_gives_no_probabilities_is_refused(estimator):
    with pytest.raises(BayeskitError, match="needs a classifier with predict_proba"):
        BayesDecision(estimator).fit(X, Y)


class NeverFit(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fit was called before the loss was checked")


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ({0: {0: 0, 1: 1}}, "lacks 1"),
        ({0: {0: 0}, 1: {0: 0}, 2: {0: 0}}, "names 2, which is no class"),
        ([[0, 1]], "one row per class"),
        ([[0, np.nan], [1, 0]], "must be a finite number"),
        (np.zeros((len(X), 2, 2)), "belongs to rows, not to the model"),
    ],
)
def test_a_bad_loss_is_refused_before_the_classifier_works(loss, message):
    with pytest.raises(BayeskitError, match=message):
        BayesDecision(NeverFit(), loss=loss).fit(X, Y)


def test_a_reject_without_meaning_is_said():
    with pytest.warns(BayeskitWarning, match="no row will ever be rejected"):
        BayesDecision(GaussianNB(), reject=0.7).fit(X, Y)
    with pytest.warns(BayeskitWarning, match="every row will be rejected"):
        model = BayesDecision(GaussianNB(), reject=-1).fit(X, Y)
    assert set(model.decide(X)) == {"reject"}


def test_before_fit_nothing_can_be_decided():
    with pytest.raises(NotFittedError):
        BayesDecision(GaussianNB()).decide(X)
