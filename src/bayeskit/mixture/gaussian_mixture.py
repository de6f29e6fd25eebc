"""Gaussian mixtures by EM, and k-means as the hard case with a known variance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import GaussianMixtureRows, Score, n_threads
from bayeskit.errors import BayeskitError
from bayeskit.estimate.em import EMResult, expectation_maximisation
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.parameters import one_of
from bayeskit.learn.state import learned
from bayeskit.mixture.base import DEAD, EMRecord, MixtureModel, MixtureState, warn_of_spikes
from bayeskit.mixture.cluster_summary import Column
from bayeskit.mixture.covariance_shapes import SHAPES, Components, Expected, MStep, Shape
from bayeskit.mixture.em_steps import ShowsSteps
from bayeskit.mixture.gaussian_rows import MixtureRows, reinitialised
from bayeskit.mixture.given_start import given_components, given_means
from bayeskit.mixture.setup import counted_rows, refuse_equal_rows
from bayeskit.mixture.start import as_generator, k_means_plus_plus, seed_rows
from bayeskit.mixture.stored import refuse_infinite_parts, stored_columns, stored_weights
from bayeskit.progress import Progress, renamed
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_weight
from bayeskit.table.read import Source, read_table, refuse_sparse
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class GaussianMixtureState(MixtureState):
    """Gaussian components over the columns that vary; a constant column keeps its one value."""

    used: NDArray[np.int64]  # (d,) the columns that vary
    centre: NDArray[np.float64]  # (d,), which the components' means are relative to
    fill: NDArray[np.float64]  # (n_features,)
    components: Components
    inertia: float | None  # of k-means

    @property
    def means(self) -> NDArray[np.float64]:
        """The means of all columns, of shape (k, n_features)."""
        means = np.repeat(self.fill[None], len(self.weights), axis=0)
        means[:, self.used] = self.components.mean + self.centre
        return means

    @property
    def covariances(self) -> NDArray[np.float64]:
        """The covariances of all columns, in scikit-learn's shapes."""
        k, d, used, spread = len(self.weights), len(self.schema), self.used, self.components.spread
        shape: str = self.settings.covariance  # type: ignore[attr-defined]
        if spread.ndim == 3:
            whole = np.zeros((k, d, d))
            whole[np.ix_(np.arange(k), used, used)] = spread
            return whole[0] if shape == "tied" else whole
        if shape == "diagonal":
            whole = np.zeros((k, d))
            whole[:, used] = spread
            return whole
        return spread[:, 0].copy() if shape == "spherical" else np.array(spread[0, 0])

    def parameters_of(self, components: Components) -> dict[str, Any]:
        """Return weights, means and covariances as the attributes show them."""
        step = replace(self, components=components, weights=components.weight)
        return {"weights": step.weights, "means": step.means, "covariances": step.covariances}

    def kernel(self, columns: list[NDArray[Any]]) -> GaussianMixtureRows:
        """Return encoded rows as the kernel reads them."""
        return GaussianMixtureRows([columns[j] for j in self.used.tolist()], self.centre, None)

    def score(self, rows: GaussianMixtureRows, n_rows: int, wanted: Score) -> tuple[NDArray[Any], int]:
        """Return the scores of rows, and the first with density zero under every component, or -1."""
        components, threads = self.components, n_threads(n_rows * len(self.used) * len(self.weights))
        scores, impossible, _ = rows.score(components.log_weight, components.mean, components.spread, wanted, threads)
        return scores, impossible


