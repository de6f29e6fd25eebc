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


@pytest.fixture
def trained(stays):
    places = ["--group", "patient", "--time", "day"]
    assert run(["train", "stays.csv", *places, "--target", "stage", "--ignore", "outcome", "-o", "stage.bayes"]) == 0
    options = ["--target", "outcome", "--ignore", "stage", "--states", "2", "-o", "outcome.bayes"]
    assert run(["train", "stays.csv", *places, *options]) == 0
    options = ["--ignore", "stage", "--ignore", "outcome", "-o", "hidden.bayes"]
    assert run(["train", "stays.csv", *places, *options]) == 0
    return stays


def test_a_report_says_what_the_chain_has_learned_and_how_good_it_is(trained, capsys):
    page = (trained / "stage.html").read_text(encoding="utf-8")
    model = bayeskit.load(trained / "stage.bayes")
    for p in model.transitions_.ravel():
        assert f"{p:.4f}" in page
    for words in ("every fifth sequence", "What each state looks like", "P(cough | stage)", "Confusion matrix", "<svg"):
        assert words in page
    assert "Number of states" in (trained / "hidden.html").read_text(encoding="utf-8")
    assert "States of class bad" in (trained / "outcome.html").read_text(encoding="utf-8")


def test_held_out_sequences_were_not_learned_from(stays, capsys):
    options = [
        "--group",
        "patient",
        "--time",
        "day",
        "--target",
        "stage",
        "--ignore",
        "outcome",
        "--no-report",
        "--json",
    ]
    capsys.readouterr()
    assert run(["train", "stays.csv", *options]) == 0
    said = json.loads(capsys.readouterr().out)
    assert not (stays / "stays-stage.html").exists()
    # The fifth and the tenth of twelve patients, by a model of the other ten in Python.
    with (stays / "stays.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    test = [row["patient"] in ("p4", "p9") for row in rows]
    columns = {
        "patient": [row["patient"] for row in rows],
        "day": [row["day"] for row in rows],
        "heat": np.array([float(row["heat"] or "nan") for row in rows]),
        "cough": [row["cough"] for row in rows],
    }

    def part(wanted):
        return {
            name: [cell for cell, is_test in zip(cells, test, strict=True) if is_test == wanted]
            for name, cells in columns.items()
        }

    stage = [row["stage"] for row in rows]
    model = bayeskit.HiddenMarkov().fit(
        part(False), [s for s, t in zip(stage, test, strict=True) if not t], group="patient", time="day"
    )
    truth = [s for s, t in zip(stage, test, strict=True) if t]
    posterior = model.smooth(part(True))
    log_loss = -np.log(posterior[np.arange(len(truth)), np.searchsorted(model.states_, truth)]).mean()
    assert said["held_out"]["log_loss"]["value"] == pytest.approx(log_loss, rel=1e-9)


def test_a_chain_is_judged_on_whole_sequences(trained, capsys):
    capsys.readouterr()
    assert run(["evaluate", "stage.bayes", "stays.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert run(["predict", "stage.bayes", "stays.csv", "-o", "out.csv"]) == 0
    with (trained / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wrong = np.mean([row["stage"] != row["stage_predicted"] for row in rows])
    assert said["rows"] == 120
    assert said["error"]["value"] == pytest.approx(wrong, abs=2 / 120)  # smoothed states, not the best path
    capsys.readouterr()
    assert run(["evaluate", "outcome.bayes", "stays.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["sequences"] == 12
    assert said["error"]["value"] == 0
    assert run(["evaluate", "hidden.bayes", "stays.csv"]) != 0
    assert "the states of this model were hidden" in capsys.readouterr().err
    assert run(["evaluate", "stage.bayes", "stays.csv", "--target", "outcome"]) != 0
    assert "'stage' has the value 'bad'" in capsys.readouterr().err


def test_explain_says_which_rows_moved_the_state_as_in_python(trained, capsys):
    capsys.readouterr()
    assert run(["explain", "stage.bayes", "stays.csv", "--row", "5", "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    with (trained / "stays.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:10]
    columns = {
        "patient": ["p0"] * 10,
        "day": np.array([row["day"] for row in rows], dtype="datetime64[D]"),
        "heat": [float(row["heat"]) if row["heat"] else np.nan for row in rows],
        "cough": [row["cough"] for row in rows],
    }
    expected = bayeskit.load(trained / "stage.bayes").explain(columns, 4)
    assert (said["row"], said["sequence"], tuple(said["states"])) == (5, "p0", expected.states)
    assert [each["row"] for each in said["evidence"]] == list(range(1, 11))
    np.testing.assert_allclose([each["log_odds"] for each in said["evidence"]], expected.changes, atol=1e-9)
    assert run(["explain", "stage.bayes", "stays.csv", "--row", "15"]) == 0
    text = capsys.readouterr().out
    assert "row 15, sequence p1: well rather than ill" in text
    assert "row 11 " in text
    assert "row 1 " not in text


def test_explain_without_a_row_takes_the_least_certain_ones(trained, capsys):
    capsys.readouterr()
    assert run(["explain", "hidden.bayes", "stays.csv", "--doubtful", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert run(["explain", "stage.bayes", "stays.csv", "--row", "121"]) == 1
    assert "has 120 rows; there is no row 121" in " ".join(capsys.readouterr().err.split())
    assert run(["explain", "outcome.bayes", "stays.csv"]) == 1
    assert "no state of a row to explain" in " ".join(capsys.readouterr().err.split())


def test_compare_takes_hidden_chains_by_the_probability_of_sequences(trained, capsys):
    options = ["--group", "patient", "--time", "day", "--ignore", "stage", "--ignore", "outcome", "--no-report"]
    for n in ("1", "2"):
        assert run(["train", "stays.csv", *options, "--states", n, "-o", f"{n}.bayes"]) == 0
    capsys.readouterr()
    assert run(["compare", "1.bayes", "2.bayes", "stays.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    # One state is naive Bayes of independent rows; ill and well rows make two states far more probable.
    a, b, difference = (said["log_likelihood"][side][0] for side in ("first", "second", "difference"))
    np.testing.assert_allclose(difference, b - a, rtol=1e-12)
    assert difference > 5
    assert (said["sequences"], said["rows"]) == (12, 120)
    assert said["first_better"] + said["second_better"] == 12
    assert run(["compare", "1.bayes", "2.bayes", "stays.csv"]) == 0
    assert "p-value of the sign test" in capsys.readouterr().out


def test_compare_takes_known_states_and_classes_as_classifiers(trained, capsys):
    options = ["--group", "patient", "--time", "day", "--target", "stage", "--ignore", "outcome", "--no-report"]
    assert run(["train", "stays.csv", *options, "--ignore", "heat", "-o", "cough.bayes"]) == 0
    capsys.readouterr()
    assert run(["compare", "stage.bayes", "cough.bayes", "stays.csv", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    for side, name in (("first", "stage.bayes"), ("second", "cough.bayes")):
        assert run(["evaluate", name, "stays.csv", "--json"]) == 0
        judged = json.loads(capsys.readouterr().out)
        np.testing.assert_allclose(said["log_loss"][side], list(judged["log_loss"].values()), rtol=1e-9)
    assert run(["compare", "outcome.bayes", "outcome.bayes", "stays.csv"]) == 0
    assert "12 sequences" in capsys.readouterr().out


def test_compare_refuses_chains_that_cannot_be_compared(trained, capsys):
    options = ["--group", "patient", "--time", "day", "--ignore", "stage", "--ignore", "outcome", "--no-report"]
    assert run(["train", "stays.csv", *options, "--ignore", "cough", "-o", "heat.bayes"]) == 0
    assert run(["compare", "hidden.bayes", "heat.bayes", "stays.csv"]) == 1
    assert "only one of the models has the column 'cough'" in " ".join(capsys.readouterr().err.split())
    assert run(["compare", "hidden.bayes", "outcome.bayes", "stays.csv"]) == 1
    assert "do not answer the same question" in " ".join(capsys.readouterr().err.split())
