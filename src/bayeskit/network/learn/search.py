"""`learn_structure`: the entry point of all searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory, read_memory
from bayeskit.errors import NetworkError, TooLargeError, warn_caller
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.cpd.table import MAX_NUMBERS
from bayeskit.network.graph import Graph
from bayeskit.network.learn.chow_liu import chow_liu
from bayeskit.network.learn.climb import parents_of
from bayeskit.network.learn.constraints import Arcs, Constraints, read_ordering
from bayeskit.network.learn.data import DiscreteRows, read_rows
from bayeskit.network.learn.exact_search import exact_search
from bayeskit.network.learn.ges import greedy_equivalence_search
from bayeskit.network.learn.hill_climb import hill_climb
from bayeskit.network.learn.history import LearningHistory, OnGraph, OnStep, Progress
from bayeskit.network.learn.k2 import k2_search
from bayeskit.network.learn.mmhc import mmhc
from bayeskit.network.learn.pc import pc_stable
from bayeskit.network.learn.pdag import PartialGraph, extend_to_dag
from bayeskit.network.learn.structural_em import structural_em
from bayeskit.network.learn.structure_scores import ScoreName, StructureScores
from bayeskit.network.learn.tabu import tabu_search
from bayeskit.network.learn.tests_of_independence import DataTests, TestName
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork
    from bayeskit.plot.network_svg import Drawing

Method = Literal["hill-climb", "tabu", "k2", "chow-liu", "exact", "ges", "pc", "mmhc"]
METHODS: tuple[str, ...] = get_args(Method)
Missing = Literal["complete-rows", "node-average", "em"]
_MISSING = get_args(Missing)
# What may be said about a search, whoever asks for it.
OPTIONS = (
    "score", "whitelist", "blacklist", "tiers", "max_parents", "ordering", "restarts", "perturb", "tabu_length",
    "alpha", "test", "root", "equivalent_sample_size", "missing", "random_state",
)  # fmt: skip
Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LearnedStructure(Result):
    """The result of a structure search.

    Attributes
    ----------
    network : BayesianNetwork
        The graph with its tables, estimated from the same rows.
    cpdag : PartialGraph
        The class of equivalent networks that it belongs to; "ges" and "pc" find only this class.
    score : float
        The score of the network on these rows.
    history : LearningHistory
        The objective step by step and the reason to stop; for "pc" the number of edges after each level.
    """

    network: BayesianNetwork
    cpdag: PartialGraph
    score: float
    history: LearningHistory

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs of the network."""
        return self.network.arcs

    def draw(self, **options: Any) -> Drawing:
        """Draw the network; the options are those of `BayesianNetwork.draw`."""
        return self.network.draw(**options)

    def __repr__(self) -> str:
        return f"LearnedStructure({self.history.method}, {len(self.arcs)} arcs, score {self.score:.10g})"


@dataclass(frozen=True, eq=False)
class Settings:
    """The options of a search, checked."""

    method: str
    score: str
    limits: Constraints
    equivalent_sample_size: float
    ordering: list[int] | None
    restarts: int
    perturb: int
    tabu_length: int
    alpha: float
    test: str
    root: str | None
    random_state: int
    limit: float
    on_step: OnStep


