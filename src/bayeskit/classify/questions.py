"""What every classifier of tables is asked besides predictions: its accuracy, and why it predicts what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.learn.checks import in_order, split_target
from bayeskit.learn.model import SavedModel, accuracy
from bayeskit.table.read_result import ReadTable


class Explains(SavedModel):
    """A classifier that explains its predictions."""

    def explain(
        self, row: Any, classes: tuple[Any, Any] | None = None, order: Sequence[str] | None = None
    ) -> Explanation:
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


class TableQuestions(Explains):
    """A classifier of any table, in which a column may hold the labels."""

    def _rows_and_labels(self, X: Any, y: Any, target: str | None) -> tuple[Any, Any]:
        """Return rows without the column of the labels, where ``target`` names it, and the labels."""
        if isinstance(X, ReadTable) and y is None and target in (None, X.target):
            return X, X.y
        if target is None:
            return X, y
        source, y = split_target(X, target, self.schema_)
        return in_order(X, source, self.schema_.names), y

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy."""
        model = self._now()
        return accuracy(model, *model._rows_and_labels(X, y, target), sample_weight)
