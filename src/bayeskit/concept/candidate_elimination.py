"""Candidate elimination: the version space of all conjunctions that fit the examples, held by its boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept import version_space
from bayeskit.concept.attributes import Codes
from bayeskit.concept.conjunctions import Attributes, Conjunction
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner, Examples
from bayeskit.concept.find_s import generalise, one_row
from bayeskit.errors import BayeskitError, InconsistentExamplesError, TooLargeError
from bayeskit.result import Result


@dataclass(frozen=True)
class Boundaries(Result):
    """S and G after an example."""

    row: int
    label: Any
    S: tuple[Conjunction, ...]
    G: tuple[Conjunction, ...]

    def __repr__(self) -> str:
        return f"row {self.row} ({self.label})  S: {_braces(self.S)}  G: {_braces(self.G)}"


class CandidateElimination(ConceptLearner):
    """Learn all conjunctions that are consistent with the examples, by their boundaries S and G.

    S holds the most specific consistent hypotheses (for conjunctions there is one), G the most general ones; the
    version space is everything between. ``fit`` takes the positive examples first, which keeps G small and
    changes nothing in the result; ``partial_fit`` takes examples as they come, and ``steps_`` shows S and G after each.

    Parameters
    ----------
    attributes : mapping of column to attribute, or word, optional
        As in :class:`~bayeskit.FindS`.
    positive : label, optional
        The label of the concept; by default the second of the two labels in sorted order.
    max_general : int, default 2000
        The largest size of G, which may grow as 2 to the power of the number of attributes; a larger one is an error.

    Attributes
    ----------
    S_, G_ : tuples of Conjunction
        The boundaries.
    n_hypotheses_ : int
        The number of consistent hypotheses, counted exactly without listing them.
    steps_ : list of Boundaries
        S and G after each example of `partial_fit`.

    References
    ----------
    Mitchell (1997), Machine Learning, table 2.5.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> learner = CandidateElimination().fit(datasets.load_enjoy_sport(), target="enjoy")
    >>> learner.S_, learner.n_hypotheses_
    ((⟨sunny, warm, ?, strong, ?, ?⟩,), 6)
    >>> learner.G_
    (⟨sunny, ?, ?, ?, ?, ?⟩, ⟨?, warm, ?, ?, ?, ?⟩)
    """

    def __init__(self, *, attributes: Attributes = None, positive: Any = None, max_general: int = 2000) -> None:
        self.attributes = attributes
        self.positive = positive
        self.max_general = max_general

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels.

        Raises
        ------
        InconsistentExamplesError
            When no conjunction fits: the message names the example that emptied the version space.
        TooLargeError
            When G would pass ``max_general``.
        """
        self._check_limit()
        examples = self._read(X, y, target)
        specific = self._specific_of(examples)
        general = version_space.everything(self.space_)
        negatives = np.unique(examples.cells[~examples.is_positive], axis=0)
        bound = None if specific.is_empty else np.array(specific.constraints)
        for cells in negatives:
            general = version_space.exclude(self.space_, general, bound, cells, self.max_general)
        self._adopt(specific, general)
        self._seen_negatives = negatives
        self._n_seen = len(examples.cells)
        self.steps_: list[Boundaries] = []
        return self

    def partial_fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from more examples, in their order; the columns and values are those of the first call.

        Values in later calls must be known from the first call or from ``attributes``.
        """
        self._check_limit()
        first = not hasattr(self, "S_")
        examples = self._read(X, y, target, more=not first)
        if first:
            specific, general = self.space_.most_specific, version_space.everything(self.space_)
            negatives, seen, steps = examples.cells[:0], 0, []
        else:
            specific, general = self.S_[0], self._general
            negatives, seen, steps = self._seen_negatives, self._n_seen, list(self.steps_)
        for row, (cells, positive) in enumerate(zip(examples.cells, examples.is_positive, strict=True)):
            if positive:
                specific = generalise(self.space_, specific, cells)
                general = general[self.space_.covers(general, cells)]
            else:
                negatives = np.concatenate([negatives, cells[None, :]])
            self._refuse_covered(specific, negatives, row, examples, seen)
            if not positive:
                bound = None if specific.is_empty else np.array(specific.constraints)
                general = version_space.exclude(self.space_, general, bound, cells, self.max_general)
            general = self._above(specific, general)
            label = self.positive_ if positive else self.negative_
            steps.append(Boundaries(seen + row, label, (specific,), self._named_general(general)))
        self._adopt(specific, general)
        self._seen_negatives, self._n_seen, self.steps_ = negatives, seen + len(examples.cells), steps
        return self

    def _check_limit(self) -> None:
        limit: Any = self.max_general
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
            raise BayeskitError(f"max_general must be a whole number of at least 1; got {limit!r}.")

    def _specific_of(self, examples: Examples) -> Conjunction:
        """Return S, checking after every example that it covers no negative one so far."""
        specific = self.space_.most_specific
        positive, cells = examples.is_positive, examples.cells
        for row in range(len(cells)):
            if not positive[row]:
                if bool(self.space_.covers(np.array(specific.constraints), cells[row])):
                    self._refuse_covered(specific, cells[row : row + 1], row, examples, 0)
                continue
            wider = generalise(self.space_, specific, cells[row])
            if wider != specific:
                specific = wider
                self._refuse_covered(specific, cells[:row][~positive[:row]], row, examples, 0)
        return specific

    def _refuse_covered(self, specific: Conjunction, negatives: Codes, row: int, examples: Examples, seen: int) -> None:
        # S is the least conjunction over the positive examples: where it covers a negative one, every other does.
        if not self.space_.covers(np.array(specific.constraints), negatives).any():
            return
        label = self.positive_ if examples.is_positive[row] else self.negative_
        shown = [f"{name}={value}" for name, value in examples.row(row).items()]
        cells = ", ".join([*shown[:8], *(["…"] if len(shown) > 8 else [])])
        raise InconsistentExamplesError(
            f"row {seen + row} ({cells}; {label}) emptied the version space: no conjunction covers all positive "
            f"examples so far and no negative one, since the most specific one that covers the positive, {specific}, "
            "covers a negative too. Use BruteForceMAP(noise=...) where labels may be wrong.",
            row=seen + row,
            hypothesis=specific,
        )

    def _above(self, specific: Conjunction, general: Codes) -> Codes:
        if specific.is_empty:
            return general
        keep = np.ones(len(general), dtype=bool)
        for j, part in enumerate(self.space_.parts):
            keep &= part.at_least(general[:, j], specific.constraints[j])
        return general[keep]

    def _adopt(self, specific: Conjunction, general: Codes) -> None:
        self._general = general
        self.S_ = (specific,)
        self.G_ = self._named_general(general)

    def _named_general(self, general: Codes) -> tuple[Conjunction, ...]:
        # In the order in which the attributes that they ask of come.
        ranked = sorted((tuple(row) for row in general.tolist()), key=lambda row: tuple(c == 0 for c in row))
        return tuple(Conjunction(self.space_, row) for row in ranked)

    @property
    def _bound(self) -> Codes | None:
        return None if self.S_[0].is_empty else np.array(self.S_[0].constraints)

    @property
    def n_hypotheses_(self) -> int:
        """How many hypotheses are consistent with the examples."""
        self._refuse_unfitted()
        return version_space.count(self.space_, self._bound, self._general)

    def __contains__(self, hypothesis: object) -> bool:
        self._refuse_unfitted()
        if not isinstance(hypothesis, Conjunction):
            return False
        return hypothesis >= self.S_[0] and any(general >= hypothesis for general in self.G_)

    def __iter__(self) -> Iterator[Conjunction]:
        return iter(self.hypotheses())

    def hypotheses(self, limit: int = 100_000) -> list[Conjunction]:
        """Return every hypothesis of the version space; more than ``limit`` are refused."""
        n = self.n_hypotheses_
        if n > limit:
            raise TooLargeError(f"the version space has {n} hypotheses, more than limit={limit}; pass a higher limit.")
        return [Conjunction(self.space_, row) for row in version_space.members(self.space_, self._bound, self._general)]

    def votes(self, X: Any) -> NDArray[Any]:
        """Return how many hypotheses of the version space cover each row: whole numbers from 0 to their number."""
        return self._votes(self._cells(X))

    def _votes(self, cells: Codes) -> NDArray[Any]:
        rows, which = np.unique(cells, axis=0, return_inverse=True)
        votes = np.empty(len(rows), dtype=object)
        known: dict[tuple[int, int | None], dict[int, int]] = {}
        for i, row in enumerate(rows):
            # What covers the row and lies above S lies above the least conjunction over both.
            least = generalise(self.space_, self.S_[0], row)
            votes[i] = version_space.count(self.space_, np.array(least.constraints), self._general, known)
        return votes[which.ravel()]

    def vote(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the version space that covers each row: 1 and 0 are unanimous.

        With a uniform prior and labels without noise this is the posterior probability of the concept.
        """
        total = self.n_hypotheses_
        return np.array([float(Fraction(int(n), total)) for n in self.votes(X)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label that most of the version space gives each row; a tie counts as negative."""
        return self._as_labels(self._predict_cells(self._cells(X)))

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        total = self.n_hypotheses_
        return np.array([2 * int(n) > total for n in self._votes(cells)])

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row: the constraints of S, and the vote of the version space."""
        self._refuse_unfitted()
        cells, plain = one_row(self, row)
        total, votes = self.n_hypotheses_, int(self._votes(cells[None, :])[0])
        label = self._as_labels(np.array([2 * votes > total]))[0]
        agreement = "all agree" if votes in (0, total) else "they do not agree"
        note = f"{votes} of {total} hypotheses cover the row: {agreement}"
        return explain_coverage(label, self.S_[0], cells, plain, note)


def _braces(hypotheses: tuple[Conjunction, ...]) -> str:
    return "{" + ", ".join(map(repr, hypotheses)) + "}"
