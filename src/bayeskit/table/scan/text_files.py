"""Files that are read from their beginning as scans: a piece is a file. Types of text are those of the first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.files import TableFile
from bayeskit.table.scan.pieces import iterate, sort_of

if TYPE_CHECKING:
    import pyarrow as pa

# Types are inferred from this many batches.
_LOOKED_AT = 2


@dataclass(frozen=True)
class FilePiece:
    """A file, with the type of each column; None is the type in which the file holds it."""

    path: str
    types: tuple[tuple[str, Any], ...]
    options: tuple[tuple[str, Any], ...] = ()
    n_rows: int | None = None

    @property
    def name(self) -> str:
        """The file."""
        return f"'{self.path}'"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the file batch by batch; a cell that does not fit the type of its column is an error with its line."""
        types = dict(self.types)
        file = TableFile.open(self.path, detect=False, **dict(self.options))
        return iterate(file.batches({name: types[name] for name in columns}), self.name)

    def with_types(self, types: Mapping[str, Any]) -> FilePiece:
        """Return the same file, read with other types; None keeps the file's own type (text for CSV)."""
        return replace(self, types=tuple({**dict(self.types), **types}.items()))


def open_file(
    path: Path, types: dict[str, Any] | None, options: dict[str, Any]
) -> tuple[pa.Schema, FilePiece, dict[str, Any] | None]:
    """Open a file; ``types`` are those of the first file of text, and are returned with the types of this one."""
    import pyarrow as pa

    file = TableFile.open(path, detect=False, **options)
    if file.reader.types is not None:
        read_as: dict[str, Any] = dict.fromkeys(file.names)
        schema = pa.schema(file.reader.types.items())
    else:
        read_as = types = _infer(file) if types is None else types
        schema = pa.schema([(name, types.get(name, pa.string())) for name in file.names])
    return schema, FilePiece(str(path), tuple(read_as.items()), tuple(options.items())), types


def _infer(file: TableFile) -> dict[str, Any]:
    """Return a type for each column from the first rows: doubles for numbers, since later ones may have decimals."""
    import pyarrow as pa

    text: dict[str, Any] = dict.fromkeys(file.names)
    batches = list(islice(file.batches(text), _LOOKED_AT))
    if not batches:
        raise TableError(f"{file.raw.shown} has a header and no rows.")
    head = pa.Table.from_batches(batches)
    return {name: _narrowest(head[name]) for name in file.names}


def _narrowest(column: Any) -> pa.DataType:
    import pyarrow as pa
    import pyarrow.compute as pc

    if sort_of(column.type) != "text":
        return pa.float64() if sort_of(column.type) == "number" else column.type
    if column.null_count == len(column):
        return pa.string()
    # Codes such as 007 are names, though they would pass for numbers.
    if pc.any(pc.match_substring_regex(column, r"^\s*[+-]?0[0-9]")).as_py():
        return pa.string()
    try:
        pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return pa.string()
    return pa.float64()
