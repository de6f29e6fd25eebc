"""`bayeskit query` on dynamic networks: the umbrella world of Russell & Norvig, about times and for rows."""

import json

import numpy as np
import pytest

from bayeskit import DynamicNetwork
from bayeskit.cli.app import run

TABLES = {
    "rain[0]": [0.5, 0.5],
    "rain[t]": [[0.7, 0.3], [0.3, 0.7]],
    "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]],
}


@pytest.fixture
def weather(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]", tables=TABLES)
    net.save("weather.bayes")
    # Thirty days, not in order: as texts, day 10 would come before day 2.
    days = np.random.default_rng(0).permutation(30) + 1
    seen = {day: ("yes", "yes", "", "no")[day % 4] for day in days}
    (tmp_path / "days.csv").write_text("day,umbrella,note\n" + "".join(f"{d},{seen[d]},x\n" for d in days))
    return net, days, seen


def ask(capsys, *words):
    code = run(["query", "weather.bayes", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_question_names_times_counted_from_zero(weather, capsys):
    # Russell & Norvig, section 15.2: .818 on day 1, .883 on day 2, and .883 for day 1 given both.
    both = "umbrella[0]=yes, umbrella[1]=yes"
    numbers = [
        json.loads(ask(capsys, question, "--json")[1])["probability"]["yes"]
        for question in ("P(rain[0] | umbrella[0]=yes)", f"P(rain[1] | {both})", f"P(rain[0] | {both})")
    ]
    assert [round(p, 3) for p in numbers] == [0.818, 0.883, 0.883]
    assert json.loads(ask(capsys, "P(rain[1]=yes | do(rain[0]=yes))", "--json")[1])["probability"] == pytest.approx(0.7)


@pytest.mark.parametrize("so_far", [False, True])
def test_with_cases_each_row_is_answered_in_the_order_of_the_file(weather, capsys, so_far):
    net, days, seen = weather
    code, out, _ = ask(capsys, "P(rain)", "--cases", "days.csv", "--time", "day", *(["--so-far"] if so_far else []))
    assert code == 0
    ordered = {"umbrella": [seen[day] or None for day in range(1, 31)]}
    expected = (net.filter if so_far else net.smooth)(ordered).of("rain", "yes")[days - 1]
    said = [float(line.split(",")[1]) for line in out.splitlines()[1:]]
    np.testing.assert_allclose(said, expected, atol=5e-7)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["P(rain)"], "needs its time"),
        (["P(rian[1])"], "did you mean 'rain'"),
        (["P(rain[123456789])"], "a question may reach to time 9999"),
        (["P(rain | umbrella=yes)", "--cases", "days.csv"], "ask a dynamic network for one variable"),
        (["P(rain)", "--cases", "days.csv", "--time", "dai"], "did you mean 'day'"),
        (["P(rain[1])", "--so-far"], "for a dynamic network with --cases"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(weather, capsys, words, message):
    code, out, err = ask(capsys, *words)
    assert code in (1, 2)
    assert message in err
    assert out == ""
