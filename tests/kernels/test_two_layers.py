"""The running table of a two-layer noisy-OR gives what the sum over all states of the causes gives."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit._kernels import plan_two_layers, posterior_two_layers

LARGE = 1e9


def posterior_reference(prior, leak, disease, finding, chance):
    """P(all findings) and its parts where disease d is there, by the sum over all states; and dP / d leak."""
    total, there, slope = 0.0, np.zeros(len(prior)), np.zeros(len(leak))
    for states in product((0, 1), repeat=len(prior)):
        p = np.prod([q if x else 1 - q for q, x in zip(prior, states, strict=True)])
        fails = np.ones(len(leak))
        for d, f, q in zip(disease, finding, chance, strict=True):
            fails[f] *= 1 - q if states[d] else 1
        seen = 1 - (1 - np.array(leak)) * fails
        total += p * seen.prod()
        there += p * seen.prod() * np.array(states)
        for f in range(len(leak)):
            slope[f] += p * fails[f] * np.delete(seen, f).prod()
    return np.log(total), there / total, slope / total


@st.composite
def networks(draw):
    n_diseases, n_findings = draw(st.integers(1, 7)), draw(st.integers(1, 5))
    chances = st.floats(0.01, 0.99)
    links = draw(
        st.lists(st.sampled_from(list(product(range(n_diseases), range(n_findings)))), min_size=1, unique=True)
    )
    return (
        draw(st.lists(chances, min_size=n_diseases, max_size=n_diseases)),
        draw(st.lists(chances, min_size=n_findings, max_size=n_findings)),
        [d for d, _ in links],
        [f for _, f in links],
        draw(st.lists(chances, min_size=len(links), max_size=len(links))),
    )


@given(networks(), st.sampled_from([LARGE, 0.0]), st.integers(0, 3))
def test_the_kernel_gives_the_sum_over_all_states(network, budget, seed):
    prior, leak, disease, finding, _ = network
    order, work, peak = plan_two_layers(len(prior), len(leak), disease, finding, 5, seed)
    assert sorted(order) == list(range(len(prior) + len(leak)))
    assert work >= 1
    assert 1 <= peak <= len(prior) + len(leak)
    ours = posterior_two_layers(*network, order, budget)
    for mine, plain in zip(ours, posterior_reference(*network), strict=True):
        assert_allclose(mine, plain, rtol=1e-11)


@given(networks(), st.randoms())
def test_any_order_gives_the_same(network, random):
    order = list(range(len(network[0]) + len(network[1])))
    expected = posterior_two_layers(*network, order, LARGE)
    random.shuffle(order)
    for mine, first in zip(posterior_two_layers(*network, order, 0.0), expected, strict=True):
        assert_allclose(mine, first, rtol=1e-12)


def test_tiny_magnitudes_are_scaled():
    n = 40
    args = [1e-30] * n, [1e-20] * n, list(range(n)), list(range(n)), [1e-5] * n
    order, _, _ = plan_two_layers(n, n, args[2], args[3], 1, 0)
    log_z, posterior, _ = posterior_two_layers(*args, order, LARGE)
    assert log_z == pytest.approx(n * np.log(1e-20), rel=1e-13)
    assert_allclose(posterior, 1e-30 * 1e-5 / 1e-20, rtol=1e-10)


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="outside the network"):
        plan_two_layers(1, 1, [1], [0], 1, 0)
    with pytest.raises(ValueError, match="each variable once"):
        posterior_two_layers([0.5], [0.5], [0], [0], [0.5], [0, 0], LARGE)
