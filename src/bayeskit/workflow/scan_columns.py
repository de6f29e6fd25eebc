"""The columns of a scan as models read them: numbers, dates and labels by the conventions of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import TableError
from bayeskit.kinds.written import part_name
from bayeskit.table.conventions import Convention
from bayeskit.table.dates import parts_of_dates
from bayeskit.table.scan import Scan
from bayeskit.table.scan.pieces import sort_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ScanConversion:
    """How the columns of a table become those of a sample that was read; a :class:`Conversion` of a scan."""

    types: Mapping[str, Any]  # column of the result → its type
    source: Mapping[str, str]  # column of the result → column of the table
    conventions: Mapping[str, Convention]  # column of the table → how its cells are written

    def read_for(self, names: Sequence[str]) -> list[str]:
        """Return the columns that must be read for some columns of the result."""
        return list(dict.fromkeys(self.source[name] for name in names))

    def convert(self, batch: pa.RecordBatch, names: Sequence[str], place: str) -> pa.RecordBatch:
        """Return these columns of a batch; a cell that is not a number or date where one must be is an error."""
        import pyarrow as pa

        dates: dict[str, dict[str, Any]] = {}
        columns = []
        for name in names:
            source = self.source[name]
            column = batch.column(batch.schema.get_field_index(source))
            convention = self.conventions.get(source)
            if convention is not None and convention.what == "date":
                if source not in dates:
                    parsed = _parsed(plain(column), source, convention, place)
                    made = parts_of_dates(parsed, convention.origin, convention.parts)
                    dates[source] = {source: parsed, **{part_name(source, part): made[part] for part in made}}
                column = dates[source][name]
            elif convention is not None:
                column = _parsed(plain(column), source, convention, place)
            else:
                column = _in_type(column, self.types[name], name, place)
            columns.append(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        return pa.record_batch(columns, names=list(names))


def as_models_read(scan: Scan, columns: ScanConversion, names: Sequence[str]) -> Scan:
    """Return a scan with some of the converted columns; text files are parsed straight into their types."""
    import pyarrow as pa

    direct = {
        source: None if source in columns.conventions else columns.types[name]
        for name, source in columns.source.items()
    }
    schema = pa.schema([(name, columns.types[name]) for name in names])
    return replace(scan.with_types(direct), schema=schema, conversion=columns)


def plain(column: Any) -> Any:
    """Return a column without its dictionary."""
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _parsed(column: Any, name: str, convention: Convention, place: str) -> Any:
    parsed, odd = convention.parse(column)
    if len(odd) and not convention.lenient:
        wanted = "a date" if convention.what == "date" else "a number"
        raise TableError(
            f"{place}: column {name!r} must hold {wanted}, as all rows of the sample do; got "
            f"{column[int(odd[0])].as_py()!r}. Leave the cell empty if the value is not known.",
            "missing",
        )
    return parsed


def _in_type(column: Any, kind: Any, name: str, place: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if sort_of(column.type) in (sort_of(kind), "nothing"):
        return column
    try:
        return pc.cast(plain(column), kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        said = str(error).splitlines()[0]
        raise TableError(f"{place}: column {name!r} cannot be read as {kind}, as in the sample: {said}") from error


def result_types(table: pa.Table) -> dict[str, Any]:
    """Return the types in which all rows are read, given the sample: whole numbers as floats, since more may come."""
    import pyarrow as pa

    return {field.name: pa.float64() if pa.types.is_integer(field.type) else field.type for field in table.schema}


def numbers_rows(column: Any, n_rows: int) -> bool:
    """Return whether the sampled whole numbers are those of a column that numbers all rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 2000:
        return False
    values = np.asarray(column)
    if len(np.unique(values)) < len(values):
        return False
    span = int(pc.max(column).as_py()) - int(pc.min(column).as_py()) + 1
    return 0.9 * n_rows <= span <= n_rows
