"""A graph of what tests can say where causes may be hidden: each end of an edge is an arrow, a tail or a circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.io.expect import expect_field
from bayeskit.network.dot_text import quoted
from bayeskit.network.learn.pdag import draw_partial
from bayeskit.network.variable_names import did_you_mean
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.named_graph import NamedGraph
    from bayeskit.plot.network_svg import Drawing, Mark

# marks[a, b] is the mark at b of the edge between a and b.
EdgeMarks = NDArray[np.int8]
NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3
_AT_LEFT, _AT_RIGHT = {"o": CIRCLE, "<": ARROW, "-": TAIL}, {"o": CIRCLE, ">": ARROW, "-": TAIL}
_SHOWN: dict[int, tuple[str, str]] = {CIRCLE: ("o", "o"), ARROW: ("<", ">"), TAIL: ("-", "-")}
_DRAWN: dict[int, Mark] = {CIRCLE: "circle", ARROW: "arrow", TAIL: "none"}
_DOT = {CIRCLE: "odot", ARROW: "normal", TAIL: "none"}
Edge = tuple[str, str, str]


@dataclass(frozen=True)
class PAG(Result):
    """A partial ancestral graph: what all causal graphs with the same independences, hidden causes allowed, share.

    An arrow at b says that b is not a cause of a, not even through others; a tail at a that a is a cause of b (or of
    what the rows were selected by); a circle that this differs among the graphs. So ``a --> b``: a is a cause of b;
    ``a <-> b``: neither is a cause of the other, a hidden one acts on both; ``a o-> b``: b is not a cause of a;
    ``a o-o b``: nothing is known but that no variable separates them; ``a --- b``: only by selection.

    Attributes
    ----------
    names : tuple of str
        The variables.
    edges : tuple of (a, sign, b)
        With "-->", "o->", "<->", "o-o", "o--" or "---" as the sign.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> from bayeskit.network import PAG
    >>> PAG.of_network(BayesianNetwork("a->x<-h->y<-b"), hidden="h").edges
    (('a', 'o->', 'x'), ('x', '<->', 'y'), ('b', 'o->', 'y'))
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of_marks(cls, names: Sequence[str], marks: EdgeMarks) -> PAG:
        """Return the graph of a matrix with the mark at b of a and b in row a: 0 none, 1 circle, 2 arrow, 3 tail."""
        edges = []
        for a, b in zip(*np.nonzero(np.triu(marks)), strict=True):
            left, right = int(marks[b, a]), int(marks[a, b])
            # An arrow stands at the right, else a circle at the left.
            turned = (left == ARROW and right != ARROW) or (left == TAIL and right == CIRCLE)
            if turned:
                a, b, left, right = b, a, right, left
            edges.append((names[a], f"{_SHOWN[left][0]}-{_SHOWN[right][1]}", names[b]))
        return cls(tuple(names), tuple(edges))

    @classmethod
    def of_network(
        cls, network: NamedGraph, hidden: str | Iterable[str] = (), selected: str | Iterable[str] = ()
    ) -> PAG:
        """Return what tests without error would find when some variables of a network are not observed.

        Parameters
        ----------
        network : BayesianNetwork
            The graph that is true.
        hidden : str or list of str
            Variables without a column.
        selected : str or list of str
            Variables without a column that decided which rows came into the table.
        """
        from bayeskit.network.learn.fci import pag_of_network  # which makes values of this class

        return pag_of_network(network, hidden, selected)

    def __repr__(self) -> str:
        head = f"PAG: {len(self.names)} variables, {len(self.edges)} edges"
        return "\n  ".join([head, *(" ".join(edge) for edge in self.edges)])

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The pairs a --> b: a is a cause of b."""
        return tuple((a, b) for a, sign, b in self.edges if sign == "-->")

    @property
    def hidden_causes(self) -> tuple[tuple[str, str], ...]:
        """The pairs a <-> b: a hidden cause acts on both, and neither is a cause of the other."""
        return tuple((a, b) for a, sign, b in self.edges if sign == "<->")

    def marks(self) -> EdgeMarks:
        """Return the marks as a matrix: at b of a and b in row a; 0 none, 1 circle, 2 arrow, 3 tail."""
        place = {name: i for i, name in enumerate(self.names)}
        marks = np.zeros((len(place), len(place)), dtype=np.int8)
        for a, sign, b in self.edges:
            marks[place[b], place[a]], marks[place[a], place[b]] = _AT_LEFT[sign[0]], _AT_RIGHT[sign[2]]
        return marks

    def edge(self, a: str, b: str) -> str:
        """Return the edge between two variables as it is seen from a: "-->", "<--", "o-o" …, or "" for none.

        Examples
        --------
        >>> PAG(("a", "b", "c"), (("a", "o->", "b"),)).edge("b", "a")
        '<-o'
        """
        for name in (a, b):
            if name not in self.names:
                raise NetworkError(f"unknown variable {name!r}; {did_you_mean(name, self.names)}")
        marks, i, j = self.marks(), self.names.index(a), self.names.index(b)
        return f"{_SHOWN[int(marks[j, i])][0]}-{_SHOWN[int(marks[i, j])][1]}" if marks[i, j] else ""

    def draw(self) -> Drawing:
        """Draw the graph: an arrow, a circle or nothing (a tail) at each end."""
        return draw_partial(self.names, {(a, b): (_DRAWN[_AT_LEFT[sign[0]]], _DRAWN[_AT_RIGHT[sign[2]]])
                                         for a, sign, b in self.edges})  # fmt: skip

    def to_dot(self) -> str:
        """Return the graph as DOT text for Graphviz.

        Examples
        --------
        >>> print(PAG(("a", "b"), (("a", "o->", "b"),)).to_dot())
        digraph {
          "a";
          "b";
          "a" -> "b" [dir=both, arrowtail=odot, arrowhead=normal];
        }
        """
        lines = [f"  {quoted(name)};" for name in self.names]
        for a, sign, b in self.edges:
            tail, head = _DOT[_AT_LEFT[sign[0]]], _DOT[_AT_RIGHT[sign[2]]]
            lines.append(f"  {quoted(a)} -> {quoted(b)} [dir=both, arrowtail={tail}, arrowhead={head}];")
        return "\n".join(["digraph {", *lines, "}"])

    def to_dict(self) -> dict[str, Any]:
        """Return names and edges as lists, for JSON."""
        return {"names": list(self.names), "edges": [list(edge) for edge in self.edges]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PAG:
        """Read what `to_dict` gave; refuse unknown names, signs, and a pair that is joined twice.

        Examples
        --------
        >>> PAG.from_dict({"names": ["a", "b"], "edges": [["b", "<->", "a"]]}).edges
        (('a', '<->', 'b'),)
        """
        names, edges = expect_field(data, "names", list), expect_field(data, "edges", list)
        place = {name: i for i, name in enumerate(names)}
        if len(place) < len(names) or not all(isinstance(name, str) for name in names):
            raise NetworkError("the names of a PAG must be different texts.")
        marks = np.zeros((len(names), len(names)), dtype=np.int8)
        for edge in edges:
            if not isinstance(edge, Sequence) or len(edge) != 3 or not {edge[0], edge[2]} <= place.keys():
                raise NetworkError(f"an edge of a PAG is [name, sign, name] with two of its names; got {edge!r}.")
            a, sign, b = place[edge[0]], str(edge[1]), place[edge[2]]
            if len(sign) != 3 or sign[0] not in _AT_LEFT or sign[1] != "-" or sign[2] not in _AT_RIGHT:
                raise NetworkError(f"the sign of an edge is such as '-->', 'o->', '<->' or 'o-o'; got {edge[1]!r}.")
            if a == b or marks[a, b]:
                raise NetworkError(f"{edge[0]!r} and {edge[2]!r} must be two variables, joined once.")
            marks[b, a], marks[a, b] = _AT_LEFT[sign[0]], _AT_RIGHT[sign[2]]
        return cls.of_marks(names, marks)
