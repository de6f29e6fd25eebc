"""Delta and Iceberg tables as scans: the files and rows of one version, as the log of the table says."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from bayeskit.errors import TableError
from bayeskit.table.scan import parquet
from bayeskit.table.scan.evolution import unify
from bayeskit.table.scan.pieces import Piece, Scan, iterate, sort_of
from bayeskit.table.scan.storage import FileAt, Storage, first_line

if TYPE_CHECKING:
    import pyarrow as pa

# A version by its number, or what the table was at a time: text in ISO form, or a datetime.
Version = int | str | datetime | None


def open_folder(kind: str, folder: str, version: Version) -> Scan | None:
    """Describe the table in a folder or at a URL whose format is known to be "Delta" or "Iceberg"."""
    if kind == "Delta":
        return open_delta(_delta_table(folder), version)
    if kind == "Iceberg":
        return open_iceberg(_iceberg_table(folder), version)
    raise TableError(
        f"'{folder}' is a table in {kind} format, which is not read here. Scan what a reader of {kind} gives: "
        "spark.read.format('hudi').load(path)."
    )


def _time(version: Version) -> datetime | None:
    """Return the time that is asked for, in UTC where it names no zone; None for the number of a version."""
    if isinstance(version, str):
        try:
            version = datetime.fromisoformat(version)
        except ValueError:
            raise TableError(
                f"version must be a whole number or a time such as '2024-05-01T12:00:00+00:00'; got {version!r}."
            ) from None
    if not isinstance(version, datetime):
        return None
    return version if version.tzinfo is not None else version.replace(tzinfo=UTC)


# -- Delta ----------------------------------------------------------------------------------------------------------


def _delta_table(folder: str) -> Any:
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise TableError(
            f"'{folder}' is a table in Delta format: pip install deltalake, or pip install 'bayeskit[lake]'."
        ) from None
    try:
        return DeltaTable(folder)
    except Exception as error:  # each of its errors derives from Exception alone
        raise TableError(f"'{folder}' cannot be read as a Delta table: {first_line(error)}") from error


def open_delta(table: Any, version: Version = None) -> Scan | None:
    """Describe a ``DeltaTable``, at its version or another one."""
    if not hasattr(table, "to_pyarrow_dataset"):
        return None
    import pyarrow.dataset as ds

    uri = table.table_uri
    try:
        if version is not None:
            table.load_as_version(_time(version) or version)
        dataset = table.to_pyarrow_dataset()
    except TableError:
        raise
    except Exception as error:
        said = "" if version is None else f" at version {version}"
        raise TableError(f"the Delta table '{uri}'{said} cannot be read: {first_line(error)}") from error
    root = unquote(urlsplit(uri).path) if uri.startswith("file://") else None
    described: list[tuple[str, Any, list[Piece]]] = []
    for fragment in dataset.get_fragments():
        storage = None if root is not None else Storage(fragment.filesystem, f"{uri.rstrip('/')}/")
        at = FileAt(fragment.path if root is None else str(Path(root) / fragment.path), storage)
        values = ds.get_partition_keys(fragment.partition_expression)
        folders = tuple((name, value, dataset.schema.field(name).type) for name, value in values.items())
        lacking = [name for name in table.metadata().partition_columns if name not in values]
        folders += tuple((name, None, dataset.schema.field(name).type) for name in lacking)
        schema, pieces = parquet.open_file(at, folders)
        described.append((at.shown, schema, list(pieces)))
    # The log names all columns, of which old files may lack some.
    _, fills = unify([("the log of the table", dataset.schema), *((shown, schema) for shown, schema, _ in described)])
    in_order = tuple(
        piece.filled(fill) if fill else piece  # type: ignore[attr-defined]
        for (_, _, more), fill in zip(described, fills[1:], strict=True)
        for piece in more
    )
    return Scan(f"the Delta table '{uri}', version {table.version()}", dataset.schema, in_order)


# -- Iceberg --------------------------------------------------------------------------------------------------------


def _iceberg_table(folder: str) -> Any:
    """Open a table by the newest file of its metadata."""
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise TableError(
            f"'{folder}' is a table in Iceberg format: pip install pyiceberg, or pip install 'bayeskit[lake]'."
        ) from None
    from bayeskit.table.scan.storage import is_url, resolve

    if is_url(folder):
        storage, path = resolve(folder)
        places = [storage.shown(each) for each in storage.files(f"{path}/metadata")]
    else:
        places = [str(each) for each in Path(folder, "metadata").iterdir()]
    newest = max((each for each in places if each.endswith(".metadata.json")), key=_number_of)
    try:
        return StaticTable.from_metadata(newest)
    except Exception as error:
        raise TableError(f"'{newest}' cannot be read as metadata of Iceberg: {first_line(error)}") from error


def _number_of(place: str) -> tuple[int, str]:
    """Return the number in the name of a file of metadata, as in v12.metadata.json and 00012-….metadata.json.

    >>> max(["a/v9.metadata.json", "a/v10.metadata.json"], key=_number_of)
    'a/v10.metadata.json'
    """
    name = place.rsplit("/", 1)[-1]
    number = re.match(r"v?([0-9]+)", name)
    return (int(number[1]) if number else -1, name)


def open_iceberg(table: Any, version: Version = None) -> Scan | None:
    """Describe a ``Table`` of pyiceberg, at its current snapshot or another one, by number or time."""
    if not hasattr(table, "snapshot_by_id"):
        return None
    when, snapshot = _time(version), version
    try:
        if when is not None:
            known = table.snapshot_as_of_timestamp(int(when.timestamp() * 1000))
            if known is None:
                raise TableError(
                    f"the Iceberg table '{table.location()}' has no snapshot as old as {when.isoformat()}."
                )
            snapshot = known.snapshot_id
        elif version is not None and table.snapshot_by_id(version) is None:
            ids = [each.snapshot_id for each in table.snapshots()]
            shown = f"the last of {len(ids):,} is {ids[-1]}" if ids else "there is none"
            raise TableError(f"the Iceberg table '{table.location()}' has no snapshot {version}; {shown}.")
        asked = table.scan(snapshot_id=snapshot)
        schema = asked.projection()
        tasks = list(asked.plan_files())
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        names = schema_to_pyarrow(schema, include_field_ids=False)
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"the Iceberg table '{table.location()}' cannot be read: {first_line(error)}") from error
    pieces = tuple(IcebergPiece(task, table.metadata, table.io, schema) for task in tasks)
    return Scan(f"the Iceberg table '{table.location()}'", names, pieces)


@dataclass(frozen=True)
class IcebergPiece:
    """A file of a snapshot, read by pyiceberg: columns go by their numbers, and removed rows are left out."""

    task: Any  # pyiceberg.table.FileScanTask
    metadata: Any
    io: Any
    schema: Any

    @property
    def name(self) -> str:
        """The file."""
        return f"'{self.task.file.file_path}'"

    @property
    def n_rows(self) -> int | None:
        """What the log says, unless rows of the file were removed."""
        return None if self.task.delete_files else int(self.task.file.record_count)

    @property
    def identity(self) -> tuple[Any, ...]:
        """What must be the same where counts of this file are used again; no file of a table is written twice."""
        file = self.task.file
        removed = sorted(each.file_path for each in self.task.delete_files)
        return (file.file_path, file.file_size_in_bytes, file.record_count, tuple(removed))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the file; text comes in dictionary form, in which each value is decoded once."""
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow

        schema = self.schema.select(*columns)
        types = schema_to_pyarrow(schema, include_field_ids=False)
        texts = tuple(field.name for field in types if sort_of(field.type) == "text")
        logging.getLogger("pyiceberg.io.pyarrow").addFilter(_is_no_dictionary_warning)
        read = ArrowScan(self.metadata, self.io, schema, AlwaysTrue(), dictionary_columns=texts)
        for batch in iterate(read.to_record_batches([self.task]), self.name):
            yield batch.select(list(columns))


def _is_no_dictionary_warning(record: logging.LogRecord) -> bool:
    # It is logged for each column of each file, though dictionaries were asked for.
    return not str(record.msg).startswith("Iceberg does not have a dictionary type")
