"""Naive Bayes for any table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.naive_model import NaiveModel
from bayeskit.classify.parameters import at_least, one_of
from bayeskit.classify.validate import warn_of_empty_columns
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.naive import NaiveBeliefs
from bayeskit.table.discretise import METHODS
from bayeskit.table.read import Source


class NaiveBayes(NaiveModel):
    r"""Naive Bayes for tables of mixed, missing and unseen values.

    .. math:: P(c \mid x) \propto P(c) \prod_i P(x_i \mid c)

    Discrete columns are counted and smoothed by λ; numeric columns are Gaussian, Poisson or cut into bins:

    .. math:: P(c) = \frac{|D_c| + λ}{N + Kλ}, \quad
              P(x_i \mid c) = \frac{|D_{c,x_i}| + λ}{|D_{c, x_i\ \mathrm{known}}| + S_i λ}, \quad
              p(x_i \mid c) = \frac{1}{\sqrt{2π} σ_{c,i}} e^{-(x_i - μ_{c,i})^2 / 2σ_{c,i}^2}

    A missing cell takes no part in training, and at prediction its factor is left out, which is exact.

    Parameters
    ----------
    smoothing : float, default 1.0
        λ: 0 is maximum likelihood, 1 is Laplace. For a Poisson column λ counts as so many rows at the column's mean.
    prior : {"smoothed", "data", "uniform"}, array or dict, default "smoothed"
        P(c): smoothed by λ, the relative frequencies, all the same, or given (a dict maps class to probability).
    numeric : {"gaussian", "poisson", "equal-width", "equal-frequency", "mdl"}, default "gaussian"
        What a column of numbers is; "mdl" cuts bins where the classes part.
    bins : int, default 10
        How many bins to cut at the most. Edges are learned by ``fit`` or the first ``partial_fit``, then kept.
    variance : {"ml", "unbiased"}, default "ml"
        Divide the scatter of a Gaussian column by n, or by n − 1. No variance is taken to be less than 1e-6 of the
        variance of its own column.
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        A value at prediction that no row of the fit had: leave the feature out for that row, refuse, or keep one more
        slot for it in every table (S_i + 1 in every denominator).
    impossible : {"error", "prior"}, default "error"
        A row that no class can give, which λ = 0 allows: refuse it by number, or answer with the prior.
    kinds : dict or str, optional
        What a column is, by name or position, where the dtype does not tell: "categorical", "bernoulli", "numeric",
        "gaussian", "poisson", "equal-width", "equal-frequency", "mdl". One word speaks for all columns.
    class_weight : dict or "balanced", optional
        How often a row of each class counts. Counts stay as they are; the weight enters when they become beliefs.

    Attributes
    ----------
    counts_ : TableCounts
        The sufficient statistics; ``a.counts_ + b.counts_`` is what one fit on both tables counts.
    schema_ : Schema
        Name, kind and values of each column.
    classes_ : array of shape (n_classes,)
        The class labels.
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Rows of each class, and P(c).
    tables_ : dict of column name to NamedTable
        P(x | c), or the parameters of the density.
    n_parameters_, n_joint_cells_ : int
        Free parameters, and how many cells the table of the full joint P(x, c) of the discrete columns would have.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> tennis = datasets.load_tennis()
    >>> model = NaiveBayes(smoothing=0).fit(tennis, target="play")
    >>> day = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": ["strong"]}
    >>> model.predict(day)
    array(['no'], dtype=object)
    >>> model.predict_proba(day).round(8)
    array([[0.79541735, 0.20458265]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "smoothing": at_least(0),
        "prior": (
            "'smoothed', 'data', 'uniform', an array of probabilities or a dict of class to probability",
            lambda prior: prior in ("smoothed", "data", "uniform") if isinstance(prior, str) else _is_prior(prior),
        ),
        "numeric": one_of("gaussian", "poisson", *METHODS),
        "bins": at_least(1, whole=True),
        "variance": one_of("ml", "unbiased"),
        "unseen": one_of("ignore", "error", "smooth"),
        "impossible": one_of("error", "prior"),
        "kinds": (
            "a dict of column name or position to kind, one kind for all columns, or None",
            lambda kinds: kinds is None or isinstance(kinds, str | Mapping),
        ),
        "class_weight": (
            "a dict of class to weight, 'balanced' or None",
            lambda weight: weight is None or weight == "balanced" or isinstance(weight, Mapping),
        ),
    }

    def __init__(
        self,
        *,
        smoothing: float = 1.0,
        prior: Any = "smoothed",
        numeric: str = "gaussian",
        bins: int = 10,
        variance: str = "ml",
        unseen: str = "ignore",
        impossible: str = "error",
        kinds: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.smoothing = smoothing
        self.prior = prior
        self.numeric = numeric
        self.bins = bins
        self.variance = variance
        self.unseen = unseen
        self.impossible = impossible
        self.kinds = kinds
        self.class_weight = class_weight

    def _count(
        self,
        source: Source,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None,
        like: TableCounts | None,
    ) -> TableCounts:
        schema = None if like is None else like.schema
        counts = TableCounts.learn(source, y, classes, weight, self.kinds, self.numeric, self.bins, schema)
        if like is None:
            warn_of_empty_columns(counts.schema)
        return counts

    def _believe(self, counts: TableCounts) -> NaiveBeliefs:
        return NaiveBeliefs.of(
            counts,
            smoothing=self.smoothing,
            prior=self.prior,
            variance=self.variance,  # type: ignore[arg-type]
            unseen=self.unseen,  # type: ignore[arg-type]
            class_weight=self.class_weight,
        )

    @property
    def _learns_prior(self) -> bool:  # type: ignore[override]
        return isinstance(self.prior, str) and self.prior != "uniform"


def _is_prior(prior: Any) -> bool:
    if isinstance(prior, Mapping):
        return True
    try:
        return np.asarray(prior, dtype=np.float64).ndim == 1
    except (TypeError, ValueError):
        return False
