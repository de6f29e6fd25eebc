"""States from the largest effect to none, as formats have them whose noisy-MAX has no order of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayeskit.network.cpd.causes import IndependentCauses
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.table import TableCPD

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


def in_effect_order(net: BayesianNetwork) -> tuple[list[list[str]], list[Distribution]]:
    """Return states and distributions in which a noisy-MAX has its largest effect first; all others stay."""
    orders = [
        list(cpd.order[::-1]) if isinstance(cpd, IndependentCauses) and cpd.combine == "max" else list(range(card))
        for cpd, card in zip(net.cpds, net.cards, strict=True)
    ]
    states = [[named[k] for k in order] for named, order in zip(net.states, orders, strict=True)]
    cpds = [
        _reordered(cpd, [orders[p] for p in above], orders[i])
        for i, (cpd, above) in enumerate(zip(net.cpds, net.parents, strict=True))
    ]
    return states, cpds


def _reordered(cpd: Distribution, parents: Sequence[list[int]], order: list[int]) -> Distribution:
    if all(each == sorted(each) for each in (*parents, order)):
        return cpd
    if isinstance(cpd, IndependentCauses):
        places = {state: k for k, state in enumerate(order)}
        links = tuple(link[rows] for link, rows in zip(cpd.links, parents, strict=True))
        fixed = tuple(mask[rows] for mask, rows in zip(cpd.fixed, parents, strict=True))
        return IndependentCauses(cpd.combine, cpd.leak, links, tuple(places[state] for state in cpd.order), fixed)
    if isinstance(cpd, GaussianCPD):
        shape = [cpd.cards[k] for k in cpd.discrete]
        grid = np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*(parents[k] for k in cpd.discrete))].reshape(-1)
        return GaussianCPD(cpd.cards, cpd.intercept[grid], cpd.slope[grid], cpd.sd[grid])
    return TableCPD(np.ascontiguousarray(cpd.values[np.ix_(*parents, order)]))
