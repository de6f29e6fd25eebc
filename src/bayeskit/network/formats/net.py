"""Hugin NET: discrete and continuous chance nodes and their potentials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.function_table import Table
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.formats.gaussian_text import hugin_text, read_normals
from bayeskit.network.formats.lexer import Scanner, numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows, not_answered
from bayeskit.network.formats.plain_names import PLAIN, plain_names

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_BLANK = re.compile(r"(?:\s+|%[^\n]*)*")
_TOKEN = re.compile(r'(?P<quoted>"[^"]*")|(?P<word>[^\s(){}|=;"%]+)|[(){}|=;]')
# Between brackets an equals sign is no sign: pyAgrum writes states such as >=7.5 without quotes.
_STATE = re.compile(r'(?P<quoted>"[^"]*")|(?P<word>[^\s(){}|;"%]+)|[(){}|;]')
_VALUE = re.compile(r'(?:[^;%"]+|%[^\n]*|"[^"]*")*')
_COMMENT = re.compile(r"%[^\n]*")
# Names that NET cannot hold as they are stand in an attribute of ours beside the plain name.
_OURS = "bayeskit_name"
_MODEL: tuple[str, ...] = ("model_nodes", "model_data")


class _Reader(Scanner):
    def __init__(self, source: FileText, normalize: bool) -> None:
        super().__init__(source, _BLANK, _TOKEN)
        self.normalize = normalize
        self.places: dict[str, int] = {}
        self.names: list[str] = []
        self.taken: set[str] = set()
        self.plain: list[str] = []
        self.states: list[tuple[str, ...]] = []
        self.node_at: list[int] = []
        self.properties: dict[str, dict[str, str]] = {"": {}}
        self.potentials: dict[int, tuple[int, list[int], dict[str, tuple[int, str]]]] = {}

    def read(self) -> None:
        while self.peek():
            start = self.at
            word = self.word("'net', 'node' or 'potential'")
            if word == "net":
                self.properties[""] |= _kept(self.attributes())
            elif word in ("node", "discrete", "continuous"):
                if word != "node":
                    self.need("node")
                self.node(real=word == "continuous")
            elif word == "potential":
                self.potential(start)
            elif word in ("decision", "utility", "function"):
                kind = "function" if word == "function" else word
                not_answered(self.source, start, self.word("the node's name"), kind)
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

    def node(self, real: bool) -> None:
        start = self.at
        plain = self.word("the node's name")
        if plain in self.places:
            self.fault(f"node {plain!r} appears twice.", start)
        attributes = self.attributes()
        if "states" not in attributes and not real:
            self.fault(f"node {plain!r} has no states.", start)
        self.places[plain] = len(self.names)
        self.node_at.append(start)
        name = _unquoted(attributes[_OURS][1]) if _OURS in attributes else plain
        if not name or name in self.taken:
            self.fault(f"the name {name!r} is empty or appears twice.", start)
        self.taken.add(name)
        self.names.append(name)
        self.plain.append(plain)
        self.states.append(() if real else self.state_names(plain, *attributes["states"]))
        kept = _kept(attributes)
        if kept.get("label") in (plain, name):
            del kept["label"]
        self.properties[name] = kept

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
        if not {"data", "model_data"} & attributes.keys():
            self.fault(f"the potential of {self.names[child]!r} has no data.", start)
        self.potentials[child] = start, list(above), attributes

    def parts(self) -> Parts:
        for i, name in enumerate(self.names):
            if i not in self.potentials:
                self.fault(f"node {name!r} has no potential.", self.node_at[i])
        tables = [self.table(i, self.potentials[i][1], self.potentials[i][2]) for i in range(len(self.names))]
        parents = [tuple(self.potentials[i][1]) for i in range(len(self.names))]
        starts = [self.potentials[i][0] for i in range(len(self.names))]
        return Parts(self.names, self.states, parents, tables, starts, self.properties)

    def table(self, i: int, above: list[int], attributes: dict[str, tuple[int, str]]) -> Any:
        name, cards = self.names[i], [len(self.states[p]) for p in above]
        model: dict[str, str] = {key: attributes[key][1].strip() for key in _MODEL if key in attributes}
        at, text = attributes.get("data", attributes.get("model_data", (0, "")))
        if text.count("(") != text.count(")"):
            self.fault(f"the brackets of the data of {name!r} do not match.", at)
        # Blanks of the same length keep the places.
        flat = _COMMENT.sub(lambda comment: " " * len(comment.group()), text)
        if not self.states[i]:
            aliases = {self.plain[p]: self.names[p] for p in above}
            real = {self.plain[p] for p in above if not self.states[p]}
            shape = [card for card in cards if card]
            return read_normals(self.source, at, name, flat, cards, shape, aliases, real)
        if 0 in cards:
            real_parent = self.names[above[cards.index(0)]]
            self.fault(f"{name!r} is discrete and has the real parent {real_parent!r}.", at)
        if "data" not in attributes:
            return self.formula(name, at, flat, model)
        self.properties[name] |= model
        # Brackets group the numbers for the eye.
        values = numbers(self.source, flat.replace("(", " ").replace(")", " "), at)
        return checked_rows(self.source, at, name, values, (*cards, len(self.states[i])), self.normalize)

    def formula(self, name: str, at: int, text: str, model: dict[str, str]) -> Table:
        """Read the formula of a node that has no numbers yet."""
        if model.get("model_nodes", "()").strip("() \t\n"):
            self.fault(f"{name!r} has a formula for each state of its model nodes and no data; compile it first.", at)
        try:
            return Table.of(text)
        except NetworkError as error:
            self.fault(f"{name!r}: {error}", at)


def _kept(attributes: dict[str, tuple[int, str]]) -> dict[str, str]:
    """Return what a block says beside states and our name; brackets of positions and quotes of text are dropped."""
    kept = {name: _unquoted(text) for name, (_, text) in attributes.items() if name not in ("states", _OURS)}
    if "position" in kept:
        kept["position"] = " ".join(kept["position"].strip("() \n").split())
    return kept


def _unquoted(text: str) -> str:
    return text.strip().strip('"')


class HuginNet(NetworkFormat):
    """Hugin NET."""

    name = "net"
    extensions = (".net",)
    holds_real = True

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read NET; utilities, decisions and classes are refused by name."""
        reader = _Reader(source, normalize)
        reader.read()
        return reader.parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write NET; a name that is not a plain word is written as label and in an attribute of our own."""
        plain = plain_names(net.names)
        lines = ["net", "{", *_written(net.properties.get("", {})), "}"]
        for name, short, names in zip(net.names, plain, net.states, strict=True):
            states = " ".join(_quoted(state) for state in names)
            said = net.properties.get(name, {})
            lines += [f"node {short}", "{", f"  states = ({states});"] if names else [f"continuous node {short}", "{"]
            lines.append(f"  label = {_quoted(said.get('label', name))};")
            if short != name:
                lines.append(f"  {_OURS} = {_quoted(name)};")
            lines += [*_written({key: text for key, text in said.items() if key != "label"}), "}"]
        for i, (above, cpd) in enumerate(zip(net.parents, net.cpds, strict=True)):
            given = [plain[p] for p in above]
            lines += [f"potential ({plain[i]} | {' '.join(given)})" if above else f"potential ({plain[i]})", "{"]
            text = hugin_text(cpd, given) if isinstance(cpd, GaussianCPD) else _bracketed(cpd.values.tolist())
            lines += [f"  data = {text};", "}"]
        return "\n".join(lines) + "\n"


def _written(said: Mapping[str, str]) -> list[str]:
    """Return properties as attributes; what NET cannot hold is left out."""
    lines = []
    for key, text in said.items():
        if not PLAIN.fullmatch(key) or '"' in text or key in ("states", "data", "model_nodes", "model_data"):
            continue
        place = key == "position" and re.fullmatch(r"[-0-9. ]+", text)
        lines.append(f"  {key} = ({text});" if place else f'  {key} = "{text}";')
    return lines


def _bracketed(table: list[object]) -> str:
    if table and isinstance(table[0], list):
        return "(" + "\n    ".join(_bracketed(row) for row in table if isinstance(row, list)) + ")"
    return "(" + " ".join(map(repr, table)) + ")"


def _quoted(text: str) -> str:
    if '"' in text:
        raise NetworkError(f"NET cannot hold the name {text!r}: it has a double quote; rename it or write XMLBIF.")
    return f'"{text}"'
