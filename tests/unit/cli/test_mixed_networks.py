"""Networks with real variables and files of other programs on the command line."""

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.network import ConditionalGaussian, LinearGaussian

pytest.importorskip("typer", reason="the command's extra is not installed")
from bayeskit.cli.app import run

LINE = LinearGaussian


@pytest.fixture
def command(capsys):
    """Run the command; return its code, and what it wrote."""

    def ask(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=code, out=out, err=" ".join(err.split()))

    return ask


@pytest.fixture
def body(tmp_path):
    lines = {"f": LINE(mean=-85, sd=7, height=0.9), "m": LINE(mean=-90, sd=8, height=0.95)}
    net = BayesianNetwork(
        "sex{f|m}->height->weight; sex->weight",
        tables={
            "sex": [0.5, 0.5],
            "height": ConditionalGaussian({"f": LINE(mean=166, sd=6), "m": LINE(mean=179, sd=7)}),
            "weight": ConditionalGaussian(lines),
        },
    )
    net.write(tmp_path / "body.xdsl")
    return net


def test_a_network_goes_through_all_formats(command, tmp_path):
    datasets.load_asia().write(tmp_path / "asia.bif")
    chain = ["bif", "xdsl", "dne", "dsc", "jgum", "net", "xmlbif", "uai", "dot", "bayes", "bif"]
    for k, (one, two) in enumerate(pairwise(chain)):
        source = "asia.bif" if k == 0 else f"step{k}.{one}"
        assert command("convert", tmp_path / source, tmp_path / f"step{k + 1}.{two}").code == 0
    assert BayesianNetwork.read(tmp_path / f"step{len(chain) - 1}.bif") == datasets.load_asia()


def test_numbers_are_asked_for_and_given(command, body, tmp_path):
    path = tmp_path / "body.xdsl"
    said = json.loads(command("query", path, "P(height, weight | sex=m)", "--json").out)
    np.testing.assert_allclose(said["covariance"], body.joint(["height", "weight"], given={"sex": "m"}).covariance)
    said = json.loads(command("query", path, "argmax( | weight=75)", "--json").out)
    assert said["values"] == pytest.approx(dict(body.most_probable(given={"weight": 75})))
    assert "log density" in command("query", path, "argmax( | weight=75)").out
    assert "r(height)" in command("query", path, "P(height, weight)").out


def test_cases_are_sampled_given_numbers(command, body, tmp_path):
    assert command("sample", tmp_path / "body.xdsl", "-n", "400", "-g", "weight=75", "-o", tmp_path / "c.csv").code == 0
    cases = pd.read_csv(tmp_path / "c.csv")
    exact = body.posterior(["height", "sex"], given={"weight": 75})
    assert cases["weight"].eq(75).all()
    assert cases["height"].mean() == pytest.approx(exact["height"].mean, abs=4 * exact["height"].sd / 20)
    assert (cases["sex"] == "m").mean() == pytest.approx(exact["sex"]["m"], abs=0.1)


def test_a_finding_is_explained_without_a_table(command, body, tmp_path):
    path = tmp_path / "body.xdsl"
    said = json.loads(command("explain", path, "--of", "sex=m", "-g", "weight=90", "-g", "height=180", "--json").out)
    assert said["probability"] == pytest.approx(body.posterior("sex", given={"weight": 90, "height": 180})["m"])
    assert {finding["variable"] for finding in said["findings"]} == {"weight", "height"}
    assert "log-odds" in command("explain", path, "--of", "sex", "-g", "weight=90").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--of", "sex"], "nothing is known"),
        (["--given", "weight=3"], "--given needs --of"),
        ([], "give a table, or for a network --of and --given"),
        (["rows.csv", "--of", "sex", "-g", "weight=3"], "with --of there is no table"),
        (["--of", "sax", "-g", "weight=3"], "did you mean 'sex'"),
        (["--of", "sex", "-g", "weight=heavy"], "evidence on it is a number"),
    ],
)
def test_explain_says_what_it_lacks(command, body, tmp_path, arguments, message):
    result = command("explain", tmp_path / "body.xdsl", *arguments)
    assert result.code in (1, 2)
    assert message in result.err


def test_a_network_of_numbers_is_learned(command, body, tmp_path):
    pd.DataFrame(body.sample(600)).to_csv(tmp_path / "rows.csv", index=False)
    refused = command("learn", tmp_path / "rows.csv", "--numeric", "gaussian", "-o", tmp_path / "n.bif")
    assert refused.code == 2
    assert "cannot hold real variables" in refused.err
    assert command("learn", tmp_path / "rows.csv", "--numeric", "gaussian", "-o", tmp_path / "n.net").code == 0
    learned = BayesianNetwork.read(tmp_path / "n.net")
    assert set(learned.real) == {"height", "weight"}
    assert {frozenset(arc) for arc in learned.arcs} >= {frozenset(("sex", "height")), frozenset(("height", "weight"))}
    again = command("learn", tmp_path / "rows.csv", "--structure", tmp_path / "body.xdsl", "-o", tmp_path / "s.xdsl")
    assert again.code == 0
    fitted = BayesianNetwork.read(tmp_path / "s.xdsl")
    assert fitted.posterior("height", given={"sex": "f"}).mean == pytest.approx(166, abs=1)
