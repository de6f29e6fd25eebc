"""Conjunctions of constraints, one per attribute, and the space of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import ANY, EMPTY, Attribute, Codes, Range, Values
from bayeskit.errors import BayeskitError, TableError
from bayeskit.result import Result
from bayeskit.table.column import Coded, Column
from bayeskit.table.names import not_found
from bayeskit.table.read import Source


@dataclass(frozen=True)
class ConjunctionSpace:
    """All conjunctions over some attributes: one constraint for each, or ∅, which covers nothing.

    Examples
    --------
    >>> from bayeskit.concept import Values
    >>> space = ConjunctionSpace({"sky": Values(["sunny", "rainy"]), "wind": Values(["weak", "strong"])})
    >>> space.size
    10
    >>> space("sunny", "?")
    ⟨sunny, ?⟩
    """

    attributes: Mapping[str, Attribute]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise BayeskitError("a space of conjunctions needs at least one attribute.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(self.attributes)

    @cached_property
    def parts(self) -> tuple[Attribute, ...]:
        """The attributes in order."""
        return tuple(self.attributes.values())

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of constraints of each attribute, ? included."""
        return tuple(part.n_constraints for part in self.parts)

    @property
    def size(self) -> int:
        """The number of hypotheses that differ in what they cover: ∏ constraints, and ∅."""
        return prod(self.shape) + 1

    def __call__(self, *constraints: Any) -> Conjunction:
        """Return the conjunction of some constraints as a user writes them, one per attribute."""
        if len(constraints) != len(self.parts):
            raise BayeskitError(f"give one constraint for each of {', '.join(self.names)}; got {len(constraints)}.")
        return Conjunction(self, tuple(p.parse(c) for p, c in zip(self.parts, constraints, strict=True)))

    @property
    def most_general(self) -> Conjunction:
        """⟨?, …, ?⟩, which covers everything."""
        return Conjunction(self, (ANY,) * len(self.parts))

    @property
    def most_specific(self) -> Conjunction:
        """⟨∅, …, ∅⟩, which covers nothing."""
        return Conjunction(self, (EMPTY,) * len(self.parts))

    def conjunction(self, number: int) -> Conjunction:
        """Return a hypothesis by its number: the last attribute varies fastest, and ∅ comes last."""
        if not 0 <= number < self.size:
            raise BayeskitError(f"the hypotheses are numbered from 0 to {self.size - 1}; got {number}.")
        if number == self.size - 1:
            return self.most_specific
        digits: list[int] = []
        for n in reversed(self.shape):  # whole numbers of any size, which NumPy's unravel_index has not
            number, digit = divmod(number, n)
            digits.append(digit)
        return Conjunction(self, tuple(reversed(digits)))

    def __iter__(self) -> Iterator[Conjunction]:
        return (self.conjunction(number) for number in range(self.size))

    def encode(self, source: Source) -> Codes:
        """Return the codes of a table's cells, shape (n_rows, n_attributes); an unknown value is refused by name."""
        columns = [
            part.codes(plain_cells(source.column(source.names.index(name))), name)
            for name, part in self.attributes.items()
        ]
        return np.stack(columns, axis=1)

    def covers(self, constraints: Codes, cells: Codes) -> NDArray[np.bool_]:
        """Return which hypotheses cover which rows; (…, d) and (…, d) are broadcast over all but the last axis."""
        covered: NDArray[np.bool_] = np.ones((), dtype=bool)
        for j, part in enumerate(self.parts):
            covered = covered & part.covers(constraints[..., j], cells[..., j])
        return np.asarray(covered & (constraints[..., 0] != EMPTY))


