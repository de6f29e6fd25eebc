"""The passes over chains of hidden states give what plain loops in logarithms give."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from bayeskit._kernels import expected_moments, expected_values, forward_backward, viterbi


def forward_twin(log_b, start, step):
    """log α_t(j) = log b_t(j) + log Σ_i α_{t-1}(i) a_ij, normalised row by row."""
    log_alpha, evidence = np.empty_like(log_b), np.empty(len(log_b))
    for t in range(len(log_b)):
        prior = start if t == 0 else logsumexp(log_alpha[t - 1][:, None] + step, axis=0)
        joint = prior + log_b[t]
        evidence[t] = logsumexp(joint)
        log_alpha[t] = joint - evidence[t]
    return log_alpha, evidence


def smooth_twin(log_b, start, step):
    """log β_t(i) = log Σ_j a_ij b_{t+1}(j) β_{t+1}(j); ξ_t(i, j) ∝ α_t(i) a_ij b_{t+1}(j) β_{t+1}(j)."""
    log_alpha, evidence = forward_twin(log_b, start, step)
    after = np.zeros_like(log_b)
    n_step = np.zeros_like(step)
    for t in reversed(range(len(log_b) - 1)):
        ahead = step + (log_b[t + 1] + after[t + 1])[None, :] - evidence[t + 1]
        after[t] = logsumexp(ahead, axis=1)
        n_step += np.exp(log_alpha[t][:, None] + ahead)
    with np.errstate(invalid="ignore"):
        log_gamma = np.where(np.isneginf(log_alpha), -np.inf, log_alpha + after)
    return np.exp(log_gamma), n_step, evidence


def viterbi_twin(log_b, start, step):
    """δ_t(j) = b_t(j) max_i δ_{t-1}(i) a_ij; of equal ones the first."""
    score, back = start + log_b[0], []
    for t in range(1, len(log_b)):
        candidates = score[:, None] + step
        back.append(candidates.argmax(axis=0))
        score = candidates.max(axis=0) + log_b[t]
    path = [int(score.argmax())]
    for choice in reversed(back):
        path.append(int(choice[path[-1]]))
    return np.array(path[::-1]), float(score.max())


def chain(rng, n, k, zeros, scale):
    """A chain in which the diagonal is always possible, so that no row is impossible where all densities are finite."""
    start, step = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)
    if zeros:
        step = np.where((rng.random((k, k)) < 0.5) & ~np.eye(k, dtype=bool), 0.0, step)
        step /= step.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return rng.normal(size=(n, k)) * scale, np.log(start), np.log(step)


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, lengths = draw(st.integers(1, 18)), draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    zeros, scale = draw(st.booleans()), draw(st.sampled_from([0.1, 3.0, 300.0]))
    log_b, start, step = chain(rng, sum(lengths), k, zeros, scale)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return log_b, offsets, start, step


@settings(deadline=None)
@given(cases())
def test_smoothing_is_what_loops_in_logarithms_give(case):
    log_b, offsets, start, step = case
    filtered, *_ = forward_backward(log_b, offsets[:-1], start, step, None, None, False, 1)
    gamma, evidence, _, _, n_start, n_step, impossible = forward_backward(
        log_b, offsets[:-1], start, step, None, None, True, 2
    )
    assert impossible == -1
    expected_start, expected_step = np.zeros(len(start)), np.zeros_like(step)
    for a, b in pairwise(offsets):
        log_alpha, _ = forward_twin(log_b[a:b], start, step)
        own_gamma, own_step, own_evidence = smooth_twin(log_b[a:b], start, step)
        assert_allclose(filtered[a:b], np.exp(log_alpha), atol=1e-12)
        assert_allclose(gamma[a:b], own_gamma, atol=1e-10)
        assert_allclose(evidence[a:b], own_evidence, rtol=1e-10, atol=1e-10)
        expected_start += own_gamma[0]
        expected_step += own_step
    assert_allclose(n_start, expected_start, atol=1e-10)
    assert_allclose(n_step, expected_step, atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 5, 10, 12, 16, 17])
@pytest.mark.parametrize(("zeros", "scale"), [(False, 3.0), (True, 3.0), (True, 60.0), (False, 300.0)])
def test_a_long_sequence_is_smoothed_as_by_loops_with_and_without_counts(k, zeros, scale):
    log_b, start, step = chain(np.random.default_rng(k), 101, k, zeros, scale)
    log_b += np.log(1e-300)
    own_gamma, own_step, own_evidence = smooth_twin(log_b, start, step)
    counted = forward_backward(log_b, np.array([0]), start, step, None, None, True, 1)
    alone = forward_backward(log_b, np.array([0]), start, step, None, None, True, 1, count=False)
    assert_allclose(counted[0], own_gamma, atol=1e-10)
    assert_allclose(counted[1], own_evidence, rtol=1e-12)
    assert_allclose(counted[5], own_step, atol=1e-9)
    for a, b in zip(counted[:2], alone[:2], strict=True):
        assert_array_equal(a, b)
    assert not alone[5].any()


@settings(deadline=None)
@given(cases(), st.data())
def test_two_blocks_give_what_one_gives(case, data):
    log_b, offsets, start, step = case
    assume(len(log_b) > 1)
    cut = data.draw(st.integers(1, len(log_b) - 1))
    whole = forward_backward(log_b, offsets[:-1], start, step, None, None, True, 1)
    first, second = offsets[:-1][offsets[:-1] < cut], offsets[:-1][offsets[:-1] >= cut] - cut
    goes_on = cut not in offsets
    last = forward_backward(log_b[:cut], first, start, step, None, None, False, 1)[2]
    b = forward_backward(log_b[cut:], second, start, step, last if goes_on else None, None, True, 1)
    a = forward_backward(log_b[:cut], first, start, step, None, b[3] if goes_on else None, True, 1)
    assert_allclose(np.concatenate([a[0], b[0]]), whole[0], atol=1e-10)
    assert_allclose(a[4] + b[4], whole[4], atol=1e-10)
    assert_allclose(a[5] + b[5], whole[5], atol=1e-9)


@settings(deadline=None)
@given(cases(), st.data())
def test_the_best_path_is_what_a_loop_gives_in_one_block_and_in_two(case, data):
    log_b, offsets, start, step = case
    n, k = log_b.shape
    assume(n > 1)
    path, last, log_p = np.empty(n, np.int32), np.empty(k), np.empty(len(offsets) - 1)
    assert viterbi(log_b, offsets[:-1], start, step, None, path, -1, last, log_p, 2) == (-1, -1)
    for s, (a, b) in enumerate(pairwise(offsets)):
        expected, score = viterbi_twin(log_b[a:b], start, step)
        assert_array_equal(path[a:b], expected)
        assert_allclose(log_p[s], score, rtol=1e-12, atol=1e-12)
    cut = data.draw(st.integers(1, n - 1))
    first, second = offsets[:-1][offsets[:-1] < cut], offsets[:-1][offsets[:-1] >= cut] - cut
    goes_on = cut not in offsets
    carried, blocks, log_p = np.empty(k), np.empty(n, np.int32), np.empty(n)
    viterbi(log_b[:cut], first, start, step, None, None, -1, carried, log_p, 1)
    before = carried.copy() if goes_on else None
    state, _ = viterbi(log_b[cut:], second, start, step, before, blocks[cut:], -1, carried, log_p, 1)
    viterbi(log_b[:cut], first, start, step, None, blocks[:cut], state, carried, log_p, 1)
    assert_array_equal(blocks, path)


def test_a_state_that_lost_all_its_digits_can_still_be_the_only_one_left():
    # Nothing leads from state 0 to 1; the first row makes 1 e^-2000 times as probable, the second rules out 0.
    log_b = np.array([[0.0, -2000.0], [-np.inf, 0.0]])
    with np.errstate(divide="ignore"):
        start, step = np.log([0.5, 0.5]), np.log(np.eye(2))
    gamma, evidence, *_, impossible = forward_backward(log_b, np.array([0]), start, step, None, None, True, 1)
    assert impossible == -1
    assert_array_equal(gamma, [[0.0, 1.0], [0.0, 1.0]])
    assert_allclose(evidence.sum(), np.log(0.5) - 2000.0, rtol=1e-15)


def test_densities_of_1e_300_over_many_rows_keep_their_digits():
    rng = np.random.default_rng(0)
    log_b, start, step = chain(rng, 20_000, 3, False, 1.0)
    plain = forward_backward(log_b, np.array([0]), start, step, None, None, True, 1)
    tiny = forward_backward(log_b + np.log(1e-300), np.array([0]), start, step, None, None, True, 1)
    assert_allclose(tiny[0], plain[0], atol=1e-9)
    assert_allclose(tiny[1], plain[1] + np.log(1e-300), rtol=1e-12)


def test_the_first_impossible_row_is_told():
    log_b = np.zeros((5, 2))
    log_b[3] = -np.inf
    start, step = np.log([0.5, 0.5]), np.log(np.full((2, 2), 0.5))
    assert forward_backward(log_b, np.array([0, 2]), start, step, None, None, True, 1)[-1] == 3
    path, last, log_p = np.empty(5, np.int32), np.empty(2), np.empty(2)
    assert viterbi(log_b, np.array([0, 2]), start, step, None, path, -1, last, log_p, 1)[1] == 3


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_sums_are_the_same_to_the_last_bit_for_any_number_of_threads(n_threads):
    rng = np.random.default_rng(1)
    log_b, start, step = chain(rng, 200_000, 5, False, 2.0)
    starts = np.arange(0, 200_000, 50)
    one = forward_backward(log_b, starts, start, step, None, None, True, 1)
    many = forward_backward(log_b, starts, start, step, None, None, True, n_threads)
    for a, b in zip(one[:2] + one[4:6], many[:2] + many[4:6], strict=True):
        assert_array_equal(a, b)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.uint8, np.uint16, np.uint32]))
def test_expected_cells_are_sums_of_shares(seed, dtype):
    rng = np.random.default_rng(seed)
    n, k, size = int(rng.integers(1, 40)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    share, codes = rng.dirichlet(np.ones(k), size=n), rng.integers(0, size + 1, n).astype(dtype)
    x, centre = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)), rng.normal(size=k)
    values, moments = np.zeros((size, k)), np.zeros((3, k))
    expected_values(codes, share, values)
    expected_moments(x, share, centre, moments)
    assert_allclose(values, [share[codes == v].sum(axis=0) for v in range(size)], atol=1e-13)
    known = ~np.isnan(x)
    apart = x[known, None] - centre
    sums = [share[known].sum(axis=0), (share[known] * apart).sum(axis=0), (share[known] * apart**2).sum(axis=0)]
    assert_allclose(moments, sums, atol=1e-12)
