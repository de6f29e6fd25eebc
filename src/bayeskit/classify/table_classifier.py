"""Classifiers for any table that are fitted in one call."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.questions import TableQuestions
from bayeskit.learn.state import State, learned
from bayeskit.learn.whole_model import WholeModel


@dataclass(frozen=True, eq=False)
class ClassifierState(State):
    """The state of a classifier: the class labels besides."""

    classes: NDArray[Any]  # (n_classes,)


class TableClassifier(WholeModel, TableQuestions):
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


def classes_to_parts(classes: NDArray[Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return class labels as a field where they are text, or as an array; ``counts.table.read_classes`` reads them."""
    if classes.dtype.kind in "OU":
        return {"classes": [str(label) for label in classes], "text_dtype": classes.dtype.str}, {}
    return {"classes": None}, {"classes": classes}
