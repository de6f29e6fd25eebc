"""The bounds of the Bayes error hold where that error is known."""

import numpy as np
import pytest

from bayeskit import bayes_error
from bayeskit.errors import BayeskitError


def test_the_lower_bound_is_that_of_cover_and_hart():
    # P(c | x) is .9 and .1 in each half: the Bayes error is .1, and the nearest neighbour errs 2 · .9 · .1 = .18.
    rng = np.random.default_rng(1)
    x = rng.random(20_000)
    y = (x > 0.5) ^ (rng.random(20_000) < 0.1)
    bounds = bayes_error(x[:, None], y.astype(int))
    four_errors = 4 * np.sqrt(0.18 * 0.82 / 20_000)
    assert abs(bounds.nearest_neighbor - 0.18) < 2 * four_errors  # the misses of neighbours go together, hence twice
    assert bounds.lower_interval[0] <= 0.1 <= bounds.upper_interval[1]
    assert abs(bounds.lower - 0.1) < four_errors
    assert "asymptotic" in str(bounds)


def binary(n, rng):
    """One binary column, P(x = 1 | y) .7 and .3: the Bayes error is .3."""
    y = rng.integers(0, 2, n)
    return (rng.random(n) < np.where(y == 1, 0.7, 0.3)).astype(str)[:, None], y, 0.3


def three_columns(n, rng):
    """Three columns of three values, with P(y | x) drawn once: the error is the mean of the smaller one."""
    p = np.random.default_rng(7).random(27)
    x = rng.integers(0, 3, (n, 3))
    y = (rng.random(n) < p[x @ [9, 3, 1]]).astype(int)
    return x.astype(str), y, float(np.minimum(p, 1 - p).mean())


def normals(n, rng, d=3):
    """Two normal distributions two standard deviations apart in d dimensions: the error is Φ(-1)."""
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, d))
    x[:, 0] += 2.0 * y
    return x, y, 0.158655253931457


@pytest.mark.parametrize("draw", [binary, three_columns, normals])
def test_the_true_error_lies_between_the_bounds(draw):
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(12):
        X, y, error = draw(400, rng)
        bounds = bayes_error(X, y)
        inside += bounds.lower_interval[0] <= error <= bounds.upper_interval[1]
    assert inside >= 11  # of 12 draws; with a probability of .95 each, fewer come in 12 % of such tests, this seed not


def test_the_order_of_rows_changes_nothing():
    X, y, _ = binary(300, np.random.default_rng(1))
    order = np.random.default_rng(2).permutation(300)
    assert bayes_error(X, y) == bayes_error(X[order], y[order])


def test_a_classifier_that_is_better_refutes_the_lower_bound():
    # The parity of columns that lie far apart in a table of few rows: neighbours say nothing, a classifier learns it.
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (600, 9))
    y = (x[:, 0] > 0).astype(int)
    bounds = bayes_error(x.astype(str), y)
    assert bounds.classifier < 0.01 < bounds.nearest_neighbor
    assert bounds.lower == 0.0
    assert "Nothing is known from below" in str(bounds)


def test_no_miss_in_few_rows_does_not_prove_that_nobody_errs():
    x = np.concatenate([np.linspace(0, 0.1, 20), np.linspace(0.9, 1, 20)])
    bounds = bayes_error(x[:, None], (x > 0.5).astype(int))
    assert bounds.classifier == 0.0
    # None of 40 rows missed at the level of the upper end: (1 - p)^40 = .05 / 4 / (2 classes + 2).
    assert bounds.upper_interval[1] == pytest.approx(1 - (0.05 / 16) ** (1 / 40), rel=1e-9)


def test_a_few_misses_of_neighbours_beside_a_boundary_say_nothing_from_below():
    # The class is certain, so that the best classifier never errs; rows beside .5 have neighbours on the other side.
    x = np.random.default_rng(8).random(200)
    bounds = bayes_error(x[:, None], (x > 0.5).astype(int))
    assert bounds.nearest_neighbor > 0.0
    assert bounds.lower_interval[0] == 0.0


def test_where_the_columns_say_nothing_the_error_is_not_below_a_half():
    # The classifier takes the more frequent class of these rows, and seems to be better than .5 by that alone.
    rng, inside = np.random.default_rng(11), 0
    for _ in range(60):
        X, y = rng.integers(0, 3, (200, 1)).astype(str), rng.integers(0, 2, 200)
        inside += bayes_error(X, y).upper_interval[1] >= 0.5
    assert inside >= 58


def test_bad_input_is_refused_by_name():
    X = [[0.0], [1.0]]
    with pytest.raises(BayeskitError, match="all rows are of the class"):
        bayes_error(X, [1, 1])
    with pytest.raises(BayeskitError, match="confidence must be between 0 and 1"):
        bayes_error(X, [0, 1], confidence=2)
