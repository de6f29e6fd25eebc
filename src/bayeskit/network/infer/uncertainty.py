"""Measures of uncertainty: entropy, mutual information, divergence of networks; mixed into `BayesianNetwork`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, log
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.infer.condition import condition
from bayeskit.network.infer.evidence import read_evidence
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.soft_evidence import apply_soft_evidence
from bayeskit.network.infer.tree_size import advise, refuse_large

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


class UncertaintyMeasures:
    """Measures of uncertainty; in nats unless ``base`` says otherwise (2 for bits)."""

    @advise("Ask for the entropy of fewer variables, or give more evidence.")
    def entropy(
        self,
        variables: str | Iterable[str] | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        base: float | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> float:
        r"""Return the entropy of some variables together, or of all of them, given evidence.

        .. math:: H(X) = -\sum_x P(x \mid e) \log P(x \mid e)

        That of all variables is summed family by family, :math:`\sum_i H(Y_i \mid \mathrm{Parents}(Y_i))`, so that no
        joint table over all of them is made.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[1, 0], [0.5, 0.5]]})
        >>> net.entropy("a", base=2), round(net.entropy(base=2), 6)
        (1.0, 1.5)
        """
        net, unit = cast("BayesianNetwork", self), _unit(base)
        if variables is not None:
            return _entropy(net.joint(variables, given=given, max_memory=max_memory).array) / unit
        if given:
            limit = memory_in_bytes(max_memory)
            evidence = apply_soft_evidence(net._engine, read_evidence(net, given), limit)
            net._engine.log_evidence(evidence, limit)  # refuses impossible evidence
            net = condition(net, evidence, limit)
        _refuse_large_tables(net, net.parents, max_memory)
        total = 0.0
        for i, above in enumerate(net.parents):
            weights = net.joint([net.names[p] for p in above], max_memory=max_memory).array if above else np.ones(())
            table = net.cpds[i].values / net.cpds[i].values.sum(axis=-1, keepdims=True)
            total += float((weights * -_x_log_x(table).sum(axis=-1)).sum())
        return max(total, 0.0) / unit

    @advise("Name fewer variables, or give more evidence.")
    def mutual_information(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        *,
        given: Mapping[str, Any] | None = None,
        base: float | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> float:
        r"""Return the mutual information of x and y given evidence.

        .. math:: I(X; Y) = \sum_{x, y} P(x, y \mid e) \log \frac{P(x, y \mid e)}{P(x \mid e)\,P(y \mid e)}

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]})
        >>> net.mutual_information("a", "b", base=2)
        1.0
        """
        net, unit = cast("BayesianNetwork", self), _unit(base)
        left, right = ([side] if isinstance(side, str) else list(side) for side in (x, y))
        joint = net.joint([*left, *right], given=given, max_memory=max_memory).array
        cells = int(np.prod(joint.shape[: len(left)]))
        table = joint.reshape(cells, -1)
        total = _entropy(table.sum(axis=1)) + _entropy(table.sum(axis=0)) - _entropy(table)
        return max(total, 0.0) / unit

    @advise("")
    def kl_divergence(
        self, other: BayesianNetwork, *, base: float | None = None, max_memory: Memory = MAX_MEMORY
    ) -> float:
        r"""Return the divergence of another network from this one, over the same variables and states.

        .. math:: D(P \,\|\, Q) = \sum_y P(y) \log \frac{P(y)}{Q(y)}
                  = -H(P) - \sum_i \sum P(y_i, u_i) \log Q(y_i \mid u_i)

        P is this network, and :math:`u_i` are the parents in the other. Infinite where the other gives probability 0
        to something possible here. Graphs and orders may differ.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> p, q = (BayesianNetwork("a", tables={"a": [x, 1 - x]}) for x in (0.5, 0.25))
        >>> round(p.kl_divergence(q, base=2), 6)
        0.207519
        """
        net, unit = cast("BayesianNetwork", self), _unit(base)
        if set(net.names) != set(other.names):
            raise NetworkError(f"the networks differ in {sorted(set(net.names) ^ set(other.names))[:5]}.")
        for name in net.names:
            if net.states[net.index(name)] != other.states[other.index(name)]:
                raise NetworkError(f"variable {name!r} has other states in the other network.")
        families = [[net.index(other.names[v]) for v in (*above, i)] for i, above in enumerate(other.parents)]
        _refuse_large_tables(net, families, max_memory)
        total = -net.entropy(max_memory=max_memory)
        for i, above in enumerate(other.parents):
            weights = net.joint([other.names[v] for v in (*above, i)], max_memory=max_memory).array
            table = other.cpds[i].values / other.cpds[i].values.sum(axis=-1, keepdims=True)
            if (weights[table == 0] > 0).any():
                return inf
            total -= float((weights * np.log(np.where(table > 0, table, 1.0))).sum())
        return max(total, 0.0) / unit


def _refuse_large_tables(net: BayesianNetwork, groups: Sequence[Sequence[int]], max_memory: Memory) -> None:
    """Refuse joint tables of groups of variables that do not fit, before any of them is made."""
    engine, limit = net._engine, memory_in_bytes(max_memory)
    place = {v: k for k, v in enumerate(dag.topological_order(net.parents))}
    # Those that stand below the most variables come first: what is to be refused is refused soon.
    for group in sorted((set(group) for group in groups if group), key=lambda group: -max(place[v] for v in group)):
        refuse_large(engine.factored.names, engine.native.joint(list(group), [], [], False), limit)


def _unit(base: float | None) -> float:
    if base is None:
        return 1.0
    if not base > 1:
        raise NetworkError(f"base must be a number above 1, as 2 for bits; got {base!r}.")
    return log(base)


def _x_log_x(p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(p * np.log(np.where(p > 0, p, 1.0)))


def _entropy(p: NDArray[np.float64]) -> float:
    return max(float(-_x_log_x(p).sum()), 0.0)
