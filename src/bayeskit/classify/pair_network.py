"""The networks that A2DE averages: a pair of features is a parent of all others."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import as_network
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.counts.memory import readable, table_cells
from bayeskit.defaults import PRIOR
from bayeskit.errors import TooLargeError
from bayeskit.estimate.averaged import parent_joint
from bayeskit.estimate.discrete import dirichlet
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

# What a variable of a network takes beside the numbers of its table, measured on tables of two values.
_BYTES_PER_VARIABLE = 1024


def pair_networks(
    counts: FamilyCounts,
    smoothing: float | SymmetricSmoothing,
    smooth: bool,
    class_name: str,
    limit: float,
    prior: Any = PRIOR,
) -> list[BayesianNetwork]:
    """Return one network for each pair of features that have values.

    More than ``limit`` bytes are an error, raised before the work starts.
    """
    known = [j for j, size in enumerate(sizes_of(counts.schema)) if size]
    _refuse_too_many([counts.schema[j].n_values + smooth for j in known], counts.n_classes, limit)
    given = as_smoothing(smoothing), smooth, class_name, prior
    return [_pair_network(counts, i, j, *given) for i, j in combinations(known, 2)]


def _pair_network(
    counts: FamilyCounts, i: int, j: int, smoothing: SymmetricSmoothing, smooth: bool, class_name: str, prior: Any
) -> BayesianNetwork:
    r"""Return P(c) P(x_i | c) P(x_j | c, x_i) ∏ P(x_k | c, x_i, x_j) as a network.

    .. math:: P(c, x_i, x_j) = \frac{|D_{c,x_i,x_j}| + λ}{N_{ij} + λ K S_i S_j}

    is smoothed as a whole. Its three factors follow by summing: λ S_i S_j for a class, λ S_j for a value of x_i.
    Another prior than "smoothed" takes the place of P(c).
    """
    schema = counts.schema
    both = _by_class(counts, (i, j), smooth)  # (n_classes, S_i, S_j)
    n_j = both.shape[2]
    λ = smoothing.pseudo_count(both.size)
    first, second = schema.names[i], schema.names[j]
    parents: dict[str, tuple[str, ...]] = {class_name: (), first: (class_name,), second: (class_name, first)}
    tables = {
        class_name: parent_joint(np.moveaxis(both, 0, -1), smoothing, prior, counts.classes).sum(axis=(0, 1)),
        first: _distribution(both.sum(axis=2), λ * n_j),
        second: _distribution(both, λ),
    }
    for k, variable in enumerate(schema):
        if variable.n_values and k not in (i, j):
            parents[variable.name] = (class_name, first, second)
            children = _by_class(counts, (i, j, k), smooth)
            tables[variable.name] = _distribution(children, smoothing.pseudo_count(children.shape[-1]))
    return as_network(schema, class_name, counts.classes, parents, tables)


def _by_class(counts: FamilyCounts, members: tuple[int, ...], smooth: bool) -> NDArray[Any]:
    # With one more level of each column, without rows, for values that were never seen.
    table = np.moveaxis(counts.table(members), -1, 0)
    return np.pad(table, [(0, 0)] + [(0, 1)] * len(members)) if smooth else table


def _distribution(n: NDArray[Any], pseudo_count: float) -> NDArray[np.float64]:
    """Return P over the last axis."""
    return np.ascontiguousarray(np.moveaxis(dirichlet(np.moveaxis(n, -1, 0), pseudo_count), 0, -1))


def _refuse_too_many(sizes: list[int], n_classes: int, limit: float) -> None:
    n_networks = comb(len(sizes), 2)
    pair_cells = table_cells(sizes, "pairs")[1]
    triple_cells = table_cells(sizes, "triples")[1] - pair_cells
    # Each triple is in three networks; a pair's table and its margins are in one.
    need = 8 * n_classes * (3 * triple_cells + 2 * pair_cells) + _BYTES_PER_VARIABLE * n_networks * (len(sizes) + 1)
    if need > limit:
        raise TooLargeError(
            f"n_parents=2 is the mean of {n_networks} networks of {len(sizes) + 1} variables, which need about "
            f"{readable(need)}. The limit is {readable(limit)}: fit fewer columns, or raise max_memory."
        )
