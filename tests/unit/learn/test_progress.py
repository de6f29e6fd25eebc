"""What iterates has one history and calls one kind of function while it works."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import (
    AutoBayes,
    GaussianMixture,
    KMeans,
    LatentClass,
    LogisticRegression,
    NaiveBayes,
    SemiSupervised,
    datasets,
    scan,
)
from bayeskit.progress import CancelledError, Step

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1, 2], 40)
X = RNG.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[Y]
HALF_LABELLED = np.array([label if i % 3 == 0 else None for i, label in enumerate(Y.tolist())], dtype=object)

MODELS = {
    "GaussianMixture": (GaussianMixture(3, n_init=1), (X,)),
    "KMeans": (KMeans(3, n_init=1), (X,)),
    "LatentClass": (LatentClass(3, n_init=1), (X,)),
    "SemiSupervised": (SemiSupervised(NaiveBayes()), (X, HALF_LABELLED)),
    "lbfgs": (LogisticRegression(solver="lbfgs", l2=1.0), (X, Y)),
    "newton": (LogisticRegression(solver="newton", l2=1.0), (X, Y)),
    "gradient": (LogisticRegression(solver="gradient", l2=1.0, tol=1e-3), (X, Y)),
}


@pytest.mark.parametrize("name", MODELS)
def test_progress_is_told_each_objective_of_the_history(name):
    model, data = MODELS[name]
    steps: list[Step] = []
    model.fit(*data, progress=steps.append)
    assert [step.done for step in steps] == list(range(1, len(steps) + 1))
    # A last step may be polished, which is not a step of its own.
    told = [step.objective for step in steps][: model.history_.n_steps]
    assert_allclose(told, model.history_.objective[1 : len(told) + 1], rtol=1e-9)
    assert len(steps) >= model.history_.n_steps > 1


@pytest.mark.parametrize("name", MODELS)
def test_an_exception_in_progress_stops_the_fit_and_leaves_the_model_as_it_was(name):
    def stop(step):
        raise CancelledError("enough")

    model, data = MODELS[name]
    before = model.fit(*data).history_
    with pytest.raises(CancelledError, match="enough"):
        model.fit(*data, progress=stop)
    assert model.history_ is before


def test_auto_bayes_tells_each_part_of_its_work_and_can_be_stopped():
    steps: list[Step] = []
    model = AutoBayes(effort="fast").fit(X, Y, progress=steps.append)
    parts = ["networks", "Gaussians", "trees", "pool"]
    assert steps == [Step(f"AutoBayes: {part}", k + 1, 4) for k, part in enumerate(parts)]
    assert_array_equal(model.predict_proba(X), AutoBayes(effort="fast").fit(X, Y).predict_proba(X))
    before = model.counts_

    def stop(step):
        raise CancelledError(step.name)

    with pytest.raises(CancelledError, match="networks"):
        model.fit(X, Y, progress=stop)
    assert model.counts_ is before


def test_auto_bayes_tells_the_rows_of_a_scan():
    pa = pytest.importorskip("pyarrow")
    tennis = pa.table(datasets.load_tennis())
    steps: list[Step] = []
    scanned = AutoBayes(effort="fast").fit(scan(tennis), target="play", progress=steps.append)
    assert steps[-1].done == steps[-1].total == 14
    assert scanned.n_features_in_ == 4


def test_the_name_of_a_step_of_a_mixture_says_how_many_components_are_tried():
    names = []
    GaussianMixture(max_components=2, n_init=1).fit(X, progress=lambda step: names.append(step.name))
    assert list(dict.fromkeys(names)) == ["em, 1 components", "em, 2 components"]


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_recorded_steps_of_a_mixture_end_at_its_attributes_and_each_is_a_start(covariance):
    model = GaussianMixture(3, covariance=covariance, n_init=1).fit(X, record=True)
    steps = model.history_.parameters
    assert len(steps) == model.history_.n_steps + 1
    assert_array_equal(steps[-1]["weights"], model.weights_)
    assert_array_equal(steps[-1]["means"], model.means_)
    assert_array_equal(steps[-1]["covariances"], model.covariances_)
    again = GaussianMixture(3, covariance=covariance, init=steps[1]).fit(X)
    assert_allclose(again.history_.objective, model.history_.objective[1:], rtol=1e-9)
    assert GaussianMixture(3, covariance=covariance, n_init=1).fit(X).history_.parameters == ()


def test_recorded_steps_of_k_means_and_latent_classes_end_at_their_attributes():
    means = KMeans(3).fit(X, record=True)
    assert_array_equal(means.history_.parameters[-1]["means"], means.cluster_centers_)
    classes = LatentClass(2).fit({"wind": ["weak", "strong"] * 20, "x": X[:40, 0]}, record=True)
    last = classes.history_.parameters[-1]
    assert_array_equal(last["weights"], classes.weights_)
    assert last["tables"].keys() == classes.tables_.keys()
    for name, table in classes.tables_.items():
        assert_array_equal(last["tables"][name], table)


def test_recorded_steps_of_semi_supervised_learning_are_classifiers():
    model = SemiSupervised(NaiveBayes()).fit(X, HALF_LABELLED, record=True)
    steps = model.history_.parameters
    assert len(steps) == model.history_.n_steps + 1
    assert_array_equal(steps[-1].predict_proba(X), model.predict_proba(X))
    assert abs(steps[0].predict_proba(X) - model.predict_proba(X)).max() > 1e-6
