"""The tables that a verb is given: one file, or several files, a glob or a folder, which are read piece by piece."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayeskit.cli import screen

if TYPE_CHECKING:
    from bayeskit.table.scan import Scan

# A file with more bytes than this, or a Parquet file with more cells, is not read into memory unless asked for.
MOST_BYTES = 1 << 30
MOST_CELLS = 1 << 26
# Seconds of work after which the sums are kept, so that an interruption does not lose them.
_LONG_WORK = 300.0


def is_many(data: Sequence[str]) -> bool:
    """Return whether the arguments are more than one file: several, a folder, a URL, or an unexpanded glob."""
    from bayeskit.table.scan.storage import is_url

    if len(data) != 1 or is_url(data[0]):
        return True
    path = Path(data[0])
    return path.is_dir() or (not path.exists() and any(sign in data[0] for sign in "*?["))


def scan_of(
    data: Sequence[str],
    stream: bool | None,
    encoding: str,
    delimiter: str | None,
    missing: Sequence[str],
    snapshot: str | None = None,
    *,
    skip_broken: bool = False,
) -> Scan | None:
    """Return the table as a scan where it must be read piece by piece, and None where it is a file for memory."""
    many = is_many(data)
    if many and stream is False:
        raise typer.BadParameter(
            "several files are one table that is read piece by piece; give one file to read it into memory.",
            param_hint="--no-stream",
        )
    if "-" in data:
        if many or stream:
            raise typer.BadParameter("standard input is read once, and alone; give files.", param_hint="DATA")
        return None
    if not many and stream is not True and (stream is False or not is_large(data[0])):
        for name, given in (("--snapshot", snapshot), ("--skip-broken", skip_broken)):
            if given:
                raise typer.BadParameter("a file that is read into memory does not have it.", param_hint=name)
        return None
    from bayeskit.table.scan.open import open_paths

    options: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "missing": tuple(missing)}
    version = int(snapshot) if snapshot is not None and snapshot.isdecimal() else snapshot
    scan = open_paths(data[0] if len(data) == 1 else list(data), version, skip_broken=skip_broken, **options)
    return replace(scan, skip_broken=skip_broken)


def kept_beside(scan: Scan | None, place: Path, wanted: bool | None) -> Scan | None:
    """Return the scan with a checkpoint beside the model; None is one for work of more than five minutes."""
    from bayeskit.table.scan.checkpoint import Checkpoint

    if scan is None:
        if wanted:
            raise typer.BadParameter("a file that is read into memory has none.", param_hint="--checkpoint")
        return None
    if wanted is False:
        return scan
    folder = place.with_name(f"{place.name}.checkpoint")
    return replace(scan, checkpoint=Checkpoint(folder, 0.0 if wanted else _LONG_WORK, screen.note))


def refuse_parts_of_scan(scan: Scan | None, sheet: str | None, skip: int) -> None:
    """Raise an error for options of one file, where a table is read piece by piece."""
    for name, given in (("--sheet", sheet), ("--skip", skip)):
        if scan is not None and given:
            raise typer.BadParameter("a table that is read piece by piece does not have it.", param_hint=name)


def is_large(path: str) -> bool:
    """Return whether a file is too large to be read into memory without being asked to."""
    try:
        if os.path.getsize(path) > MOST_BYTES:
            return True
        with open(path, "rb") as file:
            if file.read(4) != b"PAR1":
                return False
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
    except (OSError, ValueError):
        return False  # who reads it says what is wrong with it
    return bool(metadata.num_rows * metadata.num_columns > MOST_CELLS)


def inputs(data: Sequence[str], scan: Any) -> list[str]:
    """Return the files that are read, which no output may overwrite."""
    return list(data) if scan is None else [piece.name.split("'")[1] for piece in scan.pieces]
