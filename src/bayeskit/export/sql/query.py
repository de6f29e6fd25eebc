"""A query of several stages, each of which computes columns from those of the stage before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from bayeskit.errors import TooLargeError
from bayeskit.export.sql.dialect import Dialect

_NAME = re.compile(r"[a-z]+\d+(?:_\d+)?")


@dataclass
class Query:
    """Stages of named expressions. A name is letters and a number, such as t3, so that its uses can be found.

    A stage carries on only the columns that a later one uses. A text of the user's that holds such a name costs a
    column that is carried for nothing, and is otherwise harmless.
    """

    dialect: Dialect
    source: str  # the table, quoted
    stages: list[dict[str, str]] = field(default_factory=list)

    def add(self, columns: dict[str, str]) -> None:
        """Add a stage; without columns there is nothing to add."""
        if columns:
            self.stages.append(columns)

    def render(self, result: Sequence[tuple[str, str]]) -> str:
        """Return the query whose columns are the expressions of ``result``, with their quoted names."""
        used = set().union(*(_NAME.findall(expression) for expression, _ in result))
        bodies: list[str] = []
        for stage in reversed(range(len(self.stages))):
            columns = self.stages[stage]
            before = {name for earlier in self.stages[:stage] for name in earlier}
            carried = sorted(used & before, key=lambda name: (name[0], len(name), name))
            selected = [*carried, *(f"{expression} AS {name}" for name, expression in columns.items() if name in used)]
            self._refuse_wide(len(selected))
            source = f"stage{stage - 1}" if stage else f"{self.source} AS source"
            body = (
                "SELECT\n    " + ",\n    ".join(selected or ["1 AS nothing"]) + f"\n  FROM {source}{self.dialect.fence}"
            )
            bodies.append(f"stage{stage} AS{self.dialect.materialised} (\n  {body}\n)")
            used = set(carried).union(*(_NAME.findall(e) for name, e in columns.items() if name in used))
        last = ",\n  ".join(f"{expression} AS {name}" for expression, name in result)
        return f"WITH {', '.join(reversed(bodies))}\nSELECT\n  {last}\nFROM stage{len(self.stages) - 1}\n"

    def _refuse_wide(self, n_columns: int) -> None:
        most = self.dialect.most_columns
        if n_columns > most:
            raise TooLargeError(
                f"the query needs {n_columns} columns at a time, and {self.dialect.name} has at most {most}; fit the "
                "model on fewer columns, or export it for another database."
            )


def sum_of(terms: Sequence[str]) -> str:
    """Return a sum; without terms it is NULL-free and zero."""
    return " + ".join(terms) if terms else "0"
