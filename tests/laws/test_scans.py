"""Any split of a table into pieces, counted under one plan and merged in any order, is one fit in memory."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bayeskit import AODE, KDB, ODE, SPODE, TAN, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, scan
from bayeskit.errors import BayeskitError, TableError
from bayeskit.learn.plan import Plan
from bayeskit.table.scan.arrow import TablePiece
from bayeskit.table.scan.pieces import Scan, merge_tree

words = st.sampled_from(["a", "b", "c", None])
records = st.lists(
    st.tuples(words, words, st.sampled_from([True, False, None]), st.sampled_from(["x", "y", "z"])),
    min_size=3,
    max_size=12,
)
cuts = st.lists(st.integers(0, 12), max_size=4)


def table_of(rows):
    one, two, three, label = zip(*rows, strict=True)
    columns = [pa.array(one, pa.string()), pa.array(two, pa.string()), pa.array(three, pa.bool_())]
    return pa.table([*columns, pa.array(label, pa.string())], names=["one", "two", "three", "label"])


def cut_at(table, at):
    borders = [0, *sorted(min(cut, table.num_rows) for cut in at), table.num_rows]
    return [table.slice(low, high - low) for low, high in pairwise(borders)]


def in_pieces(table, at):
    """The table cut at some rows, each piece with dictionaries of its own; pieces may be empty."""
    parts = cut_at(table, at)
    parts = [part.set_column(0, "one", part["one"].combine_chunks().dictionary_encode()) for part in parts]
    return Scan("pieces", table.schema, tuple(TablePiece(part) for part in parts))


MODELS = [
    NaiveBayes(),
    TAN(),
    AODE(),
    AODE(order=2),
    KDB(2),
    KDB(2, select=True),
    SPODE(),
    SPODE("two"),
    ODE({"one": "two"}),
]


@pytest.mark.filterwarnings("ignore:.*no value in any row")
@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=15, deadline=None)
@given(rows=records, at=cuts)
def test_any_split_into_pieces_gives_the_counts_of_one_fit(model, rows, at):
    table = table_of(rows)
    found, expected = (clone(model).fit(X, target="label") for X in (in_pieces(table, at), table))
    assert found.schema_ == expected.schema_
    (mine, mine_arrays), (other, other_arrays) = found.counts_.to_parts(), expected.counts_.to_parts()
    assert mine == other
    for name, array in other_arrays.items():
        assert_array_equal(mine_arrays[name], array)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 3), st.integers(0, 2)), min_size=6, max_size=30), cuts)
def test_moments_and_bins_of_pieces_are_those_of_one_fit(rows, at):
    number, count, label = (np.array(column) for column in zip(*rows, strict=True))
    table = pa.table({"number": number, "count": count, "label": label})
    pieces = Scan("pieces", table.schema, tuple(map(TablePiece, cut_at(table, at))))
    found, expected = (GaussianNB().fit(X, target="label").counts_.moments for X in (pieces, table))
    largest = max(1.0, np.abs(number).max())
    assert_array_equal(found.weight, expected.weight)
    assert_allclose(found.mean, expected.mean, rtol=1e-12, atol=1e-12 * largest)
    assert_allclose(found.scatter, expected.scatter, rtol=1e-12, atol=1e-12 * largest**2)
    for how in ("equal-width", "equal-frequency", "mdl"):
        model = NaiveBayes(numeric=how, bins=3)
        assert clone(model).fit(pieces, target="label").schema_ == clone(model).fit(table, target="label").schema_


@pytest.mark.filterwarnings("ignore:column .* has no value in any row")
@settings(max_examples=15, deadline=None)
@given(records, cuts, st.randoms(use_true_random=False))
def test_parts_may_be_counted_elsewhere_and_merged_in_any_order(rows, at, random):
    table = table_of(rows)
    pieces = in_pieces(table, at)
    sent = json.dumps(TAN().plan(pieces, target="label").with_families("pairs").to_json())
    plan = Plan.from_json(json.loads(sent))
    parts = [pickle.loads(pickle.dumps(plan.count(piece.batches(table.column_names)))) for piece in pieces.pieces]
    random.shuffle(parts)
    found = TAN.from_counts(plan.merge(parts), target="label")
    expected = TAN().fit(table, target="label")
    assert found.schema_ == expected.schema_
    assert_array_equal(found.counts_.cells, expected.counts_.cells)


@given(st.lists(st.text("ab", max_size=2), max_size=20))
def test_merging_keeps_the_order_of_the_parts(parts):
    assert merge_tree(iter(parts), str.__add__) == ("".join(parts) if parts else None)


def test_ten_thousand_parts_are_merged_fourteen_deep():
    def deeper(a, b):
        return max(a[0], b[0]) + 1, a[1] + b[1]

    assert merge_tree(((0, 1) for _ in range(10_000)), deeper) == (14, 10_000)


def test_rows_without_a_label_are_left_out_and_said():
    table = pa.table({"wind": ["weak", "calm", "strong"], "play": ["yes", None, "no"]})
    with pytest.warns(UserWarning, match="1 row has no value in the target 'play'"):
        model = NaiveBayes().fit(scan(table), target="play")
    assert model.schema_["wind"].values == ("strong", "weak")
    with pytest.raises(TableError, match="the target 'play' has no value in any row"):
        NaiveBayes().fit(scan(table.slice(1, 1)), target="play")
    with pytest.raises(TableError, match="the target 'play' has no value in any row"):
        NaiveBayes().fit(scan(table.slice(0, 0)), target="play")


def test_weights_are_a_column():
    table = pa.table({"wind": ["weak", "calm", "strong"], "times": [2, 0, 1], "play": ["yes", "no", "no"]})
    found = NaiveBayes().fit(scan(table), target="play", sample_weight="times")
    assert found.class_count_.tolist() == [1, 2]
    assert found.schema_.names == ("wind",)
    with pytest.raises(TableError, match="sample_weight is the name of a column; got list"):
        NaiveBayes().fit(scan(table), target="play", sample_weight=[1, 2, 3])


def test_a_stream_that_is_read_once_serves_models_of_one_pass_and_is_refused_by_others():
    table = pa.table({"wind": ["weak", "calm"] * 5, "heat": [1.5, 2.5] * 5, "play": ["yes", "no"] * 5})
    one = NaiveBayes().fit(scan(table.to_reader(3)), target="play")
    assert one.class_count_.tolist() == [5, 5]
    with pytest.raises(TableError, match="can be read once, and bins need a pass of their own"):
        TAN().fit(scan(table.to_reader()), target="play")
    with pytest.raises(TableError, match="can be read once, and KDB needs more than one pass"):
        KDB(2).fit(scan(table.drop_columns("heat").to_reader()), target="play")


def test_truth_beside_numbers_is_refused_by_name():
    pieces = (TablePiece(pa.table({"x": [True], "y": ["a"]})), TablePiece(pa.table({"x": ["t"], "y": ["b"]})))
    with pytest.raises(BayeskitError, match="column 'x'"):
        NaiveBayes().fit(Scan("pieces", pa.schema({"x": pa.bool_(), "y": pa.string()}), pieces), target="y")


def test_models_of_matrices_take_scans_too():
    table = pa.table({"good": [2, 0, 1], "bad": [0, 3, 1], "kind": ["ham", "spam", "ham"]})
    for model in (MultinomialNB(), CategoricalNB()):
        found, expected = clone(model).fit(scan(table), target="kind"), clone(model).fit(table, target="kind")
        rows = table.drop_columns("kind").to_pandas()
        assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=1e-12)


def test_what_a_scan_lacks_is_said_before_anything_is_read():
    table = pa.table({"wind": ["weak"], "play": ["yes"]})
    with pytest.raises(TableError, match="pass target='its name'"):
        NaiveBayes().fit(scan(table))
    with pytest.raises(TableError, match="pass target='its name' instead of y"):
        NaiveBayes().fit(scan(table), ["yes"])
    with pytest.raises(TableError, match="column 'plya'"):
        NaiveBayes().fit(scan(table), target="plya")
    with pytest.raises(BayeskitError, match="this is no plan"):
        Plan.from_json({"model": "NaiveBayes"})


@pytest.mark.parametrize("model", [KDB(2, select=True, unseen="smooth"), SPODE("best", unseen="smooth")], ids=str)
def test_a_scan_chooses_by_losses_with_the_slot_for_unseen_values(model):
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 4, (60, 4)).astype(str)
    label = np.where(rng.random(60) < 0.2 + 0.15 * cells[:, 0].astype(int), "yes", "no")
    table = pa.table({**{f"x{j}": cells[:, j] for j in range(4)}, "label": label})
    found, expected = clone(model).fit(scan(table), target="label"), clone(model).fit(table, target="label")
    assert str(found.structure_) == str(expected.structure_)
    if isinstance(model, KDB):
        assert_allclose(found.selection_, expected.selection_, rtol=1e-12)
