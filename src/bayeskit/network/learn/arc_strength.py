"""Arc strength: the share of bootstrap samples whose network has the arc, and the averaged network."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import n_threads
from bayeskit.counts.memory import Memory, read_memory
from bayeskit.defaults import MAX_MEMORY, NETWORK_BINS
from bayeskit.errors import NetworkError, warn_caller
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.infer.sample_output import check_random_state, is_whole
from bayeskit.network.learn.climber import closure
from bayeskit.network.learn.constraints import Arcs, Constraints
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows, warn_of_copies
from bayeskit.network.learn.pdag import PartialGraph, extend_to_dag
from bayeskit.network.learn.search import searched_rows
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchTask, as_method
from bayeskit.network.learn.structure_score import StructureScore, as_score
from bayeskit.progress import Progress, report_step
from bayeskit.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Structural EM for each of a hundred samples would take long.
_MISSING = ("complete-rows", "node-average")


@dataclass(frozen=True, eq=False)
class ArcStrength(Result):
    """What the networks of the bootstrap samples have in common.

    Attributes
    ----------
    names : tuple of str
        The variables.
    strength : float64 array of shape (n, n)
        The share of networks in which the two variables are joined, either way; symmetric.
    direction : float64 array of shape (n, n)
        Of these networks, the share in which the arc points from the first to the second; an edge of a CPDAG counts
        half each way. 0 where the two are never joined.
    n_networks : int
        The number of bootstrap samples.
    """

    names: tuple[str, ...]
    strength: NDArray[np.float64]
    direction: NDArray[np.float64]
    n_networks: int

    def __repr__(self) -> str:
        sure = int((np.triu(self.strength) >= self.threshold).sum())
        return f"ArcStrength({self.n_networks} networks, {sure} of the pairs joined in {self.threshold:.0%} or more)"

    @property
    def threshold(self) -> float:
        """The strength from which a pair counts as joined.

        It splits the strengths into two groups: the least L1 distance between their distribution and one with
        only 0 and 1 (Scutari & Nagarajan 2013).
        """
        values = np.sort(self.strength[np.triu_indices(len(self.names), 1)])
        if not len(values) or values[-1] == 0:
            return 1.0
        cuts = np.unique([0.0, *values, 1.0])
        share = np.searchsorted(values, cuts, side="right") / len(values)
        widths = np.diff(cuts)
        # For a share t of pairs left out, the step function is t on [0, 1): the distance is Σ |F − t| width.
        distances = np.abs(share[:-1, None] - share[None, :-1]).T @ widths
        best = float(share[:-1][int(distances.argmin())])
        kept = values[round(best * len(values)) :]
        kept = kept[kept > 0]
        return float(kept[0]) if len(kept) else 1.0

    def arcs(self, threshold: float | None = None) -> list[tuple[str, str, float, float]]:
        """Return (parent, child, strength, direction) of the pairs at or above a threshold, the strongest first."""
        limit = self.threshold if threshold is None else threshold
        strong = [
            (self.names[a], self.names[b], float(self.strength[a, b]), float(self.direction[a, b]))
            for a in range(len(self.names))
            for b in range(len(self.names))
            if self.strength[a, b] >= limit and self.strength[a, b] > 0
            and (self.direction[a, b] > 0.5 or (self.direction[a, b] == 0.5 and a < b))
        ]  # fmt: skip
        return sorted(strong, key=lambda arc: (-arc[2], -arc[3], arc[:2]))

    def averaged(self, threshold: float | None = None) -> list[tuple[str, str]]:
        """Return the arcs of the averaged network: the strongest first, leaving out what would close a cycle.

        ``BayesianNetwork({child: parents …})`` or ``learn_structure(…, whitelist=arcs)`` accepts them.
        """
        place = {name: i for i, name in enumerate(self.names)}
        kept = np.zeros(self.strength.shape, dtype=bool)
        arcs = []
        for a, b, _, _ in self.arcs(threshold):
            if not closure(kept)[place[b], place[a]]:
                kept[place[a], place[b]] = True
                arcs.append((a, b))
        return arcs

    def plot(self, threshold: float | None = None, ax: Axes | None = None, *, most: int = 40) -> Axes:
        """Plot the strength of each pair, the share of either direction in it, and the threshold.

        Parameters
        ----------
        threshold : float, optional
            The strength from which a pair counts as joined; by default `threshold`.
        ax : Axes, optional
            Where to draw; by default a new figure.
        most : int, default 40
            The number of pairs that are shown, the strongest of all.
        """
        import bayeskit  # the pictures are a later stage, which the public name leads to

        strongest = self.arcs(0.0)[:most]
        labels = [f"{a} → {b}" if direction > 0.5 else f"{a} — {b}" for a, b, _, direction in strongest]
        strength, direction = [arc[2] for arc in strongest], [arc[3] for arc in strongest]
        limit = self.threshold if threshold is None else threshold
        axes: Axes = bayeskit.plot.strength_bars(labels, strength, direction, limit, ax)
        return axes

    def averaged_cpdag(self, threshold: float | None = None) -> PartialGraph:
        """Return the class of equivalent networks of the averaged network."""
        place = {name: i for i, name in enumerate(self.names)}
        parents: list[list[int]] = [[] for _ in self.names]
        for a, b in self.averaged(threshold):
            parents[place[b]].append(place[a])
        return PartialGraph.of_parents(self.names, parents)


def arc_strength(
    table: Any,
    method: str | SearchMethod = "ges",
    score: str | StructureScore | None = None,
    *,
    n_networks: int = 100,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
    whitelist: Arcs = (),
    blacklist: Arcs = (),
    tiers: Sequence[Sequence[str]] | None = None,
    max_parents: int | None = None,
    missing: Literal["complete-rows", "node-average"] = "complete-rows",
    random_state: int = 0,
    progress: Progress | None = None,
    max_memory: Memory = MAX_MEMORY,
) -> ArcStrength:
    """Learn a network from each of many bootstrap samples of the rows, and count arcs.

    Parameters
    ----------
    table, method, score
        As for `learn_structure`; the default is "ges", since many networks are learned, and each is a class.
    n_networks : int, default 100
        The number of bootstrap samples, each with as many rows as the table.
    random_state : int
        The seed.
    sample_weight, kinds, numeric, bins, whitelist, blacklist, tiers, max_parents
        As for `learn_structure`.
    missing : {"complete-rows", "node-average"}
        As for `learn_structure`; structural EM for each sample would take long.
    progress : callable, optional
        Called with a :class:`bayeskit.progress.Step` after each sample; the objective is the mean number of arcs so
        far. Ctrl-C ends the work, and what the networks so far have in common is returned, with a warning.
    max_memory : number of bytes or str
        The largest memory for tables.

    References
    ----------
    Friedman, Goldszmidt & Wyner (1999), Data analysis with Bayesian networks: a bootstrap approach, UAI.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> rows = BayesianNetwork("A->C<-B", random_tables=3).sample(1000, random_state=0)
    >>> arc_strength(rows, n_networks=20).averaged()
    [('A', 'C'), ('B', 'C')]
    """
    if not is_whole(n_networks, 1):
        raise NetworkError(f"n_networks must be a whole number of at least 1; got {n_networks!r}.")
    chosen = as_method(method)
    if score is not None:
        as_score(score)  # refused before the table is read
    if missing not in _MISSING:
        raise NetworkError(f"arc_strength takes missing={' or '.join(map(repr, _MISSING))}; got {missing!r}.")
    rows = read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    warn_of_copies(rows)
    rows = searched_rows(rows, missing, "missing='node-average' uses all of them")
    limits = Constraints.of(rows.names, whitelist, blacklist, tiers, max_parents)
    scored = chosen.score_of(score, len(rows.names))
    task = SearchTask(rows, scored, limits, chosen.begin(rows.names, limits), max_bytes=read_memory(max_memory))
    seed, n = check_random_state(random_state), len(rows.names)
    # One object, so that Ctrl-C finds all of a network in it or nothing.
    seen = (0, np.zeros((n, n)), np.zeros((n, n)))
    try:
        for classes in bootstrap_graphs(chosen, task, seed, n_networks):
            if not chosen.finds_class:
                classes = PartialGraph.of_parents(rows.names, extend_to_dag(classes)).marks()
            both, (done, joined, toward) = classes & classes.T, seen
            seen = (done + 1, joined + (classes | classes.T), toward + (classes & ~both) + 0.5 * both)
            mean = float(seen[1].sum()) / (2 * seen[0])
            report_step(progress, chosen.name, seen[0], n_networks, mean)
    except KeyboardInterrupt:
        if not seen[0]:
            raise
        warn_caller(f"interrupted after {seen[0]} of {n_networks} networks; the strengths are those of these.")
    done, joined, toward = seen
    share = np.divide(toward, joined, out=np.zeros_like(toward), where=joined > 0)
    return ArcStrength(rows.names, joined / done, share, done)


def bootstrap_graphs(method: SearchMethod, task: SearchTask, seed: int, n_networks: int) -> Iterator[Marks]:
    """Yield the graph of each bootstrap sample, several searched at a time; Ctrl-C ends them all.

    Each sample has random numbers of its own, so that the number of threads changes nothing.
    """
    stop = Event()

    def stopped(*step: Any) -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    def graph(k: int) -> Marks:
        sample = _resampled(task.rows, np.random.default_rng([seed, k]))
        result = method.search(replace(task, rows=sample, on_step=stopped))
        if not result.history.converged:  # Ctrl-C ended this search, so it ends all
            raise KeyboardInterrupt
        return result.marks

    n = min(n_threads(), n_networks)
    if n == 1:
        yield from map(graph, range(n_networks))
        return
    with ThreadPoolExecutor(n) as pool:
        try:
            # Two for each thread wait at a time, so that no more than these lie in memory.
            waiting = deque(pool.submit(copy_context().run, graph, k) for k in range(min(2 * n, n_networks)))
            for k in range(n_networks):
                marks = waiting.popleft().result()
                if k + 2 * n < n_networks:
                    waiting.append(pool.submit(copy_context().run, graph, k + 2 * n))
                yield marks
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _resampled(rows: DiscreteRows, rng: np.random.Generator) -> DiscreteRows:
    if rows.weight is None:
        return rows.take(rng.integers(0, rows.n_rows, rows.n_rows))
    p = rows.weight / rows.weight.sum()
    taken = rows.take(rng.choice(rows.n_rows, rows.n_rows, p=p))
    return DiscreteRows(taken.schema, taken.columns, np.full(rows.n_rows, rows.weight.sum() / rows.n_rows))
