"""Two numbers of the tables at once: the surface is that of the changed network everywhere."""

import numpy as np
import pytest

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.errors import NetworkError

ASIA = load_asia()
EVIDENCE = {"xray": "yes", "dysp": "yes"}
FIRST, SECOND = ("lung", "yes", {"smoke": "yes"}), ("xray", "yes", {"either": "no"})


def changed(net, number, value):
    name, state, row = number
    i = net.index(name)
    table = net.tables[i].copy()
    at = tuple(net.state(net.names[p], row[net.names[p]]) for p in net.parents[i])
    k = net.state(name, state)
    others = [j for j in range(len(net.states[i])) if j != k]
    share = table[at][others] / table[at][others].sum()
    table[at][k] = value
    table[at][others] = (1 - value) * share
    return net.with_table(name, table)


@pytest.mark.parametrize(("first", "second"), [(FIRST, SECOND), (FIRST, ("lung", "yes", {"smoke": "no"}))])
@pytest.mark.parametrize("given", [EVIDENCE, {"smoke": "yes"}, None])
def test_the_surface_is_the_posterior_of_the_changed_network(first, second, given):
    both = ASIA.two_way_sensitivity("lung", first, second, given=given, state="yes")
    for x, y in np.random.default_rng(0).random((12, 2)):
        net = changed(changed(ASIA, first, x), second, y)
        assert both.probability_at(x, y) == pytest.approx(net.posterior("lung", given=given)["yes"], rel=1e-11)
    assert both.probability == pytest.approx(ASIA.posterior("lung", given=given)["yes"], rel=1e-11)


def test_a_row_of_three_states_keeps_its_proportions():
    net = BayesianNetwork("a[3]->b[3]", random_tables=4)
    first, second = ("a", "1", {}), ("b", "2", {"a": "0"})
    both = net.two_way_sensitivity("a", first, second, given={"b": "2"}, state="1")
    other = changed(changed(net, first, 0.37), second, 0.11)
    assert both.probability_at(0.37, 0.11) == pytest.approx(other.posterior("a", given={"b": "2"})["1"], rel=1e-12)


def test_arrays_give_a_surface_and_a_picture_shows_it():
    both = ASIA.two_way_sensitivity("lung", FIRST, SECOND, given=EVIDENCE)
    grid = np.linspace(0, 1, 5)
    assert both.probability_at(grid[:, None], grid[None, :]).shape == (5, 5)
    assert both.state == "yes"
    pytest.importorskip("matplotlib").use("Agg")
    ax = both.plot()
    assert ax.get_xlabel() == "P(lung=yes | smoke=yes)"
    assert "P(lung=yes) = " in repr(both)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("lung", "yes"), SECOND, "needs a state for each of its parents"),
        ("lung", SECOND, "a number is"),
        (FIRST, ("lung", "no", {"smoke": "yes"}), "in one row of a table"),
        (("lunge", "yes"), SECOND, "did you mean 'lung'"),
        (("lung", "maybe", {"smoke": "yes"}), SECOND, "has no state 'maybe'"),
    ],
)
def test_a_number_that_is_none_is_refused(first, second, message):
    with pytest.raises(NetworkError, match=message):
        ASIA.two_way_sensitivity("lung", first, second, given=EVIDENCE)


def test_values_outside_0_and_1_are_refused():
    with pytest.raises(NetworkError, match="from 0 to 1"):
        ASIA.two_way_sensitivity("lung", FIRST, SECOND, given=EVIDENCE).probability_at(1.5, 0.2)
