"""The kernels of the Gaussians give what NumPy, SciPy and literal leaving-out give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_t

from bayeskit._kernels import gaussian_densities, gaussian_rows, gaussian_sums


def gaussian(seed=0, rows=40, p=3, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows).astype(np.uint32)
    return rng.normal(size=(rows, p)) + y[:, None], y, rng.integers(1, 3, rows).astype(float)


def test_gaussian_sums_are_the_moments_of_each_class():
    z, y, weight = gaussian()
    found = gaussian_sums(z, y, weight, 3, 1)
    one = np.column_stack([np.ones(len(z)), z])
    for c in range(3):
        assert_allclose(found[c], (one[y == c] * weight[y == c, None]).T @ one[y == c], rtol=1e-12)
    assert_array_equal(found, gaussian_sums(z, y, weight, 3, 2))


def test_densities_are_those_of_scipys_multivariate_t_up_to_a_constant():
    z, _, _ = gaussian()
    rng = np.random.default_rng(1)
    mean, kappa, df = rng.normal(size=(2, 3)), np.array([4.5, 9.5]), np.array([6.0, 11.0])
    root = rng.normal(size=(2, 3, 3))
    scale = root @ root.transpose(0, 2, 1) + np.eye(3)
    lower = np.linalg.cholesky(scale)
    found = gaussian_densities(z, mean, lower, kappa, df, None, None, None, None, 1)
    for c in range(2):
        shape = scale[c] * (kappa[c] + 1) / (kappa[c] * df[c])
        expected = multivariate_t(mean[c], shape, df[c]).logpdf(z)
        # What is left out is the same for all classes: -p/2 log π.
        assert_allclose(found[:, c] - 1.5 * np.log(np.pi), expected, rtol=1e-10)
    # A few rows are scored one by one.
    for few in (z[:1], z[:7]):
        one_by_one = gaussian_densities(few, mean, lower, kappa, df, None, None, None, None, 1)
        assert_allclose(one_by_one, found[: len(few)], rtol=1e-12)


def test_downdates_equal_leaving_the_row_out_of_its_class_and_of_the_pooled_covariance():
    kappa = 0.5
    z, y, _ = gaussian(rows=30)
    prior, nu, divisor = z.mean(axis=0), 9.0, 27.0

    def parts(weight):
        n = np.array([weight[y == c].sum() for c in range(3)])
        own = np.array([weight[y == c] @ z[y == c] for c in range(3)]) / n[:, None]
        away = z - own[y]
        scatter = np.array([(away * (weight * (y == c))[:, None]).T @ away for c in range(3)])
        pull = (kappa * n / (kappa + n))[:, None, None] * np.einsum("ci,cj->cij", own - prior, own - prior)
        scale = scatter + nu * scatter.sum(axis=0) / divisor + pull
        mean = (kappa * prior + n[:, None] * own) / (kappa + n)[:, None]
        return (mean, np.linalg.cholesky(scale), n + kappa, nu + n - 3 + 1), own, n / (n - 1) * nu / divisor

    ones = np.ones(len(y))
    densities, center, pooled = parts(ones)
    found = gaussian_densities(z, *densities, y, ones, center, pooled, 1)
    for row in range(len(y)):
        weight = ones.copy()
        weight[row] = 0.0
        expected = gaussian_densities(z[row : row + 1], *parts(weight)[0], None, None, None, None, 1)
        assert_allclose(found[row], expected[0], rtol=3e-10, atol=1e-10)


def gaussian_rows_reference(columns, order, codes, features, level, median, unit, center, scale, curves):
    """z[r, k]: a number that is standardised or interpolated, or whether the row has a level, standardised."""
    z = np.empty((len(order), len(features)))
    for k, feature in enumerate(features):
        if level[k] >= 0:
            z[:, k] = ((codes[feature] == level[k]) - center[k]) / scale[k]
            continue
        numbers = columns[k][order].astype(float)
        numbers[np.isnan(numbers)] = median[k]
        if curves:
            z[:, k] = np.interp(numbers, *curves[k])
        else:
            z[:, k] = np.clip((numbers / unit[k] - center[k]) / scale[k], -8, 8)
    return z


@pytest.mark.parametrize("on_curves", [False, True])
def test_rows_are_scaled_as_numpy_would(on_curves):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=500), rng.integers(-9, 9, 500), rng.normal(size=500).astype(np.float32)]
    columns[0][[3, 70]] = np.nan
    columns[2][5] = 1e30
    order = rng.permutation(500)[:300].astype(np.int32)
    codes = rng.integers(0, 4, (5, 300)).astype(np.uint8)
    features, level = np.array([0, 2, 4, 1, 1, 3]), np.array([-1, -1, -1, 0, 2, 3])
    median, unit, center = rng.normal(size=6), rng.uniform(1, 2, 6), rng.normal(size=6)
    scale = rng.uniform(0.1, 2, 6)
    curves = [(np.sort(rng.normal(size=n)), np.sort(rng.normal(size=n))) for n in (1, 7, 40)] if on_curves else []
    curve_x, curve_z = (np.concatenate([np.empty(0), *(c[i] for c in curves)]) for i in range(2))
    curve_at = np.array([0, 1, 8, 48]) if on_curves else np.zeros(4, dtype=np.int64)
    expected = gaussian_rows_reference(columns, order, codes, features, level, median, unit, center, scale, curves)
    given = features, level, median, unit, center, scale, curve_x, curve_z, curve_at
    found = gaussian_rows(columns, order, codes, 0, 300, *given, 1)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert_array_equal(gaussian_rows(columns, order, codes, 20, 290, *given, 3), found[20:290])
    with pytest.raises(ValueError, match="a row is out of range"):
        gaussian_rows(columns, order + 400, codes, 0, 300, *given, 1)
