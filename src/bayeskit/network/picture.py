"""The drawing of a network: the boxes with bars, and their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.infer.forward import is_whole
from bayeskit.plot.network_svg import Drawing, draw_network

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


def draw(
    net: BayesianNetwork, posterior: Mapping[str, Any], given: Sequence[str], shown: Sequence[int] | None = None
) -> Drawing:
    """Draw a network or the part over the variables ``shown``.

    ``posterior`` maps variables to probabilities, ``given`` names those that were observed. A variable with arcs to
    others that are not shown has a dashed border.
    """
    for name in given:
        net.index(name)
    shown = range(len(net.names)) if shown is None else shown
    place = {v: k for k, v in enumerate(shown)}
    arcs = [(place[p], place[i]) for i in shown for p in net.parents[i] if p in place]
    cut = [net.names[v] for v in shown if not {*net.parents[v], *net.children[v]} <= place.keys()]
    names = [net.names[v] for v in shown]
    bars = {name: _bars(net, name, posterior[name]) for name in posterior if net.index(name) in place}
    return draw_network(names, arcs, states=[net.states[v] for v in shown], posterior=bars, given=given, cut=cut)


def variables_shown(
    net: BayesianNetwork, only: str | Iterable[str] | None, around: str | Iterable[str] | None, steps: int
) -> list[int] | None:
    """Return the variables to draw: those named, and those within some steps along arcs of others; None for all."""
    if only is None and around is None:
        return None
    if not is_whole(steps, 0):
        raise NetworkError(f"steps must be a whole number of at least 0; got {steps!r}.")
    found = set(net._places_of(around or ()))
    for _ in range(int(steps)):
        found |= {u for v in found for u in (*net.parents[v], *net.children[v])}
    found |= set(net._places_of(only or ()))
    if not found:
        raise NetworkError("no variable is named to be drawn; give at least one.")
    return sorted(found)


def _bars(net: BayesianNetwork, name: str, values: Any) -> list[float]:
    i = net.index(name)
    if isinstance(values, Mapping):
        shares = np.zeros(net.cards[i])
        for state, p in values.items():
            shares[net.state(name, state)] = p
    else:
        shares = np.asarray(values, dtype=np.float64)
    if shares.shape != (net.cards[i],) or not ((shares >= 0) & (shares <= 1 + 1e-9)).all():
        raise NetworkError(f"the bars of {name!r} need one probability per state, {net.cards[i]}; got {values!r}.")
    return [float(p) for p in shares]
