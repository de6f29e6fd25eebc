"""Hugin NET: discrete chance nodes and their potentials."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bayeskit.errors import NetworkError
from bayeskit.network.formats.lexer import Scanner, numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_BLANK = re.compile(r"(?:\s+|%[^\n]*)*")
_TOKEN = re.compile(r'(?P<quoted>"[^"]*")|(?P<word>[^\s(){}|=;"%]+)|[(){}|=;]')
# Between brackets an equals sign is no sign: pyAgrum writes states such as >=7.5 without quotes.
_STATE = re.compile(r'(?P<quoted>"[^"]*")|(?P<word>[^\s(){}|;"%]+)|[(){}|;]')
_VALUE = re.compile(r'(?:[^;%"]+|%[^\n]*|"[^"]*")*')
_COMMENT = re.compile(r"%[^\n]*")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Names that NET cannot hold as they are stand in an attribute of ours beside the plain name.
_OURS = "bayeskit_name"


class _Reader(Scanner):
    def __init__(self, source: FileText, normalize: bool) -> None:
        super().__init__(source, _BLANK, _TOKEN)
        self.normalize = normalize
        self.places: dict[str, int] = {}
        self.names: list[str] = []
        self.taken: set[str] = set()
        self.states: list[tuple[str, ...]] = []
        self.node_at: list[int] = []
        self.potentials: dict[int, tuple[int, list[int], str, int]] = {}

    def read(self) -> None:
        while self.peek():
            start = self.at
            word = self.word("'net', 'node' or 'potential'")
            if word == "net":
                self.attributes()
            elif word in ("node", "discrete"):
                if word == "discrete":
                    self.need("node")
                self.node()
            elif word == "potential":
                self.potential(start)
            else:
                self.fault(f"only 'net', 'node' and 'potential' can be read, found {word[:40]!r}.", start)

    def attributes(self) -> dict[str, tuple[int, str]]:
        """Read ``{ name = value; … }``; values stay text."""
        attributes: dict[str, tuple[int, str]] = {}
        self.need("{")
        while not self.take("}"):
            start = self.at
            name = self.word("an attribute or '}'")
            self.need("=")
            value = _VALUE.match(self.source.text, self.at)
            at, text = self.at, value.group() if value else ""
            self.at += len(text)
            self.need(";")
            if name in attributes:
                self.fault(f"the attribute {name[:40]!r} appears twice.", start)
            attributes[name] = at, text
        return attributes

    def node(self) -> None:
        start = self.at
        plain = self.word("the node's name")
        if plain in self.places:
            self.fault(f"node {plain!r} appears twice.", start)
        attributes = self.attributes()
        if "states" not in attributes:
            self.fault(f"node {plain!r} has no states.", start)
        self.places[plain] = len(self.names)
        self.node_at.append(start)
        name = _unquoted(attributes[_OURS][1]) if _OURS in attributes else plain
        if not name or name in self.taken:
            self.fault(f"the name {name!r} is empty or appears twice.", start)
        self.taken.add(name)
        self.names.append(name)
        self.states.append(self.state_names(plain, *attributes["states"]))

    def state_names(self, node: str, at: int, text: str) -> tuple[str, ...]:
        inner = Scanner(self.source, _BLANK, _STATE, at, at + len(text))
        inner.need("(")
        states: dict[str, None] = {}
        while not inner.take(")"):
            start = inner.at
            state = inner.word("a state or ')'")
            if state in states or not state:
                inner.fault(f"state {state!r} of {node!r} appears twice or is empty.", start)
            states[state] = None
        if not states:
            inner.fault(f"node {node!r} has no states.", at)
        return tuple(states)

    def node_named(self) -> int:
        start = self.at
        name = self.word("a node")
        if name not in self.places:
            self.fault(f"node {name!r} is not declared above this line.", start)
        return self.places[name]

    def potential(self, start: int) -> None:
        self.need("(")
        child = self.node_named()
        above: dict[int, None] = {}
        if self.take("|"):
            while self.peek() != ")":
                place = self.at
                parent = self.node_named()
                if parent in above or parent == child:
                    self.fault(f"{self.names[parent]!r} appears twice.", place)
                above[parent] = None
        self.need(")")
        if child in self.potentials:
            self.fault(f"node {self.names[child]!r} has two potentials.", start)
        attributes = self.attributes()
        if "data" not in attributes:
            self.fault(f"the potential of {self.names[child]!r} has no data.", start)
        at, text = attributes["data"]
        self.potentials[child] = start, list(above), text, at

    def parts(self) -> Parts:
        for i, name in enumerate(self.names):
            if i not in self.potentials:
                self.fault(f"node {name!r} has no potential.", self.node_at[i])
        tables = []
        cards = [len(names) for names in self.states]
        for i, name in enumerate(self.names):
            _, above, text, at = self.potentials[i]
            if text.count("(") != text.count(")"):
                self.fault(f"the brackets of the data of {name!r} do not match.", at)
            # Brackets group the numbers for the eye; blanks of the same length keep the places.
            flat = _COMMENT.sub(lambda comment: " " * len(comment.group()), text).replace("(", " ").replace(")", " ")
            values = numbers(self.source, flat, at)
            shape = (*(cards[p] for p in above), cards[i])
            tables.append(checked_rows(self.source, at, name, values, shape, self.normalize))
        starts = [self.potentials[i][0] for i in range(len(self.names))]
        return Parts(self.names, self.states, [tuple(self.potentials[i][1]) for i in range(len(cards))], tables, starts)


def _unquoted(text: str) -> str:
    return text.strip().strip('"')


class HuginNet(NetworkFormat):
    """Hugin NET."""

    name = "net"
    extensions = (".net",)

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read NET; utilities, decisions, continuous nodes and classes are refused."""
        reader = _Reader(source, normalize)
        reader.read()
        return reader.parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write NET; a name that is not a plain word is written as label and in an attribute of our own."""
        plain = _plain_names(net.names)
        lines = ["net", "{", "}"]
        for name, short, names in zip(net.names, plain, net.states, strict=True):
            states = " ".join(_quoted(state) for state in names)
            lines += [f"node {short}", "{", f"  states = ({states});", f"  label = {_quoted(name)};"]
            if short != name:
                lines.append(f"  {_OURS} = {_quoted(name)};")
            lines.append("}")
        for i, (above, table) in enumerate(zip(net.parents, net.tables, strict=True)):
            given = " ".join(plain[p] for p in above)
            lines += [f"potential ({plain[i]} | {given})" if above else f"potential ({plain[i]})", "{"]
            lines += [f"  data = {_bracketed(table.tolist())};", "}"]
        return "\n".join(lines) + "\n"


def _bracketed(table: list[object]) -> str:
    if table and isinstance(table[0], list):
        return "(" + "\n    ".join(_bracketed(row) for row in table if isinstance(row, list)) + ")"
    return "(" + " ".join(map(repr, table)) + ")"


def _plain_names(names: tuple[str, ...]) -> list[str]:
    taken = {name for name in names if _PLAIN.fullmatch(name)}
    plain = []
    for name in names:
        short = name
        if not _PLAIN.fullmatch(name):
            stem = re.sub(r"[^A-Za-z0-9_]", "_", name)
            stem = stem if _PLAIN.fullmatch(stem) else f"_{stem}"
            k, short = 1, stem
            while short in taken:
                k, short = k + 1, f"{stem}_{k}"
            taken.add(short)
        plain.append(short)
    return plain


def _quoted(text: str) -> str:
    if '"' in text:
        raise NetworkError(f"NET cannot hold the name {text!r}: it has a double quote; rename it or write XMLBIF.")
    return f'"{text}"'
