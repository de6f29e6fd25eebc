"""No input is overwritten, and no file that bayeskit did not write is replaced unless the user says so."""

from __future__ import annotations

import os
import stat
import sys
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError

# Near its beginning a report or a drawing says who made it.
MADE_BY = 'data-made-by="bayeskit"'


def refuse_overwriting(
    output: Path | None, inputs: Iterable[str | os.PathLike[str] | None], *, force: bool = True
) -> None:
    """Refuse an output that is one of the inputs, under whatever name or link it goes; None is standard output.

    Without ``force``, refuse also a file that is there and has none of the signs by which bayeskit knows its own.
    """
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
    if not force and output is not None and written.st_size and not is_from_bayeskit(output):
        raise TableError(
            f"{str(output)!r} is there already, and nothing in it says that bayeskit wrote it; give another name, or "
            "say with force that it may be replaced.",
            "force",
        )


def is_from_bayeskit(path: Path) -> bool:
    """Return whether a file says that bayeskit wrote it: a model file, a report or a drawing."""
    with open(path, "rb") as file:
        head = file.read(4096)
    if MADE_BY.encode() in head:
        return True
    from bayeskit.io.header import FORMAT  # which needs NumPy

    try:
        with zipfile.ZipFile(path) as container, container.open("model.json") as header:
            return FORMAT.encode() in header.read(4096)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def _status(file: Any) -> os.stat_result | None:
    """Return what the system knows of a file or an open stream, None where it is no file with content of its own."""
    with suppress(OSError, ValueError, AttributeError):  # what is not there is refused by who reads it
        status = os.stat(file.fileno() if hasattr(file, "fileno") else file)
        return status if stat.S_ISREG(status.st_mode) else None
    return None
