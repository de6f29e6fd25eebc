"""The Bayes optimal classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.posterior_classifier import PosteriorClassifier


class BayesOptimalClassifier(PosteriorClassifier):
    r"""Predict the class that is most probable on average over all hypotheses.

    .. math:: \operatorname{argmax}_v \sum_h P(v \mid h, x) \, P(h \mid D), \quad
              P(h \mid D) \propto P(h) \prod_i P(d_i \mid h, x_i)

    No classifier with the same hypotheses and the same prior does better on average. Its prediction may differ from
    that of the most probable hypothesis, and its decisions may be those of no single hypothesis.

    Parameters
    ----------
    hypotheses : list of classifiers or of (name, classifier), BruteForceMAP, or Hypotheses, optional
        Classifiers of any library with ``predict_proba``: those not fitted yet are weighted by the likelihood of
        held-out labels in cross-validation, and then fitted to all rows. A :class:`~bayeskit.BruteForceMAP` gives
        all conjunctions over the table; :class:`~bayeskit.Hypotheses` gives functions of a row, which is passed as a
        dict. By default NaiveBayes, TAN, AODE and MDLTree.
    prior : mapping of name to probability or array, optional
        P(h) of classifiers; uniform by default.
    prefit : bool, default False
        The classifiers (or the BruteForceMAP) are fitted already. The rows given to ``fit`` are then held-out rows.
    cv : int, default 5
        The number of folds.
    noise : float, default 0.0
        The probability that a label was replaced by any class at random: without it, a classifier that gives one label
        probability 0 gets posterior 0.
    random_state : int or RandomState, optional
        Shuffles the rows before they are split into folds; by default their order is kept.

    Attributes
    ----------
    posterior_ : array of shape (n_hypotheses,)
        P(h | D).
    hypothesis_names_ : tuple
        The names of the hypotheses.
    log_likelihood_ : array of shape (n_hypotheses,)
        Σ log P(d_i | h, x_i) over held-out rows.
    classes_, n_features_in_, feature_names_in_
        Classes and columns.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.7.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, TAN, datasets
    >>> model = BayesOptimalClassifier([NaiveBayes(), TAN()]).fit(datasets.load_heart(), target="disease")
    >>> dict(zip(model.hypothesis_names_, model.posterior_.round(3).tolist()))
    {'NaiveBayes': 0.0, 'TAN': 1.0}
    """

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return Σ_h P(v | h, x) P(h | D), of shape (n_rows, n_classes)."""
        model = self._now()
        return model._state.set.optimal(model._read(X))
