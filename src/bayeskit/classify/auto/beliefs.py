"""The prediction of AutoBayes: the pooled posterior of its members, with hidden cells summed out."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score, group_rows, n_threads
from bayeskit.classify.auto.counts import AutoCounts
from bayeskit.classify.auto.gaussian_columns import columns_beside
from bayeskit.classify.auto.gaussians import MemberGaussians
from bayeskit.classify.auto.levels import HIDDEN, MISSING_LEVEL, OTHER_LEVEL, Columns, n_rows_of
from bayeskit.classify.auto.pool import LEAST_LOG, pool_of_members
from bayeskit.classify.auto.texts import TextScores
from bayeskit.classify.auto.training_rows import class_shares, log_prior, log_softmax
from bayeskit.table.encode import missing_column

# Rows of the prior that the last posterior is mixed with, so that no class is ever ruled out.
FLOOR = 1.0
# A class that is given the probability 0 has this one, so that logarithms stay finite.
LEAST_PRIOR = 1e-300
# Rows that are scored at once.
ROWS_AT_ONCE = 1 << 16
# Equal rows are scored once, where fewer than this share of so many rows are distinct.
ROWS_TO_LOOK_AT, MOST_DISTINCT = 4096, 0.7


class AutoBeliefs:
    """A plan and its counts as tables that score rows.

    A ``prior`` other than the shares of the classes multiplies the posterior of the pool by new over old P(c), and
    takes the place of the shares in the floor and in P(x).
    """

    def __init__(self, counts: AutoCounts, prior: NDArray[np.float64] | None = None) -> None:
        self.counts, self.plan = counts, counts.plan
        self._shares = log_prior(counts.n_class)
        exact = class_shares(counts.n_class)
        self.log_prior = np.log(np.maximum(exact if prior is None else prior, LEAST_PRIOR))
        # What another prior than the shares of the classes adds to the pool.
        old = np.where(counts.n_class > 0, np.log(np.maximum(exact, LEAST_PRIOR)), self._shares)
        self._other_prior = np.zeros(len(old)) if prior is None else self.log_prior - old
        self._n_rows, self._floor = counts.n_rows, FLOOR * np.exp(self.log_prior)
        threads = n_threads(counts.networks.size * 8)
        plan = self.plan
        self.in_place = bool(plan.levels.ordered.all())  # an array of numbers is read as it is
        self._networks = plan.networks.kernel.log_tables(counts.networks, plan.networks.m, threads)
        self._plain = plan.plain.kernel.log_tables(counts.n_level, plan.plain.m, threads)
        self._leaves = [
            trees.kernel.leaf_tables(cells, trees.m, threads)
            for trees, cells in zip(plan.trees, counts.trees, strict=True)
        ]
        self._gaussians = [
            MemberGaussians.of(sums, gaussian.shrinkage)
            for gaussian, sums in zip(plan.gaussians, counts.sums, strict=True)
        ]
        known = {label: c for c, label in enumerate(plan.classes.tolist())}
        place = np.array([known.get(label, -1) for label in counts.classes.tolist()])
        seen = place >= 0  # (n_classes,): by the plan; others may have come later
        self._column_bias = np.where(seen, plan.column_bias[place], 0.0)
        self._member_bias = np.where(seen, plan.member_bias[place], 0.0)
        self._class_matrix = np.eye(len(place), len(place) + 1)
        both = np.ix_(seen, np.append(seen, True))
        self._class_matrix[both] = plan.class_matrix[np.ix_(place[seen], np.append(place[seen], -1))]
        # A class that came later has its share, whatever the columns say.
        self._linear = [
            replace(
                each,
                coefficients=np.where(seen, each.coefficients[:, place], 0.0),
                intercept=np.where(seen, each.intercept[place], self._shares),
            )
            for each in plan.linear
        ]
        self.texts = [
            TextScores(text, words, self._shares) for text, words in zip(plan.texts, counts.texts, strict=True)
        ]
        self._steps = [np.where(seen, each.steps[:, place], np.float32(0.0)) for each in plan.boosting]
        self._matrix = self._class_matrix.copy()
        self._matrix[:, -1] += self._other_prior
        self._centre = seen if seen.any() else ~seen

    @cached_property
    def _node_weights(self) -> list[NDArray[np.float64]]:
        return [
            trees.kernel.node_weights(cells, n_threads(cells.size))
            for trees, cells in zip(self.plan.trees, self.counts.trees, strict=True)
        ]

    # -- reading rows -----------------------------------------------------------------------------------------------

    def codes(self, columns: Columns, hidden: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
        """Return the levels of rows, of shape (n_features, n_rows).

        A cell is hidden where ``hidden`` (n_rows, n_features) is True, and where it has no level of its own: a missing
        cell in a column that never missed one in fit, or a value that was not seen.
        """
        return self._hiding(self.plan.levels.encode(columns)[0], hidden)

    def _hiding(self, codes: NDArray[np.uint8], hidden: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
        for features, level in self._lacking:
            part = codes[features]
            if (part == level).any():
                part[part == level] = HIDDEN
                codes[features] = part
        if hidden is not None:
            codes[hidden.T] = HIDDEN
        return codes

    @cached_property
    def _lacking(self) -> list[tuple[NDArray[np.int64] | slice, int]]:
        """The columns that lack one of the reserved levels, and that level."""
        at, seen, ordered = self.plan.levels.level_at[:-1], self._level_seen, self.plan.levels.ordered
        lacking = (~seen[at + MISSING_LEVEL], MISSING_LEVEL), (~ordered & ~seen[at + OTHER_LEVEL], OTHER_LEVEL)
        # All columns are a view, which is quicker than a list of them.
        return [(slice(None) if all_.all() else np.flatnonzero(all_), level) for all_, level in lacking if all_.any()]

    @cached_property
    def _level_seen(self) -> NDArray[np.bool_]:
        return np.asarray(self.counts.n_level.sum(axis=1) > 0)

    # -- scores -----------------------------------------------------------------------------------------------------

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, −1 since no row is impossible, and a row from which on a number is infinite (or −1)."""
        columns, place = table, None
        if not self.plan.schema.texts and _often_repeated(columns):
            columns = list(columns.T) if isinstance(columns, np.ndarray) else columns
            rows, place = _distinct_rows(columns)
            columns = [column[rows] for column in columns]
        parts = []
        for start in range(0, n_rows_of(columns), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            now = columns[part] if isinstance(columns, np.ndarray) else [column[part] for column in columns]
            codes, infinite = self.plan.levels.encode(now)
            if infinite:
                return np.empty(0), -1, start
            parts.append(self._score_part(self._hiding(codes), now, result))
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return scores if place is None else scores[place], -1, -1

    def _score_part(self, codes: NDArray[np.uint8], columns: Columns, result: Score) -> NDArray[Any]:
        if result == Score.LOG_EVIDENCE:
            return self.log_evidence(codes)
        posterior = self.posterior(codes, columns)
        if result == Score.CLASS:
            return np.asarray(posterior.argmax(axis=1))
        if result == Score.POSTERIOR:
            return posterior
        log_posterior = np.log(posterior)
        return log_posterior if result == Score.LOG_POSTERIOR else log_posterior + self.log_evidence(codes)[:, None]

    def posterior(self, codes: NDArray[np.uint8], columns: Columns) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        pooled = self.pooled(codes, columns)
        return self.floored(np.exp(pooled, out=pooled))

    def floored(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (N P + π) / (N + 1), where π are the shares of the classes."""
        mixed: NDArray[np.float64] = self._n_rows * posterior
        mixed += self._floor
        mixed /= self._n_rows + FLOOR
        return mixed

    def pooled(self, codes: NDArray[np.uint8], columns: Columns) -> NDArray[np.float64]:
        """Return log P(c | x) of the pool, before the floor: of both pools, as far as cells are hidden."""
        members = self.members(codes, columns)
        full = pool_of_members(members, self.plan.member_weight, self._member_bias, self._matrix, self._centre)
        if self.plan.boosting:
            full = log_softmax(full + self.boosted(codes))
        if codes.max(initial=0) != HIDDEN:
            return full
        known = self.known(codes)
        some = np.flatnonzero(known < 1.0)
        if len(some):
            t = known[some, None]
            rows = columns[some] if isinstance(columns, np.ndarray) else [column[some] for column in columns]
            told = self.told(np.ascontiguousarray(codes[:, some]), rows, [member[some] for member in members])
            few = self.log_prior + self.few_weight * np.sum(told, axis=0)
            full[some] = log_softmax(t * full[some] + (1.0 - t) * few)
        return full

    def boosted(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return what the boosted trees add to the scores of the pool for full rows, of shape (n_rows, n_classes)."""
        threads = n_threads(codes.size * 8 * len(self._shares))
        each = [plan.score(codes, steps, threads) for plan, steps in zip(self.plan.boosting, self._steps, strict=True)]
        return np.asarray(np.sum(each, axis=0))

    def known(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the weight t of the pool for full rows, of shape (n_rows,): the square of the share of known cells.

        Columns with one level say nothing, hidden or not, and do not count, but for those of text that have a member.
        """
        there = codes[self._told] != HIDDEN
        return np.asarray(there.mean(axis=0) ** 2 if len(there) else np.ones(codes.shape[1]))

    def told(
        self, codes: NDArray[np.uint8], columns: Columns, members: list[NDArray[np.float64]]
    ) -> list[NDArray[np.float64]]:
        """Return what the known cells told each member: its log P(c | x) less its log P(c | nothing known).

        That of the networks has no weights of columns, which were fitted to full rows.
        """
        networks = self.plan.networks.kernel.score(
            self._networks, codes, self._varies.astype(np.float64), n_threads(codes.size * 8 * len(self._shares))
        )
        if len(self.plan.rare.features):
            networks += self.rare_evidence(codes, columns).sum(axis=0)
        others = [member - empty for member, empty in zip(members[1:], self._nothing_known[1:], strict=True)]
        return [networks, *others]

    @property
    def few_weight(self) -> float:
        """The weight of each member in the pool for rows of which little is known: their mean, as far as believed."""
        return self.plan.believed / len(self.plan.member_weight)

    @cached_property
    def _varies(self) -> NDArray[np.bool_]:
        return np.asarray(np.add.reduceat(self._level_seen.astype(np.int64), self.plan.levels.level_at[:-1]) > 1)

    @cached_property
    def _told(self) -> NDArray[np.bool_]:
        told = self._varies.copy()
        told[[text.column for text in self.plan.texts]] = True
        return told

    @cached_property
    def _nothing_known(self) -> list[NDArray[np.float64]]:
        """Log P(c) by each member, of shape (1, n_classes)."""
        columns = [missing_column(variable, 1) for variable in self.plan.schema]
        return self.members(np.full((len(columns), 1), HIDDEN, dtype=np.uint8), columns)

    def log_odds(self, scores: NDArray[np.float64], a: int, b: int) -> NDArray[np.float64]:
        """Return what each line of scores (n_lines, n_classes) adds to the log-odds of class a to class b."""
        centred = scores - scores[:, self._centre].mean(axis=1, keepdims=True)
        parts: NDArray[np.float64] = centred @ (self._class_matrix[a, :-1] - self._class_matrix[b, :-1])
        return parts

    def bias(self, a: int, b: int) -> float:
        """Return the part of the log-odds that is the same for every row."""
        bias = self.log_odds(self._member_bias[None, :], a, b)[0]
        return float(bias + self._matrix[a, -1] - self._matrix[b, -1])

    def members(self, codes: NDArray[np.uint8], columns: Columns) -> list[NDArray[np.float64]]:
        """Return log P(c | x) by each member, clipped from below."""
        threads = n_threads(codes.size * 8 * len(self._shares))
        plan = self.plan
        networks = plan.networks.kernel.score(self._networks, codes, self._column_weight, threads)
        if len(plan.rare.features):
            networks += np.einsum("jrc,j->rc", self.rare_evidence(codes, columns), plan.rare.weight)
        scores = [networks + self._network_bias]
        for gaussian, densities, beside in zip(plan.gaussians, self._gaussians, self._beside, strict=True):
            z = gaussian.transform(columns, codes, threads)
            score = self._shares + _densities(z, densities, codes, gaussian.features, threads)
            if beside is not None:
                score += plan.plain.kernel.score(self._plain, codes, beside, threads)
            scores.append(score)
        # Both ways of a test are weighed by their rows where its cell is hidden, and only there.
        node_weights = self._node_weights if codes.max(initial=0) == HIDDEN else [np.empty(0)] * len(plan.trees)
        for trees, leaves, node_weight in zip(plan.trees, self._leaves, node_weights, strict=True):
            posterior = trees.kernel.score(leaves, node_weight, codes, threads)
            scores.append(np.log(np.maximum(posterior, 1e-300)))
        scores += [linear.score(columns, codes, threads) for linear in self._linear]
        scores += [text.score(columns, codes) for text in self.texts]
        return [log_softmax(each, LEAST_LOG) for each in scores]

    @cached_property
    def _column_weight(self) -> NDArray[np.float64]:
        return np.asarray(self.plan.column_weight[:-1] * self._varies)

    @cached_property
    def _network_bias(self) -> NDArray[np.float64]:
        return np.asarray(self.plan.column_weight[-1] * self._shares + self._column_bias)

    @cached_property
    def _beside(self) -> list[NDArray[np.float64] | None]:
        """The columns that take part beside each Gaussian, as weights of 0 and 1; None where there are none."""
        beside = [columns_beside(gaussian, self.plan.levels) & self._varies for gaussian in self.plan.gaussians]
        return [each.astype(np.float64) if each.any() else None for each in beside]

    def rare_evidence(self, codes: NDArray[np.uint8], columns: Columns) -> NDArray[np.float64]:
        """Return what values without a level of their own say, of shape (n_columns, n_rows, n_classes)."""
        rare = self.plan.rare
        place = rare.find(columns)
        place[codes[rare.features] == HIDDEN] = -1
        return rare.evidence(self.counts.rare, place)

    def network_terms(self, codes: NDArray[np.uint8], columns: Columns, weighted: bool) -> NDArray[np.float64]:
        """Return the term of each column in the networks, of shape (n_rows, n_features, n_classes).

        Those of rare values are part of them; ``weighted`` says that terms are multiplied by the weights of columns.
        """
        terms = self.plan.networks.kernel.terms(self._networks, codes, n_threads(codes.size * 16))
        terms *= (self._column_weight if weighted else self._varies)[:, None]
        rare = self.plan.rare
        if len(rare.features):
            weight = rare.weight if weighted else np.ones(len(rare.weight))
            terms[:, rare.features] += (self.rare_evidence(codes, columns) * weight[:, None, None]).transpose(1, 0, 2)
        return terms

    def log_evidence(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return log P(x) by the networks, the mean of their probabilities; hidden cells are left out."""
        each = self.plan.networks.kernel.score_each(self._networks, codes, n_threads(codes.size * 16)) + self.log_prior
        peak = each.max(axis=2, keepdims=True)
        joint = peak[:, :, 0] + np.log(np.exp(each - peak).sum(axis=2))  # (n_networks, n_rows)
        joint += self._within_bins(codes)
        top = joint.max(axis=0)
        total: NDArray[np.float64] = top + np.log(np.exp(joint - top).mean(axis=0))
        return total

    def _within_bins(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return Σ log P(level | bin) in each network, of shape (n_networks, n_rows)."""
        out = np.zeros((len(self.plan.networks.bins), codes.shape[1]))
        for j in np.flatnonzero(self.plan.levels.ordered).tolist():
            known = codes[j] != HIDDEN
            out[:, known] += self._log_share[j][:, codes[j][known]]
        return out

    @cached_property
    def _log_share(self) -> dict[int, NDArray[np.float64]]:
        n_level, at = self.counts.n_level.sum(axis=1) + 1e-9, self.plan.levels.level_at
        shares = {}
        for j in np.flatnonzero(self.plan.levels.ordered).tolist():
            counts = n_level[at[j] : at[j + 1]]
            bins = self.plan.networks.bins[:, at[j] : at[j + 1]]
            shares[j] = np.log([counts / np.bincount(line, weights=counts)[line] for line in bins])
        return shares


def _distinct_rows(columns: list[NDArray[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return where each distinct row stands first, and which of these rows each row equals."""
    n = len(columns[0])
    none = np.zeros(n, dtype=np.uint32)
    rows, _, place = group_rows(columns, none, None, True, n_threads(n * len(columns)))
    return rows, place


def _often_repeated(columns: Columns) -> bool:
    """Return whether it is worth while to look for equal rows: a part of the table tells."""
    step = n_rows_of(columns) // ROWS_TO_LOOK_AT
    if step < 2:
        return False
    each = columns.T if isinstance(columns, np.ndarray) else columns
    some = [np.ascontiguousarray(column[::step]) for column in each]
    return len(_distinct_rows(some)[0]) < MOST_DISTINCT * len(some[0])


def _densities(
    z: NDArray[np.float64],
    gaussians: MemberGaussians,
    codes: NDArray[np.uint8],
    features: NDArray[np.int64],
    threads: int,
) -> NDArray[np.float64]:
    """Return log p(z | c); hidden cells are summed out, rows with the same ones together."""
    out = gaussians.log_densities(z, threads)
    if codes.max(initial=0) != HIDDEN:
        return out
    hidden = codes[features] == HIDDEN  # (p, n_rows)
    some = np.flatnonzero(hidden.any(axis=0))
    if not len(some):
        return out
    bits = np.ascontiguousarray(np.packbits(hidden[:, some], axis=0).T)
    _, first, group = np.unique(bits.view(f"V{bits.shape[1]}"), return_index=True, return_inverse=True)
    for k, row in enumerate(some[first]):
        rows, known = some[group.ravel() == k], ~hidden[:, row]
        out[rows] = gaussians.log_densities(z[rows], threads, known) if known.any() else 0.0
    return out
