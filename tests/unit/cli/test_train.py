"""From a CSV to a model and a report, without a line of Python."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit.cli.app import run
from bayeskit.datasets import load_heart
from bayeskit.workflow.candidates import candidates


def test_train_shows_columns_and_leaderboard_and_says_what_to_do_next(heart, capsys):
    assert run(["train", "heart.csv", "--target", "disease", "-m", "NaiveBayes", "-m", "TAN"]) == 0
    out = capsys.readouterr().out
    assert "heart.csv: 303 rows, 14 columns" in out
    assert "whole numbers with 4 values" in out
    for name in ("NaiveBayes", "TAN", "majority class"):
        assert name in out
    assert "next    bayeskit explain heart-disease.bayes heart.csv" in out
    assert (heart / "heart-disease.bayes").exists()
    assert (heart / "heart-disease.html").read_text().startswith("<!DOCTYPE html>")


def test_every_classifier_of_the_registry_takes_part(heart, capsys):
    assert run(["train", "heart.csv", "-t", "disease", "--no-report", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {trial["name"] for trial in told["leaderboard"]} == {*candidates(), "majority class"}
    losses = [trial["log_loss"]["value"] for trial in told["leaderboard"]]
    assert losses == sorted(losses)
    assert told["best"] == told["leaderboard"][0]["name"]


def test_the_saved_model_is_the_one_that_fit_gives(heart):
    assert run(["train", "heart.csv", "-t", "disease", "-m", "TAN", "--no-report"]) == 0
    table = load_heart()
    model = bayeskit.TAN(edges="penalized", kinds={"vessels": "categorical"}).fit(table, target="disease")
    assert_array_equal(bayeskit.load("heart-disease.bayes").predict_proba(table), model.predict_proba(table))


def test_kinds_and_columns_to_ignore_are_obeyed(heart, capsys):
    options = ["--kind", "vessels=numeric", "--ignore", "thal", "--no-report", "--json"]
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", *options]) == 0
    columns = {column["name"]: column["kind"] for column in json.loads(capsys.readouterr().out)["columns"]}
    assert (columns["vessels"], columns["thal"]) == ("numeric", "left out")
    model = bayeskit.load("heart-disease.bayes")
    assert "thal" not in model.schema_.names
    assert model.schema_["vessels"].kind == "gaussian"


def test_losses_from_a_csv_enter_the_leaderboard(heart, capsys):
    (heart / "costs.csv").write_text("truth,no,yes\nno,0,1\nyes,5,0\n")
    options = ["-m", "NaiveBayes", "--loss", "costs.csv", "--no-report", "--json"]
    assert run(["train", "heart.csv", "-t", "disease", *options]) == 0
    board = json.loads(capsys.readouterr().out)["leaderboard"]
    found = {trial["name"]: trial["mean_loss"]["value"] for trial in board}
    # 164 healthy and 139 ill people: without features the dearer mistake is avoided, and each healthy one costs 1.
    assert found["majority class"] == pytest.approx(164 / 303, abs=5e-3)
    assert found["NaiveBayes"] < found["majority class"]


def test_the_seed_alone_decides_the_folds(heart, capsys):
    def log_loss(*options):
        assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report", "--json", *options]) == 0
        return json.loads(capsys.readouterr().out)["leaderboard"][0]["log_loss"]["value"]

    assert log_loss() == log_loss("--random-state", "0") != log_loss("--random-state", "1")


def test_chinese_names_spaces_and_free_text_are_met(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.choice(['青绿', '乌黑'])},{rng.normal():.3f},an account of melon {i} that goes on and on for a while,"
        f"{rng.choice(['是', '否'])}"
        for i in range(80)
    ]
    (tmp_path / "瓜.csv").write_text("\n".join(["色 泽,密度,备注,好 瓜", *rows]), encoding="gb18030")
    assert run(["train", "瓜.csv", "-t", "好 瓜", "-m", "NaiveBayes", "--encoding", "gb18030"]) == 0
    assert "free text, whose words are counted" in capsys.readouterr().out
    assert [(v.name, v.kind) for v in bayeskit.load("瓜-好 瓜.bayes").schema_][2] == ("备注", "text")
    assert "青绿" in (tmp_path / "瓜-好 瓜.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "model"), [("a.csv", "a-y.bayes"), ("-", "y.bayes")])
def test_a_target_of_numbers_stays_numbers(tmp_path, monkeypatch, name, model, capsys):
    import io
    from types import SimpleNamespace

    monkeypatch.chdir(tmp_path)
    text = "x,y\n" + "\n".join(f"{i % 5 + (i % 2)},{i % 2}" for i in range(60))
    (tmp_path / "a.csv").write_text(text)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), isatty=lambda: False))
    assert run(["train", name, "-t", "y", "-m", "NaiveBayes", "--no-report"]) == 0
    assert bayeskit.load(model).classes_.tolist() == [0, 1]


def test_every_density_can_be_asked_for_and_its_parameters_stand_in_the_report(heart, capsys):
    asked = {"age": "kde", "rest_bp": "lognormal", "cholesterol": "gaussian", "max_hr": "poisson"}
    options = [part for name, kind in asked.items() for part in ("--kind", f"{name}={kind}")]
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", *options]) == 0
    assert {v.name: v.kind for v in bayeskit.load("heart-disease.bayes").schema_ if v.name in asked} == asked
    page = (heart / "heart-disease.html").read_text()
    for words in ("bandwidth", "mean of log", "deviation", "rate"):
        assert f'<td class="name">{words}</td>' in page
    assert run(["show", "heart-disease.bayes"]) == 0
    assert "bandwidth" in capsys.readouterr().out
