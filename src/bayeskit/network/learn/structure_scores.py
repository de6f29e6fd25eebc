r"""Scores of networks, family by family, counted by one kernel and kept in one cache.

==========  =====================================================================================================
"loglik"    :math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij})`, the log-likelihood; more arcs never lower it
"bic"       log-likelihood :math:`- ½ \ln N (r_i - 1) q_i`; higher is better, as in bnlearn
"aic"       log-likelihood :math:`- (r_i - 1) q_i`
"mdl"       as "bic", and :math:`|Pa_i| \ln n` more for naming the parents (Lam & Bacchus 1994, with ½ log N a number)
"k2"        :math:`\sum_j \ln \frac{(r_i - 1)!}{(n_{ij} + r_i - 1)!} + \sum_k \ln n_{ijk}!` (Cooper & Herskovits 1992)
"bdeu"      the same with the pseudo-counts N' / (q_i r_i) (Heckerman, Geiger & Chickering 1995)
==========  =====================================================================================================

With missing cells a family is counted in the rows where all of it is known, and its likelihood is the mean over these
rows times N: the node-average likelihood, so that families with different missing rows can be compared (Balov 2013;
Bodewes & Scutari 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import FamilyScores, n_threads
from bayeskit.errors import NetworkError
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.named_graph import NamedGraph

ScoreName = Literal["bic", "aic", "mdl", "k2", "bdeu", "loglik"]
SCORES: tuple[str, ...] = get_args(ScoreName)


class StructureScores:
    """The score of each family of some rows.

    Examples
    --------
    >>> rows = read_rows({"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]})
    >>> scores = StructureScores(rows, "loglik")
    >>> round(scores.local(1, []), 6), scores.local(1, [0])
    (-2.772589, 0.0)
    """

    def __init__(self, rows: DiscreteRows, score: str = "bic", equivalent_sample_size: float = 1.0) -> None:
        if score not in SCORES:
            raise NetworkError(f"score must be one of {', '.join(map(repr, SCORES))}; got {score!r}.")
        if not (np.isfinite(equivalent_sample_size) and equivalent_sample_size > 0):
            raise NetworkError(f"equivalent_sample_size must be above 0; got {equivalent_sample_size!r}.")
        self.rows = rows
        self.name = score
        threads = n_threads(rows.n_rows * 8)
        self._kernel = FamilyScores(rows.columns, rows.weight, rows.cards, score, equivalent_sample_size, threads)

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family."""
        return self._kernel.local(child, list(parents))

    def toggles(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the score of the family with each wanted variable added, or removed where it is a parent; else NaN."""
        return self._kernel.toggles(child, list(parents), wanted.view(np.uint8).tolist())

    def best_subsets(
        self, child: int, candidates: list[int], required: list[int], most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Return, for each set of candidates (as bits), the score of its best subset of at most ``most``, and that."""
        return self._kernel.best_subsets(child, candidates, required, most)

    def total(self, parents: Sequence[Sequence[int]]) -> float:
        """Return the score of a network."""
        return float(sum(self.local(i, own) for i, own in enumerate(parents)))

    @property
    def n_scored(self) -> int:
        """The number of families that were counted."""
        return self._kernel.n_scored


def network_score(
    graph: NamedGraph,
    table: Any,
    score: ScoreName = "bic",
    *,
    sample_weight: Any = None,
    equivalent_sample_size: float = 1.0,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = 5,
) -> float:
    """Return the score of a network's structure on a table; its tables are not read.

    Parameters
    ----------
    graph : BayesianNetwork
        The structure.
    table : any table
        With one column per variable; the states are those that it shows.
    score : {"bic", "aic", "mdl", "k2", "bdeu", "loglik"}
        Higher is better.
    sample_weight, kinds, numeric, bins
        As for `learn_structure`.
    equivalent_sample_size : float
        The N' of "bdeu".

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> rows = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"]}
    >>> round(network_score(BayesianNetwork("A->B"), rows), 4)
    -4.852
    """
    rows = read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    absent = [name for name in graph.names if name not in rows.names]
    if absent or len(rows.names) > len(graph.names):
        what = f"no column {absent[0]!r}" if absent else "columns that are not variables"
        raise NetworkError(f"the table has {what}; the score needs one column per variable.")
    place = [rows.names.index(name) for name in graph.names]
    parents: list[list[int]] = [[] for _ in place]
    for i, own in zip(place, graph.parents, strict=True):
        parents[i] = [place[p] for p in own]
    return StructureScores(rows, score, equivalent_sample_size).total(parents)
