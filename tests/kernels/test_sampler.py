"""The sampler draws what its plain twin draws, number for number."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import SAMPLE_CHUNK, InferenceEngine, Sampler
from kernels.enumeration import networks

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def draws(seed, stream, n):
    """Numbers in [0, 1): a hash of seed, stream and counter, 53 bits of it."""
    state = mix(mix((seed + GOLDEN) % WORD) ^ mix((stream + 1) * 0xD1342543DE82EF95 % WORD))
    return [(mix((state + (i + 1) * GOLDEN) % WORD) >> 11) / 2**53 for i in range(n)]


def forward(net, n, seed):
    """Each variable after its parents: the first state whose cumulated probability is above the draw."""
    columns = [[0] * n for _ in net.names]
    for begin in range(0, n, SAMPLE_CHUNK):
        rows = range(begin, min(n, begin + SAMPLE_CHUNK))
        for v in net.topological_order:
            stream = begin // SAMPLE_CHUNK * len(net.names) + v
            for i, u in zip(rows, draws(seed, stream, len(rows)), strict=True):
                p = net.tables[v][tuple(columns[parent][i] for parent in net.parents[v])]
                possible = np.flatnonzero(p > 0)
                reached = [k for k in possible if u < p[: k + 1].cumsum()[-1]]
                columns[v][i] = int(reached[0] if reached else possible[-1])
    return columns


def sampler_of(net):
    return Sampler(InferenceEngine(list(net.cards), [list(p) for p in net.parents], [np.array(t) for t in net.tables]))


@settings(deadline=None, max_examples=25)
@given(networks(max_variables=5, max_states=7), st.integers(0, 40), st.integers(0, 2**64 - 1))
def test_forward_samples_equal_the_twin(net, n, seed):
    for found, expected in zip(sampler_of(net).forward(n, seed, 2), forward(net, n, seed), strict=True):
        assert_array_equal(found, expected)


@settings(deadline=None, max_examples=8)
@given(networks(max_variables=4), st.integers(0, 1000))
def test_rejection_counts_the_forward_samples_that_agree(net, seed):
    columns = [np.array(column) for column in forward(net, SAMPLE_CHUNK, seed)]
    state = int(columns[0][0])
    agree = columns[0] == state
    wanted = list(range(1, len(net.names)))
    found = sampler_of(net).weighted([0], [state], [], [], wanted, True, 0, SAMPLE_CHUNK, seed, 1)
    unit, sums, by_state, squares = found
    once, twice = 2.0**unit, 4.0**unit
    assert_array_equal(sums * [once, twice], [agree.sum()] * 2)
    counts = [np.bincount(columns[v][agree], minlength=net.cards[v]) for v in wanted]
    assert_array_equal(by_state[net.cards[0] :] * once, np.concatenate([*counts, []]))
    assert_array_equal(squares * twice, by_state * once)


@settings(deadline=None, max_examples=8)
@given(networks(max_variables=4, zeros=False), st.integers(0, 1000))
def test_weights_are_the_probabilities_of_what_was_set_in_units_of_a_power_of_two(net, seed):
    last = net.topological_order[-1]  # nothing stands below it, so the other variables are drawn as ever
    columns = [np.array(column) for column in forward(net, SAMPLE_CHUNK, seed)]
    weight = net.tables[last][(*[columns[p] for p in net.parents[last]], 0)] * np.ones(SAMPLE_CHUNK)
    unit, sums, _, _ = sampler_of(net).weighted([last], [0], [], [], [last], False, 0, SAMPLE_CHUNK, seed, 1)
    assert_allclose(sums * [2.0**unit, 4.0**unit], [weight.sum(), (weight**2).sum()], rtol=1e-12)


def test_a_chain_visits_states_as_often_as_their_posterior_says():
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet([2, 2]), rng.dirichlet([2, 2, 2], size=2), rng.dirichlet([2, 2], size=(2, 3))]
    sampler = Sampler(InferenceEngine([2, 3, 2], [[], [0], [0, 1]], tables))
    means = sampler.gibbs([2], [1], [], [], 0, [5000] * 4, 100, 10, 7, 2)
    joint = tables[0][:, None] * tables[1] * tables[2][..., 1]
    exact = np.concatenate([joint.sum(axis=1), joint.sum(axis=0), [0, joint.sum()]]) / joint.sum()
    assert means.shape == (40, 7)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (abs(means.mean(axis=0) - exact) <= 4 * error + 1e-12).all()
