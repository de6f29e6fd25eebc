"""Worked examples of textbooks, to the last printed digit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import NaiveBayes
from bayeskit.datasets import load_fifteen, load_tennis, load_watermelon

# The golden values are given to eight or more digits; what is compared is the digits that are given.
DIGITS = 5e-9


def joint(model, row):
    scores = np.exp(model.predict_joint_log_proba({name: [value] for name, value in row.items()})[0])
    return dict(zip(model.classes_.tolist(), scores, strict=True))


def test_play_tennis_gives_mitchells_numbers():
    model = NaiveBayes(smoothing=0).fit(load_tennis(), target="play")
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    scores = joint(model, day)
    assert_allclose(scores["yes"], 0.00529101, atol=DIGITS)
    assert_allclose(scores["no"], 0.02057143, atol=DIGITS)
    posterior = model.predict_proba({name: [value] for name, value in day.items()})
    assert_allclose(posterior[0, 0], 0.79541735, atol=DIGITS)


@pytest.mark.parametrize(
    ("smoothing", "plus", "minus"), [(0, 1 / 45, 1 / 15), (1, 5 / 153, 28 / 459)], ids=["ML", "Laplace"]
)
def test_the_fifteen_rows_give_li_hangs_fractions(smoothing, plus, minus):
    model = NaiveBayes(smoothing=smoothing, kinds={"X1": "categorical"}).fit(load_fifteen(), target="Y")
    scores = joint(model, {"X1": 2, "X2": "S"})
    assert_allclose([scores[1], scores[-1]], [plus, minus], rtol=1e-14)
    assert model.predict({"X1": [2], "X2": ["S"]}) == [-1]


MELON = {"色泽": "青绿", "根蒂": "蜷缩", "敲声": "浊响", "纹理": "清晰", "脐部": "凹陷", "触感": "硬滑"}
MELON_NUMBERS = {"密度": 0.697, "含糖率": 0.460}


@pytest.mark.parametrize(
    ("smoothing", "variance", "good", "bad"),
    [
        (0, "unbiased", 0.05237872, 6.858424e-05),
        (0, "ml", 0.044552310, 4.365877e-05),
        (1, "unbiased", 0.025631025, 7.722361e-05),
        (1, "ml", 0.021801246, 4.915834e-05),
    ],
)
def test_watermelon_joints(smoothing, variance, good, bad):
    model = NaiveBayes(smoothing=smoothing, variance=variance).fit(load_watermelon(), target="好瓜")
    scores = joint(model, {**MELON, **MELON_NUMBERS})
    assert_allclose(scores["是"], good, atol=DIGITS)
    assert_allclose(scores["否"], bad, atol=5e-12)


@pytest.mark.parametrize(("smoothing", "good", "bad"), [(0, 0.033928366, 0.000860701), (1, 0.016602521, 0.000969121)])
def test_watermelon_joints_of_the_discrete_columns(smoothing, good, bad):
    table = {name: values for name, values in load_watermelon().items() if name not in MELON_NUMBERS}
    scores = joint(NaiveBayes(smoothing=smoothing).fit(table, target="好瓜"), MELON)
    assert_allclose([scores["是"], scores["否"]], [good, bad], atol=5e-10)


def test_watermelon_factors():
    table = load_watermelon()
    plain = NaiveBayes(smoothing=0, variance="unbiased").fit(table, target="好瓜")
    laplace = NaiveBayes().fit(table, target="好瓜")
    assert_allclose(plain.class_prior_, [9 / 17, 8 / 17][:: 1 if plain.classes_[0] == "否" else -1], rtol=1e-14)
    assert_allclose(laplace.class_prior_, [10 / 19, 9 / 19][:: 1 if plain.classes_[0] == "否" else -1], rtol=1e-14)
    factors = {"是": (3 / 8, 5 / 8, 6 / 8, 7 / 8, 5 / 8, 6 / 8), "否": (3 / 9, 3 / 9, 4 / 9, 2 / 9, 2 / 9, 6 / 9)}
    for label, expected in factors.items():
        assert_allclose([plain.tables_[name][value, label] for name, value in MELON.items()], expected, rtol=1e-14)
    assert_allclose(laplace.tables_["色泽"]["青绿", "是"], 4 / 11, rtol=1e-14)
    assert_allclose(laplace.tables_["色泽"]["青绿", "否"], 4 / 12, rtol=1e-14)
    assert_allclose(laplace.tables_["敲声"]["清脆", "是"], 1 / 11, rtol=1e-14)


@pytest.mark.parametrize(
    ("column", "label", "mean", "deviation"),
    [
        ("密度", "是", 0.57375, 0.129211),
        ("密度", "否", 0.496111, 0.194719),
        ("含糖率", "是", 0.27875, 0.100924),
        ("含糖率", "否", 0.154222, 0.107795),
    ],
)
def test_watermelon_means_and_deviations(column, label, mean, deviation):
    table = NaiveBayes(variance="unbiased").fit(load_watermelon(), target="好瓜").tables_[column]
    assert_allclose([table["mean", label], table["deviation", label]], [mean, deviation], atol=5e-7)
