"""Dicts are matched by name, whole or row by row."""

from numpy.testing import assert_array_equal

from bayeskit import NaiveBayes
from bayeskit.datasets import load_tennis

TABLE = load_tennis()


def test_a_dict_in_another_order_gives_the_same_posterior():
    model = NaiveBayes().fit(TABLE, target="play")
    assert_array_equal(model.predict_proba(dict(reversed(TABLE.items()))), model.predict_proba(TABLE))


def test_a_list_of_records_is_a_table():
    records = [dict(zip(TABLE, cells, strict=True)) for cells in zip(*TABLE.values(), strict=True)]
    model = NaiveBayes().fit(TABLE, target="play")
    assert_array_equal(model.predict_proba(records), model.predict_proba(TABLE))
    del records[0]["wind"]
    holed = {**TABLE, "wind": [None, *TABLE["wind"][1:]]}
    assert_array_equal(model.predict_proba(records), model.predict_proba(holed))


def test_score_takes_the_target_by_name():
    model = NaiveBayes().fit(TABLE, target="play")
    right = [ours == true for ours, true in zip(model.predict(TABLE), TABLE["play"], strict=True)]
    assert model.score(TABLE, target="play") == sum(right) / 14
