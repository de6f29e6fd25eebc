"""Exact answers of two-layer noisy-OR networks: causes above, findings below, as in medical diagnosis.

One running table over the open causes and findings is enough, and it needs no table of a finding given all its causes.
Findings that are absent make no causes depend on each other, and causes with one positive finding fold into its leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import plan_two_layers, posterior_two_layers
from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.cpd.causes import IndependentCauses, without_effect
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.tree_size import LargeTablesError

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Floats = NDArray[np.float64]
# Tries for a good layout; they end when they have cost half of what the best one will.
TRIES = 20_000
SEED = 0
# Cells that an answer may go through: about a minute on one core.
MOST_WORK = 2.0**36
# The running table, its counterpart of the backward sweep and a copy of each.
TABLES_AT_ONCE = 4
# A difference from 1 below this has lost digits; it is then found as a sum of its own.
LOST = 1e-4


@dataclass(frozen=True, eq=False)
class _Finding:
    """The links of one finding: causes that may bring it about, and with which probability."""

    causes: NDArray[np.int64]
    chance: Floats
    log_no_leak: float
    absent: int  # its state without any effect


@dataclass(frozen=True, eq=False)
class TwoLayers:
    """The causes and findings of a network that stand in two layers; other variables are not asked about here."""

    net: BayesianNetwork
    present: dict[int, int]  # cause → its state that has effects
    findings: dict[int, _Finding]

    @classmethod
    def of(cls, net: BayesianNetwork) -> TwoLayers | None:
        """Return the two layers of a network, or None where it has no finding of several causes."""
        present: dict[int, int] = {}
        read = {i: _finding(net, i, present) for i in range(len(net.names))}
        findings = {i: finding for i, finding in read.items() if finding is not None}
        return cls(net, present, findings) if any(len(f.causes) > 1 for f in findings.values()) else None

    @cached_property
    def n_links(self) -> int:
        """The links of all findings."""
        return sum(len(finding.causes) for finding in self.findings.values())

    def answers(self, wanted: list[int], evidence: Evidence) -> bool:
        """Return whether the question is about these two layers only."""
        known = not evidence.likelihoods and not evidence.marginals
        inside = all(self._is_root(v) or v in self.findings for v in evidence.states)
        # One finding takes two runs; many of them are left to the general engine.
        asked = [v for v in wanted if v not in evidence.states and not self._is_root(v)]
        return known and inside and (not asked or (len(wanted) == 1 and asked[0] in self.findings))

    def _is_root(self, v: int) -> bool:
        return not self.net.parents[v]

    def posteriors(self, wanted: list[int], evidence: Evidence, limit: float) -> tuple[list[Floats], float]:
        """Return P(variable | evidence) of each, and log P(evidence)."""
        net, out = self.net, []
        by_cause, log_z = self._run(evidence, limit)
        for v in wanted:
            if v in evidence.states:
                out.append(np.eye(net.cards[v])[evidence.states[v]])
            elif v in self.present:
                p = np.empty(2)
                p[self.present[v]], p[1 - self.present[v]] = by_cause[v]
                out.append(p)
            elif self._is_root(v):  # no cause of any finding: nothing was learned of it
                out.append(net.cpds[v].values / net.cpds[v].values.sum())
            else:
                logs = [self._run(Evidence({**evidence.states, v: state}), limit, refuse=False)[1] for state in (0, 1)]
                values = np.array([exp(each - log_z) for each in logs])
                out.append(values / values.sum())
        return out, log_z

    def _run(
        self, evidence: Evidence, limit: float, *, refuse: bool = True
    ) -> tuple[dict[int, tuple[float, float]], float]:
        """Return the pair P(cause is there), P(it is not) of each cause, and log P(evidence)."""
        case = _Case(self, evidence)
        answer, log_z = case.solve(limit)
        for v, state in evidence.states.items():
            if v not in self.present and v not in self.findings:
                p = self.net.cpds[v].values
                log_z += log(p[state] / p.sum()) if p[state] > 0 else -inf
        if log_z == -inf and refuse:
            raise ImpossibleEvidenceError("the findings cannot occur together under this network.")
        return answer, log_z


def _finding(net: BayesianNetwork, i: int, present: dict[int, int]) -> _Finding | None:
    """Return variable i as a finding, if it is a noisy-OR of causes without parents; note which states have effects."""
    cpd, above = net.cpds[i], net.parents[i]
    if not isinstance(cpd, IndependentCauses) or cpd.combine != "max" or cpd.shape[-1] != 2:
        return None
    if any(net.parents[p] or net.cards[p] != 2 for p in above):
        return None
    without = [np.flatnonzero(without_effect(link)) for link in cpd.links]
    if any(not len(states) for states in without):
        return None  # a cause that has effects in both states is left to the general engine
    states = [1 - int(each[0]) for each in without]
    if any(present.get(p, state) != state for p, state in zip(above, states, strict=True)):
        return None
    present.update(zip(above, states, strict=True))
    chance = np.array([link[s, 1] for link, s in zip(cpd.links, states, strict=True)])
    with np.errstate(divide="ignore"):
        # A leak far below rounding is still what makes a finding possible.
        no_leak = float(np.log1p(-cpd.leak[1]) if cpd.leak[1] < 0.5 else np.log(cpd.leak[0]))
    return _Finding(np.array(above, dtype=np.int64), chance, no_leak, cpd.order[0])


class _Case:
    """One set of findings: what is left after those that are absent and the causes that are known."""

    def __init__(self, layers: TwoLayers, evidence: Evidence) -> None:
        self.layers, self.states = layers, evidence.states
        net = layers.net
        self.causes = list(layers.present)
        self.place = {v: k for k, v in enumerate(self.causes)}
        tables = [net.cpds[v].values / net.cpds[v].values.sum() for v in self.causes]
        on = np.array([t[layers.present[v]] for v, t in zip(self.causes, tables, strict=True)])
        off = np.array([t[1 - layers.present[v]] for v, t in zip(self.causes, tables, strict=True)])
        for k, v in enumerate(self.causes):
            if v in self.states:
                there = self.states[v] == layers.present[v]
                on[k], off[k] = (on[k], 0.0) if there else (0.0, off[k])
        with np.errstate(divide="ignore"):
            self.log_on, self.log_off = np.log(on), np.log(off)

    def _links(self, f: int) -> tuple[NDArray[np.int64], Floats]:
        finding = self.layers.findings[f]
        return np.array([self.place[int(c)] for c in finding.causes], dtype=np.int64), finding.chance

    def solve(self, limit: float) -> tuple[dict[int, tuple[float, float]], float]:
        findings = self.layers.findings
        seen = [f for f in self.states if f in findings]
        log_z = 0.0
        for f in seen:
            if self.states[f] == findings[f].absent:
                at, q = self._links(f)
                with np.errstate(divide="ignore"):
                    self.log_on[at] += np.log1p(-q)  # each cause is named once in a finding
                log_z += findings[f].log_no_leak
        each = np.logaddexp(self.log_on, self.log_off)
        log_z += float(each.sum())
        if not np.isfinite(log_z):
            return {}, -inf
        on, off = np.exp(self.log_on - each), np.exp(self.log_off - each)
        positive = [f for f in seen if self.states[f] != findings[f].absent]
        if not positive:
            return self._pairs(on, off), log_z
        more = self._couple(positive, on, off, limit)
        return ({}, -inf) if more == -inf else (self._pairs(self.on, self.off), log_z + more)

    def _pairs(self, on: Floats, off: Floats) -> dict[int, tuple[float, float]]:
        return {v: (float(on[k]), float(off[k])) for k, v in enumerate(self.causes)}

    def _couple(self, positive: list[int], on: Floats, off: Floats, limit: float) -> float:
        """Join the positive findings; return the logarithm of their probability, and leave the posteriors in place."""
        links = [(k, *self._links(f)) for k, f in enumerate(positive)]
        finding = np.concatenate([np.full(len(at), k) for k, at, _ in links])
        cause = np.concatenate([at for _, at, _ in links])
        chance = np.concatenate([q for _, _, q in links])
        used = (on[cause] > 0.0) & (chance > 0.0)
        finding, cause, chance = finding[used], cause[used], chance[used]
        n_links = np.bincount(cause, minlength=len(on))
        # A cause that is certain, or that has one positive finding only, becomes part of the leak.
        alone = (n_links[cause] == 1) | (off[cause] == 0.0)
        log_none = np.array([self.layers.findings[f].log_no_leak for f in positive])
        with np.errstate(divide="ignore"):
            np.add.at(log_none, finding[alone], np.log1p(-on[cause[alone]] * chance[alone]))
        leak = -np.expm1(log_none)
        coupled = (finding[~alone], cause[~alone], chance[~alone])
        log_p, posterior, slope = self._sweep(*coupled, on, leak, limit)
        if log_p == -inf:
            return -inf
        self.on, self.off = on.copy(), off.copy()
        for k, p in posterior.items():
            self.on[k], self.off[k] = p, max(1.0 - p, 0.0)
            if self.off[k] < LOST:
                left = ~alone & (cause != k)
                without, *_ = self._sweep(finding[left], cause[left], chance[left], on, leak, limit)
                self.off[k] = off[k] * exp(without - log_p)
        for f in np.unique(finding[alone]):
            here = alone & (finding == f)
            rest = max(1.0 - slope[f] * leak[f], 0.0)
            if rest < LOST:
                by_others, *_ = self._sweep(*coupled, on, np.where(np.arange(len(leak)) == f, 0.0, leak), limit)
                rest = exp(by_others - log_p)
            no_leak = self.layers.findings[positive[f]].log_no_leak
            self._fold(cause[here], chance[here], no_leak, rest, slope[f])
        return log_p

    def _fold(self, cause: NDArray[np.int64], chance: Floats, log_no_leak: float, rest: float, slope: float) -> None:
        """Put the posteriors of the causes in place that are part of one finding's leak.

        P(findings) is linear in that leak: ``rest + slope · leak`` of it; the leak with or without a cause is known.
        """
        on, off = self.on[cause], self.off[cause]
        with np.errstate(divide="ignore"):
            fails, silent = np.log1p(-on * chance), np.log1p(-chance)
        # Sums before and after each: a cause is left out without being subtracted.
        before = np.concatenate([[log_no_leak], log_no_leak + np.cumsum(fails)[:-1]])
        after = np.concatenate([np.cumsum(fails[::-1])[::-1][1:], [0.0]])
        others = before + after
        open_ones = off > 0.0
        self.on[cause] = np.where(open_ones, on * (rest - slope * np.expm1(others + silent)), on)
        self.off[cause] = np.where(open_ones, off * (rest - slope * np.expm1(others)), off)

    def _sweep(
        self,
        finding: NDArray[np.int64],
        cause: NDArray[np.int64],
        chance: Floats,
        on: Floats,
        leak: Floats,
        limit: float,
    ) -> tuple[float, dict[int, float], Floats]:
        """Return log P(positive findings), P(cause | them) of the coupled causes, and d log P / d leak."""
        slope, log_p = np.zeros(len(leak)), 0.0
        joined, here = np.unique(finding, return_inverse=True)
        for f in set(range(len(leak))) - set(joined.tolist()):
            if not leak[f] > 0.0:
                return -inf, {}, slope
            slope[f] = 1.0 / leak[f]
            log_p += log(leak[f])
        if not len(joined):
            return log_p, {}, slope
        causes, place = np.unique(cause, return_inverse=True)
        disease, found = place.reshape(-1).tolist(), here.reshape(-1).tolist()
        order, work, peak = plan_two_layers(len(causes), len(joined), disease, found, TRIES, SEED)
        _refuse(work, peak, limit, len(joined))
        log_z, posterior, slopes = posterior_two_layers(
            on[causes].tolist(), leak[joined].tolist(), disease, found, chance.tolist(), order, limit / 4.0
        )
        slope[joined] = slopes
        return log_p + log_z, {int(k): float(p) for k, p in zip(causes, posterior, strict=True)}, slope


def _refuse(work: float, peak: int, limit: float, n_findings: int) -> None:
    needed = TABLES_AT_ONCE * 8.0 * 2.0**peak
    if needed <= limit and work <= MOST_WORK:
        return
    raise LargeTablesError(
        f"the exact answer for {n_findings} positive findings needs a running table over {peak} variables (2^{peak} "
        f"cells, {needed / 2**30:.3g} GiB) and goes through {work:.3g} cells."
    )
