"""`learn_structure`: the entry point of all searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bayeskit.counts.memory import Memory, read_memory
from bayeskit.defaults import MAX_MEMORY, NETWORK_BINS, SMOOTHING
from bayeskit.errors import NetworkError, TooLargeError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.cpd.table import MAX_NUMBERS
from bayeskit.network.infer.sample_output import check_random_state
from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.constraints import Arcs, Constraints
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows, warn_of_copies
from bayeskit.network.learn.mixed_rows import MixedRows, read_mixed_rows
from bayeskit.network.learn.mixed_structure import blank_network, legal_arcs, mixed_class, mixed_method, search_mixed
from bayeskit.network.learn.neighbor_bins import FINE_BINS, NeighborBins
from bayeskit.network.learn.pdag import PartialGraph, extend_to_dag
from bayeskit.network.learn.pseudo_counts import as_prior
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.search_method import Marks, OnStep, SearchMethod, SearchResult, SearchTask, as_method
from bayeskit.network.learn.structural_em import structural_em
from bayeskit.network.learn.structure_score import StructureScore, as_score
from bayeskit.network.learn.table_fitting import count_columns, families_of, from_counts
from bayeskit.progress import Progress, report_step
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork
    from bayeskit.plot.network_svg import Drawing

Missing = Literal["complete-rows", "node-average", "em"]
_MISSING = get_args(Missing)
# Alarm, 2,000 rows with 10 % of the cells missing: a structural Hamming distance from the truth of 57 by complete rows,
# 35 by node averages and 9 by structural EM.
_USE_EM = "missing='em' uses all rows and finds more of the structure; missing='node-average' is faster and coarser"
# Called with the arcs of a graph, by name.
OnGraph = Callable[[list[tuple[str, str]]], None]
# The options of a search that all methods share, whoever asks for it.
SHARED_OPTIONS = ("score", "whitelist", "blacklist", "tiers", "max_parents", "missing", "random_state")


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
    score_name : str
        Which score this is.
    history : History
        The objective step by step and the reason to stop; for "pc" the number of edges after each level. For
        "k2", ``history.parameters`` holds for each variable the parents as they were added, with the scores.
    conflicts : tuple of (a, c, b)
        For "pc", v-structures a → c ← b that a test says and a clearer or equally clear one contradicts.
    """

    network: BayesianNetwork
    cpdag: PartialGraph
    score: float
    score_name: str
    history: History
    conflicts: tuple[tuple[str, str, str], ...] = ()

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs of the network."""
        return self.network.arcs

    def draw(self, **options: Any) -> Drawing:
        """Draw the network; the options are those of `BayesianNetwork.draw`."""
        return self.network.draw(**options)

    def __repr__(self) -> str:
        return f"LearnedStructure({self.history.method}, {len(self.arcs)} arcs, {self.score_name} {self.score:.10g})"


def learn_structure(
    table: Any,
    method: str | SearchMethod = "best",
    score: str | StructureScore | None = None,
    *,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
    whitelist: Arcs = (),
    blacklist: Arcs = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    missing: Missing = "em",
    smoothing: Any = SMOOTHING,
    random_state: int = 0,
    progress: Progress | None = None,
    on_graph: OnGraph | None = None,
    max_memory: Memory = MAX_MEMORY,
) -> LearnedStructure:
    """Find the structure of a Bayesian network in a table, and estimate its tables.

    Parameters
    ----------
    table : any table
        Each column becomes a variable. Text, categories and booleans are states; numbers need ``numeric`` or ``kinds``.
    method : str or object
        A word, or an object of :mod:`bayeskit.network` with options of its own: "best" (`Best`) is the better of "ges"
        and "order", each continued from where the other ended, ``Best(max_seconds=30)`` within a time; "order"
        (`OrderSearch`) searches over orders of the variables; "hill-climb" (`HillClimb`) and "tabu" (`Tabu`) change one
        arc at a time; "k2" (`K2`) needs an ordering; "chow-liu" (`ChowLiu`) gives the best tree;
        "exact" (`Exact`) the best network of all, for up to about 20 columns; "ges" (`GES`) moves between classes of
        equivalent networks; "pc" (`PC`) removes edges by tests of independence; "mmhc" (`MMHC`) chooses candidate arcs
        by tests, and among them by a score.
    score : {"bic", "ebic", "aic", "mdl", "k2", "bdeu", "bds", "fnml", "qnml", "loglik"} or object, optional
        The score to maximise; by default "bic" ("mdl" with more than 150 variables, since some parent of very many fits
        by chance), and "k2" for method "k2". `BDeuScore` has its sample size as option.
    sample_weight : array of shape (n_rows,), optional
        How often each row counts.
    kinds, numeric, bins
        As for the classifiers: kinds overrides the dtype of columns; numeric ("equal-width", "equal-frequency" or
        "mdl") says how numeric columns are put into at most ``bins`` bins. "mdl" cuts a column where the bins say most
        about its parents and children in the network; bins and structure are found in turn, so it takes some searches.
        With numeric="gaussian" they stay numbers: real variables, linear Gaussian given their parents, which no
        discrete variable has as a parent. Then "best" is the best network of all for up to 11 columns, and "tabu" with
        restarts beyond; "hill-climb", "tabu", "exact" and "pc" (partial correlations, and likelihood ratios where
        states are involved) are possible too, the scores are "bic", "aic", "loglik" and, where all columns are
        numbers, "bge" (`BGe`).
    whitelist, blacklist : lists of (parent, child)
        Required arcs, and forbidden arcs.
    tiers : list of lists of columns, optional
        No arc points from a later tier to an earlier one.
    max_parents : int, optional
        The largest number of parents of a variable.
    missing : {"em", "node-average", "complete-rows"}
        With missing cells: structural EM, which is the slowest and by far the most accurate; the likelihood of each
        family averaged over the rows where it is known, which uses all rows but adds arcs where many cells are missing;
        or a search over the rows without any, so that all comparisons are on the same rows, with a warning how many
        are left out.
    smoothing : number or object
        For the tables of the result, as in `BayesianNetwork.fitted`.
    random_state : int
        The seed of restarts and of structural EM.
    progress : callable, optional
        Called with a :class:`bayeskit.progress.Step` after each step: the method, the step's number, the objective.
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
    >>> learned = learn_structure(net.sample(2000, random_state=0))
    >>> learned.cpdag.arcs
    (('A', 'C'), ('B', 'C'))
    >>> from bayeskit.network import Tabu
    >>> learn_structure(net.sample(2000, random_state=0), Tabu(length=50, restarts=2)).cpdag.arcs
    (('A', 'C'), ('B', 'C'))
    """
    chosen = as_method(method)
    if score is not None:
        as_score(score)  # refused before the table is read
    if missing not in _MISSING:
        raise NetworkError(f"missing must be one of {', '.join(map(repr, _MISSING))}; got {missing!r}.")
    as_prior(smoothing)  # refused before the search, not after it
    check_random_state(random_state)
    if numeric == "gaussian":
        mixed = read_mixed_rows(table, sample_weight, kinds)
        limits = legal_arcs(mixed, Constraints.of(mixed.names, whitelist, blacklist, tiers, max_parents))
        chosen = mixed_method(chosen, len(mixed.names))
        on_step = _on_step(chosen.name, mixed.names, progress, on_graph)
        options = {"random_state": random_state, "max_bytes": read_memory(max_memory), "on_step": on_step}
        return _learned_mixed(chosen, mixed, as_score(score or "bic"), limits, smoothing, options)
    by_neighbors = numeric == "mdl"
    cut = {"numeric": "equal-frequency", "bins": FINE_BINS} if by_neighbors else {"numeric": numeric, "bins": bins}
    rows = read_rows(table, sample_weight, kinds=kinds, **cut)
    limits = Constraints.of(rows.names, whitelist, blacklist, tiers, max_parents)
    scored = chosen.score_of(score, len(rows.names))
    begin, max_bytes = chosen.begin(rows.names, limits), read_memory(max_memory)
    if tiers is None:  # with tiers a copy may be what an earlier column did to a later one
        warn_of_copies(rows)
    clock = _Clock(chosen)
    if by_neighbors:
        rows = _with_neighbor_bins(clock, rows, bins, SearchTask(rows, scored, limits, begin, random_state, max_bytes))
    _refuse_large_families(rows, parents_of(begin), max_bytes)
    on_step = _on_step(chosen.name, rows.names, progress, on_graph)
    task = SearchTask(searched_rows(rows, missing, _USE_EM), scored, limits, begin, random_state, max_bytes, on_step)
    by_em = missing == "em" and bool(rows.missing().any())
    # The first of several searches only finds where to begin.
    result = (clock.method(0.25) if by_em else chosen).search(task)
    if by_em and result.history.converged:
        result = _by_structural_em(clock, rows, task, result, smoothing)
    if not result.history.converged:
        warn_caller(f"the search was {result.history.reason}.")
    return _learned(chosen, rows, task, result, smoothing, by_em)


def _with_neighbor_bins(clock: _Clock, fine: DiscreteRows, bins: int, task: SearchTask) -> DiscreteRows:
    """Return the rows with bins that see their neighbours."""

    def parents(rows: DiscreteRows) -> list[list[int]]:
        _refuse_large_families(rows, parents_of(task.start), task.max_bytes)
        searched = searched_rows(rows, "em", "")
        result = clock.method(0.25).search(replace(task, rows=searched))
        if not result.history.converged:
            raise KeyboardInterrupt
        return parents_of(_directed(result.marks))

    return NeighborBins(fine, bins).learn(parents)


def _learned_mixed(
    method: SearchMethod,
    rows: MixedRows,
    score: StructureScore,
    limits: Constraints,
    smoothing: Any,
    options: dict[str, Any],
) -> LearnedStructure:
    """Search a network with real variables, and learn its numbers from all rows."""
    begin = method.begin(rows.names, limits)
    task, result = search_mixed(method, rows, score, limits, begin, **options)
    if not result.history.converged:
        warn_caller(f"the search was {result.history.reason}.")
    parents = parents_of(_directed(result.marks) if method.finds_class else result.marks)
    columns = {rows.names[j]: rows.values(j) for j in range(len(rows.names))}
    way: Literal["available-case", "em"] = "available-case" if rows.whole().all() else "em"
    network = blank_network(rows, parents).fitted(columns, rows.weight, smoothing=smoothing, missing=way)
    found = _marked(rows.names, result.marks) if method.finds_class else mixed_class(rows, result.marks)
    conflicts = tuple((rows.names[a], rows.names[c], rows.names[b]) for a, c, b in result.conflicts)
    return LearnedStructure(network, found, task.families.total(parents), score.name, result.history, conflicts)


def _marked(names: Sequence[str], marks: Marks) -> PartialGraph:
    """Return the graph of marks: a mark both ways is an edge without direction."""
    both, one = marks & marks.T, marks & ~marks.T
    return PartialGraph.of_positions(names, set(zip(*np.nonzero(one), strict=True)),
                                     set(zip(*np.nonzero(both), strict=True)))  # fmt: skip


def _on_step(name: str, names: Sequence[str], progress: Progress | None, on_graph: OnGraph | None) -> OnStep | None:
    if on_graph is None and progress is None:
        return None

    def on_step(step: int, objective: float, marks: Marks | None) -> None:
        if on_graph is not None and marks is not None:
            on_graph([(names[a], names[b]) for a, b in zip(*np.nonzero(marks), strict=True)])
        report_step(progress, name, step, objective=objective)

    return on_step


def searched_rows(rows: DiscreteRows, missing: str, advice: str) -> DiscreteRows:
    """Return the rows of a search; warn how many are left out because of missing cells, with advice."""
    n_whole = int((~rows.missing().any(axis=1)).sum())
    # Structural EM needs some graph to begin with; where no row is complete, that of the node averages.
    if n_whole == rows.n_rows or missing == "node-average" or (missing == "em" and not n_whole):
        return rows
    whole = rows.complete_rows()
    if missing == "complete-rows":
        warn_caller(
            f"{rows.n_rows - n_whole} of {rows.n_rows} rows have a missing cell and are left out of the search; "
            f"{advice}."
        )
    return whole


def _refuse_large_families(rows: DiscreteRows, parents: list[list[int]], max_bytes: float) -> None:
    for i, above in enumerate(parents):
        cells = prod(rows.cards[v] for v in (*above, i))
        if 16.0 * cells > max_bytes or cells > MAX_NUMBERS:
            raise TooLargeError(
                f"the table of {rows.names[i]!r} given {', '.join(repr(rows.names[p]) for p in above)} would hold "
                f"{cells:.3g} numbers; pass max_parents, group values, or raise max_memory."
            )


def _directed(marks: Marks) -> Marks:
    arcs = np.zeros_like(marks)
    for child, above in enumerate(extend_to_dag(marks)):
        arcs[above, child] = True
    return arcs


class _Clock:
    """A method, and what is left of its time where it has a limit."""

    def __init__(self, method: SearchMethod) -> None:
        self._method, self._begin = method, monotonic()
        self.limit: float | None = getattr(method, "max_seconds", None)

    def left(self) -> float:
        """Return the seconds left."""
        return inf if self.limit is None else self.limit - (monotonic() - self._begin)

    def method(self, share: float) -> SearchMethod:
        """Return the method with a share of the time that is left."""
        if self.limit is None:
            return self._method
        return replace(self._method, max_seconds=max(share * self.left(), 1e-3))  # type: ignore[type-var]


def _by_structural_em(
    clock: _Clock, rows: DiscreteRows, task: SearchTask, first: SearchResult, smoothing: Any
) -> SearchResult:
    def again(completed: DiscreteRows, start: Marks) -> Marks | None:
        if clock.left() <= 0:
            return None
        result = clock.method(1 / 3).search(replace(task, rows=completed, start=start))
        if not result.history.converged:  # Ctrl-C ended this search, and so it ends the rounds
            raise KeyboardInterrupt
        return _directed(result.marks)

    whole = replace(task, rows=rows, start=_directed(first.marks))
    return structural_em(whole, again, smoothing=smoothing)


def _learned(
    method: SearchMethod, rows: DiscreteRows, task: SearchTask, result: SearchResult, smoothing: Any, by_em: bool
) -> LearnedStructure:
    """Return the network with its tables and its score; what the search has counted and scored is used again."""
    from bayeskit.network.network import BayesianNetwork  # which knows `fitted`, and so this folder

    marks = result.marks
    arcs = _directed(marks) if (marks & marks.T).any() else marks
    parents = parents_of(arcs)
    _refuse_large_families(rows, parents, task.max_bytes)
    blank = [np.full([rows.cards[p] for p in (*above, i)], 1.0 / rows.cards[i]) for i, above in enumerate(parents)]
    network = BayesianNetwork.from_tables(rows.names, rows.states, parents, blank, schema=rows.schema)
    if by_em:
        network = network.fitted(
            rows.columns, rows.weight, smoothing=smoothing, missing="em", unseen="ignore", max_memory=task.max_bytes
        )
    else:
        counts = result.counts if task.rows is rows else None
        if counts is None:
            families = families_of(network.parents)
            counts = count_columns(rows.schema, rows.columns, rows.weight, families, task.max_bytes)
        network = from_counts(network, counts, smoothing)
    if method.finds_class:
        cpdag = _marked(rows.names, marks)
    else:
        cpdag = PartialGraph.of_parents(rows.names, parents)
    # Structural EM is judged on all rows, each family where it is known.
    scores = ScoredFamilies(rows, task.score) if by_em and task.rows is not rows else task.families
    conflicts = tuple((rows.names[a], rows.names[c], rows.names[b]) for a, c, b in result.conflicts)
    return LearnedStructure(network, cpdag, scores.total(parents), task.score.name, result.history, conflicts)
