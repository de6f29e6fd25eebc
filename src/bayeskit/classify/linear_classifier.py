"""Classifiers made of linear units: how they score rows, what they show, and what a file keeps of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from bayeskit.classify.table_classifier import ClassifierState, TableClassifier, classes_to_parts
from bayeskit.counts.class_labels import read_classes
from bayeskit.learn.design_matrix import Matrix
from bayeskit.learn.linear_units import LinearState, LinearUnits
from bayeskit.learn.parameters import at_least
from bayeskit.learn.state import learned
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class LinearClassifierState(LinearState, ClassifierState):
    """The units: one for the second of two classes, or one for each of more."""

    units: LinearUnits


class LinearClassifier(TableClassifier):
    """A classifier whose classes are scored by linear units."""

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "learning_rate": (
            "'auto' or a finite number above 0",
            lambda eta: eta == "auto" if isinstance(eta, str) else at_least(0)[1](eta) and eta > 0,
        ),
        "max_iter": at_least(1, whole=True),
        "tol": at_least(0),
    }

    coef_ = learned("coef", "The weights, of shape (n_units, n_inputs): one unit with two classes, else one per class.")
    intercept_ = learned("intercept", "The intercepts, of shape (n_units,).")
    input_names_ = learned("input_names", 'What each weight belongs to: a column, or "column = value".')

    def decision_function(self, X: Any) -> Matrix:
        """Return w · x + b: shape (n_rows,) with two classes, (n_rows, n_classes) with more."""
        scores = self._now()._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Matrix:
        state: LinearClassifierState = self._fitted
        return state.units.scores(self._read_features(X))

    def _log_odds(self, scores: Matrix) -> Matrix:
        """Return log P(c | x) but for a constant per row, of three classes or more."""
        return scores

    def predict_proba(self, X: Any) -> Matrix:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        model = self._now()
        scores = model._scores(X)
        if len(model.classes_) < 3:
            ones = np.ones((len(scores), 1))
            return np.column_stack([expit(-scores), expit(scores)]) if scores.shape[1] else ones
        return np.asarray(softmax(model._log_odds(scores), axis=1))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        model = self._now()
        scores = model._scores(X)
        if len(model.classes_) < 3:
            zeros = np.zeros((len(scores), 1))
            return np.column_stack([log_expit(-scores), log_expit(scores)]) if scores.shape[1] else zeros
        return np.asarray(log_softmax(model._log_odds(scores), axis=1))

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state: LinearClassifierState = self._fitted
        meta, arrays = classes_to_parts(state.classes)
        return meta, arrays | state.units.to_arrays()

    def _restored_units(
        self, schema: Schema, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> tuple[NDArray[Any], LinearUnits]:
        """Return the classes and the units of a file."""
        classes = read_classes(meta, arrays)
        return classes, LinearUnits.from_arrays(schema, arrays, n_units(len(classes)))


def n_units(n_classes: int) -> int:
    """Return how many units score so many classes: none for one, one for two, else one per class."""
    return {1: 0, 2: 1}.get(n_classes, n_classes)
