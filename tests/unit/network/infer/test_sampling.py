"""Samplers come within four standard errors of the exact answer, and say what they are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import BayeskitWarning, ImpossibleEvidenceError, NetworkError
from bayeskit.network import Marginal
from kernels.enumeration import joint_table, networks, weighted

FOUR_ERRORS = 4.0


@pytest.fixture
def net():
    return BayesianNetwork(
        "a->b->c; a->c; c->d{x|y|z}",
        tables={
            "a": [0.3, 0.7],
            "b": [[0.6, 0.4], [0.2, 0.8]],
            "c": [[[0.5, 0.5], [0.9, 0.1]], [[0.4, 0.6], [0.3, 0.7]]],
            "d": [[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]],
        },
    )


@pytest.mark.parametrize("method", ["rejection", "weighting", "gibbs"])
@pytest.mark.parametrize("evidence", [{}, {"d": "y"}, {"d": {"x", "y"}, "b": "no"}, {"c": [0.3, 0.9], "d": "z"}])
def test_samplers_come_within_four_standard_errors_of_exact(net, method, evidence):
    exact = net.posterior(given=evidence)
    found = net.posterior(given=evidence, method=method, n_samples=40_000, seed=5)
    assert found.quality.method == method
    assert found.quality.approximate
    assert 1 <= found.quality.effective_samples <= found.quality.n_samples
    for name in net.names:
        gap = abs(found[name].array - exact[name].array)
        assert (gap <= FOUR_ERRORS * found[name].standard_error + 1e-12).all()
        assert (found[name].standard_error < 0.02).all()


@settings(deadline=None, max_examples=20)
@given(networks(max_variables=5), st.data())
def test_weighting_is_right_on_random_networks_with_zeros(net, data):
    v = data.draw(st.integers(0, len(net.names) - 1))
    k = data.draw(st.integers(0, net.cards[v] - 1))
    assume(weighted(joint_table(net), {v: np.eye(net.cards[v])[k]}).sum() > 0.05)
    evidence = {net.names[v]: net.states[v][k]}
    exact = net.posterior(given=evidence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)
        found = net.posterior(given=evidence, method="weighting", n_samples=20_000)
    for name in net.names:
        assert (abs(found[name].array - exact[name].array) <= 5 * found[name].standard_error + 1e-12).all()


def test_the_standard_error_is_the_spread_of_repeated_estimates(net):
    for method in ("rejection", "weighting", "gibbs"):
        runs = [net.posterior("a", given={"d": "y"}, method=method, n_samples=8192, seed=seed) for seed in range(60)]
        spread = np.std([run["yes"] for run in runs], ddof=1)
        said = np.mean([run.standard_error[1] for run in runs])
        assert 0.7 < said / spread < 1.4


def test_sampling_goes_on_until_the_wished_error_is_reached(net):
    for method in ("rejection", "weighting", "gibbs"):
        found = net.posterior("a", given={"d": "y"}, method=method, error=0.001)
        assert found.standard_error.max() <= 0.001
        coarse = net.posterior("a", given={"d": "y"}, method=method, error=0.01)
        assert coarse.quality.n_samples < found.quality.n_samples


def test_a_wished_error_that_is_not_reached_is_a_warning(net):
    with pytest.warns(BayeskitWarning, match=r"the wished error 1e-05 was not reached with \d+ samples"):
        net.posterior("a", given={"d": "y"}, method="weighting", error=1e-5, n_samples=10_000)


@pytest.mark.parametrize("method", ["rejection", "weighting", "gibbs"])
def test_the_number_of_threads_changes_nothing(net, method):
    found = []
    for n in (1, 3):
        with bayeskit.threads(n):
            found.append(net.posterior("a", given={"d": "y"}, method=method, n_samples=300_000).array)
    assert_array_equal(found[0], found[1])


def test_gibbs_refuses_tables_with_zeros_and_names_one():
    net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.0, 1.0]]})
    with pytest.raises(NetworkError, match=r"the table of 'b' has one\. Pass method='weighting'"):
        net.posterior("a", method="gibbs")


def test_rejection_that_accepts_nothing_says_so():
    net = BayesianNetwork("a->b", tables={"a": [1.0, 0.0], "b": [[0.5, 0.5], [0.5, 0.5]]})
    with pytest.raises(ImpossibleEvidenceError, match="none of 8192 samples agrees with the evidence"):
        net.posterior("b", given={"a": "yes"}, method="rejection", n_samples=5000)


def test_few_effective_samples_are_a_warning(net):
    rare = net.do({"d": {"x": 1e-4, "y": 0.5, "z": 0.4999}})
    with pytest.warns(BayeskitWarning, match=r"samples are worth only \d+ independent ones"):
        rare.posterior("a", given={"d": "x"}, method="rejection", n_samples=100_000)


def test_a_state_that_never_came_up_has_an_error_above_zero(net):
    rare = net.do({"a": {"no": 1e-9, "yes": 1 - 1e-9}})
    assert rare.posterior("a", method="rejection", n_samples=5000).standard_error.min() > 0


def test_a_wished_marginal_is_not_sampled(net):
    with pytest.raises(NetworkError, match="a wished marginal needs the exact engine"):
        net.posterior("a", given={"d": Marginal([0.2, 0.3, 0.5])}, method="weighting")


def test_forward_samples_have_the_networks_frequencies(net):
    n = 200_000
    codes = net.sample(n, output="codes")
    for v, name in enumerate(net.names):
        p = net.posterior(name).array
        found = np.bincount(codes[v], minlength=net.cards[v]) / n
        assert (abs(found - p) <= FOUR_ERRORS * np.sqrt(p * (1 - p) / n)).all()


def test_a_state_of_probability_zero_is_never_drawn():
    net = BayesianNetwork("a{x|y|z}", tables={"a": [0.5, 0.5, 0.0]})
    assert set(net.sample(50_000)["a"]) == {"x", "y"}


def test_more_samples_begin_with_the_same_and_threads_change_nothing(net):
    few, many = net.sample(5000, seed=3, output="codes"), net.sample(50_000, seed=3, output="codes")
    with bayeskit.threads(1):
        alone = net.sample(50_000, seed=3, output="codes")
    for a, b, c in zip(few, many, alone, strict=True):
        assert_array_equal(a, b[:5000])
        assert_array_equal(b, c)
    assert any((a != b).any() for a, b in zip(few, net.sample(5000, seed=4, output="codes"), strict=True))


def test_samples_come_as_codes_arrays_or_frames(net):
    codes, arrays = net.sample(50, output="codes"), net.sample(50)
    assert [column.dtype for column in codes] == [np.uint8] * 4
    assert arrays["d"].tolist() == [net.states[3][k] for k in codes[3]]
    frame = net.sample(50, output="pandas")
    assert isinstance(frame["d"].dtype, pd.CategoricalDtype)
    assert list(frame["d"].cat.categories) == ["x", "y", "z"]
    assert frame["d"].tolist() == arrays["d"].tolist()
    polars = net.sample(50, output="polars")
    assert polars.schema["d"] == pl.Enum(["x", "y", "z"])
    assert polars["d"].to_list() == arrays["d"].tolist()
    assert_allclose(net.log_probability(frame), net.log_probability(codes))
