"""A network file with --target serves the verbs that ask a classifier."""

import json

import numpy as np
import pandas as pd
import pytest

from bayeskit import TAN
from bayeskit.datasets import load_asia

pytest.importorskip("typer", reason="the command's extra is not installed")
from bayeskit.cli.app import run


@pytest.fixture
def folder(tmp_path):
    net = load_asia()
    net.write(tmp_path / "asia.bif.gz")
    net.save(tmp_path / "asia.bayes")
    cases = net.sample(300, output="pandas").astype(str)
    cases.to_csv(tmp_path / "cases.csv", index=False)
    TAN().fit(cases, target="lung").save(tmp_path / "tan.bayes")
    pd.DataFrame({"smoke": ["yes", "no", None], "xray": ["yes", None, "yes"]}).to_csv(
        tmp_path / "patients.csv", index=False
    )
    pd.DataFrame({"id": [1, 2]}).to_csv(tmp_path / "other.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("model", ["asia.bif.gz", "asia.bayes"])
def test_predict_writes_the_posteriors_of_the_network(folder, model, capsys):
    assert (
        run(["predict", str(folder / model), str(folder / "patients.csv"), "--target", "lung", "--digits", "12"]) == 0
    )
    out, err = capsys.readouterr()
    lines = [line.split(",") for line in out.split()]
    assert lines[0] == ["prediction", "P(no)", "P(yes)"]
    expected = load_asia().predict_proba({"smoke": ["yes", "no", None], "xray": ["yes", None, "yes"]}, "lung")
    assert np.allclose([[float(p) for p in line[:0:-1]] for line in lines[1:]], expected, atol=1e-11)
    assert [line[0] for line in lines[1:]] == ["yes", "no", "no"]
    assert "lacks 5 of the model's columns, 'asia', 'tub', 'bronc' and others; they are summed out" in err


def test_evaluate_scores_the_network_on_the_column_of_its_target(folder, capsys):
    assert run(["evaluate", str(folder / "asia.bif.gz"), str(folder / "cases.csv"), "--target", "lung", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    net, cases = load_asia(), pd.read_csv(folder / "cases.csv")
    posterior = net.predict_proba(cases, "lung")
    right = posterior[np.arange(300), (cases["lung"] == "no").to_numpy().astype(int)]
    assert found["rows"] == 300
    assert found["log_loss"]["value"] == pytest.approx(-np.log(right).mean(), rel=1e-9)


def test_explain_gives_changes_of_log_odds_that_lead_to_the_posterior(folder, capsys):
    arguments = [str(folder / "asia.bif.gz"), str(folder / "patients.csv"), "-t", "lung", "--row", "1", "--json"]
    assert run(["explain", *arguments]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    p = load_asia().posterior("lung", given={"smoke": "yes", "xray": "yes"})["yes"]
    assert found["classes"] == ["yes", "no"]
    assert found["log_odds"] == pytest.approx(np.log(p / (1 - p)), rel=1e-9)
    used = {each["feature"]: each["log_odds"] for each in found["evidence"] if each["used"]}
    assert set(used) == {"smoke", "xray"}
    assert found["prior_log_odds"] + sum(used.values()) == pytest.approx(found["log_odds"], rel=1e-9)


def test_compare_puts_a_network_beside_a_model(folder, capsys):
    arguments = [str(folder / name) for name in ("asia.bif.gz", "tan.bayes", "cases.csv")]
    assert run(["compare", *arguments, "--target", "lung", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["second"], found["rows"]) == ("asia.bif.gz", "tan.bayes", 300)
    difference = found["log_loss"]["second"][0] - found["log_loss"]["first"][0]
    assert found["log_loss"]["difference"][0] == pytest.approx(difference, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["predict", "asia.bif.gz", "cases.csv"],
            "'asia.bif.gz' is a network; say which of its variables is predicted.",
        ),
        (
            ["evaluate", "asia.bayes", "cases.csv"],
            "'asia.bayes' is a network; say which of its variables is predicted.",
        ),
        (["explain", "asia.bif.gz", "cases.csv", "-t", "lungs"], "unknown variable 'lungs'; did you mean 'lung'?"),
        (["predict", "tan.bayes", "cases.csv", "-t", "bronc"], "'tan.bayes' predicts 'lung', not 'bronc'"),
        (["predict", "asia.bif.gz", "other.csv", "-t", "lung"], "does not fit the model: there is no column 'asia'"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(folder, capsys, arguments, message):
    assert run([arguments[0], *(str(folder / a) if "." in a else a for a in arguments[1:])]) == 1
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_cases_of_a_question_that_sets_a_variable_leave_its_column_out(folder, capsys):
    arguments = [
        "query",
        str(folder / "asia.bif.gz"),
        "P(lung | do(smoke=yes))",
        "--cases",
        str(folder / "patients.csv"),
    ]
    assert run(arguments) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.split()[1:]]
    net = load_asia().do(smoke="yes")
    expected = [net.posterior("lung", given=given).array for given in ({"xray": "yes"}, {}, {"xray": "yes"})]
    assert np.allclose(np.array(rows, dtype=float), expected, atol=1e-6)


def test_an_impossible_case_is_refused_with_its_line(folder, capsys):
    (folder / "bad.csv").write_text("tub,either\nno,no\nyes,no\n")
    assert run(["query", str(folder / "asia.bif.gz"), "P(lung)", "--cases", str(folder / "bad.csv")]) == 1
    err = capsys.readouterr().err
    assert "line 3: its cells cannot occur together under this network" in err
    assert "impossible=" not in err
