"""Find-S: the most specific conjunction that covers every positive example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import EMPTY, Codes
from bayeskit.concept.conjunctions import Attributes, Conjunction, ConjunctionSpace
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner, ConceptState
from bayeskit.explain.row_cells import read_row
from bayeskit.learn.state import learned
from bayeskit.result import Result
from bayeskit.table.read import read_table


@dataclass(frozen=True, repr=False)
class Generalisation(Result):
    """A step of Find-S: the row that was not covered, and the hypothesis after it."""

    row: int
    hypothesis: Conjunction


@dataclass(frozen=True, eq=False)
class FindSState(ConceptState):
    """The hypothesis, and how it came about."""

    hypothesis: Conjunction
    steps: list[Generalisation]
    covered_negatives: NDArray[np.int64]


class FindS(ConceptLearner):
    """Learn the most specific conjunction that covers the positive examples (Find-S).

    It starts at ∅, which covers nothing, and generalises only as far as each positive example needs. Negative examples
    are not used; those that the result covers are listed in ``covered_negatives_``: if there are any, no conjunction is
    consistent with the examples.

    Parameters
    ----------
    attributes : mapping of column to attribute, or word, optional
        :class:`~bayeskit.concept.Values`, :class:`~bayeskit.concept.Range` or
        :class:`~bayeskit.concept.Hierarchy`, or "values" or "range", by column or for all. By default text has
        values and numbers have ranges between the levels that occur. A missing cell satisfies only ?.
    positive : label, optional
        The label of the concept; by default the second of two labels in sorted order.

    Attributes
    ----------
    hypothesis_ : Conjunction
        The learned hypothesis.
    steps_ : list of Generalisation
        Each row that made the hypothesis more general.
    covered_negatives_ : array of int
        The rows of negative examples that the hypothesis covers; empty where it is consistent.

    References
    ----------
    Mitchell (1997), Machine Learning, table 2.3.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> FindS().fit(datasets.load_enjoy_sport(), target="enjoy").hypothesis_
    ⟨sunny, warm, ?, strong, ?, ?⟩
    """

    _state: FindSState

    hypothesis_ = learned("hypothesis", "The learned hypothesis.")
    steps_ = learned("steps", "Each row that made the hypothesis more general.")
    covered_negatives_ = learned("covered_negatives", "The rows of negative examples that the hypothesis covers.")

    def __init__(self, *, attributes: Attributes = None, positive: Any = None) -> None:
        self.attributes = attributes
        self.positive = positive

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them."""
        concept, examples = self._read(X, y, target)
        hypothesis = concept.space.most_specific
        steps: list[Generalisation] = []
        for row in np.flatnonzero(examples.is_positive).tolist():
            wider = generalise(concept.space, hypothesis, examples.cells[row])
            if wider != hypothesis:
                hypothesis = wider
                steps.append(Generalisation(row, hypothesis))
        covered = concept.space.covers(np.array(hypothesis.constraints), examples.cells)
        negatives = np.flatnonzero(covered & ~examples.is_positive)
        self._state = FindSState(**vars(concept), hypothesis=hypothesis, steps=steps, covered_negatives=negatives)
        return self

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        return self._state.space.covers(np.array(self._state.hypothesis.constraints), cells)

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row, given as a dict or a list: which constraints it satisfies and which not."""
        model = self._now()
        cells, plain = one_row(model, row)
        label = model._state.labels_of(model._predict_cells(cells[None, :]))[0]
        return explain_coverage(label, model._state.hypothesis, cells, plain)


def generalise(space: ConjunctionSpace, hypothesis: Conjunction, cells: Codes) -> Conjunction:
    """Return the most specific conjunction that covers a row and everything that a hypothesis covers."""
    wider = tuple(
        part.join(constraint, int(cell))
        for part, constraint, cell in zip(space.parts, hypothesis.constraints, cells, strict=True)
    )
    assert EMPTY not in wider
    return Conjunction(space, wider)


def one_row(learner: ConceptLearner, row: Any) -> tuple[Codes, dict[str, Any]]:
    """Return one row, given as a dict, a list or a table with one row, as codes and as plain values by name."""
    names = learner.space_.names
    plain = dict(zip(names, read_row(learner, row).values, strict=True))
    source = read_table({name: [value] for name, value in plain.items()})
    return learner.space_.encode(source)[0], plain
