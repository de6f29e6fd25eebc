import json
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
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bayeskit import BayesDecision, NaiveBayes, datasets, load, mean_loss
from bayeskit.cli.app import run
from bayeskit.decide.regions import Region
from bayeskit.errors import BayeskitError, BayeskitWarning, ModelFileError
from bayeskit.workflow.trained import TrainedModel

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
    assert_allclose(model.expected_loss(X), model.risk(X).min(axis=1), rtol=1e-12, atol=1e-300)


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
    p_no = NaiveBayes().fit(frame, target="play").predict_proba(frame)[:, 0]
    assert_array_equal(model.predict(frame.drop(columns="play")), np.where(p_no > 0.1, "no", "yes"))  # 9 : 1
    assert 0 < (p_no > 0.1).sum() < 14


def test_batches_give_what_one_fit_gives():
    whole = BayesDecision(NaiveBayes(), loss=COSTLY_MISS).fit(X, Y)
    parts = BayesDecision(NaiveBayes(), loss=COSTLY_MISS)
    parts.partial_fit(X[:300], Y[:300], classes=[0, 1]).partial_fit(X[300:], Y[300:])
    assert_allclose(parts.risk(X), whole.risk(X), rtol=1e-10, atol=1e-14)
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
        expected = []
        for train, test in StratifiedKFold(3).split(X, Y):
            fitted = clone(model).fit(X[train], Y[train])
            actions = fitted.actions_.tolist()
            taken = [actions.index(action) for action in fitted.decide(X[test])]
            costs = fitted.loss_.matrix[Y[test], taken]
            expected.append(-np.average(costs, weights=weight[test]))
    assert_allclose(scores, expected, rtol=1e-12)
    assert len(set(expected)) > 1


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
        ({0: {0: 0}, 2: {0: 0}}, "names 2, which is not a class and lacks 1"),
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


def test_a_new_class_in_a_later_batch_must_be_named_by_the_loss():
    model = BayesDecision(NaiveBayes(), loss={"a": {"x": 0, "y": 1}, "b": {"x": 5, "y": 0}})
    model.partial_fit({"f": ["u", "v"]}, ["a", "b"])
    before = model.decide({"f": ["u", "v"]}).tolist()
    with pytest.raises(BayeskitError, match="'c'"):
        model.partial_fit({"f": ["u"]}, ["c"])
    assert model.decide({"f": ["u", "v"]}).tolist() == before  # the batch is not half in
    plain = (
        BayesDecision(NaiveBayes()).partial_fit({"f": ["u", "v"]}, ["a", "b"]).partial_fit({"f": ["w"] * 9}, ["c"] * 9)
    )
    assert plain.decide({"f": ["w"]}).tolist() == ["c"]
    assert plain.risk({"f": ["w"]}).shape == (1, 3)


THREE = {
    "a": {"a": 0, "b": 1, "c": 9},
    "b": {"a": 1, "b": 0, "c": 9},
    "c": {"a": 50, "b": 40, "c": 0},
}
ROWS, LABELS = {"f": ["u", "u", "v", "v"]}, ["a", "a", "b", "a"]


def test_a_loss_may_name_a_class_that_a_fold_lacks():
    model = BayesDecision(NaiveBayes(), loss=THREE).fit(ROWS, LABELS)
    assert list(model.classes_) == ["a", "b"]
    assert list(model.actions_) == ["a", "b", "c"]
    # The risk of each action is the posterior times the rows of "a" and "b".
    expected = model.predict_proba(ROWS) @ np.array([[0, 1, 9], [1, 0, 9]])
    assert_allclose(model.risk(ROWS), expected, rtol=0, atol=1e-15)
    assert set(model.predict(ROWS)) <= {"a", "b"}
    # Truths that the model never saw cost what the loss says.
    assert mean_loss(model, {"f": ["u"]}, ["c"]) == -50
    assert mean_loss(model, {"f": ["u", "u"]}, ["c", "a"]) == -25


def test_without_a_loss_a_truth_that_the_fold_lacks_is_an_error_whatever_is_decided():
    model = BayesDecision(NaiveBayes(), reject=0.4).fit(ROWS, LABELS)
    assert model.decide({"f": ["u", "v"]}).tolist() == ["a", "reject"]
    assert_allclose(mean_loss(model, {"f": ["u", "v"]}, ["c", "c"]), -(1 + 0.4) / 2, rtol=1e-15)


