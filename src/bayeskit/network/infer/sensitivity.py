"""Sensitivity: how far one number of a table may change before a decision changes (van der Gaag & Renooij 2001)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.decide.loss import read_loss
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network import dag
from bayeskit.network.answer_tables import SHOWN, FrameOf, frame_of, text_table
from bayeskit.network.cpd.distribution import table_fits
from bayeskit.network.infer.evidence import Evidence, read_hard_evidence
from bayeskit.network.infer.exact import memory_in_bytes
from bayeskit.network.infer.tree_size import advise
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Table = NDArray[np.float64]
# A number whose slope is not above this is left out, and a limit as near to 0 or 1 is none.
NO_EFFECT = 1e-12


@dataclass(frozen=True, repr=False)
class Number(Result):
    """One number of a table and its effect on a decision.

    Attributes
    ----------
    variable, state : str
        The number is P(variable = state | given).
    given : dict
        The parents' states of its row.
    value : float
        Its value in the table.
    low, high : float
        The decision stays the same while the number is between these; 0 and 1 where it never changes.
    slope : float
        The derivative of the probability of the decided state (of the most probable one, where a loss decides).
    probability : float
        That probability.
    bend : float
        The derivative of P(evidence) over P(evidence): the denominator of the probability, a ratio of two linear
        functions.
    """

    variable: str
    state: str
    given: dict[str, str]
    value: float
    low: float
    high: float
    slope: float
    probability: float = 0.0
    bend: float = 0.0

    def probability_at(self, value: float) -> float:
        """Return the probability when the number has another value; exact, not a linear approximation.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("ill->test", tables={"ill": [0.9, 0.1], "test": [[0.95, 0.05], [0.1, 0.9]]})
        >>> number = next(n for n in net.sensitivity("ill", given={"test": "yes"}) if str(n) == "P(ill=yes)")
        >>> round(number.probability_at(0.2), 6), round(0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.05), 6)
        (0.818182, 0.818182)
        """
        step = value - self.value
        evidence = 1.0 + self.bend * step
        if evidence <= 0:
            return self.probability  # the evidence is impossible there
        moved = self.probability + (self.slope + self.probability * self.bend) * step
        return min(max(moved / evidence, 0.0), 1.0)

    @property
    def room(self) -> float:
        """How far the number may change before the decision changes; infinite where it never does."""
        below = self.value - self.low if self.low > 0 else float("inf")
        above = self.high - self.value if self.high < 1 else float("inf")
        return min(below, above)

    def __str__(self) -> str:
        row = ", ".join(f"{name}={state}" for name, state in self.given.items())
        return f"P({self.variable}={self.state}{' | ' + row if row else ''})"


@dataclass(frozen=True, repr=False)
class Sensitivity(Result):
    """The numbers of a network, ordered by how small a change of each changes the decision.

    Attributes
    ----------
    decision : str
        What is decided: the most probable state, or the action of least expected loss.
    state : str
        The most probable state.
    probability : float
        Its probability.
    numbers : tuple of Number
        Those that matter, the nearest first.
    left_out : tuple of str
        Variables whose tables were not examined, since a form of so many parents has no table that fits into memory.
    """

    decision: str
    state: str
    probability: float
    numbers: tuple[Number, ...]
    left_out: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Number]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per number."""
        fields = ("value", "low", "high", "slope")
        columns = {name: [getattr(number, name) for number in self.numbers] for name in fields}
        return frame_of({"number": list(map(str, self.numbers)), **columns}, output)

    def plot(self, ax: Any = None, *, change: float = 0.1, most: int = 12) -> Any:
        """Draw the tornado: how far the probability moves when each number changes, the widest bar on top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        change : float, default 0.1
            Each number is made smaller and larger by this share of itself; what would leave 0 … 1 stops there.
        most : int, default 12
            The numbers shown: those that move the probability most.
        """
        from bayeskit.plot.tornado import tornado

        if not 0.0 < change <= 1.0 or most < 1:
            raise NetworkError(f"change must be above 0 and at most 1, most at least 1; got {change!r} and {most!r}.")
        bars: list[tuple[Any, ...]] = [
            (str(number), *(number.probability_at(min(number.value * (1.0 + s * change), 1.0)) for s in (-1.0, 1.0)))
            for number in self.numbers
        ]
        bars = sorted(bars, key=lambda bar: -abs(bar[2] - bar[1]))[:most]
        labels, below, above = (list(column) for column in zip(*bars, strict=True)) if bars else ([], [], [])
        # Where a loss decides, the probability is still that of the most probable state.
        return tornado(labels, below, above, self.probability, f"P({self.state}), each number ±{change:.0%}", ax)

    def __repr__(self) -> str:
        rows = []
        for number in self.numbers[:SHOWN]:
            low = f"{number.low:.6g}" if number.low > 0 else "-"
            high = f"{number.high:.6g}" if number.high < 1 else "-"
            rows.append((str(number), f"{number.value:.6g}", low, high, f"{number.slope:.6g}"))
        of_state = "" if self.decision == self.state else f"({self.state})"
        head = f"decision: {self.decision} (P{of_state} = {self.probability:.6g})\n"
        tail = f"\nnot examined, as the table is too large: {', '.join(self.left_out)}" if self.left_out else ""
        titles = ("number", "value", "turns below", "turns above", "slope")
        return head + text_table(titles, rows, len(self.numbers)) + tail


