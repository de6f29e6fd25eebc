"""Every estimator is its parameters and one frozen state: a call that fails, in whatever way, changes nothing."""

import copy
import dataclasses
import inspect
import sys
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from bayeskit import (
    AODE,
    AutoText,
    CandidateElimination,
    GaussianMixture,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    SigmoidUnit,
    TextClassifier,
)
from bayeskit.concept.examples import ConceptLearner
from bayeskit.errors import BayeskitWarning
from bayeskit.learn.learner import Learner
from common.registry import everyone

by_estimator = pytest.mark.parametrize("model", everyone(), ids=lambda model: str(model)[:40])
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeskit.errors.BayeskitWarning"),
]

# What no parameter takes, except those that are asked for their type only in use.
NONSENSE = object()
BAD_OPTIONS = {
    "FindS": {"attributes": "nonsense"},
    "CandidateElimination": {"max_general": 0},
    "BruteForceMAP": {"noise": 7.0},
    "Discretizer": {"method": "nonsense"},
    "BayesDecision": {"loss": "nonsense"},
    "LeastSquares": {"kinds": {"x0": "nonsense"}},
    "NetworkClassifier": {"network": "nonsense"},
}


def rows(model, seed):
    """Return rows that every estimator takes in its own form, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(40 + seed, 3))
    if isinstance(model, TextClassifier | AutoText):
        words = np.array(["cheap", "pills", "lunch", "noon"])
        return [" ".join(words[row]) for row in X], np.where(X[:, 0] > 1, "spam", "ham")
    if isinstance(model, ConceptLearner):
        return {f"a{j}": [f"v{v}" for v in X[:, j].tolist()] for j in range(3)}, np.where(X[:, 0] == 1, "yes", "no")
    return X.astype(float), np.where(X[:, 0] + rng.integers(0, 3, size=len(X)) > 2, 1, 0)


def frozen(value):
    """Return a value in a form that can be compared to the last bit."""
    if isinstance(value, np.ndarray):
        return frozen(value.tolist()) if value.dtype == object else (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, dict):
        return [(key, frozen(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [frozen(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [frozen(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return value if isinstance(value, int | float | str | None) else type(value).__name__


ANSWERS = ("predict", "predict_proba", "score_samples", "decide", "transform", "optimal_proba")


def everything(model, X):
    """Return every public attribute of a fitted estimator, and every answer for some rows."""
    found = {}
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            try:
                found[name] = frozen(getattr(model, name))
            except AttributeError as error:
                found[name] = str(error)
    for name in ANSWERS:
        if hasattr(model, name):
            found[name] = frozen(getattr(model, name)(X))
    return found


class Injection:
    """Raise an error at the n-th call of a function of bayeskit, or only count the calls."""

    def __init__(self, error=None, at=0):
        self.error, self.at, self.n = error, at, 0

    def __enter__(self):
        sys.setprofile(self.look)
        return self

    def __exit__(self, *args):
        sys.setprofile(None)

    def look(self, frame, event, arg):
        # Not in a generator: one that is closed later, by the garbage collector, is "called" too, by nobody.
        code = frame.f_code
        if event == "call" and "/src/bayeskit/" in code.co_filename and not code.co_flags & inspect.CO_GENERATOR:
            self.n += 1
            if self.n == self.at:
                raise self.error


def points(learn):
    """Return calls at which a function can be stopped: at its beginning, at its end, and between."""
    learn()  # what is loaded or cached at the first call is not counted
    with Injection() as calls:
        learn()
    return sorted({1, 2, *np.linspace(1, calls.n - 1, 9).astype(int).tolist()})


def is_stopped(learn, error, at):
    """Stop a call, and return whether it was."""
    try:
        with Injection(error("stopped"), at):
            learn()
    except error:
        return True
    return False


def refuse_halves(model, learn, error, X, y):
    """Check that a call that is stopped, wherever that is, leaves a fitted model as it was."""
    before, stopped = everything(model.fit(X, y), X), 0
    for at in points(lambda: learn(copy.copy(model))):
        if is_stopped(lambda: learn(model), error, at):
            assert everything(model, X) == before
            stopped += 1
        else:  # what is computed once was done, so that the call was over earlier
            model.fit(X, y)
    assert stopped >= 3


@by_estimator
def test_an_estimator_is_its_parameters_and_one_state(model):
    model = clone(model)
    parameters = set(model.get_params(deep=False))
    assert set(vars(model)) == parameters
    model.fit(*rows(model, 0))
    assert set(vars(model)) == {*parameters, "_state"}
    everything(model, rows(model, 0)[0])
    assert set(vars(model)) == {*parameters, "_state"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, BayeskitWarning], ids=lambda error: error.__name__)
@by_estimator
def test_a_fit_that_is_stopped_anywhere_changes_nothing(model, error):
    model = clone(model)
    X, y = rows(model, 0)
    other = rows(model, 5)
    refuse_halves(model, lambda changed: changed.fit(*other), error, X, y)


@by_estimator
def test_an_option_that_is_refused_changes_nothing(model):
    model = clone(model)
    X, y = rows(model, 0)
    model.fit(X, y)
    before = everything(model, X)
    name = type(model).__name__
    rules = [{option: NONSENSE} for option in getattr(model, "_rules", {}) if option not in ("prior", "init")]
    for option in [BAD_OPTIONS[name]] if name in BAD_OPTIONS else rules:
        old = {each: model.get_params()[each] for each in option}
        model.set_params(**option)
        with pytest.raises((ValueError, TypeError)):
            model.fit(*rows(model, 5))
        assert everything(model, X) == before
        model.set_params(**old)
    assert name in BAD_OPTIONS or rules


@pytest.mark.parametrize("method", ["partial_fit", "merge", "unlearn"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError], ids=lambda error: error.__name__)
@pytest.mark.parametrize("model", [m for m in everyone() if isinstance(m, Learner)], ids=lambda model: str(model)[:40])
def test_a_change_that_is_stopped_anywhere_changes_nothing(model, error, method):
    X, y = rows(model, 0)
    some = {"partial_fit": rows(model, 5), "unlearn": (X[:7], y[:7])}.get(method)
    other = copy.copy(clone(model).fit(X, y))

    def learn(changed):
        return changed.merge(other) if method == "merge" else getattr(changed, method)(*some)

    refuse_halves(clone(model), learn, error, X, y)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (GaussianMixture(2, max_iter=1, n_init=1), np.random.default_rng(1).normal(size=(60, 2)), None),
        (LogisticRegression(), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]),
        (SigmoidUnit(max_iter=2), [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]),
        (NaiveBayes(), {"x0": [None, None]}, [0, 1]),
        (AODE(), {"x0": [None, None]}, [0, 1]),
        (MultinomialNB(alpha=0.0, force_alpha=False), [[1, 0], [0, 1]], [0, 1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_warning_that_is_an_error_changes_nothing(model, X, y):
    with pytest.warns(UserWarning, match=r"\w"):
        clone(model).fit(X, y)
    fitted = type(model)(**({"n_components": 2} if isinstance(model, GaussianMixture) else {}))
    table, labels = rows(model, 0)
    fitted.fit(table[:, :1] if not isinstance(model, MultinomialNB) else table[:, :2], labels)
    asked = table[:, : fitted.n_features_in_]
    before = everything(fitted, asked)
    fitted.set_params(**model.get_params(deep=False))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            fitted.fit(X, y)
    assert everything(fitted, asked) == before


def test_the_bins_of_a_first_batch_that_are_said_as_an_error_are_not_learned():
    model = AODE()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BayeskitWarning, match="bins"):
            model.partial_fit(np.arange(40.0)[:, None], np.arange(40) // 20)
    assert not hasattr(model, "classes_")


# -- several threads -----------------------------------------------------------------------------------------------


def at_once(*jobs):
    """Run each job in a thread of its own; they begin together, and an error in one of them is raised."""
    barrier, errors = threading.Barrier(len(jobs)), []

    def run(job):
        barrier.wait()
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def batch(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, size=(n_rows, 2)), rng.integers(0, 2, size=n_rows)


def test_partial_fit_from_two_threads_loses_no_row():
    X, y = batch(1000)
    model = NaiveBayes(kinds="categorical").fit(X, y)

    def learn():
        for _ in range(200):
            model.partial_fit(X, y)

    at_once(learn, learn)
    assert model.class_count_.sum() == 401_000
    np.testing.assert_array_equal(model.class_count_, 401 * np.bincount(y))


def test_merge_unlearn_and_partial_fit_from_three_threads_lose_no_row():
    X, y = batch(500)
    model, other = (NaiveBayes(kinds="categorical").fit(X, y) for _ in range(2))

    def often(change):
        return lambda: [change() for _ in range(60)]

    at_once(
        often(lambda: model.merge(other)),
        often(lambda: model.partial_fit(X, y)),
        often(lambda: model.partial_fit(X, y).unlearn(X, y)),
    )
    np.testing.assert_array_equal(model.class_count_, 121 * np.bincount(y))


def test_examples_from_two_threads_are_all_seen():
    X, y = {"a": ["x", "y"], "b": ["u", "v"]}, ["yes", "no"]
    model = CandidateElimination().partial_fit(X, y)
    at_once(*[lambda: [model.partial_fit(X, y) for _ in range(50)]] * 2)
    assert len(model.steps_) == 202
    assert [step.row for step in model.steps_] == list(range(202))


def test_two_models_that_merge_into_each_other_do_not_wait_for_each_other():
    X, y = batch(100)
    a, b = (NaiveBayes(kinds="categorical").fit(X, y) for _ in range(2))
    at_once(lambda: [a.merge(b) for _ in range(5)], lambda: [b.merge(a) for _ in range(5)])
    assert min(a.class_count_.sum(), b.class_count_.sum()) >= 600
