"""Reading what was uploaded: in a worker, so that a stranger's file costs no more than the worker may have."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayeskit.errors import TooLargeError
from bayeskit.studio.network_tasks import Report

MOST_BYTES = 64 << 20  # of a network, which the server holds itself


def open_file(path: Path, report: Report) -> bytes:
    """Return what a file holds, and the network where it is one, for the server."""
    from bayeskit.studio.documents import recognise

    packed = pickle.dumps(recognise(path))
    if len(packed) > MOST_BYTES:
        raise TooLargeError(
            f"{path.name!r} holds a network of {len(packed) >> 20} MiB; the studio shows up to {MOST_BYTES >> 20} MiB."
        )
    return packed


TASKS: dict[str, Callable[..., Any]] = {"open": open_file}
