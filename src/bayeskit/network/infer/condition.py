"""The distribution given evidence as a network, from which cases are sampled."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import PLANNABLE
from bayeskit.network import dag
from bayeskit.network.cpd.table import MOST_AXES, TableCPD
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.tree_size import LargeTablesError

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Table = NDArray[np.float64]


class _Factor:
    """A table of logarithms over variables, one axis each."""

    def __init__(self, scope: tuple[int, ...], log: Table) -> None:
        self.scope, self.log = scope, log

    def over(self, scope: tuple[int, ...]) -> Table:
        """Return the table with the axes of a wider scope; those that it lacks have length 1."""
        order = sorted(range(len(self.scope)), key=lambda k: scope.index(self.scope[k]))
        shape = [self.log.shape[self.scope.index(v)] if v in self.scope else 1 for v in scope]
        return self.log.transpose(order).reshape(shape)


def condition(net: BayesianNetwork, evidence: Evidence, limit: float) -> BayesianNetwork:
    r"""Return a network over the same variables whose distribution is P(· | evidence).

    The ancestors of the evidence are eliminated one by one, each from the product of the factors that hold it:
    :math:`P(x \mid S, e) \propto \prod_k f_k(x, S)`, where S are its neighbours that are eliminated later and become
    its parents. All other variables keep their tables. Logarithms are summed, so that no magnitude is too small.
    The evidence must be possible, and hold no soft evidence.
    """
    seen = {*evidence.states, *evidence.likelihoods}
    above = dag.ancestors(net.parents, seen)
    factors = [_family(net, evidence, v) for v in sorted(above)]
    factors += [_Factor((v,), _log(values)) for v, values in evidence.likelihoods.items() if v not in evidence.states]
    parents, cpds = list(net.parents), list(net.cpds)
    for v, state in evidence.states.items():
        parents[v], cpds[v] = (), TableCPD(np.eye(net.cards[v])[state])
    holding: dict[int, list[_Factor]] = {v: [] for v in above if v not in evidence.states}
    for factor in factors:
        for v in factor.scope:
            holding[v].append(factor)
    near = {v: {u for factor in held for u in factor.scope} - {v} for v, held in holding.items()}
    while holding:
        v = min(holding, key=lambda v: (_cells(net, near[v]), v))
        scope = (*sorted(near[v]), v)
        _refuse_large(net, scope, limit)
        log = np.zeros([net.cards[u] for u in scope])
        for factor in holding.pop(v):
            log = log + factor.over(scope)
            for u in factor.scope:
                if u != v:
                    holding[u].remove(factor)
        message, table = _split(log)
        parents[v], cpds[v] = scope[:-1], TableCPD(table)
        rest = _Factor(scope[:-1], message)
        for u in rest.scope:
            holding[u].append(rest)
            near[u] = (near[u] | near[v]) - {u, v}
    return net._like(net.names, net.states, parents, cpds, net.schema, net.target)


def _log(values: Table) -> Table:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _family(net: BayesianNetwork, evidence: Evidence, v: int) -> _Factor:
    """Return the normalised table of a variable with the observed states taken out."""
    family = (*net.parents[v], v)
    table = net.cpds[v].values / net.cpds[v].values.sum(axis=-1, keepdims=True)
    taken = table[tuple(evidence.states.get(u, slice(None)) for u in family)]
    return _Factor(tuple(u for u in family if u not in evidence.states), _log(np.asarray(taken)))


def _cells(net: BayesianNetwork, variables: set[int]) -> float:
    return prod(float(net.cards[v]) for v in variables)


def _refuse_large(net: BayesianNetwork, scope: tuple[int, ...], limit: float) -> None:
    cells = _cells(net, set(scope))
    if 8.0 * cells > limit or len(scope) > MOST_AXES:
        advice = " Pass a larger max_memory." if len(scope) <= MOST_AXES and cells <= PLANNABLE else ""
        raise LargeTablesError(
            f"the distribution given this evidence needs a table of {cells:.3g} cells over {len(scope)} variables, "
            f"over the limit.{advice}",
            "Give less evidence.",
        )


def _split(log: Table) -> tuple[Table, Table]:
    """Return log Σ_x exp over the last axis, and the rows that are left; an impossible row is uniform."""
    top = log.max(axis=-1, keepdims=True)
    finite = np.where(np.isneginf(top), 0.0, top)
    table = np.exp(log - finite)
    total = table.sum(axis=-1, keepdims=True)
    rows = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / log.shape[-1])
    return np.asarray((_log(total) + finite)[..., 0]), rows
