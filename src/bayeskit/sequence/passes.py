"""Passes over sequences: filtered and smoothed states and best paths, in blocks where memory is short."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import forward_backward, n_threads, viterbi

Density = Callable[[int, int], NDArray[np.float64]]

Matrix = NDArray[np.float64]


class ImpossibleRow(Exception):  # noqa: N818 - who reads the rows turns it into an error with their names
    """A row that no path of states can give; the argument is its place among all times."""


@dataclass(frozen=True)
class Smoothed:
    """What one block gives: P(state | all rows) of its rows, log P(row | rows before), expected starts and steps."""

    begin: int
    end: int
    states: Matrix  # (n_rows, n_states)
    log_evidence: Matrix  # (n_rows,)
    n_start: Matrix  # (n_states,)
    n_step: Matrix  # (n_states, n_states)


class Passes:
    """Sequences under a chain, row after row.

    Rows are done in one block where ``limit`` bytes allow it. Otherwise the forward pass keeps the states at the border
    of each block only, and the backward pass computes each block again: memory for one block instead of all rows, and
    blocks of no fewer than √n rows.

    Parameters
    ----------
    log_start, log_step : float arrays
        log P(first state) and log P(next state | state).
    density : callable
        (begin, end) → log P(x | state) of these rows, of shape (end − begin, n_states).
    offsets : int array of shape (n_sequences + 1,)
        Where each sequence begins.
    limit : float
        Bytes that the rows of a block may take.
    """

    def __init__(
        self, log_start: Matrix, log_step: Matrix, density: Density, offsets: NDArray[np.int64], limit: float
    ) -> None:
        self.log_start, self.log_step, self.density = log_start, np.ascontiguousarray(log_step), density
        self.limit = limit
        self.offsets, self.n_rows, self.k = offsets, int(offsets[-1]), len(log_start)
        # Densities, states and the path, and as much again for what makes them.
        row_bytes = 8.0 * (4 * self.k + 4)
        fits = self.n_rows if np.isinf(limit) else int(min(limit / row_bytes, self.n_rows))
        size = max(fits, isqrt(self.n_rows), 1)
        self.blocks = [(a, min(a + size, self.n_rows)) for a in range(0, self.n_rows, size)]

    def part(self, begin: int, end: int) -> Passes:
        """Return the passes over one of the sequences alone."""

        def density(a: int, b: int) -> Matrix:
            return self.density(begin + a, begin + b)

        return Passes(self.log_start, self.log_step, density, np.array([0, end - begin]), self.limit)

    def _starts(self, begin: int, end: int) -> tuple[NDArray[np.int64], bool, bool]:
        """Return where sequences begin in a block, and whether one goes on from before or goes on after it."""
        first, last = np.searchsorted(self.offsets, [begin, end])
        starts = self.offsets[first:last]
        return starts - begin, not (len(starts) and starts[0] == begin), self.offsets[last] != end

    def _run(self, begin: int, end: int, before: Any, after: Any, smooth: bool, count: bool = False) -> Any:
        starts, goes_on, _ = self._starts(begin, end)
        density = self.density(begin, end)
        result = forward_backward(
            density, starts, self.log_start, self.log_step, before if goes_on else None, after, smooth,
            n_threads(density.size), count,
        )  # fmt: skip
        if result[-1] >= 0:
            raise ImpossibleRow(begin + int(result[-1]))
        return result

    def filtered(self) -> Iterator[tuple[int, int, Matrix, Matrix, Matrix]]:
        """Yield each block with P(state | rows so far), log P(row | rows before), and the log of the last states."""
        last = None
        for begin, end in self.blocks:
            states, evidence, last, *_ = self._run(begin, end, last, None, False)
            yield begin, end, states, evidence, last

    def smoothed(self, *, count: bool = False) -> Iterator[Smoothed]:
        """Yield each block, the last one first; expected starts and steps are zeros unless ``count``."""
        carried: list[Matrix | None] = [None]
        for begin, end in self.blocks[:-1]:
            carried.append(self._run(begin, end, carried[-1], None, False)[2])
        after = None
        for (begin, end), before in zip(reversed(self.blocks), reversed(carried), strict=True):
            goes_on_after = self._starts(begin, end)[2]
            states, evidence, _, back, n_start, n_step, _ = self._run(
                begin, end, before, after if goes_on_after else None, True, count
            )
            after = back
            yield Smoothed(begin, end, states, evidence, n_start, n_step)

    def best_path(self) -> tuple[NDArray[np.int32], Matrix]:
        """Return the most probable path, of shape (n_rows,), and its log-probability with the rows, per sequence."""
        path, log_p = np.empty(self.n_rows, dtype=np.int32), np.zeros(len(self.offsets) - 1)
        carried: list[Matrix | None] = [None]
        for begin, end in self.blocks[:-1]:
            carried.append(self._best(begin, end, carried[-1], None, -1, None)[0])
        state = -1
        for (begin, end), before in zip(reversed(self.blocks), reversed(carried), strict=True):
            goes_on_after = self._starts(begin, end)[2]
            _, state = self._best(begin, end, before, path[begin:end], state if goes_on_after else -1, log_p)
        return path, log_p

    def _best(self, begin: int, end: int, before: Any, path: Any, end_state: int, log_p: Any) -> tuple[Matrix, int]:
        starts, goes_on, _ = self._starts(begin, end)
        density = self.density(begin, end)
        last, block_log_p = np.empty(self.k), np.empty(len(starts) + goes_on)
        state, impossible = viterbi(
            density, starts, self.log_start, self.log_step, before if goes_on else None, path, end_state, last,
            block_log_p, n_threads(density.size),
        )  # fmt: skip
        if impossible >= 0:
            raise ImpossibleRow(begin + impossible)
        if log_p is not None:
            first = int(np.searchsorted(self.offsets, begin, side="right")) - 1
            log_p[first : first + len(block_log_p)] += block_log_p
        return last, state
