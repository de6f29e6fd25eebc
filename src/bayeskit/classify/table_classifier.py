"""Classifiers for any table that are fitted in one call."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.learn.checks import in_order, split_target
from bayeskit.learn.model import accuracy
from bayeskit.learn.state import State, learned
from bayeskit.learn.whole_model import WholeModel


@dataclass(frozen=True, eq=False)
class ClassifierState(State):
    """The state of a classifier: the class labels besides."""

    classes: NDArray[Any]  # (n_classes,)


class TableClassifier(WholeModel):
    """A classifier over any table: it gives P(c | x), also for rows with missing cells."""

    _role = "classifier"
    # Under which names and settings ``bayeskit.compare`` tries the model when it is asked for.
    _compared_when_asked: ClassVar[dict[str, dict[str, Any]]] = {}
    # How the classes depend on the columns, in words.
    _dependence: ClassVar[str] = "The probabilities of the classes are modelled given the columns; the columns are not."

    classes_ = learned("classes", "The class labels, of shape (n_classes,).")

    @abstractmethod
    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them."""

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        model = self._now()
        return np.asarray(model.classes_[model.predict_proba(X).argmax(axis=1)])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy."""
        model = self._now()
        if target is not None:
            source, y = split_target(X, target)
            X = in_order(X, source, model.schema_.names)
        return accuracy(model, X, y, sample_weight)

    def explain(self, row: Any, classes: tuple[Any, Any] | None = None, order: Any = None) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and the change by each feature.

        Parameters
        ----------
        row : dict, list, 1-D array, Series, or table with one row
            What to explain; a dict may leave features out.
        classes : (a, b), optional
            The classes to compare; by default the most probable one and the runner-up.
        order : sequence of str, optional
            The features in the order in which they are revealed; by default that of the table.
        """
        return explain(self._now(), row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a table, as :meth:`explain` does one."""
        return explain_rows(self._now(), X, classes)


def classes_to_parts(classes: NDArray[Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return class labels as a field where they are text, or as an array; ``counts.table.read_classes`` reads them."""
    if classes.dtype.kind in "OU":
        return {"classes": [str(label) for label in classes], "text_dtype": classes.dtype.str}, {}
    return {"classes": None}, {"classes": classes}
