"""The fused pass of Gaussian mixtures gives what a loop over rows gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from bayeskit._kernels import GaussianMixtureRows, Score

ROUNDING = 1e-10


def twin(X, weight, pi, mean, spread, hard):
    """Share out row by row; moments about the means; a missing cell is guessed by its conditional distribution."""
    d = X.shape[1]
    k, full = len(pi), spread.ndim == 3
    total, known_weight = np.zeros(k), np.zeros((k, d))
    first, second = np.zeros((k, d)), np.zeros(spread.shape)
    objective, logs = 0.0, []
    for x, w in zip(X, weight, strict=True):
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        log = np.log(pi)
        for c in range(k):
            cov = spread[c] if full else np.diag(spread[c])
            if len(o):
                log[c] += multivariate_normal.logpdf(x[o], mean[c][o], cov[np.ix_(o, o)])
        r = np.exp(log - log.max())
        evidence = log.max() + np.log(r.sum())
        r = (np.arange(k) == log.argmax()).astype(float) if hard else r / r.sum()
        logs.append(log.max() if hard else evidence)
        objective += w * logs[-1]
        for c in range(k):
            t = x - mean[c]
            total[c] += w * r[c]
            if not full:
                known_weight[c, o] += w * r[c]
                first[c, o] += w * r[c] * t[o]
                second[c, o] += w * r[c] * t[o] ** 2
                continue
            left = np.zeros((d, d))
            if len(m):
                gain = np.linalg.solve(spread[c][np.ix_(o, o)], spread[c][np.ix_(o, m)]).T
                t[m] = gain @ t[o]
                left[np.ix_(m, m)] = spread[c][np.ix_(m, m)] - gain @ spread[c][np.ix_(o, m)]
            first[c] += w * r[c] * t
            second[c] += w * r[c] * (np.outer(t, t) + left)
    return total, None if full else known_weight, first, second, objective, int(np.argmin(logs))


@st.composite
def mixtures(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(1, 40)), draw(st.integers(1, 5)), draw(st.integers(1, 6))
    X = rng.normal(size=(n, d)) * 2
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    root = rng.normal(size=(k, d, d))
    spread = root @ root.transpose(0, 2, 1) + np.eye(d) if draw(st.booleans()) else rng.uniform(0.3, 3, (k, d))
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else None
    return X, weight, rng.dirichlet(np.ones(k)), rng.normal(size=(k, d)), spread, draw(st.booleans())


def compare(found, expected):
    for ours, theirs in zip(found[:5], expected[:5], strict=True):
        if theirs is None:
            assert ours is None
        else:
            assert_allclose(ours, theirs, rtol=ROUNDING, atol=ROUNDING * 100)
    assert found[5] == expected[5]
    assert found[6] == -1


@given(mixtures())
@settings(max_examples=80, deadline=None)
def test_a_pass_is_its_twin(case):
    X, weight, pi, mean, spread, hard = case
    rows = GaussianMixtureRows(X, np.zeros(X.shape[1]), weight)
    found = rows.expect(np.log(pi), mean, spread, hard, 2)
    compare(found, twin(X, np.ones(len(X)) if weight is None else weight, pi, mean, spread, hard))


@pytest.mark.parametrize("k", [1, 2, 7, 8])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("spread", ["one variance for all", "one per component", "one per column"])
def test_k_means_over_several_tiles_is_its_twin(k, gaps, spread):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(333, 5)) * 2
    X[rng.random(X.shape) < gaps] = np.nan
    weight, mean = rng.integers(1, 4, len(X)).astype(float), rng.normal(size=(k, 5))
    variance = {
        "one variance for all": np.full((k, 5), 1.7),
        "one per component": np.repeat(rng.uniform(0.5, 2, (k, 1)), 5, axis=1),
        "one per column": rng.uniform(0.5, 2, (k, 5)),
    }[spread]
    pi = rng.dirichlet(np.ones(k))
    rows = GaussianMixtureRows(X, np.zeros(5), weight)
    expected = twin(X, weight, pi, mean, variance, True)
    compare(rows.expect(np.log(pi), mean, variance, True, 2), expected)
    without_scatter = rows.expect(np.log(pi), mean, variance, True, 2, False)
    compare(without_scatter, (*expected[:3], np.zeros((k, 5)), *expected[4:]))


@given(mixtures())
@settings(max_examples=40, deadline=None)
def test_the_class_of_a_row_is_that_with_the_largest_density_and_of_equal_ones_the_first(case):
    X, _, pi, mean, spread, _ = case
    twice = [np.concatenate([part, part]) for part in (np.log(pi / 2), mean, spread)]
    rows = GaussianMixtureRows(X, np.zeros(X.shape[1]), None)
    log_joint = rows.score(*twice, Score.LOG_JOINT, 1)[0]
    assert_array_equal(rows.score(*twice, Score.CLASS, 1)[0], log_joint.argmax(axis=1))


def test_rows_without_a_density_are_named_by_class_too():
    rows = GaussianMixtureRows(np.array([[0.0], [1e200]]), np.zeros(1), None)
    assert rows.score(np.log([0.5, 0.5]), np.array([[0.0], [1.0]]), np.ones((2, 1)), Score.CLASS, 1)[1] == 1


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("hard", [False, True])
def test_threads_do_not_change_a_bit(full, hard):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000 if not full else 60_000, 5))
    X[rng.random(X.shape) < 0.02] = np.nan
    spread = np.repeat(np.eye(5)[None], 4, axis=0) if full else np.ones((4, 5))
    rows = GaussianMixtureRows(X, np.zeros(5), None)
    mean = rng.normal(size=(4, 5))
    one, three = (rows.expect(np.log(np.full(4, 0.25)), mean, spread, hard, n) for n in (1, 3))
    for a, b in zip(one, three, strict=True):
        assert_array_equal(a, b)


@given(mixtures(), st.sampled_from(["f4", "f8", "columns", "strided"]))
@settings(max_examples=30, deadline=None)
def test_scores_follow_from_the_densities_of_scipy(case, form):
    X, _, pi, mean, spread, _ = case
    X = X.astype("f4").astype("f8") if form == "f4" else X
    given_as = {
        "f4": lambda: X.astype("f4"),
        "f8": lambda: X,
        "columns": lambda: list(np.asfortranarray(X).T),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
    }[form]()
    rows = GaussianMixtureRows(given_as, np.zeros(X.shape[1]), None)
    log = np.repeat(np.log(pi)[None], len(X), axis=0)
    for i, x in enumerate(X):
        o = np.flatnonzero(~np.isnan(x))
        for c in range(len(pi)):
            cov = spread[c] if spread.ndim == 3 else np.diag(spread[c])
            if len(o):
                log[i, c] += multivariate_normal.logpdf(x[o], mean[c][o], cov[np.ix_(o, o)])
    found, impossible, singular = rows.score(np.log(pi), mean, spread, Score.LOG_JOINT, 2)
    assert_allclose(found, log, rtol=1e-9, atol=1e-9)
    assert (impossible, singular) == (-1, -1)
    evidence = rows.score(np.log(pi), mean, spread, Score.LOG_EVIDENCE, 1)[0]
    assert_allclose(evidence, np.log(np.exp(log - log.max(1, keepdims=True)).sum(1)) + log.max(1), rtol=1e-9, atol=1e-9)


def test_a_singular_covariance_is_named():
    rows = GaussianMixtureRows(np.eye(3), np.zeros(3), None)
    spread = np.stack([np.eye(3), np.ones((3, 3))])
    assert rows.expect(np.log([0.5, 0.5]), np.zeros((2, 3)), spread, False, 1)[6] == 1


def test_rows_a_thousand_million_away_lose_no_digits():
    rng = np.random.default_rng(3)
    near = rng.integers(-8, 9, (500, 3)) / 8.0
    far = near + 1e9  # exact: eighths are held at this size
    one = GaussianMixtureRows(near, np.zeros(3), None)
    two = GaussianMixtureRows(far, np.full(3, 1e9), None)
    arguments = (np.log([0.4, 0.6]), np.array([[0.1, 0, 0], [0, 0.2, 0]]), np.full((2, 3), 0.3), False, 1)
    for a, b in zip(one.expect(*arguments), two.expect(*arguments), strict=True):
        assert_array_equal(a, b)
