"""Latent classes: a mixture over categorical and Gaussian columns with missing cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import LatentClassRows, Score, n_threads
from bayeskit.counts.table import TableCounts
from bayeskit.counts.values import ragged
from bayeskit.defaults import SMOOTHING
from bayeskit.errors import BayeskitError, TableError
from bayeskit.estimate.em import EMResult, expectation_maximisation
from bayeskit.io.expect import expect_array
from bayeskit.kinds import Family, kind_of
from bayeskit.kinds.reader import inferred
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.parameters import at_least
from bayeskit.learn.state import learned
from bayeskit.mixture.base import EMRecord, MixtureModel, MixtureState, warn_of_spikes
from bayeskit.mixture.cluster_summary import Column
from bayeskit.mixture.setup import counted_rows, refuse_equal_rows
from bayeskit.mixture.start import as_generator, k_means_plus_plus, seed_rows
from bayeskit.mixture.stored import refuse_infinite_parts, stored_columns, stored_weights
from bayeskit.progress import Progress, renamed
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_weight
from bayeskit.table.read import Source, read_table, refuse_sparse
from bayeskit.table.schema import Schema

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Classes:
    """The parameters of latent classes; ``mean`` is relative to the centre of each column."""

    weight: NDArray[np.float64]  # (k,): sums to 1
    table: NDArray[np.float64]  # (n_cells, k): P(value | class), column j owns the rows offsets[j]:offsets[j + 1]
    mean: NDArray[np.float64]  # (n_numeric, k)
    variance: NDArray[np.float64]  # (n_numeric, k)

    def arrays(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return what the kernel asks for."""
        with np.errstate(divide="ignore"):
            weight, table = np.log(self.weight), np.log(np.ascontiguousarray(self.table))
        return weight, table, np.ascontiguousarray(self.mean), np.ascontiguousarray(self.variance)

    def take(self, order: NDArray[np.int64]) -> Classes:
        """Return some of the classes, in this order."""
        parts = (np.ascontiguousarray(part[..., order]) for part in (self.weight, self.table, self.mean, self.variance))
        return Classes(*parts)


@dataclass(frozen=True)
class ColumnLayout:
    """Which columns are in use: coded ones with their sizes, and numeric ones with their centres."""

    coded: tuple[int, ...]
    sizes: tuple[int, ...]
    numeric: tuple[int, ...]
    centre: NDArray[np.float64]  # (n_numeric,)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first cell of each coded column."""
        return ragged(list(self.sizes))

    def rows(self, columns: list[NDArray[Any]], weight: NDArray[np.float64] | None) -> LatentClassRows:
        """Return encoded columns as the kernel reads them."""
        coded, numeric = ([columns[j] for j in places] for places in (self.coded, self.numeric))
        return LatentClassRows(coded, list(self.sizes), numeric, self.centre, weight)


@dataclass(frozen=True, eq=False)
class LatentClassState(MixtureState):
    """The parameters of latent classes, and the columns that they are over."""

    layout: ColumnLayout
    latent: Classes

    @property
    def tables(self) -> dict[str, NDArray[np.float64]]:
        """For each column in use: P(value | class) of shape (n_values, k), or mean and deviation of shape (2, k)."""
        layout, classes = self.layout, self.latent
        ends = layout.offsets
        tables = {j: classes.table[ends[a] : ends[a + 1]] for a, j in enumerate(layout.coded)}
        for a, j in enumerate(layout.numeric):
            tables[j] = np.stack([classes.mean[a] + layout.centre[a], np.sqrt(classes.variance[a])])
        return {self.schema.names[j]: tables[j] for j in sorted(tables)}

    def parameters_of(self, components: Classes) -> dict[str, Any]:
        """Return weights and tables as the attributes show them."""
        return {"weights": components.weight, "tables": replace(self, latent=components).tables}

    def score(self, columns: list[NDArray[Any]], wanted: Score) -> tuple[NDArray[Any], int]:
        """Return the scores of encoded rows, and the first with probability 0 under every class, or -1."""
        threads = n_threads(len(columns[0]) * len(columns) * len(self.weights))
        return self.layout.rows(columns, None).score(*self.latent.arrays(), wanted, threads)


