"""The probabilities of a hidden Markov model: first states, transitions, and the cells within each state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.errors import BayeskitError
from bayeskit.estimate.covariance import Gaussians, estimate_gaussians
from bayeskit.estimate.gaussian import column_spread
from bayeskit.estimate.gaussian_scores import GaussianBeliefs
from bayeskit.estimate.smoothing import as_smoothing
from bayeskit.kinds import Estimation
from bayeskit.learn.naive_beliefs import NaiveBeliefs, columns_by_kind, kinds_of, statistics_of
from bayeskit.sequence.counts import SequenceCounts, gaussian_columns, joint_schema
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class Allowed:
    """Which states a sequence may begin in, and which steps are possible: zeros that learning keeps."""

    start: NDArray[np.bool_]  # (n_states,)
    step: NDArray[np.bool_]  # (n_states, n_states)


@dataclass(frozen=True)
class ChainBeliefs:
    """log P(first state), log P(next state | state), and P(x | state) column by column, or jointly for Gaussians."""

    log_start: NDArray[np.float64]  # (n_states,)
    log_step: NDArray[np.float64]  # (n_states, n_states)
    cells: NaiveBeliefs
    joint: Gaussians | None = None  # of the gaussian columns, where their covariance is full

    @classmethod
    def of(cls, counts: SequenceCounts, settings: Estimation, allowed: Allowed) -> ChainBeliefs:
        r"""Estimate the probabilities from counts, over what is allowed.

        .. math:: π_i = \frac{n_i + λ}{n + Kλ} \qquad a_{ij} = \frac{n_{ij} + λ}{n_{i\cdot} + Kλ}
        """
        settings = with_column_variances(settings, counts)
        cells = NaiveBeliefs.of(counts.table, settings, prior="uniform")
        cells = NaiveBeliefs(cells.schema, np.zeros(len(counts.classes)), cells.parameters)
        joint = None if counts.joint is None else estimate_gaussians(counts.joint, "full", "ml")
        smoothing = settings.smoothing
        log_step = np.stack([_log(row, may, smoothing) for row, may in zip(counts.n_step, allowed.step, strict=True)])
        return cls(_log(counts.n_start, allowed.start, smoothing), log_step, cells, joint)

    @property
    def schema(self) -> Schema:
        """Name, kind and values of each column."""
        return self.cells.schema

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.log_start)

    def log_density(self, columns: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x | state) of encoded rows, of shape (n_rows, n_states); a missing cell is summed out."""
        if self.joint is None:
            return np.ascontiguousarray(self.cells.score(columns, Score.LOG_JOINT)[0])
        together = gaussian_columns(self.schema)
        hidden = np.full(len(columns[0]), np.nan)  # what is scored together is left out of the product
        rest = [hidden if j in together else column for j, column in enumerate(columns)]
        gaussians = GaussianBeliefs(joint_schema(self.schema), np.zeros(self.n_states), self.joint)
        scores = gaussians.score([columns[j] for j in together], Score.LOG_JOINT)[0]
        return np.ascontiguousarray(self.cells.score(rest, Score.LOG_JOINT)[0] + scores)

    def log_penalty(self, counts: SequenceCounts, settings: Estimation, allowed: Allowed) -> float:
        """Return log P(θ), with which the objective of EM is penalised; see :meth:`Kind.log_prior`."""
        ones, total, settings = np.ones(self.n_states), 0.0, with_column_variances(settings, counts)
        together = gaussian_columns(self.schema) if self.joint is not None else ()
        for kind, columns in columns_by_kind(self.schema):
            alone = [j for j in columns if j not in together]
            if not kind.maximizes and self.schema[columns[0]].kind != "unknown":
                raise BayeskitError(
                    f"column '{self.schema[columns[0]].name}' is of kind '{kind.name}', {kind.description}, which does "
                    "not maximize a likelihood, so that EM cannot use it; fit it with another kind, or give all states."
                )
            if alone and kind.maximizes:
                parameters = [self.cells.parameters[j] for j in alone]
                total += kind.log_prior(statistics_of(counts.table, alone, ones), parameters, settings)
        smoothing = as_smoothing(settings.smoothing)
        for logs, may in [(self.log_start, allowed.start), *zip(self.log_step, allowed.step, strict=True)]:
            pseudo = smoothing.pseudo_count(int(may.sum()))
            total += pseudo * float(logs[may].sum()) if pseudo else 0.0
        return total

    def n_parameters(self, allowed: Allowed) -> int:
        """Return the number of free parameters."""
        free = int(allowed.start.sum()) - 1 + int((allowed.step.sum(axis=1) - 1).sum())
        together = gaussian_columns(self.schema) if self.joint is not None else ()
        for j, (variable, kind) in enumerate(zip(self.schema, kinds_of(self.schema), strict=True)):
            if j not in together and variable.kind != "unknown":
                free += kind.n_parameters(variable, self.cells.parameters[j])
        d = len(together)
        return free + self.n_states * (d + d * (d + 1) // 2)

    def stationary(self) -> NDArray[np.float64]:
        r"""Return the distribution with π = πA: the share of time in each state in the long run.

        Where the chain falls into parts that never meet, it is the one that the first states lead to.
        """
        step = np.exp(self.log_step)
        k = self.n_states
        # The mean of the first powers goes to the stationary distribution also where the chain is periodic; squaring
        # (A + 1) / 2 sixty times is 2^60 steps of a chain that sometimes waits, which has the same one.
        lazy = (step + np.eye(k)) / 2.0
        for _ in range(60):
            lazy = lazy @ lazy
            lazy /= lazy.sum(axis=1, keepdims=True)
        share = np.exp(self.log_start) @ lazy
        return np.asarray(share / share.sum())


def with_column_variances(settings: Estimation, counts: SequenceCounts) -> Estimation:
    """Return the settings with the variance of each whole column as that of the extra rows of ``variance_prior``.

    That within states would change from step to step of EM, and its objective with it.
    """
    _, spread = column_spread(counts.table.moments)
    names = [counts.schema[j].name for j in counts.schema.numeric]
    return replace(settings, variance_target=dict(zip(names, spread[:, 0].tolist(), strict=True)))


def _log(n: NDArray[Any], may: NDArray[np.bool_], smoothing: Any) -> NDArray[np.float64]:
    """Return log-probabilities of counts over what is allowed; −inf elsewhere."""
    log_p = np.full(len(n), -np.inf)
    # log 0 = -inf is meant: without smoothing, what was never seen is impossible.
    with np.errstate(divide="ignore"):
        log_p[may] = np.log(as_smoothing(smoothing).probabilities(n[may]))
    return log_p
