"""Hundreds of columns behind one hidden cell do not make a possible row impossible."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from bayeskit import SPODE


@pytest.mark.parametrize("n_columns", [20, 30, 600])
def test_a_hidden_super_parent_of_many_columns_is_summed_out(n_columns):
    rng = np.random.default_rng(0)
    words = np.array([f"v{k}" for k in range(10)], dtype=object)
    model = SPODE(0).fit(words[rng.integers(0, 10, (60, n_columns))], rng.integers(0, 2, 60))
    rows = words[rng.integers(0, 10, (20, n_columns))]
    given = []
    for value in model.schema_[0].values:
        rows[:, 0] = value
        given.append(model.predict_joint_log_proba(rows))
    rows[:, 0] = None
    assert_allclose(model.predict_joint_log_proba(rows), logsumexp(given, axis=0), rtol=1e-12)
