"""The mean over structures: one of them (TAN, KDB, ODE, SPODE), or one per super-parent (AODE)."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.export.scorer import Average, Column, Structure
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.families import FamilyTerms
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import LOG_ZERO


class AverageTerms:
    """log P(x, c), the mean over the structures that take part."""

    def __init__(self, part: Average, dialect: Dialect, columns: Sequence[Column], unseen: str, missing: str) -> None:
        self.part, self.dialect = part, dialect
        structures = [*part.members, *([] if part.otherwise is None else [part.otherwise])]
        self.terms = [
            FamilyTerms(each, dialect, columns, unseen, missing, f"_{k}" if len(structures) > 1 else "")
            for k, each in enumerate(structures)
        ]

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted({j for terms in self.terms for j in terms.columns})

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the stages of each structure, side by side; return log P(x, c) of each class."""
        if len(self.terms) == 1:
            return self.terms[0].add_stages(query, cells)
        parts = [query.part(terms.suffix) for terms in self.terms]
        totals = [terms.add_stages(part, cells) for terms, part in zip(self.terms, parts, strict=True)]
        query.add_together(parts)
        n, classes = len(self.part.members), range(len(totals[0]))
        takes_part = [_takes_part(member) for member in self.part.members]
        nothing = self.dialect.number(LOG_ZERO)
        for k, condition in enumerate(takes_part):
            if condition is not None:
                totals[k] = [f"CASE WHEN {condition} THEN {total} ELSE {nothing} END" for total in totals[k]]
        columns = {f"w{c}_{k}": totals[k][c] for k in range(n) for c in classes}
        only_some = bool(takes_part) and None not in takes_part
        if only_some:  # a row may have no structure that takes part
            columns |= {f"o{c}": totals[-1][c] for c in classes}
            columns["o0_0"] = " OR ".join(f"({condition})" for condition in takes_part)
        query.add(columns)
        query.add({f"b{c}": self.dialect.greatest([f"w{c}_{k}" for k in range(n)]) for c in classes})
        sums = [sum_of([self.dialect.exponential(f"w{c}_{k} - b{c}") for k in range(n)]) for c in classes]
        means = [f"b{c} + ln({total})" for c, total in enumerate(sums)]
        return [f"CASE WHEN o0_0 THEN {mean} ELSE o{c} END" for c, mean in enumerate(means)] if only_some else means


def _takes_part(structure: Structure) -> str | None:
    """The condition under which a structure takes part; None where it always does."""
    if structure.takes_part is None or structure.takes_part.all():
        return None
    left_out = [str(level + 1) for level, takes_part in enumerate(structure.takes_part.tolist()) if not takes_part]
    return f"c{structure.families[0][-1]} NOT IN ({', '.join(left_out)})"
