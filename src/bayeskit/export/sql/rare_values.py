"""The terms of values without a level of their own: a line of classes per code."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.export.scorer import RareTerms
from bayeskit.export.sql.dialect import RecordDialect
from bayeskit.export.sql.query import Query


def add_rare_values(query: Query, rare: Sequence[RareTerms]) -> list[list[str]]:
    """Add to the query the line of each row's value; return the terms, one list per column of one per class."""
    dialect = query.dialect
    lines = [each.lines.T.tolist() for each in rare]
    if isinstance(dialect, RecordDialect):
        tables = {f"rl{each.column}": dialect.records(part) for each, part in zip(rare, lines, strict=True)}
        query.add(
            {f"rr{each.column}": dialect.item(f"rl{each.column}", f"c{each.column} + 1") for each in rare}, tables
        )
        return [
            [dialect.member(f"rr{each.column}", c) for c in range(len(part))]
            for each, part in zip(rare, lines, strict=True)
        ]
    names = [[f"ra{c}_{each.column}" for c in range(len(part))] for each, part in zip(rare, lines, strict=True)]
    query.add(
        {
            name: dialect.lookup(numbers, f"c{each.column} + 1")
            for each, part, its_names in zip(rare, lines, names, strict=True)
            for name, numbers in zip(its_names, part, strict=True)
        }
    )
    return names
