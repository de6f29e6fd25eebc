"""The four predictions of a classifier that scores rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.learn.learner import Learner


class Posteriors(Learner):
    """A classifier that learns from counts and gives log P(x, c); its class and its posterior follow."""

    _role = "classifier"

    @abstractmethod
    def _score(self, X: Any, result: Score) -> NDArray[Any]:
        """Return a score of each row. Asked of a fitted copy, so that nothing is looked up twice for a single row."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        model = self._now()
        return np.asarray(model.classes_[model._score(X, Score.CLASS)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        return self._now()._score(X, Score.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        return self._now()._score(X, Score.LOG_POSTERIOR)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes)."""
        return self._now()._score(X, Score.LOG_JOINT)
