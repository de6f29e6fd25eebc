"""What a structure search is: options of its own, and a walk from a task to a graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import FamilyCounts
from bayeskit.errors import NetworkError
from bayeskit.estimate.history import History
from bayeskit.io.expect import expect_field
from bayeskit.learn.parameters import may_be_saved
from bayeskit.network.infer.sample_output import is_whole
from bayeskit.network.learn.candidate_parents import MANY_VARIABLES
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.structure_score import StructureScore, as_score
from bayeskit.network.named_graph import NamedGraph
from bayeskit.network.registry import Registry

# m[a, b] alone is an arc a → b, both ways an edge.
Marks = NDArray[np.bool_]
# Called after a step with its number, the objective, and the marks of the graph, or None where there is no graph yet.
OnStep = Callable[[int, float, "Marks | None"], None]


@dataclass(frozen=True, eq=False)
class SearchTask:
    """What a search is given.

    Attributes
    ----------
    rows : DiscreteRows
        The rows.
    score : StructureScore
        What is to be maximised.
    limits : Constraints
        The arcs that are allowed and required.
    start : bool array of shape (n, n)
        The graph to begin with.
    random_state : int
        The seed.
    max_bytes : float
        The largest memory for tables.
    on_step : callable or None
        To be called after each step.
    """

    rows: DiscreteRows
    score: StructureScore
    limits: Constraints
    start: Marks
    random_state: int = 0
    max_bytes: float = 2.0**32
    on_step: OnStep | None = None

    @cached_property
    def families(self) -> ScoredFamilies:
        """The scores of the families of the rows, each counted once."""
        return ScoredFamilies(self.rows, self.score)

    def within(self, limits: Constraints, start: Marks) -> SearchTask:
        """Return the task with other limits and another start; families that were scored are shared."""
        task = replace(self, limits=limits, start=start)
        task.__dict__["families"] = self.families
        return task

    def report(self, step: int, objective: float, marks: Marks | None = None) -> None:
        """Report a step, if anyone listens."""
        if self.on_step is not None:
            self.on_step(step, objective, marks)


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The marks of the graph that a search found, its history, and counts of its families where it made them.

    ``conflicts`` are the v-structures a → c ← b that tests say and clearer tests contradict, as (a, c, b).
    """

    marks: Marks
    history: History
    counts: FamilyCounts | None = None
    conflicts: tuple[tuple[int, int, int], ...] = ()


METHODS: Registry[SearchMethod] = Registry("method", "bayeskit.network.learn.methods")


class SearchMethod(ABC):
    """A method of structure search with its options.

    A method is a file in the folder ``methods`` with a frozen dataclass of this class that has a name; nothing else
    lists it. A class that is defined elsewhere is known from then on too. Its fields are the options that it takes,
    checked when the object is made.
    """

    # The word that chooses it.
    name: ClassVar[str]
    # The word of the score that is maximised unless another is named.
    default_score: ClassVar[str] = "bic"
    # Whether the result is a class of equivalent networks, with edges, and not one network.
    finds_class: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        METHODS.add(cls)

    def score_of(self, score: str | StructureScore | None, n_variables: int) -> StructureScore:
        """Return the score to maximise: the one named, or the default for this many variables.

        Among many variables some parent fits by chance, and BIC takes it: of 1,000 variables with 1,500 arcs it added
        286. MDL is BIC and what it costs to name the parents; it added 10 and missed 27 more.
        """
        if score is None:
            many = n_variables > MANY_VARIABLES and self.default_score == "bic"
            score = "mdl" if many else self.default_score
        return as_score(score)

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the graph to begin with; refuse options that do not fit the columns or the constraints."""
        return limits.required.copy()

    @abstractmethod
    def search(self, task: SearchTask) -> SearchResult:
        """Search; Ctrl-C ends it, and the best graph so far is returned with ``history.converged`` false."""


@dataclass(frozen=True)
class LocalSearch(SearchMethod):
    """The options of searches that change one arc at a time.

    Parameters
    ----------
    restarts : int, default 0
        How often the search begins again from the best graph so far, changed at random.
    perturb : int, default 10
        The number of random changes before each restart.
    start : BayesianNetwork, optional
        The graph to begin with; by default the empty graph.
    """

    restarts: int = field(default=0, kw_only=True)
    perturb: int = field(default=10, kw_only=True)
    start: NamedGraph | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        refuse_below(self, restarts=0, perturb=0)
        if self.start is not None and not isinstance(self.start, NamedGraph):
            raise NetworkError(f"start must be a BayesianNetwork; got {self.start!r}.")

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the required arcs, and those of ``start``, which must be over the columns and allowed."""
        arcs = limits.required.copy()
        if self.start is None:
            return arcs
        if set(self.start.names) != set(names):
            raise NetworkError("start must be a network over the columns of the table.")
        place = {name: i for i, name in enumerate(names)}
        for a, b in self.start.arcs:
            if not limits.allowed[place[a], place[b]]:
                raise NetworkError(f"start has the arc {a} -> {b}, which the blacklist or the tiers forbid.")
            arcs[place[a], place[b]] = True
        return arcs


def refuse_below(method: SearchMethod, **least: int) -> None:
    """Refuse options that are not whole numbers of at least the least one."""
    for option, low in least.items():
        value = getattr(method, option)
        if not is_whole(value, low):
            raise NetworkError(
                f"{option} of {type(method).__name__} must be a whole number of at least {low}; got {value!r}."
            )


def refuse_constraints(method: SearchMethod, limits: Constraints, why: str) -> None:
    """Refuse lists and tiers for a method that cannot keep them."""
    n = len(limits.allowed)
    if limits.required.any() or not (limits.allowed | np.eye(n, dtype=bool)).all():
        raise NetworkError(f"method {method.name!r} {why}, so it takes no lists or tiers.")


def as_method(method: str | SearchMethod) -> SearchMethod:
    """Return the method that a word means, with its own defaults, or the method itself.

    Examples
    --------
    >>> as_method("tabu")
    Tabu(restarts=0, perturb=10, start=None, length=400, patience=None)
    """
    if method in ("fci", "rfci"):
        raise NetworkError(f"{method!r} allows hidden causes, and what it finds is no network: call learn_pag(table).")
    return METHODS.choose(SearchMethod, method)  # type: ignore[type-abstract]


def _to_json(method: SearchMethod) -> dict[str, Any]:
    data = METHODS.to_json(method)
    start = data["options"].get("start")
    if start is not None:
        data["options"]["start"] = {"names": list(start.names), "arcs": [list(arc) for arc in start.arcs]}
    return data


def _from_json(data: Any) -> SearchMethod:
    from bayeskit.network.network import BayesianNetwork  # which knows `fitted`, and so this folder

    options = dict(expect_field(data, "options", dict))
    if isinstance(options.get("start"), dict):
        start = options["start"]
        options["start"] = BayesianNetwork([*start["names"], *map(tuple, start["arcs"])])
    return METHODS.from_json({**data, "options": options})


may_be_saved("search method", SearchMethod, _to_json, _from_json)
