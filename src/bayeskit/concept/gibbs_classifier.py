"""The Gibbs classifier: one hypothesis drawn from the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.hypothesis_sets import HypothesisSet
from bayeskit.concept.posterior_classifier import PosteriorClassifier
from bayeskit.learn.state import learned


class GibbsClassifier(PosteriorClassifier):
    """Predict by one hypothesis that was drawn from the posterior when the model was fitted.

    A prediction evaluates one hypothesis, where the Bayes optimal classifier evaluates all; and when targets are drawn
    from the prior its expected error is at most twice that of the optimal one (Haussler, Kearns & Schapire 1994).

    Parameters
    ----------
    hypotheses, prior, prefit, cv, noise
        As in :class:`~bayeskit.BayesOptimalClassifier`.
    random_state : int or RandomState, optional
        The seed that draws the hypothesis; when given, it also shuffles the rows before they are split into folds.

    Attributes
    ----------
    sampled_ : int
        The number of the hypothesis that was drawn.
    posterior_, hypothesis_names_, log_likelihood_, classes_, n_features_in_, feature_names_in_
        As in :class:`~bayeskit.BayesOptimalClassifier`.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.8.

    Examples
    --------
    >>> from bayeskit import AODE, TAN, datasets
    >>> model = GibbsClassifier([AODE(), TAN()], random_state=0).fit(datasets.load_tennis(), target="play")
    >>> model.hypothesis_names_[model.sampled_] in ("AODE", "TAN")
    True
    """

    sampled_ = learned("sampled", "The number of the hypothesis that was sampled.")

    def _sampled(self, hypotheses: HypothesisSet) -> int:
        from sklearn.utils import check_random_state

        rng = check_random_state(self.random_state)
        return int(rng.choice(len(hypotheses.posterior), p=hypotheses.posterior / hypotheses.posterior.sum()))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(v | h, x) of the drawn hypothesis h, of shape (n_rows, n_classes)."""
        model = self._now()
        return model._state.set.proba_of(model.sampled_, model._read(X))
