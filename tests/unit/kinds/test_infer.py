"""Every column of a file gets a kind and a reason, and a person's word comes first."""

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa

from bayeskit.errors import TableError
from bayeskit.kinds.infer import infer_kinds, read_features
from bayeskit.kinds.written import read_columns
from bayeskit.table.column import Coded, Numbers
from bayeskit.table.target import read_target

N = 200
TABLE = pa.table(
    {
        "id": [f"p{i:03}" for i in range(N)],
        "number": list(range(1000, 1000 + N)),
        "code": [i % 20 for i in range(N)],
        "count": [i % 21 for i in range(N)],
        "amount": [i / 7 for i in range(N)],
        "word": ["yes" if i % 3 else None for i in range(N)],
        "truth": [i % 2 == 0 for i in range(N)],
        "remark": [f"the patient came on day {i} and told a long story" for i in range(N)],
        "name": [f"name {i % 120}" for i in range(N)],
        "nothing": pa.nulls(N),
        "day": pa.array([i * 86_400_000 for i in range(N)], pa.timestamp("ms")),
        "play": ["no", "yes"] * (N // 2),
    }
)


def kinds(**options):
    return {note.name: note.kind for note in infer_kinds(TABLE, "play", **options)}


def why(name):
    return next(note.why for note in infer_kinds(TABLE, "play") if note.name == name)


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("id", "left out", "every row has a value of its own, as an id has"),
        ("number", "left out", "it numbers the rows"),
        ("code", "categorical", "whole numbers with 20 values"),
        ("count", "numeric", "whole numbers with 21 values"),
        ("amount", "numeric", "numbers with fractions"),
        ("word", "categorical", "text with 1 value"),
        ("truth", "categorical", "true or false"),
        ("remark", "text", "free text, whose words are counted"),
        ("name", "left out", "120 values in 200 rows are too many to count"),
        ("nothing", "left out", "it has no value in any row"),
        ("day", "date", "it holds dates"),
        ("play", "target", "2 classes"),
    ],
)
def test_a_column_is_told_by_its_values(name, kind, reason):
    assert kinds()[name] == kind
    assert why(name) == reason


def test_a_person_may_say_otherwise():
    found = kinds(ignore=["amount"], forced={"code": "numeric", "name": "categorical"})
    assert (found["amount"], found["code"], found["name"]) == ("left out", "numeric", "categorical")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ignore": ["amont"]}, "did you mean 'amount' or 'count'?"),
        ({"forced": {"amount": "number"}}, "column 'amount' cannot be of kind 'number'; did you mean 'numeric'"),
        ({"forced": {"play": "categorical"}}, "column 'play' is the target"),
    ],
)
def test_what_a_person_says_must_make_sense(options, message):
    with pytest.raises(TableError) as caught:
        kinds(**options)
    assert message in str(caught.value)


def test_features_are_the_columns_in_use_and_kinds_those_that_the_type_does_not_tell():
    features = read_features(TABLE, infer_kinds(TABLE, "play"))
    assert features.source.names == ("code", "count", "amount", "word", "truth", "remark")
    assert features.kinds == {"code": "categorical", "remark": "text"}
    assert [type(column) for column in features.source.columns] == [Numbers, Numbers, Numbers, Coded, Numbers, Coded]


def test_rows_without_a_label_are_left_out_and_counted():
    target = read_target(pa.table({"x": [1, 2, 3, 4], "y": [1, None, 0, 1]}), "y")
    assert target.classes.tolist() == [0, 1]
    assert target.y.tolist() == [1, 0, 1]
    assert target.table["x"].to_pylist() == [1, 3, 4]
    assert target.n_unlabelled == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None, None], "the target 'y' has no value in any of 3 rows"),
        (["a", "b", "c"], "has as many values as rows, 3: it is an id"),
        ([0.5, 1.5, 0.5], "the target 'y' holds amounts such as 0.5"),
        ([f"v{i // 2}" if i < 30 else f"u{i}" for i in range(60)], "has 45 values in 60 rows"),
        ([], "the table has a header and no rows"),
    ],
)
def test_a_column_that_names_no_classes_is_refused(values, message):
    with pytest.raises(TableError) as caught:
        read_target(pa.table({"y": values}), "y")
    assert message in str(caught.value)


def test_a_target_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(TableError, match=r"there is no column 'paly'; did you mean 'play' or 'day'\?"):
        read_target(TABLE, "paly")


def test_the_share_of_missing_cells_is_of_all_rows():
    table = pa.table({"a": ["x", None, "y", None], "play": ["no", "no", "yes", "yes"]})
    assert [note.missing for note in infer_kinds(table, "play")] == [0.5, 0.0]


@pytest.mark.parametrize(("n_rows", "kind"), [(119, "left out"), (120, "categorical"), (150, "categorical")])
def test_text_with_more_values_than_half_of_the_rows_is_left_out(n_rows, kind):
    words = [f"w{i % 60}" for i in range(n_rows)]
    table = pa.table({"word": words, "play": ["no", "yes"] * (n_rows // 2) + ["no"] * (n_rows % 2)})
    assert infer_kinds(table, "play")[0].kind == kind


@pytest.mark.parametrize(("n_rows", "kind"), [(119, "text"), (120, "categorical")])
def test_long_text_that_mostly_differs_is_free_text(n_rows, kind):
    words = [f"a sentence of more than thirty letters, {i % 60}" for i in range(n_rows)]
    table = pa.table({"remark": words, "play": ["no", "yes"] * (n_rows // 2) + ["no"] * (n_rows % 2)})
    note = infer_kinds(table, "play")[0]
    assert note.kind == kind
    assert ("free text" in note.why) == (kind == "text")


def test_a_column_without_values_has_none():
    assert next(note for note in infer_kinds(TABLE, "play") if note.name == "nothing").n_values == 0


def test_a_kind_that_was_given_for_a_part_of_a_date_stays():
    written = read_columns(pa.table({"sold": ["16.02.2019", "1.3.2019"], "ok": ["a", "b"]}), "ok")
    kinds = {note.name: (note.kind, note.why) for note in infer_kinds(written.table, "ok", written=written)}
    assert kinds["sold (month)"] == ("categorical", "month of 'sold'")
    asked = infer_kinds(written.table, "ok", forced={"sold (month)": "numeric"}, written=written)
    assert {note.name: (note.kind, note.why) for note in asked}["sold (month)"] == ("numeric", "you said so")
