"""The rules of probability are checked functions on events and tables."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit.concept import bayes_rule, product_rule, sum_rule, total_probability
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError

PRIOR = {"cancer": 0.008, "no cancer": 0.992}
TEST = {"cancer": {"+": 0.98, "-": 0.02}, "no cancer": {"+": 0.03, "-": 0.97}}
POSITIVE = {name: table["+"] for name, table in TEST.items()}


def test_the_cancer_numbers_of_the_textbook():
    # Mitchell (1997), section 6.2.1: .0078 and .0298, P(cancer | +) = .21.
    joint = product_rule(POSITIVE, PRIOR)
    assert_allclose([joint["cancer"], joint["no cancer"]], [0.00784, 0.02976], rtol=1e-12)
    assert_allclose(total_probability(POSITIVE, PRIOR), 0.0376, rtol=1e-12)
    assert_allclose(bayes_rule(POSITIVE, PRIOR)["cancer"], 0.00784 / 0.0376, rtol=1e-12)
    assert_allclose(bayes_rule(0.98, 0.008, 0.0376), 0.00784 / 0.0376, rtol=1e-12)


def test_a_table_gives_one_posterior_for_each_observation():
    posterior = bayes_rule(TEST, PRIOR)
    assert list(posterior) == ["+", "-"]
    assert_allclose(posterior["+"]["cancer"], 0.00784 / 0.0376, rtol=1e-12)
    assert_allclose(posterior["-"]["cancer"], 0.00016 / 0.9624, rtol=1e-12)
    assert_allclose(total_probability(TEST, PRIOR)["-"], 0.9624, rtol=1e-12)
    assert_allclose(product_rule(TEST, PRIOR)["cancer"]["-"], 0.00016, rtol=1e-12)


def test_arrays_give_arrays():
    table = np.array([[0.98, 0.02], [0.03, 0.97]])
    posterior = bayes_rule(table, [0.008, 0.992])
    assert_allclose(posterior.sum(axis=0), [1.0, 1.0], rtol=1e-12)
    assert_allclose(total_probability(table, [0.008, 0.992]), [0.0376, 0.9624], rtol=1e-12)
    assert isinstance(total_probability(table[:, 0], [0.008, 0.992]), float)


def test_the_sum_rule_takes_the_overlap_once():
    assert_allclose(sum_rule(0.5, 0.4, 0.2), 0.7, rtol=1e-12)
    assert sum_rule(0.5, 0.5, 0.0) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: product_rule(1.2, 0.5), r"P\(A \| B\) must be a probability between 0 and 1; got 1.2"),
        (lambda: product_rule(0.5, float("nan")), "must be a probability between 0 and 1; got nan"),
        (
            lambda: total_probability([0.5, 0.5], [0.5, 0.4]),
            "the prior sums to 0.9 and must sum to 1",
        ),
        (lambda: bayes_rule(0.5, 0.5), "one hypothesis alone needs evidence"),
        (lambda: bayes_rule([0.5, 0.5], [0.5, 0.5], 0.5), "evidence is the total probability"),
        (lambda: bayes_rule(0.9, 0.9, 0.5), "at least P"),
        (lambda: bayes_rule({"a": 0.5}, {"b": 1.0}), "both must have the same"),
        (lambda: bayes_rule({"a": 0.5}, [1.0]), "both as arrays"),
        (lambda: bayes_rule([[0.7, 0.7]], [1.0]), "sums to 1.4 over the observations"),
        (lambda: product_rule("x", 0.5), "P\\(d \\| h\\) must hold numbers; got 'x'"),
    ],
)
def test_what_is_no_probability_is_refused(call, message):
    with pytest.raises(BayeskitError, match=message):
        call()


def test_evidence_that_cannot_come_has_no_posterior():
    with pytest.raises(ImpossibleEvidenceError, match="every hypothesis gives the observation probability 0"):
        bayes_rule([0.0, 0.0], [0.5, 0.5])
    with pytest.raises(ImpossibleEvidenceError, match="the observation '-' probability 0"):
        bayes_rule({"a": {"+": 1.0, "-": 0.0}, "b": {"+": 1.0}}, {"a": 0.5, "b": 0.5})
    with pytest.raises(ImpossibleEvidenceError, match=r"P\(D\) is 0"):
        bayes_rule(0.0, 0.5, 0.0)
