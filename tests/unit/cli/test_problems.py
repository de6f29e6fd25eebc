"""What `train` says of a table before it learns from it, and its options for smoothing and groups."""

from __future__ import annotations

import json

import pytest

from bayeskit.cli.app import run
from tests.unit.table.test_problems import clean
from tests.unit.table.test_remedies import written

pytest.importorskip("pyarrow")


def said(capsys, *arguments):
    capsys.readouterr()
    assert run(list(arguments)) == 0
    return capsys.readouterr()


def leaky(tmp_path):
    table = clean()
    table["ticket no"] = ["A" if label == "yes" else "B" for label in table["play"]]
    table["unit"] = ["cm"] * len(table["play"])
    return written(tmp_path, table)


def test_train_says_the_gravest_problem_first_with_the_option_as_it_is_typed(tmp_path, capsys):
    options = ["-t", "play", "-m", "NaiveBayes", "--no-report", "-o", str(tmp_path / "m.bayes")]
    out = said(capsys, "train", str(leaky(tmp_path)), *options).out
    assert out.index("'ticket no'") < out.index("'unit': 'cm' in all 400 rows")
    assert "[--ignore 'ticket no']" in out
    assert out.index("Data problems") < out.index("5-fold cross-validation")


def test_json_has_the_problems_with_their_options(tmp_path, capsys):
    options = ["-t", "play", "-m", "NaiveBayes", "--no-report", "--json", "-o", str(tmp_path / "m.bayes")]
    problems = json.loads(said(capsys, "train", str(leaky(tmp_path)), *options).out)["problems"]
    assert [problem["code"] for problem in problems] == ["leakage", "constant"]
    assert problems[1]["command"] == "--ignore unit"
    assert problems[1]["options"] == [["ignore", "unit"]]


def test_a_clean_table_is_not_spoken_of(tmp_path, capsys):
    options = ["-t", "play", "-m", "NaiveBayes", "--no-report", "-o", str(tmp_path / "m.bayes")]
    assert "problems" not in said(capsys, "train", str(written(tmp_path, clean())), *options).out


def test_smoothing_reaches_every_classifier_and_those_without_one_are_not_tried(tmp_path, capsys):
    options = ["-t", "play", "--smoothing", "0.5", "--no-report", "--json", "-o", str(tmp_path / "m.bayes")]
    result = json.loads(said(capsys, "train", str(written(tmp_path, clean())), *options).out)
    names = {trial["name"] for trial in result["leaderboard"]}
    assert "NaiveBayes" in names
    assert "AutoBayes" not in names
    from bayeskit import load

    assert load(tmp_path / "m.bayes").smoothing == 0.5


def test_smoothing_of_a_classifier_that_has_none_is_refused_before_the_file_is_read(capsys):
    assert run(["train", "absent.csv", "-t", "play", "-m", "AutoBayes", "--smoothing", "1"]) == 1
    assert "AutoBayes takes no smoothing" in capsys.readouterr().err


def test_the_report_scores_the_groups_of_a_column_and_an_absent_one_is_refused(tmp_path, capsys):
    data = str(written(tmp_path, clean()))
    options = ["-t", "play", "-m", "NaiveBayes", "-o", str(tmp_path / "m.bayes")]
    said(capsys, "train", data, *options, "--scores-by", "sky")
    assert "<h2>Scores by sky</h2>" in (tmp_path / "m.html").read_text("utf-8")
    assert run(["train", data, *options, "--scores-by", "skyy"]) == 1
    assert "did you mean 'sky'" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--smoothing", "1"], ["--merge-labels"], ["--scores-by", "sky"]])
@pytest.mark.parametrize("model", [["--text", "sky"], ["--group", "sky"]])
def test_options_of_tables_are_refused_for_texts_and_chains(tmp_path, capsys, option, model):
    data = str(written(tmp_path, clean()))
    assert run(["train", data, "-t", "play", *model, *option, "-o", str(tmp_path / "m.bayes")]) == 2
    assert option[0] in capsys.readouterr().err


def test_a_chain_takes_no_missing_word_of_one_column(tmp_path, capsys):
    data = str(written(tmp_path, clean()))
    assert run(["train", data, "--group", "sky", "--missing", "age=-1", "-o", str(tmp_path / "m.bayes")]) == 2
    assert "--missing" in capsys.readouterr().err
