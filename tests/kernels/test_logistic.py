"""The logistic kernels give the loss, the gradient and the second derivatives of their plain twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax

from bayeskit._kernels import logistic_gradient, logistic_hessian
from kernels.arrays import LAYOUTS, laid_out


def twin(x, y, weight, coef, center):
    """Loss, gradient and second derivatives of −Σ w log P(y | x), in plain NumPy."""
    x = np.column_stack([np.nan_to_num(x.astype(float) - center), np.ones(len(x))])
    weight = np.ones(len(x)) if weight is None else weight
    one = len(coef) == 1
    scores = np.column_stack([np.zeros(len(x)), x @ coef.T]) if one else x @ coef.T
    log_p = log_softmax(scores, axis=1)
    loss = -(weight * log_p[np.arange(len(x)), y]).sum()
    p = np.exp(log_p)
    residual = weight[:, None] * (p - (y[:, None] == np.arange(p.shape[1])))
    p, residual = (p[:, 1:], residual[:, 1:]) if one else (p, residual)
    n = len(coef) * x.shape[1]
    hessian = np.zeros((n, n))
    for i in range(len(x)):
        hessian += weight[i] * np.kron(np.diag(p[i]) - np.outer(p[i], p[i]), np.outer(x[i], x[i]))
    return loss, residual.T @ x, hessian


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 9, 20])
@pytest.mark.parametrize("n_columns", [0, 1, 3, 7, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_are_their_twin(n_classes, n_columns, weighted):
    rng = np.random.default_rng(n_classes * 10 + n_columns)
    n = 131
    x = 1e3 + 3 * rng.normal(size=(n, n_columns))
    x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.integers(0, n_classes, n)
    weight = rng.random(n) * 3 if weighted else None
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, n_columns + 1))
    center = np.full(n_columns, 1e3)
    loss, gradient, hessian = twin(x, y, weight, coef, center)
    table = x if n_columns else np.empty((n, 0))
    found = logistic_gradient(table, y, weight, coef, center, 2)
    assert_allclose(found[0], loss, rtol=1e-13)
    assert_allclose(found[1], gradient, rtol=1e-11, atol=1e-11)
    assert_allclose(logistic_hessian(table, weight, coef, center, 2), hessian, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_any_size_give_finite_numbers(n_classes):
    x = np.array([[1e4], [-1e4], [1e100], [0.0], [1.0]])
    y = np.array([0, 1, 1, 0, 1])
    coef = np.array([[2.0, 0.5]]) if n_classes == 2 else np.array([[2.0, 0.5], [-1.0, 0.0], [0.0, 0.0], [0.1, 0.2]])
    loss, gradient, _ = twin(x, y, None, coef, np.zeros(1))
    found = logistic_gradient(x, y, None, coef, np.zeros(1), 1)
    assert_allclose(found[0], loss, rtol=1e-13)
    assert_allclose(found[1], gradient, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_threads_change_no_bit(n_classes):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30_000, 5)), rng.integers(0, n_classes, 30_000)
    coef = rng.normal(size=(1 if n_classes == 2 else n_classes, 6))
    one, two = (logistic_gradient(x, y, None, coef, np.zeros(5), threads) for threads in (1, 2))
    assert one[0] == two[0]
    assert_array_equal(one[1], two[1], strict=True)
    one, two = (logistic_hessian(x, None, coef, np.zeros(5), threads) for threads in (1, 2))
    assert_array_equal(one, two, strict=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_of_any_layout_is_read(layout):
    rng = np.random.default_rng(1)
    x, y, coef = rng.integers(-5, 5, (100, 3)).astype("f4"), rng.integers(0, 2, 100), rng.normal(size=(1, 4))
    found = logistic_gradient(laid_out(x, layout), y, None, coef, np.zeros(3), 1)
    assert_allclose(found[1], twin(x, y, None, coef, np.zeros(3))[1], rtol=1e-11, atol=1e-11)
