"""DOT: the graph for Graphviz and similar programs; states and tables are in attributes that these ignore."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.table import MOST_AXES, default_table
from bayeskit.network.dot_text import dot_text
from bayeskit.network.formats.lexer import Scanner, numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import SPARE_NUMBERS, FileText, Parts, checked_rows, table_size

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|^#[^\n]*)*", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    r'(?P<quoted>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<word>-?(?:\.\d++|\d++(?:\.\d*+)?+)(?![\w])|[^\W\d]\w*+)|->|--|[{}\[\];,=:+<]',
    re.DOTALL,
)
# Words that DOT keeps for itself, in any case.
_KEYWORDS = {"graph", "digraph", "node", "edge", "subgraph", "strict"}
# Subgraphs in subgraphs; deeper than any picture, and below Python's own limit.
MAX_DEPTH = 50
# ``{a b c} -> {d e f}`` writes nine arcs in few characters. A file may make as many as it has characters, which arcs
# written one by one never reach, and this many more.
SPARE_ARCS = 1 << 16
# The attributes that are read; all others are for the picture.
_READ = {"states", "parents", "table"}


class _Reader(Scanner):
    def __init__(self, source: FileText) -> None:
        super().__init__(source, _BLANK, _TOKEN)
        self.names: dict[str, int] = {}  # the place of each node's first mention
        self.attributes: dict[str, dict[str, tuple[int, str]]] = {}
        self.parents: dict[str, dict[str, int]] = {}
        self.spare_arcs = len(source.text) + SPARE_ARCS

    def keyword(self) -> str:
        word = self.peek().lower()
        return word if word in _KEYWORDS else ""

    def read(self) -> None:
        if self.keyword() == "strict":
            self.word("strict")
        if self.keyword() != "digraph":
            self.fault(f"a Bayesian network is a 'digraph'; found {self.next_token()}.")
        self.word("digraph")
        if self.peek() != "{":
            self.identifier("the graph's name")
        self.need("{")
        self.statements(0)
        if self.peek():
            self.fault(f"expected the end of the file, found {self.next_token()}.")

    def identifier(self, what: str) -> str:
        quoted = self.peek().startswith('"')
        if self.peek() == "<":
            self.fault("an HTML string cannot be a name here; write a quoted string.")
        text = self.word(what)
        return text.replace('\\"', '"').replace("\\\n", "") if quoted else text

    def statements(self, depth: int) -> list[str]:
        """Read up to the closing bracket; return the nodes that were named."""
        if depth > MAX_DEPTH:
            self.fault(f"subgraphs are nested more than {MAX_DEPTH} deep.")
        named: list[str] = []
        while not self.take("}"):
            if self.take(";"):
                continue
            if self.keyword() in ("graph", "node", "edge"):
                self.word("a keyword")
                self.attribute_lists()
                continue
            named += self.chain(depth)
        return named

    def chain(self, depth: int) -> list[str]:
        start = self.at
        groups = [self.group(depth)]
        if len(groups[0]) == 1 and self.take("="):  # graph attribute
            self.value()
            self.forget(groups[0][0], start)
            return []
        while self.peek() in ("->", "--"):
            if self.take("--"):
                self.fault("'--' has no direction; a Bayesian network needs '->'.")
            self.need("->")
            groups.append(self.group(depth))
            self.join(groups[-2], groups[-1], start)
        place = self.at
        attributes = self.attribute_lists()
        if len(groups) == 1 and attributes:
            if len(groups[0]) > 1:  # not DOT, and a long list for each of many nodes would not end
                self.fault("attributes follow a node or an arc, not a group of nodes.", place)
            for name in groups[0]:
                self.attributes[name].update(attributes)
        return [name for group in groups for name in group]

    def join(self, above: list[str], below: list[str], start: int) -> None:
        """Add an arc from each node of a group to each of another; their number is checked first."""
        self.spare_arcs -= len(above) * len(below)
        if self.spare_arcs < 0:
            self.fault(
                f"{len(above)} nodes with an arc to each of {len(below)} are too many arcs for this file.", start
            )
        for child in below:
            parents = self.parents[child]
            for parent in above:
                parents.setdefault(parent, start)

    def forget(self, name: str, start: int) -> None:
        if self.names.get(name) == start:
            del self.names[name], self.attributes[name], self.parents[name]

    def group(self, depth: int) -> list[str]:
        if self.keyword() == "subgraph":
            self.word("subgraph")
            if self.peek() != "{":
                self.identifier("the subgraph's name")
        if self.take("{"):
            return self.statements(depth + 1)
        start = self.at
        name = self.identifier("a node, ';' or '}'")
        while self.take(":"):
            self.identifier("a port")
        if name not in self.names:
            self.names[name] = start
            self.attributes[name] = {}
            self.parents[name] = {}
        return [name]

    def attribute_lists(self) -> dict[str, tuple[int, str]]:
        attributes: dict[str, tuple[int, str]] = {}
        while self.take("["):
            while not self.take("]"):
                name = self.identifier("an attribute or ']'")
                if self.take("="):
                    value = self.value()
                    if name in _READ:
                        attributes[name] = value
                if not self.take(","):
                    self.take(";")
        return attributes

    def value(self) -> tuple[int, str]:
        start = self.at
        if self.peek() == "<":
            self.html()
            return start, ""
        return start, self.identifier("a value")

    def html(self) -> None:
        start, depth = self.at, 0
        for bracket in re.compile("[<>]").finditer(self.source.text, self.at):
            depth += 1 if bracket.group() == "<" else -1
            if depth == 0:
                self.at = bracket.end()
                self._skip()
                return
        self.fault("the HTML string is not closed.", start)

    def parts(self, normalize: bool) -> Parts:
        names = list(self.names)
        places = {name: i for i, name in enumerate(names)}
        states = [self.states_of(name) for name in names]
        parents = [tuple(places[p] for p in self.parents_of(name)) for name in names]
        with_table = [name for name in names if "table" in self.attributes[name]]
        if with_table and len(with_table) < len(names):
            name = next(name for name in names if "table" not in self.attributes[name])
            self.fault(f"node {name!r} has no table, while others have.", self.names[name])
        tables = []
        spare = SPARE_NUMBERS
        for i, name in enumerate(names):
            shape = (*(len(states[p]) for p in parents[i]), len(states[i]))
            if len(shape) > MOST_AXES:
                self.fault(
                    f"{name!r} has {len(shape) - 1} parents; a table can have at most {MOST_AXES - 1}.",
                    self.names[name],
                )
            if not with_table:
                spare -= table_size(shape)
                if spare < 0:
                    self.fault(f"the table of {name!r} would be too large.", self.names[name])
                tables.append(default_table(name, shape, None))
                continue
            at, text = self.attributes[name]["table"]
            tables.append(checked_rows(self.source, at, name, numbers(self.source, text, at + 1), shape, normalize))
        return Parts(names, states, parents, tables, [self.names[name] for name in names])

    def states_of(self, name: str) -> tuple[str, ...]:
        if "states" not in self.attributes[name]:
            return ("no", "yes")
        at, text = self.attributes[name]["states"]
        states = tuple(unquote(state) for state in text.split("|"))
        if len(set(states)) < len(states) or "" in states:
            self.fault(f"the states of {name!r} must differ and not be empty.", at)
        return states

    def parents_of(self, name: str) -> list[str]:
        above = list(self.parents[name])
        if "parents" not in self.attributes[name]:
            return above
        at, text = self.attributes[name]["parents"]
        ordered = [unquote(parent) for parent in text.split("|")] if text else []
        if sorted(ordered) != sorted(above):
            self.fault(f"the parents of {name!r} are not those of its arcs.", at)
        return ordered


class DOT(NetworkFormat):
    """DOT: the graph for Graphviz; states and tables are in attributes that it ignores."""

    name = "dot"
    extensions = (".dot", ".gv")

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read DOT; without tables of ours every row is uniform, and states are "no" and "yes"."""
        reader = _Reader(source)
        reader.read()
        return reader.parts(normalize)

    def write(self, net: BayesianNetwork) -> str:
        """Write DOT that Graphviz draws and that reads back as the same network."""
        nodes: dict[str, dict[str, str]] = {}
        for i, name in enumerate(net.names):
            if "\\" in name:  # read back, it would be two of them
                raise NetworkError(f"DOT cannot hold the name {name!r}: it has a backslash; rename it or write XMLBIF.")
            attributes = {
                "states": "|".join(map(_escaped, net.states[i])),
                "parents": "|".join(_escaped(net.names[p]) for p in net.parents[i]),
                "table": " ".join(map(repr, net.tables[i].reshape(-1).tolist())),
            }
            nodes[name] = {key: value for key, value in attributes.items() if value}
        return dot_text(nodes, net.arcs) + "\n"


def _escaped(text: str) -> str:
    return quote(text, safe=" !#$&'()*+,-./:;<=>?@[]^_`{}~" + "".join(c for c in text if ord(c) > 127))
