"""``bayeskit train --group --time``, and ``predict`` with the chain that it made."""

import csv
import json

import numpy as np
import pytest

import bayeskit
from bayeskit.cli.app import run


@pytest.fixture
def stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with (tmp_path / "stays.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["patient", "day", "heat", "cough", "stage", "outcome"])
        for patient in range(12):
            for day in range(1, 11):
                ill = (patient % 2 == 0) and day > 4
                heat = "" if day == 3 else round(float(rng.normal(39.0 if ill else 36.6, 0.2)), 2)
                cough = "yes" if ill else "no"
                date = f"2024-03-{day:02d}"
                row = [
                    f"p{patient}",
                    date,
                    heat,
                    cough,
                    "ill" if ill else "well",
                    "bad" if patient % 2 == 0 else "good",
                ]
                writer.writerow(row)
    return tmp_path


def test_a_target_that_changes_is_the_state(stays, capsys):
    arguments = ["--group", "patient", "--time", "day", "--target", "stage", "--ignore", "outcome", "-o", "stage.bayes"]
    assert run(["train", "stays.csv", *arguments]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "HiddenMarkov: 'stage' changes within a sequence: it is the state of each row" in said
    model = bayeskit.load(stays / "stage.bayes")
    assert model.states_.tolist() == ["ill", "well"]
    assert run(["show", "stage.bayes"]) == 0
    assert run(["predict", "stage.bayes", "stays.csv", "-o", "out.csv"]) == 0
    with (stays / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert sum(row["stage"] == row["stage_predicted"] for row in rows) > 115
    assert all(0 < float(row["stage_predicted_probability"]) <= 1 for row in rows)


def test_a_target_of_the_group_is_its_class(stays, capsys):
    arguments = [
        "--group",
        "patient",
        "--time",
        "day",
        "--target",
        "outcome",
        "--ignore",
        "stage",
        "-o",
        "outcome.bayes",
    ]
    assert run(["train", "stays.csv", *arguments, "--states", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["model"] == "SequenceClassifier"
    assert "one chain per class" in said["why"]
    assert run(["predict", "outcome.bayes", "stays.csv", "-o", "out.csv"]) == 0
    with (stays / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["patient"] for row in rows] == [f"p{i}" for i in range(12)]
    assert [row["outcome"] for row in rows] == ["bad", "good"] * 6


def test_without_a_target_the_states_are_hidden(stays, capsys):
    arguments = ["--group", "patient", "--time", "day", "--ignore", "stage", "--ignore", "outcome", "--states", "2"]
    assert run(["train", "stays.csv", *arguments]) == 0
    assert "the states are hidden" in " ".join(capsys.readouterr().out.split())
    assert bayeskit.load(stays / "stays.bayes").n_states_ == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group", "patients"], "patients"),
        (["--group", "patient", "--states", "few"], "whole number of at least 1"),
        (["--group", "patient", "--target", "patient"], "must be different columns"),
        (["--group", "patient", "--calibrate"], "it is not used with --group or --time"),
        (["--target", "stage", "--states", "2"], "it needs --group or --time"),
    ],
)
def test_bad_arguments_are_refused(stays, capsys, arguments, message):
    assert run(["train", "stays.csv", *arguments]) != 0
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_target_of_one_class_is_refused_as_in_tables(stays, capsys):
    lines = (stays / "stays.csv").read_text().splitlines()
    (stays / "one.csv").write_text("\n".join([lines[0] + ",same", *(line + ",yes" for line in lines[1:])]) + "\n")
    assert run(["train", "one.csv", "--group", "patient", "--time", "day", "--target", "same"]) != 0
    assert "the target has one class, 'yes'; a classifier needs at least two" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not (stays / "one-same.bayes").exists()
