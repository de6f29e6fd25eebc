"""Posteriors of whole tables: any cells may be missing."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import RowPosterior, n_threads
from bayeskit.errors import ImpossibleEvidenceError, NetworkError, TooLargeError
from bayeskit.network.cases import read_cases
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.exact import ExactEngine
from bayeskit.table.column import missing_code

Impossible = Literal["error", "prior"]


def posterior_rows(
    engine: ExactEngine, table: Any, targets: list[int], *, own_cells: bool, impossible: Impossible, memory_limit: float
) -> list[NDArray[np.float64]]:
    """Return P(target | the row's known cells) for each target, (n_rows, n_states) each.

    With ``own_cells`` a target's own known cell is evidence too, so its posterior is certain; without, it is left out.
    """
    if impossible not in ("error", "prior"):
        raise NetworkError(f"impossible must be 'error' or 'prior'; got {impossible!r}.")
    net = engine.net
    columns = read_cases(net.names, net.states, table, absent="missing")
    used = [
        v
        for v, column in enumerate(columns)
        if (own_cells or v not in targets) and not (column == missing_code(column.dtype)).all()
    ]
    engine.compile()
    rows = RowPosterior(engine.native, targets, used)
    if rows.entries * 8.0 > memory_limit:
        raise _too_large(0)
    n_rows = len(columns[0])
    if not used:
        prior = [engine.single(v, Evidence(), memory_limit) for v in targets]
        return [np.repeat(p[None, :], n_rows, axis=0) for p in prior]
    cells = n_rows * (len(used) + 16)
    flat, bad, large = rows.run([columns[v] for v in used], memory_limit / 8.0, n_threads(cells))
    if large >= 0:
        raise _too_large(large)
    cuts = np.cumsum([net.cards[v] for v in targets])[:-1]
    parts = np.split(flat, cuts, axis=1)
    if bad:
        if impossible == "error":
            raise ImpossibleEvidenceError(
                f"row {bad[0]}: its cells cannot occur together under this network. Pass impossible='prior' to give "
                f"such rows ({len(bad)} here) the prior."
            )
        for v, part in zip(targets, parts, strict=True):
            part[bad] = engine.single(v, Evidence(), memory_limit)
    return parts


def _too_large(row: int) -> TooLargeError:
    return TooLargeError(
        f"row {row}: the exact answer needs tables over the memory limit; give more columns, or pass a larger "
        "memory_limit."
    )
