import warnings

import numpy as np
import pytest

from bayeskit.decide.loss import read_loss, with_reject
from bayeskit.decide.regions import Region, regions, threshold, warn_of_useless_reject, worst_case_risk
from bayeskit.errors import BayeskitError, BayeskitWarning

CLASSES = ("well", "ill")


def test_the_threshold_is_the_one_of_the_textbook():
    # Elkan 2001: p* = (c10 - c00) / (c10 - c00 + c01 - c11), the cost of a false alarm over both costs.
    assert threshold(read_loss([[0, 1], [9, 0]], CLASSES)) == pytest.approx(0.1, rel=1e-15)
    assert threshold(read_loss([[-1, 1], [1, -1]], CLASSES)) == 0.5


def test_with_a_reject_there_are_three_regions():
    assert regions(with_reject(read_loss(None, CLASSES), 0.25)) == (
        Region("well", 0.0, 0.25),
        Region("reject", 0.25, 0.75),
        Region("ill", 0.75, 1.0),
    )


def test_an_action_that_is_never_best_has_no_region():
    assert regions(read_loss([[0, 5], [1, 6]], CLASSES)) == (Region("well", 0.0, 1.0),)
    assert threshold(read_loss([[0, 5], [1, 6]], CLASSES)) is None


def test_lines_that_hardly_part_do_not_cross():
    assert regions(read_loss([[1e-308, 2], [0, 2]], ["a", "b"])) == (Region("a", 0.0, 1.0),)


def test_regions_need_two_classes_and_one_loss():
    with pytest.raises(BayeskitError, match="two classes"):
        regions(read_loss(None, "abc"))
    with pytest.raises(BayeskitError, match="two classes and one loss"):
        regions(read_loss(np.zeros((4, 2, 2)), CLASSES))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_under_0_1_loss_the_worst_case_is_one_minus_one_over_k(n_classes):
    assert worst_case_risk(1 - np.eye(n_classes)) == pytest.approx(1 - 1 / n_classes, abs=1e-9)


def test_a_reject_dearer_than_any_risk_is_said_to_be_idle():
    with pytest.warns(BayeskitWarning, match="never risks more than 0.5: no row will ever be rejected"):
        warn_of_useless_reject(with_reject(read_loss(None, CLASSES), 0.5))


def test_a_reject_cheaper_than_any_cost_is_said_to_be_taken_always():
    with pytest.warns(BayeskitWarning, match=r"less than any other action ever does \(0\): every row will be rejected"):
        warn_of_useless_reject(with_reject(read_loss(None, CLASSES), -0.1))


@pytest.mark.parametrize("cost", [0.0, 0.2, 0.49])
def test_a_reject_with_a_meaning_is_taken_as_it_is(cost):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_useless_reject(with_reject(read_loss(None, CLASSES), cost))
        warn_of_useless_reject(read_loss(None, CLASSES))
    assert not said
