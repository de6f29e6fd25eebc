"""The columns of a scan as models read them: numbers, dates and labels by the conventions of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.conversions import Conversions
from bayeskit.table.missing_words import without_numbers
from bayeskit.table.scan import Scan
from bayeskit.table.scan.pieces import sort_of

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.conventions import Convention


@dataclass(frozen=True)
class ScanConversion:
    """How the columns of a table become those of a sample that was read; a :class:`Conversion` of a scan."""

    types: Mapping[str, Any]  # column of the result → its type
    conversions: Conversions  # which go into the schema of a model that learns from the scan

    def source(self, name: str) -> str:
        """Return the column of the table of which a column of the result is made."""
        return self.conversions.source_of.get(name, name)

    def read_for(self, names: Sequence[str]) -> list[str]:
        """Return the columns that must be read for some columns of the result."""
        return list(dict.fromkeys(map(self.source, names)))

    def convert(self, batch: pa.RecordBatch, names: Sequence[str], place: str) -> pa.RecordBatch:
        """Return these columns of a batch; a cell that is not a number or date where one must be is an error."""
        import pyarrow as pa

        made: dict[str, dict[str, Any]] = {}
        columns = []
        for name in names:
            source = self.source(name)
            column = self.conversions.respelled(batch.column(batch.schema.get_field_index(source)), source)
            convention = self.conversions.conventions.get(source)
            if convention is not None:
                if source not in made:
                    missing = self.conversions.missing_in(source)
                    made[source] = _converted(plain(column), source, convention, place, missing)
                column = made[source][name]
            else:
                column = _in_type(column, self.types[name], name, place)
                column = without_numbers(column, self.conversions.missing_in(source))
            columns.append(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        return pa.record_batch(columns, names=list(names))


def as_models_read(scan: Scan, columns: ScanConversion, names: Sequence[str]) -> Scan:
    """Return a scan with some of the converted columns; text files are parsed straight into their types."""
    import pyarrow as pa

    known = columns.conversions.conventions
    held = {*known, *dict(columns.conversions.spellings)}
    direct = {columns.source(name): None if columns.source(name) in held else columns.types[name] for name in names}
    schema = pa.schema([(name, columns.types[name]) for name in names])
    return replace(scan.with_types(direct), schema=schema, conversion=columns)


def plain(column: Any) -> Any:
    """Return a column without its dictionary."""
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _converted(column: Any, name: str, convention: Convention, place: str, missing: Sequence[str]) -> dict[str, Any]:
    made, odd = convention.convert(column, name, missing)
    if len(odd) and not convention.lenient:
        raise TableError(
            f"{place}: column {name!r} must hold {convention.holds}, as all rows of the sample do; got "
            f"{column[int(odd[0])].as_py()!r}. Leave the cell empty if the value is not known.",
            "missing",
        )
    # Folds by time need the date itself.
    return {name: convention.parse(column)[0], **made} if convention.what == "date" else made


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

    def kind(given: Any) -> Any:
        if pa.types.is_dictionary(given):  # in order in the schema; the batches hold text
            return given.value_type
        return pa.float64() if pa.types.is_integer(given) else given

    return {field.name: kind(field.type) for field in table.schema}
