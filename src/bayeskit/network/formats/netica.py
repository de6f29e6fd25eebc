"""Netica's DNE: nature nodes with tables, function tables, intervals and formulas."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeskit.network.cpd.equation import Equation
from bayeskit.network.cpd.function_table import Table
from bayeskit.network.expression import ExpressionError
from bayeskit.network.formats.lexer import Scanner, numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows, not_answered
from bayeskit.network.formats.plain_names import plain_names
from bayeskit.network.formats.written_names import names_line, read_names

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_TOKEN = re.compile(r'(?P<quoted>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<word>[^\s(){},=;"/]+)|[(){},=;]', re.DOTALL)
# Netica reads no longer names.
_LONGEST = 30
MAX_DEPTH = 70
_NUMBERS = re.compile(r"\([\s(),0-9eE+\-.]*+(?=;)")
_SPACES = str.maketrans("(),", "   ")
_HEADER = re.compile(r"\s*+(?:p\s*+\(\s*+\w++\s*+(?:\|[\w\s,]*+)?\)|\w++\s*+(?:\([\w\s,]*+\))?)\s*+=(?!=)")


class _Value(NamedTuple):
    """A word, a text, or a list of them; ``at`` is its place and ``end`` where it ends."""

    at: int
    end: int
    items: list[str]
    quoted: bool


class _Reader(Scanner):
    def __init__(self, source: FileText, normalize: bool) -> None:
        super().__init__(source, _BLANK, _TOKEN)
        self.normalize = normalize
        self.nodes: dict[str, tuple[int, dict[str, _Value]]] = {}
        self.network: dict[str, _Value] = {}
        self.label = ""

    def read(self) -> None:
        if self.word("'bnet'") not in ("bnet", "dnet"):
            self.fault("a Netica file begins with 'bnet'.", 0)
        self.label = self.word("the network's name")
        self.block(self.network, 0)
        self.take(";")
        if self.peek():
            self.fault(f"expected the end of the file, found {self.next_token()}.")

    def block(self, into: dict[str, _Value], depth: int) -> None:
        """Read ``{ name = value; node x {…}; … }``; values of blocks in it are named ``block.name``."""
        if depth > MAX_DEPTH:
            self.fault(f"blocks are nested more than {MAX_DEPTH} deep.")
        self.need("{")
        while not self.take("}"):
            start = self.at
            name = self.word("an attribute, a node or '}'")
            if self.take("="):
                value = self.value(depth)
                if value is not None:
                    into[name] = value
            else:
                inner = self.word("a name or '='") if self.peek() != "{" else ""
                if name == "node" and depth == 0:
                    if inner in self.nodes or not inner:
                        self.fault(f"node {inner!r} appears twice or has no name.", start)
                    self.nodes[inner] = start, {}
                    self.block(self.nodes[inner][1], depth + 1)
                else:
                    held: dict[str, _Value] = {}
                    self.block(held, depth + 1)
                    if name == "visual" and "center" in held:
                        into["visual.center"] = held["center"]
            self.take(";")

    def value(self, depth: int) -> _Value | None:
        """Read a word, a text, a list or a block; a block such as a font is skipped."""
        start, quoted, open_lists = self.at, False, 0
        if plain := _NUMBERS.match(self.source.text, start):  # token by token, a large table takes long
            self.at = plain.end()
            return _Value(start, self.at, plain.group().translate(_SPACES).split(), False)
        items: list[str] = []
        while True:
            token = self.peek()
            if token == "(":
                self.take("(")
                open_lists += 1
            elif token == ")" and open_lists:
                self.take(")")
                open_lists -= 1
            elif token == "," and open_lists:
                self.take(",")
            elif token == "{":
                self.block({}, depth + 1)
                return None
            elif token in ("}", ";", "") and not open_lists and (items or self.at > start):
                break
            else:
                quoted = quoted or token.startswith('"')
                items.append(_unescaped(self.word("a value or ')'"), token.startswith('"')))
        return _Value(start, self.at, items, quoted)

    def parts(self) -> Parts:
        # A constant without children is a title in the picture.
        used = {parent for _, held in self.nodes.values() for parent in _items(held, "parents")}
        names = [name for name, (_, held) in self.nodes.items() if _items(held, "kind") != ["CONSTANT"] or name in used]
        for name in names:
            kind = (_items(self.nodes[name][1], "kind") or ["NATURE"])[0]
            if kind in ("DECISION", "UTILITY"):
                not_answered(self.source, self.nodes[name][0], name, kind.lower())
            if kind != "NATURE":
                self.fault(f"{name!r} is a {kind[:20]!r} node, which is not answered.", self.nodes[name][0])
        places = {name: i for i, name in enumerate(names)}
        states = [self.states(name) for name in names]
        parents = [self.parents(name, places) for name in names]
        full, full_states = read_names(self.source, "//", names, states)
        aliases = dict(zip(names, full, strict=True))
        tables = [self.table(name, i, parents[i], states, aliases) for i, name in enumerate(names)]
        properties = {aliases[name]: self.properties(name, aliases[name]) for name in names}
        properties[""] = {} if self.label == "unnamed" else {"label": self.label}
        for key in ("title", "comment"):
            if key in self.network:
                properties[""][key] = " ".join(self.network[key].items)
        return Parts(full, full_states, parents, tables, [self.nodes[name][0] for name in names], properties)

    def states(self, name: str) -> tuple[str, ...]:
        start, held = self.nodes[name]
        states = _items(held, "states")
        discrete = _items(held, "discrete") != ["FALSE"]
        levels = _items(held, "levels")
        if not states and levels:
            states = levels if discrete else _intervals(levels)
        if not states and discrete and "numstates" in held:
            count = _items(held, "numstates")[0]
            if not re.fullmatch(r"[0-9]{1,6}", count) or int(count) > len(self.source.text):
                self.fault(f"numstates of {name!r} must be a small number.", held["numstates"].at)
            states = [f"s{k}" for k in range(int(count))]
        if not states and discrete:
            self.fault(f"node {name!r} has no states.", start)
        if len(set(states)) < len(states) or "" in states:
            self.fault(f"the states of {name!r} must differ and not be empty.", start)
        return tuple(states)

    def parents(self, name: str, places: dict[str, int]) -> tuple[int, ...]:
        start, held = self.nodes[name]
        above = _items(held, "parents")
        for parent in above:
            if parent not in places:
                self.fault(f"the parent {parent[:40]!r} of {name!r} is not in the file.", held["parents"].at)
        if len({*above, name}) <= len(above):
            self.fault(f"a parent of {name!r} appears twice.", start)
        return tuple(places[parent] for parent in above)

    def table(
        self, name: str, i: int, above: tuple[int, ...], states: list[tuple[str, ...]], aliases: dict[str, str]
    ) -> Any:
        start, held = self.nodes[name]
        shape = (*(len(states[p]) for p in above), len(states[i]))
        if not states[i]:
            return self.equation(name, held, aliases)
        if 0 in shape:
            self.fault(f"{name!r} is discrete and has a real parent.", start)
        if "probs" in held:
            return checked_rows(self.source, held["probs"].at, name, self.rows(name, held, states[i]), shape,
                                self.normalize)  # fmt: skip
        if "functable" in held:
            return self.function_table(name, held["functable"], shape, states[i])
        if "equation" in held:
            return self.formula(name, held["equation"])
        self.fault(f"{name!r} has neither probs nor functable nor an equation that can be read.", start)

    def rows(self, name: str, held: dict[str, _Value], states: tuple[str, ...]) -> Any:
        probs = held["probs"]
        words: list[str] = []
        for word in probs.items:
            if word.startswith("#"):
                words += ["1" if k == self.numbered(word, states, probs.at) else "0" for k in range(len(states))]
            else:
                words.append("0" if word == "@imposs" else word)
        if "@undef" in words or "*" in words:
            self.fault(f"the table of {name!r} has rows that were never given (@undef).", probs.at)
        return numbers(self.source, " ".join(words), probs.at, verbatim=False)

    def numbered(self, word: str, states: tuple[str, ...], at: int) -> int:
        if not re.fullmatch(r"#[0-9]{1,6}", word) or int(word[1:]) >= len(states):
            self.fault(f"{word[:20]!r} is not the number of a state.", at)
        return int(word[1:])

    def function_table(self, name: str, table: _Value, shape: tuple[int, ...], states: tuple[str, ...]) -> Any:
        places = {state: k for k, state in enumerate(states)}
        chosen = []
        for word in table.items:
            if word.startswith("#"):
                chosen.append(self.numbered(word, states, table.at))
            elif word in places:
                chosen.append(places[word])
            else:
                self.fault(f"{word[:40]!r} is not a state of {name!r}.", table.at)
        rows = np.zeros((len(chosen), len(states)))
        rows[np.arange(len(chosen)), chosen] = 1.0
        return checked_rows(self.source, table.at, name, rows.reshape(-1), shape, False)

    def formula(self, name: str, value: _Value) -> Table:
        text = _body(value)
        if text is None or " ".join(value.items).lstrip().startswith(("p ", "p(")):
            self.fault(f"the equation of {name!r} must have the form '{name} (parents) = …'.", value.at)
        try:
            return Table.of(text)
        except ExpressionError as error:
            self.fault(f"{name!r}: {error}", value.at)

    def equation(self, name: str, held: dict[str, _Value], aliases: dict[str, str]) -> Equation:
        if "equation" not in held:
            self.fault(f"{name!r} is continuous and has neither levels nor an equation.", self.nodes[name][0])
        value = held["equation"]
        text = _body(value)
        if text is None:
            self.fault(f"the equation of {name!r} must have the form 'p ({name} | parents) = …'.", value.at)
        # NormalDist(x, mean, sd) is the density of x itself, which the formula need not know.
        text = re.sub(rf"\bNormalDist\s*\(\s*{re.escape(name)}\s*,", "Normal(", text)
        try:
            return Equation(text, aliases={name: full for name, full in aliases.items() if name != full})
        except ExpressionError as error:
            self.fault(f"{name!r}: {error}", value.at)

    def properties(self, name: str, full: str) -> dict[str, str]:
        held = self.nodes[name][1]
        out = {key: " ".join(held[key].items) for key in ("comment",) if key in held}
        if "title" in held and " ".join(held["title"].items) not in (name, full):
            out["label"] = " ".join(held["title"].items)
        if len(_items(held, "visual.center")) == 2:
            out["position"] = " ".join(_items(held, "visual.center"))
        for key in ("levels", "equation", "evidence"):
            if key in held:
                out[key] = " ".join(held[key].items)
        return out


def _items(held: dict[str, _Value], key: str) -> list[str]:
    return held[key].items if key in held else []


def _body(value: _Value) -> str | None:
    """Return the right side of an equation."""
    text = " ".join(value.items)
    match = _HEADER.match(text)
    return text[match.end() :] if match else None


def _unescaped(text: str, quoted: bool) -> str:
    if not quoted or "\\" not in text:
        return text
    signs = {"n": "\n", "t": "\t", "\n": ""}
    return re.sub(r"\\(.)", lambda match: signs.get(match.group(1), match.group(1)), text, flags=re.DOTALL)


def _intervals(levels: list[str]) -> list[str]:
    words = [{"INFINITY": "inf", "-INFINITY": "-inf"}.get(level, level) for level in levels]
    return [f"< {b}" if a == "-inf" else f">= {a}" if b == "inf" else f"{a} to {b}" for a, b in pairwise(words)]


class Netica(NetworkFormat):
    """Netica's DNE."""

    name = "dne"
    extensions = (".dne", ".dnet")

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read DNE; decisions, utilities and rows that were never given are refused by name."""
        reader = _Reader(source, normalize)
        reader.read()
        return reader.parts()

    def write(self, net: BayesianNetwork) -> str:
        """Write DNE; names that Netica cannot hold are written beside plain ones."""
        plain = plain_names(net.names, _LONGEST)
        label = plain_names([net.properties.get("", {}).get("label", "unnamed")], _LONGEST)[0]
        lines = ["// ~->[DNET-1]->~", f"bnet {label} {{"]
        about = net.properties.get("", {})
        lines += [f"{key} = {_quoted(about[key])};" for key in ("title", "comment") if about.get(key)]
        words = [plain_names(states, _LONGEST) for states in net.states]
        for i, name in enumerate(net.names):
            said = net.properties.get(name, {})
            lines += [f"node {plain[i]} {{", "\tkind = NATURE;", "\tdiscrete = TRUE;", "\tchance = CHANCE;"]
            lines.append(f"\tstates = ({', '.join(words[i])});")
            lines.append(f"\tparents = ({', '.join(plain[p] for p in net.parents[i])});")
            lines.append(f"\tprobs = {_nested(net.tables[i].tolist())};")
            label = said.get("label", name if plain[i] != name else "")
            lines += [f"\ttitle = {_quoted(label)};"] if label else []
            lines += [f"\tcomment = {_quoted(said['comment'])};"] if said.get("comment") else []
            if re.fullmatch(r"-?[0-9.]{1,12} -?[0-9.]{1,12}", said.get("position", "")):
                lines.append(f"\tvisual V1 {{ center = ({said['position'].replace(' ', ', ')}); }};")
            lines.append("\t};")
        lines.append("};")
        return "\n".join([*lines, *names_line("//", net.names, net.states, plain, words)]) + "\n"


def _nested(table: list[Any]) -> str:
    if table and isinstance(table[0], list):
        return "(" + ",\n\t\t".join(map(_nested, table)) + ")"
    return "(" + ", ".join(map(repr, table)) + ")"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
