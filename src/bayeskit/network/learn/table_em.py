"""Tables by EM: expected counts in, estimates out, by the one EM loop of the library."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.history import History
from bayeskit.network.learn.hidden_rows import HiddenRows
from bayeskit.progress import Progress

Flat = NDArray[np.float64]


def learn_by_em(
    rows: HiddenRows,
    starts: Iterable[Flat],
    *,
    tol: float,
    max_iter: int,
    progress: Progress | None = None,
    record: bool = False,
) -> tuple[Flat, History]:
    """Return the tables of the best start, and its history.

    The table of a family that no row misses a cell of follows from the counts at once; only the others are estimated
    again in each step.

    References
    ----------
    Lauritzen (1995), The EM algorithm for graphical association models with missing data.
    """
    touched = rows.kernel.with_holes
    complete = rows.flat.estimate(rows.kernel.complete(), rows.pseudo)

    def maximise(counts: Flat) -> Flat:
        return rows.flat.estimate(counts, rows.pseudo, complete, touched)

    result = expectation_maximisation(
        starts,
        rows.expect,
        maximise,
        tol=tol * rows.total,
        max_iter=max_iter,
        restarts=True,
        progress=progress,
        record=record,
    )
    return result.parameters, result.history
