"""Options that settle problems: spellings merged, copies and rare classes left out, a missing word of one column."""

from __future__ import annotations

import csv
import datetime

import numpy as np
import pytest

import bayeskit
from bayeskit.cli.app import run
from bayeskit.table.conversions import Conversions
from bayeskit.table.spellings import respelled, split_words
from tests.unit.table.test_problems import N, clean

pa = pytest.importorskip("pyarrow")


def written(tmp_path, table, name="table.csv"):
    from pyarrow import csv

    place = tmp_path / name
    csv.write_csv(pa.table(table), place)
    return place


def messy():
    table = clean()
    table["play"] = [f" {label.upper()}" if i % 40 == 0 else label for i, label in enumerate(table["play"])]
    table["sky"] = ["Clear" if i % 50 == 0 and sky == "clear" else sky for i, sky in enumerate(table["sky"])]
    return table


def test_merged_labels_give_the_model_of_the_clean_table():
    merged = bayeskit.read(messy(), "play", merge_labels=True)
    model, right = bayeskit.NaiveBayes().fit(merged), bayeskit.NaiveBayes().fit(bayeskit.read(clean(), "play"))
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict_proba(messy()), right.predict_proba(clean()))
    assert [problem.code for problem in merged.problems] == []


def test_a_model_with_merged_labels_is_saved_and_reads_the_same_spellings(tmp_path):
    model = bayeskit.NaiveBayes().fit(bayeskit.read(messy(), "play", merge_labels=True))
    model.save(tmp_path / "play.bayes")
    again = bayeskit.load(tmp_path / "play.bayes")
    np.testing.assert_array_equal(again.predict_proba(messy()), model.predict_proba(messy()))


def test_the_command_merges_labels_in_train_predict_and_evaluate(tmp_path, capsys):
    data, model = written(tmp_path, messy()), tmp_path / "play.bayes"
    assert (
        run(["train", str(data), "-t", "play", "-m", "NaiveBayes", "--merge-labels", "--no-report", "-o", str(model)])
        == 0
    )
    assert run(["evaluate", str(model), str(data), "--json"]) == 0
    capsys.readouterr()
    out = tmp_path / "out.csv"
    assert run(["predict", str(model), str(data), "-o", str(out), "--strict"]) == 0
    whole = bayeskit.NaiveBayes().fit(bayeskit.read(messy(), "play", merge_labels=True)).predict(messy())
    assert out.read_text().splitlines()[5].split(",")[0].strip('"') == whole[4]


def test_copies_are_left_out_and_the_first_of_each_stays():
    copied = {name: [*cells, *cells[:40]] for name, cells in clean().items()}
    table = bayeskit.read(copied, "play", drop_duplicates=True)
    assert len(table) == N
    assert table["age"].to_pylist() == clean()["age"]
    assert [problem.code for problem in table.problems] == ["dropped rows"]


def test_rare_classes_are_left_out():
    table = clean()
    table["play"] = [*table["play"][:-2], "maybe", "maybe"]
    assert bayeskit.read(table, "play", drop_rare_classes=True).labels.classes.tolist() == ["no", "yes"]


def test_a_word_is_missing_in_one_column_only():
    table = clean()
    table["pressure"] = [0 if i % 10 == 0 else 60 + i % 30 for i in range(N)]
    table["children"] = [i % 10 for i in range(N)]
    read = bayeskit.read(table, "play", missing=["pressure=0"])
    assert read["pressure"].null_count == N // 10
    assert read["children"].null_count == 0
    model = bayeskit.NaiveBayes().fit(read)
    row = {name: [cells[0]] for name, cells in table.items()}
    hidden = {**row, "pressure": [None]}
    np.testing.assert_array_equal(model.predict_proba(row), model.predict_proba(hidden))


def test_spellings_travel_as_json():
    made = Conversions((), (), ("?",), (("play", ((" Yes", "yes"), ("-", None))),))
    assert Conversions.from_json(made.to_json()) == made
    with pytest.raises(ValueError, match="not a name"):
        Conversions.from_json({**made.to_json(), "spellings": [["play", [[1, "yes"]]]]})


def test_words_of_a_column_are_told_from_words_with_an_equals_sign():
    assert split_words(["a=b", "age=-1", "age=?"], ["age"]) == (("a=b",), {"age": {"-1": None, "?": None}})
    assert respelled(pa.chunked_array([[1.5, -1.0]]), {"-1": None}).to_pylist() == [1.5, None]


