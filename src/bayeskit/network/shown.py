"""Networks as pictures and in notebooks; mixed into `BayesianNetwork`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork
    from bayeskit.plot.network_svg import Drawing


class Shown:
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

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> drawing = BayesianNetwork("A->B<-C").draw(given={"B": "yes"})
        >>> drawing.save("net.svg")  # doctest: +SKIP
        >>> drawing.crossings
        0
        """
        # The layout needs scipy.optimize, which takes long to import.
        from bayeskit.network.picture import draw, variables_shown

        net = cast("BayesianNetwork", self)
        shown = variables_shown(net, only, around, steps)
        if posterior is None:
            posterior = net.posterior(given=given) if given or bars else {}
        return draw(net, posterior, list(given or {}), shown)

    def explore(self) -> Any:
        """Show the network in a notebook as `bayeskit studio` does; see `bayeskit.explore`."""
        from bayeskit import explore  # a later stage, which the public name leads to

        return explore(self)