def learn_structure(
    table: Any,
    method: Method = "hill-climb",
    score: ScoreName | None = None,
    *,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = 5,
    whitelist: Arcs = (),
    blacklist: Arcs = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    ordering: Sequence[str] | None = None,
    start: Graph | None = None,
    restarts: int = 0,
    perturb: int = 10,
    tabu_length: int = 400,
    alpha: float = 0.01,
    test: TestName = "g2",
    root: str | None = None,
    equivalent_sample_size: float = 1.0,
    missing: Missing = "complete-rows",
    smoothing: Any = 1.0,
    random_state: int = 0,
    progress: Progress = None,
    on_graph: OnGraph = None,
    max_memory: Memory = "4 GiB",
) -> LearnedStructure:
    """Find the structure of a Bayesian network in a table, and estimate its tables.

    Parameters
    ----------
    table : any table
        Each column becomes a variable. Text, categories and booleans are states; numbers need ``numeric`` or ``kinds``.
    method : str
        "hill-climb" and "tabu" change one arc at a time; "k2" needs an ordering; "chow-liu" gives the best tree;
        "exact" the best network of all, for up to about 20 columns; "ges" moves between classes of equivalent
        networks; "pc" removes edges by tests of independence; "mmhc" chooses candidate arcs by tests, and among them by
        a score.
    score : {"bic", "aic", "mdl", "k2", "bdeu", "loglik"}, optional
        The score to maximise; by default "bic", and "k2" for method "k2".
    sample_weight : array of shape (n_rows,), optional
        How often each row counts.
    kinds, numeric, bins
        As for the classifiers: kinds overrides the dtype of columns; numeric ("equal-width" or "equal-frequency") says
        how numeric columns are put into at most ``bins`` bins.
    whitelist, blacklist : lists of (parent, child)
        Required arcs, and forbidden arcs.
    tiers : list of lists of columns, optional
        No arc points from a later tier to an earlier one.
    max_parents : int, optional
        The largest number of parents of a variable.
    ordering : list of all columns
        For "k2": parents come before their children.
    start : BayesianNetwork, optional
        The start of "hill-climb", "tabu" and "mmhc"; by default the empty graph.
    restarts, perturb : int
        The number of restarts, and of random changes of the best graph before each.
    tabu_length : int
        The number of graphs that "tabu" remembers, and of steps without improvement after which it stops.
    alpha, test
        The level and the test of "pc" and "mmhc": "g2", "chi2" or "mi" (see the theory page).
    root : str, optional
        The root of the tree of "chow-liu"; the first column unless given.
    equivalent_sample_size : float
        The N' of "bdeu".
    missing : {"complete-rows", "node-average", "em"}
        With missing cells: search over the rows without any, so that all comparisons are on the same rows, and say how
        many are left out; average the likelihood of each family over the rows where it is known, which uses all rows
        but adds arcs where many cells are missing; or structural EM, which is the slowest and the most accurate.
    smoothing : number or object
        For the tables of the result, as in `BayesianNetwork.fit`.
    random_state : int
        The seed of restarts and of structural EM.
    progress : callable, optional
        Called with the number of the step and the objective.
    on_graph : callable, optional
        Called with the arcs (parent, child) of the graph each time that the search has changed it, so that progress
        can be shown; an edge without direction is given both ways. "exact" and "chow-liu" have no graph before the end.
    max_memory : number of bytes or str
        The largest memory for tables.

    Returns
    -------
    LearnedStructure
        On Ctrl-C, the best network so far, with a warning.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork, learn_structure
    >>> net = BayesianNetwork("A->C<-B", random_tables=3)
    >>> found = learn_structure(net.sample(2000, random_state=0))
    >>> found.cpdag.arcs
    (('A', 'C'), ('B', 'C'))
    """
    if method not in METHODS:
        raise NetworkError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}.")
    if missing not in _MISSING:
        raise NetworkError(f"missing must be one of {', '.join(map(repr, _MISSING))}; got {missing!r}.")
    if restarts < 0 or perturb < 0 or tabu_length < 1:
        raise NetworkError(
            f"restarts and perturb must be at least 0 and tabu_length at least 1; got {restarts}, {perturb}, "
            f"{tabu_length}."
        )
    rows = read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    limits = Constraints.of(rows.names, whitelist, blacklist, tiers, max_parents)
    settings = Settings(
        method, score or ("k2" if method == "k2" else "bic"), limits, equivalent_sample_size,
        read_ordering(ordering, rows.names) if method == "k2" else None, restarts, perturb, tabu_length, alpha, test,
        root, random_state, read_memory(max_memory),
        _progress(rows.names, progress, on_graph),
    )  # fmt: skip
    begin = _start(start, rows, limits)
    _refuse_large_families(rows, parents_of(begin), settings.limit)
    holes = bool(rows.missing().any())
    marks, history = search(searched_rows(rows, missing), settings, begin)
    if holes and missing == "em" and history.converged:
        marks, history = _by_structural_em(rows, settings, marks, smoothing)
    if not history.converged:
        warn_caller(f"the search was {history.reason}.")
    tables = "em" if holes and missing == "em" else "available-case"
    return _result(rows, settings, marks, history, smoothing, tables, complete=holes and missing == "complete-rows")


def _progress(names: Sequence[str], progress: Progress, on_graph: OnGraph) -> OnStep:
    if on_graph is None and progress is None:
        return None

    def on_step(step: int, objective: float, marks: Marks | None) -> None:
        if on_graph is not None and marks is not None:
            on_graph([(names[a], names[b]) for a, b in zip(*np.nonzero(marks), strict=True)])
        if progress is not None:
            progress(step, objective)

    return on_step


def searched_rows(rows: DiscreteRows, missing: str) -> DiscreteRows:
    """Return the rows of a search; warn how many are left out because of missing cells."""
    n_whole = int((~rows.missing().any(axis=1)).sum())
    # Structural EM needs some graph to begin with; where no row is complete, that of the node averages.
    if n_whole == rows.n_rows or missing == "node-average" or (missing == "em" and not n_whole):
        return rows
    whole = rows.complete_rows()
    if missing == "complete-rows":
        warn_caller(
            f"{rows.n_rows - n_whole} of {rows.n_rows} rows have a missing cell and are left out of the search; "
            "missing='node-average' searches with all of them."
        )
    return whole


