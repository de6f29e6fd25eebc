"""The template of a dynamic network: variables of one slice, their parents in this slice and in earlier ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.arcs import Sketch, read_arcs
from bayeskit.network.cpd.distribution import Family, Form, table_fits
from bayeskit.network.cpd.given_table import read_cpd_table, states_of
from bayeskit.network.cpd.written_form import WrittenForm
from bayeskit.network.network import BayesianNetwork

_AT_TIME = re.compile(r"\[t(?:\s*-\s*(\d+))?\]")
_LAG = "__slices_back_"  # how the time of a variable is written for the reader of arcs, for whom brackets hold states

# A variable and how many slices ago: (weather, 1) is weather[t-1].
Lagged = tuple[str, int]


@dataclass(frozen=True)
class Template:
    """Names, states and parents of a slice, and the tables of the first slices and of every later one."""

    names: tuple[str, ...]
    states: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, tuple[Lagged, ...]]
    later: Mapping[str, NDArray[np.float64]]  # P(x[t] | parents), for slices from `order` on
    first: tuple[Mapping[str, NDArray[np.float64]], ...]  # P(x[s] | parents that exist), one dict per first slice

    @cached_property
    def order(self) -> int:
        """How many slices back parents reach; at least 1."""
        return max(1, *(lag for parents in self.parents.values() for _, lag in parents), 1)

    @cached_property
    def interface(self) -> tuple[Lagged, ...]:
        """The variables that the next slice depends on, with their age: (weather, 0) is that of this slice."""
        needed = {
            (name, lag - age - 1) for parents in self.parents.values() for name, lag in parents for age in range(lag)
        }
        return tuple(sorted(needed, key=lambda each: (each[1], self.names.index(each[0]))))

    def first_parents(self, name: str, slice_: int) -> tuple[Lagged, ...]:
        """Return the parents of a variable that exist in one of the first slices."""
        return tuple((parent, lag) for parent, lag in self.parents[name] if lag <= slice_)

    @property
    def tables(self) -> dict[str, NDArray[np.float64]]:
        """The tables: ``weather[0]`` for first slices, ``weather[t]`` for later ones; parents first."""
        first = {f"{name}[{s}]": tables[name] for s, tables in enumerate(self.first) for name in self.names}
        return {**first, **{f"{name}[t]": self.later[name] for name in self.names}}

    def cards(self, members: Sequence[Lagged]) -> tuple[int, ...]:
        """Return the number of states of each member."""
        return tuple(len(self.states[name]) for name, _ in members)

    # -- networks ---------------------------------------------------------------------------------------------------

    def unrolled(self, n: int) -> BayesianNetwork:
        """Return the network of n slices; variables are called ``weather[0]``, ``weather[1]`` and so on."""
        names, states, parents, tables = self._slices(n)
        return BayesianNetwork.from_tables(names, states, parents, tables)

    def _slices(self, n: int) -> tuple[list[str], list[Any], list[list[int]], list[Any]]:
        place: dict[tuple[str, int], int] = {}
        names: list[str] = []
        states, parents, tables = [], [], []
        for t in range(n):
            here = self.parents if t >= self.order else {v: self.first_parents(v, t) for v in self.names}
            for name in self._in_order(here):
                place[name, t] = len(names)
                names.append(f"{name}[{t}]")
                states.append(self.states[name])
                parents.append([place[parent, t - lag] for parent, lag in here[name]])
                tables.append((self.later if t >= self.order else self.first[t])[name])
        return names, states, parents, tables

    def _in_order(self, parents: Mapping[str, tuple[Lagged, ...]]) -> list[str]:
        """Return the variables of a slice, parents before children."""
        done: list[str] = []
        waiting = list(self.names)
        while waiting:
            ready = [v for v in waiting if all(lag > 0 or p in done for p, lag in parents[v])]
            if not ready:
                raise NetworkError(f"the arcs within a slice form a circle through {', '.join(map(repr, waiting))}.")
            done.append(ready[0])
            waiting.remove(ready[0])
        return done

    def first_network(self) -> BayesianNetwork:
        """Return the network of the first slices, with a variable ``after`` that is the interface."""
        names, states, parents, tables = self._slices(self.order)
        place = {name: i for i, name in enumerate(names)}
        members = [place[f"{name}[{self.order - 1 - age}]"] for name, age in self.interface]
        self._add_after(names, states, parents, tables, members)
        return BayesianNetwork.from_tables(names, states, parents, tables)

    def step_network(self) -> BayesianNetwork:
        """Return the network of one slice between the interface ``before`` it and the one ``after`` it."""
        cards = self.cards(self.interface)
        size = prod(cards)
        names, states, tables = ["before"], [_numbered(size)], [np.full(size, 1.0 / size)]
        parents: list[list[int]] = [[]]
        place: dict[Lagged, int] = {}  # by lag from this slice
        for axis, (name, age) in enumerate(self.interface):
            place[name, age + 1] = len(names)
            names.append(f"{name}[t-{age + 1}]")
            states.append(self.states[name])
            parents.append([0])
            digit = np.unravel_index(np.arange(size), cards)[axis]
            tables.append(np.eye(cards[axis])[digit])
        for name in self._in_order(self.parents):
            place[name, 0] = len(names)
            names.append(f"{name}[t]")
            states.append(self.states[name])
            parents.append([place[each] for each in self.parents[name]])
            tables.append(self.later[name])
        self._add_after(names, states, parents, tables, [place[name, age] for name, age in self.interface])
        return BayesianNetwork.from_tables(names, states, parents, tables)

    def _add_after(self, names: list[str], states: list[Any], parents: Any, tables: Any, members: list[int]) -> None:
        cards = self.cards(self.interface)
        size = prod(cards)
        names.append("after")
        states.append(_numbered(size))
        parents.append(members)
        tables.append(np.eye(size).reshape(*cards, size))


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def read_template(structure: Any, states: Mapping[str, Any] | None, tables: Mapping[str, Any] | None) -> Template:
    """Read arcs such as ``weather[t-1]->weather[t]``, and tables for ``weather[0]`` and ``weather[t]``."""
    sketch = read_arcs(_without_brackets(structure), {}, {})
    names, parents = _read_parents(sketch)
    given = {str(key): value for key, value in (tables or {}).items()}
    known: dict[str, tuple[str, ...]] = {}
    for name in names:
        states_given = (states or {}).get(name, sketch.states.get(f"{name}{_LAG}0"))
        labels = [f"{p}[t-{lag}]" if lag else f"{p}[t]" for p, lag in parents[name]]
        table = given.get(f"{name}[t]", given.get(f"{name}[0]"))
        if isinstance(states_given, list | tuple):
            states_given = list(map(str, states_given))
        known[name] = tuple(states_of(states_given, table, labels if f"{name}[t]" in given else []))
    empty = Template(tuple(names), known, parents, {}, ())
    return _with_tables(empty, given if tables is not None else None)


def _read_parents(sketch: Sketch) -> tuple[list[str], dict[str, tuple[Lagged, ...]]]:
    """Return the variables of a slice, and the parents of each with how many slices back they are."""
    names: list[str] = []
    lagged: dict[str, Lagged] = {}
    for text in sketch.names:
        name, _, lag_text = text.partition(_LAG)
        if not lag_text:
            raise NetworkError(f"{text!r} must say its time, as in {text}[t] or {text}[t-1].")
        lagged[text] = name, int(lag_text)
        if name not in names:
            names.append(name)
    parents: dict[str, tuple[Lagged, ...]] = dict.fromkeys(names, ())
    for text, arcs in sketch.parents.items():
        name, lag = lagged[text]
        if lag and arcs:
            raise NetworkError(f"the arc to {name}[t-{lag}] leads to an earlier slice; write it as one to {name}[t].")
        if not lag:
            parents[name] = tuple(lagged[parent] for parent in arcs)
    return names, parents


def _without_brackets(structure: Any) -> Any:
    """Return arcs in which ``weather[t-1]`` is a plain name."""

    def plain(text: str) -> str:
        return _AT_TIME.sub(lambda match: f"{_LAG}{int(match[1] or 0)}", text)

    if isinstance(structure, str):
        return plain(structure)
    if isinstance(structure, Mapping):
        return {plain(str(child)): [plain(str(p)) for p in parents] for child, parents in structure.items()}
    return [plain(arc) if isinstance(arc, str) else tuple(plain(str(end)) for end in arc) for arc in structure]


def _with_tables(template: Template, given: dict[str, Any] | None) -> Template:
    used: set[str] = set()

    def table(name: str, key: str, parents: tuple[Lagged, ...]) -> NDArray[np.float64]:
        shape = (*template.cards(parents), len(template.states[name]))
        if given is None:
            return np.full(shape, 1.0 / shape[-1])
        if key not in given:
            raise NetworkError(
                f"tables has no table for {key!r}; give one for each variable of the first slice(s), as 'x[0]', and "
                "one for every later slice, as 'x[t]'."
            )
        used.add(key)
        labels = [f"{p}[t-{lag}]" if lag else f"{p}[t]" for p, lag in parents]
        states = {label: template.states[p] for label, (p, _) in zip(labels, parents, strict=True)}
        read = given[key]
        if isinstance(read, WrittenForm):
            read = bound_values(read, key, template.states[name], states)
        read = np.asarray(read_cpd_table(key, labels, {**states, key: template.states[name]}, read), dtype=float)
        if read.shape != shape:
            raise NetworkError(f"the table of {key!r} must have the shape {shape}, parents first; got {read.shape}.")
        if (read < 0).any() or not np.allclose(read.sum(axis=-1), 1.0, atol=1e-5):
            raise NetworkError(f"the table of {key!r} must have rows of probabilities that sum to 1.")
        return read

    later = {name: table(name, f"{name}[t]", template.parents[name]) for name in template.names}
    first = []
    for s in range(template.order):
        tables = {}
        for name in template.names:
            parents, key = template.first_parents(name, s), f"{name}[{s}]"
            same = parents == template.parents[name] and not (given is not None and key in given)
            tables[name] = later[name] if same else table(name, key, parents)
        first.append(tables)
    strange = set(given or ()) - used
    if strange:
        raise NetworkError(f"tables has {sorted(strange)[0]!r}, which is no variable of the first or of later slices.")
    return Template(template.names, template.states, template.parents, later, tuple(first))


def bound_values(
    form: WrittenForm, name: str, states: Sequence[str], parents: Mapping[str, Sequence[str]]
) -> NDArray[np.float64]:
    """Return the table of a form such as `NoisyOr`, whose parents are written as ``rain[t-1]``."""
    shape = (*(len(each) for each in parents.values()), len(states))
    if not table_fits(shape):
        raise NetworkError(
            f"{name!r} has {len(parents)} parents, and its table, which a dynamic network needs, would be too large."
        )
    distribution = form.bound(
        Family(name, tuple(states), tuple(parents), tuple(tuple(each) for each in parents.values()))
    )
    if not isinstance(distribution, Form):
        raise NetworkError(
            f"{name!r}: a dynamic network takes tables and forms that have one; got {type(form).__name__}."
        )
    return np.asarray(distribution.values)
