"""Any split of a table into pieces, counted under one plan and merged in any order, is one fit in memory."""

import json
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bayeskit import (
    AODE,
    KDB,
    ODE,
    SPODE,
    TAN,
    AutoBayes,
    BayesianNetwork,
    CategoricalNB,
    GaussianBayes,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    TextClassifier,
    compare,
    drop_unlabeled,
    load,
    scan,
)
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError
from bayeskit.io.model_files import save
from bayeskit.learn.plan import Plan
from bayeskit.table.scan import sample as sampling
from bayeskit.table.scan.arrow import TablePiece
from bayeskit.table.scan.pieces import Scan, merge_tree

words = st.sampled_from(["a", "b", "c", None])
records = st.lists(
    st.tuples(words, words, st.sampled_from([True, False, None]), st.sampled_from(["x", "y", "z"])),
    min_size=3,
    max_size=12,
)
eighths = st.integers(-8000, 8000).map(lambda n: n / 8)
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
    AODE(n_parents=2),
    KDB(2),
    KDB(2, selective=True),
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
        if name == "families_chosen_by":  # losses, which were added in another order
            assert_allclose(mine_arrays[name], array, rtol=1e-12)
        else:
            assert_array_equal(mine_arrays[name], array)


# Numbers whose squares vanish are refused by name (test_moments.py).
squarable = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-100 else 0.0)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(squarable, st.integers(0, 3), st.integers(0, 2)), min_size=6, max_size=30), cuts)
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


@pytest.mark.filterwarnings("ignore:columns? .* ha(s|ve) no value in any row")
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


@pytest.mark.parametrize("as_category", [False, True])
@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), AODE(), AutoBayes("fast")], ids=lambda m: type(m).__name__)
def test_rows_without_a_label_are_refused_by_number_and_dropped_when_asked(model, as_category):
    rng = np.random.default_rng(0)
    play = pa.array(["yes", None, "no", "no", "yes", "no", None, "yes", "no", "no", "yes", "no"])
    table = pa.table(
        {
            "heat": rng.normal(size=12),
            "wind": rng.choice(["weak", "strong"], 12),
            "play": play.dictionary_encode() if as_category else play,
        }
    )
    with pytest.raises(TableError, match=r"the table, rows 1, 6 \(2 of 12\) have no label\.") as refused:
        model.fit(scan(table), target="play")
    assert "bayeskit.drop_unlabeled(scan, target='play') returns the rows that have one" in str(refused.value)
    labelled = drop_unlabeled(scan(table), target="play")
    assert labelled.n_rows is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)  # that so few rows say nothing
        found = model.fit(labelled, target="play").predict_proba(table.drop(["play"]))
        rest = table.filter(pa.array([label is not None for label in play.to_pylist()]))
        assert_array_equal(found, model.fit(rest, target="play").predict_proba(table.drop(["play"])))
    assert sum(batch.num_rows for batch in labelled.select(["heat"]).batches()) == 10


def test_a_row_without_a_label_is_named_by_its_place(tmp_path):
    table = pa.table({"wind": ["weak", "calm", "strong"], "play": ["yes", None, "no"]})
    pq.write_table(table.slice(0, 1), tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"b\.parquet', row group 0, row 1 has no label"):
        NaiveBayes().fit(scan(tmp_path), target="play")
    with pytest.raises(TableError, match=r"Input y contains NaN: row 2 has no label"):
        compare(scan(tmp_path), target="play")
    with pytest.raises(TableError, match=r"Input y contains NaN: row 1 has no label"):
        NaiveBayes().plan(scan(table), target="play").count(table.to_batches())
    texts = TextClassifier(model="complement")
    with pytest.raises(TableError, match=r"row 1 has no label.*drop_unlabeled\(scan, target='play'\)"):
        texts.fit(scan(table), target="play")
    assert texts.fit(drop_unlabeled(scan(table), target="play"), target="play").counts_.n_words == 2
    numbers = pa.table({"wind": ["weak", "calm", "strong"], "play": [1.0, float("nan"), 0.0]})
    with pytest.raises(TableError, match=r"row 1 has no label"):
        texts.fit(scan(numbers), target="play")


