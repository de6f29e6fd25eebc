"""Folders whose own log says which files hold rows, so that reading all of them would count removed rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError
from bayeskit.table.scan.storage import FileAt, Storage

# The folder that marks a table → the name of its format.
_MARKS = {"_delta_log": "Delta", "metadata": "Iceberg", ".hoodie": "Hudi"}
_HUDI = "Scan what a reader of Hudi gives: spark.read.format('hudi').load(path)."


def format_of(folder: str, storage: Storage | None = None) -> str | None:
    """Return the format of the table whose folder this is: "Delta", "Iceberg", "Hudi", or None."""
    for mark, name in _MARKS.items():
        if storage is None:
            place = Path(folder) / mark
            there = place.is_dir() and (name != "Iceberg" or next(place.glob("*.metadata.json"), None) is not None)
        else:
            there = storage.is_folder(f"{folder}/{mark}")
            if there and name == "Iceberg":
                there = any(path.endswith(".metadata.json") for path in storage.files(f"{folder}/{mark}"))
        if there:
            return name
    return None


def refuse_table_formats(files: Sequence[FileAt]) -> None:
    """Raise an error where a file is one of a Delta, Iceberg or Hudi table: its log says which files hold rows."""
    for folder, storage in dict.fromkeys(place for file in files for place in _folders(file)):
        name = format_of(folder, storage)
        if name is None:
            continue
        shown = folder if storage is None else storage.shown(folder)
        raise TableError(
            f"'{shown}' is a table in {name} format: its log says which files hold rows, and others hold removed rows. "
            + (_HUDI if name == "Hudi" else f"Scan the folder of the table: scan('{shown}').")
        )


def _folders(file: FileAt) -> list[tuple[Any, Storage | None]]:
    """Return the folders that may be the table's: those of partitions and data, and the first above them."""
    if file.storage is not None and file.storage.prefix.startswith("http"):
        return []  # it has no folders to look into
    path = Path(file.path).absolute() if file.storage is None else Path(file.path)
    n_below, folders = len(file.folders), []
    for level, folder in enumerate(path.parents):
        # To look into each folder of a store takes long; what was scanned, and those above it, are few.
        if file.storage is None or level >= n_below:
            folders.append((folder.as_posix(), file.storage))
        if level >= n_below and "=" not in folder.name and folder.name != "data":
            break
    return folders