def search(rows: DiscreteRows, settings: Settings, start: Marks) -> tuple[Marks, LearningHistory]:
    """Run one search over rows; return the marks of a graph: an arc one way, an edge both ways."""
    limits, on_step = settings.limits, settings.on_step
    if settings.method == "chow-liu":
        return chow_liu(rows, limits, settings.root, settings.limit)
    if settings.method == "pc":
        return pc_stable(DataTests(rows, settings.test, settings.alpha), limits, on_step=on_step)
    scores = StructureScores(rows, settings.score, settings.equivalent_sample_size)
    shaken: dict[str, Any] = {
        "restarts": settings.restarts,
        "perturb": settings.perturb,
        "random_state": settings.random_state,
        "on_step": on_step,
    }
    if settings.method == "hill-climb":
        return hill_climb(scores, limits, start, **shaken)
    if settings.method == "tabu":
        return tabu_search(scores, limits, start, tabu_length=settings.tabu_length, **shaken)
    if settings.method == "mmhc":
        return mmhc(scores, DataTests(rows, settings.test, settings.alpha), limits, start, **shaken)
    if settings.method == "k2":
        return k2_search(scores, limits, settings.ordering or [], on_step=on_step)
    if settings.method == "exact":
        return exact_search(scores, limits, settings.limit, on_step=on_step)
    return greedy_equivalence_search(scores, limits, on_step=on_step)


def _start(start: Graph | None, rows: DiscreteRows, limits: Constraints) -> Marks:
    arcs = limits.required.copy()
    if start is None:
        return arcs
    if set(start.names) != set(rows.names):
        raise NetworkError("start must be a network over the columns of the table.")
    place = {name: i for i, name in enumerate(rows.names)}
    for a, b in start.arcs:
        if not limits.allowed[place[a], place[b]]:
            raise NetworkError(f"start has the arc {a} -> {b}, which the blacklist or the tiers forbid.")
        arcs[place[a], place[b]] = True
    return arcs


def _refuse_large_families(rows: DiscreteRows, parents: list[list[int]], limit: float) -> None:
    for i, own in enumerate(parents):
        cells = prod(rows.cards[v] for v in (*own, i))
        if 16.0 * cells > limit or cells > MAX_NUMBERS:
            raise TooLargeError(
                f"the table of {rows.names[i]!r} given {', '.join(repr(rows.names[p]) for p in own)} would hold "
                f"{cells:.3g} numbers; pass max_parents, group values, or raise max_memory."
            )


def _directed(marks: Marks) -> Marks:
    arcs = np.zeros_like(marks)
    for child, own in enumerate(extend_to_dag(marks)):
        arcs[own, child] = True
    return arcs


def _by_structural_em(
    rows: DiscreteRows, settings: Settings, marks: Marks, smoothing: Any
) -> tuple[Marks, LearningHistory]:
    def again(completed: DiscreteRows, start: Marks) -> Marks:
        marks, history = search(completed, settings, start)
        if not history.converged:  # Ctrl-C ended this search, and so it ends the rounds
            raise KeyboardInterrupt
        return _directed(marks)

    return structural_em(
        rows, _directed(marks), again, smoothing=smoothing, random_state=settings.random_state, limit=settings.limit,
        on_step=settings.on_step,
    )  # fmt: skip


def _result(
    rows: DiscreteRows,
    settings: Settings,
    marks: Marks,
    history: LearningHistory,
    smoothing: Any,
    tables: Any,
    *,
    complete: bool,
) -> LearnedStructure:
    from bayeskit.network.network import BayesianNetwork  # which knows `fit`, and so this folder

    arcs = _directed(marks) if (marks & marks.T).any() else marks
    parents = parents_of(arcs)
    _refuse_large_families(rows, parents, settings.limit)
    blank = [np.full([rows.cards[p] for p in (*own, i)], 1.0 / rows.cards[i]) for i, own in enumerate(parents)]
    empty = BayesianNetwork.from_tables(rows.names, rows.states, parents, blank, schema=rows.schema)
    network = empty.fit(
        rows.columns, rows.weight, smoothing=smoothing, missing=tables, unseen="ignore", max_memory=settings.limit
    )
    if settings.method in ("pc", "ges"):
        both, one = marks & marks.T, marks & ~marks.T
        cpdag = PartialGraph.of_positions(rows.names, set(zip(*np.nonzero(one), strict=True)),
                                          set(zip(*np.nonzero(both), strict=True)))  # fmt: skip
    else:
        cpdag = PartialGraph.of_parents(rows.names, parents)
    scored = rows.complete_rows() if complete else rows
    total = StructureScores(scored, settings.score, settings.equivalent_sample_size).total(parents)
    return LearnedStructure(network, cpdag, total, history)
