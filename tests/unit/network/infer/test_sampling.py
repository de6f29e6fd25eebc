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
    found = net.posterior(given=evidence, method=method, n_samples=40_000, random_state=5)
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
        runs = [
            net.posterior("a", given={"d": "y"}, method=method, n_samples=8192, random_state=seed) for seed in range(60)
        ]
        spread = np.std([run["yes"] for run in runs], ddof=1)
        said = np.mean([run.standard_error[1] for run in runs])
        assert 0.7 < said / spread < 1.4


def test_sampling_goes_on_until_the_standard_error_is_small_enough(net):
    for method in ("rejection", "weighting", "gibbs"):
        found = net.posterior("a", given={"d": "y"}, method=method, error=0.001)
        assert found.standard_error.max() <= 0.001
        coarse = net.posterior("a", given={"d": "y"}, method=method, error=0.01)
        assert coarse.quality.n_samples < found.quality.n_samples


def test_a_standard_error_that_is_not_reached_is_a_warning(net):
    with pytest.warns(BayeskitWarning, match=r"the standard error 1e-05 was not reached with \d+ samples"):
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
    with pytest.raises(ImpossibleEvidenceError, match="none of 5000 samples agrees with the evidence"):
        net.posterior("b", given={"a": "yes"}, method="rejection", n_samples=5000)


def test_few_effective_samples_are_a_warning(net):
    rare = net.do({"d": {"x": 1e-4, "y": 0.5, "z": 0.4999}})
    with pytest.warns(BayeskitWarning, match=r"samples are worth only \d+ independent ones"):
        rare.posterior("a", given={"d": "x"}, method="rejection", n_samples=100_000)


def test_a_state_that_never_came_up_has_an_error_above_zero(net):
    rare = net.do({"a": {"no": 1e-9, "yes": 1 - 1e-9}})
    assert rare.posterior("a", method="rejection", n_samples=5000).standard_error.min() > 0


def test_soft_evidence_is_not_sampled(net):
    with pytest.raises(NetworkError, match=r"soft evidence \(Marginal\) needs the exact engine"):
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
    few, many = net.sample(5000, random_state=3, output="codes"), net.sample(50_000, random_state=3, output="codes")
    with bayeskit.threads(1):
        alone = net.sample(50_000, random_state=3, output="codes")
    for a, b, c in zip(few, many, alone, strict=True):
        assert_array_equal(a, b[:5000])
        assert_array_equal(b, c)
    assert any((a != b).any() for a, b in zip(few, net.sample(5000, random_state=4, output="codes"), strict=True))


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


def copies(error, n=4, p=0.3):
    """A chain of variables, each a copy of the one before it but for an error; the first is yes with probability p."""
    tables = {f"x{i}": [[1 - error, error], [error, 1 - error]] for i in range(1, n)}
    return BayesianNetwork("->".join(f"x{i}" for i in range(n)), tables={"x0": [1 - p, p], **tables})


@pytest.mark.parametrize("error", [0.3, 0.05, 0.01, 0.003, 0.0005])
def test_gibbs_covers_the_truth_as_often_as_it_says_or_warns(error):
    net, runs, silent_misses = copies(error), 60, 0
    for seed in range(runs):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = net.posterior("x0", method="gibbs", n_samples=16_000, random_state=seed)
        covered = abs(found["yes"] - 0.3) <= 1.96 * found.standard_error[1]
        silent_misses += not covered and not said
    assert silent_misses <= 0.10 * runs


def test_gibbs_chains_that_stay_apart_are_a_warning_that_names_them():
    with pytest.warns(BayeskitWarning, match=r"Gibbs chains do not agree .split-R̂ .*pass method='weighting'"):
        found = copies(1e-5).posterior("x0", method="gibbs", n_samples=20_000)
    assert found.quality.r_hat > 1.05


@pytest.mark.parametrize("method", ["rejection", "weighting", "gibbs"])
@pytest.mark.parametrize("n", [1, 7, 1000, 5000])
def test_as_many_samples_are_drawn_as_were_asked_for(net, method, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)
        found = net.posterior("a", method=method, n_samples=n)
    assert found.quality.n_samples == n
    assert np.isfinite(found.standard_error).all()
    assert found.array.sum() == pytest.approx(1.0, abs=1e-12)
    if method == "rejection":
        assert (found.array * n == np.rint(found.array * n)).all()


def test_weights_far_below_the_smallest_double_have_errors_too():
    n = 400
    tables = {f"e{i}": [[1e-3, 0.999], [2e-3, 0.998]] for i in range(n)}
    net = BayesianNetwork(
        "; ".join(f"x->e{i}" for i in range(n)),
        tables={
            "x": [0.5, 0.5],
            **{name: table if int(name[1:]) % 2 else table[::-1] for name, table in tables.items()},
        },
    )
    given = {f"e{i}": "no" for i in range(n)}  # P(given) is about 1e-1140
    found = net.posterior("x", given=given, method="weighting", n_samples=20_000)
    assert found["yes"] == pytest.approx(0.5, abs=4 * found.standard_error[1])
    assert 0 < found.standard_error[1] < 0.01


