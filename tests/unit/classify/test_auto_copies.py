"""Copies of one AutoBayes that learn rows of their own are merged: the rows they began with count once."""

import copy
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import AutoBayes
from bayeskit.errors import MergeError

pytestmark = pytest.mark.filterwarnings("ignore:the plan")


@cache
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 240)
    X = {
        "size": rng.normal(y, 1.0),
        "colour": np.array(["red", "green", "blue"], dtype=object)[(y + rng.integers(0, 2, 240)) % 3],
        "note": np.array([f"{'cheap' if c else 'dear'} thing w{rng.integers(0, 9)}" for c in y], dtype=object),
    }
    return X, np.array(["no", "yes"])[y]


def part(rows):
    X, y = table()
    return {name: column[rows] for name, column in X.items()}, y[rows]


FIRST, HERE, THERE = slice(0, 120), slice(120, 180), slice(180, 240)


@cache
def begun():
    return AutoBayes("fast", kinds={"note": "text"}).fit(*part(FIRST))


def learned(*parts):
    model = copy.deepcopy(begun())
    for rows in parts:
        model.partial_fit(*part(rows))
    return model


def assert_same_counts(model, other):
    assert_array_equal(model.counts_.n_class, other.counts_.n_class)
    for name in ("n_level", "networks", "rare"):
        assert_array_equal(getattr(model.counts_, name), getattr(other.counts_, name))
    assert_allclose(model.predict_proba(table()[0]), other.predict_proba(table()[0]), rtol=1e-9)


def test_two_copies_merge_into_the_model_that_learned_all_rows():
    assert begun().counts_.texts  # words take part
    assert_same_counts(learned(HERE).merge(learned(THERE)), learned(HERE, THERE))
    assert_same_counts(learned(HERE).merge(begun()), learned(HERE))
    assert_same_counts(copy.deepcopy(begun()).merge(learned(THERE)), learned(THERE))


def test_three_copies_merge_in_any_order_also_from_files(tmp_path):
    copies = [learned(HERE), learned(THERE), learned(slice(120, 150))]
    for k, model in enumerate(copies):
        model.save(tmp_path / f"{k}.bayes")
    whole = learned(HERE, THERE, slice(120, 150))
    for order in ((0, 1, 2), (2, 0, 1)):
        loaded = [bayeskit.load(tmp_path / f"{k}.bayes") for k in order]
        assert_same_counts(loaded[0].merge(loaded[1]).merge(loaded[2]), whole)


def test_a_copy_that_unlearned_the_first_rows_adds_the_others():
    assert_same_counts(learned(HERE).merge(learned(THERE).unlearn(*part(FIRST))), learned(HERE, THERE))


def test_later_rows_can_be_unlearned_before_merging_and_first_rows_cannot():
    assert_same_counts(learned(HERE, THERE).unlearn(*part(THERE)).merge(learned(THERE)), learned(HERE, THERE))
    with pytest.raises(MergeError, match=r"one of them has unlearned some of these.*Merge the copies first"):
        learned(HERE).merge(learned(THERE).unlearn(*part(slice(0, 10))))


def test_a_new_class_in_one_copy_is_no_hindrance():
    X, _ = part(THERE)
    other = learned().partial_fit(X, np.full(60, "maybe"))
    merged = learned(HERE).merge(other)
    assert merged.classes_.tolist() == ["maybe", "no", "yes"]
    assert merged.counts_.n_rows == 240


def test_copies_of_a_model_that_was_fitted_on_a_scan_have_its_rows_in_common():
    X, y = part(FIRST)
    model = AutoBayes("fast").fit(bayeskit.scan(pa.table({"size": X["size"], "y": y})), target="y")
    assert copy.deepcopy(model).merge(copy.deepcopy(model)).counts_.n_rows == 120
