"""How concept learners read their examples: a table, labels, and which label is the concept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import Codes
from bayeskit.concept.conjunctions import Attributes, ConjunctionSpace, learn_space, plain_cells
from bayeskit.errors import BayeskitError
from bayeskit.learn.checks import check_columns, in_order
from bayeskit.learn.estimator import Estimator, not_fitted
from bayeskit.learn.labelled import read_labelled
from bayeskit.table.read import Source, read_table

# Where all labels are one of these, it is not the concept that they name.
_SAYS_NO = {"no", "n", "false", "f", "-", "−", "negative", "0"}


@dataclass(frozen=True)
class Examples:
    """Coded cells of shape (n_rows, n_attributes), and which rows are positive."""

    cells: Codes
    is_positive: NDArray[np.bool_]  # (n_rows,)
    source: Source

    def row(self, number: int) -> dict[str, Any]:
        """Return one row as plain values by name."""
        source = self.source.take(np.array([number]))
        return {name: plain_cells(source.column(j))[0] for j, name in enumerate(source.names)}


class ConceptLearner(Estimator):
    """A learner of one concept over conjunctions: labels are the concept or not, columns are attributes.

    Subclasses have the parameters ``attributes`` and ``positive``.
    """

    attributes: Attributes
    positive: Any

    def _read(self, X: Any, y: Any, target: str | None, *, more: bool = False, learn: bool = True) -> Examples:
        """Read examples; the first call also fixes the columns and values.

        With ``more=True`` the columns are those of the first call; with ``learn=False`` new labels are not kept.
        """
        name = type(self).__name__
        rows = read_labelled(X, y, None, target, None, name)
        source = self._as_fitted(X, rows.source) if more else rows.source
        labels, codes = rows.classes, rows.y
        found = labels.tolist()
        if not more:
            self._choose_labels(found)
            self.space_: ConjunctionSpace = learn_space(source, self.attributes)
            self.n_features_in_ = len(source.names)
            self._named, self.target_ = source.named, target
            if source.named:
                self.feature_names_in_ = np.array(source.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            others = self._others_with(found)
            if learn:
                self._note_others(others)
        is_positive = np.array([label == self.positive_ for label in found])[codes]
        return Examples(self.space_.encode(source), is_positive, source)

    def _choose_labels(self, found: list[Any]) -> None:
        if self.positive is not None:
            if self.positive not in found and len(found) > 1:
                raise BayeskitError(f"positive is {self.positive!r}, which is not a label; the labels are {found}.")
            self.positive_ = self.positive
        elif len(found) > 2:
            raise BayeskitError(
                f"a concept is one label against the rest, and there are {len(found)}: {found[:10]}. Pass positive= to "
                "name it."
            )
        elif len(found) == 1 and found[0] in (0, 1):  # False and True too
            self.positive_ = type(found[0])(1)
        elif len(found) == 1 and str(found[0]).strip().lower() in _SAYS_NO:
            raise BayeskitError(
                f"all labels are {found[0]!r}, so that the label of the concept is not known. Pass positive= to name "
                "it."
            )
        else:
            self.positive_ = found[-1]
        self._note_others([label for label in found if label != self.positive_])

    def _note_others(self, others: list[Any]) -> None:
        """Note the labels that are not the concept: one has its own name, several are "not" the concept."""
        self._others = others
        if not others and isinstance(self.positive_, bool):
            others = [not self.positive_]
        self.negative_ = others[0] if len(others) == 1 else f"not {self.positive_}"
        self.classes_ = np.array([self.negative_, self.positive_], dtype=object)

    def _others_with(self, found: list[Any]) -> list[Any]:
        """Return the labels that are not the concept once more are known; unless it was named, refuse a second one."""
        new = [label for label in found if label not in (self.positive_, self.negative_, *self._others)]
        others = [*self._others, *new]
        if new and self.positive is None and len(others) > 1:
            known = ", ".join(map(repr, [*others[:-1], self.positive_]))
            raise BayeskitError(
                f"the label {new[-1]!r} was not seen before; seen: {known}. A concept is one label against the rest: "
                "pass positive= to name it."
            )
        return others

    def _as_fitted(self, X: Any, source: Source) -> Source:
        names = self.space_.names
        if self.target_ is not None and source.named and self.target_ in source.names:
            source = source.without(self.target_)
        source = in_order(X, source, names)
        check_columns(source, names, self._named, type(self).__name__)
        return source if source.names == names else Source(names, self._named, source.n_rows, _columns(source))

    def _cells(self, X: Any) -> Codes:
        """Return the coded cells of rows to predict."""
        self._refuse_unfitted()
        return self.space_.encode(self._as_fitted(X, read_table(X)))

    def _as_labels(self, is_positive: NDArray[np.bool_]) -> NDArray[Any]:
        labels = np.where(is_positive, 1, 0)
        plain = np.array(self.classes_.tolist())
        # Labels of one type come back as that type; text beside a number stays what it is.
        same = len({type(label) for label in self.classes_}) == 1
        return np.asarray((plain if same else self.classes_)[labels])

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "space_"):
            raise not_fitted(self)

    def score(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy; every label other than the concept's counts as negative."""
        self._refuse_unfitted()
        examples = self._read(X, y, target or (None if y is not None else self.target_), more=True, learn=False)
        return float(np.mean(self._predict_cells(examples.cells) == examples.is_positive))

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        raise NotImplementedError


def _columns(source: Source) -> tuple[Any, ...]:
    return tuple(source.column(j) for j in range(len(source.names)))
