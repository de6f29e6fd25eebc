"""Explanations of a posterior add up, stand in the order of effect, and name an open way; and the tornado."""

import numpy as np
import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network import LinearGaussian, NoisyOr

ASIA = datasets.load_asia()
GIVEN = {"smoke": "yes", "xray": "yes", "dysp": "no"}


def log_odds(p):
    return np.log(p / (1 - p))


def test_the_changes_add_up_to_the_posterior_exactly():
    found = ASIA.explain("lung", given=GIVEN, state="yes")
    assert found.prior == pytest.approx(ASIA.posterior("lung")["yes"], rel=1e-12)
    assert found.probability == pytest.approx(ASIA.posterior("lung", given=GIVEN)["yes"], rel=1e-12)
    total = sum(each.log_odds for each in found.findings)
    assert total == pytest.approx(log_odds(found.probability) - log_odds(found.prior), rel=1e-9)


def test_each_finding_is_the_one_that_moves_most_given_those_before_it():
    found = ASIA.explain("lung", given=GIVEN, state="yes")
    known, now = {}, found.prior
    for each in found.findings:
        moves = {
            name: abs(log_odds(ASIA.posterior("lung", given={**known, name: GIVEN[name]})["yes"]) - log_odds(now))
            for name in GIVEN
            if name not in known
        }
        assert moves[each.variable] == pytest.approx(max(moves.values()))
        known[each.variable], now = GIVEN[each.variable], each.probability


def test_a_path_is_an_open_trail_and_is_missing_where_nothing_moves():
    found = ASIA.explain("tub", given={"smoke": "yes", "xray": "yes"})
    assert [each.path[-1] for each in found.findings] == ["tub", "tub"]
    apart = ASIA.explain("tub", given={"smoke": "yes"}).findings[0]
    assert apart.path == ()
    assert apart.log_odds == pytest.approx(0.0, abs=1e-12)


def test_the_state_is_the_most_probable_one_by_default():
    assert ASIA.explain("bronc", given={"smoke": "yes"}).state == "yes"
    assert list(ASIA.explain("bronc", given={"smoke": "yes"}).to_frame()["finding"]) == ["smoke = yes"]


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(NetworkError, match="at least one finding"):
        ASIA.explain("lung", given={})
    with pytest.raises(NetworkError, match="'lung' is part of the evidence"):
        ASIA.explain("lung", given={"lung": "yes"})
    real = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(x=1.0)})
    with pytest.raises(NetworkError, match="'x' is real"):
        real.explain("x", given={"y": 1.0})


def test_the_tornado_has_a_bar_on_each_side_of_every_number():
    pytest.importorskip("matplotlib")
    found = ASIA.sensitivity("lung", given={"xray": "yes"})
    ax = found.plot(change=0.2, most=5)
    assert len(ax.patches) == 10
    label = ax.get_yticklabels()[-1].get_text()
    number = next(each for each in found.numbers if str(each) == label)
    ends = {round(bar.get_x() + bar.get_width(), 9) for bar in ax.patches[-2:]}
    assert ends == {round(number.probability_at(min(number.value * s, 1.0)), 9) for s in (0.8, 1.2)}
    with pytest.raises(NetworkError, match="change must be above 0"):
        found.plot(change=0)


def test_changes_add_up_where_a_state_is_certain_to_the_last_digit():
    net = BayesianNetwork(
        "c->x; c->y; c->z",
        tables={
            "c": [0.5, 0.5],
            "x": [[1 - 1e-20, 1e-20], [0.5, 0.5]],
            "y": [[0.4, 0.6], [0.6, 0.4]],
            "z": [[0.5, 0.5], [1 - 1e-15, 1e-15]],
        },
    )
    found = net.explain("c", given={"x": "yes", "y": "yes", "z": "yes"}, state="yes")
    expected = {"x": np.log(0.5 / 1e-20), "y": np.log(0.4 / 0.6), "z": np.log(1e-15 / 0.5)}
    assert {each.variable: pytest.approx(each.log_odds, rel=1e-9) for each in found.findings} == expected
    assert sum(each.log_odds for each in found.findings) == pytest.approx(sum(expected.values()), rel=1e-9)


def wide_net(n=40):
    causes = [f"p{k}" for k in range(n)]
    tables = {name: [0.9, 0.1] for name in causes} | {"y": NoisyOr(dict.fromkeys(causes, 0.1), leak=0.1)}
    return BayesianNetwork({**{name: [] for name in causes}, "y": causes}, tables=tables)


def test_sensitivity_leaves_out_and_names_a_form_too_wide_for_a_table():
    net = wide_net()
    found = net.sensitivity("p0", given={"y": "yes"})
    assert found.left_out == ("y",)
    assert {number.variable for number in found} == set(net.names) - {"y"}
    assert repr(found).endswith("not examined, as the table is too large: y")
    with pytest.raises(TooLargeError, match="that of 'y', a noisy-OR of 40 parents"):
        net.sensitivity("p0", given={"y": "yes"}, tables=["p0", "y"])


def test_a_report_of_a_wide_form_has_all_its_sections(tmp_path):
    page = wide_net().report(tmp_path / "wide.html", given={"y": "yes"}, target="p0").read_text()
    assert "not examined, as the table is too large: y" in page
    assert "What to observe next about p0" in page
    assert "<h2>Tables</h2>" in page