@dataclass(eq=False, repr=False)
class GaussianMixture(ShowsSteps, MixtureModel):
    r"""A mixture of Gaussians, fitted by EM; with ``hard=True`` each row counts for one component, as in k-means.

    .. math:: p(x) = \sum_c π_c \, N(x \mid μ_c, Σ_c)

    The E-step assigns each row to the components in part, :math:`r_{ic} \propto π_c N(x_i \mid μ_c, Σ_c)`; the M-step
    takes weighted means and covariances. Missing cells are integrated out, exactly: the density is that of the known
    cells, and full covariances get the conditional mean and covariance of the missing ones.

    Parameters
    ----------
    n_components : int or "auto", default "auto"
        The number of components; "auto" tries 1, 2, … and keeps the best by ``criterion``.
    covariance : {"full", "tied", "diagonal", "spherical", "fixed"}, default "full"
        Shape of the covariances. "fixed" is the textbook's problem of k means: equal weights and one known variance
        ``sigma`` ** 2 for all columns and components, so that only the means are learned.
    hard : bool, default False
        Count each row only for its most probable component (classification EM). With ``covariance="fixed"`` this is
        k-means.
    sigma : float, optional
        The known standard deviation of "fixed"; k-means (``hard=True``) needs none.
    criterion : {"bic", "aic"}, default "bic"
        The criterion that chooses the number of components.
    max_components : int, default 10
        The largest number that "auto" tries; it stops earlier after three numbers in a row that do not improve the
        criterion.
    init : "k-means++", array of shape (n_components, n_features), or dict, default "k-means++"
        The start: random seeds, given means, or all of "weights", "means" and "covariances" (as in the attributes).
    n_init : int, default 3
        The number of random starts; the one with the best final objective is kept.
    tol : float, default 1e-6
        Stop when a step improves the objective by less than this per row.
    max_iter : int, default 500
        The largest number of steps; reaching it gives a warning.
    regularization : float, default 1e-6
        Λ = this times the variance of each column is added to the scatter of each component, which keeps covariances
        from becoming singular. The objective has the penalty −½ Σ tr(Λ Σ⁻¹); 0 is maximum likelihood.
    random_state : int, generator or None, default 0
        Seed of the random starts.

    Attributes
    ----------
    weights_, means_, covariances_ : arrays
        π, μ and Σ; components are in decreasing order of their weight, unless ``init`` gave them an order. Covariances
        have shape (k, d, d), (d, d), (k, d), (k,) or () by ``covariance``. A constant column has variance 0.
    labels_ : int array of shape (n_rows,)
        The cluster of each row of the fit.
    history_ : History
        The objective before each step and at the end, why EM stopped, and the final objective of every start.
    selection_ : tuple of Candidate
        The numbers of components that were tried, with log-likelihood, BIC and AIC.
    log_likelihood_ : float
        log P of the rows of the fit, without the penalty; with ``hard``, of rows and labels together.

    References
    ----------
    Dempster, Laird & Rubin (1977); Celeux & Govaert (1992) for ``hard``; Ghahramani & Jordan (1994) for missing cells.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0, 0], [6, 6], [0, 9]], 100, axis=0)
    >>> model = GaussianMixture().fit(rows)
    >>> model.n_components_, model.weights_.round(2)
    (3, array([0.33, 0.33, 0.33]))
    >>> GaussianMixture(3, covariance="fixed", hard=True).fit(rows).inertia_ < 600
    True
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **MixtureModel._rules,
        "covariance": one_of(*SHAPES),
        "hard": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
        "sigma": (
            "None or a finite number above 0",
            lambda value: value is None or (isinstance(value, int | float) and 0 < value < np.inf),
        ),
        "init": (
            "'k-means++', an array of means or a dict of weights, means and covariances",
            lambda value: not isinstance(value, str) or value == "k-means++",
        ),
    }

    _state: GaussianMixtureState = field(init=False)

    means_ = learned("means", "μ_c, of shape (k, n_features).")
    covariances_ = learned("covariances", "Σ_c, in scikit-learn's shapes for each kind of covariance.")

    _: KW_ONLY
    covariance: Shape = "full"
    hard: bool = False
    sigma: float | None = None
    init: Literal["k-means++"] | ArrayLike | Mapping[str, ArrayLike] = "k-means++"

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
        """Learn the mixture from a table of numbers; NaN is a missing cell.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, or dict of lists; all columns numbers.
        y : ignored
            Present for scikit-learn's pipelines.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.
        record : bool, default False
            Keep the "weights", "means" and "covariances" before the first step and after each, as
            ``history_.parameters``; each is what ``init`` takes.
        """
        settings = self._checked_settings()
        self._refuse_odd_choices()
        refuse_sparse(X)
        source = read_table(X)
        weight = read_weight(sample_weight, source.n_rows)
        schema, used, fill, rows = self._read(source, weight)
        estimator = self._estimator(rows)
        base = int(as_generator(self.random_state).integers(2**62))
        result, tried = self._choose(
            rows.n_rows, rows.total, lambda k: self._climb(rows, estimator, k, base, progress, record)
        )
        order = np.arange(len(result.parameters.weight))
        if isinstance(self.init, str):
            order = np.argsort(-result.parameters.weight, kind="stable")
        components: Components = result.parameters.take(order)
        outcome = EMRecord.of(result, tried)
        inertia = None
        if self.hard and self.covariance == "fixed":
            # The objective is -½ Σ |x - μ|² / σ² plus what only counts rows and known cells.
            apart = rows.total * np.log(len(components.weight))
            apart += 0.5 * rows.n_known * np.log(2 * np.pi * estimator.variance)
            inertia = max(-2 * estimator.variance * (outcome.log_likelihood + float(apart)), 0.0)
        if self.covariance in ("full", "diagonal"):
            names = [schema.names[j] for j in used.tolist()]
            advice = "Lower n_components, raise regularization, or leave the column out."
            warn_of_spikes(components.variance, components.weight * rows.total, estimator.floor, names, advice)
        parameters = (components.weight, None, used, rows.centre, fill, components, inertia)
        state = GaussianMixtureState(settings, schema, None, outcome, *parameters).with_steps(order)
        everything = rows.kernel if rows.n_rows == source.n_rows else state.kernel(encode(source, schema))
        self._state = replace(state, labels=state.score(everything, source.n_rows, Score.CLASS)[0])
        return self

    def _refuse_odd_choices(self) -> None:
        if self.covariance == "fixed" and self.sigma is None and not self.hard:
            raise BayeskitError("covariance='fixed' needs sigma, the known standard deviation; k-means is hard=True.")
        if self.covariance != "fixed" and self.sigma is not None:
            raise BayeskitError(f"sigma is for covariance='fixed'; got covariance={self.covariance!r}.")
        if self._n_wanted == "auto":
            if not isinstance(self.init, str):
                raise BayeskitError("a given init has its own number of components; pass n_components too.")
            if self.covariance == "fixed" and self.sigma is None:
                raise BayeskitError(
                    "k-means has no likelihood that could choose n_components='auto'; give sigma, a number of "
                    "components, or covariance='spherical'."
                )

    def _read(
        self, source: Source, weight: NDArray[np.float64] | None
    ) -> tuple[Schema, NDArray[np.int64], NDArray[np.float64], MixtureRows]:
        source, weight = counted_rows(source, weight)
        counts = learn_counts(source, weight=weight, kinds="gaussian")
        schema, moments = counts.schema, counts.moments
        columns = encode(source, schema)
        numeric = np.array(schema.numeric, dtype=np.int64)
        varies = moments.scatter[:, 0] > 0
        used = numeric[varies]
        refuse_equal_rows(schema, used.tolist(), source.n_rows, any_varies=bool(varies.any()))
        varying = [columns[j] for j in used.tolist()]
        centre = np.ascontiguousarray(moments.mean[varies, 0])
        deviation = np.sqrt(moments.scatter[varies, 0] / moments.weight[varies, 0])
        n_known = float(moments.weight[varies, 0].sum())
        fill = np.full(len(schema), np.nan)  # the one value of a constant column
        fill[numeric] = moments.mean[:, 0]
        kernel = GaussianMixtureRows(varying, centre, weight)
        return schema, used, fill, MixtureRows(varying, weight, centre, deviation, n_known, kernel)

    def _estimator(self, rows: MixtureRows) -> MStep:
        # Without a sigma, k-means measures its objective in units of the spread of the table.
        variance = float((rows.deviation**2).mean()) if self.sigma is None else float(self.sigma) ** 2
        return MStep(self.covariance, self.regularization * rows.deviation**2, variance)

    def _climb(
        self, rows: MixtureRows, estimator: MStep, k: int, base: int, progress: Progress | None, record: bool
    ) -> tuple[EMResult[Components], float, int]:
        threads = n_threads(rows.n_rows * len(rows.columns) * k)

        def expect(components: Components, hard: bool = bool(self.hard)) -> tuple[Expected, float]:
            total, weight, first, second, objective, worst, singular = rows.kernel.expect(
                components.log_weight,
                np.ascontiguousarray(components.mean),
                np.ascontiguousarray(components.spread),
                hard,
                threads,
                estimator.shape != "fixed",
            )
            if singular >= 0:
                raise BayeskitError(
                    f"the covariance of component {singular} of {k} became singular: its rows lie in a subspace, or "
                    "are one row. Raise regularization, lower n_components, or choose covariance='diagonal' or 'tied'."
                )
            if not np.isfinite(objective):
                raise BayeskitError("the likelihood is not finite; scale the columns to values nearer to 1.")
            return Expected(components, total, weight, first, second, worst), objective + estimator.penalty(components)

        tried = 0

        def mend(components: Components, expected: Expected) -> Components | None:
            nonlocal tried
            dead = np.flatnonzero(expected.total < DEAD * rows.total)
            if not len(dead):
                return None
            tried += 1
            if tried > 20 * k * self.n_init:
                raise BayeskitError(f"components keep losing all their rows; n_components={k} is too many.")
            return reinitialised(components, int(dead[0]), rows.row(expected.worst_row))

        result = expectation_maximisation(
            self._starts(rows, estimator, k, base, expect),
            expect,
            estimator.maximise,
            tol=self.tol * rows.total,
            max_iter=self.max_iter,
            restarts=True,
            progress=renamed(progress, f"em, {k} components"),
            record=record,
            mend=mend,
        )
        log = result.history.objective[-1] - estimator.penalty(result.parameters)
        return result, log, estimator.n_parameters(k, len(rows.columns))

    def _starts(self, rows: MixtureRows, estimator: MStep, k: int, base: int, expect: Any) -> Iterator[Components]:
        d = len(rows.columns)
        if isinstance(self.init, Mapping):
            yield given_components(self.init, rows, k, self.covariance)
            return
        if not isinstance(self.init, str):
            yield self._seeded(given_means(self.init, rows, k), rows, estimator, expect)
            return
        # Columns of any unit count alike where each has a variance of its own.
        common = np.full(d, np.sqrt((rows.deviation**2).mean()))
        scale = common if self.covariance in ("spherical", "fixed") else rows.deviation
        table = rows.standardised(scale)
        chosen, weight = seed_rows(table @ np.random.default_rng([base, 0]).normal(size=d), rows.weight)
        near = table[chosen]
        for start in range(self.n_init if k > 1 else 1):
            seeds = k_means_plus_plus(
                lambda i: ((near - near[i]) ** 2).sum(axis=1), weight, k, np.random.default_rng([base, k, start])
            )
            yield self._seeded(near[seeds] * scale, rows, estimator, expect)

    def _seeded(self, seeds: NDArray[np.float64], rows: MixtureRows, estimator: MStep, expect: Any) -> Components:
        k = len(seeds)
        even = Components(np.full(k, 1.0 / k), seeds, estimator.as_spread(rows.deviation**2, k))
        if self.covariance == "fixed":
            return even
        return estimator.start(expect(even, True)[0])

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def inertia_(self) -> float:
        """The sum of squared distances of the rows of the fit from the mean of their cluster; for k-means."""
        inertia: float | None = self._fitted.inertia
        if inertia is None:
            raise AttributeError("inertia_ is only defined for k-means: covariance='fixed' with hard=True.")
        return inertia

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        model = self._now()
        d = len(model._state.used)
        return MStep(model.covariance, np.zeros(d)).n_parameters(model.n_components_, d)

    def _scores(self, X: Any, wanted: Score) -> tuple[NDArray[Any], int]:
        columns = self._encode(X)
        return self._state.score(self._state.kernel(columns), len(columns[0]), wanted)

    def _columns(self) -> list[Column]:
        state, means, deviation = self._state, self._state.means, np.sqrt(self._state.components.variance)
        names = state.schema.names
        return [Column(names[j], means[:, j], deviation[:, a]) for a, j in enumerate(state.used.tolist())]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw rows, of shape (n_samples, n_features), and their components; an all-missing column stays NaN."""
        model = self._now()
        labels, rng = model._sample_labels(n_samples, random_state)
        components, used = model._state.components, model._state.used
        rows = model.means_[labels]
        for c in range(len(components.weight)):
            mine = np.flatnonzero(labels == c)
            cov = components.spread[c] if components.spread.ndim == 3 else np.diag(components.spread[c])
            drawn = rng.normal(size=(len(mine), len(used))) @ np.linalg.cholesky(cov).T
            rows[np.ix_(mine, used)] += drawn
        return rows, labels

    def plot(self, X: Any = None, columns: tuple[str, str] | None = None, ax: Axes | None = None) -> Axes:
        """Plot two columns: the ellipses of one and two deviations of each component, and the rows of ``X`` if given.

        ``columns`` names them; by default those two in which the clusters differ most. Matplotlib must be installed.
        """
        from bayeskit.mixture.ellipses import plot_gaussians

        return plot_gaussians(self._now(), X, columns, ax)

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state = self._state
        meta, arrays = state.record.to_parts()
        components = state.components
        parts = {"used": state.used, "centre": state.centre, "fill": state.fill}
        parts |= {"weight": components.weight, "mean": components.mean, "spread": components.spread}
        return {**meta, "inertia": state.inertia}, {**arrays, **parts}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> GaussianMixtureState:
        used, weight = stored_columns(arrays, "used", range(len(schema))), stored_weights(arrays)
        d, k = len(used), len(weight)
        if not d:
            raise ValueError("no column is in use")
        full = self.covariance in ("full", "tied")
        mean = expect_array(arrays, "mean", np.float64, (k, d))
        spread = expect_array(arrays, "spread", np.float64, (k, d, d) if full else (k, d))
        centre = expect_array(arrays, "centre", np.float64, (d,))
        refuse_infinite_parts(mean, spread, centre)
        good = np.linalg.eigvalsh(spread) > 0 if full else spread > 0
        if not good.all():
            raise ValueError("a covariance is not positive definite")
        inertia = None if meta["inertia"] is None else expect_field(meta, "inertia", float)
        fill = expect_array(arrays, "fill", np.float64, (len(schema),))
        record, components = EMRecord.from_parts(meta, arrays), Components(weight, mean, spread)
        parameters = (weight, None, used, centre, fill, components, inertia)
        return GaussianMixtureState(self, schema, target, record, *parameters)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.categorical = False
        tags.input_tags.string = False
