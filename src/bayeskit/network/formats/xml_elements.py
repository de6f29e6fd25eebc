"""XML as a tree of elements, read by expat with everything that a network does not need switched off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from bayeskit.network.formats.network_parts import FileText

# Elements in elements; submodels in submodels of GeNIe go deepest.
MAX_DEPTH = 40


@dataclass
class Element:
    """An element with its place in the text, its attributes, the text in it and the elements in it."""

    at: int
    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, *names: str) -> list[Element]:
        """Return the elements of these names right in this one."""
        return [child for child in self.children if child.name in names]

    def one(self, source: FileText, name: str) -> Element:
        """Return the one element of this name; none or several are a fault."""
        items = self.all(name)
        if len(items) != 1:
            source.fault(self.at, f"expected one {name} here, found {len(items)}.")
        return items[0]

    def texts(self, *names: str) -> list[str]:
        """Return the texts of the elements of these names."""
        return [child.text.strip() for child in self.all(*names)]

    def walk(self) -> Iterator[Element]:
        """Yield the elements in this one, at any depth; depth is bounded when they are read."""
        for child in self.children:
            yield child
            yield from child.walk()


class _Reader:
    def __init__(self, source: FileText, inside: Mapping[str, set[str]] | None) -> None:
        self.source, self.inside = source, inside
        self.data = source.text.encode()
        self.root = Element(0, "", {})
        self._stack = [self.root]
        self._text: list[list[str]] = [[]]
        self._bytes, self._characters = 0, 0  # how far the text has been measured
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close
        self._parser.CharacterDataHandler = lambda text: self._text[-1].append(text)
        # An entity can make a small file large, so none is declared, neither here nor in another file.
        self._parser.EntityDeclHandler = self._entity
        self._parser.ExternalEntityRefHandler = None

    def read(self) -> Element:
        try:
            self._parser.Parse(self.data, True)
        except expat.ExpatError as error:
            place = self._offset(error.lineno, error.offset)
            self.source.fault(place, f"the XML is broken: {expat.errors.messages[error.code]}.")
        return self.root

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
        above = self._stack[-1]
        if self.inside is not None and name not in self.inside.get(above.name, set()):
            self._fault(f"the element {name[:40]!r} is not allowed in {above.name or 'the file'}.")
        if len(self._stack) > MAX_DEPTH:
            self._fault(f"elements are nested more than {MAX_DEPTH} deep.")
        element = Element(self._here(), name, attributes)
        above.children.append(element)
        self._stack.append(element)
        self._text.append([])

    def _close(self, name: str) -> None:
        self._stack.pop().text = "".join(self._text.pop())


def read_elements(source: FileText, inside: Mapping[str, set[str]] | None = None) -> Element:
    """Return the tree of a file; its root has no name and holds the first element.

    Parameters
    ----------
    source : FileText
    inside : mapping of element to the names that may stand in it, optional
        Anything else is a fault; "" is the file itself. Without it every element is read.
    """
    return _Reader(source, inside).read()


def escaped(text: str) -> str:
    """Return text as it stands in XML, also in an attribute."""
    from xml.sax.saxutils import escape  # which brings urllib.request with it

    return escape(text, {'"': "&quot;"})
