"""Whatever way a Gaussian model came to its rows, it believes what one fit on these rows believes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import GaussianNB, NaiveBayes

ROUNDING = 1e-9  # of a posterior


@pytest.mark.parametrize("variance", ["posterior", "ml", "unbiased"])
@pytest.mark.parametrize("offset", [0.0, 0.1, 1e9])
def test_a_column_that_unlearning_leaves_constant_is_as_constant_as_in_a_refit(variance, offset):
    rng = np.random.default_rng(1)
    rest = np.column_stack([np.full(6, offset + 0.1), rng.normal(size=6)])
    gone = np.column_stack([offset + rng.normal(size=40), rng.normal(size=40)])
    y = np.arange(46) % 2
    model = NaiveBayes(variance=variance).fit(np.concatenate([rest, gone]), y).unlearn(gone, y[6:])
    refit = NaiveBayes(variance=variance).fit(rest, y[:6])
    assert_array_equal(model.counts_.moments.scatter[0], 0.0)
    assert_array_equal(model.counts_.moments.mean[0], offset + 0.1)
    assert_allclose(model.predict_proba(rest), refit.predict_proba(rest), rtol=0, atol=ROUNDING)


def test_batches_of_tiny_noise_at_a_large_offset_are_one_fit():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 600)
    X = 1e9 + 1e-3 * (rng.normal(size=(600, 2)) + y[:, None])
    one, batches = NaiveBayes().fit(X, y), NaiveBayes()
    for rows in np.array_split(np.arange(600), 50):
        batches.partial_fit(X[rows], y[rows])
    assert_allclose(batches.predict_proba(X), one.predict_proba(X), rtol=0, atol=ROUNDING)
    assert_array_equal(batches.counts_.moments.scatter, one.counts_.moments.scatter)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e6, 1e9]), st.sampled_from([1e-3, 1.0, 1e3]))
@settings(max_examples=25, deadline=None)
def test_merging_and_unlearning_give_the_posteriors_of_a_refit(seed, offset, spread):
    rng = np.random.default_rng(seed)
    X, y = offset + spread * rng.normal(size=(60, 3)), np.arange(60) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    parts = [slice(0, 20), slice(20, 40), slice(40, 60)]
    for model in (NaiveBayes(), NaiveBayes(variance="ml"), GaussianNB()):
        a, b, c = (type(model)(**model.get_params()).fit(X[rows], y[rows]) for rows in parts)
        both = a.merge(b).merge(c).unlearn(X[parts[1]], y[parts[1]])
        kept = np.r_[0:20, 40:60]
        refit = type(model)(**model.get_params()).fit(X[kept], y[kept])
        assert_allclose(both.predict_proba(X), refit.predict_proba(X), rtol=0, atol=ROUNDING)


def test_fractional_weights_are_taken_away_as_they_came():
    rng = np.random.default_rng(4)
    X, y, weight = rng.normal(size=(50, 2)), np.arange(50) % 2, rng.random(50)
    model = NaiveBayes(variance="ml").fit(X, y, weight).unlearn(X[10:], y[10:], weight[10:])
    refit = NaiveBayes(variance="ml").fit(X[:10], y[:10], weight[:10])
    assert_allclose(model.predict_proba(X), refit.predict_proba(X), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("size", [1e-160, 1e-200, 1e-310])
def test_numbers_whose_squares_vanish_are_refused_by_column(size):
    X = {"a": [1.0, 2.0, 3.0], "tiny": [size, 2 * size, 5 * size]}
    with pytest.raises(ValueError, match="'tiny' holds numbers so small that the squares of their differences vanish"):
        NaiveBayes().fit(X, [0, 0, 1])
    assert NaiveBayes().fit({**X, "tiny": [size] * 3}, [0, 0, 1]).predict_proba({**X, "tiny": [size] * 3}).all()