class SensitivityQueries:
    """How far a network's numbers may change; mixed into `BayesianNetwork`."""

    @advise("Name fewer tables, or give more evidence.")
    def sensitivity(
        self,
        variable: str,
        *,
        given: Mapping[str, Any] | None = None,
        loss: Any = None,
        tables: str | Iterable[str] | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> Sensitivity:
        """Return how far each probability of the network may change before the decision about a variable changes.

        One number :math:`P(x | u)` changes at a time and the others of its row are rescaled in proportion. The
        posterior is then a ratio of two linear functions of it, so that the limits are exact.

        Parameters
        ----------
        variable : str
            The variable that is decided about.
        given : mapping, optional
            Evidence, as for `posterior`, without soft evidence.
        loss : matrix, dict or frame, optional
            Losses by true state and action, as in `bayeskit.decide`; without, the most probable state is decided.
        tables : list of str, optional
            The variables whose tables are examined; by default all that can matter, without forms of too many parents
            for a table, which ``left_out`` of the result names.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("ill->test", tables={"ill": [0.9, 0.1], "test": [[0.95, 0.05], [0.1, 0.9]]})
        >>> net.sensitivity("ill", given={"test": "yes"})
        decision: yes (P = 0.666667)
        number                 value  turns below  turns above  slope
        P(ill=no)              0.9    -            0.947368     -2.46914
        P(ill=yes)             0.1    0.0526316    -            2.46914
        P(test=no | ill=no)    0.95   0.9          -            4.44444
        P(test=yes | ill=no)   0.05   -            0.1          -4.44444
        P(test=no | ill=yes)   0.1    -            0.55         -0.246914
        P(test=yes | ill=yes)  0.9    0.45         -            0.246914
        """
        net, limit = cast("BayesianNetwork", self), memory_in_bytes(max_memory)
        target = net.index(variable)
        evidence = read_hard_evidence(net, given, "sensitivity", target)
        rule = read_loss(loss, list(net.states[target]))
        posterior, _ = net._engine.single(target, evidence, limit)
        decided = int((posterior @ rule.matrix).argmin())
        log_evidence = net._engine.log_evidence(evidence, limit) if evidence else 0.0
        examined = dag.ancestors(net.parents, {target, *evidence.states, *evidence.likelihoods})
        if tables is not None:
            examined &= set(net._places_of(tables))
        wide = {v for v in examined if not table_fits(net.cpds[v].shape)}
        if tables is not None and wide:
            raise TooLargeError(
                f"sensitivity examines full tables, and that of {net.names[min(wide)]!r}, a {net.cpds[min(wide)]!r}, "
                "does not fit into memory; leave it out of tables=."
            )
        numbers: list[Number] = []
        for v in sorted(examined - wide):
            joint = _without_its_table(net, target, v, given, evidence, log_evidence, limit)
            numbers += _numbers_of(net, v, joint, posterior, rule.matrix, decided)
        numbers.sort(key=lambda number: (round(number.room, 12), -round(abs(number.slope), 9)))
        best = int(posterior.argmax())
        left_out = tuple(net.names[v] for v in sorted(wide))
        return Sensitivity(
            str(rule.actions[decided]), net.states[target][best], float(posterior[best]), tuple(numbers), left_out
        )


def _without_its_table(
    net: BayesianNetwork,
    target: int,
    v: int,
    given: Mapping[str, Any] | None,
    evidence: Evidence,
    log_evidence: float,
    limit: float,
) -> Table:
    """Return P(t, u, x, e) / (P(x | u) P(e)), of shape (states of the target, rows of v's table, states of v)."""
    card = net.cards[v]
    # With a uniform table the quotient is the joint probability times the number of states, also where P(x | u) is 0.
    flat = net.with_table(net.names[v], np.full(net.cpds[v].shape, 1.0 / card))
    family = [*net.parents[v], v]
    others = [u for u in family if u != target]
    joint = flat.joint([net.names[target], *(net.names[u] for u in others)], given=given, max_memory=limit).array
    shift = (flat._engine.log_evidence(evidence, limit) if evidence else 0.0) - log_evidence
    joint = joint * (card * exp(shift))
    if target in family:  # its own axis in the family is the same variable
        axis = family.index(target) + 1
        wide = np.zeros([net.cards[target], *(net.cards[u] for u in family)])
        for t in range(net.cards[target]):
            np.moveaxis(wide, axis, 1)[t, t] = joint[t]
        joint = wide
    return np.asarray(joint.reshape(net.cards[target], -1, card))


def _numbers_of(
    net: BayesianNetwork, v: int, joint: Table, posterior: Table, loss: Table, decided: int
) -> Iterator[Number]:
    table = (net.cpds[v].values / net.cpds[v].values.sum(axis=-1, keepdims=True)).reshape(-1, net.cards[v])
    shape = tuple(net.cards[p] for p in net.parents[v])
    best = int(posterior.argmax())
    for r in range(len(table)):
        if not joint[:, r].any():
            continue
        place = np.unravel_index(r, shape) if shape else ()
        row = {net.names[p]: net.states[p][int(k)] for p, k in zip(net.parents[v], place, strict=True)}
        for k in range(net.cards[v] if net.cards[v] > 1 else 0):
            value, change = float(table[r, k]), _change(joint[:, r], table[r], k)
            slopes = change - posterior * change.sum()  # of the posterior; evidence may only become rarer as a whole
            if abs(slopes).max() <= NO_EFFECT:
                continue
            low, high = _interval(posterior @ loss, change @ loss, decided, value)
            effect = map(float, (slopes[best], posterior[best], change.sum()))
            yield Number(net.names[v], net.states[v][k], row, value, low, high, *effect)


def _change(joint: Table, row: Table, k: int) -> Table:
    """Return d P(t, e) / dθ over P(e), for θ = P(x = k | u), the rest of the row in proportion; (target's states,)."""
    others = np.delete(row, k)
    rest = others / others.sum() if others.sum() > 0 else np.full(len(others), 1.0 / len(others))
    return np.asarray(joint[:, k] - np.delete(joint, k, axis=1) @ rest)


def _interval(risk: Table, change: Table, decided: int, value: float) -> tuple[float, float]:
    """Return between which values of the number the decided action keeps the least risk; risks are linear in it."""
    low, high = 0.0, 1.0
    for gap, slope in zip(risk - risk[decided], change - change[decided], strict=True):
        if slope > 0:
            low = max(low, value - max(gap, 0.0) / slope)
        elif slope < 0:
            high = min(high, value - max(gap, 0.0) / slope)
    # At the very end of its range a number turns nothing; rounding may say so.
    return (low if low > NO_EFFECT else 0.0), (high if high < 1.0 - NO_EFFECT else 1.0)
