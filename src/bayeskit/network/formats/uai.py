"""UAI: numbers only, as the inference competitions use it; our names stand in comments after them."""

from __future__ import annotations

import json
import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TooLargeError
from bayeskit.network.cpd.table import MOST_AXES, TOLERANCE
from bayeskit.network.formats.lexer import numbers
from bayeskit.network.formats.network_format import NetworkFormat
from bayeskit.network.formats.network_parts import SPARE_NUMBERS, FileText, Parts, checked_rows, table_size
from bayeskit.network.markov import Factor, as_chain

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

_COMMENT = re.compile(r"#[^\n]*")
_PIECE = re.compile(r"\S+")
_WHOLE = re.compile(r"[0-9]{1,9}")
# One line per variable: its name, then its states.
_OURS = re.compile(r"^# bayeskit: (.*)$", re.MULTILINE)
# pyAgrum ends the line of each scope with the variable's name, and writes tables in which the first parent changes
# fastest, where the format has the last (seen in 3.3.1, which reads them in the same way).
_PYAGRUM_SCOPE = re.compile(r"^[ \t]*+\d++(?:[ \t]++\d++)++[ \t]*+#(.*)$", re.MULTILINE)


class _ReadTable(NamedTuple):
    """The scope of a table, where it stands, and its numbers."""

    scope: list[int]
    at: int
    values: NDArray[np.float64]


class _Pieces:
    """The whole numbers of the file, one after the other; tables are jumped over."""

    def __init__(self, source: FileText) -> None:
        self.source = source
        self.text = _COMMENT.sub(lambda comment: " " * len(comment.group()), source.text)
        self.limit = len(source.text)  # a file of n characters has at most n numbers
        self.at = 0

    def fault(self, at: int, message: str) -> NoReturn:
        self.source.fault(at, message)

    def take(self, what: str) -> tuple[int, str]:
        match = _PIECE.search(self.text, self.at)
        if not match:
            self.fault(len(self.text), f"expected {what}, found the end of the file.")
        self.at = match.end()
        return match.start(), match.group()

    def done(self) -> None:
        """Refuse what follows the last table."""
        if left := _PIECE.search(self.text, self.at):
            self.fault(left.start(), f"expected the end of the file, found {left.group()[:40]!r}.")

    def whole(self, what: str, low: int, high: int) -> int:
        """Return the next piece as a whole number in low … high."""
        at, piece = self.take(what)
        if not _WHOLE.fullmatch(piece) or not low <= int(piece) <= high:
            span = f"from {low} to {high}" if low < high else str(low)
            self.fault(at, f"expected {what} {span}, found {piece[:40]!r}.")
        return int(piece)

    def table(self) -> NDArray[np.float64]:
        """Return the next numbers, which begin with how many they are."""
        n = self.whole("the number of the table's numbers", 1, self.limit)
        match = re.compile(rf"\s*+(?:\S++\s++){{{n - 1}}}\S++").match(self.text, self.at) if n < 1 << 31 else None
        if not match:
            self.fault(self.at, f"expected {n} numbers, found fewer up to the end of the file.")
        start, self.at = self.at, match.end()
        return numbers(self.source, self.text[start : self.at], start)


class UAI(NetworkFormat):
    """UAI, with the names in comments of our own."""

    name = "uai"
    extensions = (".uai",)

    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read a network in UAI, standard or as pyAgrum or pgmpy writes it.

        A Markov network is read as the Bayesian network of the same joint distribution; the logarithm of its partition
        function is kept as a property.

        pgmpy writes tables in which the first variable of the scope changes fastest, where the format has the last. A
        file whose rows all sum to 1 is read as the format says; otherwise it is pgmpy's if they do so in that other
        order.
        """
        pieces = _Pieces(source)
        at, word = pieces.take("BAYES or MARKOV")
        if word == "MARKOV":
            return _markov(source, pieces)
        if word != "BAYES":
            pieces.fault(at, f"a network in UAI starts with BAYES or MARKOV; found {word[:40]!r}.")
        cards, scopes = _head(pieces)
        n = len(cards)
        comments = [comment.group(1).strip() for comment in _PYAGRUM_SCOPE.finditer(source.text)]
        from_pyagrum = len(comments) == n and all(comments)
        named = {scope[-1]: comment for scope, comment in zip(scopes, comments, strict=False)} if from_pyagrum else {}
        names, states = _names(source, cards, named)
        read = [_ReadTable(scope, pieces.at, pieces.table()) for scope in scopes]
        families: dict[int, _ReadTable] = {}
        for each in read:
            child = each.scope[-1]
            if child in families:
                pieces.fault(each.at, f"variable {names[child]!r} has two tables: it comes last in two scopes.")
            families[child] = each
        pieces.done()
        from_pgmpy = not from_pyagrum and _is_pgmpys(cards, read)
        ordered = [families[i] for i in range(n)]
        tables = [_table(source, names, cards, each, from_pgmpy, from_pyagrum, normalize) for each in ordered]
        parents, starts = [tuple(each.scope[:-1]) for each in ordered], [each.at for each in ordered]
        return Parts(names, states, parents, tables, starts)

    def write(self, net: BayesianNetwork) -> str:
        """Write UAI; the last variable of a scope is the child and changes fastest."""
        n = len(net.names)
        lines = ["BAYES", str(n), " ".join(map(str, net.cards)), str(n)]
        for i, above in enumerate(net.parents):
            lines.append(" ".join(map(str, (len(above) + 1, *above, i))))
        for table in net.tables:
            lines += ["", str(table.size)]
            lines += [" ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist()]
        lines.append("")
        for name, words in zip(net.names, net.states, strict=True):
            lines.append(f"# bayeskit: {json.dumps([name, *words], ensure_ascii=False)}")
        return "\n".join(lines) + "\n"


def _is_pgmpys(cards: list[int], tables: list[_ReadTable]) -> bool:
    """Return whether some table has rows that sum to 1 only with the child's states slowest, and all sum to 1 then."""
    if any(table.values.size % cards[table.scope[-1]] for table in tables):
        return False

    def fit(axis: int) -> bool:
        shapes = [(-1, cards[table.scope[-1]]) if axis else (cards[table.scope[-1]], -1) for table in tables]
        sums = (table.values.reshape(shape).sum(axis=axis) for table, shape in zip(tables, shapes, strict=True))
        return all(abs(total - 1.0).max() <= TOLERANCE for total in sums)

    return not fit(1) and fit(0)


