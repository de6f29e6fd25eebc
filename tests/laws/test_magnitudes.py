"""Exact answers equal sums of logarithms, for factors from 1e-300 to 1e300 and thousands of observations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit.network import BayesianNetwork
from kernels.enumeration import networks
from networks import public

ROUNDING = 1e-11
slowly = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def log_sum(log, axis=None):
    """log Σ exp, where all may be minus infinity."""
    peak = np.max(log, axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(log - peak).sum(axis=axis, keepdims=True)) + peak
    return np.squeeze(total, axis=axis)


def log_of(table):
    with np.errstate(divide="ignore"):
        return np.log(table)


@st.composite
def extreme_questions(draw):
    """A network with factors down to 1e-300, evidence, and the logarithm of the joint table times the evidence."""
    net = draw(networks(max_variables=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables = []
    for table in net.tables:
        table = np.where(table > 0, 10.0 ** rng.uniform(-300, 0, size=table.shape), 0.0)
        # The largest of each row takes the rest, so that rows sum to 1 and the others stay as small as they are.
        table = table / table.max(axis=-1, keepdims=True)
        tables.append(table / table.sum(axis=-1, keepdims=True))
    net = BayesianNetwork.from_tables(net.names, net.states, net.parents, tables)
    log = np.zeros(net.cards)
    for x in product(*map(range, net.cards)):
        log[x] = sum(log_of(t[(*[x[p] for p in net.parents[v]], x[v])]) for v, t in enumerate(net.tables))
    evidence = {}
    for v, name in enumerate(net.names):
        kind = draw(st.sampled_from(["open", "state", "likelihood", "likelihood"]))
        if kind == "open":
            continue
        if kind == "state":
            k = draw(st.integers(0, net.cards[v] - 1))
            evidence[name], numbers = net.states[v][k], np.eye(net.cards[v])[k]
        else:
            numbers = 10.0 ** rng.uniform(-300, 300, size=net.cards[v])
            evidence[name] = numbers
        log = log + log_of(numbers).reshape([-1 if u == v else 1 for u in range(len(net.names))])
    return net, evidence, log


def log_marginal(log, variables):
    others = tuple(v for v in range(log.ndim) if v not in variables)
    kept = sorted(variables)
    return np.asarray(log_sum(log, others) if others else log).transpose([kept.index(v) for v in variables])


@slowly
@given(extreme_questions())
def test_all_posteriors_equal_enumeration_in_logarithms(question):
    net, evidence, log = question
    total = log_sum(log)
    assume(np.isfinite(total))
    answer = net.posterior(given=evidence)
    assert_allclose(answer.log_evidence, total, rtol=1e-12, atol=1e-11)
    for v, name in enumerate(net.names):
        expected = np.exp(log_marginal(log, [v]) - total)
        assert_allclose(answer[name].array, expected, atol=ROUNDING)
        # Small answers have all their digits too, as long as they are doubles.
        assert_allclose(answer[name].array, expected, rtol=1e-9, atol=1e-290)
        if name not in evidence:
            assert_allclose(net.joint([name], given=evidence).array, expected, rtol=1e-9, atol=1e-290)


@slowly
@given(extreme_questions(), st.data())
def test_most_probable_states_equal_enumeration_in_logarithms(question, data):
    net, evidence, log = question
    assume(np.isfinite(log_sum(log)))
    best = net.most_probable(given=evidence)
    observed = {net.index(name): net.state(name, v) for name, v in evidence.items() if isinstance(v, str)}
    cell = tuple(observed[v] if v in observed else net.state(name, best[name]) for v, name in enumerate(net.names))
    assert_allclose(log[cell], log.max(), rtol=1e-12, atol=1e-11)
    wanted = data.draw(st.lists(st.integers(0, len(net.names) - 1), unique=True, min_size=1, max_size=4))
    some = net.most_probable([net.names[v] for v in wanted], given=evidence)
    table = log_marginal(log, wanted)
    chosen = tuple(net.state(net.names[v], some[net.names[v]]) for v in wanted)
    assert_allclose(table[chosen], table.max(), rtol=1e-12, atol=1e-11)


@slowly
@given(extreme_questions(), st.data())
def test_rows_equal_enumeration_in_logarithms(question, data):
    net, _, _ = question
    log = np.zeros(net.cards)
    for v, table in enumerate(net.tables):
        scope = [*net.parents[v], v]
        axes = np.argsort(scope)
        shape = [net.cards[u] if u in scope else 1 for u in range(len(net.names))]
        log = log + log_of(table).transpose(axes).reshape(shape)
    target = data.draw(st.integers(0, len(net.names) - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    codes = [np.where(rng.random(9) < 0.4, 255, rng.integers(0, card, 9)).astype(np.uint8) for card in net.cards]
    expected = np.empty((9, net.cards[target]))
    possible = np.ones(9, dtype=bool)
    for i in range(9):
        known = tuple(
            slice(None) if v == target or codes[v][i] == 255 else slice(codes[v][i], codes[v][i] + 1)
            for v in range(len(net.names))
        )
        row = log_marginal(log[known], [target])
        possible[i] = np.isfinite(log_sum(row))
        expected[i] = np.exp(row - log_sum(row)) if possible[i] else np.nan
    answer = net.predict_proba(codes, net.names[target], impossible="prior")
    assert_allclose(answer[possible], expected[possible], atol=ROUNDING)
    assert_allclose(answer[possible], expected[possible], rtol=1e-9, atol=1e-290)


def hidden_chain(n, n_states, rng, lowest):
    """A hidden Markov chain of n steps, each with an observation of its own probability table."""
    move = rng.dirichlet(np.ones(n_states), size=n_states)
    seen = 10.0 ** rng.uniform(lowest, -1.0, size=(n, n_states))
    tables = [rng.dirichlet(np.ones(n_states)), *([move] * (n - 1)), *np.stack([seen, 1.0 - seen], axis=-1)]
    names = [*(f"h{i}" for i in range(n)), *(f"x{i}" for i in range(n))]
    states = [[f"s{k}" for k in range(n_states)]] * n + [["a", "b"]] * n
    parents = [(), *((i,) for i in range(n - 1)), *((i,) for i in range(n))]
    return BayesianNetwork.from_tables(names, states, parents, tables), seen


def forward_backward(net, seen):
    """The scaled sweeps of Rabiner (1989), section V.A, with observations scaled by their largest value."""
    n, move = len(seen), net.tables[1]
    peak = seen.max(axis=1)
    scaled = seen / peak[:, None]
    forward, backward, log = np.empty_like(seen), np.ones_like(seen), 0.0
    for i in range(n):
        now = (net.tables[0] if i == 0 else forward[i - 1] @ move) * scaled[i]
        forward[i] = now / now.sum()
        log += np.log(now.sum()) + np.log(peak[i])
    for i in reversed(range(n - 1)):
        now = move @ (scaled[i + 1] * backward[i + 1])
        backward[i] = now / now.sum()
    posterior = forward * backward
    return posterior / posterior.sum(axis=1, keepdims=True), log


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(2, 300), st.integers(2, 4), st.sampled_from([-2.0, -30.0, -100.0]), st.integers(0, 2**32 - 1))
def test_a_hidden_chain_equals_scaled_forward_and_backward(n, n_states, lowest, seed):
    net, seen = hidden_chain(n, n_states, np.random.default_rng(seed), lowest)
    expected, log = forward_backward(net, seen)
    answer = net.posterior(given={f"x{i}": "a" for i in range(n)})
    assert_allclose(answer.log_evidence, log, rtol=1e-12)
    assert_allclose([answer[f"h{i}"].array for i in range(n)], expected, atol=ROUNDING)


def test_a_chain_of_3000_observations_equals_scaled_forward_and_backward():
    net, seen = hidden_chain(3000, 3, np.random.default_rng(7), -50.0)
    expected, log = forward_backward(net, seen)
    given_all = {f"x{i}": "a" for i in range(3000)}
    answer = net.posterior(given=given_all)
    assert_allclose(answer.log_evidence, log, rtol=1e-12)
    assert_allclose([answer[f"h{i}"].array for i in range(3000)], expected, atol=ROUNDING)
    assert_allclose(net.posterior("h1500", given=given_all).array, expected[1500], atol=ROUNDING)


def test_the_best_states_of_3000_steps_are_those_of_viterbi():
    net, seen = hidden_chain(3000, 3, np.random.default_rng(8), -50.0)
    move, best, back = np.log(net.tables[1]), np.log(net.tables[0]) + np.log(seen[0]), []
    for now in seen[1:]:
        ways = best[:, None] + move
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + np.log(now)
    path = [int(best.argmax())]
    for step in back[::-1]:
        path.append(int(step[path[-1]]))
    found = net.most_probable(given={f"x{i}": "a" for i in range(3000)})
    assert [found[f"h{i}"] for i in range(3000)] == [f"s{k}" for k in path[::-1]]
    assert_allclose(found.log_joint, best.max(), rtol=1e-12)


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "win95pts"])
def test_wide_numbers_give_what_doubles_give(name):
    net = public(name)
    cases = net.sample(3, random_state=3, output="codes")
    rng = np.random.default_rng(0)
    for i in range(3):
        hard = [int(v) for v in rng.choice(len(net.names), 5, replace=False)]
        states = [int(cases[v][i]) for v in hard]
        plan = net._engine.compile().marginals(hard)
        (plain, log), (wide, wide_log) = (plan.marginals(hard, states, [], [], w) for w in (False, True))
        assert_allclose(wide, plain, atol=1e-14)
        assert_allclose(wide_log, log, rtol=1e-13)
        free = [v for v in range(len(net.names)) if v not in hard]
        plan = net._engine.native.maximum(free, hard, [])
        assert plan.maximum(hard, states, [], [])[0] == plan.maximum(hard, states, [], [], True)[0]