@dataclass(eq=False, repr=False)
class LatentClass(MixtureModel):
    r"""Latent class analysis: within a hidden class the columns of a table, categorical or Gaussian, are independent.

    .. math:: P(x) = \sum_c π_c \prod_j P(x_j \mid c)

    It is naive Bayes with a hidden class, fitted by EM. A missing cell is left out of the product, which sums
    it out exactly; a value that was not seen in ``fit`` counts as missing.

    Parameters
    ----------
    n_components : int or "auto", default "auto"
        The number of classes; "auto" tries 1, 2, … and keeps the best by ``criterion``.
    smoothing : float, default 1.0
        λ: added to the expected count of each value, and of each class. The objective has the penalty
        λ Σ log P(v | c) + λ Σ log π_c; 0 is maximum likelihood.
    kinds : dict of column to kind, or one kind for all, optional
        Overrides the dtype: any kind that is counted by value, or "gaussian" for numbers.
    criterion : {"bic", "aic"}, default "bic"
        The criterion that chooses the number of classes.
    max_components : int, default 10
        The largest number that "auto" tries; it stops earlier after three numbers in a row that do not improve the
        criterion.
    n_init : int, default 3
        The number of random starts; the one with the best final objective is kept.
    tol : float, default 1e-6
        Stop when a step improves the objective by less than this per row.
    max_iter : int, default 1000
        The largest number of steps; reaching it gives a warning.
    regularization : float, default 1e-6
        This times the variance of a numeric column is added to its scatter in each class, as in
        :class:`~bayeskit.GaussianMixture`.
    random_state : int, generator or None, default 0
        Seed of the random starts.

    Attributes
    ----------
    weights_ : float array of shape (k,)
        P(class), in decreasing order.
    tables_ : dict
        For each column in use: P(value | class) of shape (n_values, k), or mean and deviation of shape (2, k).
    labels_, history_, selection_, log_likelihood_
        As in :class:`~bayeskit.GaussianMixture`.

    References
    ----------
    Lazarsfeld & Henry (1968), Latent Structure Analysis; Goodman (1974), Biometrika 61, 215–231, for EM.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> birds = datasets.load_penguins()
    >>> species, year = birds.pop("species"), birds.pop("year")
    >>> model = LatentClass().fit(birds)  # finds species and sex
    >>> model.n_components_, model.labels_[:4].tolist(), birds["sex"][:4]
    (6, [1, 0, 0, 0], ['male', 'female', 'female', None])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {**MixtureModel._rules, "smoothing": at_least(0)}
    _state: LatentClassState = field(init=False)

    tables_ = learned("tables", "For each column in use: P(value | class), or mean and deviation of each class.")

    _: KW_ONLY
    smoothing: float = SMOOTHING
    kinds: Any = None
    max_iter: int = 1000

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: Progress | None = None,
        record: bool = False,
    ) -> Self:
        """Learn the classes from a table.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, or dict of lists. Text, categories and booleans are
            categorical, numbers are Gaussian, NaN / None / null is missing.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.
        record : bool, default False
            Keep the "weights" and "tables" before the first step and after each, as ``history_.parameters``.
        """
        settings = self._checked_settings()
        refuse_sparse(X)
        whole = read_table(inferred(X, self.kinds, None))
        source, weight = counted_rows(whole, read_weight(sample_weight, whole.n_rows))
        counts = learn_counts(source, weight=weight, kinds=self.kinds)
        layout, deviation = _layout(counts)
        fitting = _Fitting(source, weight, counts, layout, deviation, self)
        base = int(as_generator(self.random_state).integers(2**62))
        result, tried = self._choose(source.n_rows, fitting.total, lambda k: fitting.climb(k, base, progress, record))
        order = np.argsort(-result.parameters.weight, kind="stable")
        classes: Classes = result.parameters.take(order)
        names = [counts.schema.names[j] for j in layout.numeric]
        advice = "Make a column with few distinct numbers categorical (kinds), or lower n_components."
        warn_of_spikes(classes.variance.T, classes.weight * fitting.total, fitting.floor, names, advice)
        parameters = (classes.weight, None, layout, classes)
        state = LatentClassState(settings, counts.schema, None, EMRecord.of(result, tried), *parameters)
        labels = state.score(encode(whole, counts.schema), Score.CLASS)[0]
        self._state = replace(state.with_steps(order), labels=labels)
        return self

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        state: LatentClassState = self._fitted
        return free_parameters(state.layout, len(state.weights))

    def _scores(self, X: Any, wanted: Score) -> tuple[NDArray[Any], int]:
        return self._state.score(self._encode(X), wanted)

    def _columns(self) -> list[Column]:
        state, tables, columns = self._state, self._state.tables, []
        for j in sorted((*state.layout.coded, *state.layout.numeric)):
            variable = state.schema[j]
            table = tables[variable.name]
            if variable.is_discrete:
                columns.append(Column(variable.name, values=variable.values, table=table))
            else:
                columns.append(Column(variable.name, table[0], table[1]))
        return columns

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """Draw rows, as a dict of the columns in use, and their classes; a bin is drawn as its name."""
        model = self._now()
        labels, rng = model._sample_labels(n_samples, random_state)
        drawn: dict[str, Any] = {}
        for name, table in model.tables_.items():
            variable = model.schema_[name]
            if variable.is_discrete:
                # By the inverse of each row's distribution.
                place = (rng.random(n_samples) > np.cumsum(table, axis=0)[:, labels]).sum(axis=0)
                drawn[name] = [variable.values[min(v, variable.n_values - 1)] for v in place.tolist()]
            else:
                drawn[name] = rng.normal(table[0, labels], table[1, labels])
        return drawn, labels

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = self._state.record.to_parts()
        layout, classes = self._state.layout, self._state.latent
        parts = {"numeric": np.array(layout.numeric, dtype=np.int64), "centre": layout.centre}
        parts |= {"weight": classes.weight, "table": classes.table, "mean": classes.mean, "variance": classes.variance}
        return meta, {**arrays, **parts}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> LatentClassState:
        record = EMRecord.from_parts(meta, arrays)
        numeric = tuple(stored_columns(arrays, "numeric", schema.numeric).tolist())
        sizes = tuple(schema[j].n_values for j in schema.discrete)
        centre = expect_array(arrays, "centre", np.float64, (len(numeric),))
        layout = ColumnLayout(schema.discrete, sizes, numeric, centre)
        weight = stored_weights(arrays)
        k = len(weight)
        table = expect_array(arrays, "table", np.float64, (sum(sizes), k))
        mean, variance = (expect_array(arrays, name, np.float64, (len(numeric), k)) for name in ("mean", "variance"))
        if (table < 0).any():
            raise ValueError("a probability is negative")
        sums = np.add.reduceat(table, layout.offsets[:-1], axis=0) if len(sizes) else np.ones(1)
        if not np.allclose(sums, 1.0) or not (variance > 0).all():
            raise ValueError("a table does not sum to 1, or a variance is not above 0")
        refuse_infinite_parts(mean, variance, centre)
        return LatentClassState(
            self, schema, target, record, weight, None, layout, Classes(weight, table, mean, variance)
        )


def free_parameters(layout: ColumnLayout, k: int) -> int:
    """Return the number of free parameters of k classes."""
    return k - 1 + k * (sum(layout.sizes) - len(layout.sizes)) + 2 * k * len(layout.numeric)


def _layout(counts: TableCounts) -> tuple[ColumnLayout, NDArray[np.float64]]:
    """Return the columns that are in use, and the deviation of the numeric ones."""
    schema, moments = counts.schema, counts.moments
    for j in schema.numeric:
        if kind_of(schema[j]).family is not Family.GAUSSIAN:
            raise TableError(
                f"column '{schema[j].name}' is {schema[j].kind}; latent classes take categorical and gaussian columns."
            )
    varies = moments.scatter[:, 0] > 0
    numeric = tuple(j for j, differs in zip(schema.numeric, varies.tolist(), strict=True) if differs)
    coded, sizes = schema.discrete, tuple(schema[j].n_values for j in schema.discrete)
    any_varies = bool(numeric) or any(size > 1 for size in sizes)
    refuse_equal_rows(schema, (*coded, *numeric), int(counts.n_class.sum()), any_varies=any_varies)
    deviation = np.sqrt(moments.scatter[varies, 0] / moments.weight[varies, 0])
    return ColumnLayout(coded, sizes, numeric, np.ascontiguousarray(moments.mean[varies, 0])), deviation


class _Fitting:
    """A table that is being fitted."""

    def __init__(
        self,
        source: Source,
        weight: NDArray[np.float64] | None,
        counts: TableCounts,
        layout: ColumnLayout,
        deviation: NDArray[np.float64],
        model: LatentClass,
    ) -> None:
        self.columns = encode(source, counts.schema)
        self.weight = weight
        self.total = float(source.n_rows if weight is None else weight.sum())
        self.layout, self.deviation, self.model = layout, deviation, model
        self.rows = layout.rows(self.columns, weight)
        self.margin = counts.values.n_value[:, 0].astype(np.float64)  # (n_cells,)
        self.offsets = layout.offsets
        self.floor = model.regularization * deviation**2  # (n_numeric,)

    def climb(self, k: int, base: int, progress: Progress | None, record: bool) -> tuple[EMResult[Classes], float, int]:
        threads = n_threads(len(self.columns[0]) * len(self.columns) * k)

        def expect(classes: Classes) -> tuple[Any, float]:
            *statistics, objective, impossible = self.rows.expect(*classes.arrays(), threads)
            if impossible >= 0 or not np.isfinite(objective):
                raise BayeskitError(
                    f"row {max(impossible, 0)}: it has probability 0 under every class; pass smoothing > 0."
                )
            return (classes, statistics), objective + self.penalty(classes)

        result = expectation_maximisation(
            self.starts(k, base),
            expect,
            self.maximise,
            tol=self.model.tol * self.total,
            max_iter=self.model.max_iter,
            restarts=True,
            progress=renamed(progress, f"em, {k} components"),
            record=record,
        )
        log = result.history.objective[-1] - self.penalty(result.parameters)
        return result, log, free_parameters(self.layout, k)

    def maximise(self, statistics: Any) -> Classes:
        classes, (total, cells, weight, first, second) = statistics
        smoothing, k = self.model.smoothing, len(total)
        prior = (total + smoothing) / (total.sum() + k * smoothing)
        known = np.where(weight > 0, weight, 1.0)
        shift = first / known
        scatter = np.maximum(second - first * shift, 0.0)
        # A class that knows no cell of a column keeps what it believed.
        variance = np.where(weight > 0, (scatter + self.floor[:, None]) / known, classes.variance)
        return Classes(prior, self.normalised(cells + smoothing, classes.table), classes.mean + shift, variance)

    def normalised(self, cells: NDArray[np.float64], fallback: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide the cells of each column by their sum; a class without any keeps ``fallback``."""
        if not len(cells):
            return cells
        sums = np.repeat(np.add.reduceat(cells, self.offsets[:-1], axis=0), np.diff(self.offsets), axis=0)
        return np.where(sums > 0, cells / np.where(sums > 0, sums, 1.0), fallback)

    def penalty(self, classes: Classes) -> float:
        """Return the penalty of the log-likelihood; the sum never decreases."""
        penalty = -0.5 * float((self.floor[:, None] / classes.variance).sum())
        if self.model.smoothing > 0:
            penalty += self.model.smoothing * float(np.log(classes.table).sum() + np.log(classes.weight).sum())
        return penalty

    def starts(self, k: int, base: int) -> Iterator[Classes]:
        """Yield starts: classes around rows that k-means++ draws, with distance 1 for different values."""
        margin = self.normalised(np.repeat(self.margin[:, None] + 1e-9, k, axis=1), np.zeros(()))
        variance = np.repeat(self.deviation[:, None] ** 2, k, axis=1)
        even = np.full(k, 1.0 / k)
        if k == 1:
            yield Classes(even, margin, np.zeros((len(self.deviation), 1)), variance)
            return
        codes, numbers, chosen, weight = self._seedable(np.random.default_rng([base, 0]))

        def distances(i: int) -> NDArray[np.float64]:
            both = np.zeros(len(chosen))
            for column in codes:
                both += (column != column[i]) & (column >= 0) & (column[i] >= 0)
            for number in numbers:
                both += (number - number[i]) ** 2
            return both

        for start in range(self.model.n_init):
            seeds = k_means_plus_plus(distances, weight, k, np.random.default_rng([base, k, start]))
            table = margin.copy()
            for first, column in zip(self.offsets[:-1].tolist(), codes, strict=True):
                for c, i in enumerate(seeds):
                    if column[i] >= 0:
                        table[first + int(column[i]), c] += 1.0
            table = self.normalised(table, margin)
            mean = np.array([number[seeds] for number in numbers]).reshape(len(numbers), k) * self.deviation[:, None]
            yield Classes(even, table, mean, variance)

    def _seedable(
        self, rng: np.random.Generator
    ) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64]], NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows to seed from: codes with -1 for unknown, and numbers in deviations with 0 for unknown."""
        layout = self.layout
        place = np.zeros(len(self.columns[0]))
        for j, size in zip(layout.coded, layout.sizes, strict=True):
            lookup = np.append(rng.normal(size=size), 0.0)
            place += lookup[np.minimum(self.columns[j], size)]
        for a, j in enumerate(layout.numeric):
            place += rng.normal() * np.nan_to_num((self.columns[j] - layout.centre[a]) / self.deviation[a])
        chosen, weight = seed_rows(place, self.weight)
        codes = []
        for j, size in zip(layout.coded, layout.sizes, strict=True):
            column = self.columns[j][chosen].astype(np.int64)
            codes.append(np.where(column < size, column, -1))
        numbers = [
            np.nan_to_num((self.columns[j][chosen] - layout.centre[a]) / self.deviation[a])
            for a, j in enumerate(layout.numeric)
        ]
        return codes, numbers, chosen, weight
