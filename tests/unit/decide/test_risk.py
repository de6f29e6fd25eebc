import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.decide.loss import read_loss
from bayeskit.decide.posterior import check_posterior, log_posterior
from bayeskit.decide.risk import bayes_action, expected_loss, overall_risk, realised_loss, risk
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError


def test_of_equal_risks_the_first_action_is_taken_always():
    assert_array_equal(bayes_action(np.full((5, 4), 0.25), None), np.zeros(5))
    assert_array_equal(bayes_action([[0.5, 0.5]], [[1, 1, 1], [1, 1, 1]]), [0])


def test_each_row_may_have_a_loss_of_its_own():
    posterior = np.array([[0.9, 0.1], [0.9, 0.1]])
    cautious, usual = [[0, 1], [50, 0]], [[0, 1], [1, 0]]
    assert_array_equal(bayes_action(posterior, np.array([cautious, usual])), [1, 0])
    assert_allclose(expected_loss(posterior, np.array([cautious, usual])), [0.9, 0.1], rtol=1e-15)


def test_negative_losses_are_gains():
    assert_allclose(expected_loss([[0.75, 0.25]], [[-1, 1], [1, -1]]), [-0.5])


def test_a_small_risk_keeps_its_digits():
    p = 1e-13
    assert_allclose(expected_loss([[1 - p, p]], None), [p], rtol=1e-12)


def test_overall_risk_weighs_rows():
    posterior = [[0.9, 0.1], [0.5, 0.5]]
    assert overall_risk(posterior, sample_weight=np.array([3.0, 1.0])) == pytest.approx((3 * 0.1 + 0.5) / 4, rel=1e-15)


def test_realised_loss_is_the_cell_of_truth_and_action():
    assert_array_equal(realised_loss([0, 1, 1], [1, 0, 1], [[0, 2], [7, 0]]), [2, 7, 0])
    per_row = read_loss(np.array([[[0, 1], [1, 0]], [[0, 1], [9, 0]]]), [0, 1])
    assert_array_equal(realised_loss([1, 1], [0, 0], per_row), [1, 9])


def test_float32_posteriors_are_taken_with_their_own_rounding():
    posterior = np.array([[0.1, 0.2, 0.7]], dtype=np.float32)
    assert_array_equal(bayes_action(posterior, None), [2])


def test_any_memory_layout_is_read():
    posterior = np.asfortranarray(np.array([[0.2, 0.8], [0.9, 0.1]]))
    assert_array_equal(bayes_action(posterior, None), [1, 0])
    assert_array_equal(bayes_action(np.repeat(posterior, 2, axis=0)[::2], None), [1, 0])


BAD_POSTERIORS = [
    ([[0.5, 0.4]], r"row 0: \[0.5, 0.4\] is not a distribution over 2 classes; .* \(its sum is 0.9\)"),
    ([[0.5, 0.5], [1.2, -0.2]], r"row 1: \[1.2, -0.2\] is not a distribution"),
    ([[0.5, 0.5], [np.nan, 1.0]], r"row 1: \[nan, 1\] is not a distribution"),
    ([[np.inf, 0.0]], "row 0"),
    ([0.5, 0.5], r"posterior must have shape \(n_rows, n_classes\); got shape \(2,\)"),
    ([["a", "b"]], "posterior must be an array of numbers"),
]


@pytest.mark.parametrize(("posterior", "message"), BAD_POSTERIORS)
@pytest.mark.parametrize("function", [risk, bayes_action, expected_loss, overall_risk])
def test_what_is_no_posterior_is_refused(function, posterior, message):
    with pytest.raises(BayeskitError, match=message):
        function(posterior, None)


def test_a_posterior_with_another_number_of_classes_than_the_loss_is_refused():
    with pytest.raises(BayeskitError, match=r"one row per class, 3 for 0, 1, 2"):
        bayes_action([[0.2, 0.3, 0.5]], [[0, 1], [1, 0]])
    with pytest.raises(BayeskitError, match=r"must have shape \(n_rows, 2\)"):
        bayes_action([[0.2, 0.3, 0.5]], read_loss(None, "ab"))
    with pytest.raises(BayeskitError, match=r"must have shape \(n_rows, 2\)"):
        check_posterior([[1.0]], 2)


def test_a_loss_per_row_for_another_number_of_rows_is_refused():
    with pytest.raises(BayeskitError, match="needs 1 matrices, one per row; got 3"):
        risk([[0.5, 0.5]], np.zeros((3, 2, 2)))


def test_a_row_that_no_class_can_give_is_refused_by_number():
    with pytest.raises(ImpossibleEvidenceError, match="row 1"):
        log_posterior(np.array([[0.0, -1.0], [-np.inf, -np.inf]]))