def _table(
    source: FileText,
    names: list[str],
    cards: list[int],
    read: _ReadTable,
    from_pgmpy: bool,
    from_pyagrum: bool,
    normalize: bool,
) -> NDArray[np.float64]:
    """Return a table with one axis per parent, in order, whichever program wrote it."""
    *above, child = read.scope
    values, turned = read.values, from_pyagrum or from_pgmpy
    if from_pgmpy:
        values = np.ascontiguousarray(values.reshape(cards[child], -1).T).reshape(-1)
    shape = (*(cards[p] for p in (reversed(above) if turned else above)), cards[child])
    table = checked_rows(source, read.at, names[child], values, shape, normalize)
    return np.ascontiguousarray(table.transpose([*reversed(range(len(above))), len(above)])) if turned else table


def _markov(source: FileText, pieces: _Pieces) -> Parts:
    cards, scopes = _head(pieces, markov=True)
    names, states = _names(source, cards, {})
    factors = []
    for scope in scopes:
        at, values = pieces.at, pieces.table()
        shape = tuple(cards[v] for v in scope)
        if values.size != table_size(shape):
            pieces.fault(
                at, f"the table over {len(scope)} variables has {values.size} numbers and needs {prod(shape)}."
            )
        if len(shape) > MOST_AXES or not (np.isfinite(values) & (values >= 0)).all():
            pieces.fault(at, f"a factor has numbers of 0 or more over at most {MOST_AXES} variables.")
        factors.append(Factor(tuple(scope), values.reshape(shape)))
    pieces.done()
    try:
        chain = as_chain(cards, factors, SPARE_NUMBERS)
    except TooLargeError as error:
        pieces.fault(
            0, f"this Markov network cannot be answered exactly: {error}; at most {SPARE_NUMBERS:.1e} are made."
        )
    if not np.isfinite(chain.log_partition):
        pieces.fault(0, "the factors of this Markov network rule out every state.")
    said = {"": {"log_partition": repr(chain.log_partition)}}
    return Parts(names, states, chain.parents, chain.tables, [0] * len(names), said)


def _head(pieces: _Pieces, markov: bool = False) -> tuple[list[int], list[list[int]]]:
    """Return the number of states of each variable, and the scopes of the tables."""
    n = pieces.whole("the number of variables", 1, pieces.limit)
    cards = [pieces.whole("a number of states", 1, pieces.limit) for _ in range(n)]
    if sum(cards) > pieces.limit:  # each needs as many numbers in its table
        pieces.fault(pieces.at, f"the variables have {sum(cards)} states; the file is too short for their tables.")
    if markov:
        many = pieces.whole("the number of factors", 0, pieces.limit)
    else:
        many = pieces.whole("the number of tables, one per variable:", n, n)
    return cards, [_scope(pieces, n) for _ in range(many)]


def _scope(pieces: _Pieces, n: int) -> list[int]:
    size = pieces.whole("the number of variables in a scope", 1, n)
    place = pieces.at
    scope = [pieces.whole("a variable", 0, n - 1) for _ in range(size)]
    if len(set(scope)) < size:
        pieces.fault(place, "a variable appears twice in the scope.")
    return scope


def _names(source: FileText, cards: list[int], named: dict[int, str]) -> tuple[list[str], list[tuple[str, ...]]]:
    names = [named.get(i, f"x{i}") for i in range(len(cards))]
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
