"""A small model imitates a large one, and what it loses is what is measured."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as Foreign

from bayeskit import AutoBayes, NaiveBayes, datasets, distill, load, to_c, to_sql
from bayeskit.errors import BayeskitError, TableError
from bayeskit.export.distill import ONE_IN


def rows_of(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    site = rng.choice(["n", "s", "w"], n)
    logit = 2.0 * np.sin(2.0 * a) + b + (site == "n")
    label = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-logit)), "yes", "no")
    return {"a": a, "b": b, "site": site}, label


@pytest.fixture(scope="module")
def model():
    return AutoBayes(effort="fast").fit(*rows_of())


def held_out(n, seed=0):
    return np.random.default_rng(seed).permutation(n)[: n // ONE_IN]


@pytest.mark.parametrize("to", ["tree", "tan"])
def test_what_is_said_to_be_lost_is_what_held_out_rows_lose(model, to):
    X, label = rows_of(1000, 1)
    small = distill(model, {**X, "label": label}, to, target="label")
    held = held_out(1000)
    rows = {name: column[held] for name, column in X.items()}
    ours, theirs = small.model.predict_proba(rows), model.predict_proba(rows)
    assert small.n_rows == len(held)
    assert small.agreement == np.mean(small.model.predict(rows) == model.predict(rows))
    assert_allclose(small.divergence, np.mean(np.sum(theirs * np.log(theirs / ours), axis=1)), rtol=1e-12)
    true = np.arange(len(held)), (label[held] == "yes").astype(int)
    assert_allclose(small.log_loss, -np.log(ours[true]).mean(), rtol=1e-12)
    assert_allclose(small.log_loss_before, -np.log(theirs[true]).mean(), rtol=1e-12)


@pytest.mark.parametrize("to", ["tree", "tan"])
def test_the_small_model_is_near_the_large_one_on_rows_of_neither(model, to):
    small = distill(model, rows_of(1500, 2)[0], to)
    fresh, _ = rows_of(2000, 3)
    agreement = np.mean(small.model.predict(fresh) == model.predict(fresh))
    assert agreement > 0.75
    assert abs(agreement - small.agreement) < 0.08  # three deviations of a share of 300 rows
    assert small.log_loss is None


def test_posteriors_are_fitted_not_labels():
    # Two cells, in each of which the model is sure to a known degree: a tree of soft labels has these shares.
    X = {"x": ["u"] * 400 + ["v"] * 400}
    model = NaiveBayes(smoothing=0).fit(X, ["a"] * 300 + ["b"] * 100 + ["a"] * 80 + ["b"] * 320)
    tree = distill(model, X).model
    assert_allclose(tree.predict_proba({"x": ["u", "v"]})[:, 0], [0.75, 0.2], atol=0.01)


def test_a_tree_has_at_most_max_nodes_and_the_most_useful_tests(model):
    X, _ = rows_of(1500, 4)
    whole = distill(model, X)
    losses = [whole.divergence]
    for most in (7, 3, 1):
        small = distill(model, X, max_nodes=most)
        assert small.n_nodes == small.model.tree_.n_nodes <= most
        losses.append(small.divergence)
    assert losses == sorted(losses)
    assert whole.n_nodes > 7


def test_a_distilled_tree_can_be_saved_and_exported(model, tmp_path):
    X, _ = rows_of(500, 5)
    small = distill(model, X, max_nodes=9).model
    small.save(tmp_path / "small.bayes")
    again = load(tmp_path / "small.bayes")
    assert_array_equal(again.predict_proba(X), small.predict_proba(X))
    assert to_c(again) == to_c(small)
    assert len(to_sql(small, "sqlite")) < 10_000 < len(to_sql(model, "sqlite"))


def test_what_cannot_be_distilled_is_refused(model):
    X, _ = rows_of(20)
    with pytest.raises(BayeskitError, match="distilled to 'tree' or 'tan'; got 'forest'"):
        distill(model, X, "forest")
    with pytest.raises(BayeskitError, match="max_nodes is for a tree"):
        distill(model, X, "tan", max_nodes=5)
    with pytest.raises(BayeskitError, match="max_nodes must be a whole number of at least 1; got 0"):
        distill(model, X, max_nodes=0)
    for most in (np.nan, np.inf, 2.5, "9"):
        with pytest.raises(BayeskitError, match="max_nodes must be a whole number of at least 1; got"):
            distill(model, X, max_nodes=most)
    for seed in (-1, 0.5, None):
        with pytest.raises(BayeskitError, match="random_state must be a whole number of at least 0; got"):
            distill(model, X, random_state=seed)
    with pytest.raises(NotFittedError, match="AutoBayes instance is not fitted yet"):
        distill(AutoBayes(), X, "forest")
    with pytest.raises(BayeskitError, match="LogisticRegression cannot be distilled"):
        distill(Foreign().fit([[0.0], [1.0]], [0, 1]), [[0.0], [1.0]])
    with pytest.raises(BayeskitError, match="at least 2 rows; got 1"):
        distill(model, {name: column[:1] for name, column in X.items()})


def test_the_columns_of_heart_are_read_as_the_model_reads_them():
    heart = datasets.load_heart()
    model = AutoBayes(effort="fast").fit(heart, target="disease")
    small = distill(model, heart, "tan")
    assert small.model.schema_.names == model.schema_.names
    assert small.log_loss is not None


def test_a_label_that_is_no_class_is_refused():
    model = NaiveBayes().fit({"x": ["u", "v"] * 20}, [0, 1] * 20)
    X = {"x": ["u", "v"] * 20}
    for label in (["0", "1"] * 20, [0, 1] * 19 + [0, 2]):
        with pytest.raises(TableError, match=r"'y': the label .* is no class of the model, whose classes are 0, 1"):
            distill(model, {**X, "y": label}, target="y")


def test_losses_are_those_of_the_rows_that_have_a_label():
    X = {"x": ["u", "v"] * 20}
    model = NaiveBayes().fit(X, [0, 1] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = distill(model, {**X, "y": [None] * 40}, target="y")
        some = distill(model, {**X, "y": [0.0, np.nan] * 20}, target="y")
    assert (none.log_loss, none.log_loss_before) == (None, None)
    assert_allclose(some.log_loss_before, -model.predict_log_proba({"x": ["u"]})[0, 0], rtol=1e-12)
