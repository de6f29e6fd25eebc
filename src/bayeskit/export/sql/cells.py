"""Columns of the database → numbers and codes, as the model reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bayeskit.errors import BayeskitError
from bayeskit.export.scorer import Column
from bayeskit.export.sql.converted import ConvertedCells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.table.encode import contiguous_low
from bayeskit.table.schema import Value, Variable

LARGEST = 1.7976931348623157e308
# Whole numbers up to here are exact in double precision.
_EXACT = 2**53


@dataclass
class Cells:
    """The first two stages of a query: the cells x_j, and the codes c_j of those that are counted.

    A code is the place of the value among the levels, from 1; with ``smooth`` an unseen value has the place after the
    last. 0 is a missing cell, and an unseen value otherwise: a slot of every table, so that no sum meets NULL. Rows
    that the model refuses are in ``refused``; ``wrong_type`` says so of the cells as the database holds them.
    """

    dialect: Dialect
    unseen: str
    # Whether the source holds texts alone, as a CSV file does.
    is_written: bool = False
    cells: dict[str, str] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    wrong_type: list[str] = field(default_factory=list)
    # The stages before these, where the columns of the table are converted first.
    converted: ConvertedCells | None = None

    def read(self, j: int, column: Column) -> None:
        """Add column j: its cell, and its code where it is counted value by value."""
        variable, name = column.variable, f"source.{self.dialect.identifier(column.variable.name)}"
        typed: str | None = name  # the column whose type may be wrong
        missing: tuple[float, ...] = ()
        if self.converted is not None:
            name, typed = self.converted.origin[j], self.converted.typed.get(j)
            missing = self.converted.missing_numbers.get(j, ())
        wrong_type = None
        if column.is_text:
            self.cells[f"x{j}"] = self.dialect.as_text(name)
            wrong_type = None if self.is_written or typed is None else self.dialect.not_a_text(typed)
        else:
            # A column of truth values is a number to the model, whether it said 0 and 1 or False and True.
            truth = not variable.is_binned and bool(variable.values) and set(variable.values) <= {0, 1}
            truth, written = truth and typed is not None, self.is_written and typed is not None
            cell = self.dialect.as_number(name, truth=truth, written=written)
            for number in missing:
                cell = f"nullif({cell}, {self.dialect.number(number)})"
            self.cells[f"x{j}"] = cell
            self.refused.append(f"abs(x{j}) > {self.dialect.number(LARGEST)}")
            wrong_type = None if typed is None else self.dialect.not_a_number(typed, truth=truth, written=written)
        if wrong_type is not None:
            self.wrong_type.append(wrong_type)
        if variable.is_discrete:
            self._code(j, variable, column.is_text)

    def stage(self) -> dict[str, str]:
        """Return the columns of the first stage."""
        if not self.wrong_type:
            return self.cells
        if "w0" not in self.refused:
            self.refused.append("w0")
        return {**self.cells, "w0": " OR ".join(self.wrong_type)}

    def _code(self, j: int, variable: Variable, is_text: bool) -> None:
        cell = f"x{j}"
        if variable.is_binned:
            self.codes[f"c{j}"] = f"CASE WHEN {cell} IS NULL THEN 0 ELSE {self._bin(cell, variable.edges, 1)} END"
            return
        place = self._place(cell, variable, is_text)
        if self.unseen == "smooth":
            slot = f"coalesce(nullif({place}, 0), {variable.n_values + 1})"
            self.codes[f"c{j}"] = f"CASE WHEN {cell} IS NULL THEN 0 ELSE {slot} END"
        else:
            self.codes[f"c{j}"] = place
        if self.unseen == "error":
            self.refused.append(f"(c{j} = 0 AND {cell} IS NOT NULL)")

    def _place(self, cell: str, variable: Variable, is_text: bool) -> str:
        values = variable.values
        if is_text:
            return self.dialect.position([self.dialect.text(str(value)) for value in values], cell)
        refuse_inexact(variable.name, values)
        low = contiguous_low(variable)
        if low is None:
            return self.dialect.position([self.dialect.number(float(value)) for value in values], cell)
        first, last = self.dialect.number(low), self.dialect.number(low + len(values) - 1)
        whole = f"CAST({cell} AS INTEGER)" if abs(low) + len(values) < 2**31 else f"CAST({cell} AS BIGINT)"
        return (
            f"CASE WHEN {cell} >= {first} AND {cell} <= {last} AND {cell} = floor({cell}) "
            f"THEN CAST({whole} - ({low - 1}) AS INTEGER) ELSE 0 END"
        )

    def _bin(self, cell: str, edges: Sequence[float], first: int) -> str:
        # By halving: bin b holds edges[b - 2] <= x < edges[b - 1], counted from 1.
        if not edges:
            return str(first)
        middle = len(edges) // 2
        below = self._bin(cell, edges[:middle], first)
        above = self._bin(cell, edges[middle + 1 :], first + middle + 1)
        return f"CASE WHEN {cell} < {self.dialect.number(edges[middle])} THEN {below} ELSE {above} END"


def refuse_names(names: Sequence[str], dialect: Dialect) -> None:
    """Raise an error for columns that the database cannot distinguish."""
    seen: dict[str, str] = {}
    for name in names:
        folded = fold(name, dialect)
        if folded in seen:
            raise BayeskitError(
                f"columns '{seen[folded]}' and '{name}' are one column to {dialect.name}; rename one of them."
            )
        seen[folded] = name


def fold(name: str, dialect: Dialect) -> str:
    """Return the part of a name that the database compares."""
    if not dialect.case_matters:
        name = name.lower()
    return name.encode(errors="replace")[: dialect.longest_name].decode(errors="replace")


def refuse_inexact(name: str, values: Sequence[Value]) -> None:
    """Refuse whole numbers that double precision does not hold, by name."""
    for value in values:
        if isinstance(value, int) and abs(value) >= _EXACT:
            raise BayeskitError(
                f"column '{name}' has the value {value}, which double precision cannot distinguish from its "
                "neighbours; fit with such numbers as text."
            )
