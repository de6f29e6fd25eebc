"""The probabilities of naive Bayes: class priors and one table or density per column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import NaiveScorer, Score, n_threads
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.table import TableCounts
from bayeskit.defaults import PRIOR
from bayeskit.errors import BayeskitError
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.prior import class_prior
from bayeskit.estimate.smoothing import Smoothing, as_smoothing
from bayeskit.kinds import Estimation, Family, Kind, Statistics, kind_of, kinds
from bayeskit.table.encode import contiguous_low
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class NaiveBeliefs:
    """log P(c), and for each column log P(x_j | c): the parameters that its kind estimated."""

    schema: Schema
    log_prior: NDArray[np.float64]  # (n_classes,)
    # One item per column; see the kinds for what it holds.
    parameters: tuple[Any, ...]

    def __post_init__(self) -> None:
        n_columns, schema, none = len(self.schema), self.schema, int(Family.NONE)
        families, lows, sizes = ([0] * n_columns for _ in range(3))
        by_kind: list[tuple[int, Kind]] = []  # what the kernel does not know, the kinds compute themselves
        in_place = True  # arrays of numbers can be scored as they are when no value needs a code or a check
        for kind, columns in columns_by_kind(schema):
            family, numeric = int(kind.family), schema[columns[0]].is_numeric
            if (numeric or schema[columns[0]].is_text) and family == none:
                by_kind += [(j, kind) for j in columns]
            in_place = in_place and kind.any_number and not by_kind
            for j in columns:
                families[j] = family
            for j in columns if kind.coded else ():
                low, sizes[j] = contiguous_low(schema[j]), schema[j].n_values
                in_place, lows[j] = in_place and low is not None, low or 0
        compiled = [rows for rows, family in zip(self.parameters, families, strict=True) if family != none]
        stacked = np.concatenate([*compiled, np.empty((0, len(self.log_prior)))])
        scorer = NaiveScorer(self.log_prior, stacked, families, lows, sizes)
        for name, value in {"_scorer": scorer, "_by_kind": by_kind, "in_place": in_place}.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled scorer is made anew from the tables, wherever the beliefs are unpickled.
        return NaiveBeliefs, (self.schema, self.log_prior, self.parameters)

    @classmethod
    def of(
        cls,
        counts: TableCounts,
        settings: Estimation,
        *,
        prior: str | ArrayLike | dict[Any, float] = PRIOR,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> NaiveBeliefs:
        """Turn counts into beliefs; each kind estimates the parameters of its own columns.

        .. math:: P(c) = \\frac{|D_c| + λ}{N + Kλ}
        """
        factor = class_factors(counts.n_class, counts.classes, class_weight)
        n_class = counts.n_class * factor
        # log 0 = -inf is meant: without smoothing, a class without rows is impossible.
        with np.errstate(divide="ignore"):
            log_prior = np.log(class_prior(n_class, prior, settings.smoothing, counts.classes))
        parameters: list[Any] = [None] * len(counts.schema)
        for kind, columns in columns_by_kind(counts.schema):
            estimated = kind.estimate(statistics_of(counts, columns, factor), settings)
            for j, item in zip(columns, estimated, strict=True):
                parameters[j] = item
        return cls(counts.schema, log_prior, tuple(parameters))

    def log_penalty(self, counts: TableCounts, settings: Estimation, prior: Any) -> float:
        """Return log P(θ) of these estimates, with which EM's objective is penalised; see :meth:`Kind.log_prior`."""
        ones, total = np.ones(len(self.log_prior)), 0.0
        for kind, columns in columns_by_kind(self.schema):
            if not kind.maximizes:
                raise BayeskitError(
                    f"column '{self.schema[columns[0]].name}' is of kind '{kind.name}', {kind.description}, which does "
                    "not maximize a likelihood, so that EM cannot use it; fit it with another kind."
                )
            parameters = [self.parameters[j] for j in columns]
            total += kind.log_prior(statistics_of(counts, columns, ones), parameters, settings)
        return total + log_penalty_of_classes(self.log_prior, prior, settings.smoothing)

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Score encoded columns, or a whole array of numbers as it is when :attr:`in_place` says so.

        Returns the scores, the first impossible row, and the first row with an infinite
        number (−1 where there is none). With ``fallback`` an impossible row gets the prior.
        """
        scorer: NaiveScorer = self._scorer  # type: ignore[attr-defined]
        if isinstance(table, np.ndarray):
            return scorer.score(table, False, result, fallback, None, n_threads(table.size))
        table = self.read(table)
        threads, terms = n_threads(len(table[0]) * len(table)), self._terms_of_kinds(table)
        if self.schema.texts:  # which the kernel cannot read, and need not
            blank = np.zeros(len(table[0]), dtype=np.uint8)
            table = [blank if variable.is_text else column for variable, column in zip(self.schema, table, strict=True)]
        return scorer.score(table, True, result, fallback, terms, threads)

    def read(self, columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return encoded columns as their kinds read them; a number that does not fit its kind is an error."""
        read = zip(columns, self.schema, kinds_of(self.schema), strict=True)
        return [column if kind.any_number else kind.read(variable, column) for column, variable, kind in read]

    def _terms_of_kinds(self, columns: list[NDArray[Any]]) -> NDArray[np.float64] | None:
        # The sum of the log-densities that kinds compute themselves, of shape (n_rows, n_classes).
        total = None
        for j, kind in self._by_kind:  # type: ignore[attr-defined]
            term = kind.log_density(self.schema[j], self.parameters[j], columns[j])
            total = term if total is None else total + term
        return total


