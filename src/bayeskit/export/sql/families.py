"""The terms of classifiers with a structure: a table per feature and its parents, missing parents summed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.export.elimination import EliminationStep, Factor, plan_elimination
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import Table, add_lookups, log_numbers, merge


class FamilyTerms:
    """log P(x_j | parents, c) of each feature as a place in a list, and the sums over parents that are missing."""

    def __init__(self, beliefs: FamilyBeliefs, dialect: Dialect, missing_parents: str) -> None:
        schema = beliefs.counts.schema
        found = [
            (members, log_numbers(table))
            for members, table in zip(beliefs.families, beliefs.log_tables, strict=True)
            if table.size
        ]
        self.dialect, self.schema = dialect, schema
        self.families = tuple(members for members, _ in found)
        self.tables = [table for _, table in found]  # (values of each parent …, values of the feature, n_classes)
        self.log_prior = log_numbers(beliefs.log_prior)
        self.sizes = [v.n_values + (beliefs.smooth and v.n_values > 0) for v in schema]
        self.sums_out = missing_parents == "sum"
        self.steps = plan_elimination(self.families, self.sizes)
        self.names: dict[str, str] = {}  # how the parts of the sums are called in later stages
        if self.sums_out:
            self._refuse_large()

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted({j for members in self.families for j in members})

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the lookups and the sums over missing parents; return log P(x, c) of each class."""
        terms = add_lookups(query, self._merged())
        priors = [self.dialect.number(prior) for prior in self.log_prior]
        totals = [sum_of([prior, *(term[c] for term in terms)]) for c, prior in enumerate(priors)]
        if self.sums_out and self.steps:
            return self._add_messages(query, totals)
        cells.refused.extend(f"c{step.column} = 0" for step in self.steps)
        return totals

    def _merged(self) -> list[Table]:
        found = [Table.of_values(members, table) for members, table in zip(self.families, self.tables, strict=True)]
        return merge(found, self.dialect.merged_numbers)

    # -- sums over missing parents ----------------------------------------------------------------------------------

    def _add_messages(self, query: Query, totals: Sequence[str]) -> list[str]:
        """Add to the query the sums over missing parents; return the totals with them."""
        # Asked once per row, since most rows have all parents.
        missing = " OR ".join(f"c{step.column} = 0" for step in self.steps)
        query.add({**{f"u{c}": total for c, total in enumerate(totals)}, "h0": missing})
        for level in sorted({step.level for step in self.steps}):
            self._add(query, {f"m{s.column}": self._log_sums(s) for s in self.steps if s.level == level})
        every = range(len(totals))
        self._add(query, {f"q{c}": self._messages(c) for c in every})
        return [f"CASE WHEN h0 THEN u{c} + {self.names[f'q{c}']} ELSE u{c} END" for c in every]

    def _add(self, query: Query, columns: dict[str, str]) -> None:
        self.names |= query.add_where("h0", columns)

    def _log_sums(self, step: EliminationStep) -> str:
        """The sums over the values of a missing column: a list over the values of the scope, and the classes."""
        term = sum_of([self._factor(factor, step) for factor in step.factors])
        sums = self.dialect.log_sums(self._n_cells(step.scope), self.sizes[step.column], term)
        return f"CASE WHEN c{step.column} = 0 THEN {sums} END"

    def _factor(self, factor: Factor, step: EliminationStep) -> str:
        """The logarithm of a factor in sum i, where the missing column has value v."""
        summed = factor.members[factor.members.index(step.column) :]
        values = {j: self._value(j, step) for j in summed}
        category = f"i % {len(self.log_prior)}"
        if factor.is_message:
            return self._item(self.names[f"m{factor.number}"], factor.members, values, category)
        numbers = self.dialect.numbers(self.tables[factor.number].ravel().tolist())
        return self._item(numbers, self.families[factor.number], values, category)

    def _messages(self, c: int) -> str:
        """The sums that depend on nothing which is missing; each is a term of its own."""
        sums = [self._item(self.names[f"m{step.column}"], step.scope, {}, str(c)) for step in self.steps]
        return f"CASE WHEN h0 THEN {sum_of(sums)} END"

    def _item(self, vector: str, columns: Sequence[int], values: Mapping[int, str], category: str) -> str:
        """An item of a flat list over values and classes; a column without a value here has that of its cell.

        Where that cell is missing, the item is part of another sum, or of none, and adds nothing.
        """
        places, stride = [category], len(self.log_prior)
        for j in reversed(columns):
            places.append(f"{values.get(j, f'(nullif(c{j}, 0) - 1)')} * {stride}")
            stride *= self.sizes[j]
        return f"coalesce({self.dialect.item(vector, f'{sum_of(places)} + 1')}, 0)"

    def _value(self, j: int, step: EliminationStep) -> str:
        """The value of column j, from 0, in sum i."""
        if j == step.column:
            return "v"
        after = step.scope[step.scope.index(j) + 1 :]
        return f"({self.dialect.quotient('i', self._n_cells(after))} % {self.sizes[j]})"

    def _n_cells(self, columns: Sequence[int]) -> int:
        return prod(self.sizes[j] for j in columns) * len(self.log_prior)

    def _refuse_large(self) -> None:
        sizes = [self._n_cells((step.column, *step.scope)) for step in self.steps]
        if sum(sizes) > self.dialect.most_cells:
            worst = self.steps[int(np.argmax(sizes))]
            names = ", ".join(f"'{self.schema.names[j]}'" for j in (worst.column, *worst.scope))
            raise TooLargeError(
                f"summing out missing parents takes {sum(sizes)} cells per row, more than the "
                f"{self.dialect.most_cells} of {self.dialect.name}; the largest sum is over {names}. Pass "
                "missing_parents='null' to answer rows with a missing parent with NULL, or fit with fewer parents or "
                "fewer values."
            )
