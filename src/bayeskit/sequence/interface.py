"""The interface algorithm: messages over the variables that the next slice depends on, slice after slice.

The network of one slice is compiled once by the exact engine; the message from the past is a likelihood of its
variable ``before``, the message from the future one of ``after``. Nothing grows with the number of slices but what is
asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.network import BayesianNetwork
from bayeskit.sequence.slices import Template

Matrix = NDArray[np.float64]
Actions = Mapping[int, Mapping[str, int]]  # time → variable → state


@dataclass(frozen=True)
class Message:
    """What the rows so far say: P(interface | rows), and for each variable of the slice P(x | rows)."""

    interface: Matrix
    slices: list[dict[str, Matrix]]  # of the first slices all, later one at a time
    log_evidence: float


class Interface:
    """Questions about one sequence of a dynamic network.

    Parameters
    ----------
    template : Template
        The network.
    rows : int array of shape (n_slices, n_variables)
        State codes; −1 where a cell is not known.
    actions : dict of time to dict of variable to state, optional
        Interventions: at that time the variable is set, whatever its parents.
    networks : dict, optional
        Networks of slices that were compiled for other sequences of the same template; new ones are added.
    """

    def __init__(
        self,
        template: Template,
        rows: NDArray[np.int64],
        actions: Actions | None = None,
        networks: dict[Any, BayesianNetwork] | None = None,
    ) -> None:
        self.template, self.rows, self.actions = template, rows, dict(actions or {})
        self._networks = {} if networks is None else networks
        self.n_first = min(template.order, len(rows))

    # -- networks ---------------------------------------------------------------------------------------------------

    def _first(self) -> BayesianNetwork:
        acted = tuple((f"{v}[{t}]", s) for t in range(self.template.order) for v, s in self.actions.get(t, {}).items())
        return self._network("first", acted)

    def _step(self, t: int) -> BayesianNetwork:
        return self._network("step", tuple((f"{v}[t]", s) for v, s in self.actions.get(t, {}).items()))

    def _network(self, kind: str, acted: tuple[tuple[str, int], ...]) -> BayesianNetwork:
        key = kind, acted
        if key not in self._networks:
            plain = self._networks.get((kind, ()))
            if plain is None:
                template = self.template
                plain = template.first_network() if kind == "first" else template.step_network()
                self._networks[kind, ()] = plain
            if acted:
                plain = plain.do({name: plain.states[plain.index(name)][state] for name, state in acted})
            self._networks[key] = plain
        return self._networks[key]

    def _first_evidence(self, net: BayesianNetwork, upto: int) -> Evidence:
        evidence = Evidence()
        for t in range(min(upto, self.n_first)):
            self._observe(evidence, net, t, str(t))
        return evidence

    def _observe(self, evidence: Evidence, net: BayesianNetwork, t: int, label: str) -> None:
        acted = self.actions.get(t, {})
        for name, code in zip(self.template.names, self.rows[t].tolist(), strict=True):
            if code >= 0 and name not in acted:
                evidence.states[net.index(f"{name}[{label}]")] = code

    def _step_evidence(self, net: BayesianNetwork, t: int, before: Matrix | None, after: Matrix | None) -> Evidence:
        evidence = Evidence()
        if t < len(self.rows):
            self._observe(evidence, net, t, "t")
        if before is not None:
            evidence.likelihoods[net.index("before")] = before
        if after is not None:
            evidence.likelihoods[net.index("after")] = after
        return evidence

    def _marginals(self, net: BayesianNetwork, evidence: Evidence, t: int) -> tuple[Matrix, float]:
        try:
            return net._engine.marginals(evidence)
        except ImpossibleEvidenceError:
            raise ImpossibleEvidenceError(
                f"row {t}: the evidence up to here has probability 0 under the network."
            ) from None

    @staticmethod
    def _of(net: BayesianNetwork, values: Matrix, name: str) -> Matrix:
        v = net.index(name)
        offsets = net._engine.offsets
        return np.asarray(values[offsets[v] : offsets[v + 1]])

    def _slice(self, net: BayesianNetwork, values: Matrix, label: str) -> dict[str, Matrix]:
        return {name: self._of(net, values, f"{name}[{label}]") for name in self.template.names}

    # -- passes -----------------------------------------------------------------------------------------------------

    def start(self) -> Message:
        """Return the message after the first slices."""
        net = self._first()
        slices = []
        log = 0.0
        values = np.empty(0)
        for t in range(self.n_first):
            values, log = self._marginals(net, self._first_evidence(net, t + 1), t)
            slices.append(self._slice(net, values, str(t)))
        return Message(self._of(net, values, "after"), slices, log)

    def forward(self) -> Iterator[Message]:
        """Yield the message after the first slices, then after each slice: memory does not grow with their number."""
        message = self.start()
        yield message
        for t in range(self.template.order, len(self.rows)):
            message = self.step(message.interface, t)
            yield message

    def step(self, before: Matrix, t: int) -> Message:
        """Return the message after slice t, given P(interface before it); beyond the rows nothing is observed."""
        net = self._step(t)
        values, log = self._marginals(net, self._step_evidence(net, t, before, None), t)
        # The interface before has a uniform prior in the network, which is taken out here.
        log_evidence = log + float(np.log(len(before)))
        return Message(self._of(net, values, "after"), [self._slice(net, values, "t")], log_evidence)

    def smoothed(self) -> list[dict[str, Matrix]]:
        """Return P(x | all rows) of each variable and slice."""
        order = self.template.order
        messages = list(self.forward())
        later: list[dict[str, Matrix]] = []
        after: Matrix | None = None
        for t in range(len(self.rows) - 1, order - 1, -1):
            before = messages[t - order].interface
            net = self._step(t)
            values, _ = self._marginals(net, self._step_evidence(net, t, before, after), t)
            later.append(self._slice(net, values, "t"))
            after = self._backward(t, after)
        net = self._first()
        evidence = self._first_evidence(net, self.n_first)
        if after is not None:
            evidence.likelihoods[net.index("after")] = after
        values, _ = self._marginals(net, evidence, self.n_first - 1)
        return [self._slice(net, values, str(t)) for t in range(self.n_first)] + later[::-1]

    def _backward(self, t: int, after: Matrix | None) -> Matrix:
        """Return P(rows from t on | interface before t), up to a factor."""
        net = self._step(t)
        values, _ = self._marginals(net, self._step_evidence(net, t, None, after), t)
        return self._of(net, values, "before")

    def lagged(self, lag: int) -> list[dict[str, Matrix]]:
        """Return P(x[t] | rows up to t + lag) of each slice."""
        slices: list[dict[str, Matrix]] = []
        order = self.template.order
        interfaces = [message.interface for message in self.forward()]
        for t in range(len(self.rows)):
            end = min(t + lag, len(self.rows) - 1)
            after: Matrix | None = None
            for u in range(end, max(t, order - 1), -1):
                after = self._backward(u, after)
            if t >= order:
                net = self._step(t)
                evidence = self._step_evidence(net, t, interfaces[t - order], after)
                label = "t"
            else:
                net = self._first()
                evidence = self._first_evidence(net, end + 1)
                if after is not None:
                    evidence.likelihoods[net.index("after")] = after
                label = str(t)
            slices.append(self._slice(net, self._marginals(net, evidence, end)[0], label))
        return slices

    def best_path(self) -> tuple[NDArray[np.int64], float]:
        """Return the most probable states of all variables and slices together, and log P(them)."""
        template, order = self.template, self.template.order
        net = self._first()
        first_best = self._best_of(net, self._first_evidence(net, self.n_first), None)
        back: list[list[tuple[Any, int] | None]] = []
        scores = np.array([-np.inf if each is None else each[1] for each in first_best])
        first_states = [None if each is None else each[0] for each in first_best]
        total = 0.0
        for t in range(order, len(self.rows)):
            peak = scores.max()
            total += float(peak)
            net = self._step(t)
            choice = self._best_of(net, self._step_evidence(net, t, None, None), np.exp(scores - peak))
            here: list[tuple[Any, int] | None] = []
            scores = np.full(len(choice), -np.inf)
            for a, each in enumerate(choice):
                if each is None:
                    here.append(None)
                    continue
                states, log = each
                scores[a] = log + np.log(len(choice))
                here.append((states, states[net.index("before")]))
            back.append(here)
        state = int(scores.argmax())
        log_p = total + float(scores[state])
        path = np.empty((len(self.rows), len(template.names)), dtype=np.int64)
        for t in range(len(self.rows) - 1, order - 1, -1):
            chosen = back[t - order][state]
            assert chosen is not None
            net = self._step(t)
            path[t] = [chosen[0][net.index(f"{name}[t]")] for name in template.names]
            state = int(chosen[1])
        net, best = self._first(), first_states[state]
        assert best is not None
        for t in range(self.n_first):
            path[t] = [best[net.index(f"{name}[{t}]")] for name in template.names]
        return path, log_p

    def _best_of(
        self, net: BayesianNetwork, evidence: Evidence, before: Matrix | None
    ) -> list[tuple[dict[int, int], float] | None]:
        """Return for each state of ``after`` the best states of all variables, and their log-probability."""
        after = net.index("after")
        best: list[tuple[dict[int, int], float] | None] = []
        for a in range(net.cards[after]):
            with_after = Evidence({**evidence.states, after: a}, dict(evidence.likelihoods))
            if before is not None:
                with_after.likelihoods[net.index("before")] = before
            sought = [v for v in range(len(net)) if v not in with_after.states]
            try:
                states, log = net._engine.maximum(sought, with_after)
            except ImpossibleEvidenceError:
                best.append(None)
                continue
            best.append(({**with_after.states, **dict(zip(sought, states, strict=True))}, log))
        if all(each is None for each in best):
            raise ImpossibleEvidenceError("the evidence has probability 0 under the network.")
        return best
