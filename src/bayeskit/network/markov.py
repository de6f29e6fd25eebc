"""A Markov network as the Bayesian network of the same joint distribution, made by eliminating its variables."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TooLargeError
from bayeskit.network.cpd.table import MOST_AXES

Table = NDArray[np.float64]


class Factor(NamedTuple):
    """A table of numbers of 0 or more over some variables, one axis for each."""

    scope: tuple[int, ...]
    values: Table


class Chain(NamedTuple):
    """The tables P(variable | parents) whose product is the joint distribution, and log Z."""

    parents: list[tuple[int, ...]]
    tables: list[Table]
    log_partition: float


def as_chain(cards: Sequence[int], factors: Sequence[Factor], largest: int) -> Chain:
    r"""Return tables with the joint distribution of a product of factors.

    .. math:: \frac{1}{Z} \prod_k φ_k(x_{S_k}) = \prod_v P(x_v \mid x_{\mathrm{Parents}(v)})

    A variable is eliminated by multiplying the factors that hold it; divided by its sum, the product is its table given
    its neighbors, and the sum is a factor for those. The variable with the smallest product goes first.

    Raises
    ------
    TooLargeError
        Where the products would hold more than ``largest`` numbers together.
    """
    parents: list[tuple[int, ...]] = [()] * len(cards)
    tables = [np.ones(card) / card for card in cards]
    # A factor that was used stays in the lists of its other variables, marked: taking it out would cost their length.
    holding: list[list[int]] = [[] for _ in cards]
    known: list[Factor | None] = []
    log_partition = 0.0

    def enter(factor: Factor) -> float:
        scaled, log_scale = _scaled(factor)
        for v in factor.scope:
            holding[v].append(len(known))
        known.append(scaled)
        return log_scale

    for factor in factors:
        log_partition += enter(factor)
    for v, around in _elimination(cards, factors, largest):
        scope = (*sorted(around), v)
        product = np.ones([cards[u] for u in scope])
        for k in holding[v]:
            used = known[k]
            if used is not None:
                product *= _aligned(used, scope)
                known[k] = None
        total = product.sum(axis=-1, keepdims=True)
        possible = total > 0
        parents[v] = scope[:-1]
        # Where nothing is possible, the row is never used.
        tables[v] = np.where(possible, product / np.where(possible, total, 1.0), 1.0 / cards[v])
        log_partition += enter(Factor(scope[:-1], total[..., 0]))
    return Chain(parents, tables, log_partition)


def _scaled(factor: Factor) -> tuple[Factor, float]:
    """Return the factor divided by its largest number, and the logarithm of that."""
    peak = float(factor.values.max())
    if not peak > 0:
        return factor, -np.inf
    return Factor(factor.scope, factor.values / peak), float(np.log(peak))


def _aligned(factor: Factor, scope: tuple[int, ...]) -> Table:
    """Return a factor's values with an axis for each variable of a larger scope."""
    place = {v: k for k, v in enumerate(scope)}
    order = sorted(range(len(factor.scope)), key=lambda k: place[factor.scope[k]])
    shape = [1] * len(scope)
    for k in order:
        shape[place[factor.scope[k]]] = factor.values.shape[k]
    return factor.values.transpose(order).reshape(shape)


def _elimination(cards: Sequence[int], factors: Sequence[Factor], largest: int) -> list[tuple[int, frozenset[int]]]:
    """Return the variables in the order of elimination, each with its neighbors at that time."""
    around: list[set[int]] = [set() for _ in cards]
    for factor in factors:
        for v in factor.scope:
            around[v].update(factor.scope)
    weight = []
    for v, near in enumerate(around):
        near.discard(v)
        weight.append(log2(cards[v]) + sum(log2(cards[u]) for u in near))
    heap = [(weight[v], v) for v in range(len(cards))]
    heapq.heapify(heap)
    left, order, total = set(range(len(cards))), [], 0.0
    while heap:
        size, v = heapq.heappop(heap)
        if v not in left or size != weight[v]:
            continue  # an older entry; the newer one is in the heap too
        total += 2.0 ** min(size, 1000.0)
        if total > largest or len(around[v]) >= MOST_AXES:
            raise TooLargeError(f"a product over {len(around[v]) + 1} variables would hold 2^{size:.1f} numbers")
        left.discard(v)
        near = around[v]
        order.append((v, frozenset(near)))
        for u in near:
            new = near - around[u] - {u}
            around[u] |= new
            around[u].discard(v)
            weight[u] += sum(log2(cards[w]) for w in new) - log2(cards[v])
            heapq.heappush(heap, (weight[u], u))
    return order
