"""A query of several stages, each of which computes columns from those of the stage before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bayeskit.errors import TooLargeError
from bayeskit.export.sql.dialect import Dialect, RecordDialect

# A sum is an expression as deep as its terms are many, and DuckDB and SQLite read up to 1,000: longer ones are halved.
_MOST_TERMS = 500
_NAME = re.compile(r"[a-z]+\d+(?:_\d+)*")


@dataclass
class Query:
    """Stages of named expressions. A name is letters and a number, such as t3, so that its uses can be found.

    A stage carries on only the columns that a later one uses. A text of the user's that holds such a name costs a
    column that is carried for nothing, and is otherwise harmless. ``tables`` are constants: the columns of a table of
    one row.
    """

    dialect: Dialect
    source: str  # the table, quoted
    stages: list[dict[str, str]] = field(default_factory=list)
    tables: dict[str, str] = field(default_factory=dict)
    suffix: str = ""  # of the names that it makes itself
    _with_tables: set[int] = field(default_factory=set)  # the stages that are joined to the constants

    def add(self, columns: dict[str, str], tables: dict[str, str] | None = None) -> None:
        """Add a stage and the constants that it uses; without columns there is nothing to add."""
        if columns:
            self.stages.append(columns)
        if columns and tables:
            self.tables |= tables
            self._with_tables.add(len(self.stages) - 1)

    def add_where(
        self, condition: str, columns: dict[str, str], tables: dict[str, str] | None = None
    ) -> dict[str, str]:
        """Add a stage that few rows need; return what later stages call each column.

        In a database with records it is one column, so that the rows which do not need it cost one condition.
        Elsewhere each of them is NULL in other rows.
        """
        if not isinstance(self.dialect, RecordDialect):
            self.add({name: f"CASE WHEN {condition} THEN {item} END" for name, item in columns.items()}, tables)
            return {name: name for name in columns}
        stage = f"s{len(self.stages)}{self.suffix}"
        record = f"CASE WHEN {condition} THEN {self.dialect.record(columns)} END"
        self.add({stage: record} if columns else {}, tables)
        return {name: f"{stage}.{name}" for name in columns}

    def add_together(self, parts: Sequence[Query]) -> None:
        """Add the stages of several queries side by side: their first stages as one, and so on."""
        for k in range(max((len(part.stages) for part in parts), default=0)):
            self.stages.append({})
            for part in parts:
                if k < len(part.stages):
                    self.stages[-1] |= part.stages[k]
                if k in part._with_tables:
                    self._with_tables.add(len(self.stages) - 1)
        for part in parts:
            self.tables |= part.tables

    def part(self, suffix: str) -> Query:
        """Return an empty query, to be added together with others."""
        return Query(self.dialect, self.source, suffix=suffix)

    def render(self, result: Sequence[tuple[str, str]]) -> str:
        """Return the query whose columns are the expressions of ``result``, with their quoted names."""
        used = set().union(*(_NAME.findall(expression) for expression, _ in result))
        bodies: list[str] = []
        for stage in reversed(range(len(self.stages))):
            columns = {name: expression for name, expression in self.stages[stage].items() if name in used}
            before = {name for earlier in self.stages[:stage] for name in earlier}
            carried = sorted(used & before, key=lambda name: (name[0], len(name), name))
            # After the stage that reads the user's table, which may have the same name.
            bodies += [self._constants()] if stage == 0 and self.tables else []
            bodies.append(self._stage(stage, carried, columns))
            used = set(carried).union(*map(_NAME.findall, columns.values()))
        last = ",\n  ".join(f"{expression} AS {name}" for expression, name in result)
        return f"WITH {', '.join(reversed(bodies))}\nSELECT\n  {last}\nFROM stage{len(self.stages) - 1}\n"

    def _constants(self) -> str:
        constants = ",\n    ".join(f"{constant} AS {name}" for name, constant in self.tables.items())
        return f"tables AS (\n  SELECT\n    {constants}\n)"

    def _stage(self, stage: int, carried: Sequence[str], columns: dict[str, str]) -> str:
        selected = [*carried, *(f"{expression} AS {name}" for name, expression in columns.items())]
        self._refuse_wide(len(selected))
        source = f"stage{stage - 1}" if stage else f"{self.source} AS source"
        joined = ", tables" if stage in self._with_tables else ""
        body = ",\n    ".join(selected or ["1 AS nothing"])
        return (
            f"stage{stage} AS{self.dialect.materialised} (\n"
            f"  SELECT\n    {body}\n  FROM {source}{joined}{self.dialect.fence}\n)"
        )

    def _refuse_wide(self, n_columns: int) -> None:
        most = self.dialect.most_columns
        if n_columns > most:
            raise TooLargeError(
                f"the query needs {n_columns} columns at a time, and {self.dialect.name} has at most {most}; fit the "
                "model on fewer columns, or export it for another database."
            )


def sum_of(terms: Sequence[str]) -> str:
    """Return a sum; without terms it is NULL-free and zero."""
    if len(terms) > _MOST_TERMS:
        middle = len(terms) // 2
        return f"({sum_of(terms[:middle])}) + ({sum_of(terms[middle:])})"
    return " + ".join(terms) if terms else "0"
