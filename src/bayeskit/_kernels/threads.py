"""How many threads the kernels use."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Starting a thread costs about as much as this many cells.
CELLS_PER_THREAD = 1 << 19

_wanted: ContextVar[int | None] = ContextVar("bayeskit_threads", default=None)


def _from_environment() -> int:
    # OMP_NUM_THREADS is what joblib sets in its workers, so that nested work does not use more cores than there are.
    for name in ("BAYESKIT_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    affinity = getattr(os, "sched_getaffinity", None)  # macOS and Windows do not tell
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def n_threads(cells: int | None = None) -> int:
    """Return the number of threads to use, for work on this many cells where the size is known."""
    if cells is not None and cells < 2 * CELLS_PER_THREAD:
        return 1  # said before the environment is read, which takes longer than one row
    wanted = _wanted.get()
    available = _from_environment() if wanted is None else wanted
    return available if cells is None else min(available, cells // CELLS_PER_THREAD)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit the kernels to ``n`` threads inside a ``with`` block; results do not depend on it.

    By default all cores are used where the work is large enough to pay for them. The environment variables
    ``BAYESKIT_NUM_THREADS`` and ``OMP_NUM_THREADS`` limit a whole process.

    Examples
    --------
    >>> import bayeskit
    >>> with bayeskit.threads(1):
    ...     pass
    """
    if operator.index(n) < 1:
        raise ValueError(f"threads takes a whole number of at least 1; got {n!r}.")
    token = _wanted.set(n)
    try:
        yield
    finally:
        _wanted.reset(token)
