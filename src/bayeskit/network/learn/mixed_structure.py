"""Structure of networks with real variables: Gaussian, or mixed, where arcs go from discrete to real variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError, TableError, warn_caller
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.gaussian_families import GaussianFamilies
from bayeskit.network.learn.methods.best import Best
from bayeskit.network.learn.methods.exact import Exact
from bayeskit.network.learn.methods.hill_climb import HillClimb
from bayeskit.network.learn.methods.pc import PC
from bayeskit.network.learn.methods.tabu import Tabu
from bayeskit.network.learn.mixed_rows import MixedRows
from bayeskit.network.learn.pdag import PartialGraph, meek
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask
from bayeskit.network.learn.structure_score import StructureScore

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# Up to so many columns the best network of all is found in a moment.
_EXACT_UP_TO = 11


def mixed_method(method: SearchMethod, n_variables: int) -> SearchMethod:
    """Return the search that a method means with real variables; refuse one that counts states."""
    if isinstance(method, Best):
        if method.max_seconds is not None:
            raise NetworkError("max_seconds is for states; with real variables use Tabu(restarts=…).")
        restarts = 5 if method.restarts is None else method.restarts
        return Exact() if n_variables <= _EXACT_UP_TO else Tabu(length=100, restarts=restarts)
    if isinstance(method, PC) and method.test != "g2":
        raise NetworkError(f"test {method.test!r} is for states; leave it out with real variables.")
    if isinstance(method, HillClimb | Tabu | Exact | PC):
        return method
    raise NetworkError(
        f"method {method.name!r} is for states; with real variables use 'best', 'hill-climb', 'tabu', 'exact' or 'pc'."
    )


def legal_arcs(rows: MixedRows, limits: Constraints) -> Constraints:
    """Return the constraints without arcs from real to discrete variables; refuse a list that requires one."""
    real = np.array([j in rows.numbers for j in range(len(rows.names))])
    illegal = real[:, None] & ~real[None, :]
    asked = np.argwhere(limits.required & illegal)
    if len(asked):
        a, b = (rows.names[k] for k in asked[0])
        raise NetworkError(
            f"the whitelist has {a} -> {b}, but {a!r} is real and {b!r} discrete; a discrete variable has discrete "
            "parents only."
        )
    return Constraints(limits.allowed & ~illegal, limits.required, limits.max_parents)


def search_mixed(
    method: SearchMethod, rows: MixedRows, score: StructureScore, limits: Constraints, begin: Marks, **options: Any
) -> tuple[SearchTask, SearchResult]:
    """Search over the rows without missing cells."""
    whole = rows.whole()
    if not whole.any():
        raise TableError("every row has a missing cell, so there is no complete row to search on; leave out columns.")
    if not whole.all():
        warn_caller(
            f"{int((~whole).sum())} of {rows.n_rows} rows have a missing cell: the structure is searched without them, "
            "and its numbers are then learned from all rows."
        )
    complete = rows if whole.all() else rows.take(np.flatnonzero(whole))
    task = SearchTask(cast(Any, complete), score, limits, begin, **options)
    task.__dict__["families"] = GaussianFamilies(complete, score)
    return task, method.search(task)


def blank_network(rows: MixedRows, parents: Sequence[Sequence[int]]) -> BayesianNetwork:
    """Return a network of these arcs whose numbers say nothing yet."""
    from bayeskit.network.network import BayesianNetwork  # which knows `fitted`, and so this folder

    tables: list[Any] = []
    for i, above in enumerate(parents):
        cards = [len(rows.states[p]) for p in above]
        if i in rows.numbers:
            q, k = int(np.prod([card for card in cards if card])), cards.count(0)
            tables.append(GaussianCPD(tuple(cards), np.zeros(q), np.zeros((q, k)), np.ones(q)))
        else:
            tables.append(np.full([*cards, len(rows.states[i])], 1.0 / len(rows.states[i])))
    return BayesianNetwork.from_tables(rows.names, rows.states, parents, tables, schema=rows.schema)


def mixed_class(rows: MixedRows, arcs: NDArray[np.bool_]) -> PartialGraph:
    """Return the networks that no data can tell apart: an arc from a discrete to a real variable has one direction."""
    marks = PartialGraph.of_parents(rows.names, parents_of(arcs)).marks()
    for a in rows.codes:
        for b in rows.numbers:
            marks[b, a] = False
    meek(marks)
    both, one = marks & marks.T, marks & ~marks.T
    return PartialGraph.of_positions(
        rows.names, set(zip(*np.nonzero(one), strict=True)), set(zip(*np.nonzero(both), strict=True))
    )
