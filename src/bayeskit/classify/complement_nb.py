"""scikit-learn's ComplementNB over our counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.matrix_classifier import MatrixClassifier
from bayeskit.estimate.event_models import Complement


@dataclass(eq=False, repr=False)
class ComplementNB(MatrixClassifier):
    r"""Complement naive Bayes (Rennie et al., 2003) with scikit-learn's names, parameters and fitted attributes.

    .. math:: w_{cj} = -\log \frac{α + \sum_{c' \ne c} n_{c'j}}{α d + \sum_{c' \ne c} n_{c'}}

    A feature is evidence for a class when it is rare in all the other classes together, whose counts are larger and
    more even than those of one class. The prior is not used, unless there is only one class.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`MultinomialNB`; the prior is used only where there is one class.
    norm : bool, default False
        Divide the weights of each class by the sum of their absolute values.

    Attributes
    ----------
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        Rows of each class, and log P(c).
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        The sum of each feature over the rows of each class, and its weight.
    feature_all_ : array of shape (n_features,)
        The sum of each feature over all rows.

    Examples
    --------
    >>> from bayeskit import ComplementNB
    >>> ComplementNB().fit([[2, 0, 1], [0, 3, 0], [1, 0, 0]], ["a", "b", "a"]).predict([[0, 1, 0]])
    array(['b'], dtype=object)
    """

    _: KW_ONLY
    norm: bool = False

    @property
    def _event(self) -> Complement:
        return Complement(bool(self.norm))

    @property
    def feature_all_(self) -> NDArray[Any]:
        """The sum of each feature over all rows."""
        return np.asarray(self.counts_.n_feature.sum(axis=0))
