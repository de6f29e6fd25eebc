"""The drawing of a network: which boxes get bars, and of which probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.plot.network_svg import Drawing, draw_network

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


def draw(net: BayesianNetwork, posterior: Mapping[str, Any], given: Sequence[str]) -> Drawing:
    """Draw a network; ``posterior`` maps variables to probabilities, ``given`` names those that were observed."""
    arcs = [(p, i) for i, own in enumerate(net.parents) for p in own]
    for name in given:
        net.index(name)
    bars = {name: _bars(net, name, values) for name, values in posterior.items()}
    return draw_network(net.names, arcs, states=net.states, posterior=bars, given=given)


def _bars(net: BayesianNetwork, name: str, values: Any) -> list[float]:
    i = net.index(name)
    if isinstance(values, Mapping):
        shares = np.zeros(net.cards[i])
        for state, p in values.items():
            shares[net.state(name, state)] = p
    else:
        shares = np.asarray(values, dtype=np.float64)
    if shares.shape != (net.cards[i],) or not ((shares >= 0) & (shares <= 1 + 1e-9)).all():
        raise NetworkError(f"the bars of {name!r} need one probability a state, {net.cards[i]}; got {values!r}.")
    return [float(p) for p in shares]
