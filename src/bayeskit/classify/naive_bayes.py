"""Naive Bayes for any table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from bayeskit.classify.naive_classifier import NaiveClassifier
from bayeskit.counts.memory import Memory, read_memory, refuse_too_many_words
from bayeskit.counts.table import TableCounts
from bayeskit.defaults import BINS, MAX_MEMORY, PRIOR, SMOOTHING, UNSEEN
from bayeskit.errors import BayeskitError
from bayeskit.estimate.gaussian import VARIANCE_PRIOR, within_variance
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.kinds import Estimation, kind_of, number_words
from bayeskit.learn.checks import warn_of_cut_numbers, warn_of_empty_columns
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.learn.parameters import (
    a_class_weight,
    a_prior,
    a_smoothing,
    an_amount_of_memory,
    at_least,
    hashable,
    one_of,
)
from bayeskit.table.schema import Schema


@dataclass(eq=False, repr=False)
class NaiveBayes(NaiveClassifier):
    r"""Naive Bayes for tables of mixed, missing and unseen values.

    .. math:: P(c \mid x) \propto P(c) \prod_i P(x_i \mid c)

    Discrete columns are counted and smoothed by λ; numeric columns have a density or are cut into bins:

    .. math:: P(c) = \frac{|D_c| + λ}{N + Kλ}, \quad
              P(x_i \mid c) = \frac{|D_{c,x_i}| + λ}{|D_{c, x_i\ \mathrm{known}}| + S_i λ}, \quad
              p(x_i \mid c) = \frac{1}{\sqrt{2π} σ_{c,i}} e^{-(x_i - μ_{c,i})^2 / 2σ_{c,i}^2}

    A missing cell is skipped in training, and at prediction its factor is left out, which is exact.

    Parameters
    ----------
    smoothing : float, Lidstone or MEstimate, default 1.0
        A number is λ: 0 is maximum likelihood, 1 is Laplace. ``MEstimate(m)`` adds m rows to each distribution, however
        many values it has. For a column of counts λ or m is a number of extra rows at the column's mean.
    prior : {"smoothed", "data", "uniform"}, array or dict, default "smoothed"
        P(c): smoothed by λ, relative frequencies, uniform, or given (a dict maps class to probability).
    numeric : str, default "gaussian"
        The distribution of numeric columns: a word of :func:`bayeskit.kinds.number_words`, which is a kind with a
        density or a way to cut bins; "mdl" chooses bin edges that separate the classes.
    bins : int, default 10
        The largest number of bins. Edges are learned by ``fit`` or the first ``partial_fit``, then kept.
    variance : {"posterior", "ml", "unbiased"}, default "posterior"
        The variance of a Gaussian column in a class: with ``variance_prior`` extra rows that have the variance within
        classes, so that classes with few rows do not get a tiny variance; or the sum of squares divided by n, or
        by n − 1, as in textbooks (at least 1e-6 times the variance of the column).
    variance_prior : float, default 8.0
        ν of ``variance="posterior"``: (scatter + ν σ²) / (n + ν). 0 is maximum likelihood.
    variance_target : dict of column name to float, optional
        σ² of ``variance="posterior"``. By default it is the pooled variance within the classes, Σ scatter / (N − K).
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        A value at prediction that was not seen in fit: leave the feature out for that row, raise an error, or keep one
        more slot for it in every table (S_i + 1 in every denominator).
    impossible : {"error", "prior"}, default "error"
        A row that has probability 0 under every class (possible with λ = 0): raise an error that names the row, or
        predict the prior.
    kinds : dict or str, optional
        The kind of a column, by name or position, where the dtype does not decide it: "numeric", or a word of
        :func:`bayeskit.kinds.words`. A single kind applies to all columns.
    class_weight : dict or "balanced", optional
        The weight of each class. Counts stay unweighted; the weights apply when they become probabilities.
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the tables of values and what is made from them; more is an error, raised before any
        counting, that names the sizes.

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

    _reads_text = True
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "smoothing": a_smoothing,
        "prior": a_prior,
        "numeric": one_of(*number_words()),
        "bins": at_least(1, whole=True),
        "variance": one_of("posterior", "ml", "unbiased"),
        "variance_prior": at_least(0),
        "variance_target": (
            "a dict of column name to a number above 0, or None",
            lambda target: (
                target is None
                or (isinstance(target, Mapping) and all(at_least(0)[1](v) and v > 0 for v in target.values()))
            ),
        ),
        "unseen": one_of("ignore", "error", "smooth"),
        "impossible": one_of("error", "prior"),
        "kinds": (
            "a dict of column name or position to kind, one kind for all columns, or None",
            lambda kinds: kinds is None or isinstance(kinds, str | Mapping),
        ),
        "class_weight": a_class_weight,
        "max_memory": an_amount_of_memory,
    }

    _: KW_ONLY
    smoothing: float | SymmetricSmoothing = SMOOTHING
    prior: Any = PRIOR
    numeric: str = "gaussian"
    bins: int = BINS
    variance: str = "posterior"
    variance_prior: float = VARIANCE_PRIOR
    variance_target: Mapping[str, float] | None = None
    unseen: str = UNSEEN
    impossible: str = "error"
    kinds: Any = None
    class_weight: Any = None
    max_memory: Memory = MAX_MEMORY

    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"NaiveBayes": {}, "NaiveBayes-MDL": {"numeric": "mdl"}}

    def _counted_as(self) -> tuple[Any, ...]:
        """Return what is counted: the values of each column, or their moments."""
        return ("values", self.numeric, self.bins, hashable(self.kinds))

    def _count(self, rows: Labelled, schema: Schema | None, before: TableCounts | None = None) -> TableCounts:
        limit = read_memory(self.max_memory)
        table = (rows.source, rows.y, rows.classes, rows.weight)
        counts = learn_counts(*table, self.kinds, self.numeric, self.bins, schema, limit, texts=True)
        if schema is None:
            warn_of_empty_columns(counts.schema)
        warn_of_cut_numbers(counts, () if before is None else (before,))
        return counts

    @property
    def _settings(self) -> Estimation:
        return Estimation(
            smoothing=self.smoothing,
            unseen=self.unseen,  # type: ignore[arg-type]
            variance=self.variance,  # type: ignore[arg-type]
            variance_prior=self.variance_prior,
            variance_target=self.variance_target,
        )

    def _check(self, counts: TableCounts) -> None:
        super()._check(counts)
        for j, words in zip(counts.schema.texts, counts.texts, strict=True):
            limit = read_memory(self.max_memory)
            refuse_too_many_words(words.n_words, counts.n_classes, limit, counts.schema[j].name)
        strange = [name for name in self.variance_target or () if name not in _columns_with_variance(counts)]
        if strange:
            raise BayeskitError(
                f"variance_target names {strange[0]!r}, which is not among the columns with a variance, "
                f"{list(_columns_with_variance(counts))}."
            )

    def _fixed_in_em(self, counts: TableCounts) -> dict[str, Any]:
        # A variance within classes that changes with the classes of rows would be another objective in each step.
        columns = _columns_with_variance(counts)
        if self.variance != "posterior" or not columns:
            return {}
        places = np.searchsorted(counts.schema.numeric, list(columns.values()))
        within = within_variance(counts.moments.take(places))[:, 0].tolist()
        within = {name: variance for name, variance in zip(columns, within, strict=True) if variance > 0}
        return {"variance_target": {**within, **(self.variance_target or {})}}

    def _log_penalty(self, counts: TableCounts, beliefs: NaiveBeliefs) -> float:
        return beliefs.log_penalty(counts, self._settings, self.prior)

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        return self.prior, self.smoothing

    @property
    def _learns_prior(self) -> bool:
        return isinstance(self.prior, str) and self.prior != "uniform"


def _columns_with_variance(counts: TableCounts) -> dict[str, int]:
    """Return the places of the columns whose kind has a variance, by name."""
    return {variable.name: j for j, variable in enumerate(counts.schema) if kind_of(variable).has_variance}
