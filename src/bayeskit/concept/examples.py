"""How concept learners read their examples: a table, labels, and which label is the concept."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import Codes
from bayeskit.concept.conjunctions import Attributes, ConjunctionSpace, learn_space, plain_cells
from bayeskit.counts.features import FeatureNames
from bayeskit.errors import BayeskitError
from bayeskit.learn.checks import check_columns, in_order
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.model import Model
from bayeskit.learn.state import State, learned
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


@dataclass(frozen=True, eq=False)
class ConceptState(State):
    """The attributes, and which label is the concept; learners add what they learned."""

    space: ConjunctionSpace
    positive: Any
    others: tuple[Any, ...]  # the labels that are not the concept

    @property
    def negative(self) -> Any:
        """The other label: one has its own name, several are "not" the concept."""
        others = self.others
        if not others and isinstance(self.positive, bool):
            others = (not self.positive,)
        return others[0] if len(others) == 1 else f"not {self.positive}"

    @property
    def classes(self) -> NDArray[Any]:
        """Not the concept, and the concept."""
        return np.array([self.negative, self.positive], dtype=object)

    def read(self, X: Any, source: Source) -> Source:
        """Return the columns of a table as those of the fit."""
        names, named = self.space.names, self.schema.named
        if self.target is not None and source.named and self.target in source.names:
            source = source.without(self.target)
        source = in_order(X, source, names)
        check_columns(source, names, named, type(self.settings).__name__)
        return source if source.names == names else Source(names, named, source.n_rows, _columns(source))

    def labels_of(self, is_positive: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the labels of rows, in their own type where both have one."""
        labels, classes = np.where(is_positive, 1, 0), self.classes
        # Labels of one type come back as that type; text beside a number stays what it is.
        same = len({type(label) for label in classes}) == 1
        return np.asarray((np.array(classes.tolist()) if same else classes)[labels])


class ConceptLearner(Model):
    """A learner of one concept over conjunctions: labels are the concept or not, columns are attributes.

    Subclasses have the parameters ``attributes`` and ``positive``.
    """

    attributes: Attributes
    positive: Any

    _state: ConceptState

    space_ = learned("space", "The space of conjunctions over the attributes.")
    positive_ = learned("positive", "The label of the concept.")
    negative_ = learned("negative", "The label of what is not the concept.")
    classes_ = learned("classes", "Not the concept, and the concept.")

    def _read(self, X: Any, y: Any, target: str | None) -> tuple[ConceptState, Examples]:
        """Read the first examples, which fix the columns and values; the model does not change."""
        rows = read_labelled(X, y, None, target, None, type(self).__name__)
        labels, source = rows.classes.tolist(), rows.source
        positive = self._choose_positive(labels)
        names = FeatureNames(len(source.names), source.names if source.named else None)
        others = tuple(label for label in labels if label != positive)
        space = learn_space(source, self.attributes)
        state = ConceptState(self._as_settings(), names, rows.target, space, positive, others)
        return state, _examples(state, rows, source)

    def _read_more(self, state: ConceptState, X: Any, y: Any, target: str | None) -> tuple[ConceptState, Examples]:
        """Read more examples in the columns and values of the first; a label may be new."""
        rows = read_labelled(X, y, None, target, None, type(self).__name__)
        source = state.read(X, rows.source)
        state = replace(state, others=self._others_with(state, rows.classes.tolist()))
        return state, _examples(state, rows, source)

    def _choose_positive(self, labels: list[Any]) -> Any:
        if self.positive is not None:
            if self.positive not in labels and len(labels) > 1:
                raise BayeskitError(f"positive is {self.positive!r}, which is not a label; the labels are {labels}.")
            return self.positive
        if len(labels) > 2:
            raise BayeskitError(
                f"a concept is one label against the rest, and there are {len(labels)}: {labels[:10]}. Pass "
                "positive= to name it."
            )
        if len(labels) == 1 and labels[0] in (0, 1):  # False and True too
            return type(labels[0])(1)
        if len(labels) == 1 and str(labels[0]).strip().lower() in _SAYS_NO:
            raise BayeskitError(
                f"all labels are {labels[0]!r}, so that the label of the concept is not known. Pass positive= to name "
                "it."
            )
        return labels[-1]

    def _others_with(self, state: ConceptState, labels: list[Any]) -> tuple[Any, ...]:
        """Return the labels that are not the concept once more are known; unless it was named, refuse a second one."""
        new = [label for label in labels if label not in (state.positive, state.negative, *state.others)]
        others = (*state.others, *new)
        if new and self.positive is None and len(others) > 1:
            known = ", ".join(map(repr, [*others[:-1], state.positive]))
            raise BayeskitError(
                f"the label {new[-1]!r} was not seen before; seen: {known}. A concept is one label against the rest: "
                "pass positive= to name it."
            )
        return others

    def _cells(self, X: Any) -> Codes:
        """Return the coded cells of rows to predict."""
        state: ConceptState = self._fitted
        return state.space.encode(state.read(X, read_table(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row: the concept's where the learned hypothesis, or most of several, covers it."""
        model = self._now()
        return model._state.labels_of(model._predict_cells(model._cells(X)))

    def score(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return the accuracy; every label other than the concept's counts as negative."""
        model = self._now()
        target = target or (None if y is not None else model._state.target)
        examples = model._read_more(model._state, X, y, target)[1]
        return float(np.mean(model._predict_cells(examples.cells) == examples.is_positive))

    @abstractmethod
    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        """Return whether coded rows are the concept; called on a plain fitted learner."""


def _examples(state: ConceptState, rows: Labelled, source: Source) -> Examples:
    is_positive = np.array([label == state.positive for label in rows.classes.tolist()])[rows.y]
    return Examples(state.space.encode(source), is_positive, source)


def _columns(source: Source) -> tuple[Any, ...]:
    return tuple(source.column(j) for j in range(len(source.names)))
