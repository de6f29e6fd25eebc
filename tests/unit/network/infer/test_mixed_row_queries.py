"""Posteriors of whole tables under mixed networks are those of single questions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError, TableError, UnseenValueError
from bayeskit.network import ConditionalGaussian, LinearGaussian


def body() -> BayesianNetwork:
    return BayesianNetwork(
        "sex{f|m}->height->weight; sex->weight; weight->pace; age{young|old}->pace",
        tables={
            "sex": [0.5, 0.5],
            "age": [0.7, 0.3],
            "height": ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)}),
            "weight": ConditionalGaussian(
                {"f": LinearGaussian(mean=-85, sd=7, height=0.9), "m": LinearGaussian(mean=-90, sd=8, height=0.95)}
            ),
            "pace": ConditionalGaussian(
                {
                    "young": LinearGaussian(mean=2, sd=0.5, weight=0.03),
                    "old": LinearGaussian(mean=3, sd=0.6, weight=0.04),
                }
            ),
        },
    )


ROWS = {
    "sex": ["f", None, None, "m", None, None],
    "age": [None, "old", None, "young", None, None],
    "height": [170.0, None, 168.0, None, None, None],
    "weight": [None, 80.0, 64.0, 75.0, None, 71.0],
    "pace": [4.1, 5.0, None, 4.4, None, 4.9],
}


def single(net: BayesianNetwork, row: int, name: str, leave_out: bool):
    given = {each: column[row] for each, column in ROWS.items() if column[row] is not None}
    if leave_out:
        given.pop(name, None)
    return net.posterior(name, given=given)


@pytest.mark.parametrize("target", ["sex", "age"])
def test_predict_proba_is_the_posterior_of_each_row(target):
    net = body()
    expected = [single(net, row, target, leave_out=True).array for row in range(6)]
    assert_allclose(net.predict_proba(ROWS, target), expected, rtol=1e-10)


def test_posterior_rows_have_means_and_deviations_of_real_variables():
    net = body()
    answer = net.posterior_rows(ROWS)
    for name in net.names:
        for row in range(6):
            one = single(net, row, name, leave_out=False)
            expected = (one.mean, one.sd) if name in net.real else one.array
            assert_allclose(answer[name][row], expected, rtol=1e-9, atol=1e-12)


def test_columns_that_are_absent_are_summed_out():
    net = body()
    p = net.predict_proba({"weight": [60.0, 90.0]}, "sex")
    assert_allclose(p[1], net.posterior("sex", given={"weight": 90.0}).array, rtol=1e-10)


def test_many_missing_variables_that_do_not_matter_cost_nothing():
    net = body()
    for k in range(30):  # 2^30 configurations, none of which matters
        net = net.with_variable(f"extra{k}", parents=["sex"], table=[[0.3, 0.7], [0.6, 0.4]])
    rows = {"weight": [60.0, 90.0], "extra3": ["yes", None]}
    expected = net.posterior("sex", given={"weight": 60.0, "extra3": "yes"}).array
    assert_allclose(net.predict_proba(rows, "sex")[0], expected, rtol=1e-10)


def test_the_target_is_discrete_and_columns_are_known():
    net = body()
    with pytest.raises(NetworkError, match="posterior_rows gives mean and sd"):
        net.predict_proba(ROWS, "height")
    with pytest.raises(TableError, match="no column of the network"):
        net.predict_proba({"nothing": [1.0]}, "sex")
    with pytest.raises(UnseenValueError, match="'x' is not a state"):
        net.predict_proba({"sex": ["x"]}, "age")
    assert_allclose(net.predict_proba({"sex": ["x"]}, "age", unseen="ignore"), [[0.7, 0.3]], rtol=1e-12)


def test_real_variables_and_arcs_are_added_to_a_network():
    net = BayesianNetwork("rain", tables={"rain": [0.7, 0.3]})
    net = net.with_variable("level", parents=["rain"], table=ConditionalGaussian(
        {"no": LinearGaussian(mean=1, sd=1), "yes": LinearGaussian(mean=3, sd=1)}))  # fmt: skip
    net = net.with_variable("gauge", table=LinearGaussian(mean=5, sd=2)).with_arc("level", "gauge")
    assert net.real == ("level", "gauge")
    assert_allclose(net.posterior("gauge", given={"level": 9.0}).mean, 5.0)  # the slope is 0 yet
    assert_allclose(net.with_arc("rain", "gauge").posterior("gauge", given={"rain": "yes"}).mean, 5.0)
    net = net.with_table("gauge", LinearGaussian(mean=0, sd=0.1, level=2.0))
    assert_allclose(net.posterior("gauge", given={"rain": "yes"}).mean, 6.0)
    with pytest.raises(NetworkError, match="give the distribution that is left"):
        net.without_arc("level", "gauge")
    assert net.without_arc("level", "gauge", LinearGaussian(mean=1)).without_variable("level").real == ("gauge",)
    with pytest.raises(NetworkError, match="give a Logistic or a Probit"):
        BayesianNetwork("a; b", tables={"a": LinearGaussian(), "b": [0.5, 0.5]}).with_arc("a", "b")
    assert np.isclose(net.posterior("level").mean, 1.6)
