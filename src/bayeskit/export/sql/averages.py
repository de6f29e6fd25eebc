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
        self._add_members(query, totals)
        classes, members = range(len(totals[0])), range(len(self.part.members))
        query.add({f"b{c}": self.dialect.greatest([f"w{c}_{k}" for k in members]) for c in classes})
        means = []
        for c in classes:
            total = sum_of([self.dialect.exponential(f"w{c}_{k} - b{c}") for k in members])
            mean = f"b{c} + ln({total})"
            means.append(f"CASE WHEN o0_0 THEN {mean} ELSE o{c} END" if self._only_some else mean)
        return means

    @property
    def _only_some(self) -> bool:
        """Whether a row may have no structure that takes part."""
        return bool(self.part.members) and None not in [_takes_part(each, self.dialect) for each in self.part.members]

    def _add_members(self, query: Query, totals: Sequence[list[str]]) -> None:
        """Add log P(x, c) of each structure, log 0 where it does not take part; and that of one without parents."""
        nothing = self.dialect.number(LOG_ZERO)
        conditions = [_takes_part(member, self.dialect) for member in self.part.members]
        columns = {}
        for k, condition in enumerate(conditions):
            for c, total in enumerate(totals[k]):
                columns[f"w{c}_{k}"] = (
                    total if condition is None else f"CASE WHEN {condition} THEN {total} ELSE {nothing} END"
                )
        if self._only_some:
            columns |= {f"o{c}": total for c, total in enumerate(totals[-1])}
            columns["o0_0"] = " OR ".join(f"({condition})" for condition in conditions)
        query.add(columns)


def _takes_part(structure: Structure, dialect: Dialect) -> str | None:
    """The condition under which a structure takes part; None where it always does."""
    if structure.takes_part is None or structure.takes_part.all():
        return None
    left_out = [level + 1 for level, takes_part in enumerate(structure.takes_part.tolist()) if not takes_part]
    return f"NOT ({dialect.is_one_of(f'c{structure.families[0][-1]}', left_out)})"
