"""Counts of a dynamic network: each variable with its parents, in the first slices and tied over all later ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.network import BayesianNetwork
from bayeskit.sequence.interface import Interface
from bayeskit.sequence.slices import Template

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SliceCounts:
    """How often each state of a variable came with each states of its parents; they add."""

    later: dict[str, Matrix]  # (*parents, n_states)
    first: tuple[dict[str, Matrix], ...]

    @classmethod
    def zeros(cls, template: Template) -> SliceCounts:
        """Return counts of nothing."""
        return cls(
            {name: np.zeros_like(table) for name, table in template.later.items()},
            tuple({name: np.zeros_like(table) for name, table in tables.items()} for tables in template.first),
        )

    @classmethod
    def random(cls, template: Template, rng: np.random.Generator) -> SliceCounts:
        """Return random counts above zero, to begin EM with."""
        counts = cls.zeros(template)
        for tables in (counts.later, *counts.first):
            for table in tables.values():
                table += rng.dirichlet(np.full(table.shape[-1], 2.0), size=table.shape[:-1])
        return counts

    def __add__(self, other: SliceCounts) -> SliceCounts:
        return SliceCounts(
            {name: n + other.later[name] for name, n in self.later.items()},
            tuple({v: n + b[v] for v, n in a.items()} for a, b in zip(self.first, other.first, strict=True)),
        )

    def _tied(self, template: Template, slice_: int, name: str) -> bool:
        """Return whether a first slice has the table of the later ones: all parents of the variable exist there."""
        return template.first_parents(name, slice_) == template.parents[name]

    def tables(self, template: Template, estimate: Callable[[str, Matrix], Matrix]) -> Template:
        """Return the template with the tables that these counts give."""
        total = {name: n.copy() for name, n in self.later.items()}
        for s, counts in enumerate(self.first):
            for name, n in counts.items():
                if self._tied(template, s, name):
                    total[name] += n
        later = {name: estimate(name, n) for name, n in total.items()}
        first = tuple(
            {name: later[name] if self._tied(template, s, name) else estimate(name, n) for name, n in counts.items()}
            for s, counts in enumerate(self.first)
        )
        return replace(template, later=later, first=first)

    def log_penalty(self, template: Template, pseudo: Callable[[str, Matrix], Matrix]) -> float:
        """Return Σ α log P over all tables, with which the objective of EM is penalised."""
        total = 0.0
        tables = list(template.later.items())
        for s, slice_tables in enumerate(template.first):
            tables += [(name, table) for name, table in slice_tables.items() if not self._tied(template, s, name)]
        for name, table in tables:
            added = np.broadcast_to(pseudo(name, table), table.shape)
            total += float((added[added > 0] * np.log(table[added > 0])).sum())
        return total


def count_slices(template: Template, parts: Sequence[NDArray[np.int64]]) -> SliceCounts:
    """Count sequences in which every cell is known."""
    counts, place = SliceCounts.zeros(template), {name: j for j, name in enumerate(template.names)}
    for codes in parts:
        n = len(codes)
        for s in range(min(template.order, n)):
            for name in template.names:
                cell = [codes[s - lag, place[p]] for p, lag in template.first_parents(name, s)]
                counts.first[s][name][(*cell, codes[s, place[name]])] += 1.0
        t = np.arange(template.order, n)
        for name in template.names:
            cells = [codes[t - lag, place[p]] for p, lag in template.parents[name]]
            np.add.at(counts.later[name], (*cells, codes[t, place[name]]), 1.0)
    return counts


def expected_slices(template: Template, parts: Sequence[NDArray[np.int64]]) -> tuple[SliceCounts, float]:
    """Return the expected counts given the known cells, and their log-likelihood."""
    counts, log = SliceCounts.zeros(template), 0.0
    for codes in parts:
        log += _add_sequence(template, codes, counts)
    return counts, log


def _add_sequence(template: Template, codes: NDArray[np.int64], counts: SliceCounts) -> float:
    one, order = Interface(template, codes), template.order
    messages = list(one.forward())
    after: Matrix | None = None
    for t in range(len(codes) - 1, order - 1, -1):
        net = one._step(t)
        evidence = one._step_evidence(net, t, messages[t - order].interface, after)
        for name in template.names:
            labels = [f"{p}[t-{lag}]" if lag else f"{p}[t]" for p, lag in template.parents[name]]
            counts.later[name][...] += _joint(net, [*labels, f"{name}[t]"], evidence, counts.later[name].shape)
        after = one._backward(t, after)
    net = one._first()
    evidence = one._first_evidence(net, one.n_first)
    if after is not None:
        evidence.likelihoods[net.index("after")] = after
    for s in range(one.n_first):
        for name in template.names:
            labels = [f"{p}[{s - lag}]" for p, lag in template.first_parents(name, s)]
            n = counts.first[s][name]
            n[...] += _joint(net, [*labels, f"{name}[{s}]"], evidence, n.shape)
    return float(np.sum([message.log_evidence for message in messages]))


def _joint(net: BayesianNetwork, names: list[str], evidence: object, shape: tuple[int, ...]) -> Matrix:
    """Return the joint distribution of some variables given evidence, which may fix some of them."""
    places = [net.index(name) for name in names]
    states = evidence.states  # type: ignore[attr-defined]
    hidden = [v for v in places if v not in states]
    table = np.zeros(shape)
    at = tuple(states.get(v, slice(None)) for v in places)
    if not hidden:
        table[at] = 1.0
        return table
    values, _ = net._engine.joint(hidden, evidence)  # type: ignore[arg-type]
    part = np.asarray(values).reshape([net.cards[v] for v in hidden])
    table[at] = part / part.sum()
    return table
