"""XMLBIF 0.3, read by expat with everything that a table of numbers does not need switched off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.formats.lexer import numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import FileText, Parts, checked_rows

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# The elements that may stand in each element.
_INSIDE = {
    "": {"BIF"},
    "BIF": {"NETWORK"},
    "NETWORK": {"NAME", "PROPERTY", "VARIABLE", "DEFINITION"},
    "VARIABLE": {"NAME", "OUTCOME", "VALUE", "PROPERTY"},
    "DEFINITION": {"FOR", "GIVEN", "TABLE", "PROPERTY"},
}


class _Item(NamedTuple):
    at: int
    text: str


class _Block(NamedTuple):
    at: int
    items: dict[str, list[_Item]]

    def texts(self, *names: str) -> list[_Item]:
        return [item for name in names for item in self.items.get(name, [])]


class _Reader:
    def __init__(self, source: FileText) -> None:
        self.source = source
        self.data = source.text.encode()
        self.variables: list[_Block] = []
        self.definitions: list[_Block] = []
        self._stack: list[str] = [""]
        self._text: list[str] = []
        self._start = 0
        self._bytes, self._characters = 0, 0  # how far the text has been measured
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = self._text.append
        # An entity can make a small file large, so none is declared, neither here nor in another file.
        self._parser.EntityDeclHandler = self._entity
        self._parser.ExternalEntityRefHandler = None

    def read(self) -> None:
        try:
            self._parser.Parse(self.data, True)
        except expat.ExpatError as error:
            place = self._offset(error.lineno, error.offset)
            self.source.fault(place, f"the XML is broken: {expat.errors.messages[error.code]}.")

    def _offset(self, line: int, column: int) -> int:
        at = 0
        for _ in range(line - 1):
            at = self.source.text.find("\n", at) + 1
        return min(at + column, len(self.source.text))

    def _here(self) -> int:
        at = self._parser.CurrentByteIndex
        self._characters += len(self.data[self._bytes : at].decode("utf-8", "ignore"))
        self._bytes = at
        return self._characters

    def _fault(self, message: str) -> NoReturn:
        self.source.fault(self._here(), message)

    def _entity(self, *_: object) -> NoReturn:
        self._fault("a network file declares no entities; this one is not read.")

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        inside = _INSIDE.get(self._stack[-1], set())
        if name not in inside:
            self._fault(f"the element {name[:40]!r} is not allowed in {self._stack[-1] or 'the file'}.")
        if name == "VARIABLE" and attributes.get("TYPE", "nature") != "nature":
            self._fault(f"only variables of type 'nature' can be read, found {attributes['TYPE'][:40]!r}.")
        self._stack.append(name)
        self._text.clear()
        if name in ("VARIABLE", "DEFINITION"):
            blocks = self.variables if name == "VARIABLE" else self.definitions
            blocks.append(_Block(self._here(), {}))
        elif self._stack[-2] in ("VARIABLE", "DEFINITION"):
            self._start = self._here()

    def _close(self, name: str) -> None:
        self._stack.pop()
        if self._stack[-1] in ("VARIABLE", "DEFINITION"):
            block = (self.variables if self._stack[-1] == "VARIABLE" else self.definitions)[-1]
            block.items.setdefault(name, []).append(_Item(self._start, "".join(self._text)))
        self._text.clear()


class XMLBIF(NetworkFormat):
    """XMLBIF 0.3."""

    name = "xmlbif"
    extensions = (".xmlbif", ".bifxml", ".xml")

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read XMLBIF; the child's states change fastest in a table."""
        reader = _Reader(source)
        reader.read()
        states = _read_states(source, reader.variables)
        places = {name: i for i, name in enumerate(states)}
        families = _read_families(source, reader.definitions, places)
        cards = [len(outcomes) for outcomes in states.values()]
        tables = []
        for name, i in places.items():
            if i not in families:
                source.fault(reader.variables[i].at, f"variable {name!r} has no definition.")
            block, above = families[i]
            table = _single(source, block, "TABLE")
            shape = (*(cards[p] for p in above), cards[i])
            tables.append(checked_rows(source, table.at, name, _numbers(source, table), shape, normalize))
        ordered = [families[i] for i in range(len(places))]
        parents, starts = [above for _, above in ordered], [block.at for block, _ in ordered]
        return Parts(list(places), list(states.values()), parents, tables, starts)

    def write(self, net: BayesianNetwork) -> str:
        """Write XMLBIF."""
        # No document type declaration: it is optional, and the XML parser of pyAgrum stumbles over one.
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>unknown</NAME>"]
        for name, names in zip(net.names, net.states, strict=True):
            outcomes = "".join(f"<OUTCOME>{_text(state)}</OUTCOME>" for state in names)
            lines.append(f'<VARIABLE TYPE="nature"><NAME>{_text(name)}</NAME>{outcomes}</VARIABLE>')
        for name, above, table in zip(net.names, net.parents, net.tables, strict=True):
            given = "".join(f"<GIVEN>{_text(net.names[p])}</GIVEN>" for p in above)
            rows = "\n".join(" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist())
            lines.append(f"<DEFINITION><FOR>{_text(name)}</FOR>{given}<TABLE>\n{rows}\n</TABLE></DEFINITION>")
        return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _read_states(source: FileText, blocks: list[_Block]) -> dict[str, tuple[str, ...]]:
    states: dict[str, tuple[str, ...]] = {}
    for block in blocks:
        name = _single(source, block, "NAME").text.strip()
        if name in states or not name:
            source.fault(block.at, f"variable {name!r} appears twice or has no name.")
        outcomes = [item.text.strip() for item in block.texts("OUTCOME", "VALUE")]
        if not outcomes or len(set(outcomes)) < len(outcomes) or "" in outcomes:
            source.fault(
                block.at, f"variable {name!r} needs outcomes that differ and are not empty; got {outcomes[:8]!r}."
            )
        states[name] = tuple(outcomes)
    return states


def _read_families(
    source: FileText, blocks: list[_Block], places: dict[str, int]
) -> dict[int, tuple[_Block, tuple[int, ...]]]:
    families: dict[int, tuple[_Block, tuple[int, ...]]] = {}
    for block in blocks:
        child = _place(source, places, _single(source, block, "FOR"))
        above = tuple(_place(source, places, item) for item in block.texts("GIVEN"))
        if child in families:
            source.fault(block.at, "the variable has two definitions.")
        if len({child, *above}) < len(above) + 1:
            source.fault(block.at, "a variable appears twice in the definition.")
        families[child] = block, above
    return families


def _numbers(source: FileText, table: _Item) -> NDArray[np.float64]:
    # Comments and references may stand in the text, so a fault in it is placed at the element.
    start = source.text.find(">", table.at) + 1
    if source.text.startswith(table.text, start):
        return numbers(source, table.text, start)
    return numbers(source, table.text, table.at, verbatim=False)


def _single(source: FileText, block: _Block, name: str) -> _Item:
    items = block.texts(name)
    if len(items) != 1:
        source.fault(block.at, f"expected one {name} here, found {len(items)}.")
    return items[0]


def _place(source: FileText, places: dict[str, int], item: _Item) -> int:
    name = item.text.strip()
    if name not in places:
        source.fault(item.at, f"variable {name[:40]!r} is not in the file.")
    return places[name]


def _text(name: str) -> str:
    from xml.sax.saxutils import escape  # which brings urllib.request with it

    return escape(name, {'"': "&quot;"})
