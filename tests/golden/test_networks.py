"""Published numbers of small networks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.network import Marginal

FIRE = ("Storm", "Lightning", "Campfire", "BusTourGroup", "Thunder", "ForestFire")


@pytest.fixture
def campfire():
    """Mitchell, Machine Learning (1997), figure 6.3: the table of Campfire; the other tables are not printed."""
    return BayesianNetwork(
        "Storm->Lightning; Storm->Campfire<-BusTourGroup; Lightning->Thunder; "
        "Storm->ForestFire; Lightning->ForestFire; Campfire->ForestFire",
        states={name: ["True", "False"] for name in FIRE},
        tables={
            "Storm": [0.3, 0.7],
            "BusTourGroup": [0.5, 0.5],
            "Lightning": [[0.6, 0.4], [0.1, 0.9]],
            "Campfire": [[[0.4, 0.6], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]]],
            "Thunder": [[0.9, 0.1], [0.2, 0.8]],
            "ForestFire": np.full((2, 2, 2, 2), 0.5),
        },
    )


@pytest.mark.parametrize(
    ("storm", "bus", "expected"),
    [("True", "True", 0.4), ("True", "False", 0.1), ("False", "True", 0.8), ("False", "False", 0.2)],
)
def test_campfire_given_storm_and_bus_tour_group_is_mitchells_table(campfire, storm, bus, expected):
    posterior = campfire.posterior("Campfire", given={"Storm": storm, "BusTourGroup": bus})
    assert_allclose(posterior["True"], expected, rtol=1e-15)


def test_the_chest_clinic_gives_the_numbers_of_grain():
    """Lauritzen & Spiegelhalter's network (1988); the numbers are what R's gRain prints for asia and dysp "yes"."""
    yes = ["yes", "no"]
    net = BayesianNetwork(
        "asia->tub->either<-lung<-smoke->bronc->dysp<-either->xray",
        states=dict.fromkeys(["asia", "tub", "either", "lung", "smoke", "bronc", "dysp", "xray"], yes),
        tables={
            "asia": [0.01, 0.99],
            "tub": [[0.05, 0.95], [0.01, 0.99]],
            "smoke": [0.5, 0.5],
            "lung": [[0.1, 0.9], [0.01, 0.99]],
            "bronc": [[0.6, 0.4], [0.3, 0.7]],
            "either": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],
            "xray": [[0.98, 0.02], [0.05, 0.95]],
            "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
        },
    )
    seen = {"asia": "yes", "dysp": "yes"}
    answer = net.posterior(given=seen)
    # To the last digit that is printed.
    assert_allclose(answer["lung"]["yes"], 0.09952515, atol=5e-9)
    assert_allclose(answer["bronc"]["yes"], 0.8114021, atol=5e-8)
    assert_allclose(net.probability(seen), 0.004501375, rtol=1e-12)


def test_jeffreys_cloth_by_candlelight():
    """By hand: .7 · .4 + .25 · .4 + .05 · .8 = .42, where the prior gives .3 · .4 + .3 · .4 + .4 · .8 = .56."""
    net = BayesianNetwork(
        "colour->sold",
        states={"colour": ["green", "blue", "violet"], "sold": ["yes", "no"]},
        tables={"colour": [0.3, 0.3, 0.4], "sold": [[0.4, 0.6], [0.4, 0.6], [0.8, 0.2]]},
    )
    assert_allclose(net.posterior("sold")["yes"], 0.56, rtol=1e-14)
    seen = net.posterior("sold", given={"colour": Marginal({"green": 0.7, "blue": 0.25, "violet": 0.05})})
    assert_allclose(seen["yes"], 0.42, rtol=1e-14)
