"""A dynamic network as a plain one of its first slices, named as pyAgrum names them, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.network import BayesianNetwork
from bayeskit.sequence.slices import Lagged, Template

_BRACKETS = re.compile(r"(.+)\[(0|[1-9][0-9]{0,5})\]")
_TWO_SLICES = re.compile(r"(.+)(0|t)")


def template_of(net: BayesianNetwork) -> Template:
    """Read the slices of a network: ``x0`` and ``xt``, or ``x[0]``, ``x[1]`` and so on, the last being every later one.

    >>> net = BayesianNetwork("x0->xt", tables={"x0": [0.5, 0.5], "xt": [[0.9, 0.1], [0.2, 0.8]]})
    >>> template_of(net).parents
    {'x': (('x', 1),)}
    """
    if net.real:
        raise NetworkError(f"{net.real[0]!r} is a real variable, which a dynamic network does not have.")
    slices = _Slices(net)
    last = slices.last
    parents = {name: slices.parents(name, last) for name in slices.names}
    states = {name: net.states[slices.places[name, last]] for name in slices.names}
    later = {name: slices.table(name, last, parents[name]) for name in slices.names}
    empty = Template(tuple(slices.names), states, parents, later, ())
    first = []
    for s in range(last):
        tables = {name: slices.table(name, s, empty.first_parents(name, s)) for name in slices.names}
        for name, table in tables.items():
            if s >= empty.order and not np.array_equal(table, later[name]):
                raise NetworkError(
                    f"{slices.written(name, s)} and {slices.written(name, last)} have different tables, and the arcs "
                    f"reach {empty.order} slice(s) back: from slice {empty.order} on all tables must be the same."
                )
        first.append(tables)
    return Template(empty.names, states, parents, later, tuple(first[: empty.order]))


class _Slices:
    """The variables of a network by their name and slice."""

    def __init__(self, net: BayesianNetwork) -> None:
        self.net = net
        pattern = _BRACKETS if any(_BRACKETS.fullmatch(name) for name in net.names) else _TWO_SLICES
        self.places: dict[tuple[str, int], int] = {}
        self.at: list[tuple[str, int]] = []
        for i, full in enumerate(net.names):
            match = pattern.fullmatch(full)
            if match is None:
                raise NetworkError(
                    f"{full!r} does not say its slice, as x0 and xt or x[0] and x[1] do; a variable that does not "
                    "change is one whose later slices have the state of the slice before."
                )
            self.at.append((match[1], int(match[2]) if match[2] != "t" else 1))
            self.places[self.at[-1]] = i
        self.last = max(s for _, s in self.at)
        self.names = list(dict.fromkeys(name for name, _ in self.at))
        if self.last == 0:
            raise NetworkError("the network has one slice; a dynamic network needs x0 and xt, or x[0] and x[1].")
        for name in self.names:
            here = [s for s in range(self.last + 1) if (name, s) in self.places]
            if len(here) <= self.last:
                raise NetworkError(f"{name!r} is in the slice(s) {here} only; it needs all of 0 to {self.last}.")
            if len({net.states[self.places[name, s]] for s in here}) > 1:
                raise NetworkError(f"{name!r} has different states in different slices.")

    def written(self, name: str, s: int) -> str:
        return repr(self.net.names[self.places[name, s]])

    def parents(self, name: str, s: int) -> tuple[Lagged, ...]:
        above = [self.at[p] for p in self.net.parents[self.places[name, s]]]
        for parent, before in above:
            if before > s:
                raise NetworkError(f"the arc from {self.written(parent, before)} to {self.written(name, s)} goes back "
                                   "in time.")  # fmt: skip
        return tuple((parent, s - before) for parent, before in above)

    def table(self, name: str, s: int, wanted: Sequence[Lagged]) -> NDArray[np.float64]:
        """Return the table of a variable with these parents in this order; one that it lacks changes nothing."""
        have = self.parents(name, s)
        more = [each for each in have if each not in wanted]
        if more:
            parent, lag = more[0]
            raise NetworkError(
                f"{self.written(name, s)} has the parent {self.written(parent, s - lag)}, and "
                f"{self.written(name, self.last)} has no such parent; the first slices have those arcs of later ones "
                "whose parents exist."
            )
        values = np.asarray(self.net.tables[self.places[name, s]], dtype=np.float64)
        order = [have.index(each) for each in wanted if each in have]
        values = values.transpose([*order, len(have)])
        for axis, (parent, lag) in enumerate(wanted):
            if (parent, lag) not in have:
                values = np.expand_dims(values, axis)
        card = [len(self.net.states[self.places[parent, s - lag]]) for parent, lag in wanted]
        return np.ascontiguousarray(np.broadcast_to(values, (*card, values.shape[-1])))


def ktbn_of(template: Template) -> BayesianNetwork:
    """Return the slices with what pyAgrum's ``loadKTBN`` asks of a file beside them."""
    net = template.unrolled(template.order + 1)
    said = {"KTBN.k": str(template.order + 1), "KTBN.temporal": ",".join(template.names), "KTBN.atemporal": ""}
    net.properties = {"": said}
    return net


def network_of(template: Template) -> BayesianNetwork:
    """Return the network of the first slices and one more: ``x0`` and ``xt``, or ``x[0]``, … where there are more."""
    net = template.unrolled(template.order + 1)
    if template.order > 1:
        return net
    names = [name.removesuffix("[0]") + "0" if name.endswith("[0]") else name.removesuffix("[1]") + "t" for name in net]
    return BayesianNetwork.from_tables(names, net.states, net.parents, net.cpds)
