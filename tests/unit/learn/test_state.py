"""One state, swapped in one assignment: beliefs made late, threads, pickles, copies."""

import copy
import pickle
import threading

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bayeskit import AODE, KDB, TAN, CategoricalNB, GaussianNB, NaiveBayes
from bayeskit.datasets import load_tennis
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.learn.model import plain_class

TENNIS = load_tennis()
MODELS = {"NaiveBayes": NaiveBayes, "TAN": TAN, "AODE": AODE, "KDB": KDB}


@pytest.mark.parametrize("name", MODELS)
def test_beliefs_are_made_once_when_first_asked_for(name, monkeypatch):
    made = []
    believe = MODELS[name]._believe
    monkeypatch.setattr(
        plain_class(MODELS[name]), "_believe", lambda self, counts: made.append(1) or believe(self, counts)
    )
    model = MODELS[name]().fit(TENNIS, target="play")
    for _ in range(3):
        model.partial_fit(TENNIS, target="play")
    assert made == []
    model.predict(TENNIS)
    model.predict_proba(TENNIS)
    assert made == [1]


def test_a_snapshot_of_the_counts_stays_when_more_rows_come():
    model = TAN().fit(TENNIS, target="play")
    before = model.counts_
    cells = before.cells.copy()
    model.partial_fit(TENNIS, target="play")
    assert_array_equal(before.cells, cells)
    assert_array_equal(model.counts_.cells, 2 * cells)


def test_parameters_that_change_after_fit_wait_for_the_next_fit():
    prior = {"no": 0.5, "yes": 0.5}
    model = NaiveBayes(prior=prior, smoothing=1).fit(TENNIS, target="play")
    prior["no"] = 0.9
    model.set_params(smoothing=100)
    assert_array_equal(model.class_prior_, [0.5, 0.5])
    expected = NaiveBayes(prior={"no": 0.5, "yes": 0.5}, smoothing=1).fit(TENNIS, target="play")
    assert_array_equal(model.predict_proba(TENNIS), expected.predict_proba(TENNIS))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NaiveBayes(prior=[0.2, 0.3, 0.5]), "prior"),
        (NaiveBayes(class_weight={"maybe": 2}), "class_weight names the class 'maybe'"),
        (TAN(root="moon"), "root is 'moon'"),
        (GaussianNB(priors=[1.0]), "prior"),
        (CategoricalNB(class_prior=[0.2, 0.3, 0.5]), "prior"),
    ],
)
def test_parameters_that_do_not_fit_the_rows_are_refused_in_fit(model, message):
    numbers = {name: np.unique(column, return_inverse=True)[1] for name, column in TENNIS.items() if name != "play"}
    X = numbers if isinstance(model, GaussianNB | CategoricalNB) else {k: v for k, v in TENNIS.items() if k != "play"}
    with pytest.raises(BayeskitError, match=message):
        model.fit(X, TENNIS["play"])
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("asked", [False, True])
def test_a_model_survives_pickle_joblib_and_copies(name, asked, tmp_path):
    model = MODELS[name]().fit(TENNIS, target="play")
    if asked:
        model.predict(TENNIS)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        copy.deepcopy(model),
        copy.copy(model),
    ]
    for other in copies:
        assert_array_equal(other.predict_proba(TENNIS), model.predict_proba(TENNIS))
    assert not hasattr(clone(model), "classes_")


def answers_while_fitting(model, learn, n_times=400):
    """Predict in two threads while ``learn`` changes the model again and again; return the distinct answers."""
    seen, stop, errors = set(), threading.Event(), []

    def ask():
        while not stop.is_set():
            try:
                seen.add(model.predict_proba(TENNIS).tobytes())
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for k in range(n_times):
        learn(k)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    return seen


@pytest.mark.parametrize("name", MODELS)
def test_a_thread_that_predicts_while_another_fits_has_one_model_or_the_other(name):
    # The two tables differ in classes, levels and order of columns' values, so a mixture of both would show or fail.
    other = {**TENNIS, "play": ["maybe" if i % 3 == 0 else label for i, label in enumerate(TENNIS["play"])]}
    other["wind"] = ["gale" if i % 2 else wind for i, wind in enumerate(TENNIS["wind"])]
    tables = [TENNIS, other]
    expected = {MODELS[name]().fit(t, target="play").predict_proba(TENNIS).tobytes() for t in tables}
    model = MODELS[name]().fit(TENNIS, target="play")
    seen = answers_while_fitting(model, lambda k: model.fit(tables[k % 2], target="play"))
    assert seen <= expected


def test_a_thread_that_predicts_while_another_adds_rows_has_a_whole_number_of_batches():
    model, expected = TAN().fit(TENNIS, target="play"), set()
    other = TAN().fit(TENNIS, target="play")
    expected.add(other.predict_proba(TENNIS).tobytes())
    for _ in range(60):
        expected.add(other.partial_fit(TENNIS, target="play").predict_proba(TENNIS).tobytes())
    assert answers_while_fitting(model, lambda k: model.partial_fit(TENNIS, target="play"), 60) <= expected


def test_beliefs_are_made_once_when_many_threads_ask_at_the_same_time(monkeypatch):
    made = []
    believe = NaiveBayes._believe
    monkeypatch.setattr(
        plain_class(NaiveBayes), "_believe", lambda self, counts: made.append(1) or believe(self, counts)
    )
    model = NaiveBayes().fit(TENNIS, target="play")
    barrier = threading.Barrier(8)

    def ask():
        barrier.wait()
        model.predict(TENNIS)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


@pytest.mark.parametrize("learn", [lambda m, t: m.fit(t, [0, 1]), lambda m, t: m.partial_fit(t, [0, 1])])
def test_a_warning_points_at_the_line_of_the_user(learn):
    table = {"u": [None, None], "v": [0.5, 1.5], "w": [1.0, 2.0]}
    for model in (NaiveBayes(numeric="mdl"), TAN()):
        with pytest.warns(BayeskitWarning) as said:
            learn(model, table)
        assert {warning.filename for warning in said} == {__file__}
