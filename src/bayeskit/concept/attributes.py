"""Constraints on one attribute of a conjunction: a value, a range, a node of a hierarchy, or anything (?).

The constraints of an attribute are numbered; 0 is always ?, which every cell satisfies, also a missing one. One
constraint is at least as general as another when it covers all that the other covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, UnseenValueError
from bayeskit.table.names import nearest

ANY = 0
# In place of a constraint: none, which no cell meets. In place of a cell's code: the cell is missing.
EMPTY, MISSING = -1, -2

Codes = NDArray[np.int64]


class Attribute(ABC):
    """The constraints that a hypothesis may put on one column; arrays of codes are compared cell by cell."""

    n_constraints: int

    @abstractmethod
    def code(self, value: Any) -> int:
        """Return the code of a cell; refuse a value that the attribute does not have."""

    @abstractmethod
    def covers(self, constraint: Any, cell: Any) -> NDArray[np.bool_]:
        """Return whether cells satisfy constraints."""

    @abstractmethod
    def at_least(self, general: Any, specific: Any) -> NDArray[np.bool_]:
        """Return whether constraints cover everything that others cover."""

    @abstractmethod
    def join(self, constraint: int, cell: int) -> int:
        """Return the most specific constraint that covers a cell and everything that a constraint (or EMPTY) covers."""

    @abstractmethod
    def without(self, constraint: int, cell: int) -> list[int]:
        """Return the most general specialisations of a constraint that do not cover a cell."""

    @abstractmethod
    def label(self, constraint: int) -> str:
        """Return a constraint as text."""

    @abstractmethod
    def parse(self, constraint: Any) -> int:
        """Return the number of a constraint given as a user writes it."""

    @abstractmethod
    def n_below(self) -> NDArray[np.int64]:
        """Return how many constraints are at most as general as each one, itself included; shape (n_constraints,)."""

    def codes(self, cells: Sequence[Any], name: str) -> Codes:
        """Return the codes of a column of plain values; None and NaN are missing."""
        known: dict[Any, int] = {}
        codes = np.empty(len(cells), dtype=np.int64)
        for row, cell in enumerate(cells):
            if cell is None or cell != cell:
                codes[row] = MISSING
                continue
            if cell not in known:
                try:
                    known[cell] = self.code(cell)
                except UnseenValueError as error:
                    raise UnseenValueError(
                        f"column '{name}', row {row}: {error} Values that come later are declared with attributes="
                        f"{{{name!r}: ...}}."
                    ) from None
            codes[row] = known[cell]
        return codes

    @property
    def all(self) -> Codes:
        """The numbers of all constraints."""
        return np.arange(self.n_constraints)


class Values(Attribute):
    """A categorical column without order: a constraint is one of its values, or ?.

    Examples
    --------
    >>> sky = Values(["sunny", "cloudy", "rainy"])
    >>> sky.n_constraints, sky.label(sky.parse("sunny"))
    (4, 'sunny')
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)
        if not self.values or len(set(self.values)) < len(self.values):
            raise BayeskitError(f"an attribute needs at least one value, and no value twice; got {list(values)!r}.")
        self.n_constraints = len(self.values) + 1
        self._place = {value: k for k, value in enumerate(self.values)}

    def code(self, value: Any) -> int:
        """Return the position of a value; refuse one that the attribute does not have."""
        place = self._place.get(value)
        if place is None:
            raise UnseenValueError(unknown(value, self.values))
        return place

    def covers(self, constraint: Any, cell: Any) -> NDArray[np.bool_]:
        """? covers every cell; a value covers itself."""
        return np.asarray((constraint == ANY) | (constraint == np.asarray(cell) + 1))

    def at_least(self, general: Any, specific: Any) -> NDArray[np.bool_]:
        """? is at least as general as all; a value as itself."""
        return np.asarray((general == ANY) | (general == np.asarray(specific)))

    def join(self, constraint: int, cell: int) -> int:
        """The only constraint that covers two different values is ?."""
        if cell == MISSING or constraint not in (EMPTY, cell + 1):
            return ANY
        return cell + 1

    def without(self, constraint: int, cell: int) -> list[int]:
        """The specialisations of ? are all values except the cell's."""
        return [k + 1 for k in range(len(self.values)) if k != cell] if constraint == ANY else []

    def label(self, constraint: int) -> str:
        """Return the value, or ?."""
        return "?" if constraint == ANY else str(self.values[constraint - 1])

    def parse(self, constraint: Any) -> int:
        """Read a value or "?"."""
        if constraint in self._place:
            return self._place[constraint] + 1
        if constraint == "?":
            return ANY
        raise UnseenValueError(unknown(constraint, self.values))

    def n_below(self) -> NDArray[np.int64]:
        """All constraints are below ?; below a value there is only itself."""
        return np.array([self.n_constraints] + [1] * len(self.values))


