"""Baum–Welch: expected counts of hidden states in the one EM loop, from several starts, for one or more sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.history import History
from bayeskit.io.expect import expect_field
from bayeskit.kinds import Estimation
from bayeskit.mixture.start import k_means_plus_plus, seed_rows
from bayeskit.progress import Progress
from bayeskit.result import Result
from bayeskit.sequence.beliefs import Allowed, ChainBeliefs
from bayeskit.sequence.counts import SequenceCounts
from bayeskit.sequence.expected import ExpectedCounts, HiddenRows
from bayeskit.sequence.passes import Passes

Matrix = NDArray[np.float64]

# Of a row that has no label in a partly labelled table, this much is spread over all states in the start, so that no
# value is impossible in any.
_UNLABELLED_SHARE = 0.1
# Rows whose distances to the seeds are computed at once.
_START_ROWS = 1 << 16


@dataclass(frozen=True, repr=False)
class Candidate(Result):
    """A number of states that was tried, with its log-likelihood and BIC; smaller is better."""

    n_states: int
    log_likelihood: float
    n_parameters: int
    bic: float


@dataclass(frozen=True)
class Record:
    """How learning went: nothing but the log-likelihood where all states are known."""

    history: History | None
    selection: tuple[Candidate, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what goes into a model file."""
        return {
            "history": None if self.history is None else self.history.to_json(),
            "selection": [[c.n_states, c.log_likelihood, c.n_parameters, c.bic] for c in self.selection],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """Read what :meth:`to_json` gave."""
        history = data["history"]
        selection = tuple(
            Candidate(int(k), float(log), int(free), float(bic))
            for k, log, free, bic in expect_field(data, "selection", list)
        )
        return cls(None if history is None else History.from_json(history), selection)


@dataclass(frozen=True)
class Estimated:
    """Expected counts and the probabilities that they give."""

    counts: SequenceCounts
    beliefs: ChainBeliefs


@dataclass(frozen=True)
class Climb:
    """The settings of EM."""

    estimation: Estimation
    allowed: Callable[[int], Allowed]  # number of states → what is possible
    in_order: bool  # states follow one another, so that a start cuts each sequence into parts
    n_init: int
    tol: float
    max_iter: int
    limit: float
    progress: Progress | None = None


class HiddenSequences:
    """Sequences whose states are hidden, or known in some rows only, as EM learns from them."""

    def __init__(
        self, rows: HiddenRows, offsets: NDArray[np.int64], states: NDArray[np.int64] | None, settings: Climb
    ) -> None:
        self.rows, self.offsets, self.states, self.settings = rows, offsets, states, settings

    def passes(self, beliefs: ChainBeliefs) -> Passes:
        """Return the passes over these rows under some probabilities."""

        def density(begin: int, end: int) -> Matrix:
            logs = beliefs.log_density(self.rows.block(begin, end))
            return keep_known(logs, None if self.states is None else self.states[begin:end])

        return Passes(beliefs.log_start, beliefs.log_step, density, self.offsets, self.settings.limit)

    def climb(self, k: int, base: int) -> tuple[Estimated, History, float]:
        """Fit k states; return them, the history and the log-likelihood."""
        allowed, settings = self.settings.allowed(k), self.settings

        def believed(counts: SequenceCounts) -> Estimated:
            return Estimated(counts, ChainBeliefs.of(counts, settings.estimation, allowed))

        def penalty(now: Estimated) -> float:
            return now.beliefs.log_penalty(now.counts, settings.estimation, allowed)

        def expect(now: Estimated) -> tuple[SequenceCounts, float]:
            total, log = ExpectedCounts(self.rows, k, now.counts), 0.0
            for block in self.passes(now.beliefs).smoothed(count=True):
                total.add(block.begin, block.end, block.states)
                total.n_start += block.n_start
                total.n_step += block.n_step
                log += float(block.log_evidence.sum())
            return total.total(), log + penalty(now)

        starts = [believed(counts) for counts in self.starts(k, base)]
        penalty(starts[0])  # refuses what EM cannot use before it starts
        result = expectation_maximisation(
            starts,
            expect,
            believed,
            tol=settings.tol * self.rows.n_rows,
            max_iter=settings.max_iter,
            restarts=True,
            progress=settings.progress,
        )
        best: Estimated = result.parameters
        return best, result.history, result.history.objective[-1] - penalty(best)

    def choose(self, most: int, base: int) -> tuple[Estimated, History, tuple[Candidate, ...]]:
        """Try 1, 2, … states and keep the number with the least BIC; three in a row that are no better end it."""
        tried: list[Candidate] = []
        best: tuple[float, Estimated, History] | None = None
        since = 0
        for k in range(1, most + 1):
            estimated, history, log = self.climb(k, base)
            tried.append(self.candidate(estimated.beliefs, log))
            since += 1
            if best is None or tried[-1].bic < best[0]:
                best, since = (tried[-1].bic, estimated, history), 0
            if since == 3:
                break
        assert best is not None
        return best[1], best[2], tuple(tried)

    def candidate(self, beliefs: ChainBeliefs, log: float) -> Candidate:
        """Return a number of states with its BIC, −2 log L + ln N · free parameters."""
        k, free = beliefs.n_states, beliefs.n_parameters(self.settings.allowed(beliefs.n_states))
        return Candidate(k, log, free, float(np.log(self.rows.n_rows)) * free - 2.0 * log)

    # -- starts -----------------------------------------------------------------------------------------------------

    def starts(self, k: int, base: int) -> Iterator[SequenceCounts]:
        """Yield expected counts to begin with."""
        if self.states is not None:
            yield self._from_labels(k)
            return
        if k == 1:
            yield self._counted(k, lambda begin, end: np.ones((end - begin, 1)), np.random.default_rng(base))
            return
        for start in range(self.settings.n_init):
            rng = np.random.default_rng([base, k, start])
            if self.settings.in_order:
                share = self._by_position(k, rng if start else None)
            else:
                share = (self._around_seeds(k, rng) if start % 2 == 0 else None) or self._at_random(k, rng)
            yield self._counted(k, share, rng)

    def _counted(self, k: int, share: Callable[[int, int], Matrix], rng: np.random.Generator) -> SequenceCounts:
        total = ExpectedCounts(self.rows, k)
        for begin in range(0, self.rows.n_rows, _START_ROWS):
            end = min(begin + _START_ROWS, self.rows.n_rows)
            total.add(begin, end, share(begin, end))
        # A state lasts for some rows, and may be followed by any that is allowed.
        weight = 0.5 * np.eye(k) + 0.5 * rng.dirichlet(np.ones(k), size=k)
        total.n_step += total.n_class[:, None] * weight
        total.n_start += (len(self.offsets) - 1) / k
        return total.total()

    def _from_labels(self, k: int) -> SequenceCounts:
        assert self.states is not None
        states, total = self.states, ExpectedCounts(self.rows, k)
        for begin in range(0, self.rows.n_rows, _START_ROWS):
            block = states[begin : begin + _START_ROWS]
            share = np.full((len(block), k), _UNLABELLED_SHARE / k)
            known = np.flatnonzero(block >= 0)
            share[known] = np.eye(k)[block[known]]
            total.add(begin, begin + len(block), share)
        both = np.flatnonzero((states[:-1] >= 0) & (states[1:] >= 0))
        both = both[~np.isin(both + 1, self.offsets)]
        np.add.at(total.n_step, (states[both], states[both + 1]), 1.0)
        first = states[self.offsets[:-1]]
        total.n_start += np.bincount(first[first >= 0], minlength=k) + 1.0 / k
        total.n_step += 1.0 / k
        return total.total()

    def _by_position(self, k: int, rng: np.random.Generator | None) -> Callable[[int, int], Matrix]:
        """Share rows by where they lie in their sequence: the first part to the first state, and so on."""
        cuts = np.arange(1, k) / k
        if rng is not None:
            cuts = np.sort(rng.random(k - 1))
        lengths = np.diff(self.offsets)

        def share(begin: int, end: int) -> Matrix:
            places = np.arange(begin, end)
            s = np.searchsorted(self.offsets, places, side="right") - 1
            state = np.searchsorted(cuts, (places - self.offsets[s] + 0.5) / lengths[s])
            return np.asarray(0.9 * np.eye(k)[state] + 0.1 / k)

        return share

    def _features(self, begin: int, end: int) -> tuple[list[NDArray[np.int64]], list[Matrix]]:
        """Return codes, −1 where unknown, and numbers in deviations, 0 where unknown."""
        schema, rows = self.rows.schema, self.rows
        codes = []
        for j, size in zip(schema.discrete, rows.sizes, strict=True):
            column = rows.columns[j][begin:end].astype(np.int64)
            codes.append(np.where(column < size, column, -1))
        numbers = []
        for place, values in enumerate(rows.numbers):
            apart = values[begin:end] - rows.mean[place]
            numbers.append(np.nan_to_num(apart / self._deviation[place]))
        return codes, numbers

    @cached_property
    def _deviation(self) -> list[float]:
        deviations = [float(np.nanstd(c)) if np.isfinite(c).any() else 1.0 for c in self.rows.numbers]
        return [d or 1.0 for d in deviations]

    def _around_seeds(self, k: int, rng: np.random.Generator) -> Callable[[int, int], Matrix] | None:
        """Share rows by their distance from rows that k-means++ draws; None where too few rows are distinct."""
        n = min(self.rows.n_rows, 1 << 20)
        codes, numbers = self._features(0, n)
        line = np.zeros(n)
        for column, size in zip(codes, self.rows.sizes, strict=True):
            line += np.append(rng.normal(size=size), 0.0)[column]
        for each in numbers:
            line += rng.normal() * each
        chosen, weight = seed_rows(line, None)
        near_codes, near_numbers = [c[chosen] for c in codes], [x[chosen] for x in numbers]

        def distances(codes: Any, numbers: Any, i: int) -> Matrix:
            apart = np.zeros(len((codes or numbers)[0]))
            for column, near in zip(codes, near_codes, strict=True):
                apart += (column != near[i]) & (column >= 0) & (near[i] >= 0)
            for number, near_number in zip(numbers, near_numbers, strict=True):
                apart += (number - near_number[i]) ** 2
            return apart

        try:
            seeds = k_means_plus_plus(lambda i: distances(near_codes, near_numbers, i), weight, k, rng)
        except BayeskitError:
            return None  # fewer distinct rows than states

        def share(begin: int, end: int) -> Matrix:
            features = self._features(begin, end)
            return _softmax(-2.0 * np.column_stack([distances(*features, i) for i in seeds]))

        return share

    def _at_random(self, k: int, rng: np.random.Generator) -> Callable[[int, int], Matrix]:
        """Share rows by a random score of each value and number."""
        tables = [np.vstack([rng.normal(scale=2.0, size=(size, k)), np.zeros(k)]) for size in self.rows.sizes]
        slopes = [rng.normal(scale=2.0, size=k) for _ in self.rows.numbers]

        def share(begin: int, end: int) -> Matrix:
            codes, numbers = self._features(begin, end)
            score = np.zeros((end - begin, k))
            for column, table in zip(codes, tables, strict=True):
                score += table[column]
            for number, slope in zip(numbers, slopes, strict=True):
                score += number[:, None] * slope
            return _softmax(score)

        return share


def keep_known(logs: Matrix, states: NDArray[np.int64] | None) -> Matrix:
    """Return log P(x | state) in which a known state rules out the others."""
    if states is None:
        return logs
    known = np.flatnonzero(states >= 0)
    log_known = logs[known, states[known]]
    logs[known] = -np.inf
    logs[known, states[known]] = log_known
    return logs


def _softmax(score: Matrix) -> Matrix:
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
