"""Variable elimination in plain sight: the factors that are multiplied and what is summed out, step by step.

The engine behind `posterior` is a junction tree in native code; this is the readable twin that teaches, and that the
tests hold the engine to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ImpossibleEvidenceError, NetworkError, TooLargeError
from bayeskit.network.infer.answers import Posterior
from bayeskit.network.infer.evidence import Evidence, read_hard_evidence
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# A table of more cells is not for reading.
_MOST_CELLS = 1 << 22
# NumPy's arrays have at most 64 axes, of which a product takes one for each variable.
_MOST_AXES = 60


@dataclass(frozen=True, eq=False)
class Factor(Result):
    """A table over some variables: one axis per variable."""

    names: tuple[str, ...]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"f({', '.join(self.names)})"


@dataclass(frozen=True, eq=False)
class EliminationStep(Result):
    """One variable summed out: the factors that hold it, and the factor that takes their place."""

    variable: str
    factors: tuple[Factor, ...]
    result: Factor

    def __repr__(self) -> str:
        return f"Σ_{self.variable} {' · '.join(map(repr, self.factors))} = {self.result!r}"


@dataclass(frozen=True, eq=False)
class Elimination(Result):
    """The posterior of a variable, and the steps to it.

    Attributes
    ----------
    posterior : Posterior
        P(variable | evidence).
    steps : tuple of EliminationStep
        One for each variable that was summed out, in their order.
    last : tuple of Factor
        The factors over the asked variable that were left; their product is P(variable, evidence).
    """

    posterior: Posterior
    steps: tuple[EliminationStep, ...]
    last: tuple[Factor, ...]

    def __repr__(self) -> str:
        name = self.posterior.name
        end = f"P({name}, evidence) = {' · '.join(map(repr, self.last))}"
        return "\n".join([*map(repr, self.steps), end, repr(self.posterior)])


class EliminationQueries:
    """Variable elimination step by step; mixed into `BayesianNetwork`."""

    def elimination(
        self, variable: str, *, given: Mapping[str, Any] | None = None, order: Sequence[str] | None = None
    ) -> Elimination:
        """Return the posterior of one variable by variable elimination, with every step; for reading, not for speed.

        Parameters
        ----------
        variable : str
            What is asked.
        given : mapping, optional
            Evidence: states, sets of states, or likelihoods.
        order : sequence of str, optional
            All other unobserved variables, in the order in which they are summed out; by default the one next whose
            factor is the smallest.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.elimination("wet")
        Σ_rain f(rain) · f(rain, wet) = f(wet)
        P(wet, evidence) = f(wet)
        wet  P
        no   0.74
        yes  0.26
        """
        net = cast("BayesianNetwork", self)
        asked = net.index(variable)
        evidence = read_hard_evidence(net, given, "elimination", asked)
        factors = [_restricted(net, v, evidence) for v in range(len(net.names))]
        factors += [Factor((net.names[v],), values) for v, values in evidence.likelihoods.items()]
        left = [name for v, name in enumerate(net.names) if v != asked and v not in evidence.states]
        if order is not None and sorted(order) != sorted(left):
            raise NetworkError(f"order must name each of {', '.join(left)} once; got {list(order)!r}.")
        steps: list[EliminationStep] = []
        while left:
            name = min(left, key=lambda each: _size(factors, each)) if order is None else order[len(steps)]
            held = tuple(factor for factor in factors if name in factor.names)
            step = EliminationStep(name, held, _sum_out(held, name))
            factors = [factor for factor in factors if name not in factor.names] + [step.result]
            left.remove(name)
            steps.append(step)
        joint = _product([factor for factor in factors if factor.names], (variable,)).values
        joint = joint * np.prod([float(factor.values) for factor in factors if not factor.names])
        if not joint.sum() > 0:
            raise ImpossibleEvidenceError(f"the evidence has probability 0: {dict(given or {})}.")
        posterior = Posterior(variable, net.states[asked], joint / joint.sum(), log_evidence=float(np.log(joint.sum())))
        return Elimination(posterior, tuple(steps), tuple(factors))


def _restricted(net: BayesianNetwork, v: int, evidence: Evidence) -> Factor:
    """Return the table of a variable as a factor, cut to the states that were observed."""
    family = (*net.parents[v], v)
    cut = tuple(evidence.states.get(each, slice(None)) for each in family)
    names = tuple(net.names[each] for each in family if each not in evidence.states)
    return Factor(names, np.asarray(net.tables[v][cut]))


def _size(factors: list[Factor], name: str) -> int:
    sizes = {
        n: k
        for factor in factors
        if name in factor.names
        for n, k in zip(factor.names, factor.values.shape, strict=True)
    }
    return int(np.prod([float(k) for n, k in sizes.items() if n != name]))


def _sum_out(factors: Sequence[Factor], name: str) -> Factor:
    kept = tuple(dict.fromkeys(n for factor in factors for n in factor.names if n != name))
    return _product(factors, kept, summed=(name,))


def _product(factors: Sequence[Factor], kept: tuple[str, ...], summed: tuple[str, ...] = ()) -> Factor:
    """Multiply factors, and sum over the variables that are not kept."""
    names = (*kept, *summed)
    sizes = {n: k for factor in factors for n, k in zip(factor.names, factor.values.shape, strict=True)}
    if len(names) > _MOST_AXES or np.prod([float(sizes[n]) for n in names]) > _MOST_CELLS:
        raise TooLargeError(
            f"summing out {', '.join(summed)} needs a table over {len(names)} variables, more than can be read; use "
            "posterior, or another order."
        )
    values = np.ones([sizes[n] for n in names])
    for factor in factors:
        axes = [names.index(n) for n in factor.names]
        turned = factor.values.transpose(np.argsort(axes)) if axes else factor.values
        values = values * turned.reshape([sizes[n] if k in axes else 1 for k, n in enumerate(names)])
    return Factor(kept, np.asarray(values.sum(axis=tuple(range(len(kept), len(names))))))
