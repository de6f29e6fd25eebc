"""scikit-learn's GaussianNB over our counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.naive_model import NaiveModel
from bayeskit.classify.parameters import at_least
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.gaussian import gaussian
from bayeskit.estimate.naive import NaiveBeliefs
from bayeskit.table.read import Source


class GaussianNB(NaiveModel):
    """Gaussian naive Bayes with scikit-learn's names, parameters and fitted attributes.

    Every column is Gaussian and the prior is the data's. Missing cells are allowed. What differs on purpose:
    ``var_smoothing`` is a floor under each variance, as a share of the variance of *its own* column, where
    scikit-learn adds a share of the *largest* variance to all of them and so lets one column of huge scale drown the
    others.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        P(c); by default the relative frequencies.
    var_smoothing : float, default 1e-9
        The floor under each variance, as a share of the variance of its column.

    Attributes
    ----------
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Rows of each class, and P(c).
    theta_, var_ : arrays of shape (n_classes, n_features)
        Mean and variance of each column in each class.

    Examples
    --------
    >>> from bayeskit import GaussianNB
    >>> GaussianNB().fit([[-1.0], [-2.0], [1.0], [3.0]], [0, 0, 1, 1]).theta_
    array([[-1.5],
           [ 2. ]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {"var_smoothing": at_least(0)}

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _count(
        self,
        source: Source,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None,
        like: TableCounts | None,
    ) -> TableCounts:
        return TableCounts.learn(source, y, classes, weight, "gaussian", like=None if like is None else like.schema)

    def _believe(self, counts: TableCounts) -> NaiveBeliefs:
        prior = "data" if self.priors is None else self.priors
        return NaiveBeliefs.of(counts, smoothing=0.0, prior=prior, variance_floor=self.var_smoothing)

    @property
    def _learns_prior(self) -> bool:  # type: ignore[override]
        return self.priors is None

    @property
    def theta_(self) -> NDArray[np.float64]:
        """Mean of each column in each class, of shape (n_classes, n_features)."""
        self._refuse_unfitted()
        return gaussian(self.counts_.moments)[0].T

    @property
    def var_(self) -> NDArray[np.float64]:
        """Variance of each column in each class, of shape (n_classes, n_features)."""
        self._refuse_unfitted()
        return gaussian(self.counts_.moments, floor=self._believed_with["var_smoothing"])[1].T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags
