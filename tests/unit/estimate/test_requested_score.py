"""The score that is asked for, where a row has probability 0 under every class."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import Score
from bayeskit.estimate.requested_score import as_score

LOG_PRIOR = np.log([0.25, 0.75])
LOG_JOINT = np.array([[-1.0, -2.0], [-np.inf, -np.inf]])


@pytest.mark.parametrize("score", [Score.CLASS, Score.POSTERIOR, Score.LOG_POSTERIOR])
def test_an_impossible_row_is_named_or_gets_the_prior(score):
    assert as_score(score, LOG_JOINT, LOG_PRIOR, False)[1] == 1
    values, row = as_score(score, LOG_JOINT, LOG_PRIOR, True)
    assert row == -1
    expected = {Score.CLASS: 1, Score.POSTERIOR: [0.25, 0.75], Score.LOG_POSTERIOR: LOG_PRIOR}[score]
    assert_allclose(values[1], expected, rtol=1e-14)


@pytest.mark.parametrize("fallback", [False, True])
def test_the_evidence_of_an_impossible_row_is_zero_and_names_no_row(fallback):
    evidence, row = as_score(Score.LOG_EVIDENCE, LOG_JOINT, LOG_PRIOR, fallback)
    assert_array_equal(evidence, [np.logaddexp(-1.0, -2.0), -np.inf])
    assert row == -1
