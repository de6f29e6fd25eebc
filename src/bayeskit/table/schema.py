"""Variable and Schema: what a column is called, what kind it is and which values it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from bayeskit.errors import MergeError
from bayeskit.table.conversions import Conversions

Value = str | int | float | bool


@dataclass(frozen=True)
class Variable:
    """One column: its name, its kind, and whether it is numeric or discrete: then with its values, in order of code.

    The meaning of a kind is defined in `bayeskit.kinds`. Here three names matter: a "binned" column is cut at its
    edges, the cells of a "text" column are documents, and of an "unknown" one no value was ever seen.

    Examples
    --------
    >>> Variable("outlook", "categorical", ("overcast", "rain", "sunny")).n_values
    3
    >>> Variable("age", "binned", edges=(30.0, 41.0)).values
    ('(-inf, 30)', '[30, 41)', '[41, inf)')
    """

    name: str
    kind: str
    values: tuple[Value, ...] = ()
    # The inner borders of the bins of a binned column; bin b holds edges[b - 1] <= x < edges[b].
    edges: tuple[float, ...] = ()
    # True when the values come from a declaration (a categorical dtype, bins, a 0-1 column) and not from the rows:
    # such values count as possible even where no row has them.
    declared: bool = False
    # True for columns whose cells stay numbers; they are summed up, and not counted value by value.
    numeric: bool = False

    def __post_init__(self) -> None:
        if self.is_binned and not self.values:
            object.__setattr__(self, "values", bin_names(self.edges))
            object.__setattr__(self, "declared", True)

    @property
    def n_values(self) -> int:
        """Number of values of a discrete column."""
        return len(self.values)

    @property
    def is_discrete(self) -> bool:
        """True for columns that are counted value by value."""
        return not self.numeric and self.kind not in ("unknown", "text")

    @property
    def is_text(self) -> bool:
        """True for columns of free text, which are counted word by word."""
        return self.kind == "text"

    @property
    def is_binned(self) -> bool:
        """True for columns of numbers that are counted bin by bin."""
        return self.kind == "binned"

    @property
    def is_numeric(self) -> bool:
        """True for columns whose cells stay numbers."""
        return self.numeric

    def with_names(self, names: Iterable[str]) -> list[Variable]:
        """Return a column like this one for each name; the quick way to very many columns.

        >>> [column.name for column in Variable("x0", "gaussian", numeric=True).with_names(["a", "b"])]
        ['a', 'b']
        """
        columns, fields, new = [], self.__dict__, object.__new__
        for name in names:
            column = new(Variable)  # without a check of each field, which has been made once
            new_fields = column.__dict__
            new_fields.update(fields)
            new_fields["name"] = name
            columns.append(column)
        return columns

    @cached_property
    def code_of(self) -> dict[Value, int]:
        """Each value's code."""
        return {value: code for code, value in enumerate(self.values)}

    def union(self, other: Variable) -> Variable:
        """Return the variable that takes the values of both; an error where they cannot be one column.

        Declared values keep their order; the others follow in sorted order.
        """
        if self.name != other.name:
            raise MergeError(f"column '{self.name}' on one side is column '{other.name}' on the other.")
        if other.kind == "unknown" or self == other:
            return self
        if self.kind == "unknown":
            return other
        if self.kind != other.kind:
            raise MergeError(f"column '{self.name}' is {self.kind} on one side and {other.kind} on the other.")
        if self.edges != other.edges:
            raise MergeError(
                f"column '{self.name}' has bin edges {self.edges} on one side and {other.edges} on the other."
            )
        # The values of one side are all text or all numbers.
        ours, theirs = (
            "text" if side.values and isinstance(side.values[0], str) else "numbers" for side in (self, other)
        )
        if ours != theirs and self.values and other.values:
            raise MergeError(f"column '{self.name}' holds {ours} on one side and {theirs} on the other.")
        first, second = (self, other) if self.declared or not other.declared else (other, self)
        return first.extended([value for value in second.values if value not in first.code_of])

    def extended(self, new: Sequence[Value]) -> Variable:
        """Return the variable with values that it lacks: sorted among its own, or after those that are declared."""
        if not new:
            return self
        # To sort a list in order with few new values behind it is to merge them, in time that grows with its length.
        new = sorted(new)
        values = (*self.values, *new) if self.declared else tuple(sorted((*self.values, *new)))
        return replace(self, values=values)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order. Frozen, and part of every model."""

    variables: tuple[Variable, ...]
    # False when the columns came without names (a plain array) and are called x0, x1, …
    named: bool = True
    # What the reader did to the raw columns of the table; None where they are those of the model.
    conversions: Conversions | None = None

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __getitem__(self, key: int | str) -> Variable:
        return self.variables[self.position[key] if isinstance(key, str) else key]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of each column by its name."""
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def discrete(self) -> tuple[int, ...]:
        """Positions of the columns that are counted value by value."""
        return tuple(j for j, variable in enumerate(self.variables) if variable.is_discrete)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """Positions of the columns whose cells stay numbers."""
        return tuple(j for j, variable in enumerate(self.variables) if variable.is_numeric)

    @cached_property
    def texts(self) -> tuple[int, ...]:
        """Positions of the columns of free text."""
        return tuple(j for j, variable in enumerate(self.variables) if variable.is_text)

    @cached_property
    def place(self) -> dict[int, int]:
        """The position of each column among those of its sort: :attr:`discrete`, :attr:`numeric` or :attr:`texts`."""
        return {j: k for positions in (self.discrete, self.numeric, self.texts) for k, j in enumerate(positions)}

    def union(self, other: Schema) -> Schema:
        """Return the schema that covers both tables; tables with different columns are an error."""
        if len(self) != len(other):
            raise MergeError(f"one side has {len(self)} columns and the other has {len(other)}.")
        named = self.named and other.named
        variables = tuple(a if a is b else a.union(b) for a, b in zip(self, other, strict=True))
        conversions = self.conversions or other.conversions
        if self.conversions is not None and other.conversions is not None:
            conversions = self.conversions.union(other.conversions)
        same = named == self.named and conversions is self.conversions
        if same and all(new is old for new, old in zip(variables, self.variables, strict=True)):
            return self
        return Schema(variables, named, conversions)

    def with_variables(self, variables: Iterable[Variable]) -> Schema:
        """Return the schema of the same table with other variables."""
        return replace(self, variables=tuple(variables))

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        converted = {} if self.conversions is None else {"conversions": self.conversions.to_json()}
        return {
            **converted,
            "named": self.named,
            "variables": [
                {
                    "name": variable.name,
                    "kind": variable.kind,
                    "values": list(variable.values),
                    "edges": list(variable.edges),
                    "declared": variable.declared,
                    "numeric": variable.numeric,
                }
                for variable in self.variables
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        """Read what :meth:`to_json` wrote, checking each part."""
        variables = []
        for item in data["variables"]:
            if not isinstance(item["kind"], str) or not isinstance(item["name"], str):
                raise ValueError(f"not a column: {item!r}")
            if not all(isinstance(value, str | int | float) for value in item["values"]):
                raise ValueError(f"column '{item['name']}' has values that are not text or numbers")
            variables.append(
                Variable(
                    item["name"],
                    item["kind"],
                    tuple(item["values"]),
                    tuple(map(float, item["edges"])),
                    bool(item["declared"]),
                    bool(item["numeric"]),
                )
            )
        converted = data.get("conversions")
        conversions = None if converted is None else Conversions.from_json(converted)
        return cls(tuple(variables), bool(data["named"]), conversions)


def bin_names(edges: tuple[float, ...]) -> tuple[str, ...]:
    """Name the bins between the edges, so that a table of probabilities can be read.

    >>> bin_names((30.0, 41.0))
    ('(-inf, 30)', '[30, 41)', '[41, inf)')
    """
    if not edges:
        return ("(-inf, inf)",)
    # As few digits as keep all edges apart; repr does when nothing shorter does.
    texts = [repr(edge) for edge in edges]
    for digits in range(6, 17):
        short = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(short)) == len(edges):
            texts = short
            break
    middle = [f"[{low}, {high})" for low, high in pairwise(texts)]
    return (f"(-inf, {texts[0]})", *middle, f"[{texts[-1]}, inf)")
