"""No input is overwritten."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError


def refuse_overwriting(output: Path | None, inputs: Iterable[str | os.PathLike[str] | None]) -> None:
    """Refuse an output that is one of the inputs, under whatever name or link it goes; None is standard output."""
    written = _status(sys.stdout if output is None else output)
    if written is None:
        return
    for path in inputs:
        read = None if path is None else _status(sys.stdin if os.fspath(path) == "-" else path)
        if read is not None and os.path.samestat(read, written):
            shown = "standard output" if output is None else f"the output {str(output)!r}"
            raise TableError(
                f"{shown} is the input {str(path)!r}; give the output another name, so that no data is lost."
            )


def _status(file: Any) -> os.stat_result | None:
    """Return what the system knows of a file or an open stream, None where it is no file with content of its own."""
    with suppress(OSError, ValueError, AttributeError):  # what is not there is refused by who reads it
        status = os.stat(file.fileno() if hasattr(file, "fileno") else file)
        return status if stat.S_ISREG(status.st_mode) else None
    return None
