"""UAI: numbers only, as the inference competitions use it; our names stand in comments after them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.formats.parts import Parts, Source, checked_rows
from bayeskit.network.formats.scan import numbers

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_COMMENT = re.compile(r"#[^\n]*")
_PIECE = re.compile(r"\S+")
_WHOLE = re.compile(r"[0-9]{1,9}")
# One line a variable: its name, then its states.
_OURS = re.compile(r"^# bayeskit: (.*)$", re.MULTILINE)
# pyAgrum ends the line of each scope with the variable's name, and writes tables in which the first parent changes
# fastest, where the format has the last (seen in 3.3.1, which reads them in the same way).
_PYAGRUM_SCOPE = re.compile(r"^[ \t]*\d+(?:[ \t]+\d+)+[ \t]*#[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


class _Pieces:
    """The whole numbers of the file, one after the other; tables are jumped over."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = _COMMENT.sub(lambda found: " " * len(found.group()), source.text)
        self.at = 0

    def fault(self, at: int, message: str) -> NoReturn:
        self.source.fault(at, message)

    def take(self, what: str) -> tuple[int, str]:
        found = _PIECE.search(self.text, self.at)
        if not found:
            self.fault(len(self.text), f"expected {what}, found the end of the file.")
        self.at = found.end()
        return found.start(), found.group()

    def whole(self, what: str, low: int, high: int) -> int:
        """Return the next piece as a whole number in low … high."""
        at, piece = self.take(what)
        if not _WHOLE.fullmatch(piece) or not low <= int(piece) <= high:
            span = f"from {low} to {high}" if low < high else str(low)
            self.fault(at, f"expected {what} {span}, found {piece[:40]!r}.")
        return int(piece)

    def numbers(self, n: int) -> NDArray[np.float64]:
        """Return the next n numbers."""
        found = re.compile(rf"\s*+(?:\S++\s++){{{n - 1}}}\S++").match(self.text, self.at) if n < 1 << 31 else None
        if not found:
            self.fault(self.at, f"expected {n} numbers, found fewer up to the end of the file.")
        start, self.at = self.at, found.end()
        return numbers(self.source, self.text[start : self.at], start)


def read(source: Source, normalise: bool) -> Parts:
    """Read a Bayesian network in UAI, standard or as pyAgrum writes it."""
    pieces = _Pieces(source)
    at, word = pieces.take("BAYES")
    if word != "BAYES":
        pieces.fault(at, f"a Bayesian network in UAI starts with BAYES; found {word[:40]!r}.")
    limit = len(source.text)  # a file of n characters has at most n numbers
    n = pieces.whole("the number of variables", 1, limit)
    cards = [pieces.whole("a number of states", 1, limit) for _ in range(n)]
    pieces.whole("the number of tables, one a variable:", n, n)
    scopes = [_scope(pieces, n) for _ in range(n)]
    comments = [found.group(1) for found in _PYAGRUM_SCOPE.finditer(source.text)]
    from_pyagrum = len(comments) == n
    own = {scope[-1]: comment for scope, comment in zip(scopes, comments, strict=False)} if from_pyagrum else {}
    names, states = _names(source, cards, own)
    parents: dict[int, tuple[int, ...]] = {}
    tables: dict[int, NDArray[np.float64]] = {}
    places: dict[int, int] = {}
    for *above, child in scopes:
        place = pieces.at
        if child in tables:
            pieces.fault(place, f"variable {names[child]!r} has two tables: it comes last in two scopes.")
        values = pieces.numbers(pieces.whole("the number of the table's numbers", 1, limit))
        shape = (*(cards[p] for p in above), cards[child])
        turned = (*(cards[p] for p in reversed(above)), cards[child]) if from_pyagrum else shape
        table = checked_rows(source, place, names[child], values, turned, normalise)
        if from_pyagrum:
            table = np.ascontiguousarray(table.transpose([*reversed(range(len(above))), len(above)]))
        parents[child], tables[child], places[child] = tuple(above), table, place
    if left := _PIECE.search(pieces.text, pieces.at):
        pieces.fault(left.start(), f"expected the end of the file, found {left.group()[:40]!r}.")
    order = range(n)
    return Parts(names, states, [parents[i] for i in order], [tables[i] for i in order], [places[i] for i in order])


def _scope(pieces: _Pieces, n: int) -> list[int]:
    size = pieces.whole("the number of variables in a scope", 1, n)
    place = pieces.at
    scope = [pieces.whole("a variable", 0, n - 1) for _ in range(size)]
    if len(set(scope)) < size:
        pieces.fault(place, "a variable is there twice in the scope.")
    return scope


def _names(source: Source, cards: list[int], own: dict[int, str]) -> tuple[list[str], list[tuple[str, ...]]]:
    names = [own.get(i, f"x{i}") for i in range(len(cards))]
    states = [tuple(map(str, range(card))) for card in cards]
    lines = list(_OURS.finditer(source.text))
    if lines and len(lines) != len(cards):
        source.fault(lines[0].start(), f"the file names {len(lines)} variables and has {len(cards)}.")
    for i, line in enumerate(lines):
        try:
            words = json.loads(line.group(1))
        except (ValueError, RecursionError):
            words = None
        good = isinstance(words, list) and all(isinstance(word, str) and word for word in words)
        if not good or len(words) != cards[i] + 1 or len(set(words[1:])) < cards[i]:
            source.fault(line.start(1), f"expected the name and the {cards[i]} states of a variable as a JSON list.")
        names[i], states[i] = words[0], tuple(words[1:])
    if len(set(names)) < len(names):
        place = lines[0].start() if lines else 0
        source.fault(place, "two variables have the same name.")
    return names, states


def write(net: BayesianNetwork) -> str:
    """Write UAI; the last variable of a scope is the child and changes fastest."""
    n = len(net.names)
    lines = ["BAYES", str(n), " ".join(map(str, net.cards)), str(n)]
    for i, above in enumerate(net.parents):
        lines.append(" ".join(map(str, (len(above) + 1, *above, i))))
    for table in net.tables:
        lines += ["", str(table.size)]
        lines += [" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist()]
    lines += [
        "",
        *(
            f"# bayeskit: {json.dumps([name, *own], ensure_ascii=False)}"
            for name, own in zip(net.names, net.states, strict=True)
        ),
    ]
    return "\n".join(lines) + "\n"
