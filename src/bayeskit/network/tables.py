"""Conditional tables: arrays, dicts and frames read into one form, and checked row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network.names import nearest

Table = NDArray[np.float64]

# Programs print probabilities with as few as six digits, so a row of them may miss 1 by some units of the sixth.
TOLERANCE = 1e-5
# A table of 1 GiB; a family that large has too many parents.
MAX_NUMBERS = 1 << 27


def check_table(
    names: Sequence[str],
    states: Sequence[Sequence[str]],
    parents: Sequence[Sequence[int]],
    i: int,
    table: Any,
    normalise: bool,
    tolerance: float = TOLERANCE,
) -> Table:
    """Return the table of variable i as a read-only float64 array of its true shape; refuse what is no distribution."""
    shape = tuple(len(states[p]) for p in (*parents[i], i))
    try:
        array = np.array(table, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise NetworkError(f"the table of {names[i]!r} is not an array of numbers: {error}") from None
    if array.shape != shape:
        axes = ", ".join([*(f"{names[p]!r}: {len(states[p])}" for p in parents[i]), f"{names[i]!r}: {len(states[i])}"])
        raise NetworkError(
            f"the table of {names[i]!r} has shape {array.shape}; it must be {shape}, one axis a parent in order, its "
            f"own states last ({axes})."
        )
    rows = array.reshape(-1, shape[-1])
    if not (rows >= 0).all() or not np.isfinite(rows).all():
        k = int(np.argmin(((rows >= 0) & np.isfinite(rows)).all(axis=1)))
        raise NetworkError(
            f"{_row_name(names, states, parents, i, k)} holds {rows[k].tolist()}; probabilities are 0 or more."
        )
    sums = rows.sum(axis=1)
    if normalise:
        if not (sums > 0).all():
            k = int(np.argmin(sums))
            raise NetworkError(f"{_row_name(names, states, parents, i, k)} is all zero, so it cannot be normalised.")
        rows /= sums[:, None]
    elif abs(sums - 1.0).max() > tolerance:
        k = int(np.argmax(abs(sums - 1.0) > tolerance))
        raise NetworkError(
            f"{_row_name(names, states, parents, i, k)} sums to {sums[k]:.10g}, not to 1 within {tolerance:g}; "
            "correct it or pass normalise=True."
        )
    array.setflags(write=False)
    return array


def _row_name(
    names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]], i: int, k: int
) -> str:
    place = np.unravel_index(k, tuple(len(states[p]) for p in parents[i])) if parents[i] else ()
    given = ", ".join(f"{names[p]}={states[p][int(s)]}" for p, s in zip(parents[i], place, strict=True))
    return f"the row P({names[i]} | {given})" if given else f"the table P({names[i]})"


def default_table(name: str, shape: tuple[int, ...], rng: np.random.Generator | None) -> Table:
    """Return uniform rows, or rows drawn from the flat Dirichlet distribution."""
    if 0 in shape:
        return np.empty(shape)
    if prod(shape) > MAX_NUMBERS:
        raise TooLargeError(
            f"the table of {name!r} would hold {prod(shape):.3g} numbers; at most {MAX_NUMBERS:.3g} are made. "
            "Take parents away."
        )
    if rng is None:
        return np.full(shape, 1.0 / shape[-1])
    return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])


def states_of(name: str, told: list[str] | int | None, table: Any, names: Sequence[str]) -> list[str]:
    """Return the states of a variable as they were told, or as its table shows them, or "no" and "yes"."""
    if isinstance(told, list):
        return told
    if told is None and isinstance(table, Mapping):
        rows = list(table.values())
        first = rows[0] if rows and isinstance(rows[0], Mapping) else table
        return [str(state) for state in first]
    if told is None and hasattr(table, "columns"):
        return [str(column) for column in table.columns if str(column) not in names]
    card = told
    if card is None and table is not None:
        card = int(np.shape(table)[-1]) if np.ndim(table) else 0
    return ["no", "yes"] if card is None or card == 2 else [str(k) for k in range(card)]


def read_table(name: str, parents: Sequence[str], states: Mapping[str, Sequence[str]], table: Any) -> Any:
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
        *above, own = (states[v][int(k)] for v, k in zip((*parents, name), hole, strict=True))
        raise NetworkError(
            f"the table of {name!r} has no number for {name}={own} given {_given(parents, above)}; all "
            f"{prod(shape)} are needed."
        )
    return array


def _place(what: str, state: str, states: Sequence[str]) -> int:
    if state not in states:
        raise NetworkError(f"{what} has no state {state!r}; {nearest(state, states)}")
    return list(states).index(state)
