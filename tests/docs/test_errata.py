"""The right form of each formula that docs/theory lists as often printed wrong holds; the wrong form does not."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import NaiveBayes, bayes_risk
from bayeskit.datasets import load_tennis, load_watermelon
from bayeskit.decide.loss import read_loss
from bayeskit.decide.regions import threshold
from bayeskit.decide.risk import bayes_action
from bayeskit.estimate.discrete import laplace, m_estimate
from bayeskit.estimate.em import expectation_maximisation

EXACT = 1e-12


def test_five_of_the_eight_good_melons_have_a_sunken_navel():
    model = NaiveBayes(smoothing=0).fit(load_watermelon(), target="好瓜")
    assert_allclose(model.tables_["脐部"]["凹陷", "是"], 5 / 8, rtol=EXACT)


@pytest.mark.parametrize("smoothing", [0.5, 1.0, 3.0])
def test_only_the_number_of_values_times_lambda_makes_laplace_sum_to_one(smoothing):
    n = np.array([3, 0, 1])
    assert_allclose(laplace(n, smoothing), (n + smoothing) / (n.sum() + len(n) * smoothing), rtol=EXACT)
    assert_allclose(laplace(n, smoothing).sum(), 1, rtol=EXACT)
    n_classes = 2
    for added in (smoothing, n_classes * smoothing, (len(n) + 1) * smoothing):
        assert abs(((n + smoothing) / (n.sum() + added)).sum() - 1) > 0.05


def test_the_models_own_tables_and_prior_sum_to_one():
    model = NaiveBayes(smoothing=1).fit(load_watermelon(), target="好瓜")
    assert_allclose(model.class_prior_, [(9 + 1) / (17 + 2), (8 + 1) / (17 + 2)], rtol=EXACT)
    for name in ("色泽", "根蒂", "敲声", "纹理", "脐部", "触感"):
        assert_allclose(model.tables_[name].values.sum(axis=0), 1, rtol=EXACT)


def test_the_evidence_is_the_sum_of_the_joints_not_the_product_of_the_marginals():
    tennis = load_tennis()
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    model = NaiveBayes(smoothing=0).fit(tennis, target="play")
    joint = np.exp(model.predict_joint_log_proba(day)[0])
    assert_allclose(model.predict_proba(day)[0], joint / joint.sum(), rtol=EXACT)
    product_of_marginals = np.prod([tennis[name].count(value) / 14 for name, value in day.items()])
    assert_allclose(joint / product_of_marginals, [0.941, 0.242], atol=5e-4)


def test_dividing_by_n_gives_the_largest_likelihood():
    melons = load_watermelon()
    table = {name: melons[name] for name in ("密度", "含糖率", "好瓜")}

    def log_likelihood(variance):
        return NaiveBayes(smoothing=0, variance=variance).fit(table, target="好瓜").log_likelihood(table, target="好瓜")

    good = np.array(table["密度"])[np.array(table["好瓜"]) == "是"]
    model = NaiveBayes(variance="ml").fit(table, target="好瓜")
    assert_allclose(model.tables_["密度"]["deviation", "是"], np.sqrt(((good - good.mean()) ** 2).mean()), rtol=EXACT)
    assert log_likelihood("ml") > log_likelihood("unbiased")


def test_a_bernoulli_model_sums_to_one_over_all_rows_only_with_the_absent_features():
    X, y = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 1]]), [0, 0, 1, 1]
    model = NaiveBayes(kinds="bernoulli").fit(X, y)
    rows = np.array(list(product([0, 1], repeat=3)))
    assert_allclose(np.exp(model.score_samples(rows)).sum(), 1, rtol=EXACT)
    p = np.array([[model.tables_[f"x{j}"][1, c] for j in range(3)] for c in (0, 1)])
    present_only = sum(model.class_prior_[c] * np.prod(np.where(row == 1, p[c], 1.0)) for row in rows for c in (0, 1))
    assert present_only > 2


def test_the_m_estimate_adds_m_to_the_denominator_and_holds_laplace():
    n, prior, m = np.array([3, 0, 1]), np.array([0.5, 0.3, 0.2]), 4
    assert_allclose(m_estimate(n, prior, m), (n + m * prior) / (n.sum() + m), rtol=EXACT)
    assert_allclose(m_estimate(n, np.full(3, 1 / 3), 3), laplace(n, 1.0), rtol=EXACT)
    assert abs(((n + m * prior) / (n.sum() + m * prior)).sum() - 1) > 0.05


def test_ems_mean_divides_by_the_expected_number_of_rows():
    x = np.array([2.0, 2.5, 3.0, 7.0, 7.5, 8.0])

    def expect(means):
        # Two Gaussians of variance 1, each as likely as the other.
        density = 0.5 * np.exp(-0.5 * (x[:, None] - means) ** 2) / np.sqrt(2 * np.pi)  # (n_rows, 2)
        z = density / density.sum(axis=1, keepdims=True)
        return z, float(np.log(density.sum(axis=1)).sum())

    start = np.array([1.0, 9.0])
    z, before = expect(start)
    right, printed = z.T @ x / z.sum(axis=0), z.T @ x / len(x)
    assert expect(right)[1] > before > expect(printed)[1]
    found = expectation_maximisation(start, expect, lambda z: z.T @ x / z.sum(axis=0), tol=1e-12)
    assert_allclose(found.parameters, [2.5, 7.5], atol=1e-3)


def test_a_loss_read_the_wrong_way_round_decides_the_opposite():
    loss = np.array([[0, 1], [50, 0]])  # truth healthy, ill; actions home, treat
    assert bayes_action([[0.9, 0.1]], loss).tolist() == [1]
    assert bayes_action([[0.9, 0.1]], loss.T).tolist() == [0]


def test_the_threshold_is_a_share_of_both_costs_not_their_ratio():
    loss = [[0, 1], [9, 0]]  # a miss costs nine false alarms
    assert_allclose(threshold(read_loss(loss, ["well", "ill"])), 1 / (1 + 9), rtol=EXACT)
    between = 0.5 * (1 / 10 + 1 / 9)
    assert bayes_action([[1 - between, between]], loss).tolist() == [1]


def test_only_under_0_1_loss_the_bayes_risk_is_one_minus_an_accuracy():
    model = NaiveBayes().fit(load_tennis(), target="play")
    plain, costly = bayes_risk(model), bayes_risk(model, [[0, 5], [1, 0]])
    assert_allclose(plain.risk, 1 - plain.best_accuracy, rtol=EXACT)
    assert abs(costly.risk - (1 - costly.best_accuracy)) > 0.01
