"""Files of one table whose columns differ: a column that a file lacks is missing there, and whole numbers widen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError, warn_caller
from bayeskit.table.scan.pieces import sort_of

if TYPE_CHECKING:
    import pyarrow as pa

# Column → the type it has in the whole table, where a file lacks the column or holds it in another type.
Fills = tuple[tuple[str, Any], ...]


def unify(files: Sequence[tuple[str, pa.Schema]]) -> tuple[pa.Schema, list[Fills]]:
    """Return the columns of a table, and what each file lacks or holds otherwise; what differs is said once."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for _, schema in files for name in schema.names))
    types = {name: _type_of(name, files) for name in names}
    fills = [_fills(schema, types) for _, schema in files]
    said = [_differs(name, types[name], files) for name in names]
    if any(said):
        shown = [words for words in said if words]
        more = f"; and {len(shown) - 5} more columns differ" if len(shown) > 5 else ""
        warn_caller(f"the files of this table differ: {'; '.join(shown[:5])}{more}.")
    return pa.schema([(name, types[name]) for name in names]), fills


def _type_of(name: str, files: Sequence[tuple[str, pa.Schema]]) -> Any:
    """Return the type that holds the cells of all files; two sorts of cells are an error that names both files."""
    import pyarrow as pa

    held = [(where, schema.field(name).type) for where, schema in files if name in schema.names]
    known = [(where, kind) for where, kind in held if sort_of(kind) != "nothing"]
    if not known:
        return held[0][1]
    where, first = known[0]
    for there, kind in known[1:]:
        if sort_of(kind) != sort_of(first):
            raise TableError(
                f"column {name!r} is {kind} in '{there}' and {first} in '{where}'; write all parts with one type."
            )
    kinds = {kind for _, kind in known}
    if len(kinds) == 1 or sort_of(first) not in ("number", "text"):
        return first
    if sort_of(first) == "text":
        return pa.string()
    return pa.int64() if all(map(pa.types.is_integer, kinds)) else pa.float64()


def _fills(schema: pa.Schema, types: Mapping[str, Any]) -> Fills:
    """Return what is to be filled in or cast; text is read in its own way, and whole numbers stay what they are."""
    return tuple(
        (name, kind)
        for name, kind in types.items()
        if name not in schema.names or (sort_of(kind) == "number" and _other_number(schema.field(name).type, kind))
    )


def _other_number(here: Any, kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) and not pa.types.is_floating(here))


def _differs(name: str, kind: Any, files: Sequence[tuple[str, pa.Schema]]) -> str:
    """Return in words how a column differs between files; no text where nothing does that matters."""
    absent = [where for where, schema in files if name not in schema.names]
    if absent:
        return (
            f"{len(absent):,} of {len(files):,} have no column {name!r}, which is missing there (first: '{absent[0]}')"
        )
    other = [
        where for where, schema in files if sort_of(kind) == "number" and _other_number(schema.field(name).type, kind)
    ]
    if other:
        held = next(schema.field(name).type for where, schema in files if where == other[0])
        return f"column {name!r} is {held} in {len(other):,} of {len(files):,} and is read as {kind}"
    return ""


def filled(array: Any, kind: Any, n_rows: int) -> Any:
    """Return a column of a file in the type of the table; None, a column that the file lacks, as missing cells."""
    import pyarrow as pa

    if array is None:
        return pa.nulls(n_rows, kind)
    return array if kind is None or kind == array.type else array.cast(kind, safe=False)
