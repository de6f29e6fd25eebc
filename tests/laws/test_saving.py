"""Save then load gives the same numbers to the last bit; pickle and joblib too."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit import CategoricalNB, GaussianNB, NaiveBayes
from laws.tables import KINDS, known_somewhere, tables


def by_file(model, folder):
    model.save(folder / "model.bayes")
    return bayeskit.load(folder / "model.bayes")


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, folder):
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def by_copy(model, folder):
    return copy.deepcopy(model)


WAYS = [by_file, by_pickle, by_joblib, by_copy]


def assert_same_bits(model, again, X):
    assert type(again) is type(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert again.schema_ == model.schema_
    assert_array_equal(again.classes_, model.classes_)
    assert again.classes_.dtype.kind == model.classes_.dtype.kind
    assert_array_equal(again.counts_.values.n_value, model.counts_.values.n_value, strict=True)
    assert_array_equal(again.counts_.moments.scatter, model.counts_.moments.scatter, strict=True)
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples", "predict"):
        assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("way", WAYS)
@given(data=tables(), weighted=st.booleans(), smoothing=st.sampled_from([0.1, 1.0]))
@settings(max_examples=25, deadline=None)
def test_a_model_comes_back_with_the_same_bits(way, data, weighted, smoothing, tmp_path_factory):
    table, y = data
    assume(known_somewhere(table))
    weight = np.arange(1, len(y) + 1) / 3 if weighted else None
    model = NaiveBayes(smoothing=smoothing, kinds=KINDS, unseen="smooth").fit(table, y, weight)
    again = way(model, tmp_path_factory.getbasetemp())
    assert again.get_params() == model.get_params()
    assert_same_bits(model, again, table)


MODELS = {
    "binned": NaiveBayes(numeric="equal-frequency", bins=3),
    "prior by class": NaiveBayes(prior={1: 0.2, 4: 0.8}, class_weight={4: 2.0}),
    "prior array": NaiveBayes(prior=np.array([0.3, 0.7])),
    "kinds by position": NaiveBayes(kinds={0: "categorical"}),
    "gaussian": GaussianNB(priors=[0.5, 0.5], var_smoothing=1e-3),
    "categorical": CategoricalNB(alpha=0.5, min_categories=[7, 8, 9]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_every_setting_survives(way, name, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (40, 3)).astype(float), rng.choice([1, 4], 40)
    model = MODELS[name].fit(X, y)
    assert_same_bits(model, way(model, tmp_path), X)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("labels", [["a", "b"], [True, False], [1.0, 2.5e300], [-5, 10**15], ["", "日本"]])
def test_labels_survive(way, labels, tmp_path):
    X = {"u": list("abab")}
    model = NaiveBayes().fit(X, [labels[0], labels[1], labels[0], labels[0]])
    assert_same_bits(model, way(model, tmp_path), X)


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_came_back_goes_on_learning(way, tmp_path):
    table, y = {"u": list("aab"), "h": [1.0, 2.0, 3.0]}, list("xyx")
    more, labels = {"u": list("cab"), "h": [5.0, 2.0, 0.5]}, list("zyx")
    model = NaiveBayes().partial_fit(table, y)
    again = way(model, tmp_path).partial_fit(more, labels)
    assert_same_bits(model.partial_fit(more, labels), again, table)


def test_a_parameter_set_after_the_fit_does_not_change_what_was_learned(tmp_path):
    X, y = {"u": list("aab")}, list("xyx")
    model = NaiveBayes(smoothing=1.0).fit(X, y).set_params(smoothing=5.0)
    again = by_file(model, tmp_path)
    assert again.smoothing == 5.0
    assert_same_bits(model, again, X)
