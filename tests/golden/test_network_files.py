"""Numbers that books and papers print about networks."""

import numpy as np
import pytest

from bayeskit.datasets import load_asia, load_burglary, load_campfire
from networks import public


def test_mitchell_campfire_table():
    """Machine Learning (1997), figure 6.3: P(Campfire | S,B / S,¬B / ¬S,B / ¬S,¬B) = .4 / .1 / .8 / .2."""
    net = load_campfire()
    rows = net.tables[net.index("Campfire")]
    keys = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    found = [rows[net.state("Storm", s), net.state("BusTourGroup", b), net.state("Campfire", "yes")] for s, b in keys]
    assert found == [0.4, 0.1, 0.8, 0.2]
    assert {name for parent, name in net.arcs if parent == "Storm"} == {"Lightning", "Campfire", "ForestFire"}


def test_russell_and_norvig_joint_probability():
    """Both neighbours call, the alarm rings, no burglary and no earthquake: .000628 (section 14.2.1)."""
    row = {"Burglary": ["no"], "Earthquake": ["no"], "Alarm": ["yes"], "JohnCalls": ["yes"], "MaryCalls": ["yes"]}
    p = float(np.exp(load_burglary().log_probability(row))[0])
    assert p == pytest.approx(0.90 * 0.70 * 0.001 * 0.999 * 0.998, rel=1e-14)
    assert round(p, 6) == 0.000628


def test_asia_is_the_public_file():
    assert load_asia().equals(public("asia"), 1e-15)


# Nodes, arcs and free parameters as the Bayesian Network Repository lists them.
REPOSITORY = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "win95pts": (76, 112, 574),
}


@pytest.mark.parametrize("name", REPOSITORY)
def test_public_networks_have_their_published_sizes(name):
    net = public(name)
    assert (len(net.names), len(net.arcs), net.n_parameters) == REPOSITORY[name]
