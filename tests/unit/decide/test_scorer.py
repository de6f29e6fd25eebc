import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from bayeskit import BayesDecision, mean_loss
from bayeskit.errors import BayeskitError

X = np.array([[0.0], [1.0], [4.0], [5.0]])
Y = np.array(["a", "a", "b", "b"])
MODEL = GaussianNB().fit(X, Y)


def test_it_is_minus_what_the_decisions_cost():
    scorer = mean_loss.using({"a": {"a": 0, "b": 3}, "b": {"a": 5, "b": 0}})
    assert scorer(MODEL, X, Y) == 0
    assert scorer(MODEL, X, ["b", "a", "a", "b"]) == -(5 + 0 + 3 + 0) / 4


def test_weights_count_rows_more_often():
    scorer = mean_loss.using([[0, 3], [5, 0]])
    assert scorer(MODEL, X, ["b", "a", "b", "b"], sample_weight=[2, 1, 1, 0]) == -10 / 4


def test_a_reject_costs_the_same_right_or_wrong():
    assert mean_loss.using(None, reject=-1)(MODEL, X, Y) == 1


def test_each_row_may_have_its_own_loss():
    losses = np.stack([np.array([[0.0, 1.0], [cost, 0.0]]) for cost in (1, 2, 3, 4)])
    assert mean_loss(MODEL, X, ["b"] * 4, loss=losses) == -(1 + 2) / 4


def test_the_loss_of_a_bayes_decision_is_its_own():
    model = BayesDecision(GaussianNB(), loss=[[0, 1], [9, 0]]).fit(X, Y)
    assert mean_loss(model, X, ["b", "a", "b", "b"]) == -9 / 4


def test_a_classifier_without_a_loss_is_refused():
    with pytest.raises(BayeskitError, match="mean_loss needs the loss of GaussianNB; wrap it in BayesDecision"):
        mean_loss(MODEL, X, Y)


def test_a_truth_that_the_loss_does_not_know_is_refused():
    with pytest.raises(BayeskitError, match="the truth 'c' is not among the classes"):
        mean_loss.using([[0, 1], [1, 0]], reject=0.1)(MODEL, X, ["a", "b", "c", "a"])


def test_it_asks_for_nothing_else():
    with pytest.raises(TypeError, match="sample_weight and loss; got 'groups'"):
        mean_loss.set_score_request(groups=True)
