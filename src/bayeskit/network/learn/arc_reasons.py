"""Why an arc is there: what it adds to the score, the rows that this rests on, and what came next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.defaults import NETWORK_BINS
from bayeskit.errors import NetworkError
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network import dag
from bayeskit.network.cases import read_cases
from bayeskit.network.infer.sample_output import is_whole
from bayeskit.network.learn.candidate_parents import MANY_VARIABLES
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.structure_score import StructureScore, as_score
from bayeskit.network.named_graph import NamedGraph
from bayeskit.network.states import state_names
from bayeskit.network.variable_names import did_you_mean
from bayeskit.result import Result, html_text
from bayeskit.table.labels import read_weight
from bayeskit.table.schema import Schema


class ArcReason(NamedTuple):
    """What a score says about one arc of a network, or about one that is not in it.

    Attributes
    ----------
    parent, child : str
        The arc.
    present : bool
        Whether the network has it.
    gain : float
        The score of the child's family with the parent, minus that without it.
    n_rows : float
        The rows (their weights) in which the child, this parent and the other parents are known.
    n_configurations : int
        The combinations of values of all these parents that occur: so many distributions were estimated from the rows.
    closes_cycle : bool
        Whether the arc, which is not there, would close a cycle.
    """

    parent: str
    child: str
    present: bool
    gain: float
    n_rows: float
    n_configurations: int
    closes_cycle: bool

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        mark = "->" if self.present else "would close a cycle:" if self.closes_cycle else "not joined:"
        arc = f"{self.parent} {mark} {self.child}" if self.present else f"{mark} {self.parent} -> {self.child}"
        each = self.n_rows / max(self.n_configurations, 1)
        return f"{arc}  gain {self.gain:.1f}, {self.n_rows:g} rows, {each:.0f} for each of {self.n_configurations}"


@dataclass(frozen=True, eq=False, repr=False)
class ArcReasons(Result):
    """Why the arcs of a network are there.

    Attributes
    ----------
    arcs : tuple of ArcReason
        The arcs of the network, the one that adds most to the score first.
    candidates : dict of str to tuple of ArcReason
        For each variable, the parents that it does not have and that would add most, or cost least.
    score_name : str
        The score.
    """

    arcs: tuple[ArcReason, ...]
    candidates: dict[str, tuple[ArcReason, ...]]
    score_name: str
    _judge: _Judge

    def why(self, parent: str, child: str) -> ArcReason:
        """Return what the score says about any arc, in the network or not."""
        return self._judge.reason(self._judge.place(parent), self._judge.place(child))

    def __repr__(self) -> str:
        lines = [f"ArcReasons({len(self.arcs)} arcs, {self.score_name})", *map(str, self.arcs)]
        return "\n  ".join(lines)


def arc_reasons(
    network: NamedGraph,
    table: Any,
    score: str | StructureScore | None = None,
    *,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
    n_candidates: int = 3,
) -> ArcReasons:
    """Say of each arc of a network what it adds to the score, and which parents came next.

    Parameters
    ----------
    network : BayesianNetwork
        The structure. Where its variables are binned numbers, the columns are cut by its bins.
    table : any table
        With one column per variable; the one that the network was learned from, or another.
    score : str or object, optional
        As for `learn_structure`, with the same default.
    sample_weight, kinds, numeric, bins
        As for `learn_structure`; not used where the network has bins.
    n_candidates : int, default 3
        How many further parents of each variable are named; 0 saves the time to score all pairs of many variables.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork, arc_reasons, learn_structure
    >>> rows = BayesianNetwork("A->C<-B", random_tables=3).sample(2000, random_state=0)
    >>> reasons = arc_reasons(learn_structure(rows).network, rows)
    >>> reasons
    ArcReasons(2 arcs, bic)
      A -> C  gain 176.4, 2000 rows, 500 for each of 4
      B -> C  gain 5.2, 2000 rows, 500 for each of 4
    >>> print(reasons.why("A", "B"))
    not joined: A -> B  gain -3.3, 2000 rows, 1000 for each of 2
    """
    if not is_whole(n_candidates, 0):
        raise NetworkError(f"n_candidates must be a whole number of at least 0; got {n_candidates!r}.")
    chosen = None if score is None else as_score(score)  # refused before the table is read
    rows = _rows_of(network, table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    chosen = chosen or as_score("mdl" if len(rows.names) > MANY_VARIABLES else "bic")
    place = {name: i for i, name in enumerate(rows.names)}
    parents: list[list[int]] = [[] for _ in rows.names]
    for name, above in zip(network.names, network.parents, strict=True):
        parents[place[name]] = [place[network.names[p]] for p in above]
    judge = _Judge(rows, parents, ScoredFamilies(rows, chosen))
    arcs = [judge.reason(p, child) for child, above in enumerate(parents) for p in above]
    arcs.sort(key=lambda arc: (-arc.gain, arc.parent, arc.child))
    candidates = {name: judge.next_parents(i, n_candidates) for i, name in enumerate(rows.names)}
    return ArcReasons(tuple(arcs), candidates if n_candidates else {}, chosen.name, judge)


def _rows_of(network: NamedGraph, table: Any, sample_weight: Any, **options: Any) -> DiscreteRows:
    """Return the rows with the values that they show; numbers in the bins of the network, where it has bins."""
    if getattr(network, "real", ()):
        raise NetworkError("the network has real variables; reasons are given for networks over states.")
    schema: Schema | None = getattr(network, "schema", None)
    if schema and any(variable.kind == "binned" for variable in schema) and not isinstance(table, DiscreteRows):
        columns = read_cases(schema, [state_names(variable) for variable in schema], table).complete()
        return DiscreteRows(schema, columns, read_weight(sample_weight, len(columns[0])))
    rows = read_rows(table, sample_weight, **options)
    strange = sorted(set(network.names) ^ set(rows.names))
    if strange:
        raise NetworkError(f"{strange[0]!r} is in the network or in the table only; they must have the same variables.")
    return rows


class _Judge:
    """The scores of families around a network."""

    def __init__(self, rows: DiscreteRows, parents: list[list[int]], families: ScoredFamilies) -> None:
        self._rows, self._parents, self._families = rows, parents, families
        self._below = _descendants(parents)

    def place(self, name: str) -> int:
        if name not in self._rows.names:
            raise NetworkError(f"{name!r} is not a variable; {did_you_mean(name, self._rows.names)}")
        return self._rows.names.index(name)

    def reason(self, parent: int, child: int) -> ArcReason:
        if parent == child:
            raise NetworkError(f"an arc joins two variables; got {self._rows.names[parent]!r} twice.")
        above, present = self._parents[child], parent in self._parents[child]
        without = [p for p in above if p != parent]
        gain = self._families.local(child, [*without, parent]) - self._families.local(child, without)
        n_rows, n_configurations = self._rests_on(child, [*without, parent])
        cycle = not present and bool(self._below[child, parent])
        names = self._rows.names
        return ArcReason(names[parent], names[child], present, float(gain), n_rows, n_configurations, cycle)

    def next_parents(self, child: int, most: int) -> tuple[ArcReason, ...]:
        """Return the parents that the child does not have and that would gain most, or cost least."""
        above = self._parents[child]
        wanted = np.ones(len(self._rows.names), dtype=bool)
        wanted[[child, *above]] = False
        if not most or not wanted.any():
            return ()
        scores = np.where(wanted, self._families.toggles(child, above, wanted), -np.inf)
        best = [int(p) for p in np.argsort(-scores, kind="stable")[:most] if wanted[p]]
        return tuple(self.reason(p, child) for p in best)

    def _rests_on(self, child: int, parents: list[int]) -> tuple[float, int]:
        rows = self._rows
        known = np.ones(rows.n_rows, dtype=bool)
        for v in (child, *parents):
            known &= rows.columns[v] < rows.cards[v]
        place = np.zeros(int(known.sum()), dtype=np.int64)
        for p in parents:  # numbered anew each time, so that no product overflows
            place = np.unique(place * rows.cards[p] + rows.columns[p][known], return_inverse=True)[1]
        weight = float(known.sum()) if rows.weight is None else float(rows.weight[known].sum())
        return weight, int(place.max(initial=-1)) + 1


def _descendants(parents: list[list[int]]) -> NDArray[np.bool_]:
    """Return whether the second variable comes after the first, (n, n)."""
    below = np.zeros((len(parents), len(parents)), dtype=bool)
    for v in dag.topological_order(parents):
        for p in parents[v]:
            below[:, v] |= below[:, p]
            below[p, v] = True
    return below
