"""Gaussian classes: a normal distribution over all columns for each class."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.leave_one_out import LeavesOneOut
from bayeskit.classify.sampling import SamplesRows
from bayeskit.classify.summaries import summarise
from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.memory import Memory, read_memory
from bayeskit.decide.protocol import Domain
from bayeskit.defaults import FREQUENCY_PRIOR, MAX_MEMORY
from bayeskit.errors import BayeskitError, TableError
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.covariance import Gaussians, estimate_gaussians
from bayeskit.estimate.gaussian_scores import GaussianBeliefs, GaussiansLeftOut
from bayeskit.estimate.history import History
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.summary import Summary
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import grow_schema, learn_schema
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.naive_beliefs import kinds_of
from bayeskit.learn.parameters import a_class_weight, a_plain_prior, an_amount_of_memory, at_least, one_of
from bayeskit.table.encode import encode_column, refuse_infinite
from bayeskit.table.schema import Schema


@dataclass(eq=False, repr=False)
class GaussianBayes(LeavesOneOut, SamplesRows):
    r"""Classify by Bayes' rule with a normal distribution of all columns in each class.

    .. math:: P(c \mid x) \propto P(c) \, N(x; \mu_c, \Sigma_c), \qquad
              \mu_c = \frac1{n_c} \sum_{i \in c} x_i, \quad
              \Sigma_c = \frac1{n_c} \sum_{i \in c} (x_i - \mu_c)(x_i - \mu_c)^\top

    Columns may depend on each other within a class, where naive Bayes takes them as independent. With "full" matrices
    the boundary between two classes is a quadric (quadratic discriminant analysis), with one "tied" matrix it is a
    plane (linear discriminant analysis), with "diagonal" ones the model is Gaussian naive Bayes.

    A missing cell is integrated out at prediction. At training, full and tied matrices are estimated by EM (maximum
    likelihood); it needs the moments of the rows with the same missing cells, which add like all counts. So
    ``partial_fit``, ``merge`` and ``unlearn`` equal one ``fit`` on the same rows, up to rounding.

    Parameters
    ----------
    covariance : {"full", "tied", "diagonal", "spherical"}, default "full"
        A matrix for each class; one for all; variances only; one variance for all columns of a class.
    shrinkage : float, default 0
        α between 0 and 1: Σ becomes (1 − α) Σ + α tr(Σ)/d I, which helps where there are few rows for the number of
        columns.
    variance : {"ml", "unbiased"}, default "ml"
        Divide by n_c, as scikit-learn's discriminant analyses do, or by n_c − 1 (by n − K where one matrix is shared),
        as its QuadraticDiscriminantAnalysis did in older releases.
    prior : "data", "uniform", array or dict, default "data"
        P(c): relative frequencies, uniform, or given.
    class_weight : dict or "balanced", optional
        The weight of each class, for P(c) and for a matrix that classes share. Counts stay unweighted; the weights
        apply when they become probabilities.
    tol : float, default 1e-9
        EM stops when a step improves the log-likelihood per row by less than this.
    max_iter : int, default 1000
        The largest number of EM steps.
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the moments: there is a matrix for each class and each pattern of missing cells.

    Attributes
    ----------
    means_ : array of shape (n_classes, n_features)
        μ_c.
    covariances_ : array of shape (n_classes, n_features, n_features)
        Σ_c, after shrinkage.
    ranks_ : array of shape (n_classes,)
        The rank of the estimate of Σ_c. Below the number of columns the estimate is singular: directions with a
        deviation below a thousandth of the columns' deviations are widened to that, and the summary says so.
    em_histories_ : tuple of History
        The steps of EM for each matrix that it estimated; ``n_iter_`` is the largest number of them.

    References
    ----------
    Fisher (1936), The use of multiple measurements in taxonomic problems. Little & Rubin (2002), Statistical analysis
    with missing data, section 11.2.

    Examples
    --------
    >>> from bayeskit import GaussianBayes
    >>> model = GaussianBayes().fit(
    ...     [[0.0, 1.0], [2.0, 3.0], [4.0, 2.0], [8.0, 9.0], [9.0, 5.0], [7.0, 7.0]], [0, 0, 0, 1, 1, 1]
    ... )
    >>> model.means_
    array([[2., 2.],
           [8., 7.]])
    >>> model.predict([[3.0, float("nan")], [9.0, 8.0]])
    array([0, 1])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "covariance": one_of("full", "tied", "diagonal", "spherical"),
        "shrinkage": ("a number from 0 to 1", lambda value: at_least(0)[1](value) and value <= 1),
        "variance": one_of("ml", "unbiased"),
        "prior": a_plain_prior,
        "class_weight": a_class_weight,
        "tol": at_least(0),
        "max_iter": at_least(1, whole=True),
        "max_memory": an_amount_of_memory,
    }
    _statistic = GaussianCounts
    _dependence = "In each class all columns depend on each other, by a matrix of covariances."
    _compared_when_asked: ClassVar[dict[str, dict[str, Any]]] = {
        "GaussianBayes": {},
        "GaussianBayes-tied": {"covariance": "tied"},
    }

    _: KW_ONLY
    covariance: str = "full"
    shrinkage: float = 0.0
    variance: str = "ml"
    prior: Any = FREQUENCY_PRIOR
    class_weight: Any = None
    tol: float = 1e-9
    max_iter: int = 1000
    max_memory: Memory = MAX_MEMORY

    @classmethod
    def _takes_kind(cls, kind: str) -> bool:
        """Return whether ``kinds`` may give a column this kind: all columns are Gaussian."""
        return kind == "gaussian"

    def _count(self, rows: Labelled, schema: Schema | None, before: GaussianCounts | None = None) -> GaussianCounts:
        source = rows.source
        table: NDArray[Any] | list[NDArray[Any]]
        if schema is None:
            schema = learn_schema(source, "gaussian")
            warn_of_empty_columns(schema)
        else:
            schema = grow_schema(source, schema, "gaussian")[0]
        if source.array is not None and len(schema.numeric) == len(schema) and source.array.dtype.kind in "iuf":
            table = source.array
        else:
            table = [encode_column(source.column(j), schema[j]) for j in schema.numeric]
        try:
            return GaussianCounts.of(schema, rows.classes, table, rows.y, rows.weight, read_memory(self.max_memory))
        except OverflowError as error:
            for j in schema.numeric:
                refuse_infinite(encode_column(source.column(j), schema[j]), schema[j].name)
            column, size = error.args
            raise TableError(
                f"column '{schema[schema.numeric[column]].name}' holds numbers so {size} that their squares "
                f"{'overflow; use a larger' if size == 'large' else 'underflow; use a smaller'} unit."
            ) from None

    def _check(self, counts: GaussianCounts) -> None:
        factor = class_factors(counts.n_class, counts.classes, self.class_weight)
        class_prior(counts.n_class * factor, self.prior, 0.0, counts.classes)

    def _believe(self, counts: GaussianCounts) -> GaussianBeliefs:
        if self.class_weight is not None:
            counts = counts.weighted(class_factors(counts.n_class, counts.classes, self.class_weight))
        with np.errstate(divide="ignore"):  # a class without rows is impossible
            log_prior = np.log(class_prior(counts.n_class, self.prior, 0.0, counts.classes))
        return GaussianBeliefs(counts.schema, log_prior, self._estimate(counts))

    def _log_penalty(self, counts: GaussianCounts, beliefs: GaussianBeliefs) -> float:
        if self.variance != "ml" or self.shrinkage:
            raise BayeskitError(
                "EM over rows without labels maximizes the likelihood; use GaussianBayes with variance='ml' and "
                "shrinkage=0."
            )
        return 0.0

    def _estimate(self, counts: GaussianCounts) -> Gaussians:
        return estimate_gaussians(
            counts,
            self.covariance,
            self.variance,  # type: ignore[arg-type]
            self.shrinkage,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        return self.prior, 0.0

    def _log_joint_left_out(
        self, rows: list[NDArray[Any]], left: LeftOut, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        settings: Any = self._state.settings
        x = np.column_stack([np.empty((len(left), 0)), *(rows[j] for j in self.schema_.numeric)]).astype(np.float64)
        # Shrinkage, variances alone and EM are not a scatter over a weight.
        scatter = settings.covariance in ("full", "tied") and settings.shrinkage == 0
        leaving = GaussiansLeftOut(
            self.counts_,
            self._beliefs,
            settings.covariance == "tied" if scatter else None,
            settings.variance == "unbiased",
            settings._estimate,
        )
        return leaving.log_joint(x, left, log_prior)

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def _gaussians(self) -> Gaussians:
        gaussians: Gaussians = self._beliefs.gaussians
        return gaussians

    @property
    def means_(self) -> NDArray[np.float64]:
        """μ_c, of shape (n_classes, n_features); NaN where a column had no value in any row."""
        model = self._now()
        means = np.full((len(model.classes_), len(model.schema_)), np.nan)
        means[:, list(model.schema_.numeric)] = model._gaussians.mean
        return means

    @property
    def covariances_(self) -> NDArray[np.float64]:
        """Σ_c, of shape (n_classes, n_features, n_features); NaN where a column had no value in any row."""
        model = self._now()
        places, d = np.array(model.schema_.numeric, dtype=np.int64), len(model.schema_)
        matrices = np.full((len(model.classes_), d, d), np.nan)
        matrices[:, places[:, None], places] = model._gaussians.covariance
        return matrices

    @property
    def ranks_(self) -> NDArray[np.int64]:
        """The rank of the estimate of Σ_c, of shape (n_classes,)."""
        return self._gaussians.rank

    @property
    def em_histories_(self) -> tuple[History, ...]:
        """The steps of EM for each matrix that it estimated; empty where no cell was missing."""
        return self._gaussians.histories

    @property
    def n_iter_(self) -> int:
        """The largest number of steps that EM took; 1 where no cell was missing."""
        return max((history.n_steps for history in self.em_histories_), default=1)

    @property
    def class_count_(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        model = self._now()
        k, d = model._gaussians.mean.shape
        n_covariances = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diagonal": k * d, "spherical": k}
        with_ = model._believed_with
        learned = k - 1 if isinstance(with_["prior"], str) and with_["prior"] == "data" else 0
        return int(k * d + n_covariances[with_["covariance"]] + learned)

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """Mean and deviation of each column in each class."""
        model = self._now()
        classes, target = tuple(model.classes_.tolist()), model.target_ or "class"
        return {
            model.schema_[j].name: NamedTable(
                f"p({model.schema_[j].name} | {target})", ("mean", "deviation"), classes, np.stack(model._marginal(k))
            )
            for k, j in enumerate(model.schema_.numeric)
        }

    def _marginal(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        gaussians = self._gaussians
        return gaussians.mean[:, k], np.sqrt(gaussians.covariance[:, k, k])

    def domains(self) -> list[Domain]:
        """Return a fine grid over the density of each column."""
        model = self._now()
        result = []
        for j, (variable, kind) in enumerate(zip(model.schema_, kinds_of(model.schema_), strict=True)):
            parameters = None
            if variable.is_numeric:
                mean, deviation = model._marginal(model.schema_.place[j])
                parameters = np.stack([np.log(deviation), mean, 0.5 / deviation**2])
            result.append(Domain(variable.name, *kind.grid(variable, parameters)))
        return result

    def sample_columns(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return rows drawn from P(x), one column per feature: first a class, then a row of its distribution."""
        model = self._now()
        gaussians = model._gaussians
        y = rng.choice(len(model.classes_), size=n_rows, p=model.class_prior_)
        rows = rng.normal(size=(n_rows, gaussians.mean.shape[1]))
        for c in range(len(model.classes_)):
            scale = np.sqrt(np.diagonal(gaussians.covariance[c]))
            lower = np.linalg.cholesky(gaussians.covariance[c] / scale[:, None] / scale)
            rows[y == c] = gaussians.mean[c] + (rows[y == c] @ lower.T) * scale
        columns = [np.full(n_rows, None, dtype=object) for _ in model.schema_]
        for k, j in enumerate(model.schema_.numeric):
            columns[j][:] = rows[:, k]
        return columns

    def _summary(self) -> Summary:
        counts: GaussianCounts = self.counts_
        known = np.zeros(len(self.schema_))
        known[list(self.schema_.numeric)] = counts.moments.weight @ counts.known
        densities = {name: dict(zip(map(str, t.rows), t.values, strict=True)) for name, t in self.tables_.items()}
        return summarise(self, self.class_count_, 1.0 - known / counts.n_rows, densities, notes=self._notes())

    def _notes(self) -> tuple[str, ...]:
        d, covariance = len(self.schema_.numeric), self._believed_with["covariance"]
        lost = [(c, r) for c, r in zip(self.classes_.tolist(), self.ranks_.tolist(), strict=True) if r < d]
        if not lost:
            return ()
        if covariance == "tied":
            lost = [("(all)", lost[0][1])]
        listed = ", ".join(f"{c} has rank {r} of {d}" for c, r in lost[:5]) + (" …" if len(lost) > 5 else "")
        return (
            f"covariance without full rank: {listed}; its narrow directions were widened to a thousandth of the "
            "columns' deviations. More rows, shrinkage, or covariance='tied' or 'diagonal' may help.",
        )

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.categorical = False
        tags.input_tags.string = False
