"""Find-S: the most specific conjunction that covers every positive example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import EMPTY, Codes
from bayeskit.concept.conjunctions import Attributes, Conjunction, ConjunctionSpace
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner
from bayeskit.explain.row_cells import read_row
from bayeskit.result import Result
from bayeskit.table.read import read_table


@dataclass(frozen=True, repr=False)
class Generalisation(Result):
    """A step of Find-S: the row that was not covered, and the hypothesis after it."""

    row: int
    hypothesis: Conjunction


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

    def __init__(self, *, attributes: Attributes = None, positive: Any = None) -> None:
        self.attributes = attributes
        self.positive = positive

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them."""
        examples = self._read(X, y, target)
        found = self.space_.most_specific
        self.steps_: list[Generalisation] = []
        for row in np.flatnonzero(examples.is_positive).tolist():
            wider = generalise(self.space_, found, examples.cells[row])
            if wider != found:
                found = wider
                self.steps_.append(Generalisation(row, found))
        self.hypothesis_ = found
        covered = self.space_.covers(np.array(found.constraints), examples.cells)
        self.covered_negatives_ = np.flatnonzero(covered & ~examples.is_positive)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the concept's label for the rows that the hypothesis covers, and the other label for the rest."""
        return self._as_labels(self._predict_cells(self._cells(X)))

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        return self.space_.covers(np.array(self.hypothesis_.constraints), cells)

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row, given as a dict or a list: which constraints it satisfies and which not."""
        self._refuse_unfitted()
        cells, plain = one_row(self, row)
        label = self._as_labels(self._predict_cells(cells[None, :]))[0]
        return explain_coverage(label, self.hypothesis_, cells, plain)


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
