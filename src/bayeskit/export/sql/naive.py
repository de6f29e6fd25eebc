"""The terms of naive Bayes: a table or a density per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.kinds import kind_of
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.table.schema import Schema

# Stands for log 0: finite, so that no database meets ∞ − ∞, and far below what a possible row can have.
LOG_ZERO = -1e300
IMPOSSIBLE = -1e299
# A number is at most so many √2 deviations from a mean; its square is the LOG_ZERO of densities.
_FARTHEST = 1e150
# The scoring kernel adds the tables of four columns at a time; in the same order the sums are the same to the last bit.
_GROUP = 4


def log_numbers(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms with log 0 as a finite number."""
    return np.maximum(table, LOG_ZERO)


def closed_forms(schema: Schema, parameters: Sequence[Any], engine: str) -> dict[int, ClosedForm]:
    """Return the densities of the numeric columns; a kind without a closed form is an error."""
    forms = {}
    for j, variable in enumerate(schema):
        if variable.is_numeric:
            form = kind_of(variable).closed_form(parameters[j])
            if form is None:
                raise BayeskitError(
                    f"column '{variable.name}' is of kind '{variable.kind}', which has no closed form in {engine}; fit "
                    f"it with another kind, such as kinds={{'{variable.name}': 'equal-frequency'}}."
                )
            forms[j] = form
    return forms


class NaiveTerms:
    """log P(x_j | c) of each column as expressions over its cell or its code."""

    def __init__(self, beliefs: NaiveBeliefs, dialect: Dialect, unseen: str) -> None:
        self.schema, self.parameters, self.dialect, self.unseen = (
            beliefs.schema,
            beliefs.parameters,
            dialect,
            unseen,
        )
        self.forms = closed_forms(beliefs.schema, beliefs.parameters, "SQL")
        self.tables = [j for j, variable in enumerate(beliefs.schema) if variable.is_discrete and variable.n_values]
        self.log_prior = log_numbers(beliefs.log_prior)

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted([*self.forms, *self.tables])

    def add_stages(self, query: Query, cells: Cells) -> None:
        """Add to the query what the sums need: one place in a list per table, or per two tables."""
        places = {}
        for pair in self._pairs():
            place = f"{self._place(pair[0])}"
            for j in pair[1:]:
                place = f"({place} - 1) * {len(self._slots(j))} + {self._place(j)}"
            places[_name(pair)] = place
        for j, form in self.forms.items():
            if form.logarithm:
                places[f"z{j}"] = f"CASE WHEN x{j} > 0 THEN ln(x{j}) END"
            cells.refused.extend(_unfit(j, form))
        query.add(places)

    def sums(self) -> list[str]:
        """Return log P(x, c), one expression per class."""
        return [self._sum(c) for c in range(len(self.log_prior))]

    def _sum(self, c: int) -> str:
        terms = [self.dialect.number(self.log_prior[c])]
        for group in self._groups():
            parts = [self._lookup(pair, c) for pair in group]
            terms += [f"({sum_of(parts)})"] if sum(map(len, group)) == _GROUP else parts
        # least() leaves a NULL out, so that a missing cell is asked for first.
        terms += [f"CASE WHEN x{j} IS NULL THEN 0 ELSE {self._density(j, f, c)} END" for j, f in self.forms.items()]
        return sum_of(terms)

    def _groups(self) -> Iterator[list[tuple[int, ...]]]:
        # ((a + b) + (c + d)) for each full group; what is left is added one by one.
        for first in range(0, len(self.tables), _GROUP):
            group = self.tables[first : first + _GROUP]
            if len(group) < _GROUP:
                yield [(j,) for j in group]
            else:
                yield [*self._merged(group[0], group[1]), *self._merged(group[2], group[3])]

    def _pairs(self) -> Iterator[tuple[int, ...]]:
        for group in self._groups():
            yield from group

    def _merged(self, a: int, b: int) -> list[tuple[int, ...]]:
        fits = len(self._slots(a)) * len(self._slots(b)) <= self.dialect.merged_cells
        return [(a, b)] if fits else [(a,), (b,)]

    def _slots(self, j: int) -> NDArray[np.float64]:
        """The table of a column: its values, then unseen ones where they have a slot, then the missing cell."""
        rows, n_values = self.parameters[j], self.schema[j].n_values
        kept = n_values + (self.unseen == "smooth")
        return log_numbers(np.vstack([rows[:kept], np.zeros((1, rows.shape[1]))]))

    def _place(self, j: int) -> str:
        return f"coalesce(c{j}, {len(self._slots(j))})"

    def _lookup(self, pair: tuple[int, ...], c: int) -> str:
        table = self._slots(pair[0])[:, c]
        for j in pair[1:]:
            table = (table[:, None] + self._slots(j)[:, c]).ravel()
        return self.dialect.lookup(np.maximum(table, LOG_ZERO).tolist(), _name(pair))

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


def _unfit(j: int, form: ClosedForm) -> list[str]:
    if form.support == "above zero":
        return [f"x{j} <= 0"]
    return [f"x{j} < 0", f"floor(x{j}) < x{j}"] if form.support == "counts" else []


def _name(pair: tuple[int, ...]) -> str:
    return f"p{pair[0]}"
