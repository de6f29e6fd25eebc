"""The terms of a sum: a table or a density per column, as naive Bayes and logistic regression have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayeskit.export.scorer import Sum
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.tables import LOG_ZERO, Table, add_lookups, log_numbers, merge
from bayeskit.kinds.closed_form import ClosedForm

# A number is at most so many √2 deviations from a mean; its square is the LOG_ZERO of densities.
_FARTHEST = 1e150
# A column may move a score by so much.
_FARTHEST_SCORE = 1e300
# The scoring kernel adds the tables of four columns at a time; in the same order the sums are the same to the last bit.
_GROUP = 4


class SumTerms:
    """log P(x_j | c) of each column as expressions over its cell or its code."""

    def __init__(self, part: Sum, dialect: Dialect) -> None:
        self.dialect, self.forms, self.tables = dialect, part.densities, part.tables
        self.start = log_numbers(part.start)

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
            cells.refused.extend(_unfit(j, form, self.dialect))
        return [self._sum(c, grouped) for c in range(len(self.start))]

    def _sum(self, c: int, groups: Sequence[Sequence[Sequence[list[str]]]]) -> str:
        terms = [self.dialect.number(self.start[c])]
        terms += [_bracket([_bracket([term[c] for term in half]) for half in group]) for group in groups]
        # least() leaves a NULL out, so that a missing cell is asked for first.
        terms += [f"CASE WHEN x{j} IS NULL THEN 0 ELSE {self._density(j, f, c)} END" for j, f in self.forms.items()]
        return sum_of(terms)

    def _groups(self) -> Iterator[list[list[Table]]]:
        """The tables in the order of their sum: (a + b) + (c + d) of each four columns, then one by one."""
        most, tables = self.dialect.merged_numbers, [Table.of_values((j,), table) for j, table in self.tables.items()]
        for first in range(0, len(tables), _GROUP):
            group = tables[first : first + _GROUP]
            if len(group) < _GROUP:
                yield from ([[table]] for table in group)
            else:
                yield [merge(group[:2], most), merge(group[2:], most)]

    def _density(self, j: int, form: ClosedForm, c: int) -> str:
        number, z = self.dialect.number, f"z{j}" if form.logarithm else f"x{j}"
        parts = [number(form.constant[c])]
        if form.slope is not None:
            # A count beyond a million cannot make log 0 more impossible; the product must not overflow.
            cell = z if np.isfinite(form.slope[c]) else f"{self.dialect.least}({z}, {number(1e6)})"
            cell = f"({cell} - {number(form.origin)})" if form.origin else cell
            parts.append(f"{number(max(form.slope[c], LOG_ZERO))} * {cell}")
        if form.mean is not None and form.half_precision is not None:
            scale = float(np.sqrt(form.half_precision[c]))
            limit = number(min(_FARTHEST / scale, 1e300))
            away = f"{self.dialect.least}(abs({z} - {number(form.mean[c])}), {limit}) * {number(scale)}"
            return f"{sum_of(parts)} - ({away}) * ({away})"
        return sum_of(parts)


def _bracket(terms: Sequence[str]) -> str:
    return terms[0] if len(terms) == 1 else f"({sum_of(terms)})"


def _unfit(j: int, form: ClosedForm, dialect: Dialect) -> list[str]:
    conditions = [f"x{j} <= 0"] * form.logarithm + [f"floor(x{j}) < x{j}"] * form.whole
    if form.least is not None:
        conditions.append(f"x{j} < {_plain(form.least)}")
    if form.mean is None and form.least is None and form.slope is not None:  # a score that overflows is refused
        steepest = max(1.0, float(np.abs(form.slope).max()))
        conditions.append(f"abs(x{j}) > {dialect.number(_FARTHEST_SCORE / steepest)}")
    return conditions


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(float(number))
