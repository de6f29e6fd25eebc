"""Without matplotlib the command ends well: the report has no plots, and says so."""

import json
import sys

import pytest

from bayeskit.cli.app import run


@pytest.fixture
def no_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # its import then fails as if it were not installed


def test_train_writes_a_report_without_plots_and_says_so(heart, no_matplotlib, capsys):
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes"]) == 0
    told = capsys.readouterr()
    assert "report  heart-disease.html" in told.out
    assert "The report has no plots: matplotlib is not installed" in told.err
    page = (heart / "heart-disease.html").read_text(encoding="utf-8")
    assert page.count("No plot: matplotlib is not installed") == 1  # of the reliability
    assert page.count("<section id=") == 15
    assert page.count('class="card waterfall"') == 4  # what we draw ourselves is still there
    assert (heart / "heart-disease.bayes").exists()


def test_json_stays_json_without_matplotlib(heart, no_matplotlib, capsys):
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == "heart-disease.html"


def test_with_matplotlib_nothing_is_said(heart, capsys):
    pytest.importorskip("matplotlib", reason="the plots need matplotlib")
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes"]) == 0
    assert "matplotlib" not in capsys.readouterr().err
    assert "No plot" not in (heart / "heart-disease.html").read_text(encoding="utf-8")
