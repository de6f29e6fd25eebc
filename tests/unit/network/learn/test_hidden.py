"""Hidden cells: EM never falls, gradient ascent ends where EM ends, tables and hidden variables are recovered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network.cases import read_cases
from bayeskit.network.learn.table_gradient import to_simplex
from tests.networks import networks, public


def holes(net, n_rows, share, seed=0):
    columns = read_cases(net.schema, net.states, net.sample(n_rows, random_state=seed)).complete()
    rng = np.random.default_rng(seed)
    columns = [column.copy() for column in columns]
    for column in columns:
        column[rng.random(n_rows) < share] = 255
    return columns


def worst_error(net, fitted, n_least, counts_of):
    """The largest error among rows of tables that enough cases reach."""
    worst = 0.0
    for i, own in enumerate(net.parents):
        seen = counts_of.counts.table((*own, i)).sum(axis=-1) >= n_least
        if seen.any():
            worst = max(worst, float(np.abs(net.tables[i] - fitted.tables[i])[seen].max()))
    return worst


@given(networks(most=4), st.integers(0, 100), st.sampled_from([0.0, 0.5]))
@settings(max_examples=25)
def test_no_step_of_em_lowers_its_objective(net, seed, smoothing):
    fitted = net.fitted(holes(net, 40, 0.4, seed), missing="em", smoothing=smoothing, max_iter=5000, tol=1e-9)
    steps = np.diff(fitted.history.objective)
    assert (steps >= -1e-9 * abs(fitted.history.objective[0])).all()


def test_without_holes_em_is_the_estimate_from_counts():
    net = BayesianNetwork("a->b<-c", random_tables=0)
    rows = net.sample(300, random_state=0)
    assert net.fitted(rows, missing="em").equals(net.fitted(rows), tol=1e-12)


@pytest.mark.parametrize("structure", ["a->b->c", "a->c<-b; c->d"])
def test_em_and_gradient_ascent_reach_the_same_optimum(structure):
    net = BayesianNetwork(structure, random_tables=4)
    rows = holes(net, 500, 0.2, 1)
    options = {"smoothing": 0.5, "tol": 1e-11, "max_iter": 5000}
    em, gradient = (net.fitted(rows, missing=way, **options) for way in ("em", "gradient"))
    assert em.history.objective[-1] == pytest.approx(gradient.history.objective[-1], abs=1e-5)
    assert em.equals(gradient, tol=1e-3)
    assert (np.diff(gradient.history.objective) >= 0).all()


@pytest.mark.parametrize(("name", "share", "most"), [
    ("asia", 0.1, 0.05), ("asia", 0.3, 0.08), ("insurance", 0.1, 0.08), ("insurance", 0.3, 0.12),
])  # fmt: skip
def test_tables_are_recovered_with_cells_missing(name, share, most):
    net = load_asia() if name == "asia" else public(name)
    n_rows = 20_000 if name == "asia" else 10_000
    whole = net.fitted(holes(net, n_rows, 0.0, 2))
    fitted = net.fitted(holes(net, n_rows, share, 2), missing="em", tol=1e-6)
    assert worst_error(net, fitted, 1000, whole) < most


def test_a_hidden_variable_in_the_middle_of_a_chain_is_recovered_up_to_its_names():
    truth = BayesianNetwork(
        "a->h->b; h->c",
        tables={"a": [0.5, 0.5], "h": [[0.9, 0.1], [0.2, 0.8]], "b": [[0.8, 0.2], [0.1, 0.9]],
                "c": [[0.85, 0.15], [0.25, 0.75]]},
    )  # fmt: skip
    rows = truth.sample(50_000, random_state=0)
    rows.pop("h")
    fitted = BayesianNetwork("a->h->b; h->c").fitted(rows, missing="em", n_init=3, smoothing=0, tol=1e-9,
                                                  max_iter=3000)  # fmt: skip
    table = fitted.tables[fitted.index("b")]
    order = [0, 1] if table[0, 1] < table[1, 1] else [1, 0]
    assert_allclose(table[order], truth.tables[truth.index("b")], atol=0.03)
    assert_allclose(fitted.tables[fitted.index("h")][:, order], truth.tables[truth.index("h")], atol=0.03)
    assert len(fitted.history.starts) == 3


def test_the_likelihood_is_that_of_the_known_cells():
    net = BayesianNetwork("a->b->c", random_tables=2)
    rows = {"a": ["no", None, "yes", "no"], "b": [None, "no", None, "yes"], "c": ["yes", "no", "no", None]}
    fitted = net.fitted(rows, missing="em", smoothing=0, start="tables", max_iter=1000)
    expected = 0.0
    for i in range(4):
        known = {name: column[i] for name, column in rows.items() if column[i] is not None}
        expected += np.log(net.probability(known))
    assert fitted.history.objective[0] == pytest.approx(expected, rel=1e-9)


def test_the_history_says_why_it_stopped_and_draws_itself():
    net = BayesianNetwork("a->b", random_tables=0)
    rows = holes(net, 200, 0.3)
    with pytest.warns(BayeskitWarning, match="stopped after 1 steps"):
        history = net.fitted(rows, missing="em", max_iter=1, tol=0.0).history
    assert not history.converged
    assert history.n_steps == 1
    assert history.reason == "the limit of 1 steps was reached"
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = history.plot()
    assert len(ax.lines[0].get_xdata()) == 2
    pyplot.close(ax.figure)


def test_bad_choices_are_refused():
    net = BayesianNetwork("a->b")
    with pytest.raises(NetworkError, match="n_init at least 1"):
        net.fitted({"a": ["no"], "b": [None]}, missing="em", n_init=0)


def test_the_nearest_distribution_of_numbers():
    rows = np.random.default_rng(0).normal(size=(50, 4))
    near = to_simplex(rows)
    assert_allclose(near.sum(axis=1), 1.0, rtol=1e-12)
    assert (near >= 0).all()
    other = np.random.default_rng(1).dirichlet(np.ones(4), size=(200, 1))
    assert (((near - rows) ** 2).sum(axis=1) <= ((other - rows) ** 2).sum(axis=2).min(axis=0) + 1e-12).all()
