"""The verbs of networks tell their results as JSON as well."""

import json

import pytest
from numpy.testing import assert_allclose

from bayeskit.cli.app import run
from bayeskit.datasets import load_asia


@pytest.fixture
def asia(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load_asia().write("asia.bif")
    return load_asia()


def told(capsys, *arguments):
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_query_gives_posteriors_joints_events_and_the_most_probable_states(asia, capsys):
    given = {"smoke": "yes"}
    posterior = told(capsys, "query", "asia.bif", "P(lung | smoke=yes)")
    assert_allclose(posterior["probability"]["yes"], asia.posterior("lung", given=given)["yes"], rtol=1e-12)
    joint = told(capsys, "query", "asia.bif", "P(lung, tub | smoke=yes)")
    assert_allclose(sum(cell["probability"] for cell in joint["table"]), 1, rtol=1e-12)
    event = told(capsys, "query", "asia.bif", "P(lung=yes | smoke=yes)")
    assert_allclose(event["probability"], posterior["probability"]["yes"], rtol=1e-12)
    best = told(capsys, "query", "asia.bif", "argmax(lung, tub | smoke=yes)")
    assert best["states"] == {"lung": "no", "tub": "no"}


def test_convert_and_draw_tell_what_they_wrote(asia, capsys):
    assert told(capsys, "convert", "asia.bif", "asia.net") == {"file": "asia.net", "variables": 8, "arcs": 8}
    assert told(capsys, "draw", "asia.bif", "-o", "asia.svg")["crossings"] == 0


def test_sample_gives_a_line_of_json_a_case(asia, capsys, tmp_path):
    assert run(["sample", "asia.bif", "-n", "5", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert set(json.loads(lines[0])) == set(asia.names)
    assert run(["sample", "asia.bif", "-n", "5", "-o", "cases.csv"]) == 0
    assert len((tmp_path / "cases.csv").read_text().splitlines()) == 6