def test_a_scan_without_any_label_or_row_is_refused():
    table = pa.table({"wind": ["weak", "calm", "strong"], "play": ["yes", None, "no"]})
    with pytest.raises(TableError, match="the target 'play' has no value in any row"):
        NaiveBayes().fit(drop_unlabeled(scan(table.slice(1, 1)), target="play"), target="play")
    with pytest.raises(TableError, match=r"did you mean 'play'"):
        drop_unlabeled(scan(table), target="plya")
    with pytest.raises(TableError, match="of a scan, drop_unlabeled takes target="):
        drop_unlabeled(scan(table), table["play"])
    with pytest.raises(TableError, match="the target 'play' has no value in any row"):
        NaiveBayes().fit(scan(table.slice(0, 0)), target="play")


def test_weights_are_a_column():
    table = pa.table({"wind": ["weak", "calm", "strong"], "times": [2, 0, 1], "play": ["yes", "no", "no"]})
    found = NaiveBayes().fit(scan(table), target="play", sample_weight="times")
    assert found.class_count_.tolist() == [1, 2]
    assert found.schema_.names == ("wind",)
    with pytest.raises(TableError, match="sample_weight must be the name of a column; got list"):
        NaiveBayes().fit(scan(table), target="play", sample_weight=[1, 2, 3])


def test_a_stream_that_is_read_once_serves_models_of_one_pass_and_is_refused_by_others():
    table = pa.table({"wind": ["weak", "calm"] * 5, "heat": [1.5, 2.5] * 5, "play": ["yes", "no"] * 5})
    one = NaiveBayes().fit(scan(table.to_reader(3)), target="play")
    assert one.class_count_.tolist() == [5, 5]
    with pytest.raises(TableError, match="can be read only once, and bins need a separate pass"):
        TAN().fit(scan(table.to_reader()), target="play")
    with pytest.raises(TableError, match="can be read only once, and KDB needs more than one pass"):
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
    with pytest.raises(TableError, match="a scan needs target="):
        NaiveBayes().fit(scan(table))
    with pytest.raises(TableError, match="a scan takes target="):
        NaiveBayes().fit(scan(table), ["yes"])
    with pytest.raises(TableError, match="column 'plya'"):
        NaiveBayes().fit(scan(table), target="plya")
    with pytest.raises(BayeskitError, match="this is not a plan"):
        Plan.from_json({"model": "NaiveBayes"})


@pytest.mark.parametrize("model", [KDB(2, selective=True, unseen="smooth"), SPODE("best", unseen="smooth")], ids=str)
def test_a_scan_chooses_by_losses_with_the_slot_for_unseen_values(model):
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 4, (60, 4)).astype(str)
    label = np.where(rng.random(60) < 0.2 + 0.15 * cells[:, 0].astype(int), "yes", "no")
    table = pa.table({**{f"x{j}": cells[:, j] for j in range(4)}, "label": label})
    found, expected = clone(model).fit(scan(table), target="label"), clone(model).fit(table, target="label")
    assert str(found.structure_) == str(expected.structure_)
    if isinstance(model, KDB):
        assert_allclose(found.selection_, expected.selection_, rtol=1e-12)


NETWORK = BayesianNetwork(
    "label->one;label->two;one->two",
    states={"label": ["x", "y", "z"], "one": ["a", "b", "c"], "two": ["a", "b", "c"]},
)


@settings(max_examples=15, deadline=None)
@given(rows=records, at=cuts)
def test_a_network_learns_from_any_split_what_it_learns_from_the_table(rows, at):
    table = table_of(rows)
    found, expected = (NETWORK.fitted(X) for X in (in_pieces(table, at), table))
    assert_array_equal(found.counts.cells, expected.counts.cells)
    for mine, other in zip(found.tables, expected.tables, strict=True):
        assert_array_equal(mine, other)
    both = [NetworkClassifier(NETWORK, "label").fit(X) for X in (in_pieces(table, at), table)]
    assert_array_equal(both[0].predict_proba(table), both[1].predict_proba(table))


def test_a_network_of_a_scan_has_weights_by_name_and_refuses_what_needs_the_rows():
    table = table_of([("a", "b", True, "x"), ("b", "b", True, "y"), ("c", "a", False, "z")])
    weighted = table.append_column("times", pa.array([2.0, 0.0, 1.0]))
    found = NETWORK.fitted(scan(weighted), "times")
    expected = NETWORK.fitted(table, [2.0, 0.0, 1.0])
    assert_array_equal(found.counts.cells, expected.counts.cells)
    with pytest.raises(TableError, match="EM and gradient ascent read the rows many times"):
        NETWORK.fitted(scan(table), missing="em")
    with pytest.raises(TableError, match="has no rows"):
        NETWORK.fitted(scan(table.slice(0, 0)))
    with pytest.raises(TableError, match="column 'two'"):
        NETWORK.fitted(scan(table.drop_columns("two")))