def log_joint_left_out(
    counts: TableCounts,
    settings: Estimation,
    columns: list[NDArray[Any]],
    rows: LeftOut,
    log_prior: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log P(x, c) of counted rows, of shape (n_rows, n_classes), each by the counts without itself."""
    log_joint, ones = log_prior.copy(), np.ones(counts.n_classes)
    for j, (variable, kind) in enumerate(zip(counts.schema, kinds_of(counts.schema), strict=True)):
        column = columns[j] if kind.any_number else kind.read(variable, columns[j])
        log_joint += kind.log_density_left_out(statistics_of(counts, [j], ones), settings, column, rows)
    return log_joint


def log_penalty_of_classes(log_prior: NDArray[np.float64], prior: Any, smoothing: float | str | Smoothing) -> float:
    """Return λ Σ log P(c) where the prior is smoothed: the log-density of a Dirichlet distribution."""
    if not isinstance(prior, str) or prior != "smoothed":
        return 0.0
    pseudo = as_smoothing(smoothing).pseudo_count(len(log_prior))
    return pseudo * float(log_prior.sum()) if pseudo else 0.0


def kinds_of(schema: Schema) -> list[Kind]:
    """Return the kind of each column."""
    known = kinds()
    return [known.get(variable.kind) or kind_of(variable) for variable in schema]


def columns_by_kind(schema: Schema) -> list[tuple[Kind, list[int]]]:
    """Return the kinds that a table has, each with the positions of its columns."""
    columns: dict[str, list[int]] = {}
    for j, variable in enumerate(schema):
        columns.setdefault(variable.kind, []).append(j)
    return [(kind_of(schema[places[0]]), places) for places in columns.values()]


def statistics_of(counts: TableCounts, columns: list[int], factor: NDArray[Any]) -> Statistics:
    """Return the statistics of columns of one kind, each row counted ``factor`` times by its class."""
    schema, values, moments = counts.schema, counts.values, counts.moments
    variables = tuple(schema.variables[j] for j in columns)
    tables: list[NDArray[Any]] = []
    if variables[0].is_discrete:
        ends = values.offsets
        rows = np.searchsorted(schema.discrete, columns)
        tables = [values.n_value[ends[k] : ends[k + 1]] * factor for k in rows]
    # Positions in the statistics of the numeric columns, whose order is that of the schema.
    places = np.searchsorted(schema.numeric, columns) if variables[0].is_numeric else np.empty(0, dtype=np.intp)
    numbers = counts.numbers.take(places).scaled(factor)
    words = [counts.texts[schema.place[j]].weighted(factor) for j in columns] if variables[0].is_text else []
    return Statistics(variables, counts.n_class * factor, tables, moments.take(places).scaled(factor), numbers, words)
