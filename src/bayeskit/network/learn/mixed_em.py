"""Mixed networks from rows with missing cells, by the one EM loop: expected counts and expected moments."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.history import History
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.infer.incomplete_rows import Block, IncompleteRows
from bayeskit.network.learn.gaussian_fitting import Moments, moments_of, regressions
from bayeskit.progress import Progress

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]
Cpds = tuple[Distribution, ...]


class _Prior(NamedTuple):
    """λ rows more in each configuration, which vary as ``scatter`` says, in units of ``scale`` around ``centre``."""

    centre: Floats
    scale: Floats
    scatter: Floats  # (n_configurations, k, k)


class MixedEM:
    r"""EM for a mixed network.

    The objective that never falls is

    .. math:: \sum_r w_r \ln p(\text{known cells of } r) + λ \sum \ln θ
              - \frac{λ}{2} \sum_{v, d} \left(\ln 2πσ_{vd}^2 + \frac{v_d^\top S_{vd} v_d}{σ_{vd}^2}\right)

    with the numbers θ of all tables, :math:`v_d = (-b_d, 1)`, and S the scatter of λ more rows in each configuration,
    taken from the rows in which a family is known and kept through all steps.
    """

    def __init__(self, net: MixedNetwork, rows: IncompleteRows, weight: Floats, smoothing: float) -> None:
        self.net, self.rows, self.weight, self.smoothing = net, rows, weight, smoothing
        self.priors = {v: self._prior(v) for v in rows.real}

    def _prior(self, v: int) -> _Prior:
        cpd, family = self.net._gaussian[v], self._family(v)
        numbers = np.stack([self.rows.numbers[u] for u in family], axis=1)
        known = ~np.isnan(numbers)
        weights = self.weight[:, None] * known
        filled = np.where(known, numbers, 0.0)
        total = weights.sum(axis=0)
        centre = (weights * filled).sum(axis=0) / total
        scale = np.sqrt((weights * np.where(known, numbers - centre, 0.0) ** 2).sum(axis=0) / total)
        scale = np.where(scale > 0, scale, 1.0)
        whole = known.all(axis=1) & (self.weight > 0)
        codes = self._codes(v, {p: self.rows.codes[p] for p in self.rows.discrete})
        whole &= (codes >= 0).all(axis=1)
        z, w = (numbers[whole] - centre) / scale, self.weight[whole]
        n, _, around = moments_of(z, w, cpd.configuration(codes[whole]), len(cpd.intercept))
        _, _, spread = moments_of(z, w, np.zeros(len(w), dtype=np.int64), 1)
        within = around.sum(axis=0) / w.sum()
        scatter = np.where((n > 0)[:, None, None], within, spread[0] / w.sum())
        return _Prior(centre, scale, scatter)

    def _family(self, v: int) -> list[int]:
        """Return the real parents and the variable itself."""
        return [*(self.net.parents[v][k] for k in self.net._gaussian[v].real), v]

    def _codes(self, v: int, codes: dict[int, NDArray[np.int64]]) -> NDArray[np.int64]:
        columns = [codes[self.net.parents[v][k]] for k in self.net._gaussian[v].discrete]
        length = self.rows.n_rows if not codes else len(next(iter(codes.values())))
        return np.stack(columns, axis=1) if columns else np.zeros((length, 0), dtype=np.int64)

    def expect(self, cpds: Cpds) -> tuple[list[Block], float]:
        """Return the rows with their expected cells, and the objective."""
        blocks = list(self.rows.blocks(cpds))
        likelihood = sum(float(self.weight[block.rows] @ block.log_evidence) for block in blocks)
        return blocks, likelihood + self._penalty(cpds)

    def _penalty(self, cpds: Cpds) -> float:
        if not self.smoothing:
            return 0.0
        total = sum(float(np.log(cpds[v].values).sum()) for v in self.rows.discrete)
        for v, prior in self.priors.items():
            cpd = cpds[v]
            assert isinstance(cpd, GaussianCPD)
            line = np.concatenate([-cpd.slope, np.ones((len(cpd.sd), 1))], axis=1) * prior.scale
            rest = np.einsum("gi,gij,gj->g", line, prior.scatter, line)
            total -= 0.5 * float((np.log(2.0 * np.pi * cpd.sd**2) + rest / cpd.sd**2).sum())
        return self.smoothing * total

    def maximise(self, blocks: list[Block]) -> Cpds:
        """Return the distributions that the expected cells give."""
        weights = [np.repeat(self.weight[b.rows], len(b.weight) // len(b.rows)) * b.weight for b in blocks]
        return tuple(
            self._gaussian(v, blocks, weights) if v in self.priors else self._table(v, blocks, weights)
            for v in range(len(self.net.names))
        )

    def _table(self, v: int, blocks: Sequence[Block], weights: Sequence[Floats]) -> TableCPD:
        family = (*self.net.parents[v], v)
        shape = [self.net.cards[u] for u in family]
        counts = np.zeros(prod(shape))
        for block, weight in zip(blocks, weights, strict=True):
            at = np.ravel_multi_index([block.codes[u] for u in family], shape)
            counts += np.bincount(at, weight, minlength=len(counts))
        table = counts.reshape(shape) + self.smoothing
        total = table.sum(axis=-1, keepdims=True)
        return TableCPD(np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / shape[-1]))

    def _gaussian(self, v: int, blocks: Sequence[Block], weights: Sequence[Floats]) -> GaussianCPD:
        cpd, family, prior = self.net._gaussian[v], self._family(v), self.priors[v]
        z, w, group = [], [], []
        uncertain = np.zeros_like(prior.scatter)
        for block, weight in zip(blocks, weights, strict=True):
            codes = cpd.configuration(
                np.stack([block.codes[self.net.parents[v][k]] for k in cpd.discrete], axis=1)
                if cpd.discrete
                else np.zeros((len(weight), 0), dtype=np.int64)
            )
            z.append((np.stack([block.numbers[u] for u in family], axis=1) - prior.centre) / prior.scale)
            w.append(weight)
            group.append(codes)
            inside = [k for k, u in enumerate(family) if u in block.missing]
            if inside:
                at = [block.missing.index(family[k]) for k in inside]
                scale = prior.scale[inside]
                each = block.covariance[:, at][:, :, at] / np.outer(scale, scale)
                share = np.bincount(block.cell, weight, minlength=len(each))
                for c, g in enumerate(codes[block.first]):
                    uncertain[np.ix_([g], inside, inside)] += share[c] * each[c]
        n, mean, around = moments_of(np.concatenate(z), np.concatenate(w), np.concatenate(group), len(cpd.intercept))
        moments = Moments(n + self.smoothing, mean, around + uncertain + self.smoothing * prior.scatter)
        return regressions(cpd, self.net.names[v], moments, prior.centre, prior.scale)


def learn_mixed_by_em(
    em: MixedEM, start: Cpds, *, tol: float, max_iter: int, progress: Progress | None, record: bool
) -> tuple[Cpds, History]:
    """Return the distributions of the best step, and the history."""
    result = expectation_maximisation(
        start, em.expect, em.maximise, tol=tol * float(em.weight.sum()), max_iter=max_iter, progress=progress,
        record=record,
    )  # fmt: skip
    return result.parameters, result.history
