"""The terms of classifiers with a structure: a table per feature and its parents, missing parents summed out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.elimination import EliminationStep, Factor, plan_elimination
from bayeskit.export.sql.naive import log_numbers
from bayeskit.export.sql.query import Query, sum_of

# exp() of less would be a number so small that PostgreSQL refuses it.
_LEAST_EXPONENT = -600.0


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
        if self.sums_out:
            self._refuse_large()

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted({j for members in self.families for j in members})

    def add_stages(self, query: Query, cells: Cells) -> None:
        """Add to the query the place of each row in each list, and the sums over missing parents."""
        query.add({f"f{f}": self._place(f) for f in range(len(self.families))})
        if not self.sums_out:
            cells.refused.extend(f"c{step.column} IS NULL" for step in self.steps)
            return
        for level in sorted({step.level for step in self.steps}):
            steps = [step for step in self.steps if step.level == level]
            query.add(dict(item for step in steps for item in self._slices(step)))
            query.add({f"b{s.column}": self._products(s) for s in steps})
            query.add({f"g{s.column}": self._peaks(s) for s in steps})
            query.add({f"m{s.column}": self._log_sums(s) for s in steps})
        # Where a sum depends on nothing that is missing, it is a term of its own.
        places = {f"i{s.column}": self._base(s.message(), s.scope) for s in self.steps if s.scope}
        missing = " OR ".join(f"c{step.column} IS NULL" for step in self.steps)
        query.add({**places, "h0": missing} if missing else {})

    def sums(self) -> list[str]:
        """Return log P(x, c), one expression per class."""
        return [self._sum(c) for c in range(len(self.log_prior))]

    def _sum(self, c: int) -> str:
        terms = [self.dialect.number(self.log_prior[c])]
        for f, table in enumerate(self.tables):
            terms.append(self.dialect.lookup([*table[..., c].ravel().tolist(), 0.0], f"f{f}"))
        if self.sums_out and self.steps:
            # Asked for once a row, since most rows have all parents.
            terms.append(f"CASE WHEN h0 THEN {sum_of([self._message(step, c) for step in self.steps])} ELSE 0 END")
        return sum_of(terms)

    def _message(self, step: EliminationStep, c: int) -> str:
        place = f"i{step.column} + {c + 1}" if step.scope else str(c + 1)
        return f"coalesce({self.dialect.item(f'm{step.column}', place)}, 0)"

    def _place(self, f: int) -> str:
        # The last place holds a zero, for rows in which a member is missing.
        members, n_cells = self.families[f], self.tables[f][..., 0].size
        return f"coalesce({self._flat(members)} + 1, {n_cells + 1})"

    def _flat(self, columns: Sequence[int]) -> str:
        """Return the place of the values of several columns in a table of all of them, from 0."""
        place = f"(c{columns[0]} - 1)"
        for j in columns[1:]:
            place = f"({place} * {self.sizes[j]} + c{j} - 1)"
        return place

    # -- sums over missing parents ----------------------------------------------------------------------------------

    def _where_missing(self, step: EliminationStep, n_items: int, item: str) -> str:
        return f"CASE WHEN c{step.column} IS NULL THEN {self.dialect.comprehension(n_items, item)} END"

    def _slices(self, step: EliminationStep) -> Iterator[tuple[str, str]]:
        """The part of each factor that the known values leave: lists for tables, first places for earlier sums."""
        for factor in step.factors:
            known = factor.members[: factor.members.index(step.column)]
            name = _slice_name(factor, step)
            if factor.is_message:
                if known:
                    yield name, self._base(factor, known)
                continue
            guard = " AND ".join([f"c{step.column} IS NULL", *(f"c{j} IS NOT NULL" for j in (*known, *_leaf(factor)))])
            yield name, f"CASE WHEN {guard} THEN {self._slice(factor, known)} END"

    def _slice(self, factor: Factor, known: tuple[int, ...]) -> str:
        first = (*_leaf(factor), *known)
        left = factor.members[len(known) :]
        members, table = self.families[factor.number], self.tables[factor.number]
        axes = [members.index(j) for j in (*first, *left)]
        rows = np.moveaxis(table, axes, range(len(axes))).reshape(prod(self.sizes[j] for j in first), -1).tolist()
        return self.dialect.row(rows, f"{self._flat(first)} + 1") if first else self.dialect.numbers(rows[0])

    def _base(self, factor: Factor, known: Sequence[int]) -> str:
        """How many items of a list come before those that belong to the known values."""
        left = factor.members[len(known) :]
        return f"{self._flat(known)} * {prod(self.sizes[j] for j in left) * len(self.log_prior)}"

    def _products(self, step: EliminationStep) -> str:
        """The logarithms of what is summed: a list over the values of the scope, of the column, and the classes."""
        columns = (*step.scope, step.column)
        items = [self._factor_item(factor, step, columns) for factor in step.factors]
        return self._where_missing(step, self._n_cells(columns), sum_of(items))

    def _factor_item(self, factor: Factor, step: EliminationStep, columns: tuple[int, ...]) -> str:
        at, n_classes = factor.members.index(step.column), len(self.log_prior)
        places, stride = [f"i % {n_classes} + 1"], n_classes
        for j in reversed(factor.members[at:]):
            before = self._n_cells(columns[columns.index(j) + 1 :])  # items between two values of j
            digit = f"{self.dialect.quotient('i', before)} % {self.sizes[j]}"
            places.append(f"({digit}) * {stride}")
            stride *= self.sizes[j]
        vector = _slice_name(factor, step)
        if factor.is_message:
            places += [vector] if at else []
            vector = f"m{factor.number}"
        return f"coalesce({self.dialect.item(vector, sum_of(places))}, 0)"

    def _n_cells(self, columns: Sequence[int]) -> int:
        return prod(self.sizes[j] for j in columns) * len(self.log_prior)

    def _summed(self, step: EliminationStep) -> list[str]:
        """The items of the list of products that item i of the result adds up."""
        n_classes, size = len(self.log_prior), self.sizes[step.column]
        scope = self.dialect.quotient("i", n_classes)
        places = [f"({scope} * {size} + {v}) * {n_classes} + i % {n_classes} + 1" for v in range(size)]
        return [self.dialect.item(f"b{step.column}", place) for place in places]

    def _peaks(self, step: EliminationStep) -> str:
        peak = self.dialect.greatest(self._summed(step))
        return self._where_missing(step, self._n_cells(step.scope), peak)

    def _log_sums(self, step: EliminationStep) -> str:
        # Shifted by the peak, exp() cannot overflow and one term is 1.
        least, peak = self.dialect.number(_LEAST_EXPONENT), self.dialect.item(f"g{step.column}", "i + 1")
        parts = [f"exp({self.dialect.greatest([f'{item} - {peak}', least])})" for item in self._summed(step)]
        return self._where_missing(step, self._n_cells(step.scope), f"{peak} + ln({sum_of(parts)})")

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


def _leaf(factor: Factor) -> tuple[int, ...]:
    return () if factor.leaf is None else (factor.leaf,)


def _slice_name(factor: Factor, step: EliminationStep) -> str:
    return f"{'w' if factor.is_message else 'v'}{factor.number}_{step.column}"
