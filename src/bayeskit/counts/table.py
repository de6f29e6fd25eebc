"""The sufficient statistics of a whole table given its classes: what naive Bayes learns, as one value that adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_bytes, count_classes, count_values, n_threads
from bayeskit.counts.moments import Moments
from bayeskit.counts.values import ValueCounts, ragged
from bayeskit.errors import MergeError, ModelFileError, TableError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.column import Coded
from bayeskit.table.encode import Kinds, encode_column, learn_schema, refuse_infinite
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Variable

# A table of 256 cells a feature and class must stay near the second-level cache to be worth trying.
_MOST_BYTE_CELLS = 1 << 21
# Bytes of codes made for each thread before they are counted.
_CODES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class TableCounts:
    """Counts and moments of every column within every class, with the schema and the classes they speak of.

    ``a + b`` is what one pass over both tables gives: levels and classes become the union, integer counts add exactly.
    ``a - b`` takes rows away again. Nothing is smoothed here.
    """

    schema: Schema
    classes: NDArray[Any]  # (n_classes,), rising
    values: ValueCounts  # of the discrete columns
    moments: Moments  # of the numeric columns
    # Classes that were announced rather than seen stay when their last row is unlearned.
    declared_classes: bool = False

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows (or their weight) of each class."""
        return self.values.n_class

    @property
    def n_rows(self) -> float:
        """Rows counted, or their weight."""
        return self.n_class.sum().item()  # type: ignore[no-any-return]

    @classmethod
    def of(
        cls,
        source: Source,
        schema: Schema,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None = None,
    ) -> TableCounts:
        """Count a table whose schema is known."""
        n_classes = len(classes)
        values = _count_discrete(source, schema, y, n_classes, weight)
        numbers = [encode_column(source.column(j), schema[j]) for j in schema.numeric]
        whole = source.array if source.array is not None and len(numbers) == len(schema) else None
        try:
            moments = Moments.of(numbers if whole is None else whole, y, n_classes, weight)
        except OverflowError as error:
            for column, j in zip(numbers, schema.numeric, strict=True):
                refuse_infinite(column, schema[j].name)
            name = schema[schema.numeric[error.args[0]]].name
            raise TableError(
                f"column '{name}' holds numbers so large that their squares overflow; give it in a larger unit."
            ) from None
        return cls(schema, classes, values, moments)

    @classmethod
    def learn(
        cls,
        source: Source,
        y: NDArray[Any],
        classes: NDArray[Any],
        weight: NDArray[np.float64] | None = None,
        kinds: Kinds = None,
        numeric: str = "gaussian",
        bins: int = 10,
        like: Schema | None = None,
    ) -> TableCounts:
        """Count a table whose schema is learned from it; with ``like``, kinds and bins are those of earlier rows."""
        if kinds == "categorical" and (like is None or all(variable.kind == "categorical" for variable in like)):
            quick = cls._of_small_integers(source, y, classes, weight)
            if quick is not None:
                return quick
        return cls.of(source, learn_schema(source, kinds, numeric, bins, weight, like, y), y, classes, weight)

    @classmethod
    def _of_small_integers(
        cls, source: Source, y: NDArray[Any], classes: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> TableCounts | None:
        # One reading gives both the levels and their counts, when all values are in 0 .. 255.
        array = source.array
        if array is None or array.dtype.kind not in "iu" or len(classes) * array.shape[1] * 256 > _MOST_BYTE_CELLS:
            return None
        cells = count_bytes(array, y, weight, len(classes), n_threads(array.size))
        if cells is None:
            return None
        present = np.asarray(cells.any(axis=2))  # (n_features, 256)
        variables = tuple(
            Variable(name, "categorical", tuple(np.flatnonzero(present[j]).tolist()))
            for j, name in enumerate(source.names)
        )
        values = ValueCounts(
            count_classes(y, weight, len(classes)),
            cells[present],
            ragged([variable.n_values for variable in variables]),
        )
        return cls(Schema(variables, source.named), classes, values, Moments.of([], y, len(classes)))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        text = self.classes.dtype.kind in "OU"
        meta = {
            "schema": self.schema.to_json(),
            "classes": self.classes.tolist() if text else None,
            "text_dtype": self.classes.dtype.str if text else None,
            "declared_classes": self.declared_classes,
        }
        arrays = {
            "n_class": self.values.n_class,
            "n_value": self.values.n_value,
            "moments": np.stack([self.moments.weight, self.moments.mean, self.moments.scatter]),
        }
        return meta, arrays if text else {**arrays, "classes": self.classes}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TableCounts:
        """Read what :meth:`to_parts` gave; every size is checked against the schema."""
        schema = Schema.from_json(meta["schema"])
        classes = read_classes(meta, arrays)
        offsets = ragged([schema[j].n_values for j in schema.discrete])
        dtype = np.float64 if arrays["n_class"].dtype.kind == "f" else np.int64
        n_class = expect_array(arrays, "n_class", dtype, (len(classes),))
        n_value = expect_array(arrays, "n_value", dtype, (int(offsets[-1]), len(classes)))
        moments = expect_array(arrays, "moments", np.float64, (3, len(schema.numeric), len(classes)))
        if (n_class < 0).any() or (n_value < 0).any() or (moments[[0, 2]] < 0).any():
            raise ModelFileError("a count is below zero.")
        if not (np.isfinite(n_class).all() and np.isfinite(n_value).all() and np.isfinite(moments).all()):
            raise ModelFileError("a count is not a finite number.")
        declared = expect_field(meta, "declared_classes", bool)
        return cls(schema, classes, ValueCounts(n_class, n_value, offsets), Moments(*moments), declared)

    def widen(self, schema: Schema, classes: NDArray[Any]) -> TableCounts:
        """Return the same counts under a schema and classes that cover these."""
        if schema is self.schema and classes is self.classes:
            return self
        to_class = np.searchsorted(classes, self.classes).astype(np.int64)
        offsets = ragged([schema[j].n_values for j in schema.discrete])
        position = {j: k for k, j in enumerate(schema.discrete)}
        cells = [
            offsets[position[j]]
            + np.array([schema[j].code_of[value] for value in self.schema[j].values], dtype=np.int64)
            for j in self.schema.discrete
        ]
        rows = np.concatenate(cells) if cells else np.empty(0, dtype=np.int64)
        sizes = [schema[j].n_values for j in schema.discrete]
        values = self.values.remap(sizes, rows, len(classes), to_class)
        numeric = np.array([schema.numeric.index(j) for j in self.schema.numeric], dtype=np.int64)
        moments = self.moments.remap(len(schema.numeric), numeric, len(classes), to_class)
        return replace(self, schema=schema, classes=classes, values=values, moments=moments)

    def __add__(self, other: TableCounts) -> TableCounts:
        schema = self.schema.union(other.schema)
        classes = union_classes(self.classes, other.classes)
        a, b = self.widen(schema, classes), other.widen(schema, classes)
        declared = self.declared_classes or other.declared_classes
        return TableCounts(schema, classes, a.values + b.values, a.moments + b.moments, declared)

    def __sub__(self, other: TableCounts) -> TableCounts:
        schema = self.schema.union(other.schema)
        for ours, theirs in zip(self.schema, other.schema, strict=True):
            strange = [value for value in theirs.values if value not in ours.code_of]
            if theirs.kind != "unknown" and strange:
                raise MergeError(f"column '{ours.name}' never held {strange[0]!r}, so no such row can be taken away.")
        strange = sorted(set(other.classes.tolist()) - set(self.classes.tolist()))
        if strange:
            raise MergeError(f"class {strange[0]!r} was never counted, so no such row can be taken away.")
        b = other.widen(schema, self.classes)
        a = self.widen(schema, self.classes)
        return replace(a, values=a.values - b.values, moments=a.moments - b.moments).narrow()

    def declare(self, classes: NDArray[Any]) -> TableCounts:
        """Return the counts with classes announced that may have no row yet."""
        return replace(self.widen(self.schema, union_classes(self.classes, classes)), declared_classes=True)

    def narrow(self) -> TableCounts:
        """Return the counts without the values and classes that no row has and nobody declared."""
        variables = list(self.schema.variables)
        kept_rows = []
        for k, j in enumerate(self.schema.discrete):
            rows = np.arange(self.values.offsets[k], self.values.offsets[k + 1])
            variable = self.schema[j]
            kept = rows if variable.declared else rows[self.values.n_value[rows].any(axis=1)]
            kept_rows.append(kept)
            if len(kept) < len(rows):
                first = int(self.values.offsets[k])
                variables[j] = replace(variable, values=tuple(variable.values[int(row) - first] for row in kept))
        kept_class = np.flatnonzero(self.n_class) if not self.declared_classes else np.arange(len(self.classes))
        rows = np.concatenate(kept_rows) if kept_rows else np.empty(0, dtype=np.int64)
        values = ValueCounts(
            self.n_class[kept_class],
            self.values.n_value[np.ix_(rows, kept_class)],
            ragged([len(kept) for kept in kept_rows]),
        )
        moments = Moments(
            *(part[:, kept_class] for part in (self.moments.weight, self.moments.mean, self.moments.scatter))
        )
        schema = Schema(tuple(variables), self.schema.named)
        return replace(self, schema=schema, classes=self.classes[kept_class], values=values, moments=moments)


def _count_discrete(
    source: Source, schema: Schema, y: NDArray[Any], n_classes: int, weight: NDArray[np.float64] | None
) -> ValueCounts:
    # Counted whenever enough codes have been made, so that those of a large table never stand in memory all at once;
    # a column that came as codes is counted where it lies, and costs nothing.
    tables = [np.empty((0, n_classes), dtype=np.int64 if weight is None else np.float64)]
    columns: list[NDArray[Any]] = []
    sizes: list[int] = []
    made = 0
    for position, j in enumerate(schema.discrete):
        raw = source.column(j)
        columns.append(encode_column(raw, schema[j]))
        sizes.append(schema[j].n_values)
        if not np.may_share_memory(columns[-1], raw.codes if isinstance(raw, Coded) else raw.values):
            made += columns[-1].nbytes
        if made > n_threads() * _CODES_AT_ONCE or position == len(schema.discrete) - 1:
            tables.append(count_values(columns, y, weight, n_classes, sizes, n_threads(len(y) * len(columns))))
            columns, sizes, made = [], [], 0
    offsets = ragged([schema[j].n_values for j in schema.discrete])
    return ValueCounts(count_classes(y, weight, n_classes), np.concatenate(tables), offsets)


def read_classes(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Return the class labels of a model file: text from the JSON part, numbers from an array."""
    if meta["classes"] is None:
        classes = arrays["classes"]
        if classes.ndim != 1 or classes.dtype.kind not in "iufb":
            raise ModelFileError("the classes are not a list of numbers.")
    else:
        dtype = np.dtype(expect_field(meta, "text_dtype", str))
        labels = expect_field(meta, "classes", list)
        if dtype.kind not in "OU" or not all(isinstance(label, str) for label in labels):
            raise ModelFileError("the classes are not a list of texts.")
        classes = np.array(labels, dtype=object if dtype.kind == "O" else np.str_)
    if not len(classes) or len(set(classes.tolist())) < len(classes) or classes.tolist() != sorted(classes.tolist()):
        raise ModelFileError("the classes are not in rising order, each once.")
    return classes


def union_classes(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of both, in rising order; refuse labels of two types."""
    if np.array_equal(a, b):
        return a
    text = [classes.dtype.kind in "OU" for classes in (a, b)]
    if text[0] != text[1]:
        raise MergeError(
            f"classes are {a.tolist()} on one side and {b.tolist()} on the other: text and numbers do not mix."
        )
    return np.union1d(a, b) if a.dtype.kind != "O" else np.array(sorted({*a, *b}), dtype=object)
