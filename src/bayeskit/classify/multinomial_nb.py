"""scikit-learn's MultinomialNB over our counts."""

from __future__ import annotations

from bayeskit.classify.matrix_classifier import MatrixClassifier
from bayeskit.estimate.event_models import Multinomial


class MultinomialNB(MatrixClassifier):
    r"""Multinomial naive Bayes with scikit-learn's names, parameters and fitted attributes.

    .. math:: P(x_j \mid c) = \frac{n_{cj} + α}{n_c + α d}

    The rows are counts, such as how often each word occurs in a document: an array, a frame, or a scipy.sparse array or
    matrix. Integers are summed as integers, so batches, ``merge`` and ``unlearn`` are exact.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default 1.0
        λ, added to each count.
    force_alpha : bool, default True
        If False, an ``alpha`` below 1e-10 is raised to 1e-10, as scikit-learn does.
    fit_prior : bool, default True
        Whether P(c) is the relative frequencies or uniform.
    class_prior : array of shape (n_classes,), optional
        P(c), given.

    Attributes
    ----------
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        Rows of each class, and log P(c).
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        The sum of each feature over the rows of each class, and log P(x_j | c).

    Examples
    --------
    >>> from bayeskit import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 0, 1], [0, 3, 0], [1, 0, 0]], ["a", "b", "a"])
    >>> model.feature_count_
    array([[3, 0, 1],
           [0, 3, 0]])
    >>> model.predict([[0, 1, 0]])
    array(['b'], dtype=object)
    """

    _event = Multinomial()
