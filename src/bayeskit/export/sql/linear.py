"""The terms of a linear member: its numbers z, less their means, times the coefficients of each class."""

from __future__ import annotations

from bayeskit.export.scorer import Linear
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.scales import z_of


class LinearTerms:
    """The score of each class. ``suffix`` tells its names from those of other members."""

    def __init__(self, part: Linear, dialect: Dialect, suffix: str) -> None:
        self.part, self.dialect, self.suffix = part, dialect, suffix

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted({int(j) for j in self.part.feature})

    def add_stages(self, query: Query) -> list[str]:
        """Add to the query how far each z is from its mean, 0 where its cell is hidden; return the scores."""
        part, number = self.part, self.dialect.number
        places, end = range(len(part.feature)), self.suffix
        away = {
            f"lz{k}{end}": f"CASE WHEN v{int(part.feature[k])} = 0 THEN {number(0.0)} "
            f"ELSE {z_of(part, k, self.dialect)} - {number(part.mean[k])} END"
            for k in places
        }
        query.add(away)
        return [
            sum_of([number(start), *(f"{number(part.coefficients[k, c])} * lz{k}{end}" for k in places)])
            for c, start in enumerate(part.start)
        ]
