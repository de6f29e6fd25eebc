"""The fused pass of latent classes gives what a loop over rows gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from bayeskit._kernels import LatentClassRows, Score

MISSING = 255


def twin(codes, sizes, numbers, weight, pi, table, mean, variance):
    """log P(x, c) as a sum over known cells; each row adds its shares to the cells that it has."""
    k, starts = len(pi), np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    total, cells = np.zeros(k), np.zeros((starts[-1], k))
    known, first, second = (np.zeros((len(numbers), k)) for _ in range(3))
    objective, logs = 0.0, []
    for i in range(len(weight)):
        log = np.log(pi)
        for j, column in enumerate(codes):
            if column[i] < sizes[j]:
                log = log + np.log(table[starts[j] + column[i]])
        for a, column in enumerate(numbers):
            if not np.isnan(column[i]):
                log = log + norm.logpdf(column[i], mean[a], np.sqrt(variance[a]))
        evidence = log.max() + np.log(np.exp(log - log.max()).sum())
        share = weight[i] * np.exp(log - evidence)
        objective += weight[i] * evidence
        logs.append(log)
        total += share
        for j, column in enumerate(codes):
            if column[i] < sizes[j]:
                cells[starts[j] + column[i]] += share
        for a, column in enumerate(numbers):
            if not np.isnan(column[i]):
                t = column[i] - mean[a]
                known[a] += share
                first[a] += share * t
                second[a] += share * t**2
    return (total, cells, known, first, second, objective), np.array(logs)


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(1, 4), max_size=3))
    n_numeric = draw(st.integers(0 if sizes else 1, 2))
    codes = [np.where(rng.random(n) < 0.2, MISSING, rng.integers(0, s, n)).astype(np.uint8) for s in sizes]
    numbers = [np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)) for _ in range(n_numeric)]
    table = np.concatenate([rng.dirichlet(np.ones(s), k).T for s in sizes] or [np.empty((0, k))])
    table = np.ascontiguousarray(table)
    own = rng.dirichlet(np.ones(k)), table, rng.normal(size=(n_numeric, k)), rng.uniform(0.3, 2, (n_numeric, k))
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else None
    return codes, sizes, numbers, weight, own


@given(cases())
@settings(max_examples=80, deadline=None)
def test_a_pass_is_its_twin(case):
    codes, sizes, numbers, weight, (pi, table, mean, variance) = case
    n = len((codes or numbers)[0])
    rows = LatentClassRows(codes, sizes, numbers, np.zeros(len(numbers)), weight)
    found = rows.expect(np.log(pi), np.log(table), mean, variance, 2)
    each = np.ones(n) if weight is None else weight
    expected, logs = twin(codes, sizes, numbers, each, pi, table, mean, variance)
    for ours, theirs in zip(found[:6], expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    assert found[6] == -1
    scores, impossible = rows.score(np.log(pi), np.log(table), mean, variance, Score.LOG_JOINT, 1)
    assert_allclose(scores, logs, rtol=1e-10, atol=1e-10)
    assert impossible == -1


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    codes, numbers = [rng.integers(0, 3, 200_000, dtype=np.uint8)], [rng.normal(size=200_000)]
    rows = LatentClassRows(codes, [3], numbers, np.zeros(1), None)
    table = np.log(np.ascontiguousarray(rng.dirichlet(np.ones(3), 2).T))
    one, three = (rows.expect(np.log([0.4, 0.6]), table, np.array([[0.0, 1.0]]), np.ones((1, 2)), n) for n in (1, 3))
    for a, b in zip(one, three, strict=True):
        assert_array_equal(a, b)


def test_other_layouts_of_parameters_are_refused():
    rows = LatentClassRows([np.array([0, 1], dtype=np.uint8)], [2], [], np.empty(0), None)
    table = np.asfortranarray(np.log([[0.5, 0.2], [0.5, 0.8]]))
    with pytest.raises(ValueError, match="C-contiguous"):
        rows.expect(np.log([0.5, 0.5]), table, np.empty((0, 2)), np.empty((0, 2)), 1)


def test_a_row_that_no_class_can_give_is_named():
    rows = LatentClassRows([np.array([0, 1], dtype=np.uint8)], [2], [], np.empty(0), None)
    with np.errstate(divide="ignore"):
        table = np.log(np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert rows.expect(np.log([0.5, 0.5]), table, np.empty((0, 2)), np.empty((0, 2)), 1)[6] == 1
