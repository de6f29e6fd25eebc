"""Why a variable has its posterior: which finding moved it how far, and along which way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.answer_tables import SHOWN, FrameOf, frame_of, text_table
from bayeskit.network.infer.answers import Posterior
from bayeskit.network.infer.tree_size import advise
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Finding(Result):
    """What one finding did to the probability of a state.

    Attributes
    ----------
    variable : str
        The variable that was observed.
    value : object
        What is known of it.
    probability : float
        P(state) with this finding and all before it.
    log_odds : float
        The change of the log-odds that it made; above 0 it speaks for the state.
    path : tuple of str
        A shortest open trail from it to the variable, given the findings before it; empty where there is none.
    """

    variable: str
    value: Any
    probability: float
    log_odds: float
    path: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class NetworkExplanation(Result):
    """The findings in the order in which they moved a probability most.

    Attributes
    ----------
    variable, state : str
        What is explained.
    prior, probability : float
        P(state) without any finding, and with all of them.
    findings : tuple of Finding
        Each is the one that moved the log-odds most, given those before it; their changes add up exactly.
    """

    variable: str
    state: str
    prior: float
    probability: float
    findings: tuple[Finding, ...]

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per finding."""
        columns = {
            "finding": [f"{each.variable} = {each.value}" for each in self.findings],
            "P": [each.probability for each in self.findings],
            "log_odds": [each.log_odds for each in self.findings],
            "path": [" - ".join(each.path) for each in self.findings],
        }
        return frame_of(columns, output)

    def __repr__(self) -> str:
        rows = [("(nothing known)", f"{self.prior:.4g}", "", "")]
        rows += [
            (
                f"{each.variable} = {each.value}",
                f"{each.probability:.4g}",
                f"{each.log_odds:+.3f}",
                " - ".join(each.path),
            )
            for each in self.findings[:SHOWN]
        ]
        return text_table(
            ("finding", f"P({self.variable}={self.state})", "log-odds", "path"), rows, len(self.findings) + 1
        )


class ExplainsAnswers:
    """Explanations of posteriors."""

    @advise("Give fewer findings, or more of the network.")
    def explain(
        self,
        variable: str,
        *,
        given: Mapping[str, Any],
        state: str | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> NetworkExplanation:
        """Return which finding moved the probability of a state how far, exact, in the order of most effect.

        The first finding is the one that alone moves the log-odds most; each further one moves them most given those
        before it. The changes add up to the change from prior to posterior. With k findings this takes about k²/2
        questions.

        Parameters
        ----------
        variable : str
            The variable whose posterior is explained.
        given : mapping
            The evidence, as for `posterior`.
        state : str, optional
            Its state; by default the most probable one given all evidence.
        max_memory : number of bytes or str
            As for `posterior`.

        Examples
        --------
        >>> from bayeskit import datasets
        >>> asia = datasets.load_asia()
        >>> asia.explain("lung", given={"smoke": "yes", "xray": "yes", "dysp": "no"}, state="yes")
        finding          P(lung=yes)  log-odds  path
        (nothing known)  0.055
        xray = yes       0.4887       +2.799    xray - either - lung
        dysp = no        0.2523       -1.041    dysp - either - lung
        smoke = yes      0.4338       +0.820    smoke - lung
        """
        net = cast("BayesianNetwork", self)
        target = net.index(variable)
        if not given or not isinstance(given, Mapping):
            raise NetworkError("explain needs at least one finding: given={'smoke': 'yes'}.")
        if variable in given or not net.cards[target]:
            why = "part of the evidence" if variable in given else "real"
            raise NetworkError(f"{variable!r} is {why}; explain takes an unobserved discrete variable.")

        def ask(known: Mapping[str, Any]) -> Posterior:
            return net.posterior(variable, given=dict(known), max_memory=max_memory)

        last = ask(given)
        k = int(last.array.argmax()) if state is None else net.state(variable, state)
        named, prior = net.states[target][k], ask({}).array
        known: dict[str, Any] = {}
        findings: list[Finding] = []
        now = prior
        while len(known) < len(given):
            left = [name for name in given if name not in known]
            after = {name: ask({**known, name: given[name]}).array for name in left}
            moved = {name: _change(now, after[name], k) for name in left}
            name = max(left, key=lambda name: abs(moved[name]))
            trail = dag.open_trail(net.parents, [net.index(name)], [target], [net.index(each) for each in known])
            path = tuple(net.names[v] for v in trail or ())
            findings.append(Finding(name, given[name], float(after[name][k]), moved[name], path))
            known[name], now = given[name], after[name]
        return NetworkExplanation(variable, named, float(prior[k]), float(now[k]), tuple(findings))


def _change(before: Floats, after: Floats, k: int) -> float:
    """Return the change of the log-odds of state k; 0 where a certain probability stays certain."""
    a, b = _log_odds(before, k), _log_odds(after, k)
    return 0.0 if a == b else b - a


def _log_odds(p: Floats, k: int) -> float:
    # The others are summed: 1 - p[k] is 0 long before they are.
    for_it, against = float(p[k]), float(np.delete(p, k).sum())
    return -inf if for_it <= 0 else inf if against <= 0 else log(for_it) - log(against)
