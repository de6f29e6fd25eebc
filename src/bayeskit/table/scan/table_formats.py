"""Folders whose own log says which files hold rows, so that reading all of them would count removed rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bayeskit.errors import TableError

# What lies in the folder of a table → the name of its format, and a reader whose result can be scanned.
_MARKS = {
    "_delta_log": ("Delta", "DeltaTable(path).to_pyarrow_dataset() of the package deltalake"),
    "metadata/*.metadata.json": ("Iceberg", "table.scan().to_arrow() of the package pyiceberg"),
    ".hoodie": ("Hudi", "spark.read.format('hudi').load(path)"),
}


def refuse_table_formats(paths: Iterable[Path], top: Path) -> None:
    """Raise an error where a file below the folder ``top`` is one of a Delta, Iceberg or Hudi table."""
    for folder in dict.fromkeys(folder for path in paths for folder in _folders(path, top)):
        for mark, (name, reader) in _MARKS.items():
            if next(folder.glob(mark), None) is not None:
                raise TableError(
                    f"'{folder}' is a table in {name} format: its log says which files hold rows, and others hold "
                    f"removed rows. Scan what a reader of {name} gives: {reader}."
                )


def _folders(path: Path, top: Path) -> list[Path]:
    """Return the folders that may be the table's: up to ``top``, and above it those of partitions and data."""
    folders = []
    for folder in path.absolute().parents:
        folders.append(folder)
        if top not in folder.parents and "=" not in folder.name and folder.name != "data":
            break
    return folders
