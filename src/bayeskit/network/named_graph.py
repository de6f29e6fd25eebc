"""A directed acyclic graph over named variables, and the queries that need no table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.separation import Separation, blocked, unblocked
from bayeskit.network.variable_names import did_you_mean


class NamedGraph:
    """The graph half of a Bayesian network.

    Attributes
    ----------
    names : tuple of str
        The variables.
    parents : tuple of tuples of int
        The parents of each variable, as positions in `names`.
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: object) -> int:
        """Return the position of a variable in `names`."""
        place = self._places.get(name) if isinstance(name, str) else None
        if place is None:
            raise NetworkError(f"unknown variable {name!r}; {did_you_mean(name, self.names)}")
        return place

    @cached_property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs as (parent, child), child by child."""
        return tuple((self.names[p], name) for name, above in zip(self.names, self.parents, strict=True) for p in above)

    @cached_property
    def topological_order(self) -> tuple[int, ...]:
        """The variables' positions, parents before children."""
        return dag.topological_order(self.parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each variable, as positions in `names`."""
        return dag.children(self.parents)

    def _places_of(self, names: str | Iterable[str]) -> list[int]:
        return [self.index(name) for name in ([names] if isinstance(names, str) else names)]

    def _names_of(self, places: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.names[i] for i in sorted(places))

    def _apart(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str]
    ) -> tuple[list[int], list[int], list[int]]:
        sets = self._places_of(x), self._places_of(y), self._places_of(given)
        if not sets[0] or not sets[1]:
            raise NetworkError("independence needs two sets with at least one variable each; got an empty one.")
        both = set(sets[0]) & set(sets[1]) | (set(sets[0]) | set(sets[1])) & set(sets[2])
        if both:
            raise NetworkError(
                f"variable {self.names[min(both)]!r} is in two of the three sets; they must not overlap."
            )
        return sets

    def d_separated(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> Separation:
        """Return whether the graph alone makes x and y independent given some variables; an open trail is the reason.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> net = BayesianNetwork("Storm->Campfire<-BusTourGroup; Campfire->Smoke")
        >>> net.d_separated("Storm", "BusTourGroup")
        d-separated: no trail between Storm and BusTourGroup is open while nothing is given.
        >>> answer = net.d_separated("Storm", "BusTourGroup", given="Smoke")
        >>> answer.trail
        ('Storm', 'Campfire', 'BusTourGroup')
        >>> bool(answer)
        False
        """
        left, right, known = self._apart(x, y, given)
        trail = dag.open_trail(self.parents, left, right, known)
        if trail is None:
            return blocked(*(tuple(self.names[i] for i in side) for side in (left, right, known)))
        openers = {}
        for a, c, b in zip(trail, trail[1:], trail[2:], strict=False):
            if a in self.parents[c] and b in self.parents[c]:
                by = c if c in known else next(z for z in known if c in dag.ancestors(self.parents, [z]))
                openers[self.names[c]] = self.names[by]
        return unblocked([self.names[i] for i in trail], set(self.arcs), openers)

    def d_connected(self, x: str | Iterable[str], given: str | Iterable[str] = ()) -> tuple[str, ...]:
        """Return the variables that are not d-separated from x given some variables.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> BayesianNetwork("Storm->Campfire<-BusTourGroup; Campfire->Smoke").d_connected("Storm")
        ('Campfire', 'Smoke')
        """
        start, known = self._places_of(x), self._places_of(given)
        return self._names_of(dag.connected(self.parents, start, known) - set(start))

    def markov_blanket(self, variable: str) -> tuple[str, ...]:
        """Return the parents, children and children's other parents: they separate it from all others.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> BayesianNetwork("Storm->Campfire<-BusTourGroup; Storm->Lightning").markov_blanket("Storm")
        ('Campfire', 'BusTourGroup', 'Lightning')
        """
        return self._names_of(dag.markov_blanket(self.parents, self.index(variable)))

    def ancestors(self, variables: str | Iterable[str]) -> tuple[str, ...]:
        """Return all variables above these."""
        places = self._places_of(variables)
        return self._names_of(dag.ancestors(self.parents, places) - set(places))

    def descendants(self, variables: str | Iterable[str]) -> tuple[str, ...]:
        """Return all variables below these."""
        places = self._places_of(variables)
        return self._names_of(dag.ancestors(self.children, places) - set(places))

    def moral_graph(self) -> tuple[tuple[str, str], ...]:
        """Return the edges of the moral graph: arcs without direction, and an edge between the parents of each child.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> BayesianNetwork("A->C<-B").moral_graph()
        (('A', 'C'), ('A', 'B'), ('C', 'B'))
        """
        return tuple((self.names[a], self.names[b]) for a, b in sorted(dag.moral_edges(self.parents)))

    def cpdag(self) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
        """Return the arcs that all equivalent networks share, and the edges whose direction differs among them.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> BayesianNetwork("A->C<-B; C->D; E->F").cpdag()
        ((('A', 'C'), ('C', 'D'), ('B', 'C')), (('E', 'F'),))
        """
        arcs, edges = dag.cpdag(self.parents)
        return tuple((self.names[a], self.names[b]) for a, b in sorted(arcs)), tuple(
            (self.names[a], self.names[b]) for a, b in sorted(edges)
        )

    def equivalent(self, other: NamedGraph) -> bool:
        """Return whether two graphs have the same d-separations, so that data cannot distinguish them.

        Examples
        --------
        >>> from bayeskit.network import BayesianNetwork
        >>> BayesianNetwork("A->B->C").equivalent(BayesianNetwork("C->B->A"))
        True
        """
        if set(self.names) != set(other.names):
            return False
        place = [self.index(name) for name in other.names]
        theirs: list[list[int]] = [[] for _ in place]
        for i, above in zip(place, other.parents, strict=True):
            theirs[i] = [place[p] for p in above]
        return dag.equivalent(self.parents, theirs)
