"""AODE and TAN on watermelon 3.0 and on car: values of the textbook's table, Weka and bnclassify."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import AODE, SPODE, TAN
from bayeskit.datasets import load_watermelon
from bayeskit.estimate.information import conditional_mutual_information

CAR = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "tabular" / "car.csv"
needs_car = pytest.mark.skipif(
    not CAR.exists(), reason="the UCI car table lies in ../shared/data/tabular, which is not here"
)

COLUMNS = ("色泽", "根蒂", "敲声", "纹理", "脐部", "触感")
# SPODE terms (是; 否) of melon 1, Laplace.
TERMS = {
    "色泽": (0.0086956522, 0.0012882448),
    "根蒂": (0.0235830745, 0.0004830918),
    "敲声": (0.0083497346, 0.0010865038),
    "纹理": (0.0233739130, 0.0002086957),
    "脐部": (0.0235830745, 0.0006260870),
    "触感": (0.0213382106, 0.0004572474),
}
# The values are given to ten digits after the point.
DIGITS = 6e-11


def melons():
    table = load_watermelon()
    return {name: table[name] for name in COLUMNS}, table["好瓜"]


def melon(**changes):
    X, _ = melons()
    return {name: [changes.get(name, X[name][0])] for name in COLUMNS}


def test_aode_sums_over_the_spodes_of_melon_1():
    model = AODE(smoothing=1).fit(*melons())
    joint = np.exp(model.predict_joint_log_proba(melon())[0]) * len(COLUMNS)  # the sum, where ours is the mean
    assert model.classes_.tolist() == ["否", "是"]
    assert_allclose(joint, [0.0041498703, 0.1089236595], atol=DIGITS)
    assert_allclose(model.predict_proba(melon())[0, 1], 0.9632993650, atol=DIGITS)


@pytest.mark.parametrize("name", COLUMNS)
def test_each_spode_gives_its_term(name):
    joint = np.exp(SPODE(name, smoothing=1).fit(*melons()).predict_joint_log_proba(melon())[0])
    assert_allclose(joint, TERMS[name][::-1], atol=DIGITS)


def test_aode_sums_two_missing_cells_out():
    model = AODE(smoothing=1).fit(*melons())
    posterior = model.predict_proba(melon(根蒂=None, 脐部=None))[0, 1]
    assert_allclose(posterior, 0.842005, atol=5e-7)
    # A value that was never seen counts as missing.
    assert_allclose(model.predict_proba(melon(根蒂="直", 脐部="凸"))[0, 1], posterior, rtol=1e-12)


def test_tan_finds_the_tree_of_the_melons():
    model = TAN().fit(*melons())
    information = {
        frozenset(pair): model.information_[COLUMNS.index(pair[0]), COLUMNS.index(pair[1])]
        for pair in model.structure_.arcs
    }
    expected = {
        ("根蒂", "脐部"): 0.597535,
        ("纹理", "脐部"): 0.381968,
        ("根蒂", "敲声"): 0.352894,
        ("纹理", "触感"): 0.320409,
        ("色泽", "纹理"): 0.280433,
    }
    assert information.keys() == {frozenset(pair) for pair in expected}
    for pair, value in expected.items():
        assert_allclose(information[frozenset(pair)], value, atol=6e-7)


def car():
    pandas = pytest.importorskip("pandas", reason="reads the table")
    return pandas.read_csv(CAR, dtype=str)


@needs_car
def test_aode_on_car_gives_bnclassifys_value():
    table = car()
    model = AODE(smoothing=1).fit(table, target="class")
    row = table.iloc[[11]]
    assert row.iloc[0].tolist()[:6] == ["vhigh", "vhigh", "2", "4", "small", "high"]
    posterior = dict(zip(model.classes_, model.predict_proba(row)[0], strict=True))
    assert_allclose(posterior["unacc"], 0.792590, atol=6e-7)


@needs_car
def test_tan_on_car_has_the_edges_of_the_full_tree():
    model = TAN().fit(car(), target="class")
    names = model.schema_.names
    expected = {
        ("buying", "maint"): 0.071999,
        ("persons", "safety"): 0.031963,
        ("lug_boot", "safety"): 0.025432,
        ("buying", "safety"): 0.011647,
        ("doors", "lug_boot"): 0.005540,
    }
    assert {frozenset(edge) for edge in model.structure_.arcs} == {frozenset(edge) for edge in expected}
    for (a, b), value in expected.items():
        assert_allclose(model.information_[names.index(a), names.index(b)], value, atol=6e-7)


@needs_car
def test_conditional_mutual_information_of_car_is_bnclassifys():
    model = TAN().fit(car(), target="class")
    assert_allclose(conditional_mutual_information(model.counts_.table((0, 1))), 0.07199921, atol=6e-9)
