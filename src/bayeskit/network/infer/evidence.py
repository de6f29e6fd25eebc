"""Evidence: states, sets of states, likelihoods or soft evidence, checked before any computation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# A marginal must sum to 1 within this; it is then divided by its sum.
MARGINAL_TOLERANCE = 1e-6


class Marginal:
    """Soft evidence (Jeffrey's rule): the distribution that the variable has after the evidence.

    A likelihood gives the strength of the evidence and is combined by Bayes' rule; a marginal fixes the
    posterior of the variable itself.

    Examples
    --------
    >>> Marginal({"yes": 0.7, "no": 0.3})
    Marginal({'yes': 0.7, 'no': 0.3})
    """

    def __init__(self, values: Mapping[Any, float] | Sequence[float] | NDArray[Any]) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"Marginal({self.values!r})"


@dataclass
class Evidence:
    """Evidence as positions of variables and states.

    Attributes
    ----------
    states : dict of variable to state
        Observed variables.
    likelihoods : dict of variable to float64 array (n_states,)
        Variables with a likelihood; 0 and 1 mark a set of states.
    marginals : dict of variable to float64 array (n_states,)
        Variables with soft evidence: the distribution that each has afterwards.
    """

    states: dict[int, int] = field(default_factory=dict)
    likelihoods: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    marginals: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def arguments(self) -> tuple[list[int], list[int], list[int], list[NDArray[np.float64]]]:
        """Return observed variables, their states, variables with a likelihood, and the likelihoods."""
        return list(self.states), list(self.states.values()), list(self.likelihoods), list(self.likelihoods.values())

    def with_likelihoods(self, more: Mapping[int, NDArray[np.float64]]) -> Evidence:
        """Return the evidence with more likelihoods multiplied in, and no soft evidence left."""
        likelihoods = dict(self.likelihoods)
        for v, values in more.items():
            likelihoods[v] = likelihoods[v] * values if v in likelihoods else values
        return Evidence(dict(self.states), likelihoods)

    def only(self, variables: Collection[int]) -> Evidence:
        """Return the evidence on these variables, without soft evidence."""
        return Evidence(
            {v: state for v, state in self.states.items() if v in variables},
            {v: values for v, values in self.likelihoods.items() if v in variables},
        )

    def __bool__(self) -> bool:
        return bool(self.states or self.likelihoods or self.marginals)


def read_evidence(net: BayesianNetwork, given: Mapping[str, Any] | None, codes: bool = False) -> Evidence:
    """Read evidence from a mapping of variable to what is known of it.

    A text or a number is a state; a set, or a list of texts, is a set of states; a mapping of state to number, or
    one number per state, is a likelihood; a `Marginal` is soft evidence. With ``codes`` a whole number, and each one
    in a set, is a state's position instead.
    """
    evidence = Evidence()
    if not given:
        return evidence
    if not isinstance(given, Mapping):
        raise NetworkError(f"given must map variables to what is known of them, as {{'smoke': 'yes'}}; got {given!r}.")
    if codes:
        given = {name: _decoded(net, name, value) for name, value in given.items()}
    for name, value in given.items():
        v = net.index(name)
        if isinstance(value, str):
            # Most evidence is the name of a state, and small questions take microseconds.
            place = net._state_places[v].get(value)
            evidence.states[v] = net.state(name, value) if place is None else place
        elif isinstance(value, Marginal):
            vector = _of_sum_1(read_vector(net, name, value.values, "marginal"), name, "marginal")
            if vector.max() == 1.0:  # a certain marginal is an observation
                evidence.states[v] = int(vector.argmax())
            else:
                evidence.marginals[v] = vector
        elif _is_set(value):
            _add_set(evidence, net, name, list(value))
        elif isinstance(value, Mapping) or _is_vector(value):
            vector = read_vector(net, name, value, "likelihood")
            if not vector.max() > 0:
                raise NetworkError(f"likelihood of {name!r}: at least one state needs a number above 0; got {value!r}.")
            evidence.likelihoods[v] = vector
        else:
            evidence.states[v] = net.state(name, value)
    return evidence


def read_hard_evidence(
    net: BayesianNetwork, given: Mapping[str, Any] | None, question: str, target: int | None = None
) -> Evidence:
    """Read the evidence of a question that takes no `Marginal`, and none on its target."""
    evidence = read_evidence(net, given)
    if evidence.marginals:
        raise NetworkError(f"{question} takes states, sets of states and likelihoods as evidence, not a Marginal.")
    if target in evidence.states:
        raise NetworkError(f"{net.names[target]!r} is part of the evidence, so there is nothing to decide about it.")
    return evidence


def _decoded(net: BayesianNetwork, name: str, value: Any) -> Any:
    """Return what is known of a variable with states in place of their positions."""
    if isinstance(value, (set, frozenset)):
        return {_decoded(net, name, item) for item in value}
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        return value
    states = net.states[net.index(name)]
    if not 0 <= value < len(states):
        raise NetworkError(
            f"variable {name!r} has no state at position {value}; positions go from 0 to {len(states) - 1}."
        )
    return states[value]


def _is_set(value: Any) -> bool:
    if isinstance(value, (set, frozenset)):
        return True
    return isinstance(value, (list, tuple)) and (not value or any(isinstance(item, str) for item in value))


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _add_set(evidence: Evidence, net: BayesianNetwork, name: str, values: list[Any]) -> None:
    v = net.index(name)
    if not values:
        raise NetworkError(f"evidence on {name!r} is an empty set of states; give at least one state.")
    states = {net.state(name, value) for value in values}
    if len(states) == 1:
        evidence.states[v] = states.pop()
    elif len(states) < net.cards[v]:
        vector = np.zeros(net.cards[v])
        vector[sorted(states)] = 1.0
        evidence.likelihoods[v] = vector


def _of_sum_1(vector: NDArray[np.float64], name: str, what: str) -> NDArray[np.float64]:
    total = vector.sum()
    if abs(total - 1.0) > MARGINAL_TOLERANCE:
        raise NetworkError(f"{what} of {name!r} sums to {total:.6g}; it must sum to 1 within {MARGINAL_TOLERANCE:g}.")
    return np.asarray(vector / total)


def read_vector(net: BayesianNetwork, name: str, value: Any, what: str) -> NDArray[np.float64]:
    """Return one number of at least 0 per state, from a mapping of states or from that many numbers."""
    v = net.index(name)
    if isinstance(value, Mapping):
        vector = np.zeros(net.cards[v])
        for state, number in value.items():
            vector[net.state(name, state)] = _number(number, name, what)
    else:
        if np.ndim(value) != 1 or len(value) != net.cards[v]:
            raise NetworkError(
                f"{what} of {name!r} needs one number per state, {net.cards[v]} for {', '.join(net.states[v][:8])}; "
                f"got shape {np.shape(value)}."
            )
        vector = np.array([_number(number, name, what) for number in value])
    if not (np.isfinite(vector).all() and (vector >= 0).all()):
        raise NetworkError(f"{what} of {name!r} must hold finite numbers of at least 0; got {value!r}.")
    return vector


def distribution(net: BayesianNetwork, name: str, value: Any) -> NDArray[np.float64]:
    """Return the distribution that an action gives a variable: all on one state, or one number per state."""
    if isinstance(value, Mapping) or (_is_vector(value) and not _is_set(value)):
        return _of_sum_1(read_vector(net, name, value, "distribution"), name, "distribution")
    if _is_set(value) or isinstance(value, Marginal):
        raise NetworkError(f"do sets {name!r} to one state or to a distribution; got {value!r}.")
    return np.asarray(np.eye(net.cards[net.index(name)])[net.state(name, value)])


def _number(value: Any, name: str, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise NetworkError(f"{what} of {name!r} must hold numbers; got {value!r}.") from None


def describe(net: BayesianNetwork, evidence: Evidence, v: int) -> str:
    """Return the evidence on a variable as text."""
    name = net.names[v]
    if v in evidence.states:
        return f"{name}={net.states[v][evidence.states[v]]}"
    values = evidence.likelihoods.get(v, evidence.marginals.get(v))
    assert values is not None
    if v in evidence.likelihoods and set(values.tolist()) <= {0.0, 1.0}:
        states = [net.states[v][k] for k in np.flatnonzero(values)]
        return f"{name} in {{{', '.join(states)}}}"
    return f"the {'likelihood' if v in evidence.likelihoods else 'marginal'} of {name}"