def test_a_structure_is_searched_in_a_sample_and_counted_in_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    label = rng.choice(["x", "y"], 5000)
    one = np.where(rng.random(5000) < 0.5, label, "x")
    table = pa.table({"one": one, "two": np.where(rng.random(5000) < 0.5, one, "y"), "label": label})
    expected = NetworkClassifier().fit(table, target="label")
    monkeypatch.setattr(sampling, "MOST_ROWS", 2000)
    with pytest.warns(UserWarning, match="structure was learned from a random sample of 2,000 of 5,000 rows"):
        found = NetworkClassifier().fit(scan(table), target="label")
    assert found.counts_.parents == expected.counts_.parents
    assert_array_equal(found.counts_.cells, expected.counts_.cells)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.text("ab ", max_size=8), st.sampled_from("xyz")), min_size=2, max_size=12), cuts)
def test_texts_of_any_split_are_those_of_one_fit(rows, at):
    rows = [("a b", "x"), *rows]  # some document has a token
    table = pa.table({"text": [text for text, _ in rows], "label": [label for _, label in rows]})
    pieces = Scan("pieces", table.schema, tuple(map(TablePiece, cut_at(table, at))))
    texts, labels = (table[name].to_pylist() for name in ("text", "label"))
    for model in (TextClassifier(tokens="words"), TextClassifier(model="complement", tf=True, idf=True, length=True)):
        found, expected = clone(model).fit(pieces, target="label"), clone(model).fit(texts, labels)
        assert_allclose(found.predict_proba(texts), expected.predict_proba(texts), rtol=1e-12)
        assert found.vocabulary_.keys() == expected.vocabulary_.keys()


def test_a_text_classifier_says_which_columns_it_takes():
    table = pa.table({"text": ["a b", "b"], "page": [1, 2], "label": ["x", "y"]})
    with pytest.raises(TableError, match=r"one column of texts besides the target; got 'text', 'page'"):
        TextClassifier().fit(scan(table), target="label")
    with pytest.raises(TableError, match="column 'page' must hold texts; it holds int64"):
        TextClassifier().fit(scan(table, columns=["page", "label"]), target="label")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(eighths, eighths | st.none(), st.sampled_from("xy")), min_size=6, max_size=20),
    cuts,
)
def test_joint_moments_of_any_split_are_those_of_one_fit(rows, at):
    one, two, label = zip(*rows, strict=True)
    table = pa.table({"one": pa.array(one), "two": pa.array(two, pa.float64()), "label": pa.array(label)})
    pieces = Scan("pieces", table.schema, tuple(map(TablePiece, cut_at(table, at))))
    plan = GaussianBayes().plan(pieces, target="label")
    mine = plan.merge([plan.count(piece.batches(table.column_names)) for piece in pieces.pieces])
    other = GaussianBayes().count(table, target="label").narrow()
    assert_array_equal(mine.n_class, other.n_class)
    (_, a), (_, b) = mine.to_parts(), other.to_parts()
    assert a.keys() == b.keys()
    for name in a:
        if a[name].dtype.kind == "f":
            scale = max(1.0, float(np.abs(b[name]).max(initial=0.0)))
            assert_allclose(a[name], b[name], rtol=1e-12, atol=1e-12 * scale)
        else:
            assert_array_equal(a[name], b[name])


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), NetworkClassifier(NETWORK, "label")], ids=str)
def test_counts_have_a_safe_file_form_and_pickle_small(model, tmp_path):
    table = table_of([("a", "b", True, "x"), ("b", "b", True, "y"), ("c", "a", False, "z")] * 50)
    plan = model.plan(scan(table), target="label")
    if isinstance(model, AODE):
        plan = plan.with_families("pairs")
    halves = [plan.count(part.to_batches()) for part in (table.slice(0, 70), table.slice(70))]
    for k, half in enumerate(halves):
        save(half, tmp_path / f"{k}.bayes")
        assert len(pickle.dumps(half)) < 20_000
    merged = plan.merge([load(tmp_path / f"{k}.bayes") for k in range(2)])
    (mine, arrays), (other, expected) = merged.to_parts(), model.count(table, target="label").narrow().to_parts()
    assert mine == other
    for name in expected:
        assert_array_equal(arrays[name], expected[name])
