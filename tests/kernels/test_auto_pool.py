"""The kernels of the pool give the loss that plain formulas give, and the optimum that SciPy finds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax as scipy_log_softmax

from bayeskit._kernels import (
    fit_class_matrix,
    fit_pool,
    log_softmax,
    pool_log_posterior,
    pool_loss,
    pool_members,
)


def pool(seed=0, rows=60, members=4, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows).astype(np.uint32)
    scores = rng.normal(size=(rows, members, k)) + 1.0 * (np.arange(k) == y[:, None])[:, None, :]
    scores = np.ascontiguousarray(scores.transpose(1, 2, 0), dtype=np.float32)  # (members, k, rows)
    return scores, y, rng.integers(1, 3, rows).astype(float)


def test_the_loss_of_the_pool_and_its_gradient():
    scores, y, weight = pool()
    parameters = np.random.default_rng(1).normal(size=7)

    def plain(z):
        s = np.einsum("mcr,m->rc", scores.astype(float), z[:4]) + z[4:]
        s -= s.max(axis=1, keepdims=True)
        return -(weight * (s[np.arange(60), y] - np.log(np.exp(s).sum(axis=1)))).sum()

    loss, gradient = pool_loss(scores, y, weight, parameters, 1)
    log_posterior = pool_log_posterior(scores, parameters[:4], parameters[4:], 1)
    assert_allclose(np.exp(log_posterior).sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(-weight @ log_posterior[np.arange(60), y], plain(parameters), rtol=1e-12)
    assert_allclose(loss, plain(parameters), rtol=1e-12)
    assert_allclose(gradient, approx_fprime(parameters, plain, 1e-7), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_that_scipy_finds(seed):
    scores, y, weight = pool(seed)
    scores[0] *= -1  # a member that misleads gets weight 0
    around, penalty = np.full(4, 0.25), 2.0

    def objective(z):
        loss, gradient = pool_loss(scores, y, weight, z, 1)
        away = z[:4] - around
        gradient[:4] += penalty * away
        gradient[4:] += z[4:]
        return loss + 0.5 * penalty * away @ away + 0.5 * z[4:] @ z[4:], gradient

    start = np.concatenate([around, np.zeros(3)])
    bounds = [(0, None)] * 4 + [(None, None)] * 3
    theirs = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9}
    )
    ours = fit_pool(scores, y, weight, around, penalty, start, 1e-9, 1)
    assert ours[0] == 0.0
    assert_allclose(ours, theirs.x, atol=1e-3)
    assert_allclose(objective(ours)[0], theirs.fun, rtol=1e-7)


@pytest.mark.parametrize(("seed", "rows", "k"), [(0, 90, 3), (1, 700, 4), (2, 300, 2)])
def test_the_matrix_of_classes_is_the_one_that_scipy_finds(seed, rows, k):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows).astype(np.uint32)
    # The second class looks like the first more often than its scores say.
    z = rng.normal(size=(k, rows)) + 1.5 * (np.arange(k)[:, None] == np.where(y == 1, 0, y))
    weight, penalty = rng.integers(0, 3, rows).astype(float), 3.0

    def objective(x):
        matrix = x.reshape(k, k + 1)
        s = matrix[:, :-1] @ z + matrix[:, -1:]
        s = s - s.max(axis=0)
        loss = -(weight * (s[y, np.arange(rows)] - np.log(np.exp(s).sum(axis=0)))).sum()
        away = matrix[:, :-1] - np.eye(k)
        return loss + 0.5 * penalty * (away**2).sum() + 0.5 * (matrix[:, -1] ** 2).sum()

    theirs = minimize(objective, np.eye(k, k + 1).ravel(), method="L-BFGS-B", options={"ftol": 1e-14, "maxfun": 10**5})
    ours = fit_class_matrix(z, y, weight, penalty, 1e-12, 1)
    assert_allclose(objective(ours.ravel()), theirs.fun, rtol=1e-8)
    assert_allclose(ours, theirs.x.reshape(k, k + 1), atol=2e-3)
    assert_array_equal(ours, fit_class_matrix(z, y, weight, penalty, 1e-12, 2))


@pytest.mark.parametrize(("rows", "k"), [(0, 3), (1, 1), (65, 2), (3000, 7)])
def test_scores_become_log_probabilities(rows, k):
    scores = np.random.default_rng(rows).normal(0, 300, (rows, k))
    scores[::7, 1:] = -np.inf
    peak = scores.max(axis=1, keepdims=True)
    expected = scores - peak - np.log(np.exp(scores - peak).sum(axis=1, keepdims=True))
    found = log_softmax(scores, -np.inf, 1)
    assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    assert_array_equal(log_softmax(scores, -20.0, 3), np.maximum(found, -20.0))


@pytest.mark.parametrize(("rows", "k", "identity"), [(0, 2, True), (1, 1, True), (65, 2, True), (700, 5, False)])
def test_the_pool_of_members(rows, k, identity):
    rng = np.random.default_rng(k)
    members = [rng.normal(0, 5, (rows, k)) for _ in range(3)]
    w, b = rng.random(3), rng.normal(size=k)
    matrix = np.eye(k, k + 1) if identity else rng.normal(size=(k, k + 1))
    centre = np.arange(k) != 1
    z = sum(weight * scores for weight, scores in zip(w, members, strict=True)) + b
    turned = (z - z[:, centre].mean(axis=1, keepdims=True)) @ matrix[:, :-1].T + matrix[:, -1]
    found = pool_members(members, w, b, matrix, centre, 1)
    assert_allclose(found, scipy_log_softmax(turned, axis=1), rtol=1e-12, atol=1e-12)
    assert_array_equal(found, pool_members(members, w, b, matrix, centre, 3))


def test_members_of_different_shapes_are_refused():
    one, other = np.zeros((3, 2)), np.zeros((4, 2))
    both = np.ones(2, dtype=bool)
    with pytest.raises(ValueError, match="the members differ in shape"):
        pool_members([one, other], np.ones(2), np.zeros(2), np.eye(2, 3), both, 1)
    with pytest.raises(ValueError, match="no class is in the centre"):
        pool_members([one], np.ones(1), np.zeros(2), np.eye(2, 3), ~both, 1)
