"""Drawings of a network, and its view in a notebook; mixed into `BayesianNetwork`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, cast

from bayeskit.errors import NetworkError
from bayeskit.network.infer.evidence import read_vector
from bayeskit.network.infer.sample_output import is_whole

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork
    from bayeskit.plot.network_svg import Drawing


# Rows of a table that a drawing shows.
MOST_TABLE_ROWS = 16


class Drawable:
    """Drawings of a network, and its view in a notebook."""

    def draw(
        self,
        *,
        given: Mapping[str, Any] | None = None,
        bars: bool = False,
        posterior: Mapping[str, Any] | None = None,
        only: str | Iterable[str] | None = None,
        around: str | Iterable[str] | None = None,
        steps: int = 1,
        tables: str | Iterable[str] | None = None,
    ) -> Drawing:
        """Draw the network in layers, with bars of probabilities in the boxes; notebooks show it, ``save`` writes it.

        Parameters
        ----------
        given : mapping, optional
            Evidence, as for `posterior`: the boxes show the posterior, those of the evidence are coloured.
        bars : bool, default False
            Show the probabilities without any evidence.
        posterior : mapping of name to probabilities, optional
            Probabilities to show instead, for some variables or all: an array in the order of the states, or a mapping
            of state to number.
        only : str or list of str, optional
            Draw these variables and the arcs between them. Where others are left out, the border is dashed.
        around : str or list of str, optional
            Draw these variables and all that are at most ``steps`` arcs away, up or down.
        steps : int, default 1
            How far ``around`` reaches.
        tables : str or list of str, optional
            Variables that show their conditional table in the box: a row per combination of the parents' states.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> drawing = BayesianNetwork("A->B<-C").draw(given={"B": "yes"})
        >>> drawing.save("net.svg")  # doctest: +SKIP
        >>> drawing.crossings
        0
        """
        net = cast("BayesianNetwork", self)
        shown = _variables_shown(net, only, around, steps)
        if posterior is None:
            posterior = net.posterior(given=given) if given or bars else {}
        asked = [tables] if isinstance(tables, str) else list(tables or ())
        return _drawing(net, posterior, list(given or {}), shown, {name: _table_rows(net, name) for name in asked})

    def explore(self) -> Any:
        """Show the network in a notebook as `bayeskit studio` does; see `bayeskit.explore`."""
        from bayeskit import explore  # a later stage, which the public name leads to

        return explore(self)


def _drawing(
    net: BayesianNetwork,
    posterior: Mapping[str, Any],
    given: Sequence[str],
    shown: Sequence[int] | None = None,
    tables: Mapping[str, list[tuple[str, ...]]] | None = None,
) -> Drawing:
    """Draw a network or the part over the variables ``shown``.

    ``posterior`` maps variables to probabilities, ``given`` names those that were observed. A variable with arcs to
    others that are not shown has a dashed border.
    """
    # The layout needs scipy.optimize, which takes long to import.
    from bayeskit.plot.network_svg import draw_network

    for name in given:
        net.index(name)
    shown = range(len(net.names)) if shown is None else shown
    place = {v: k for k, v in enumerate(shown)}
    arcs = [(place[p], place[i]) for i in shown for p in net.parents[i] if p in place]
    cut = [net.names[v] for v in shown if not {*net.parents[v], *net.children[v]} <= place.keys()]
    names = [net.names[v] for v in shown]
    drawn = {v for v in place if net.cards[v]}  # a real variable has no states to draw bars of
    bars = {name: _bars(net, name, posterior[name]) for name in posterior if net.index(name) in drawn}
    return draw_network(
        names, arcs, states=[net.states[v] for v in shown], posterior=bars, given=given, cut=cut, tables=tables
    )


def _table_rows(net: BayesianNetwork, name: str) -> list[tuple[str, ...]]:
    """Return the table of a variable as rows of text, the names of parents and own states first."""
    table = net[name]
    if not table.states:
        raise NetworkError(f"{name!r} is real, so it has no table to draw.")
    n_rows = prod(map(len, table.parent_states))
    rows = [(*key, *(f"{p:.4g}" for p in table[key])) for key in islice(product(*table.parent_states), MOST_TABLE_ROWS)]
    if n_rows > len(rows):
        rows.append((f"… {n_rows - len(rows)} more", *[""] * (len(table.parents) + len(table.states) - 1)))
    return [(*table.parents, *table.states), *rows]


def _variables_shown(
    net: BayesianNetwork, only: str | Iterable[str] | None, around: str | Iterable[str] | None, steps: int
) -> list[int] | None:
    """Return the variables to draw: those named, and those within some steps along arcs of others; None for all."""
    if only is None and around is None:
        return None
    if not is_whole(steps, 0):
        raise NetworkError(f"steps must be a whole number of at least 0; got {steps!r}.")
    drawn = set(net._places_of(around or ()))
    for _ in range(int(steps)):
        drawn |= {u for v in drawn for u in (*net.parents[v], *net.children[v])}
    drawn |= set(net._places_of(only or ()))
    if not drawn:
        raise NetworkError("no variable is named to be drawn; give at least one.")
    return sorted(drawn)


def _bars(net: BayesianNetwork, name: str, values: Any) -> list[float]:
    shares = read_vector(net, name, values, "the posterior")
    if not (shares <= 1 + 1e-9).all():
        raise NetworkError(f"the posterior of {name!r} must hold probabilities, at most 1; got {values!r}.")
    return [float(p) for p in shares]
