"""The old Microsoft format DSC (MSBN), as bnlearn writes it too."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.formats.lexer import Scanner, numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import SPARE_NUMBERS, FileText, Parts, checked_rows, table_size
from bayeskit.network.formats.plain_names import plain_names
from bayeskit.network.formats.written_names import names_line, read_names

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_TOKEN = re.compile(r'(?P<quoted>"[^"\n]*")|(?P<word>[^\s(){}\[\],:;=|"/]+)|[(){}\[\],:;=|]')
_KEYWORDS = ("belief", "network", "node", "probability", "properties", "type", "discrete", "default")


class _Reader(Scanner):
    def __init__(self, source: FileText, normalize: bool) -> None:
        super().__init__(source, _BLANK, _TOKEN)
        self.normalize = normalize
        self.places: dict[str, int] = {}
        self.states: list[tuple[str, ...]] = []
        self.starts: list[int] = []
        self.said: list[dict[str, str]] = []
        self.families: dict[int, tuple[int, list[int], NDArray[np.float64]]] = {}
        self.label = ""
        self.spare = SPARE_NUMBERS + len(source.text)

    def read(self) -> None:
        while self.peek():
            start = self.at
            word = self.word("'node' or 'probability'")
            if word == "belief":
                self.need("network")
                self.label = self.word("the network's name")
            elif word == "node":
                self.node(start)
            elif word == "probability":
                self.probability(start)
            elif word == "properties":
                self.skip_block()
            else:
                self.fault(f"expected 'belief network', 'node' or 'probability', found {word[:40]!r}.", start)

    def skip_block(self) -> None:
        self.need("{")
        while not self.take("}"):
            self.any_token()

    def any_token(self) -> str:
        token = self.peek()
        if not token:
            self.fault("the block is not closed.")
        self.take(token)
        return token

    def node(self, start: int) -> None:
        name = self.word("the node's name")
        if name in self.places:
            self.fault(f"node {name!r} appears twice.", start)
        states: tuple[str, ...] = ()
        said: dict[str, str] = {}
        self.need("{")
        while not self.take("}"):
            key = self.word("an attribute or '}'")
            self.need(":") if self.peek() == ":" else self.need("=")
            if key == "type":
                states = self.state_names(name)
                continue
            words = []
            while not self.take(";"):
                words.append(self.any_token())
            said[key] = " ".join(word for word in words if word not in "(),").strip('"')
        if not states:
            self.fault(f"node {name!r} has no states.", start)
        self.places[name] = len(self.places)
        self.states.append(states)
        self.starts.append(start)
        if "name" in said:
            said["label"] = said.pop("name")
        self.said.append(said)

    def state_names(self, node: str) -> tuple[str, ...]:
        start = self.at
        if self.word("'discrete'") != "discrete":
            self.fault(f"{node!r} is not discrete; only discrete nodes can be read.", start)
        self.need("[")
        count = self.word("the number of states")
        self.need("]")
        self.need("=")
        self.need("{")
        states: dict[str, None] = {}
        while not self.take("}"):
            place = self.at
            state = self.word("a state or '}'").strip()
            if state in states or not state:
                self.fault(f"state {state!r} of {node!r} appears twice or is empty.", place)
            states[state] = None
            self.take(",")
        self.need(";")
        if count != str(len(states)):
            self.fault(f"the type of {node!r} says another number of states than it lists.", start)
        return tuple(states)

    def node_named(self) -> int:
        start = self.at
        name = self.word("a node")
        if name not in self.places:
            self.fault(f"node {name[:40]!r} is not declared above this line.", start)
        return self.places[name]

    def probability(self, start: int) -> None:
        self.need("(")
        child = self.node_named()
        above: list[int] = []
        if self.take("|"):
            while self.peek() != ")":
                above.append(self.node_named())
                self.take(",")
        self.need(")")
        if len({child, *above}) <= len(above) or child in self.families:
            self.fault("a node appears twice, or has two tables.", start)
        self.families[child] = start, above, self.rows(child, above, start)

    def rows(self, child: int, above: list[int], start: int) -> NDArray[np.float64]:
        """Read ``(0, 1): 0.2, 0.8;`` or the numbers of all rows in order."""
        card, cards = len(self.states[child]), [len(self.states[p]) for p in above]
        self.spare -= table_size((*cards, card))
        if self.spare < 0:
            self.fault("the table would need more numbers than the file can hold.", start)
        table = np.full((prod(cards), card), np.nan)
        self.need("{")
        at = 0
        while not self.take("}"):
            place = self.at
            if self.take("("):
                codes = [self.code(limit) for limit in cards]
                self.need(")")
                self.need(":")
                at = int(np.ravel_multi_index(codes, cards)) if cards else 0
            elif self.peek() == "default":
                self.word("default")
                self.need(":") if self.peek() == ":" else self.need("=")
                table[np.isnan(table[:, 0])] = self.numbers(card)
                continue
            values = self.numbers(card)
            if at >= len(table) or not np.isnan(table[at, 0]):
                self.fault("the table has a row twice, or too many of them.", place)
            table[at] = values
            at += 1
        if np.isnan(table).any():
            self.fault(f"the table has no row {int(np.argmax(np.isnan(table[:, 0])))}.", start)
        return table.reshape(-1)

    def code(self, limit: int) -> int:
        start = self.at
        word = self.word("the number of a state")
        if not re.fullmatch(r"[0-9]{1,6}", word) or int(word) >= limit:
            self.fault(f"expected a number from 0 to {limit - 1}, found {word[:20]!r}.", start)
        self.take(",")
        return int(word)

    def numbers(self, card: int) -> NDArray[np.float64]:
        start, words = self.at, []
        while not self.take(";"):
            words.append(self.word("a number or ';'"))
            self.take(",")
        values = numbers(self.source, " ".join(words), start, verbatim=False)
        if len(values) != card:
            self.fault(f"the row has {len(values)} numbers and needs {card}.", start)
        return values

    def parts(self) -> Parts:
        plain = list(self.places)
        for name, i in self.places.items():
            if i not in self.families:
                self.fault(f"node {name!r} has no probability block.", self.starts[i])
        names, states = read_names(self.source, "//", plain, self.states)
        parents = [tuple(self.families[i][1]) for i in range(len(plain))]
        tables = []
        for i, name in enumerate(names):
            start, above, values = self.families[i]
            shape = (*(len(states[p]) for p in above), len(states[i]))
            tables.append(checked_rows(self.source, start, name, values, shape, self.normalize))
        properties = dict(zip(names, self.said, strict=True))
        properties[""] = {} if self.label in ("", "unknown") else {"label": self.label}
        return Parts(names, states, parents, tables, [self.families[i][0] for i in range(len(plain))], properties)


class DSC(NetworkFormat):
    """The old Microsoft format DSC."""

    name = "dsc"
    extensions = (".dsc",)

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read DSC; rows are numbered by the places of the parents' states."""
        reader = _Reader(source, normalize)
        reader.read()
        return reader.parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write DSC as bnlearn does; names that are no plain words stand in a comment."""
        plain = plain_names(net.names, taken=_KEYWORDS)
        label = net.properties.get("", {}).get("label", "unknown")
        lines = [f'belief network "{_text(label)}"']
        for name, short, states in zip(net.names, plain, net.states, strict=True):
            said = net.properties.get(name, {})
            shown = ", ".join(f'"{_text(state)}"' for state in states)
            lines += [f"node {short}", "{"]
            lines += [f'  name: "{_text(said["label"])}";'] if said.get("label") else []
            lines += [f"  type : discrete [ {len(states)} ] = {{ {shown} }};"]
            if re.fullmatch(r"-?[0-9.]{1,12} -?[0-9.]{1,12}", said.get("position", "")):
                lines.append(f"  position : ({said['position'].replace(' ', ', ')});")
            lines.append("}")
        for i, (above, table) in enumerate(zip(net.parents, net.tables, strict=True)):
            given = ", ".join(plain[p] for p in above)
            lines += [f"probability ( {plain[i]} | {given} )" if above else f"probability ( {plain[i]} )", "{"]
            for codes, row in zip(np.ndindex(table.shape[:-1]), table.reshape(-1, table.shape[-1]).tolist(),
                                  strict=True):  # fmt: skip
                key = f"({', '.join(map(str, codes))}) : " if above else ""
                lines.append(f"  {key}{', '.join(map(repr, row))};")
            lines.append("}")
        return "\n".join([*lines, *names_line("//", net.names, net.states, plain, net.states)]) + "\n"


def _text(name: str) -> str:
    if '"' in name:
        raise NetworkError(f"DSC cannot hold the name {name!r}: it has a double quote; rename it or write XMLBIF.")
    return name
