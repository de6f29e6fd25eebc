"""Batches, merges and unlearning give the model that one fit gives; weights are copies; order means nothing."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import NaiveBayes
from bayeskit.errors import BayeskitWarning
from laws.tables import KINDS, known_somewhere, rows, tables

ROUNDING = 1e-10
UNLEARNED = 1e-9


def fit(table, y, weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column without values is said so, and tested elsewhere
        kinds = {name: kind for name, kind in KINDS.items() if name in table}
        return NaiveBayes(kinds=kinds, **parameters).fit(table, y, weight)


def assert_same_posteriors(a, b, table, tolerance=ROUNDING):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert_allclose(a.predict_log_proba(table), b.predict_log_proba(table), rtol=tolerance, atol=tolerance)


def known_variances(model, least=1e-3):
    """No variance sits on its floor, where the last bits of a mean decide."""
    numbers = [table for table in model.tables_.values() if table.rows == ("mean", "deviation")]
    return all((table.values[1] > least).all() for table in numbers)


@given(tables(min_rows=2, max_rows=20), st.data())
@settings(max_examples=50, deadline=None)
def test_any_split_of_partial_fit_equals_one_fit(data, draw):
    table, y = data
    cuts = draw.draw(st.lists(st.integers(1, len(y) - 1), max_size=4, unique=True).map(sorted))
    whole = fit(table, y)
    parts = NaiveBayes(kinds=KINDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a, b in zip([0, *cuts], [*cuts, len(y)], strict=True):
            parts.partial_fit(rows(table, range(a, b)), y[a:b])
    assert parts.schema_ == whole.schema_
    assert_array_equal(parts.counts_.values.n_value, whole.counts_.values.n_value)
    assert_array_equal(parts.class_count_, whole.class_count_)
    if known_variances(whole):
        assert_same_posteriors(parts, whole, table)


@given(tables(min_rows=2, columns=("colour", "grade", "paid", "member")), st.data())
@settings(max_examples=40, deadline=None)
def test_merging_two_models_equals_one_fit_on_both_tables(data, draw):
    table, y = data
    cut = draw.draw(st.integers(1, len(y) - 1))
    a, b = fit(rows(table, range(cut)), y[:cut]), fit(rows(table, range(cut, len(y))), y[cut:])
    assume(known_somewhere(rows(table, range(cut))))
    assume(known_somewhere(rows(table, range(cut, len(y)))))
    before = b.counts_
    merged = a.merge(b)
    assert b.counts_ is before
    whole = fit(table, y)
    assert merged.schema_ == whole.schema_
    assert_array_equal(merged.predict_log_proba(table), whole.predict_log_proba(table))


@given(tables(min_rows=2, columns=("colour", "grade", "paid", "member")), st.data())
@settings(max_examples=40, deadline=None)
def test_unlearning_rows_equals_a_fit_on_the_other_rows(data, draw):
    table, y = data
    gone = draw.draw(st.lists(st.integers(0, len(y) - 1), min_size=1, max_size=len(y) - 1, unique=True))
    rest = [i for i in range(len(y)) if i not in gone]
    assume(known_somewhere(rows(table, rest)))
    model = fit(table, y).unlearn(rows(table, gone), [y[i] for i in gone])
    other = fit(rows(table, rest), [y[i] for i in rest])
    assert model.schema_ == other.schema_
    assert_array_equal(model.predict_log_proba(table), other.predict_log_proba(table))


@given(tables(min_rows=4, columns=("height", "visits"), labels=("no", "yes")), st.data())
@settings(max_examples=40, deadline=None)
def test_unlearning_numbers_is_accurate(data, draw):
    table, y = data
    gone = draw.draw(st.integers(0, len(y) - 1))
    rest = [i for i in range(len(y)) if i != gone]
    assume(known_somewhere(rows(table, rest)))
    other = fit(rows(table, rest), [y[i] for i in rest])
    # Where all numbers left are the same, the last bit of a difference decides whether they vary at all.
    assume(known_variances(other, least=1.0))
    assume(len({table["height"][i] for i in rest} - {None}) != 1)
    assume(any(table["visits"][i] for i in rest))
    model = fit(table, y).unlearn(rows(table, [gone]), [y[gone]])
    assert_same_posteriors(model, other, table, UNLEARNED)


@given(tables(min_rows=2), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_rows_changes_nothing(data, random):
    table, y = data
    order = list(range(len(y)))
    random.shuffle(order)
    model, shuffled = fit(table, y), fit(rows(table, order), [y[i] for i in order])
    assert shuffled.schema_ == model.schema_
    assert_array_equal(shuffled.counts_.values.n_value, model.counts_.values.n_value)
    if known_variances(model):
        assert_same_posteriors(model, shuffled, table)


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_columns_changes_nothing(data, random):
    table, y = data
    names = list(table)
    random.shuffle(names)
    shuffled = {name: table[name] for name in names}
    model, other = fit(table, y), fit(shuffled, y)
    assert_allclose(other.predict_log_proba(shuffled), model.predict_log_proba(table), rtol=1e-12, atol=1e-12)


@given(tables(columns=("colour", "paid")))
@settings(max_examples=40, deadline=None)
def test_renaming_values_changes_only_names(data):
    table, y = data
    new = {"red": "1", "green": "zz", "blue": "A", "": "empty", "深い": "deep", None: None}
    renamed = {"colour": [new[value] for value in table["colour"]], "paid": table["paid"]}
    # The table of a column is summed in another order only within the features, so the numbers are the same bits.
    assert_array_equal(fit(renamed, y).predict_proba(renamed), fit(table, y).predict_proba(table))


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["ignore", "smooth"]))
@settings(max_examples=50, deadline=None)
def test_probabilities_are_not_negative_and_sum_to_one(data, smoothing, unseen):
    table, y = data
    model = fit(table, y, smoothing=smoothing, unseen=unseen, impossible="prior")
    posterior = model.predict_proba(table)
    assert (posterior >= 0).all()
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)
    assert_allclose(model.class_prior_.sum(), 1.0, rtol=1e-14)
    for table_of in model.tables_.values():
        if table_of.rows not in (("mean", "deviation"), ("rate",)) and unseen == "ignore":
            assert_allclose(table_of.values.sum(axis=0), 1.0, rtol=1e-14)


@given(tables(min_rows=2), st.data(), st.sampled_from(["gaussian", "equal-width", "equal-frequency"]))
@settings(max_examples=50, deadline=None)
def test_zero_weight_is_removal_and_whole_weight_is_repetition(data, draw, numeric):
    table, y = data
    weight = draw.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y)))
    assume(any(weight))
    copies = [i for i, n in enumerate(weight) for _ in range(n)]
    weighted = fit(table, y, weight, numeric=numeric, bins=3)
    repeated = fit(rows(table, copies), [y[i] for i in copies], numeric=numeric, bins=3)
    assert weighted.schema_ == repeated.schema_
    assert weighted.classes_.tolist() == repeated.classes_.tolist()
    assert_array_equal(weighted.counts_.values.n_value, repeated.counts_.values.n_value)
    assert_array_equal(weighted.class_count_, repeated.class_count_)
    if known_variances(repeated):
        assert_same_posteriors(weighted, repeated, table)


@pytest.mark.parametrize("variance", ["ml", "unbiased"])
def test_a_class_weight_of_two_is_two_copies_of_the_class(variance):
    table = {"u": list("aabbab"), "h": [1.0, 2.0, 4.0, 3.5, 2.5, 0.0]}
    y = list("xyxyxy")
    weighted = fit_plain(table, y, class_weight={"x": 2}, variance=variance)
    twice = [i for i, label in enumerate(y) for _ in range(2 if label == "x" else 1)]
    repeated = fit_plain(rows(table, twice), [y[i] for i in twice], variance=variance)
    assert_same_posteriors(weighted, repeated, table, 1e-12)
    assert_array_equal(weighted.class_count_, [3, 3])


def fit_plain(table, y, **parameters):
    return NaiveBayes(**parameters).fit(table, y)


def test_balanced_classes_have_the_same_prior():
    model = NaiveBayes(class_weight="balanced").fit({"u": list("abab")}, list("xxxy"))
    assert_allclose(model.class_prior_, [0.5, 0.5], rtol=1e-14)


@pytest.mark.parametrize("numeric", ["equal-width", "equal-frequency"])
def test_bins_are_frozen_by_the_first_batch_which_says_so(numeric):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 1)), rng.integers(0, 2, 60)
    with pytest.warns(BayeskitWarning, match="bins of 'x0' were cut on the first batch"):
        model = NaiveBayes(numeric=numeric, bins=4).partial_fit(x[:30], y[:30])
    edges = model.schema_[0].edges
    model.partial_fit(x[30:], y[30:])
    assert model.schema_[0].edges == edges
    assert model.class_count_.sum() == 60
