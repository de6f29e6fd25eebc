"""Sums of features: what floats leave when they are subtracted again."""

import numpy as np
from numpy.testing import assert_array_equal

from bayeskit import MultinomialNB


def test_fractions_that_were_added_leave_nothing_when_they_are_taken_away():
    a, b, other = np.array([[0.1, 1.0]]), np.array([[0.2, 1.0]]), np.array([[0.0, 0.5]])
    count = MultinomialNB().count
    whole = count(np.vstack([a, b, other]), [0, 0, 0])
    assert_array_equal((whole - count(a, [0]) - count(b, [0])).n_feature, [[0.0, 0.5]])


def test_whole_numbers_stay_whole_when_they_are_taken_away():
    count = MultinomialNB().count
    rest = count(np.array([[1, 2], [3, 4]]), [0, 0]) - count(np.array([[1, 2]]), [0])
    assert rest.n_feature.dtype.kind == "i"
    assert_array_equal(rest.n_feature, [[3, 4]])
