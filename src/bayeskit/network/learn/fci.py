"""FCI: what tests of independence say about causes where some of them may be hidden."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.defaults import NETWORK_BINS
from bayeskit.errors import NetworkError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.infer.sample_output import is_whole
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import read_rows, warn_of_copies
from bayeskit.network.learn.methods.pc import Separators, collider_votes, learn_skeleton, separated_pairs
from bayeskit.network.learn.pag import ARROW, CIRCLE, PAG, EdgeMarks
from bayeskit.network.learn.pag_rules import MarkRules
from bayeskit.network.learn.pag_triples import CheckedTriples
from bayeskit.network.learn.search_method import OnStep
from bayeskit.network.learn.tests_of_independence import (
    DataTests,
    GraphOracle,
    IndependenceTest,
    TestName,
    check_test,
)  # fmt: skip
from bayeskit.network.named_graph import NamedGraph
from bayeskit.progress import Progress, report_step
from bayeskit.result import Result

FCIMethod = Literal["auto", "fci", "rfci"]
_METHODS = ("auto", "fci", "rfci")
# "auto" searches the sets of possible separators up to so many tests: some 10 s with 10,000 rows.
_MOST_TESTS = 200_000


@dataclass(frozen=True, eq=False)
class LearnedPAG(Result):
    """The result of a search for a partial ancestral graph.

    Attributes
    ----------
    pag : PAG
        The graph.
    separators : dict of (a, b) to tuple of names
        For each pair that is not joined, what separates it.
    method : {"fci", "rfci"}
        Which of the two was used.
    history : History
        The number of edges after each level of tests, and the reason to stop.
    """

    pag: PAG
    separators: dict[tuple[str, str], tuple[str, ...]]
    method: str
    history: History

    def __repr__(self) -> str:
        return f"{self.method}, {self.history.reason}\n{self.pag!r}"

    def draw(self) -> Any:
        """Draw the graph."""
        return self.pag.draw()


def learn_pag(
    table: Any,
    method: FCIMethod = "auto",
    *,
    alpha: float = 0.01,
    test: TestName = "g2",
    max_condition: int | None = None,
    tiers: Sequence[Sequence[str]] | None = None,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
    progress: Progress | None = None,
) -> LearnedPAG:
    """Find what a table says about causes, when some causes may have no column (the FCI algorithm).

    `learn_structure` and its method "pc" take for granted that every common cause of two columns is a column too. Where
    that may be wrong, an arc that they find may be a hidden cause. FCI gives a `PAG` instead, which says of each end of
    an edge whether this is known.

    Parameters
    ----------
    table : any table
        As for `learn_structure`. A row is left out of the tests of columns that it does not know.
    method : {"auto", "fci", "rfci"}
        FCI, which tests all sets of variables that may separate a pair; or RFCI, which tests a few of them: it may keep
        an edge too many, and what it says of ends is right all the same. "auto" is FCI where it needs at most 200,000
        tests more than PC.
    alpha : float, default 0.01
        The level of the tests.
    test : {"g2", "chi2", "mi"}, default "g2"
        The test of independence, as for `independence_test`.
    max_condition : int, optional
        The largest conditioning set; by default there is no limit.
    tiers : list of lists of columns, optional
        No variable of a later tier is a cause of one of an earlier tier.
    sample_weight, kinds, numeric, bins
        As for `learn_structure`.
    progress : callable, optional
        Called with a :class:`bayeskit.progress.Step` after each level of tests; the objective is the number of edges.

    Returns
    -------
    LearnedPAG
        On Ctrl-C after the first levels, the graph of the tests so far, with a warning.

    References
    ----------
    Spirtes, Meek & Richardson (1995), Causal inference in the presence of latent variables and selection bias, UAI.
    Zhang (2008), On the completeness of orientation rules, Artificial Intelligence 172. Colombo, Maathuis, Kalisch &
    Richardson (2012), Learning high-dimensional directed acyclic graphs with latent and selection variables, Annals of
    Statistics 40 (RFCI).

    Examples
    --------
    >>> from bayeskit import BayesianNetwork, learn_pag
    >>> net = BayesianNetwork("a->x<-h->y<-b", random_tables=1)
    >>> rows = net.sample(5000, random_state=0)
    >>> del rows["h"]
    >>> learn_pag(rows).pag.edges
    (('a', 'o->', 'x'), ('x', '<->', 'y'), ('b', 'o->', 'y'))
    """
    check_test(test, alpha)
    check_options(method, max_condition)
    rows = read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    limits = Constraints.of(rows.names, tiers=tiers)
    warn_of_copies(rows)

    def on_step(step: int, objective: float, marks: Any) -> None:
        report_step(progress, "fci", step, objective=objective)

    search = PAGSearch(DataTests(rows, test, alpha), limits, method, max_condition, on_step)
    marks = search.run()
    if not search.whole:
        warn_caller(f"the search was {search.reason}.")
    names = rows.names
    separators = {
        (names[a], names[b]): tuple(names[z] for z in given) for (a, b), given in sorted(search.separators.items())
    }
    history = History(search.method, tuple(search.path), search.reason, search.whole)
    return LearnedPAG(PAG.of_marks(names, marks), separators, search.method, history)


def check_options(method: object, max_condition: object) -> None:
    """Refuse a method that is not known, and a size that is not a whole number."""
    if method not in _METHODS:
        raise NetworkError(f"method must be one of {', '.join(map(repr, _METHODS))}; got {method!r}.")
    if max_condition is not None and not is_whole(max_condition, 0):
        raise NetworkError(f"max_condition must be a whole number of at least 0; got {max_condition!r}.")


class PAGSearch:
    """A search by tests of any kind, such as d-separation in a known graph.

    Attributes
    ----------
    separators : dict of (a, b) to list of int
        What separates the pairs that are not joined.
    method : {"fci", "rfci"}
        Which of the two was used.
    path : list of float
        The number of edges after each level.
    reason : str
        Why the search ended.
    whole : bool
        Whether all tests were made.
    """

    def __init__(
        self,
        tests: IndependenceTest,
        limits: Constraints,
        method: FCIMethod = "auto",
        max_condition: int | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self._tests, self._limits, self._max_condition, self._on_step = tests, limits, max_condition, on_step
        self.method: str = method
        self.separators: Separators = {}
        self.path: list[float] = []
        self.reason, self.whole = "no larger conditioning set is left to try", True

    def run(self) -> EdgeMarks:
        """Return the marks of the graph."""
        near, self.separators, self.path, self.whole = learn_skeleton(
            self._tests, self._limits, self._max_condition, self._on_step
        )
        if self.whole and self.method != "rfci":
            sets = possible_separators(self._with_colliders(near))
            if self.method == "auto" and _n_tests(near, sets, self._max_condition) > _MOST_TESTS:
                self.method = "rfci"
            else:
                self.method = "fci"
                self._remove_by(near, sets)
        if not self.whole:
            self.method, self.reason = "rfci", "interrupted; the edges left so far are kept"
        if self.method == "rfci":
            return CheckedTriples(self._tests, near, self.separators, self._blank).marks_by_rules()
        marks = self._with_colliders(near)
        MarkRules(marks, self.separators).apply()
        return marks

    def _blank(self, near: NDArray[np.bool_]) -> EdgeMarks:
        """Return circles at all ends, but arrows at the later end where tiers say which that is."""
        marks = np.where(near, CIRCLE, 0).astype(np.int8)
        marks[near & ~self._limits.allowed.T] = ARROW
        return marks

    def _with_colliders(self, near: NDArray[np.bool_]) -> EdgeMarks:
        marks = self._blank(near)
        for vote in collider_votes(near, self.separators, self._tests):
            if vote.collider:
                marks[vote.a, vote.c] = marks[vote.b, vote.c] = ARROW
        return marks

    def _remove_by(self, near: NDArray[np.bool_], sets: list[set[int]]) -> None:
        """Remove the edges that a subset of the possible separators of either end separates."""
        largest = max((len(each) for each in sets), default=0)
        most = largest if self._max_condition is None else min(largest, self._max_condition)
        for size in range(1, most + 1):
            pairs = list(zip(*(side.tolist() for side in np.nonzero(np.triu(near))), strict=True))

            def side(of: int, other: int) -> list[int]:
                return sorted(sets[of] - {of, other})

            try:
                separated = separated_pairs(self._tests, pairs, size, side)
            except KeyboardInterrupt:
                self.whole = False
                return
            for x, y in separated:
                near[x, y] = near[y, x] = False
            self.separators |= separated
            self.path.append(float(near.sum() // 2))
            if self._on_step is not None:
                self._on_step(len(self.path) - 1, self.path[-1], near)


def possible_separators(marks: EdgeMarks) -> list[set[int]]:
    """Return, for each x, all v with a path x … v on which each inner vertex is a collider or in a triangle."""
    n = len(marks)
    near = [np.flatnonzero(row).tolist() for row in marks]
    sets = []
    for x in range(n):
        steps = {(x, y) for y in near[x]}
        waiting = deque(steps)
        while waiting:
            a, b = waiting.popleft()
            for c in near[b]:
                if c in (a, x) or (b, c) in steps:
                    continue
                if marks[a, c] or (marks[a, b] == ARROW and marks[c, b] == ARROW):
                    steps.add((b, c))
                    waiting.append((b, c))
        sets.append({v for _, v in steps})
    return sets


def _n_tests(near: NDArray[np.bool_], sets: list[set[int]], max_condition: int | None) -> float:
    """Return how many tests the sets need at most."""
    total = 0.0
    for x, y in zip(*np.nonzero(near), strict=True):
        size = len(sets[x] - {int(x), int(y)})
        most = size if max_condition is None else min(size, max_condition)
        total += sum(comb(size, k) for k in range(1, most + 1))
    return total


class HiddenOracle:
    """d-separation among the variables of a graph that are observed; the selected ones are given in each test.

    Examples
    --------
    >>> HiddenOracle([[], [0], [0]], [1, 2], []).p_value(0, 1, [])
    0.0
    """

    alpha = 0.5

    def __init__(self, parents: Sequence[Sequence[int]], seen: Sequence[int], selected: Sequence[int]) -> None:
        self._oracle, self._seen, self._selected = GraphOracle(parents), list(seen), list(selected)

    def _places(self, variables: Iterable[int]) -> list[int]:
        return [self._seen[v] for v in variables]

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return 1 where the graph separates x and y, else 0."""
        return self._oracle.p_value(self._seen[x], self._seen[y], [*self._places(given), *self._selected])

    level = GraphOracle.level


def pag_of_network(network: NamedGraph, hidden: str | Iterable[str], selected: str | Iterable[str]) -> PAG:
    """Return the graph that tests without error find; see `PAG.of_network`."""
    unseen, chosen = network._places_of(hidden), network._places_of(selected)
    seen = [i for i in range(len(network.names)) if i not in {*unseen, *chosen}]
    if not seen:
        raise NetworkError("every variable is hidden or selected; at least one must be observed.")
    names = [network.names[i] for i in seen]
    search = PAGSearch(HiddenOracle(network.parents, seen, chosen), Constraints.of(names), "fci")
    return PAG.of_marks(names, search.run())
