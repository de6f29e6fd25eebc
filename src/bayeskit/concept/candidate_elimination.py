"""Candidate elimination: the version space of all conjunctions that fit the examples, held by its boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept import version_space
from bayeskit.concept.attributes import ANY, Codes
from bayeskit.concept.conjunctions import Attributes, Conjunction, ConjunctionSpace
from bayeskit.concept.coverage_explanation import CoverageExplanation, explain_coverage
from bayeskit.concept.examples import ConceptLearner, ConceptState, Examples
from bayeskit.concept.find_s import generalise, one_row
from bayeskit.errors import InconsistentExamplesError, TooLargeError
from bayeskit.learn.parameters import at_least, refuse_parameters
from bayeskit.learn.state import change_of, learned
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


@dataclass(frozen=True, eq=False)
class VersionSpaceState(ConceptState):
    """The boundaries, and the examples that later ones must agree with."""

    specific: Conjunction
    general: Codes
    negatives: Codes  # the negative examples so far
    n_seen: int
    steps: list[Boundaries]

    @property
    def most_specific(self) -> tuple[Conjunction, ...]:
        """The most specific hypotheses; for conjunctions there is one."""
        return (self.specific,)

    @property
    def most_general(self) -> tuple[Conjunction, ...]:
        """The most general hypotheses."""
        return _named_general(self.space, self.general)

    @property
    def bound(self) -> Codes | None:
        """The constraints of S, None where it is empty."""
        return _bound(self.specific)


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

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {"max_general": at_least(1, whole=True)}

    _state: VersionSpaceState

    S_ = learned("most_specific", "The most specific consistent hypotheses; for conjunctions there is one.")
    G_ = learned("most_general", "The most general consistent hypotheses.")
    steps_ = learned("steps", "S and G after each example of `partial_fit`.")

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
        refuse_parameters(self, self._rules)
        before, examples = self._begin(X, y, target)
        specific, general = _specific_of(before, examples), before.general
        negatives = np.unique(examples.cells[~examples.is_positive], axis=0)
        for cells in negatives:
            general = version_space.exclude(before.space, general, _bound(specific), cells, self.max_general)
        n_seen = len(examples.cells)
        self._state = replace(before, specific=specific, general=general, negatives=negatives, n_seen=n_seen)
        return self

    def partial_fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Learn from more examples, in their order; the columns and values are those of the first call.

        Values in later calls must be known from the first call or from ``attributes``.
        """
        refuse_parameters(self, self._rules)
        with change_of(self):
            before: VersionSpaceState | None = self.__dict__.get("_state")
            if before is None:
                before, examples = self._begin(X, y, target)
            else:
                concept, examples = self._read_more(before, X, y, target)
                before = replace(before, others=concept.others)
            self._state = _after(replace(before, settings=self._as_settings()), examples, self.max_general)
        return self

    def _begin(self, X: Any, y: Any, target: str | None) -> tuple[VersionSpaceState, Examples]:
        """Return the version space before any example, and the first examples."""
        concept, examples = self._read(X, y, target)
        space = concept.space
        general = np.full((1, len(space.parts)), ANY, dtype=np.int64)  # ⟨?, …, ?⟩ alone
        return VersionSpaceState(
            **vars(concept),
            specific=space.most_specific,
            general=general,
            negatives=examples.cells[:0],
            n_seen=0,
            steps=[],
        ), examples

    @property
    def n_hypotheses_(self) -> int:
        """How many hypotheses are consistent with the examples."""
        state: VersionSpaceState = self._fitted
        return version_space.count(state.space, state.bound, state.general)

    def __contains__(self, hypothesis: object) -> bool:
        state: VersionSpaceState = self._fitted
        if not isinstance(hypothesis, Conjunction):
            return False
        return hypothesis >= state.specific and any(general >= hypothesis for general in state.most_general)

    def __iter__(self) -> Iterator[Conjunction]:
        return iter(self.hypotheses())

    def hypotheses(self, limit: int = 100_000) -> list[Conjunction]:
        """Return every hypothesis of the version space; more than ``limit`` are refused."""
        model = self._now()
        n, state = model.n_hypotheses_, model._state
        if n > limit:
            raise TooLargeError(f"the version space has {n} hypotheses, more than limit={limit}; pass a higher limit.")
        return [Conjunction(state.space, row) for row in version_space.members(state.space, state.bound, state.general)]

    def votes(self, X: Any) -> NDArray[Any]:
        """Return how many hypotheses of the version space cover each row: whole numbers from 0 to their number."""
        model = self._now()
        return model._votes(model._cells(X))

    def _votes(self, cells: Codes) -> NDArray[Any]:
        state = self._state
        rows, which = np.unique(cells, axis=0, return_inverse=True)
        votes = np.empty(len(rows), dtype=object)
        known: dict[tuple[int, int | None], dict[int, int]] = {}
        for i, row in enumerate(rows):
            # What covers the row and lies above S lies above the least conjunction over both.
            least = generalise(state.space, state.specific, row)
            votes[i] = version_space.count(state.space, np.array(least.constraints), state.general, known)
        return votes[which.ravel()]

    def vote(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the version space that covers each row: 1 and 0 are unanimous.

        With a uniform prior and labels without noise this is the posterior probability of the concept.
        """
        model = self._now()
        total = model.n_hypotheses_
        return np.array([float(Fraction(int(n), total)) for n in model.votes(X)])

    def _predict_cells(self, cells: Codes) -> NDArray[np.bool_]:
        total = self.n_hypotheses_
        return np.array([2 * int(n) > total for n in self._votes(cells)])

    def explain(self, row: Any) -> CoverageExplanation:
        """Explain one row: the constraints of S, and the vote of the version space."""
        model = self._now()
        cells, plain = one_row(model, row)
        total, votes = model.n_hypotheses_, int(model._votes(cells[None, :])[0])
        label = model._state.labels_of(np.array([2 * votes > total]))[0]
        agreement = "all agree" if votes in (0, total) else "they do not agree"
        note = f"{votes} of {total} hypotheses cover the row: {agreement}"
        return explain_coverage(label, model._state.specific, cells, plain, note)


def _after(state: VersionSpaceState, examples: Examples, max_general: int) -> VersionSpaceState:
    """Return the state after more examples, taken one by one."""
    space, specific, general = state.space, state.specific, state.general
    negatives, steps = state.negatives, list(state.steps)
    for row, (cells, positive) in enumerate(zip(examples.cells, examples.is_positive, strict=True)):
        if positive:
            specific = generalise(space, specific, cells)
            general = general[space.covers(general, cells)]
        else:
            negatives = np.concatenate([negatives, cells[None, :]])
        _refuse_covered(state, specific, negatives, row, examples, state.n_seen)
        if not positive:
            general = version_space.exclude(space, general, _bound(specific), cells, max_general)
        general = _above(space, specific, general)
        label = state.positive if positive else state.negative
        steps.append(Boundaries(state.n_seen + row, label, (specific,), _named_general(space, general)))
    n_seen = state.n_seen + len(examples.cells)
    return replace(state, specific=specific, general=general, negatives=negatives, n_seen=n_seen, steps=steps)


def _specific_of(concept: ConceptState, examples: Examples) -> Conjunction:
    """Return S, checking after every example that it covers no negative one so far."""
    space = concept.space
    specific = space.most_specific
    positive, cells = examples.is_positive, examples.cells
    for row in range(len(cells)):
        if not positive[row]:
            if bool(space.covers(np.array(specific.constraints), cells[row])):
                _refuse_covered(concept, specific, cells[row : row + 1], row, examples, 0)
            continue
        wider = generalise(space, specific, cells[row])
        if wider != specific:
            specific = wider
            _refuse_covered(concept, specific, cells[:row][~positive[:row]], row, examples, 0)
    return specific


def _refuse_covered(
    concept: ConceptState, specific: Conjunction, negatives: Codes, row: int, examples: Examples, seen: int
) -> None:
    # S is the least conjunction over the positive examples: where it covers a negative one, every other does.
    if not concept.space.covers(np.array(specific.constraints), negatives).any():
        return
    label = concept.positive if examples.is_positive[row] else concept.negative
    shown = [f"{name}={value}" for name, value in examples.row(row).items()]
    cells = ", ".join([*shown[:8], *(["…"] if len(shown) > 8 else [])])
    raise InconsistentExamplesError(
        f"row {seen + row} ({cells}; {label}) emptied the version space: no conjunction covers all positive "
        f"examples so far and no negative one, since the most specific one that covers the positive, {specific}, "
        "covers a negative too. Use BruteForceMAP(noise=...) where labels may be wrong.",
        row=seen + row,
        hypothesis=specific,
    )


def _above(space: ConjunctionSpace, specific: Conjunction, general: Codes) -> Codes:
    if specific.is_empty:
        return general
    keep = np.ones(len(general), dtype=bool)
    for j, part in enumerate(space.parts):
        keep &= part.at_least(general[:, j], specific.constraints[j])
    return general[keep]


def _bound(specific: Conjunction) -> Codes | None:
    return None if specific.is_empty else np.array(specific.constraints)


def _named_general(space: ConjunctionSpace, general: Codes) -> tuple[Conjunction, ...]:
    # In the order in which the attributes that they ask of come.
    ranked = sorted((tuple(row) for row in general.tolist()), key=lambda row: tuple(c == 0 for c in row))
    return tuple(Conjunction(space, row) for row in ranked)


def _braces(hypotheses: tuple[Conjunction, ...]) -> str:
    return "{" + ", ".join(map(repr, hypotheses)) + "}"
