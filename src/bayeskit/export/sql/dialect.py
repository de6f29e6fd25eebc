"""What differs between databases: the syntax of names, texts, numbers and lists, and the lookup in a list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from bayeskit.export.target import writable

# How many arguments greatest() is given at the most; SQLite refuses more than 100.
_MOST_ARGUMENTS = 100
# How many values a condition lists; of longer lists DuckDB makes a join each, which takes seconds where there are many.
_MOST_LISTED = 8


# Each dialect by its name: a subclass that has one is listed when it is defined.
DIALECTS: dict[str, type[Dialect]] = {}


class Dialect(ABC):
    """How one database writes what a model needs. Expressions are texts; positions in a list start at 1."""

    name: ClassVar[str]
    # What a list may cost: tables are looked up as one where the table of both has no more numbers than this.
    merged_numbers: ClassVar[int] = 2048
    # How many cells the sums over missing parents may have; more would take a row tens of milliseconds.
    most_cells: ClassVar[int] = 100_000
    # The most columns that a query may have at a time.
    most_columns: ClassVar[int] = 100_000
    # The most tests of a tree in one expression.
    most_depth: ClassVar[int] = 1000
    # What keeps the planner from writing an expression out again at each of its uses.
    materialised: ClassVar[str] = ""
    fence: ClassVar[str] = ""
    # Whether "a" and "A" are two columns, and how many bytes of a name count.
    case_matters: ClassVar[bool] = False
    longest_name: ClassVar[int] = 1 << 16

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            DIALECTS[cls.name] = cls

    def warn_of_length(self, query: str) -> None:  # noqa: B027  # most databases take queries of any length
        """Warn of a query that is known to be too long for the database."""

    def identifier(self, name: str) -> str:
        """Return a quoted name."""
        return '"' + writable(name, "a name").replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """Return a text literal."""
        return "'" + writable(value, "a value").replace("'", "''") + "'"

    @property
    def false(self) -> str:
        """The condition that never holds."""
        return "1 = 0"

    def truth(self, value: bool) -> str:
        """Return a truth value."""
        return "TRUE" if value else "FALSE"

    def number(self, value: float) -> str:
        """Return a literal of double precision, in parentheses where it has a sign."""
        literal = self._number(float(value))
        return f"({literal})" if literal.startswith("-") else literal

    @abstractmethod
    def _number(self, value: float) -> str: ...

    @abstractmethod
    def as_text(self, column: str) -> str:
        """Return the cells as text that is compared byte by byte."""

    @abstractmethod
    def as_number(self, column: str, *, truth: bool = False, written: bool = False) -> str:
        """Return the cells in double precision, NULL where they are NaN.

        ``truth`` says that they may be truth values, ``written`` that they are texts as in a CSV file.
        """

    def trimmed(self, text: str, characters: str) -> str:
        """Return a text without these characters at its ends."""
        return f"trim({text}, {self.text(characters)})"

    def not_a_number(self, column: str, *, truth: bool = False, written: bool = False) -> str | None:
        """Return the condition for cells that are not numbers; None where the cast fails on them."""
        return None

    @abstractmethod
    def not_a_text(self, column: str) -> str:
        """Return the condition for cells that are numbers, truth values or dates where the model has texts."""

    def source(self, parts: Sequence[str], missing: Sequence[str]) -> tuple[str, bool]:
        """Return the table that is read, and whether it holds texts alone, with these words for a missing cell."""
        return ".".join(map(self.identifier, parts)), False

    @abstractmethod
    def numbers(self, values: Sequence[float]) -> str:
        """Return a constant list of numbers."""

    @abstractmethod
    def integers(self, values: Sequence[int]) -> str:
        """Return a constant list of whole numbers."""

    @abstractmethod
    def list_of(self, items: Sequence[str]) -> str:
        """Return a list of expressions of double precision, or of whole numbers."""

    @abstractmethod
    def tabulate(self, n: int, item: str) -> str:
        """Return the list of an expression of ``i`` for i = 0, 1, …, n − 1."""

    @abstractmethod
    def log_sums(self, n_sums: int, n_terms: int, term: str) -> str:
        r"""Return the list of :math:`\log \sum_v \exp(\mathrm{term}(i, v))` for i = 0, 1, …, n_sums − 1.

        The term is an expression of ``i`` and ``v`` = 0, 1, …, n_terms − 1. Shifted by the largest term, exp() cannot
        overflow and one term is 1.
        """

    def quotient(self, whole: str, divisor: int) -> str:
        """Return the whole part of a division of whole numbers."""
        return f"({whole} / {divisor})"

    def place(self, codes: Sequence[str], sizes: Sequence[int]) -> str:
        """Return the place of several codes, from 0, in a flat table of so many codes each; places are from 1."""
        place = codes[0]
        for code, size in zip(codes[1:], sizes[1:], strict=True):
            place = f"({place} * {size} + {code})"
        return f"{place} + 1"

    @abstractmethod
    def item(self, vector: str, position: str) -> str:
        """Return one number of a list; NULL where the position is NULL."""

    def lookup(self, values: Sequence[float], position: str) -> str:
        """Return one of several constant numbers; NULL where the position is NULL."""
        return self.item(self.numbers(values), position)

    def whole(self, values: Sequence[int], position: str) -> str:
        """Return one of several constant whole numbers; NULL where the position is NULL."""
        return self.item(self.integers(values), position)

    @abstractmethod
    def position(self, literals: Sequence[str], cell: str) -> str:
        """Return the place of a cell among text or number literals; 0 where it is not there, or is NULL."""

    def is_one_of(self, code: str, places: Sequence[int]) -> str:
        """Return the condition that a code, from 0, is one of several."""
        if len(places) <= _MOST_LISTED:
            return f"{code} IN ({', '.join(map(str, places))})"
        listed = set(places)
        marks = "".join("1" if place in listed else "0" for place in range(max(places) + 1))
        return f"substr('{marks}', {code} + 1, 1) = '1'"

    def exponential(self, exponent: str) -> str:
        """Return exp() of a number of at most 0."""
        return f"exp({exponent})"

    def greatest(self, items: Sequence[str]) -> str:
        """Return the greatest of several numbers."""
        if len(items) == 1:
            return items[0]
        if len(items) > _MOST_ARGUMENTS:
            parts = [items[i : i + _MOST_ARGUMENTS] for i in range(0, len(items), _MOST_ARGUMENTS)]
            return self.greatest([self.greatest(part) for part in parts])
        return f"{self._greatest}({', '.join(items)})"

    _greatest: ClassVar[str] = "greatest"
    least: ClassVar[str] = "least"


class RecordDialect(Dialect):
    """A database with records: a row is looked up once for all classes, and what few rows need is one column.

    Both pay where each expression is computed for many rows at a time.
    """

    @abstractmethod
    def record(self, columns: Mapping[str, str]) -> str:
        """Return a record of named expressions."""

    @abstractmethod
    def records(self, columns: Sequence[Sequence[float]]) -> str:
        """Return a constant list of records, given by their columns."""

    @abstractmethod
    def member(self, record: str, place: int) -> str:
        """Return one number of a record of ``records``, by its place from 0."""


class PairLists(ABC):
    """A database with lists of pairs, each a whole number and a share.

    Such a list is a row's walk through trees. Where expressions are computed row by row, so that branches which a row
    does not take cost nothing, a tree is one expression instead.
    """

    @abstractmethod
    def pairs(self, items: Sequence[tuple[int, float]]) -> str:
        """Return a constant list of pairs."""

    @abstractmethod
    def pair(self, whole: str, share: str) -> str:
        """Return a list of one pair."""

    @abstractmethod
    def children(self, first: str, n: str, share: str, part: Callable[[str], str]) -> str:
        """Return the pairs of ``n`` whole numbers from ``first``, each with its ``part`` of a share."""

    @abstractmethod
    def spread(self, pairs: str, becomes: Callable[[str, str], str]) -> str:
        """Return the list in which each pair became a list of pairs."""

    @abstractmethod
    def sum_of_pairs(self, pairs: str, term: Callable[[str, str], str]) -> str:
        """Return the sum of an expression of each pair."""
