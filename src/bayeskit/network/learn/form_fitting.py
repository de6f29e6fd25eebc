"""Forms from data: a noisy-OR and its like stay what they are, and only their numbers are learned.

Each effect of independent causes becomes a hidden variable of its own, and the combination of effects a fixed table;
then EM over hidden variables, as for any network, gives links and leaks, also with missing cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError, TableError
from bayeskit.estimate.history import History
from bayeskit.network.cpd.causes import IndependentCauses
from bayeskit.network.cpd.distribution import Distribution, Form
from bayeskit.network.cpd.logistic import LogisticCPD
from bayeskit.network.cpd.logistic_fit import fit_logistic
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.cpd.tree_table import TreeCPD
from bayeskit.network.learn.flat_tables import FlatTables
from bayeskit.network.learn.hidden_rows import HiddenRows
from bayeskit.network.learn.pseudo_counts import TablePrior, as_prior, estimate
from bayeskit.network.learn.table_em import learn_by_em

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Table = NDArray[np.float64]
Columns = list[NDArray[Any]]


@dataclass(frozen=True)
class _KeptTables(FlatTables):
    """Flat tables of which some cells are given and never learned."""

    kept: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    values: Table = field(default_factory=lambda: np.zeros(0))

    def estimate(
        self, counts: Table, pseudo: Table, keep: Table | None = None, touched: Sequence[bool] | None = None
    ) -> Table:
        return np.where(self.kept, self.values, super().estimate(counts, pseudo, keep, touched))


@dataclass(frozen=True)
class _PriorOfEffects:
    """Pseudo-counts of the explicit network: an effect has those of its variable, a combination none."""

    prior: TablePrior
    whose: dict[str, str]
    kept: dict[str, NDArray[np.bool_]]

    def pseudo_counts(self, name: str, shape: tuple[int, ...]) -> Table:
        alpha = np.zeros(shape)
        if name in self.whose:
            alpha = alpha + self.prior.pseudo_counts(self.whose[name], shape)
        return np.where(self.kept[name], 0.0, alpha) if name in self.kept else alpha


@dataclass
class _Explicit:
    """A network in which every effect is a variable."""

    names: list[str]
    cards: list[int]
    parents: list[tuple[int, ...]]
    tables: list[Table | None]
    kept: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    whose: dict[int, str] = field(default_factory=dict)
    effects: dict[int, list[int]] = field(default_factory=dict)  # of variable i: its leak, then its links in order

    def add(self, name: str, parents: tuple[int, ...], table: Table, kept: NDArray[np.bool_], whose: str = "") -> int:
        v = len(self.names)
        self.names.append(name)
        self.cards.append(table.shape[-1])
        self.parents.append(parents)
        self.tables.append(table)
        self.kept[v] = kept
        if whose:
            self.whose[v] = whose
        return v

    def open(self, i: int, causes: IndependentCauses) -> None:
        """Replace the causes of variable i by their effects, and by what combines them."""
        name, above, r = self.names[i], self.parents[i], len(causes.leak)
        free = np.zeros(r, dtype=bool)
        running = self.add(f"{name}: leak", (), causes.leak, free, name)
        self.effects[i] = [running]
        combined = causes.join(np.eye(r)[:, None, :], np.eye(r)[None, :, :])  # (r, r, r)
        for k, (p, link, fixed_states) in enumerate(zip(above, causes.links, causes.fixed, strict=True)):
            kept = np.repeat(fixed_states[:, None], r, axis=1)
            effect = self.add(f"{name}: effect {k}", (p,), link, kept, name)
            self.effects[i].append(effect)
            fixed = np.ones((r, r, r), dtype=bool)
            if k == len(above) - 1:
                table = np.empty_like(combined)
                table[..., list(causes.order)] = combined
                self.parents[i], self.tables[i], self.kept[i] = (running, effect), table, fixed
            else:
                running = self.add(f"{name}: first {k + 1}", (running, effect), combined, fixed)

    def rows(self, columns: Columns, weight: Table | None, prior: TablePrior, limit: float) -> HiddenRows:
        """Return the rows with the effects hidden."""
        n = len(columns[0])
        hidden = np.full(n, 255, dtype=np.uint8)
        columns = [*columns, *([hidden] * (len(self.names) - len(columns)))]
        plain = FlatTables(tuple(self.names), tuple(self.cards), tuple(self.parents))
        masks = [self.kept.get(v, np.zeros(shape, dtype=bool)) for v, shape in enumerate(plain.shapes)]
        values = [
            np.zeros(shape) if table is None else table for shape, table in zip(plain.shapes, self.tables, strict=True)
        ]
        flat = _KeptTables(
            plain.names, plain.cards, plain.parents, np.concatenate([m.ravel() for m in masks]), plain.join(values)
        )
        named = {self.names[v]: mask for v, mask in self.kept.items()}
        whose = {self.names[v]: name for v, name in self.whose.items()}
        whose |= {name: name for v, name in enumerate(self.names) if v not in self.kept}
        return HiddenRows(flat, columns, weight, _PriorOfEffects(prior, whose, named), limit)

    def learned(self, i: int, causes: IndependentCauses, tables: Sequence[Table]) -> IndependentCauses:
        leak, *links = (np.array(tables[v]) for v in self.effects[i])
        return replace(causes, leak=leak, links=tuple(links))


def fit_by_em(
    net: BayesianNetwork,
    columns: Columns,
    weight: Table | None,
    smoothing: Any,
    limit: float,
    *,
    starts: int,
    first: bool,
    random_state: int,
    options: dict[str, Any],
) -> tuple[list[Distribution], History]:
    """Return all distributions of a network whose rows have missing cells; the forms stay."""
    for name, cpd in zip(net.names, net.cpds, strict=True):
        if isinstance(cpd, Form) and not isinstance(cpd, IndependentCauses):
            raise NetworkError(
                f"the {cpd.title} of {name!r} is learned from rows whose parents and own cell are known: pass "
                "missing='available-case'."
            )
    explicit = _Explicit(list(net.names), list(net.cards), list(net.parents), [None] * len(net.names))
    causes = {i: cpd for i, cpd in enumerate(net.cpds) if isinstance(cpd, IndependentCauses) and cpd.links}
    for i, cpd in causes.items():
        explicit.open(i, cpd)
    rows = explicit.rows(columns, weight, as_prior(smoothing), limit)
    begin = None
    if first:
        given = [cpd.values if i not in causes else None for i, cpd in enumerate(net.cpds)]
        given += [None] * (len(explicit.names) - len(given))
        begin = rows.flat.join([g if g is not None else t for g, t in zip(given, explicit.tables, strict=True)])  # type: ignore[misc]
    flat, history = learn_by_em(rows, rows.starts(starts, begin, np.random.default_rng(random_state)), **options)
    tables = rows.flat.split(flat)
    kept = tuple(rows.flat.split(each)[: len(net.names)] for each in history.parameters)
    cpds: list[Distribution] = [
        explicit.learned(i, causes[i], tables) if i in causes else TableCPD(np.array(tables[i]))
        for i in range(len(net.names))
    ]
    return cpds, replace(history, parameters=kept)


def fit_family(
    cpd: Distribution, name: str, columns: Columns, weight: Table | None, smoothing: Any, limit: float
) -> Distribution:
    """Return the distribution of one variable from the rows in which it and its parents are known.

    ``columns`` are those of the parents, in order, and of the variable.
    """
    shape = cpd.shape
    known = np.ones(len(columns[0]), dtype=bool)
    for column, card in zip(columns, shape, strict=True):
        known &= column < card
    codes = np.stack([column[known] for column in columns], axis=1).astype(np.int64)
    weights = np.ones(len(codes)) if weight is None else weight[known]
    if not len(codes):
        raise TableError(f"no row knows {name!r} and all its parents, so there is nothing to learn its form from.")
    prior = as_prior(smoothing)
    if isinstance(cpd, TreeCPD):
        leaves = np.zeros(cpd.leaves.shape)
        np.add.at(leaves, (cpd.leaf_of(codes[:, :-1]), codes[:, -1]), weights)
        return replace(cpd, leaves=estimate(leaves, prior.pseudo_counts(name, leaves.shape)))
    if isinstance(cpd, LogisticCPD):
        return fit_logistic(cpd, codes, weights, float(np.max(prior.pseudo_counts(name, (shape[-1],)))))
    assert isinstance(cpd, IndependentCauses)
    rows, where = np.unique(codes, axis=0, return_inverse=True)
    total = np.bincount(where.reshape(-1), weights=weights)
    explicit = _Explicit([f"parent {k}" for k in range(len(shape) - 1)] + [name], list(shape), [], [None] * len(shape))
    explicit.parents = [*([()] * (len(shape) - 1)), tuple(range(len(shape) - 1))]
    for k in range(len(shape) - 1):  # the parents are known, so their own tables play no part
        explicit.tables[k], explicit.kept[k] = np.full(shape[k], 1.0 / shape[k]), np.ones(shape[k], dtype=bool)
    explicit.open(len(shape) - 1, cpd)
    table = [np.ascontiguousarray(rows[:, k].astype(np.uint32)) for k in range(len(shape))]
    hidden = explicit.rows(table, np.ascontiguousarray(total), prior, limit)
    starts = hidden.starts(1, None, np.random.default_rng(0))
    flat, _ = learn_by_em(hidden, starts, tol=1e-9, max_iter=2000)
    return explicit.learned(len(shape) - 1, cpd, hidden.flat.split(flat))


def has_forms(net: BayesianNetwork) -> bool:
    """Return whether a distribution of the network is a form that learning keeps."""
    return any(isinstance(cpd, Form) for cpd in net.cpds)


def count_forms(
    net: BayesianNetwork, columns: Columns, weight: Table | None, smoothing: Any, limit: float
) -> list[Distribution]:
    """Return all distributions, each from the rows in which its family is known."""
    prior = as_prior(smoothing)
    out: list[Distribution] = []
    for i, (cpd, above) in enumerate(zip(net.cpds, net.parents, strict=True)):
        family = [columns[v] for v in (*above, i)]
        if isinstance(cpd, Form) and above:
            out.append(fit_family(cpd, net.names[i], family, weight, smoothing, limit))
            continue
        counts = _count(family, cpd.shape, weight)
        out.append(TableCPD(estimate(counts, prior.pseudo_counts(net.names[i], counts.shape))))
    return out


def _count(columns: Columns, shape: tuple[int, ...], weight: Table | None) -> Table:
    known = np.ones(len(columns[0]), dtype=bool)
    for column, card in zip(columns, shape, strict=True):
        known &= column < card
    cell = np.ravel_multi_index([column[known].astype(np.int64) for column in columns], shape)
    n = np.bincount(cell, weights=None if weight is None else weight[known], minlength=int(np.prod(shape)))
    return n.reshape(shape).astype(np.float64)
