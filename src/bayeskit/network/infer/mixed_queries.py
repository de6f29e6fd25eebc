"""Questions to mixed networks beside posteriors: most probable explanation, joint normals, entropy and information."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError
from bayeskit.network.infer.answers import Joint
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.gaussian import MixedCase
from bayeskit.network.infer.link_sampling import not_exact, settled
from bayeskit.network.infer.real_answers import MostProbableMixed, RealJoint, RealPosterior

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]


class MixedQueries:
    """Most probable explanation, joint distributions, entropy and mutual information of a mixed network."""

    def _case(
        self, given: Mapping[str, Any] | None, real: list[int], limit: float, asked: Sequence[int] | None = None
    ) -> MixedCase:
        """Return the exact case: the real variables asked about, and all that are asked about (all, if not given)."""
        net = cast("MixedNetwork", self)
        net._evidence(given)  # refuses what is no evidence
        net = settled(net, given or {}, range(len(net.names)) if asked is None else asked)
        if net._links:
            raise not_exact(net)
        return MixedCase(*net._evidence(given), real, limit)

    def most_probable(
        self,
        variables: str | Iterable[str] | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> MostProbableMixed:
        r"""Return the states and numbers of all unobserved variables at which their joint density is highest, exactly.

        For each configuration of the discrete variables the density of the real ones is highest at their mean, where
        it is :math:`|2πΣ|^{-1/2}`; these peaks enter the discrete network as tables. A density depends on units: in
        other units of a real variable another configuration may win.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> from bayeskit.network import ConditionalGaussian, LinearGaussian
        >>> heights = ConditionalGaussian({"f": LinearGaussian(mean=166, sd=6), "m": LinearGaussian(mean=179, sd=7)})
        >>> net = BayesianNetwork("sex{f|m}->height", tables={"sex": [0.5, 0.5], "height": heights})
        >>> dict(net.most_probable())
        {'sex': 'f', 'height': 166.0}
        """
        net = cast("MixedNetwork", self)
        if variables is not None:
            raise NetworkError(
                "in a mixed network most_probable is answered for all variables together; ask posterior(…) for some."
            )
        case = self._case(given, list(net._gaussian), memory_in_bytes(max_memory))
        discrete, evidence, scale = case.joined(peaks=True)
        states: dict[str, Any] = {}
        log_joint = scale
        if discrete is not None:
            best = discrete.most_probable(given=evidence, max_memory=max_memory)
            states, log_joint = dict(best), scale + best.log_joint
        numbers: dict[str, float] = {}
        for group in case.groups:
            free = [v for v in group.members if v not in case.known and v < len(net.names)]
            if free:
                at = [net.states[p].index(states[net.names[p]]) for p in group.parents]
                row = int(np.ravel_multi_index(at, [net.cards[p] for p in group.parents])) if at else 0
                means, _ = group.given(case.seen, free)
                numbers |= {net.names[v]: float(means[row, k]) for k, v in enumerate(free)}
        answer = {name: numbers.get(name, states.get(name)) for name in net.names if name in numbers or name in states}
        return MostProbableMixed(answer, log_joint, case.log_evidence)

    def joint(
        self,
        variables: Iterable[str],
        *,
        given: Mapping[str, Any] | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> Joint | RealJoint:
        """Return the joint distribution of several variables: a table of discrete ones, a mixture of real ones.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> from bayeskit.network import LinearGaussian
        >>> net = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(sd=2, x=1)})
        >>> net.joint(["x", "y"]).covariance
        array([[1., 1.],
               [1., 5.]])
        """
        net, limit = cast("MixedNetwork", self), memory_in_bytes(max_memory)
        names = [variables] if isinstance(variables, str) else list(variables)
        real = [net.index(name) for name in names if net.index(name) in net._gaussian]
        if len(set(names)) < len(names) or not names:
            raise NetworkError(f"joint needs variables that differ; got {names}.")
        if real and len(real) < len(names):
            raise NetworkError(
                "a joint distribution is of discrete variables or of real ones; ask for the real ones given each state "
                "of the discrete ones."
            )
        case = self._case(given, real, limit, [net.index(name) for name in names])
        if not real:
            discrete, evidence, _ = case.joined()
            assert discrete is not None
            return discrete.joint(names, given=evidence, max_memory=max_memory)
        return case.joint(real)

    def entropy(
        self,
        variables: str | Iterable[str] | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        base: float | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> float:
        """Return the entropy of discrete variables, or the differential entropy of one real variable.

        That of a normal is exact; that of a mixture is an integral over one axis, to about ten digits. That of several
        real variables is given where their joint distribution is one normal, and refused by name otherwise.
        """
        names = _names(cast("MixedNetwork", self), variables)
        return _of_answer(self._asked(names, given, max_memory)) / _unit(base)

    def mutual_information(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        *,
        given: Mapping[str, Any] | None = None,
        base: float | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> float:
        r"""Return the mutual information of discrete variables, of real ones, or of a discrete and a real one.

        For a real x and discrete y it is :math:`h(x) - \sum_y P(y)\, h(x \mid y)`; see `entropy` for what is exact.
        """
        net = cast("MixedNetwork", self)
        first, second = _names(net, x), _names(net, y)
        if set(first) & set(second):
            raise NetworkError(f"x and y must differ; both have {sorted(set(first) & set(second))[0]!r}.")
        kinds = [{net.index(name) in net._gaussian for name in names} for names in (first, second)]
        if any(len(kind) > 1 for kind in kinds):
            raise NetworkError("x and y must each be discrete variables or real ones.")
        if kinds[0] == kinds[1]:
            parts = [self._asked(names, given, max_memory) for names in (first, second, [*first, *second])]
            one, two, both = map(_of_answer, parts)
            return float(max(0.0, one + two - both)) / _unit(base)
        real, discrete = (first, second) if True in kinds[0] else (second, first)
        total = _of_answer(self._asked(real, given, max_memory))
        table = cast(Any, self._asked(discrete, given, max_memory)).array
        for place in np.ndindex(table.shape):
            if table[place] > 0:
                here = {name: net.states[net.index(name)][k] for name, k in zip(discrete, place, strict=True)}
                total -= table[place] * _of_answer(self._asked(real, {**(given or {}), **here}, max_memory))
        return float(max(0.0, total)) / _unit(base)

    def _asked(self, names: list[str], given: Mapping[str, Any] | None, max_memory: Memory) -> Any:
        net = cast("MixedNetwork", self)
        if len(names) == 1:
            return net.posterior(names[0], given=given, max_memory=max_memory)
        return self.joint(names, given=given, max_memory=max_memory)


def _names(net: MixedNetwork, variables: str | Iterable[str] | None) -> list[str]:
    names = [variables] if isinstance(variables, str) else list(net.names if variables is None else variables)
    for name in names:
        net.index(name)
    return names


def _unit(base: float | None) -> float:
    if base is None:
        return 1.0
    if not base > 1:
        raise NetworkError(f"base must be above 1; got {base!r}.")
    return log(base)


def _of_answer(answer: Any) -> float:
    """Return the entropy of a posterior or a joint distribution, in nats."""
    if isinstance(answer, RealPosterior | RealJoint):
        return answer.entropy
    p = np.asarray(answer.array)[np.asarray(answer.array) > 0]
    return float(-(p * np.log(p)).sum())
