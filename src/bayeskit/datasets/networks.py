"""Small networks that textbooks and papers print with their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


def load_asia() -> BayesianNetwork:
    """Return the chest clinic: tuberculosis, lung cancer or bronchitis may explain a shortness of breath.

    Lauritzen & Spiegelhalter (1988), "Local computations with probabilities on graphical structures and their
    application to expert systems", J. R. Statist. Soc. B 50, table 1.

    Examples
    --------
    >>> load_asia()
    BayesianNetwork(8 variables, 8 arcs, 18 free parameters)
    """
    return _yes_no(
        "asia->tub; smoke->lung; smoke->bronc; tub, lung->either->xray; either, bronc->dysp",
        {
            "asia": 0.01,
            "tub": [0.05, 0.01],
            "smoke": 0.5,
            "lung": [0.1, 0.01],
            "bronc": [0.6, 0.3],
            "either": [[1.0, 1.0], [1.0, 0.0]],
            "xray": [0.98, 0.05],
            "dysp": [[0.9, 0.7], [0.8, 0.1]],
        },
    )


def load_burglary() -> BayesianNetwork:
    """Return the burglar alarm: two neighbours call when it rings, and earthquakes set it off too.

    The story is Pearl's (1988, "Probabilistic Reasoning in Intelligent Systems", section 2.3); the numbers are those of
    Russell & Norvig, "Artificial Intelligence: A Modern Approach", figure 14.2 of the third edition.

    Examples
    --------
    >>> load_burglary().parents
    ((), (0, 2), (), (1,), (1,))
    """
    return _yes_no(
        "Burglary->Alarm<-Earthquake; Alarm->JohnCalls; Alarm->MaryCalls",
        {
            "Burglary": 0.001,
            "Earthquake": 0.002,
            "Alarm": [[0.95, 0.94], [0.29, 0.001]],
            "JohnCalls": [0.9, 0.05],
            "MaryCalls": [0.7, 0.01],
        },
    )


def load_campfire() -> BayesianNetwork:
    """Return the forest fire of Mitchell, "Machine Learning" (1997), figure 6.3.

    The book prints the table of Campfire only: .4, .1, .8 and .2. The other tables are uniform, which claims nothing.

    Examples
    --------
    >>> net = load_campfire()
    >>> net.tables[net.index("Campfire")][..., 0]
    array([[0.4, 0.1],
           [0.8, 0.2]])
    """
    return _yes_no(
        "Storm->Lightning; Storm, BusTourGroup->Campfire; Lightning->Thunder; Storm, Lightning, Campfire->ForestFire",
        {
            "Storm": 0.5,
            "BusTourGroup": 0.5,
            "Lightning": [0.5, 0.5],
            "Campfire": [[0.4, 0.1], [0.8, 0.2]],
            "Thunder": [0.5, 0.5],
            "ForestFire": [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]],
        },
    )


def _yes_no(line: str, yes: dict[str, Any]) -> BayesianNetwork:
    """Make a network of variables with the states yes and no from P(yes | parents)."""
    import numpy as np

    from bayeskit.network import BayesianNetwork

    tables = {name: np.stack([np.asarray(p), 1 - np.asarray(p)], axis=-1) for name, p in yes.items()}
    return BayesianNetwork(line, states={name: ["yes", "no"] for name in yes}, tables=tables)