@pytest.mark.parametrize("option", ["--merge-labels", "--drop-duplicates", "--drop-rare-classes"])
def test_a_table_read_piece_by_piece_refuses_what_compares_rows(tmp_path, option, capsys):
    data = written(tmp_path, clean())
    assert (
        run(["train", str(data), "-t", "play", "--stream", option, "--no-report", "-o", str(tmp_path / "m.bayes")]) != 0
    )
    assert "--no-stream" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["{:.1f}", "{:.0f},0", "{:.0f} kg", "{:.0f}"])
def test_a_number_that_is_missing_is_so_however_it_is_written(form, tmp_path):
    numbers = [*(7 * k % 61 + 10 for k in range(N - 3)), -999, -999, -999]
    cells = [form.format(number) for number in numbers]
    table = {"x": cells, "play": clean()["play"]}
    problems = bayeskit.read(table, "play").problems
    assert ("missing", "x=-999") in [option for problem in problems for option in problem.options]
    read = bayeskit.read(table, "play", missing=["x=-999"])
    assert read["x"].to_pylist() == [*map(float, numbers[:-3]), None, None, None]
    assert bayeskit.read(table, "play", missing=["-999"])["x"].null_count == 3
    posterior = bayeskit.NaiveBayes().fit(read).predict_proba({"x": [form.format(-999), None]})
    np.testing.assert_array_equal(posterior[0], posterior[1])
    data, model, out = written(tmp_path, table), tmp_path / "play.bayes", tmp_path / "out.csv"
    options = ["-t", "play", "-m", "NaiveBayes", "--missing", "x=-999", "--no-report", "-o", str(model)]
    assert run(["train", str(data), *options]) == 0
    assert run(["predict", str(model), str(data), "-o", str(out)]) == 0
    with out.open() as rows:
        last = list(csv.DictReader(rows))[-1]
    assert float(last["P(yes)"]) == pytest.approx(posterior[1][1], abs=1e-4)


def test_rows_that_differ_in_a_column_that_no_model_reads_are_no_copies():
    sky = ["clear", "rain"] * 60
    table = {
        "patient": [f"P{k * 17 % 997:03}" for k in range(120)],
        "sky": sky,
        "wind": sky,
        "play": ["yes", "no"] * 60,
    }
    assert len(bayeskit.read(table, "play", drop_duplicates=True)) == 120
    numbered = {**table, "patient": list(range(5, 125))}  # which numbers the rows, and says nothing of them
    assert len(bayeskit.read(numbered, "play", drop_duplicates=True)) == 2
    assert len(bayeskit.read(table, "play", ignore=["patient"], drop_duplicates=True)) == 2
    minutes = {**table, "patient": [f"2024-03-01 10:{k // 60:02}:{k % 60:02}" for k in range(120)]}
    assert len(bayeskit.read(minutes, "play", drop_duplicates=True)) == 120


def test_rows_are_numbered_as_in_the_table_that_came():
    copied = {name: [cells[0], *cells, *cells[:40]] for name, cells in clean().items()}
    copied["play"][0] = "rare"
    table = bayeskit.read(copied, "play", drop_rare_classes=True)
    copies = [problem for problem in table.problems if problem.code == "duplicates"]
    assert copies[0].example == f"rows 2 and {N + 2}"


def test_a_program_that_is_exported_replaces_spellings_and_missing_words():
    from bayeskit.export.models import scorer_of

    merged = bayeskit.NaiveBayes().fit(bayeskit.read(messy(), "play", merge_labels=True))
    word = bayeskit.NaiveBayes().fit(bayeskit.read(clean(), "play", missing=["sky=rain"]))
    target = bayeskit.read({**messy(), "sky": clean()["sky"]}, "play", merge_labels=True)
    # What the programs then answer is compared in tests/unit/export/test_raw_columns.py.
    for model in (merged, word, bayeskit.NaiveBayes().fit(target)):
        assert scorer_of(model, "C").classes == ["no", "yes"]


@pytest.mark.parametrize("form", ["%d %b %Y", "%d/%m/%Y", "%Y-%m-%d"])
def test_folds_in_time_read_the_dates_of_a_column_that_is_left_out(form, tmp_path):
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=k) for k in range(N)]
    data = written(tmp_path, {**clean(), "day": [day.strftime(form) for day in days]})
    options = ["-t", "play", "-m", "NaiveBayes", "--folds", "time:day", "--ignore", "day", "--no-report"]
    assert run(["train", str(data), *options, "-o", str(tmp_path / "play.bayes")]) == 0
    assert "day" not in bayeskit.load(tmp_path / "play.bayes").schema_.names
