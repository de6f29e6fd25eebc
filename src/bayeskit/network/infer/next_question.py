"""What to observe next: the mutual information of each unobserved variable and a target, and its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.decide.loss import read_loss
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence, read_hard_evidence
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.tree_size import advise
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


class NextQuestion:
    """What to observe next; mixed into `BayesianNetwork`."""

    @advise("Give more evidence.")
    def questions(
        self,
        variable: str,
        *,
        given: Mapping[str, Any] | None = None,
        loss: Any = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> list[Question]:
        r"""Return the value of information of each unobserved variable for a target, the most useful first.

        .. math:: V(X) = \min_a R(a \mid e) - \sum_x P(x \mid e) \min_a R(a \mid e, x)

        Parameters
        ----------
        variable : str
            The variable to decide about.
        given : mapping, optional
            Evidence, as for `posterior`, without soft evidence.
        loss : matrix, dict or frame, optional
            Losses by true state and action; without, any error costs 1. Where no observation can change the
            decision, all values are 0 and they are ordered by mutual information.

        Examples
        --------
        >>> from bayeskit import datasets
        >>> first, *_ = datasets.load_asia().questions("lung", given={"dysp": "yes"})
        >>> first.variable, round(first.information, 4)
        ('either', 0.2807)
        """
        net, limit = cast("BayesianNetwork", self), memory_in_bytes(max_memory)
        target, engine = net.index(variable), net._engine
        evidence = read_hard_evidence(net, given, "questions", target)
        rule = read_loss(loss, list(net.states[target]))
        prior, _ = engine.single(target, evidence, limit)
        possible = np.flatnonzero(prior > 0)
        others = evidence.only(set(range(len(net.names))) - {target})
        rows: list[Table] = []  # P(all states | target = t, evidence), for each t that is possible
        for t in possible.tolist():
            try:
                rows.append(engine.marginals(Evidence({**others.states, target: t}, others.likelihoods), limit)[0])
            except ImpossibleEvidenceError:  # a posterior of 1e-320 may be rounding
                rows.append(np.zeros(sum(net.cards)))
        by_target, weight = np.array(rows), prior[possible]
        before = float((prior @ rule.matrix).min())
        ranked = []
        for v, name in enumerate(net.names):
            if v == target or v in evidence.states:
                continue
            joint = by_target[:, engine.offsets[v] : engine.offsets[v + 1]] * weight[:, None]  # P(t, x | e)
            after = float((joint.T @ rule.matrix[possible]).min(axis=1).sum())
            ranked.append(Question(name, _information(joint), max(before - after, 0.0)))
        return sorted(ranked, key=lambda question: (-round(question.value, 12), -round(question.information, 12)))


def _information(joint: Table) -> float:
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    there = joint > 0
    return max(float((joint[there] * np.log(joint[there] / outer[there])).sum()), 0.0)
