"""No input is overwritten."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from bayeskit.errors import TableError


def refuse_overwriting(output: Path, inputs: Iterable[str | os.PathLike[str] | None]) -> None:
    """Refuse an output that is one of the inputs, under whatever name or link it goes."""
    if not output.exists():
        return
    for path in inputs:
        same = False
        if path is None:
            continue
        if os.fspath(path) == "-":
            with suppress(OSError, ValueError, AttributeError):  # standard input may be no file
                same = os.path.samestat(os.fstat(sys.stdin.fileno()), output.stat())
        else:
            with suppress(OSError):  # an input that is not there is refused by who reads it
                same = os.path.samefile(path, output)
        if same:
            raise TableError(
                f"the output {str(output)!r} is the input {str(path)!r}; give the output another name, so that no data "
                "is lost."
            )
