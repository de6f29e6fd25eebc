"""Conditional tables as a user writes them: arrays, dicts and frames, read into one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.table import default_table
from bayeskit.network.cpd.written_form import WrittenForm
from bayeskit.network.variable_names import did_you_mean

Table = NDArray[np.float64]


def read_tables(
    parents: Mapping[str, Sequence[str]],
    states: Mapping[str, list[str] | int | None],
    tables: Mapping[str, Any] | None,
    seed: int | None,
) -> tuple[dict[str, list[str]], list[Any]]:
    """Return the states of each variable and its table: as given, or uniform, or random from a seed."""
    known = {name: states_of(given, (tables or {}).get(name), parents[name]) for name, given in states.items()}
    if tables is None:
        rng = None if seed is None else np.random.default_rng(seed)
        shapes = {name: tuple(len(known[v]) for v in (*above, name)) for name, above in parents.items()}
        return known, [default_table(name, shape, rng) for name, shape in shapes.items()]
    without = [name for name in parents if name not in tables]
    if without:
        raise NetworkError(f"tables has no table for {', '.join(map(repr, without))}; give one for each variable.")
    return known, [read_cpd_table(name, above, known, tables[name]) for name, above in parents.items()]


def states_of(given: list[str] | int | None, table: Any, parents: Sequence[str]) -> list[str]:
    """Return the states of a variable as they were given, or as its table shows them, or "no" and "yes".

    The keys of a dict are the states of a variable without parents, and the parents' states otherwise.
    """
    if isinstance(given, list):
        return given
    if given is None:
        row = _first_row(table, parents)
        named = _states_in(row, parents)
        if named is not None:
            return named
    card = _last_axis(row) if given is None else given
    return ["no", "yes"] if card == 2 else [str(k) for k in range(card)]


def _first_row(table: Any, parents: Sequence[str]) -> Any:
    """Return the first row of a dict of rows; anything else is itself."""
    rows = list(table.values()) if isinstance(table, Mapping) else []
    return rows[0] if rows and (parents or isinstance(rows[0], Mapping)) else table


def _states_in(table: Any, parents: Sequence[str]) -> list[str] | None:
    """Return the states that a form, a dict or a frame names; None for what has numbers only."""
    if isinstance(table, WrittenForm):
        return table.default_states()
    if isinstance(table, Mapping):
        return [str(state) for state in table]
    if hasattr(table, "columns"):
        return [str(state) for state in table.columns if str(state) not in parents]
    return None


def _last_axis(table: Any) -> int:
    if isinstance(table, Distribution):
        return table.n_states
    return 2 if table is None else int(np.shape(table)[-1]) if np.ndim(table) else 0


def read_cpd_table(name: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], table: Any) -> Any:
    """Return a table given as a dict or a frame as an array; an array is passed on as it is."""
    if isinstance(table, Mapping):
        return _from_dict(name, parents, states, table)
    if hasattr(table, "columns"):
        return _from_frame(name, parents, states, table)
    return table


def _from_dict(
    name: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], table: Mapping[Any, Any]
) -> Table:
    if not parents and not any(isinstance(row, Mapping) for row in table.values()):
        table = {(): table}
    rows: dict[tuple[str, ...], Any] = {}
    for key, row in table.items():
        rows[tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)] = row
    return _from_rows(name, parents, states, rows)


def _from_frame(name: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], table: Any) -> Table:
    columns = {str(column): list(table[column]) for column in table.columns}
    wanted = [*parents, *states[name]]
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise NetworkError(
            f"the frame of {name!r} has no column {missing[0]!r}; it needs a column for each parent and each own "
            f"state: {', '.join(map(repr, wanted))}."
        )
    rows: dict[tuple[str, ...], Any] = {}
    for r in range(len(columns[wanted[0]])):
        key = tuple(str(columns[p][r]) for p in parents)
        if key in rows:
            raise NetworkError(f"the frame of {name!r} has two rows for {_given(parents, key)}; give each once.")
        rows[key] = {state: columns[state][r] for state in states[name]}
    return _from_rows(name, parents, states, rows)


def _given(parents: Sequence[str], key: Sequence[str]) -> str:
    return ", ".join(f"{p}={s}" for p, s in zip(parents, key, strict=True)) or "no parents"


def _from_rows(
    name: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], rows: Mapping[tuple[str, ...], Any]
) -> Table:
    shape = tuple(len(states[v]) for v in (*parents, name))
    array = np.full(shape, np.nan)
    for key, row in rows.items():
        if len(key) != len(parents):
            raise NetworkError(
                f"the table of {name!r} has the key {key!r}; a key is one state for each of {list(parents)}."
            )
        place = tuple(_place(f"parent {p!r} of {name!r}", s, states[p]) for p, s in zip(parents, key, strict=True))
        if isinstance(row, Mapping):
            for state, p in row.items():
                array[*place, _place(f"variable {name!r}", str(state), states[name])] = float(p)
        else:
            if np.shape(row) != (len(states[name]),):
                raise NetworkError(
                    f"the table of {name!r}, {_given(parents, key)}: a row needs {len(states[name])} numbers; "
                    f"got {row!r}."
                )
            array[place] = row
    empty = np.isnan(array)
    if empty.any():
        hole = np.unravel_index(int(np.argmax(empty)), shape)
        *above, state = (states[v][int(k)] for v, k in zip((*parents, name), hole, strict=True))
        raise NetworkError(
            f"the table of {name!r} has no number for {name}={state} given {_given(parents, above)}; all "
            f"{prod(shape)} are needed."
        )
    return array


def _place(what: str, state: str, states: Sequence[str]) -> int:
    if state not in states:
        raise NetworkError(f"{what} has no state {state!r}; {did_you_mean(state, states)}")
    return list(states).index(state)
