"""Forms learned from rows: the form stays, and its numbers are those of the largest likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from bayeskit import BayesianNetwork, scan
from bayeskit.errors import NetworkError, TableError
from bayeskit.network import Logistic, NoisyAnd, NoisyMax, NoisyOr, TreeTable

CAUSES = ("a", "b", "c")


def net_of(form, states=()):
    tables = {"a": [0.6, 0.4], "b": [0.7, 0.3], "c": [0.5, 0.5], "y": form}
    return BayesianNetwork({**{c: [] for c in CAUSES}, "y": list(CAUSES)}, tables=tables, states=dict(states))


OR = net_of(NoisyOr(leak=0.05, a=0.8, b=0.4, c=0.2))


def with_holes(cases, share, seed=0):
    rng = np.random.default_rng(seed)
    n = len(cases["y"])
    return {name: np.where(rng.random(n) < share, None, column.astype(object)) for name, column in cases.items()}


def numbers(net):
    cpd = net["y"].distribution
    return np.array([cpd.leak[1], *(link[1, 1] for link in cpd.links)])


def test_links_and_leak_are_those_that_a_direct_search_finds():
    cases = OR.sample(4000)
    x = np.stack([np.ones(4000), *(cases[c] == "yes" for c in CAUSES)], axis=1)
    y = cases["y"] == "yes"

    def loss(theta):
        none = np.exp(-(x @ theta))
        return -np.log(np.where(y, 1 - none, none)).sum()

    best = minimize(loss, np.full(4, 0.5), bounds=[(1e-9, 30)] * 4, options={"ftol": 1e-15, "gtol": 1e-10}).x
    fitted = OR.fitted(cases, smoothing=0)
    assert_allclose(numbers(fitted), 1 - np.exp(-best), atol=2e-4)
    assert fitted["y"].distribution.kind == "causes"
    assert fitted.log_likelihood(cases) >= OR.log_likelihood(cases)
    assert_allclose(fitted.tables[0], [(cases["a"] != "yes").mean(), (cases["a"] == "yes").mean()])


def test_em_over_missing_cells_finds_the_same_without_any_and_never_falls():
    cases = OR.sample(2000)
    whole = OR.fitted(cases, smoothing=0)
    by_em = OR.fitted(cases, smoothing=0, missing="em", tol=1e-12, max_iter=3000)
    assert_allclose(numbers(by_em), numbers(whole), atol=1e-3)
    holes = OR.fitted(with_holes(cases, 0.2), smoothing=0, missing="em", record=True)
    assert (np.diff(holes.history.objective) >= -1e-8).all()
    assert_allclose(numbers(holes), numbers(whole), atol=0.12)
    again = OR.fitted(with_holes(cases, 0.2), smoothing=0, missing="em", start="tables")
    assert_allclose(numbers(again), numbers(holes), atol=0.02)


def test_a_state_without_effect_stays_without():
    fitted = OR.fitted(OR.sample(500), smoothing=1)
    assert all(link[0].tolist() == [1.0, 0.0] for link in fitted["y"].distribution.links)


def test_pseudo_counts_pull_links_to_the_middle():
    cases = OR.sample(300)
    tight, loose = numbers(OR.fitted(cases, smoothing=200)), numbers(OR.fitted(cases, smoothing=0))
    assert (abs(tight - 0.5) <= abs(loose - 0.5) + 1e-9).all()


def test_weights_are_repetitions():
    cases = OR.sample(200)
    twice = {name: np.concatenate([column, column[:50]]) for name, column in cases.items()}
    weight = np.r_[np.full(50, 2.0), np.ones(150)]
    assert_allclose(numbers(OR.fitted(cases, weight)), numbers(OR.fitted(twice)), rtol=1e-9)


def test_rows_whose_family_is_not_known_are_left_out():
    cases = with_holes(OR.sample(800), 0.2)
    known = np.all([column != None for column in cases.values()], axis=0)  # noqa: E711
    complete = {name: column[known] for name, column in cases.items()}
    assert_allclose(numbers(OR.fitted(cases)), numbers(OR.fitted(complete)), rtol=1e-12)


def test_a_noisy_max_comes_back():
    net = net_of(
        NoisyMax(leak=[0.9, 0.08, 0.02], a=[0.3, 0.3, 0.4], b=[0.5, 0.5, 0], c=[0.8, 0.1, 0.1]),
        {"y": ["none", "some", "much"]},
    )
    fitted = net.fitted(net.sample(30_000), smoothing=0)
    for ours, true in zip(fitted["y"].distribution.links, net["y"].distribution.links, strict=True):
        assert_allclose(ours, true, atol=0.03)


def test_leaves_of_a_tree_are_their_shares():
    net = net_of(TreeTable({"a": {"no": [0.9, 0.1], "yes": {"c": {"no": [0.5, 0.5], "yes": [0.2, 0.8]}}}}))
    cases = net.sample(1000)
    leaf = (cases["a"] == "yes") & (cases["c"] == "yes")
    share = (cases["y"][leaf] == "yes").mean()
    assert net.fitted(cases, smoothing=0)["y"]["yes", "no", "yes"][1] == pytest.approx(share, rel=1e-12)


def test_logistic_weights_are_those_of_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    net = net_of(Logistic(bias=-1.0, a=2.0, b=-1.0, c=0.5))
    cases = net.sample(3000)
    x = np.stack([cases[c] == "yes" for c in CAUSES], axis=1).astype(float)
    peer = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=1000).fit(x, cases["y"])
    cpd = net.fitted(cases, smoothing=3.0)["y"].distribution
    assert_allclose([w[1, 1] for w in cpd.weights], peer.coef_[0], atol=1e-4)
    assert cpd.bias[1] == pytest.approx(peer.intercept_[0], abs=1e-4)


def test_what_cannot_be_learned_is_refused(tmp_path):
    net = net_of(Logistic(bias=-1.0, a=2.0, b=-1.0, c=0.5))
    with pytest.raises(NetworkError, match="logistic distribution of 'y' is learned from rows"):
        net.fitted(net.sample(50), missing="em")
    with pytest.raises(NetworkError, match="gradient ascent learns full tables"):
        OR.fitted(OR.sample(50), missing="gradient")
    with pytest.raises(TableError, match="no row knows 'y' and all its parents"):
        OR.fitted(with_holes(OR.sample(50), 0.2) | {"y": [None] * 50})
    (tmp_path / "rows.csv").write_text("a,b,c,y\nno,no,no,no\n")
    with pytest.raises(TableError, match="learned from rows in memory"):
        OR.fitted(scan(tmp_path / "rows.csv"))
    with pytest.raises(NetworkError, match="needs a network with counts"):
        OR.fitted(OR.sample(50)).updated(OR.sample(5))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_noisy_and_stays_one(missing):
    net = net_of(NoisyAnd(sure=0.95, a=0.9, b=0.8, c=0.7))
    assert net["y"].distribution.n_parameters == 4
    cases = net.sample(5000)
    fitted = net.fitted(with_holes(cases, missing) if missing else cases, smoothing=0)
    cpd = fitted["y"].distribution
    assert cpd.title == "noisy-AND"
    assert cpd.n_parameters == 4
    for states in (("no", "yes", "yes"), ("yes", "no", "yes"), ("yes", "yes", "no"), ("no", "no", "no")):
        assert fitted["y"][states][1] == 0.0
    met = np.logical_and.reduce([cases[c] == "yes" for c in CAUSES])  # in all other rows the effect is certain
    frequency = (cases["y"][met] == "yes").mean()
    assert fitted["y"]["yes", "yes", "yes"][1] == pytest.approx(frequency, abs=0.05 if missing else 1e-3)


@pytest.mark.parametrize("form", [NoisyOr(a=0, b=0.5, c=0.5), NoisyMax(a=[1, 0], b=[0.5, 0.5], c=[0.5, 0.5])])
def test_a_link_that_starts_at_0_is_learned(form):
    cases = OR.sample(4000)
    start = net_of(form)
    assert start["y"].distribution.n_parameters == 4
    fitted = start.fitted(cases, smoothing=0)
    assert_allclose(numbers(fitted), numbers(OR.fitted(cases, smoothing=0)), atol=1e-3)
