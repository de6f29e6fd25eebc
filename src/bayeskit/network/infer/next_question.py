"""What to observe next: the mutual information of each unobserved variable and a target, and its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import read_loss
from bayeskit.errors import ImpossibleEvidenceError, NetworkError
from bayeskit.network.infer.evidence import Evidence, read_evidence
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Table = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Question(Result):
    """The value of observing one variable.

    Attributes
    ----------
    variable : str
        The variable to observe.
    information : float
        I(target; variable | evidence), in nats: the expected reduction of uncertainty.
    value : float
        The expected reduction of the loss of the best decision about the target.
    """

    variable: str
    information: float
    value: float


def questions(net: BayesianNetwork, variable: str, given: Mapping[str, Any], loss: Any, limit: float) -> list[Question]:
    """Return the value of each unobserved variable for a target, from one propagation per state of the target."""
    target, evidence = net.index(variable), read_evidence(net, given)
    if evidence.marginals:
        raise NetworkError("questions takes states, sets of states and likelihoods as evidence, not a Marginal.")
    if target in evidence.states:
        raise NetworkError(f"{variable!r} is part of the evidence, so nothing can be learned about it.")
    rule = read_loss(loss, list(net.states[target]))
    engine = net._engine
    prior, _ = engine.single(target, evidence, limit)
    rows: list[Table] = []  # P(all states | target = t, evidence), for each t that is possible
    possible = np.flatnonzero(prior > 0)
    rest = {v: values for v, values in evidence.likelihoods.items() if v != target}
    for t in possible.tolist():
        try:
            rows.append(engine.marginals(Evidence({**evidence.states, target: t}, rest), limit)[0])
        except ImpossibleEvidenceError:  # a posterior of 1e-320 may be rounding
            rows.append(np.zeros(sum(net.cards)))
    by_target, weight = np.array(rows), prior[possible]
    before = float((prior @ rule.matrix).min())
    offsets = engine.offsets
    ranked = []
    for v, name in enumerate(net.names):
        if v == target or v in evidence.states:
            continue
        joint = by_target[:, offsets[v] : offsets[v + 1]] * weight[:, None]  # P(t, x | e)
        after = float((joint.T @ rule.matrix[possible]).min(axis=1).sum())
        ranked.append(Question(name, _information(joint), max(before - after, 0.0)))
    return sorted(ranked, key=lambda question: (-round(question.value, 12), -round(question.information, 12)))


def _information(joint: Table) -> float:
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return max(float((joint[there] * np.log(joint[there] / outer[there])).sum()), 0.0)