def test_cross_validation_goes_through_folds_that_lack_a_class():
    y = np.array(["a", "b"] * 10 + ["c"])
    x = pd.DataFrame({"f": ["u", "v"] * 10 + ["w"]})
    folds = [(np.arange(20), np.array([20])), (np.arange(1, 21), np.array([0]))]
    scores = cross_val_score(BayesDecision(NaiveBayes(), loss=THREE), x, y, cv=folds, scoring=mean_loss)
    assert scores[0] in (-50, -40)
    assert scores[1] in (0, -1, -9)


def test_a_class_that_only_the_loss_names_may_be_the_action_of_least_risk_but_is_never_predicted():
    loss = {"a": {"a": 5, "b": 5, "c": 0}, "b": {"a": 5, "b": 4, "c": 0}, "c": {"a": 1, "b": 1, "c": 0}}
    model = BayesDecision(NaiveBayes(), loss=loss).fit(ROWS, LABELS)
    assert set(model.decide(ROWS)) == {"c"}
    assert set(model.predict(ROWS)) == {"b"}


def test_a_frozen_model_keeps_its_classes_whatever_classes_the_rows_have():
    fitted = NaiveBayes().fit(ROWS, LABELS)
    with pytest.warns(BayeskitWarning, match="y holds the class 'c', which the frozen estimator was not fitted on"):
        model = BayesDecision(FrozenEstimator(fitted), loss=THREE).fit(ROWS, ["a", "c", "c", "a"])
    assert list(model.classes_) == ["a", "b"]
    assert_allclose(model.risk(ROWS), fitted.predict_proba(ROWS) @ np.array([[0, 1, 9], [1, 0, 9]]), atol=1e-15)
    # A matrix stands in the order of the frozen model's classes, though these rows have one class only.
    matrix = BayesDecision(FrozenEstimator(fitted), loss=[[0, 1], [7, 0]]).fit(ROWS, ["a"] * 4)
    assert matrix.loss_.classes == ("a", "b")


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize(
    ("loss", "reject"),
    [(None, None), (None, 0.2), (THREE, {"ask": 0.3}), ([[0, 1, 0.5], [7, 0, 0.5]], None), ([[0, 1], [7, 0]], None)],
)
def test_a_decision_comes_back_from_its_file(tmp_path, loss, reject, frozen):
    estimator = FrozenEstimator(NaiveBayes().fit(ROWS, LABELS)) if frozen else NaiveBayes(smoothing=2.0)
    model = BayesDecision(estimator, loss=loss, reject=reject).fit(ROWS, LABELS)
    model.save(tmp_path / "m.bayes")
    again = load(tmp_path / "m.bayes")
    assert type(again) is BayesDecision
    assert again.loss_.classes == model.loss_.classes
    assert again.loss_.absent == model.loss_.absent
    assert again.loss_.reject == model.loss_.reject
    assert again.regions_ == model.regions_
    assert_array_equal(again.actions_, model.actions_)
    assert_array_equal(again.risk(ROWS), model.risk(ROWS))
    assert_array_equal(again.decide(ROWS), model.decide(ROWS))
    assert_array_equal(again.predict(ROWS), model.predict(ROWS))
    assert isinstance(again.estimator_, FrozenEstimator) == frozen
    refitted = clone(again).fit(ROWS, LABELS)
    assert_array_equal(refitted.risk(ROWS), model.risk(ROWS))


def test_a_decision_over_a_strange_classifier_has_no_file(tmp_path):
    model = BayesDecision(GaussianNB()).fit(X, Y)
    with pytest.raises(ModelFileError, match="GaussianNB, which cannot be saved in a model file"):
        model.save(tmp_path / "m.bayes")
    with pytest.raises(NotFittedError):
        BayesDecision(NaiveBayes()).save(tmp_path / "m.bayes")
    assert not (tmp_path / "m.bayes").exists()


def test_what_needs_a_classifier_alone_refuses_the_file_of_a_decision_in_words(tmp_path):
    BayesDecision(NaiveBayes()).fit(ROWS, LABELS).save(tmp_path / "m.bayes")
    with pytest.raises(ModelFileError, match="holds a BayesDecision"):
        TrainedModel.load(tmp_path / "m.bayes")


def test_the_command_shows_a_decision_with_its_loss(tmp_path, capsys):
    BayesDecision(NaiveBayes(), loss=THREE).fit(ROWS, LABELS).save(tmp_path / "m.bayes")
    assert run(["show", "--json", str(tmp_path / "m.bayes")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["loss"] == {"a": THREE["a"], "b": THREE["b"]}
    assert told["estimator"]["model"] == "NaiveBayes"
