"""The scores of the families of some rows, each counted once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import FamilyScores, n_threads
from bayeskit.defaults import NETWORK_BINS
from bayeskit.errors import NetworkError
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore, as_score
from bayeskit.network.named_graph import NamedGraph


class ScoredFamilies:
    """The score of each family of some rows.

    Examples
    --------
    >>> rows = read_rows({"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]})
    >>> scores = ScoredFamilies(rows, "loglik")
    >>> round(scores.local(1, []), 6), scores.local(1, [0])
    (-2.772589, 0.0)
    """

    def __init__(self, rows: DiscreteRows, score: str | StructureScore = "bic") -> None:
        self.rows = rows
        self.score = as_score(score)
        # The compiled scores, or their plain twin: what compiled searches ask.
        self.kernel: _Families = PlainFamilyScores(rows, self.score)
        if self.score.compiled:
            threads = n_threads(rows.n_rows * 8)
            self.kernel = FamilyScores(
                rows.columns, rows.weight, rows.cards, self.score.name, self.score.sample_size, threads
            )

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family."""
        return self.kernel.local(child, list(parents))

    def toggles(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the score of the family with each wanted variable added, or removed where it is a parent; else NaN."""
        return self.kernel.toggles(child, list(parents), wanted.view(np.uint8).tolist())

    def strongest(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], most: int) -> list[int]:
        """Return the wanted variables that gain as one parent more, the one that gains most first, at most ``most``."""
        return self.kernel.strongest(child, list(parents), wanted.view(np.uint8).tolist(), most)

    def strongest_pairs(
        self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], n_first: int
    ) -> list[list[int]]:
        """Return pairs that gain as two parents more, and more than one of them: some of the best with the best beside.

        The ``n_first`` variables that score best as one parent more are tried, whether they gain or not.
        """
        return self.kernel.strongest_pairs(child, list(parents), wanted.view(np.uint8).tolist(), n_first)

    def best_subsets(
        self, child: int, candidates: list[int], required: list[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Return, for each set of candidates (as bits), the score of its best subset of at most ``most``, and that."""
        return self.kernel.best_subsets(child, candidates, required, most)

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """Return the score of a network."""
        return float(sum(self.local(i, above) for i, above in enumerate(parents)))

    @property
    def n_scored(self) -> int:
        """The number of families that were counted."""
        return self.kernel.n_scored


class _Families(Protocol):
    """What the compiled kernel and its plain twin have in common."""

    @property
    def n_scored(self) -> int: ...
    def local(self, child: int, parents: Sequence[int]) -> float: ...
    def toggles(self, child: int, parents: Sequence[int], wanted: Sequence[int]) -> NDArray[np.float64]: ...
    def strongest(self, child: int, parents: Sequence[int], wanted: Sequence[int], most: int) -> list[int]: ...
    def strongest_pairs(
        self, child: int, parents: Sequence[int], wanted: Sequence[int], n_first: int
    ) -> list[list[int]]: ...
    def best_subsets(
        self, child: int, candidates: Sequence[int], required: Sequence[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...


class PlainFamilyScores:
    """The scores of families by a score's own formula, for scores that the compiled kernel does not have."""

    def __init__(self, rows: DiscreteRows, score: StructureScore) -> None:
        self._rows, self._score = rows, score
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    @property
    def n_scored(self) -> int:
        """The number of families that were counted."""
        return len(self._known)

    @cached_property
    def _missing(self) -> NDArray[np.bool_]:
        return self._rows.missing()  # (n_rows, n_variables)

    @cached_property
    def _total(self) -> float:
        return float(self._rows.n_rows if self._rows.weight is None else self._rows.weight.sum())

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family."""
        key = (child, tuple(sorted(parents)))
        if key not in self._known:
            self._known[key] = self._scored(*key)
        return self._known[key]

    def _scored(self, child: int, parents: tuple[int, ...]) -> float:
        family = self._table(child, parents)
        fit, known = self._score.fit(family), float(family.counts.sum())
        if self._missing.any() and known > 0:
            fit *= self._total / known
        return fit - self._score.penalty(family)

    def _table(self, child: int, parents: tuple[int, ...]) -> FamilyTable:
        rows, cards = self._rows, self._rows.cards
        known = ~self._missing[:, [*parents, child]].any(axis=1)
        place = np.zeros(int(known.sum()), dtype=np.int64)
        for p in parents:
            place = place * cards[p] + rows.columns[p][known]
            place = np.unique(place, return_inverse=True)[1]  # those that occur, so that no product overflows
        weight = None if rows.weight is None else rows.weight[known]
        cells, n = place * cards[child] + rows.columns[child][known], int(place.max(initial=-1)) + 1
        counts = np.bincount(cells, weight, minlength=n * cards[child]).astype(np.float64).reshape(n, cards[child])
        return FamilyTable(counts, cards[child], prod(cards[p] for p in parents), len(parents), self._total, len(cards))

    def toggles(self, child: int, parents: Sequence[int], wanted: Sequence[int]) -> NDArray[np.float64]:
        """Return the score of the family with each wanted variable added or removed; else NaN."""
        scores = np.full(len(wanted), np.nan)
        for v in np.flatnonzero(wanted).tolist():
            if v != child:
                scores[v] = self.local(child, [p for p in parents if p != v] if v in parents else [*parents, v])
        return scores

    def strongest(self, child: int, parents: Sequence[int], wanted: Sequence[int], most: int) -> list[int]:
        """Return the wanted variables that gain as one parent more, the one that gains most first, at most ``most``."""
        alone, others = self.local(child, parents), set(np.flatnonzero(wanted).tolist()) - {child, *parents}
        scored = [(self.local(child, [*parents, v]), v) for v in others]
        return [v for score, v in sorted(scored, key=lambda each: (-each[0], each[1])) if score > alone][:most]

    def strongest_pairs(
        self, child: int, parents: Sequence[int], wanted: Sequence[int], n_first: int
    ) -> list[list[int]]:
        """Return pairs that gain as two parents more, and more than one of them."""
        others = sorted(set(np.flatnonzero(wanted).tolist()) - {child, *parents})
        single = {v: self.local(child, [*parents, v]) for v in others}
        pairs = set()
        for x in sorted(others, key=lambda v: (-single[v], v))[:n_first]:
            both = [(self.local(child, [*parents, x, y]), -y) for y in others if y != x]
            score, y = max(both, default=(-np.inf, 0))
            if score > max(self.local(child, parents), single[x], single.get(-y, np.inf)):
                pairs.add((min(x, -y), max(x, -y)))
        return [list(pair) for pair in sorted(pairs)]

    def best_subsets(
        self, child: int, candidates: Sequence[int], required: Sequence[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Return, for each set of candidates (as bits), the score of its best subset of at most ``most``, and that."""
        best, chosen = np.full(1 << len(candidates), -np.inf), np.zeros(1 << len(candidates), dtype=np.uint32)
        for s in range(len(best)):
            inside = [k for k in range(len(candidates)) if s >> k & 1]
            if len(inside) <= most:
                best[s], chosen[s] = self.local(child, [*required, *(candidates[k] for k in inside)]), s
            for k in inside:  # the best without one of them was found before
                if best[s ^ (1 << k)] > best[s]:
                    best[s], chosen[s] = best[s ^ (1 << k)], chosen[s ^ (1 << k)]
        return best, chosen


def network_score(
    graph: NamedGraph,
    table: Any,
    score: str | StructureScore = "bic",
    *,
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
) -> float:
    """Return the score of a network's structure on a table; its tables are not read.

    Parameters
    ----------
    graph : BayesianNetwork
        The structure.
    table : any table
        With one column per variable; the states are those that it shows.
    score : {"bic", "ebic", "aic", "mdl", "k2", "bdeu", "bds", "fnml", "qnml", "loglik"} or StructureScore
        Higher is better.
    sample_weight, kinds, numeric, bins
        As for `learn_structure`.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> rows = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]}
    >>> round(network_score(BayesianNetwork("A->B"), rows), 4)
    -4.852
    """
    chosen = as_score(score)
    rows = read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    absent = [name for name in graph.names if name not in rows.names]
    if absent or len(rows.names) > len(graph.names):
        what = f"no column {absent[0]!r}" if absent else "columns that are not variables"
        raise NetworkError(f"the table has {what}; the score needs one column per variable.")
    place = [rows.names.index(name) for name in graph.names]
    parents: list[list[int]] = [[] for _ in place]
    for i, above in zip(place, graph.parents, strict=True):
        parents[i] = [place[p] for p in above]
    return ScoredFamilies(rows, chosen).total(parents)
