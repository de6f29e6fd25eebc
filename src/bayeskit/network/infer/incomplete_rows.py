"""Rows of a mixed network with missing cells: exact likelihoods, and what is expected of the cells that are missing.

Rows with the same cells missing are done together. Each configuration of their missing discrete variables has a weight,
and given it the real variables are jointly normal, so the missing ones have a mean and a covariance given the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.infer.gaussian import Group
from bayeskit.network.infer.tree_size import LargeTablesError

if TYPE_CHECKING:
    from bayeskit.network.mixed import MixedNetwork

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
# Configurations of the missing discrete variables of one row, and numbers of rows times configurations done at once.
MOST_CONFIGURATIONS = 1 << 16
_BLOCK = 1 << 18


@dataclass(frozen=True, eq=False)
class Block:
    """Rows with the same cells missing, once for each configuration of their missing discrete variables.

    Attributes
    ----------
    rows : int64 array of shape (n_rows,)
        Their places in the table.
    log_evidence : float64 array of shape (n_rows,)
        The log-density of the known cells of each row.
    weight : float64 array of shape (n_rows * n_configurations,)
        The posterior of each configuration.
    codes : mapping of discrete variable to int64 array of shape (n_rows * n_configurations,)
    numbers : mapping of real variable to float64 array of the same shape
        The known number, or the mean given the known cells and the configuration.
    cell : int64 array of the same shape
        Which of the configurations of the parents of real variables it is.
    covariance : float64 array of shape (n_cells, n_missing, n_missing)
        Of the missing real variables given the known ones.
    missing : tuple of int
        The missing real variables.
    first : int64 array of shape (n_cells,)
        A place at which each cell occurs.
    """

    rows: NDArray[np.int64]
    log_evidence: Floats
    weight: Floats
    codes: Mapping[int, Codes]
    numbers: Mapping[int, Floats]
    cell: NDArray[np.int64]
    covariance: Floats
    missing: tuple[int, ...]
    first: NDArray[np.int64]


class IncompleteRows:
    """A table for a mixed network; a code of −1 and a NaN are missing.

    Parameters
    ----------
    net : MixedNetwork
        Its graph and its states; the numbers come with each call.
    codes : mapping of discrete variable to int64 array
    numbers : mapping of real variable to float64 array
    n : int
        The number of rows.
    wanted : iterable of int, optional
        The variables asked about; of the others only those are kept that matter to them and to the known cells of a
        row. By default all are kept.
    """

    def __init__(
        self,
        net: MixedNetwork,
        codes: Mapping[int, Codes],
        numbers: Mapping[int, Floats],
        n: int,
        wanted: Iterable[int] | None = None,
    ) -> None:
        self.net, self.codes, self.numbers, self.n_rows = net, dict(codes), dict(numbers), n
        self.wanted = None if wanted is None else set(wanted)
        order = net.topological_order
        self.real = [v for v in order if v in numbers]
        self.discrete = [v for v in order if v in codes]
        self.above = sorted({p for v in self.real for p in net.parents[v] if p in codes})
        hidden = [codes[v] < 0 for v in self.discrete] + [np.isnan(numbers[v]) for v in self.real]
        flags = np.stack(hidden, axis=1) if hidden else np.zeros((n, 0), dtype=bool)
        if n and not flags.any():  # sorting rows of flags takes longer than the densities
            self.patterns, inverse = flags[:1], np.zeros(n, dtype=np.int64)
        else:
            self.patterns, inverse = np.unique(flags, axis=0, return_inverse=True)
        by_pattern = np.argsort(inverse.reshape(-1), kind="stable")
        counts = np.bincount(inverse.reshape(-1), minlength=len(self.patterns))
        self.members = np.split(by_pattern, np.cumsum(counts)[:-1]) if n else []
        for pattern in self.patterns:
            self._refuse_many(pattern)

    def _cells(self, pattern: NDArray[np.bool_]) -> tuple[list[int], list[int], list[int]]:
        """Return the missing discrete variables that matter, the missing real ones, and the known real ones."""
        variables = [*self.discrete, *self.real]
        hidden = {v for v, missing in zip(variables, pattern, strict=True) if missing}
        matter = set(variables)
        if self.wanted is not None:
            asked = {*self.wanted, *(v for v in variables if v not in hidden)}
            matter = dag.ancestors(self.net.parents, asked) | asked
        return (
            [v for v in self.discrete if v in hidden and v in matter],
            [v for v in self.real if v in hidden and v in matter],
            [v for v in self.real if v not in hidden],
        )

    def _refuse_many(self, pattern: NDArray[np.bool_]) -> None:
        hidden, gone, _ = self._cells(pattern)
        if prod(self.net.cards[v] for v in hidden) > MOST_CONFIGURATIONS:
            names = ", ".join(self.net.names[v] for v in hidden[:6])
            raise LargeTablesError(
                f"a row misses {len(hidden)} discrete variables ({names}), which have more than {MOST_CONFIGURATIONS} "
                "configurations together; leave out such rows, or variables."
            )
        for v, cpd in self.net._links.items():
            lost = [p for p in self.net.parents[v] if p in gone]
            if lost:
                raise NetworkError(
                    f"a row misses {self.net.names[lost[0]]!r}, a real parent of the discrete {self.net.names[v]!r}, "
                    f"so that it has no exact answer ({cpd.link} link); posterior(…) samples it for one row."
                )

    def without(self, variables: Iterable[int]) -> IncompleteRows:
        """Return the rows in which these discrete variables are missing."""
        codes = {v: np.full_like(column, -1) if v in variables else column for v, column in self.codes.items()}
        return IncompleteRows(self.net, codes, self.numbers, self.n_rows, self.wanted)

    def log_evidence(self, cpds: Sequence[Distribution]) -> Floats:
        """Return the log-density of the known cells of each row."""
        out = np.zeros(self.n_rows)
        for block in self.blocks(cpds):
            out[block.rows] = block.log_evidence
        return out

    def blocks(self, cpds: Sequence[Distribution]) -> Iterator[Block]:
        """Yield the rows, with what these distributions say of their missing cells."""
        log_tables = {}
        with np.errstate(divide="ignore"):
            for v in self.discrete:
                if isinstance(cpds[v], LinkCPD):
                    continue
                values = cpds[v].values
                log_tables[v] = np.log(values / values.sum(axis=-1, keepdims=True))
        for pattern, rows in zip(self.patterns, self.members, strict=True):
            cells = self._cells(pattern)
            size = max(1, _BLOCK // prod(self.net.cards[v] for v in cells[0]))
            for at in range(0, len(rows), size):
                yield self._block(rows[at : at + size], cells, cpds, log_tables)

    def _block(
        self,
        rows: NDArray[np.int64],
        cells: tuple[list[int], list[int], list[int]],
        cpds: Sequence[Distribution],
        log_tables: Mapping[int, Floats],
    ) -> Block:
        hidden, missing, known = cells
        cards = [self.net.cards[v] for v in hidden]
        q = prod(cards)
        grid = np.unravel_index(np.arange(q), cards) if hidden else ()
        # Rows next to each other without a missing cell are read where they are.
        together = q == 1 and not missing and int(rows[-1]) - int(rows[0]) + 1 == len(rows)
        here = slice(int(rows[0]), int(rows[-1]) + 1) if together else np.repeat(rows, q)
        codes = {v: self.codes[v][here] for v in self.discrete}
        codes |= {
            v: np.tile(np.asarray(column, dtype=np.int64), len(rows)) for v, column in zip(hidden, grid, strict=True)
        }
        numbers = {v: self.numbers[v][here] for v in self.real}
        log = self._of_states(codes, numbers, cpds, log_tables, len(rows) * q)
        real = [v for v in self.real if v in missing or v in known]
        above = [p for p in self.above if any(p in self.net.parents[v] for v in real)]
        shape = [self.net.cards[p] for p in above]
        flat = np.ravel_multi_index([codes[p] for p in above], shape) if above else np.zeros(len(log), np.int64)
        _, first, cell = np.unique(flat, return_index=True, return_inverse=True)
        cell = cell.reshape(-1)
        covariance = np.zeros((len(first), len(missing), len(missing)))
        if not missing:  # the product of the families, which needs no joint normal
            for v in known:
                cpd, family = cpds[v], self.net.parents[v]
                assert isinstance(cpd, GaussianCPD)
                x = [numbers[family[k]] for k in cpd.real]
                at = _stacked([codes[family[k]] for k in cpd.discrete], len(log))
                log += cpd.log_density(numbers[v], at, np.stack(x).T if x else np.zeros((len(log), 0)))
        else:
            group = self._normals(cpds, real, {p: codes[p][first] for p in above}, len(first))
            log += self._condition(group, known, missing, numbers, cell, covariance)
        by_row = log.reshape(len(rows), q)
        peak = by_row.max(axis=1, keepdims=True)
        if not np.isfinite(peak).all():
            bad = int(rows[int(np.argmin(np.isfinite(peak[:, 0])))])
            if np.isnan(peak).any() or (peak == np.inf).any():
                raise NetworkError(f"row {bad}: the density is beyond what numbers can hold.")
        with np.errstate(invalid="ignore"):
            share = np.where(np.isfinite(peak), np.exp(by_row - peak), 1.0 / q)
        total = share.sum(axis=1, keepdims=True)
        evidence = (peak + np.log(total))[:, 0]
        weight = (share / total).reshape(-1)
        return Block(rows, evidence, weight, codes, numbers, cell, covariance, tuple(missing), first)

    def _of_states(
        self,
        codes: Mapping[int, Codes],
        numbers: Mapping[int, Floats],
        cpds: Sequence[Distribution],
        log_tables: Mapping[int, Floats],
        n: int,
    ) -> Floats:
        """Return the log-probability of the states; of variables that do not matter nothing is said."""
        log, parents = np.zeros(n), self.net.parents
        for v in self.discrete:
            if n and codes[v][0] < 0:
                continue
            cpd = cpds[v]
            if isinstance(cpd, LinkCPD):
                d = _stacked([codes[parents[v][k]] for k in cpd.discrete], n)
                p = cpd.rows_given(d, np.stack([numbers[parents[v][k]] for k in cpd.real], axis=1))
                with np.errstate(divide="ignore"):
                    log += np.log(p[np.arange(n), codes[v]])
            else:
                log += log_tables[v][(*(codes[p] for p in parents[v]), codes[v])]
        return log

    def _normals(self, cpds: Sequence[Distribution], real: list[int], codes: Mapping[int, Codes], n: int) -> Group:
        """Return the joint normal of these real variables in each cell."""
        place = {v: k for k, v in enumerate(real)}
        mean, spread = np.zeros((n, len(place))), np.zeros((n, len(place), len(place)))
        for v, k in place.items():
            cpd, family = cpds[v], self.net.parents[v]
            assert isinstance(cpd, GaussianCPD)
            d = cpd.configuration(
                np.stack([codes[family[j]] for j in cpd.discrete], axis=1)
                if cpd.discrete
                else np.zeros((n, 0), np.int64)
            )
            mean[:, k], spread[:, k, k] = cpd.intercept[d], cpd.sd[d]
            for column, r in enumerate(cpd.real):
                above = place[family[r]]
                mean[:, k] += cpd.slope[d, column] * mean[:, above]
                spread[:, k] += cpd.slope[d, column][:, None] * spread[:, above]
        return Group(tuple(real), (), mean, spread)

    def _condition(
        self,
        group: Group,
        known: list[int],
        missing: list[int],
        numbers: dict[int, Floats],
        cell: NDArray[np.int64],
        covariance: Floats,
    ) -> Floats:
        """Return the log-density of the known numbers; fill in the means and covariances of the missing ones."""
        place = {v: k for k, v in enumerate(group.members)}
        seen, gone = [place[v] for v in known], [place[v] for v in missing]
        root, n = group._root([*seen, *gone]), len(known)
        log = np.zeros(len(cell))
        away = np.stack([numbers[v] for v in known], axis=1) if known else np.zeros((len(cell), 0))
        for v in missing:
            numbers[v] = np.zeros(len(cell))
        order = np.argsort(cell, kind="stable")
        for c, at in enumerate(np.split(order, np.cumsum(np.bincount(cell, minlength=len(group.mean)))[:-1])):
            upper = root[c]
            z = np.zeros((n, len(at)))
            if n:
                diagonal = abs(np.diagonal(upper)[:n])
                if not (diagonal > 0).all():
                    raise NetworkError("a real variable has no variance left, so rows have no density.")
                away_here = (away[at] - group.mean[c, seen]).T
                for k in range(n):  # Rᵀz = what was seen less its mean
                    z[k] = (away_here[k] - upper[:k, k] @ z[:k]) / upper[k, k]
                log[at] = -0.5 * (z * z).sum(axis=0) - np.log(diagonal).sum() - 0.5 * n * np.log(2.0 * np.pi)
            left = upper[n:, n:]
            covariance[c] = left.T @ left
            for k, v in enumerate(missing):
                numbers[v][at] = group.mean[c, gone[k]] + upper[:n, n + k] @ z
        return log


def _stacked(columns: list[Codes], n: int) -> Codes:
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0), dtype=np.int64)