@dataclass(frozen=True)
class Conjunction(Result):
    """A hypothesis: a row belongs to the concept when it satisfies the constraint of every attribute.

    ``a >= b`` says that a is more general than b or equal: it covers every row that b covers.

    Examples
    --------
    >>> from bayeskit.concept import Values
    >>> space = ConjunctionSpace({"sky": Values(["sunny", "rainy"]), "wind": Values(["weak", "strong"])})
    >>> space("sunny", "?") >= space("sunny", "weak"), space("sunny", "?") >= space("?", "weak")
    (True, False)
    >>> space("sunny", "?").covers({"sky": "sunny", "wind": "strong"})
    True
    """

    space: ConjunctionSpace
    constraints: tuple[int, ...]

    @property
    def is_empty(self) -> bool:
        """True for ∅, which covers nothing."""
        return EMPTY in self.constraints

    @property
    def labels(self) -> tuple[str, ...]:
        """The constraints as text."""
        if self.is_empty:
            return ("∅",) * len(self.constraints)
        return tuple(p.label(c) for p, c in zip(self.space.parts, self.constraints, strict=True))

    def covers(self, row: Mapping[str, Any] | Sequence[Any]) -> bool:
        """Return whether a row, given by name or in order, belongs to the concept."""
        cells = [row.get(name) for name in self.space.names] if isinstance(row, Mapping) else list(row)
        if len(cells) != len(self.constraints):
            raise BayeskitError(f"a row has a cell for each of {', '.join(self.space.names)}; got {row!r}.")
        codes = [p.codes([c], n)[0] for p, c, n in zip(self.space.parts, cells, self.space.names, strict=True)]
        return bool(self.space.covers(np.array(self.constraints), np.array(codes)))

    def __ge__(self, other: Conjunction) -> bool:
        if other.is_empty:
            return True
        if self.is_empty:
            return False
        pairs = zip(self.space.parts, self.constraints, other.constraints, strict=True)
        return all(bool(part.at_least(mine, theirs)) for part, mine, theirs in pairs)

    def __gt__(self, other: Conjunction) -> bool:
        return self >= other and not other >= self

    def __le__(self, other: Conjunction) -> bool:
        return other >= self

    def __lt__(self, other: Conjunction) -> bool:
        return other > self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Conjunction) and self.constraints == other.constraints

    def __hash__(self) -> int:
        return hash(self.constraints)

    def __repr__(self) -> str:
        return f"⟨{', '.join(self.labels)}⟩"


# What a user may say of the columns: an attribute or a word by name, or one word for all.
Attributes = Mapping[str, Attribute | str] | str | None
KINDS = ("values", "range")
# A range over more levels would have more constraints than anybody wants to count.
_MOST_LEVELS = 1000


def learn_space(source: Source, given: Attributes) -> ConjunctionSpace:
    """Return the space over a table's columns: values for text, ranges for numbers, or the attributes given by name."""
    wanted = dict.fromkeys(source.names, given) if isinstance(given, str) else dict(given or {})
    for name, attribute in wanted.items():
        if name not in source.names:
            raise TableError(f"attributes: {not_found('column', name, source.names)}")
        if not isinstance(attribute, Attribute) and attribute not in KINDS:
            raise BayeskitError(
                f"attributes: {name!r} must be Values, Range, Hierarchy, 'values' or 'range'; got {attribute!r}."
            )
    return ConjunctionSpace(
        {name: _attribute(source.column(j), name, wanted.get(name)) for j, name in enumerate(source.names)}
    )


def _attribute(column: Column, name: str, wanted: Attribute | str | None) -> Attribute:
    if isinstance(wanted, Attribute):
        return wanted
    cells = set(plain_cells(column)) - {None}
    if not cells:
        raise TableError(f"column '{name}' has no value in any row; leave it out.")
    if isinstance(column, Coded) and wanted in (None, "values"):
        return Values(column.present())
    if wanted == "values" or any(isinstance(cell, bool) for cell in cells):
        return Values(sorted(cells))
    if wanted == "range" and any(isinstance(cell, str) for cell in cells):
        raise TableError(f"column '{name}' holds text, whose order is not known; pass Range(levels) in their order.")
    if len(cells) > _MOST_LEVELS:
        raise TableError(
            f"column '{name}' holds {len(cells)} different numbers, and ranges are kept over at most {_MOST_LEVELS}; "
            f"pass attributes={{'{name}': Range(levels)}} with fewer levels, or cut the numbers into bins."
        )
    return Range(sorted(cells))


def plain_cells(column: Column) -> list[Any]:
    """Return a column as plain values, None where a cell is missing."""
    missing = column.missing()
    if isinstance(column, Coded):
        return [None if gone else column.levels[k] for k, gone in zip(column.codes.tolist(), missing, strict=True)]
    return [None if gone else value for value, gone in zip(column.values.tolist(), missing, strict=True)]
