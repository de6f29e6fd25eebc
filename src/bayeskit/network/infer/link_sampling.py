"""Answers by sampling where a discrete variable has real parents that are not known, each with its standard error.

What lies above every such link is sampled from its exact distribution given the evidence there; the links and what lies
below them are then sampled parents before children, weighted by the probability of the evidence on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ImpossibleEvidenceError, NetworkError
from bayeskit.network import dag
from bayeskit.network.cpd.gaussian import GaussianCPD, LinearGaussian
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.cpd.table import uniform_table
from bayeskit.network.infer.answers import Posterior, Quality
from bayeskit.network.infer.evidence import read_evidence
from bayeskit.network.infer.real_answers import RealPosterior
from bayeskit.network.infer.sampled_real import SampledReal
from bayeskit.network.infer.sampling_effort import SampledMarginals, SamplingEffort, good_enough, warn_if_short

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]
Columns = dict[int, NDArray[Any]]
# Rows sampled at once.
CHUNK = 1 << 15
# Numbers of a real variable are kept, so that its quantiles can be found; no more than this many.
MOST_KEPT = 1 << 21
# Tries for each accepted case.
MOST_TRIES = 20_000


class LinkedCase:
    """A question that is answered by sampling: the network, what is known, and what is asked.

    Parameters
    ----------
    net : MixedNetwork
        Of which only the links are left whose real parents are not known.
    given : mapping
        All evidence, by name.
    limit : float
        The bytes that the exact part may take.
    plain : bool
        Sample all variables parents before children, also those above the links.
    """

    def __init__(self, net: MixedNetwork, given: Mapping[str, Any], limit: float, plain: bool = False) -> None:
        self.net, self.limit = net, limit
        self.order = dag.topological_order(net.parents)
        self.below = set(range(len(net.names))) if plain else _descendants(net, net._links)
        self.above = {name: value for name, value in given.items() if net.index(name) not in self.below}
        here = {name: value for name, value in given.items() if net.index(name) in self.below}
        self.numbers = {net.index(n): float(x) for n, x in here.items() if n in net.real and not _is_reading(x)}
        self.readings = {net.index(n): x for n, x in here.items() if n in net.real and _is_reading(x)}
        discrete = {name: value for name, value in here.items() if name not in net.real}
        self.likelihood: dict[int, Floats] = {}
        if discrete:
            container = net._discrete
            assert container is not None
            read = read_evidence(container, discrete)
            if read.marginals:
                raise NetworkError(
                    "soft evidence (Marginal) below a link with real parents has no exact answer; give a likelihood."
                )
            for v, state in read.states.items():
                self.likelihood[net.index(container.names[v])] = np.eye(container.cards[v])[state]
            for v, values in read.likelihoods.items():
                self.likelihood[net.index(container.names[v])] = values
        self.upper = _blanked(net, self.below)

    def chunk(self, n: int, seed: int) -> tuple[Columns, dict[int, Floats], Floats]:
        """Return sampled codes and numbers, rows of probabilities of discrete variables, and log-weights."""
        net, values = self.net, cast("Columns", {})
        if len(self.below) < len(net.names):
            codes, numbers = self.upper._sampled(n, seed, self.above, self.limit)
            values |= {v: x for v, x in numbers.items() if v not in self.below}
            values |= {net.index(name): column for name, column in codes.items() if net.index(name) not in self.below}
        rows, log = {}, np.zeros(n)
        for v in self.order:
            if v not in self.below:
                continue
            d, x = family_values(net, v, values, n)
            rng, cpd = np.random.default_rng([seed, v]), net.cpds[v]
            if isinstance(cpd, GaussianCPD):
                values[v] = self._number(v, cpd, d, x, rng, log)
            else:
                p = cpd.rows_given(d, x) if isinstance(cpd, LinkCPD) else cpd.rows(d)
                if v in self.likelihood:
                    p = p * self.likelihood[v]
                    total = p.sum(axis=1)
                    with np.errstate(divide="ignore"):
                        log += np.log(total)
                    p = np.where(total[:, None] > 0, p / np.where(total > 0, total, 1.0)[:, None], 1.0 / p.shape[1])
                rows[v] = p
                values[v] = np.minimum(
                    (rng.random(n)[:, None] >= p.cumsum(axis=1)).sum(axis=1), p.shape[1] - 1, dtype=np.int64
                )
        return values, rows, log

    def _number(
        self, v: int, cpd: GaussianCPD, d: NDArray[np.int64], x: Floats, rng: np.random.Generator, log: Floats
    ) -> Floats:
        if v in self.numbers:
            y = np.full(len(log), self.numbers[v])
            log += cpd.log_density(y, d, x)
            return y
        at = cpd.configuration(d)
        y = cpd.intercept[at] + (cpd.slope[at] * x).sum(axis=1) + cpd.sd[at] * rng.standard_normal(len(log))
        if v in self.readings:
            z = (self.readings[v].mean - y) / self.readings[v].sd
            log += -0.5 * z * z - np.log(self.readings[v].sd * np.sqrt(2.0 * np.pi))
        return np.asarray(y)

    def posteriors(self, wanted: list[int], effort: SamplingEffort) -> dict[str, Posterior | RealPosterior]:
        """Return the distribution of each variable, with its standard error."""
        sums = _Sums(self, wanted)
        # Numbers are kept, so where some are asked for there is a largest number of samples.
        most = min(effort.most, MOST_KEPT) if sums.kept else effort.most
        done = 0
        while done < most:
            n = min(CHUNK, most - done)
            seed = int(np.random.SeedSequence([effort.random_state, done // CHUNK]).generate_state(1)[0])
            sums.add(*self.chunk(n, seed))
            done += n
            if effort.error is not None and sums.total[0] > 0:
                sampled = sums.marginals(done)
                if good_enough(sampled, np.ones(len(sampled.values), dtype=bool), effort.error):
                    return sums.answers(sampled)
        if not sums.total[0] > 0:
            raise ImpossibleEvidenceError(
                f"none of {done} samples agrees with the evidence: it is impossible or very rare; take more samples "
                "(n_samples)."
            )
        sampled = sums.marginals(done)
        warn_if_short(sampled, np.ones(len(sampled.values), dtype=bool), effort)
        return sums.answers(sampled)

    def cases(self, n: int, seed: int) -> Columns:
        """Return n independent cases given the evidence, by rejection."""
        top = sum(float(np.log(values.max())) for values in self.likelihood.values())
        top += sum(self._peak(v) for v in self.numbers)
        top += sum(-float(np.log(each.sd * np.sqrt(2.0 * np.pi))) for each in self.readings.values())
        parts: list[Columns] = [{v: column[:0] for v, column in self.chunk(1, seed)[0].items()}]
        accepted = tried = 0
        while accepted < n:
            here = int(np.random.SeedSequence([seed, tried // CHUNK]).generate_state(1)[0])
            values, _, log = self.chunk(CHUNK, here)
            kept = np.flatnonzero(np.log(np.random.default_rng([here, len(values)]).random(CHUNK)) <= log - top)
            parts.append({v: column[kept] for v, column in values.items()})
            accepted, tried = accepted + len(kept), tried + CHUNK
            if tried >= MOST_TRIES * max(n, 100) and accepted < n:
                raise NetworkError(
                    f"only {accepted} of {tried} samples agree with the evidence, so {n} cases would take too long; "
                    "give less evidence below the discrete variables with real parents."
                )
        return {v: np.concatenate([part[v] for part in parts])[:n] for v in parts[0]}

    def _peak(self, v: int) -> float:
        cpd = self.net._gaussian[v]
        return -float(np.log(cpd.sd.min() * np.sqrt(2.0 * np.pi)))


class _Sums:
    """Sums over weighted samples; weights are in units of e^unit, so that small ones are not lost."""

    def __init__(self, case: LinkedCase, wanted: list[int]) -> None:
        self.case, self.net = case, case.net
        self.discrete = [v for v in wanted if v not in self.net._gaussian]
        self.real = [v for v in wanted if v in self.net._gaussian]
        self.kept = bool(self.real)
        seen = [*case.likelihood, *case.numbers, *case.readings]
        # The weight of a sample does not depend on the state of a variable that no evidence depends on.
        weighed = dag.ancestors(self.net.parents, [p for v in seen for p in self.net.parents[v]])
        self.by_row = {v for v in self.discrete if v in case.below and v not in weighed}
        self.unit, self.total = -np.inf, np.zeros(2)
        cells = sum(self.net.cards[v] for v in self.discrete)
        self.first, self.second, self.cross = np.zeros(cells), np.zeros(cells), np.zeros(cells)
        self.log_weights: list[Floats] = []
        self.numbers: dict[int, list[Floats]] = {v: [] for v in self.real}

    def add(self, values: Columns, rows: Mapping[int, Floats], log: Floats) -> None:
        """Add some samples."""
        if self.kept:
            self.log_weights.append(log)
            for v in self.real:
                self.numbers[v].append(values[v])
        top = float(log.max())
        if top == -np.inf:
            return
        if top > self.unit:
            shrink = np.exp(self.unit - top) if self.total[0] > 0 else 0.0
            self.total *= [shrink, shrink**2]
            self.first *= shrink
            self.second *= shrink**2
            self.cross *= shrink**2
            self.unit = top
        w = np.exp(log - self.unit)
        self.total += [w.sum(), (w * w).sum()]
        at = 0
        for v in self.discrete:
            card = self.net.cards[v]
            f = rows[v] if v in self.by_row else np.eye(card)[values[v]]
            self.first[at : at + card] += w @ f
            self.second[at : at + card] += (w * w) @ (f * f)
            self.cross[at : at + card] += (w * w) @ f
            at += card

    def marginals(self, n: int) -> SampledMarginals:
        """Return the estimates with the error of a ratio of means (Owen, Monte Carlo theory, section 9.2)."""
        weight, squared = self.total
        effective = weight * weight / squared
        p = self.first / weight
        variance = np.maximum(self.second - 2.0 * p * self.cross + p * p * squared, 0.0) / (weight * weight)
        exact_rows = np.concatenate(
            [np.zeros(0, dtype=bool), *(np.full(self.net.cards[v], v in self.by_row) for v in self.discrete)]
        )
        # Where all samples agree the formula gives 0, though a rare state may just not have come up.
        error = np.maximum(np.sqrt(variance), np.where(exact_rows, 0.0, 1.0 / effective))
        return SampledMarginals(p, error, Quality("weighting", n, float(effective)))

    def answers(self, sampled: SampledMarginals) -> dict[str, Posterior | RealPosterior]:
        """Return one posterior per variable."""
        out: dict[str, Posterior | RealPosterior] = {}
        at, net = 0, self.net
        for v in self.discrete:
            part = slice(at, at + net.cards[v])
            out[net.names[v]] = Posterior(
                net.names[v], net.states[v], sampled.values[part], sampled.standard_error[part], sampled.quality
            )
            at += net.cards[v]
        if self.kept:
            log = np.concatenate(self.log_weights)
            weights = np.exp(log - self.unit)
            for v in self.real:
                numbers = np.concatenate(self.numbers[v])
                known = v in self.case.numbers or bool((numbers == numbers[0]).all())
                if known:
                    out[net.names[v]] = RealPosterior(net.names[v], np.ones(1), numbers[:1], np.zeros(1))
                else:
                    out[net.names[v]] = SampledReal(net.names[v], weights, numbers, sampled.quality)
        return out


def settled(net: MixedNetwork, given: Mapping[str, Any], wanted: Iterable[int]) -> MixedNetwork:
    """Return the network with fewer links: those that do not matter are cut, those of known numbers become tables."""
    if not net._links:
        return net
    known = {v: float(cpd.intercept[0]) for v, cpd in net._gaussian.items() if cpd.is_point}
    known |= {net.index(n): float(x) for n, x in given.items() if n in net.real and not _is_reading(x)}
    asked = {*wanted, *map(net.index, given)}
    matter = dag.ancestors(net.parents, asked) | asked
    parents, cpds = list(net.parents), list(net.cpds)
    for v, cpd in net._links.items():
        real = [net.parents[v][k] for k in cpd.real]
        if v not in matter:
            parents[v], cpds[v] = (), uniform_table(net.cards[v])
        elif all(p in known for p in real):
            parents[v] = tuple(net.parents[v][k] for k in cpd.discrete)
            cpds[v] = cpd.given_numbers([known[p] for p in real])
    return cast("MixedNetwork", net._like(net.names, net.states, parents, cpds, net.schema, net.target))


def not_exact(net: MixedNetwork) -> NetworkError:
    """Return the refusal of an exact answer."""
    v, cpd = next(iter(net._links.items()))
    parent = net.names[net.parents[v][cpd.real[0]]]
    return NetworkError(
        f"{net.names[v]!r} is discrete and has the real parent {parent!r}, whose number is not known, so there is no "
        "exact answer; posterior(…) and sample(…) are answered by sampling."
    )


def family_values(
    net: MixedNetwork, v: int, values: Mapping[int, NDArray[Any]], n: int
) -> tuple[NDArray[np.int64], Floats]:
    """Return the codes of the discrete parents of a variable, (n, k), and the numbers of its real ones, (n, m)."""
    above = net.parents[v]
    d = [values[p].astype(np.int64) for p in above if net.cards[p]]
    x = [values[p] for p in above if not net.cards[p]]
    return (
        np.stack(d, axis=1) if d else np.zeros((n, 0), dtype=np.int64),
        np.stack(x, axis=1) if x else np.zeros((n, 0)),
    )


def _is_reading(value: Any) -> bool:
    return isinstance(value, LinearGaussian)


def _descendants(net: MixedNetwork, start: Mapping[int, Any]) -> set[int]:
    reached, waiting = set(start), list(start)
    while waiting:
        for child in net.children[waiting.pop()]:
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    return reached


def _blanked(net: MixedNetwork, below: set[int]) -> MixedNetwork:
    """Return the network in which these variables have no parents, and say nothing of others."""
    parents, cpds = list(net.parents), list(net.cpds)
    for v in below:
        blank = GaussianCPD((), np.zeros(1), np.zeros((1, 0)), np.ones(1))
        parents[v], cpds[v] = (), blank if v in net._gaussian else uniform_table(net.cards[v])
    return cast("MixedNetwork", net._like(net.names, net.states, parents, cpds, net.schema, net.target))