class Range(Attribute):
    """A numeric or ordinal column: a constraint is a range between two of its levels, ends included.

    The range from the lowest to the highest level is ?. A number between two levels is covered by the ranges that reach
    beyond it on both sides.

    Examples
    --------
    >>> age = Range([20, 35, 50])
    >>> age.n_constraints, age.label(age.parse((20, 35)))
    (6, '20..35')
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self.levels = tuple(levels)
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise BayeskitError(f"a range needs at least one level, and no level twice; got {list(levels)!r}.")
        self.is_numeric = all(isinstance(level, int | float | np.number) for level in self.levels)
        if self.is_numeric and list(self.levels) != sorted(self.levels):
            raise BayeskitError(f"the levels of a range must be in increasing order; got {list(levels)!r}.")
        self._place = {level: k for k, level in enumerate(self.levels)}
        # Constraint c is the range from level _low[c] to level _high[c]; the widest comes first, as ? has number 0.
        m = len(self.levels)
        low, high = np.triu_indices(m)
        order = np.lexsort((low, low - high))
        self._low, self._high = low[order], high[order]
        self._number = np.zeros((m, m), dtype=np.int64)
        self._number[self._low, self._high] = np.arange(len(order))
        self.n_constraints = len(order)

    def code(self, value: Any) -> int:
        """Return twice the position of a level; odd codes lie between levels, −1 and 2 m − 1 outside of them all."""
        place = self._place.get(value)
        if place is not None:
            return 2 * place
        if not self.is_numeric or not isinstance(value, int | float | np.number):
            raise UnseenValueError(unknown(value, self.levels))
        return 2 * int(np.searchsorted(np.array(self.levels), value)) - 1

    def covers(self, constraint: Any, cell: Any) -> NDArray[np.bool_]:
        """? covers every cell; a range covers what lies between its ends."""
        inside = (2 * self._low[constraint] <= cell) & (cell <= 2 * self._high[constraint])
        return np.asarray((np.asarray(constraint) == ANY) | (inside & (np.asarray(cell) != MISSING)))

    def at_least(self, general: Any, specific: Any) -> NDArray[np.bool_]:
        """A range is at least as general as those within it."""
        return np.asarray((self._low[general] <= self._low[specific]) & (self._high[specific] <= self._high[general]))

    def join(self, constraint: int, cell: int) -> int:
        """Extend the range to the cell; outside all levels the only cover is ?."""
        last = len(self.levels) - 1
        low, high = cell // 2, -(-cell // 2)
        if cell == MISSING or low < 0 or high > last:
            return ANY
        if constraint != EMPTY:
            low, high = min(low, int(self._low[constraint])), max(high, int(self._high[constraint]))
        return int(self._number[low, high])

    def without(self, constraint: int, cell: int) -> list[int]:
        """Cut the range on either side of the cell."""
        low, high = int(self._low[constraint]), int(self._high[constraint])
        if cell == MISSING or cell < 0 or cell > 2 * (len(self.levels) - 1):
            # Only ? covers such a cell, and the widest true ranges are those without one end.
            return [int(self._number[low, high - 1]), int(self._number[low + 1, high])] if high > low else []
        below, above = (cell - 1) // 2, cell // 2 + 1
        parts = []
        if below >= low:
            parts.append(int(self._number[low, below]))
        if above <= high:
            parts.append(int(self._number[above, high]))
        return parts

    def label(self, constraint: int) -> str:
        """Return the range as low..high, one level as itself, and ? for all."""
        if constraint == ANY:
            return "?"
        low, high = self.levels[self._low[constraint]], self.levels[self._high[constraint]]
        return str(low) if low == high else f"{low}..{high}"

    def parse(self, constraint: Any) -> int:
        """Read a pair (low, high), one level, or "?"."""
        if isinstance(constraint, str) and constraint == "?" and "?" not in self._place:
            return ANY
        ends = constraint if isinstance(constraint, tuple | list) else (constraint, constraint)
        if len(ends) != 2 or any(end not in self._place for end in ends):
            raise UnseenValueError(
                f"a range has two ends among the levels {list(self.levels)[:20]}; got {constraint!r}."
            )
        low, high = (self._place[end] for end in ends)
        if low > high:
            raise BayeskitError(f"a range goes from its lower to its higher level; got {constraint!r}.")
        return int(self._number[low, high])

    def n_below(self) -> NDArray[np.int64]:
        """A range of m levels holds m (m + 1) / 2 ranges."""
        levels = self._high - self._low + 1
        return np.asarray(levels * (levels + 1) // 2)


class Hierarchy(Attribute):
    """A column whose values have more general terms above them: a constraint is a value or one of the terms.

    Parameters
    ----------
    tree : nested mapping
        Each term with its children: a mapping again, or a list of values. The root is ?.

    Examples
    --------
    >>> shape = Hierarchy({"round": ["circle", "ellipse"], "straight": ["square", "triangle"]})
    >>> shape.label(shape.join(shape.parse("circle"), shape.code("ellipse")))
    'round'
    """

    def __init__(self, tree: Mapping[Any, Any]) -> None:
        self._names: list[Any] = ["?"]
        self._parent: list[int] = [-1]
        self._grow(tree, 0)
        self.n_constraints = len(self._names)
        if len(set(self._names)) < len(self._names):
            twice = next(name for name in self._names if self._names.count(name) > 1)
            raise BayeskitError(f"the term {twice!r} appears twice in the hierarchy; names must be unique.")
        inner = set(self._parent)
        # The leaves are the values that a cell may hold.
        self.values = tuple(name for k, name in enumerate(self._names) if k not in inner)
        self._place = {name: k for k, name in enumerate(self._names)}

    def _grow(self, below: Any, parent: int) -> None:
        if isinstance(below, Mapping):
            children = list(below.items())
        elif isinstance(below, Sequence) and not isinstance(below, str):
            children = [(value, {}) for value in below]
        else:
            raise BayeskitError(f"the children of a term must be a mapping or a list of values; got {below!r}.")
        for name, rest in children:
            self._names.append(name)
            self._parent.append(parent)
            self._grow(rest, len(self._names) - 1)

    @cached_property
    def _above(self) -> NDArray[np.bool_]:
        """above[a, b]: term a is b or an ancestor of b; shape (n_constraints, n_constraints)."""
        above = np.eye(self.n_constraints, dtype=bool)
        for k in range(1, self.n_constraints):  # a parent comes before its children
            above[:, k] |= above[:, self._parent[k]]
        return above

    def code(self, value: Any) -> int:
        """Return the number of a value, which must be a leaf of the tree."""
        place = self._place.get(value)
        if place is None or value not in self.values:
            raise UnseenValueError(unknown(value, self.values))
        return place

    def covers(self, constraint: Any, cell: Any) -> NDArray[np.bool_]:
        """A term covers the values below it."""
        cell = np.asarray(cell)
        known = cell != MISSING
        return np.asarray((np.asarray(constraint) == ANY) | (known & self._above[constraint, np.where(known, cell, 0)]))

    def at_least(self, general: Any, specific: Any) -> NDArray[np.bool_]:
        """A term is at least as general as those below it."""
        return np.asarray(self._above[general, specific])

    def join(self, constraint: int, cell: int) -> int:
        """Go up from the cell's value to the first term that is an ancestor of the constraint too."""
        if cell == MISSING:
            return ANY
        node = cell
        while constraint != EMPTY and not self._above[node, constraint]:
            node = self._parent[node]
        return node

    def without(self, constraint: int, cell: int) -> list[int]:
        """Return the siblings of the nodes on the path from the constraint down to the cell."""
        children = [k for k in range(1, self.n_constraints) if self._parent[k] == constraint]
        narrower = []
        for child in children:
            if cell != MISSING and self._above[child, cell]:
                narrower.extend(self.without(child, cell))
            else:
                narrower.append(child)
        return narrower

    def label(self, constraint: int) -> str:
        """Return the term."""
        return str(self._names[constraint])

    def parse(self, constraint: Any) -> int:
        """Read a term, a value, or "?"."""
        place = self._place.get(constraint)
        if place is None:
            raise UnseenValueError(unknown(constraint, self._names))
        return place

    def n_below(self) -> NDArray[np.int64]:
        """Count the terms of each subtree."""
        return np.asarray(self._above.sum(axis=1))


def unknown(value: Any, values: Sequence[Any]) -> str:
    """Return the message for a value that the attribute does not have."""
    like = nearest(str(value), map(str, values), most=1)
    hint = f" Did you mean {like[0]!r}?" if like else ""
    shown = ", ".join(repr(known) for known in values[:10]) + (", …" if len(values) > 10 else "")
    return f"the value {value!r} is unknown; known values: {shown}.{hint}"
