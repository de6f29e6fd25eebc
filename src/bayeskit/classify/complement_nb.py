"""scikit-learn's ComplementNB over our counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.feature_model import FeatureBeliefs, FeatureModel, alpha_rule
from bayeskit.counts.features import FeatureCounts
from bayeskit.estimate.features_left_out import FeatureSums, LeftRows, complement_left_out


class ComplementNB(FeatureModel):
    r"""Complement naive Bayes (Rennie et al., 2003) with scikit-learn's names, parameters and fitted attributes.

    .. math:: w_{cj} = -\log \frac{α + \sum_{c' \ne c} n_{c'j}}{α d + \sum_{c' \ne c} n_{c'}}

    A feature is evidence for a class when it is rare in all the other classes together, whose counts are larger and
    more even than those of one class. The prior is not used, unless there is only one class.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default 1.0
        λ, added to each count.
    force_alpha : bool, default True
        If False, an ``alpha`` below 1e-10 is raised to 1e-10, as scikit-learn does.
    fit_prior : bool, default True
        Only used where there is one class.
    class_prior : array of shape (n_classes,), optional
        Only used where there is one class.
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

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {"alpha": alpha_rule()}

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _believe(self, counts: FeatureCounts) -> FeatureBeliefs:
        rest = counts.n_feature.sum(axis=0) - counts.n_feature + self._check_alpha(len(counts.schema))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(rest) - np.log(rest.sum(axis=1, keepdims=True))
            logs[np.isnan(logs)] = -np.log(len(counts.schema))  # nothing is known of the other classes
            weight = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        log_prior = self._log_prior(counts)
        bias = log_prior if len(counts.classes) == 1 else np.zeros(len(counts.classes))
        return FeatureBeliefs(log_prior, weight, weight, bias)

    def _log_joint_left_out(self, sums: FeatureSums, rows: LeftRows) -> NDArray[np.float64]:
        return complement_left_out(sums, rows, bool(self.norm))

    @property
    def feature_all_(self) -> Any:
        """The sum of each feature over all rows."""
        return self.counts_.n_feature.sum(axis=0)
