"""The columns of a model in a table file: read batch by batch, in the types that the model needs."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitWarning, TableError
from bayeskit.kinds.written import refuse_unfit
from bayeskit.table.conventions import MARKERS, Convention, argument_for
from bayeskit.table.missing_words import without_numbers
from bayeskit.table.names import not_found
from bayeskit.workflow.drift import DriftCounter
from bayeskit.workflow.trained import TrainedModel
from bayeskit.workflow.wording import count

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.files import Rows


# The largest number of absent columns that are named individually.
MOST_NAMED = 3
# The same for columns that differ from those in training.
MOST_DRIFTS = 5


def column_types(model: Any) -> dict[str, pa.DataType]:
    """Return the type in which each column of a model must be read."""
    import pyarrow as pa

    from bayeskit.kinds import kind_of

    types = {"text": pa.string(), "truth": pa.bool_(), "number": pa.float64(), "flag": pa.float64()}
    return {variable.name: types[kind_of(variable).cells(variable)] for variable in model.schema_}


def target_type(model: Any) -> pa.DataType:
    """Return the type in which the target must be read."""
    import pyarrow as pa

    kind = model.classes_.dtype.kind
    return pa.bool_() if kind == "b" else pa.float64() if kind in "iuf" else pa.string()


class ModelColumns:
    """The columns of a model in one file, and the cells that did not fit.

    A column that the file does not have is missing in every row, so that the model sums it out; a value that was not
    seen in fit, or a cell that is not a number, is missing too. All of them are counted, and :meth:`warn` reports them
    at the end.

    Parameters
    ----------
    model : classifier or TrainedModel
        The model; a :class:`bayeskit.workflow.trained.TrainedModel` knows how its columns are written.
    file : TableFile or ScannedRows
        The file.
    strict : bool
        Raise an error for an absent column and for an unseen value, instead of counting them.
    decimal : {".", ","}, optional
        The decimal separator of the file, where it differs from that of the training table.
    """

    def __init__(self, model: Any, file: Rows, *, strict: bool = False, decimal: str | None = None) -> None:
        self.model = model if isinstance(model, TrainedModel) else TrainedModel(model)
        self.file, self.strict = file, strict
        self.types = column_types(model)
        flags = {variable.name: Convention("number", truth=True) for variable in model.schema_ if _is_flag(variable)}
        self.conventions: dict[str, Convention] = {**flags, **self.model.conventions}
        self.n_rows = 0
        self.unseen: Counter[str] = Counter()  # column → cells whose value the model has not seen
        self._example: dict[str, Any] = {}
        self.misread: Counter[str] = Counter()  # column → cells that are no number or date
        profile = self.model.profile
        self.drift = None if profile is None else DriftCounter(profile)  # how the rows differ from those in training
        if decimal is not None:
            self._take_decimal(decimal)
        # Column of the model → column of the file.
        self.source = {name: self.model.conversions.source_of.get(name, name) for name in self.types}
        here = set(file.names)
        self.absent = [name for name, source in self.source.items() if source not in here]
        if self.absent and (strict or len(self.absent) == len(self.types)):
            what = not_found("column", self.source[self.absent[0]], file.names)
            raise TableError(f"{file.shown} does not fit the model: {what}")

    def _take_decimal(self, decimal: str) -> None:
        import pyarrow as pa

        for name, kind in self.types.items():
            if pa.types.is_floating(kind):
                known = self.conventions.get(name, Convention("number"))
                self.conventions[name] = replace(known, decimal=decimal)

    def batches(self, others: dict[str, pa.DataType | None] | None = None) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield batches of the file: the model's columns in its order, and the other columns asked for.

        None as the type of another column is the type in which the file holds it.
        """
        import pyarrow as pa

        more = dict(others or {})
        self.file.refuse_absent(more)
        respelled = dict(self.model.conversions.spellings)
        wanted: dict[str, Any] = {}
        for name, source in self.source.items():
            if name not in self.absent:
                as_held = source in self.conventions or source in respelled
                wanted[source] = None if as_held else self.types[name]
        # A column of the model that is asked for as well, as text or as a label, is read once, as it is held.
        asked = {name: (kind if wanted.get(name, kind) == kind else None) for name, kind in more.items()}
        for batch in self.file.batches({**wanted, **asked}):
            if batch.num_rows:
                table = pa.Table.from_batches([batch])
                kept = {name: _in_type(table[name], kind, name) for name, kind in more.items()}
                ours = self._model_columns(table)
                if self.drift is not None:
                    self.drift.add(ours, frozenset(self.absent))
                self.n_rows += len(table)
                yield ours, pa.table(kept) if kept else table.select([])

    def posterior(self, table: pa.Table) -> NDArray[np.float64]:
        """Return P(c | x) of a batch of the model's columns, (n_rows, n_classes); absent ones are summed out."""
        return self.model.predict_proba(table, hidden=self.absent)

    def row_of(self, table: pa.Table, row: int) -> dict[str, Any]:
        """Return the cells of one row of a batch, without those of absent columns."""
        cells: dict[str, Any] = table.drop_columns(self.absent).slice(row, 1).to_pylist()[0]
        return cells

    def _model_columns(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa

        columns: dict[str, Any] = {}
        made: dict[str, dict[str, Any]] = {}
        for name, kind in self.types.items():
            source = self.source[name]
            if name in self.absent:
                columns[name] = pa.nulls(len(table), kind)
                continue
            convention = self.conventions.get(source)
            cells = self.model.conversions.respelled(table[source], source)
            if convention is None and pa.types.is_string(cells.type) and pa.types.is_floating(kind):
                convention = Convention("number")  # read as text, since it is wanted as it was written too
            if convention is None:
                missing = self.model.conversions.missing_in(source)
                columns[name] = without_numbers(_in_type(cells, kind, name), missing)
            else:
                if source not in made:
                    made[source] = self._converted(cells, source, convention)
                columns[name] = _in_type(made[source][name], kind, name)
            self._check_values(columns[name], name, len(table))
        return pa.table(columns)

    def _converted(self, column: Any, name: str, convention: Convention) -> dict[str, Any]:
        made, odd = convention.convert(column, name, self.model.conversions.missing_in(name))
        if len(odd):
            if not convention.lenient or self.strict:
                row = int(odd[0])
                raise TableError(
                    f"{self.file.place(self.n_rows + row)}: column {name!r} must hold {convention.holds}; got "
                    f"{column[row].as_py()!r}. Leave the cell empty if the value is not known.",
                    argument_for(column[row].as_py(), convention.decimal),
                )
            # Markers such as k.A. were read as missing in training as well.
            strange = [cell for cell in column.take(odd).to_pylist() if str(cell).strip().lower() not in MARKERS]
            if strange:
                self.misread[name] += len(strange)
                self._example.setdefault(name, strange[0])
        return made

    def _check_values(self, column: Any, name: str, n_rows: int) -> None:
        """Count values that the model has not seen; refuse an infinite number with its row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from bayeskit.kinds import kind_of

        variable = self.model.schema_[name]
        if pa.types.is_floating(column.type):
            infinite = pc.fill_null(pc.is_inf(column), False)
            if pc.any(infinite).as_py():
                row = int(np.asarray(infinite).argmax())
                raise TableError(
                    f"{self.file.place(self.n_rows + row)}: column {name!r} holds {column[row].as_py()}; leave the "
                    "cell empty or put a finite number there."
                )
            if not variable.is_discrete:
                refuse_unfit(column, name, kind_of(variable), lambda row: self.file.place(self.n_rows + row))
        if not variable.is_discrete or variable.is_binned or not variable.values:
            return
        known = pa.array(list(variable.values)).cast(column.type)
        odd = pc.and_(pc.is_valid(column), pc.invert(pc.is_in(column, value_set=known)))
        n = pc.sum(odd).as_py() or 0
        if n:
            row = int(np.asarray(odd).argmax())
            value = column[row].as_py()
            if self.strict:
                seen = ", ".join(map(repr, variable.values[:10])) + (", …" if variable.n_values > 10 else "")
                raise TableError(
                    f"{self.file.place(self.n_rows + row)}: column {name!r} holds {value!r}, which was not seen in "
                    f"training; seen: {seen}."
                )
            self.unseen[name] += n
            self._example.setdefault(name, value)

    def problems(self) -> list[str]:
        """Return a sentence for each column that was absent, or had cells that the model could not use."""
        said = []
        if len(self.absent) > MOST_NAMED:  # of a network, most variables may be hidden
            names = ", ".join(map(repr, self.absent[:MOST_NAMED]))
            said.append(
                f"{self.file.shown} lacks {len(self.absent)} of the model's columns, {names} and others; they are "
                "summed out."
            )
        for name in self.absent if len(self.absent) <= MOST_NAMED else ():
            where = not_found("column", self.source[name], self.file.names).rstrip(".")
            said.append(
                f"{self.file.shown}: {where} It is summed out."
                if where.endswith("?")
                else f"{self.file.shown}: {where}; it is summed out."
            )
        for name, n in self.unseen.items():
            share = "all" if n == self.n_rows > 1 else f"{n} of"
            said.append(
                f"column {name!r}: {share} {count(self.n_rows, 'row')} {'has' if n == 1 else 'have'} a value that was "
                f"not seen in training, such as {self._example[name]!r}; it is summed out there."
            )
        for name, n in self.misread.items():
            cells = count(n, "cell")
            said.append(f"column {name!r}: {cells} such as {self._example[name]!r} read as missing.")
        return said

    def drift_said(self) -> list[str]:
        """Return a sentence for each column whose values differ from those in training; many are counted."""
        drifts = [] if self.drift is None else self.drift.drifts
        said = [
            f"column {drift.name!r} differs from the training table: {drift.what}." for drift in drifts[:MOST_DRIFTS]
        ]
        rest = len(drifts) - len(said)
        return [*said, f"{count(rest, 'column')} more differ from the training table."] if rest > 0 else said

    def warn(self, *, drift: bool = True) -> None:
        """Warn of everything that did not fit, and of columns that differ from those of the training."""
        for sentence in (*self.problems(), *(self.drift_said() if drift else ())):
            warnings.warn(sentence, BayeskitWarning, stacklevel=3)


def _is_flag(variable: Any) -> bool:
    from bayeskit.kinds import kind_of

    return kind_of(variable).cells(variable) == "flag"


def _in_type(column: Any, kind: pa.DataType | None, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind is None or column.type == kind:
        return column
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} of type {column.type} cannot be read as {kind}: {error}.") from error


def batch_labels(
    model: Any, column: Any, done: int, place: Callable[[int], str]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the class positions of a target column and which rows have one; an unknown class is refused.

    ``place`` says where a row of the table is, ``done`` how many come before the batch.
    """
    known = ~np.asarray(column.is_null())
    codes = np.zeros(len(column), dtype=np.intp)
    positions = {label: code for code, label in enumerate(model.classes_.tolist())}
    for row, label in enumerate(column.to_pylist()):
        if known[row]:
            if label not in positions:
                seen = ", ".join(map(repr, model.classes_.tolist()[:10]))
                raise TableError(f"{place(done + row)}: the class {label!r} was not seen in training; seen: {seen}.")
            codes[row] = positions[label]
    return codes, known


def row_of_file(columns: ModelColumns, row: int) -> dict[str, Any]:
    """Return one row of a file as a dict, in terms of the model; the first row is 1."""
    done = 0
    for table, _ in columns.batches():
        if row <= done + len(table):
            return columns.row_of(table, row - done - 1)
        done += len(table)
    raise TableError(f"there is no row {row}: {columns.file.shown} has {count(done, 'row')}.")


def least_certain_rows(columns: ModelColumns, most: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows whose most probable class has the least probability, with their numbers, in constant memory."""
    least: list[tuple[float, int, dict[str, Any]]] = []
    done = 0
    for table, _ in columns.batches():
        confidence = columns.posterior(table).max(axis=1)
        here = np.argsort(confidence, kind="stable")[:most].tolist()
        least += [(float(confidence[i]), done + i + 1, columns.row_of(table, i)) for i in here]
        least = sorted(least, key=lambda item: item[:2])[:most]
        done += len(table)
    if not done:
        raise TableError(f"{columns.file.shown} has no rows.")
    return [(number, cells) for _, number, cells in least]