def test_weights_of_chunks_of_different_size_add_up():
    # Rare samples have weights 1e-200 of the others' and must not carry the sum.
    net = BayesianNetwork("x->e", tables={"x": [1e-3, 0.999], "e": [[1.0, 0.0], [1e-200, 1.0]]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)
        found = net.posterior("x", given={"e": "no"}, method="weighting", n_samples=40_000)
    assert found["no"] == pytest.approx(1.0, abs=1e-12)


def test_advice_does_not_name_the_method_in_use():
    net = BayesianNetwork("a->b", tables={"a": [1.0, 0.0], "b": [[0.0, 1.0], [0.5, 0.5]]})
    with pytest.raises(ImpossibleEvidenceError) as refused:
        net.posterior("a", given={"b": "no"}, method="weighting", n_samples=100)
    assert "method='weighting'" not in str(refused.value)
    assert "method='gibbs'" not in str(refused.value)  # a table has a zero
    assert "method='exact'" in str(refused.value)


def test_a_variable_of_a_hundred_thousand_states_is_drawn_from_all_of_them():
    n = 100_000
    net = BayesianNetwork.from_tables(["x"], [list(map(str, range(n)))], [[]], [np.full(n, 1 / n)])
    (codes,) = net.sample(200_000, output="codes")
    assert codes.dtype == np.uint32
    assert codes.max() > 99_000
    assert abs(codes.mean() - n / 2) < 5 * n / np.sqrt(12 * 200_000)
    assert_allclose(net.log_probability([codes[:5]]), np.log(1 / n))


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-300])
def test_weights_of_the_smallest_doubles_are_weights(tiny):
    net = BayesianNetwork(
        "x->e; x->f", tables={"x": [0.5, 0.5], "e": [[tiny, 1], [3 * tiny, 1]], "f": [[1, 0], [1, 0]]}
    )
    found = net.posterior("x", given={"e": "no", "f": [tiny, 1e300]}, method="weighting", n_samples=20_000)
    assert abs(found["yes"] - 0.75) < FOUR_ERRORS * found.standard_error[1]
    assert 0 < found.standard_error[1] < 0.01


def test_a_likelihood_beyond_600_decades_leaves_samples_of_its_small_end():
    # State "yes" never comes up; all samples are at the small end of the likelihood, 1e-600 of its large one.
    net = BayesianNetwork("x->y", tables={"x": [1.0, 1e-320], "y": [[0.2, 0.8], [0.5, 0.5]]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)
        found = net.posterior("y", given={"x": [1e-300, 1e300]}, method="weighting", n_samples=20_000)
    assert abs(found["yes"] - 0.8) < FOUR_ERRORS * found.standard_error[1]


def test_gibbs_does_not_call_a_rare_state_a_bad_chain():
    theta = np.arange(1, 100) / 100
    net = BayesianNetwork.from_tables(
        ["theta", *(f"x{i}" for i in range(40))],
        [list(map(str, theta)), *([["a", "b"]] * 40)],
        [(), *([(0,)] * 40)],
        [np.full(99, 1 / 99), *([np.stack([theta, 1 - theta], axis=-1)] * 40)],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # most states of theta have a posterior below 1e-8
        found = net.posterior("theta", given={f"x{i}": "ab"[i % 2] for i in range(40)}, method="gibbs", n_samples=2000)
    assert found.quality.effective_samples > 1000


def test_a_logistic_variable_with_thirty_parents_is_sampled():
    """Its full table would hold 2^31 numbers; the shares follow from the closed form for each row."""
    from bayeskit.network import Logistic

    parents = [f"p{i}" for i in range(30)]
    tables = {name: [0.6, 0.4] for name in parents} | {"y": Logistic(dict.fromkeys(parents, 0.3), bias=-3.0)}
    net = BayesianNetwork([(name, "y") for name in parents], tables=tables)
    cases = net.sample(20_000, random_state=1)
    count = sum((cases[name] == "yes").astype(int) for name in parents)
    p = 1 / (1 + np.exp(3.0 - 0.3 * count))
    n_yes = int((cases["y"] == "yes").sum())
    assert abs(n_yes - p.sum()) < 4 * np.sqrt((p * (1 - p)).sum())
    assert abs((cases["p7"] == "yes").mean() - 0.4) < 4 * np.sqrt(0.24 / 20_000)
    again = net.sample(100, random_state=1)
    assert all((again[name] == cases[name][:100]).all() for name in net.names)
