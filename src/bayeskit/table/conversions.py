"""What the reader did to the columns of a table: a small value that travels with a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from bayeskit.errors import MergeError, TableError, warn_caller
from bayeskit.table.conventions import MARKERS, Convention
from bayeskit.table.missing_words import is_text, without_numbers, without_usual, without_words
from bayeskit.table.spellings import respelled

if TYPE_CHECKING:
    from bayeskit.table.schema import Variable


@dataclass(frozen=True)
class Conversions:
    """How the raw columns of a table become those of a model.

    Examples
    --------
    >>> made = Conversions((("sold", Convention("date", order="dmy", origin="2019-01-01", parts=("year",))),), ("id",))
    >>> made.source_of
    {'sold (year)': 'sold'}
    >>> Conversions.from_json(made.to_json()) == made
    True
    """

    columns: tuple[tuple[str, Convention], ...] = ()  # raw column → how its cells are written
    left_out: tuple[str, ...] = ()  # raw columns that no model reads
    missing: tuple[str, ...] = ()  # words for a missing cell, besides the usual ones
    # Raw column → what is written there and what it means; None is a missing cell.
    spellings: tuple[tuple[str, tuple[tuple[str, str | None], ...]], ...] = ()

    @cached_property
    def conventions(self) -> dict[str, Convention]:
        """The convention of each raw column that has one."""
        return dict(self.columns)

    @cached_property
    def source_of(self) -> dict[str, str]:
        """The raw column of each converted column."""
        return {made: name for name, convention in self.columns for made in convention.outputs(name)}

    @cached_property
    def _meant(self) -> dict[str, dict[str, str | None]]:
        return {name: dict(pairs) for name, pairs in self.spellings}

    def respelled(self, column: Any, name: str) -> Any:
        """Return the cells of a raw column as Arrow holds them, with other spellings of a value replaced."""
        return respelled(as_arrow(column), self._meant[name]) if name in self._meant else column

    def missing_in(self, name: str) -> tuple[str, ...]:
        """Return the words for a missing cell of a raw column, besides the usual ones."""
        meant = self._meant.get(name, {})
        return (*self.missing, *(word for word, value in meant.items() if value is None))

    def used_by(self, names: Collection[str], raw: Sequence[str], target: str | None) -> Conversions:
        """Return what a model with these columns needs, given the raw columns; the others are left out."""
        wanted = {self.source_of.get(name, name) for name in names}
        columns = tuple((name, convention) for name, convention in self.columns if name in wanted)
        left_out = tuple(name for name in raw if name not in wanted and name != target)
        spellings = tuple((name, pairs) for name, pairs in self.spellings if name in wanted or name == target)
        return replace(self, columns=columns, left_out=left_out, spellings=spellings)

    def union(self, other: Conversions) -> Conversions:
        """Return what reads the raw rows of both; a column that is written in two ways is an error."""
        for name, theirs in other.columns:
            if (ours := self.conventions.get(name)) is not None and ours != theirs:
                raise MergeError(
                    f"column '{name}' was converted in one way on one side ({ours.described}) and in another on the "
                    f"other ({theirs.described}); read both tables by one bayeskit.read."
                )
        return self

    def to_json(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        columns = [[name, convention.to_json()] for name, convention in self.columns]
        spellings = [[name, [list(pair) for pair in pairs]] for name, pairs in self.spellings]
        words = {"left_out": list(self.left_out), "missing": list(self.missing), "spellings": spellings}
        return {"columns": columns, **words}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Read what :meth:`to_json` gave; the file may be untrusted."""
        columns = tuple((_text(name), Convention.from_json(each)) for name, each in data["columns"])
        spellings = tuple(
            (_text(name), tuple((_text(written), None if meant is None else _text(meant)) for written, meant in pairs))
            for name, pairs in data["spellings"]
        )
        return cls(columns, tuple(map(_text, data["left_out"])), tuple(map(_text, data["missing"])), spellings)

    def apply(self, raw: Mapping[str, Any], variables: Sequence[Variable]) -> dict[str, Any]:
        """Return the columns of a model, as Arrow arrays or as they came, from raw columns.

        A column that is there in its converted form already, such as ``sold (year)``, is taken as it is; one that is
        not there at all is left out of the result.
        """
        made: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for variable in variables:
            source = self.source_of.get(variable.name, variable.name)
            if source not in raw:
                if variable.name in raw:
                    made[variable.name] = raw[variable.name]
                continue
            convention = self.conventions.get(source)
            if convention is not None:
                if source not in parts:
                    parts[source] = self._converted(self.respelled(raw[source], source), source, convention)
                made[variable.name] = parts[source][variable.name]
            else:
                made[variable.name] = self._plain(self.respelled(raw[source], source), variable)
        return made

    def _converted(self, column: Any, name: str, convention: Convention) -> dict[str, Any]:
        import pyarrow as pa

        cells = without_words(without_usual(as_arrow(column)), self.missing)
        known = pa.types.is_temporal(cells.type) or pa.types.is_null(cells.type) or is_text(cells)
        if not known and convention.what == "date":
            raise TableError(
                f"column {name!r} must hold dates, as in training; got cells such as {cells[0].as_py()!r}."
            )
        outputs, odd = convention.convert(cells, name, self.missing_in(name))
        if len(odd):
            got = cells[int(odd[0])].as_py()
            if not convention.lenient:
                refuse_cell(int(odd[0]), name, convention.holds, got)
            strange = [cell for cell in cells.take(odd).to_pylist() if cell.strip().lower() not in MARKERS]
            if strange:
                n = "1 cell" if len(strange) == 1 else f"{len(strange)} cells"
                warn_caller(
                    f"column {name!r}: {n} such as {strange[0]!r} read as missing, since each must hold "
                    f"{convention.holds}."
                )
        return outputs

    def _plain(self, column: Any, variable: Variable) -> Any:
        """Return a column that was not converted; text where the model has numbers or booleans is read as such."""
        is_text_column = _holds_text(column)
        wanted = "text"
        if variable.is_numeric or variable.is_binned:
            wanted = "number"
        elif variable.values and not isinstance(variable.values[0], str):
            wanted = "truth" if isinstance(variable.values[0], bool) else "number"
        if not self.missing and not is_text_column:
            return column
        cells = without_words(without_usual(as_arrow(column), variable.values or ()), self.missing)
        if not is_text_column or wanted == "text":
            return cells
        convention = Convention("truth") if wanted == "truth" else Convention("number", truth=True)
        parsed, odd = convention.parse(cells)
        if len(odd):
            refuse_cell(int(odd[0]), variable.name, convention.holds, cells[int(odd[0])].as_py())
        return without_numbers(parsed, self.missing_in(variable.name))


def refuse_cell(row: int, name: str, holds: str, got: Any) -> None:
    """Raise an error for a cell that is not what its column holds."""
    raise TableError(f"row {row}: column {name!r} must hold {holds}; got {got!r}. Use None if the value is not known.")


def as_arrow(column: Any) -> Any:
    """Return a series, an array or a list of cells as an Arrow array; a plain value is one cell."""
    import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    if hasattr(column, "to_arrow"):  # polars and narwhals
        column = column.to_arrow()
    elif isinstance(column, str | bytes) or not hasattr(column, "__iter__"):
        column = pa.array([column])
    else:
        column = pa.array(column, from_pandas=True)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def _holds_text(column: Any) -> bool:
    dtype = str(getattr(column, "dtype", getattr(column, "type", "")))
    if dtype and dtype != "object":
        return "str" in dtype.lower()
    cells = [column] if isinstance(column, str) or not hasattr(column, "__iter__") else column
    return any(isinstance(cell, str) for cell in cells)


def _text(word: Any) -> str:
    if not isinstance(word, str):
        raise ValueError(f"not a name: {word!r:.100}")
    return word
