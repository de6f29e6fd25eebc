"""Laws of decisions that hold for every posterior and every loss."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.decide.loss import read_loss, with_reject
from bayeskit.decide.posterior import log_posterior
from bayeskit.decide.regions import regions, worst_case_risk
from bayeskit.decide.risk import bayes_action, expected_loss, overall_risk, risk

ROUNDING = 1e-9


@st.composite
def posteriors(draw, n_classes=None, max_rows=8):
    n_classes = n_classes or draw(st.integers(1, 6))
    shape = (draw(st.integers(1, max_rows)), n_classes)
    weights = draw(hnp.arrays(float, shape, elements=st.floats(0.0, 1.0, width=32)))
    weights[:, 0] += weights.sum(axis=1) == 0
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def problems(draw):
    posterior = draw(posteriors())
    shape = (posterior.shape[1], draw(st.integers(1, 6)))
    return posterior, draw(hnp.arrays(float, shape, elements=st.floats(-100, 100)))


@given(posteriors())
def test_0_1_loss_is_exactly_argmax(posterior):
    assert_array_equal(bayes_action(posterior, None), posterior.argmax(axis=1))


@given(posteriors(), st.floats(-5, 5), st.floats(0.01, 5))
def test_one_gain_for_right_and_one_loss_for_wrong_decides_exactly_as_argmax(posterior, right, further):
    n_classes = posterior.shape[1]
    loss = np.where(np.eye(n_classes, dtype=bool), right, right + further)
    assert_array_equal(bayes_action(posterior, loss), posterior.argmax(axis=1))


@given(problems())
def test_no_action_has_less_risk_than_the_one_taken(problem):
    posterior, loss = problem
    risks = risk(posterior, loss)
    taken = risks[np.arange(len(risks)), bayes_action(posterior, loss)]
    assert_allclose(taken, risks.min(axis=1), atol=ROUNDING)
    assert_allclose(expected_loss(posterior, loss), taken, atol=ROUNDING)
    assert_allclose(overall_risk(posterior, loss), taken.mean(), atol=ROUNDING)


@given(problems(), st.floats(-50, 50))
def test_a_constant_on_a_row_of_the_loss_changes_risks_but_not_their_order(problem, constant):
    posterior, loss = problem
    moved = loss + constant * np.arange(len(loss))[:, None]
    assert_allclose(
        risk(posterior, moved) - risk(posterior, moved)[:, :1],
        risk(posterior, loss) - risk(posterior, loss)[:, :1],
        atol=ROUNDING,
    )


@given(problems())
def test_a_loss_per_row_that_is_the_same_in_all_rows_is_one_loss(problem):
    posterior, loss = problem
    repeated = np.broadcast_to(loss, (len(posterior), *loss.shape))
    assert_allclose(risk(posterior, repeated), risk(posterior, loss), atol=ROUNDING)
    assert_allclose(expected_loss(posterior, repeated), expected_loss(posterior, loss), atol=ROUNDING)


@given(hnp.arrays(float, st.tuples(st.just(2), st.integers(1, 7)), elements=st.floats(-10, 10)), st.floats(0, 1))
def test_the_region_of_a_probability_holds_an_action_of_least_risk(matrix, p):
    loss = read_loss(matrix, ["a", "b"])
    found = regions(loss)
    assert found[0].low == 0.0
    assert found[-1].high == 1.0
    assert all(left.high == right.low for left, right in pairwise(found))
    here = next(region for region in found if region.low <= p <= region.high)
    risks = np.array([1 - p, p]) @ matrix
    assert_allclose(risks[loss.actions.index(here.action)], risks.min(), atol=ROUNDING)


@given(hnp.arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(-10, 10)), posteriors(4))
def test_no_posterior_makes_the_best_action_risk_more_than_the_worst_case(matrix, posterior):
    mine = posterior[:, : len(matrix)] + 1e-12
    mine = mine / mine.sum(axis=1, keepdims=True)
    assert (expected_loss(mine, matrix) <= worst_case_risk(matrix) + 1e-7).all()


@given(posteriors(), st.floats(0, 1))
def test_a_reject_never_raises_the_risk_and_is_taken_only_where_it_is_less(posterior, cost):
    plain = read_loss(None, range(posterior.shape[1]))
    with_human = with_reject(plain, cost)
    assert (expected_loss(posterior, with_human) <= expected_loss(posterior, plain) + ROUNDING).all()
    rejected = bayes_action(posterior, with_human) == posterior.shape[1]
    assert (expected_loss(posterior, plain)[rejected] >= cost - ROUNDING).all()
    assert (expected_loss(posterior, plain)[~rejected] <= cost + ROUNDING).all()


@given(hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-800, 0)))
def test_posteriors_from_log_joints_sum_to_one(log_joint):
    assert_allclose(np.exp(log_posterior(log_joint)).sum(axis=1), 1.0, rtol=1e-12)
