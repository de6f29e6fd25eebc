"""The terms of naive Bayes: a table or a density per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import LOG_ZERO, Table, add_lookups, log_numbers, merge
from bayeskit.export.target import closed_forms
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.learn.naive_beliefs import NaiveBeliefs

# A number is at most so many √2 deviations from a mean; its square is the LOG_ZERO of densities.
_FARTHEST = 1e150
# The scoring kernel adds the tables of four columns at a time; in the same order the sums are the same to the last bit.
_GROUP = 4


class NaiveTerms:
    """log P(x_j | c) of each column as expressions over its cell or its code."""

    def __init__(self, beliefs: NaiveBeliefs, dialect: Dialect, unseen: str) -> None:
        self.schema, self.parameters, self.dialect, self.unseen = (
            beliefs.schema,
            beliefs.parameters,
            dialect,
            unseen,
        )
        self.forms = closed_forms(beliefs, "SQL")
        self.tables = [j for j, variable in enumerate(beliefs.schema) if variable.is_discrete and variable.n_values]
        self.log_prior = log_numbers(beliefs.log_prior)

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted([*self.forms, *self.tables])

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query a lookup per table, or per two tables; return log P(x, c) of each class."""
        groups = list(self._groups())
        terms = iter(add_lookups(query, [table for group in groups for half in group for table in half]))
        grouped = [[[next(terms) for _ in half] for half in group] for group in groups]
        query.add({f"z{j}": f"CASE WHEN x{j} > 0 THEN ln(x{j}) END" for j, f in self.forms.items() if f.logarithm})
        for j, form in self.forms.items():
            cells.refused.extend(_unfit(j, form))
        return [self._sum(c, grouped) for c in range(len(self.log_prior))]

    def _sum(self, c: int, groups: Sequence[Sequence[Sequence[list[str]]]]) -> str:
        terms = [self.dialect.number(self.log_prior[c])]
        terms += [_bracket([_bracket([term[c] for term in half]) for half in group]) for group in groups]
        # least() leaves a NULL out, so that a missing cell is asked for first.
        terms += [f"CASE WHEN x{j} IS NULL THEN 0 ELSE {self._density(j, f, c)} END" for j, f in self.forms.items()]
        return sum_of(terms)

    def _groups(self) -> Iterator[list[list[Table]]]:
        """The tables in the order of their sum: (a + b) + (c + d) of each four columns, then one by one."""
        most = self.dialect.merged_numbers
        for first in range(0, len(self.tables), _GROUP):
            group = [self._table(j) for j in self.tables[first : first + _GROUP]]
            if len(group) < _GROUP:
                yield from ([[table]] for table in group)
            else:
                yield [merge(group[:2], most), merge(group[2:], most)]

    def _table(self, j: int) -> Table:
        """The table of a column: a missing cell, its values, then unseen ones where they have a slot."""
        n_values = self.schema[j].n_values + (self.unseen == "smooth")
        return Table.of_values((j,), self.parameters[j][:n_values])

    def _density(self, j: int, form: ClosedForm, c: int) -> str:
        number, z = self.dialect.number, f"z{j}" if form.logarithm else f"x{j}"
        parts = [number(form.constant[c])]
        if form.slope is not None:
            # A count beyond a million cannot make log 0 more impossible; the product must not overflow.
            cell = z if np.isfinite(form.slope[c]) else f"{self.dialect.least}({z}, {number(1e6)})"
            parts.append(f"{number(max(form.slope[c], LOG_ZERO))} * {cell}")
        if form.mean is not None and form.half_precision is not None:
            scale = float(np.sqrt(form.half_precision[c]))
            limit = number(min(_FARTHEST / scale, 1e300))
            away = f"{self.dialect.least}(abs({z} - {number(form.mean[c])}), {limit}) * {number(scale)}"
            return f"{sum_of(parts)} - ({away}) * ({away})"
        return sum_of(parts)


def _bracket(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({sum_of(terms)})"


def _unfit(j: int, form: ClosedForm) -> list[str]:
    below = [] if form.least is None else [f"x{j} < {_plain(form.least)}"]
    return below + [f"x{j} <= 0"] * form.logarithm + [f"floor(x{j}) < x{j}"] * form.whole


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(float(number))
