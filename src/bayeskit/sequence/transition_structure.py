"""The structure of a dynamic network: which variables of this slice and of earlier ones each variable depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayeskit.errors import NetworkError, TableError
from bayeskit.network.learn.constraints import Arcs
from bayeskit.network.learn.discrete_rows import DiscreteRows, read_rows
from bayeskit.network.learn.search import LearnedStructure, learn_structure
from bayeskit.sequence.rows import Sequences
from bayeskit.table.column import missing_code


def at(name: str, lag: int) -> str:
    """Return a variable of an earlier slice, or of this one, as it is written.

    >>> at("rain", 0), at("rain", 2)
    ('rain[t]', 'rain[t-2]')
    """
    return f"{name}[t-{lag}]" if lag else f"{name}[t]"


def slice_windows(read: Sequences, order: int, kinds: Any) -> tuple[DiscreteRows, DiscreteRows]:
    """Return the rows as states, and a row for each time with the slices before it: ``a[t-1]``, ``b[t-1]``, ``a[t]``.

    The first times of a sequence, which lack slices before them, are left out; a time without a row has missing cells.
    """
    rows = read_rows(read.source, kinds=kinds)
    ends = np.concatenate([np.arange(a + order, b) for a, b in pairwise(read.offsets.tolist())])
    if not len(ends):
        longest = int(np.diff(read.offsets).max())
        raise TableError(
            f"no sequence has more than {order} row{'s' * (order > 1)}, the order of the network; the longest has "
            f"{longest}. Give longer sequences, or group= if rows of one sequence were read as several."
        )
    columns, variables = [], []
    for lag in range(order, -1, -1):
        place = read.rows[ends - lag]
        for column, variable in zip(rows.columns, rows.schema, strict=True):
            codes = column[place]  # a copy
            codes[place < 0] = missing_code(column.dtype)
            columns.append(codes)
            variables.append(replace(variable, name=at(variable.name, lag)))
    return rows, DiscreteRows(rows.schema.with_variables(tuple(variables)), columns, None)


def learn_transition(
    windows: DiscreteRows,
    names: Sequence[str],
    order: int,
    *,
    within: bool,
    tiers: Sequence[Sequence[str]] | None,
    blacklist: Arcs,
    **options: Any,
) -> LearnedStructure:
    """Search for the parents of the variables of a slice; no arc leads to an earlier one."""
    earlier = [at(name, lag) for lag in range(order, 0, -1) for name in names]
    now = [at(name, 0) for name in names]
    slices = [now] if tiers is None else [[at(name, 0) for name in level] for level in tiers]
    forbidden = [*blacklist, *((a, b) for a in earlier for b in earlier if a != b)]
    if not within:
        forbidden += [(a, b) for a in now for b in now if a != b]
    result = learn_structure(windows, tiers=[earlier, *slices], blacklist=forbidden, **options)
    if not any(a in set(earlier) for a, _ in result.arcs):
        raise NetworkError(
            "no variable depends on the slice before, as far as these rows show; a BayesianNetwork of the rows is "
            "enough (learn_structure), or require an arc by whitelist=[('x[t-1]', 'x[t]')]."
        )
    return result
