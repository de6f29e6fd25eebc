"""The sufficient statistics of a whole table, within each class or without a class; they add and subtract."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.class_labels import read_classes, union_classes
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.text_columns import no_texts, text_classes, texts_from_parts
from bayeskit.counts.tokens import TokenCounts
from bayeskit.counts.values import ValueCounts, ragged
from bayeskit.errors import BayeskitError, MergeError, ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema, Variable


@dataclass(frozen=True)
class TableCounts:
    """Counts and moments of every column within every class, with the schema and the classes that they belong to.

    ``a + b`` is what one pass over both tables gives: levels and classes become the union, integer counts add exactly.
    ``a - b`` subtracts rows. Nothing is smoothed here.

    The class is an optional axis. Counts of a table without a target (a Bayesian network learns from them) have no
    class labels; inside, all rows are then in one column of `values` and `moments`.

    Examples
    --------
    >>> from bayeskit.learn.counting import learn_counts
    >>> from bayeskit.table.read import read_table
    >>> counts = learn_counts(read_table({"wind": ["weak", "strong", "weak"]}))
    >>> counts.has_class, counts.n_rows, counts.column(0)
    (False, 3, array([1, 2]))
    """

    schema: Schema
    class_labels: NDArray[Any] | None  # (n_classes,), rising; None where the table has no class
    values: ValueCounts  # of the discrete columns
    moments: Moments  # of the numeric columns that are summed up; the others have no weight
    numbers: NumberCounts  # of the numeric columns whose numbers are counted; the others have no entry
    # Classes that were announced rather than seen stay when their last row is unlearned.
    declared_classes: bool = False
    # Of the columns of free text, under the same classes: how often each word came, in how many of their documents.
    texts: tuple[TokenCounts, ...] = ()

    @property
    def has_class(self) -> bool:
        """True where the rows are counted within each class."""
        return self.class_labels is not None

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels; an error for counts without a class."""
        if self.class_labels is None:
            raise BayeskitError("these counts are of a table without a class, so they have no class labels.")
        return self.class_labels

    @property
    def n_classes(self) -> int:
        """Columns of the tables inside: the number of classes, or 1 where there is no class."""
        return len(self.values.n_class)

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows (or their weight) of each class; of all rows together where there is no class."""
        return self.values.n_class

    def column(self, j: int) -> NDArray[Any]:
        """Return the counts of one column, of shape (n_values, n_classes), or (n_values,) where there is no class."""
        return without_class_axis(self.by_class(j), self)

    def by_class(self, j: int) -> NDArray[Any]:
        """Return the counts of one column, of shape (n_values, n_classes); without a class there is one."""
        if not self.schema[j].is_discrete:
            return np.zeros((0, self.n_classes), dtype=self.values.n_value.dtype)
        k = self.schema.place[j]
        return np.asarray(self.values.n_value[self.values.offsets[k] : self.values.offsets[k + 1]])

    def n_known(self) -> NDArray[Any]:
        """Return the rows of each class in which each column is known, of shape (n_columns, n_classes)."""
        known = np.zeros((len(self.schema), self.n_classes))
        known[list(self.schema.discrete)] = self.values.n_known()
        known[list(self.schema.numeric)] = self.moments.weight + self.numbers.n_known()
        for j, words in zip(self.schema.texts, self.texts, strict=True):
            known[j] = words.n_class
        return known

    @property
    def n_rows(self) -> float:
        """Rows counted, or their weight."""
        return self.n_class.sum().item()  # type: ignore[no-any-return]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        labels = self.class_labels
        text = labels is not None and labels.dtype.kind in "OU"
        meta = {
            "schema": self.schema.to_json(),
            "has_class": labels is not None,
            "classes": labels.tolist() if labels is not None and text else None,
            "text_dtype": labels.dtype.str if labels is not None and text else None,
            "declared_classes": self.declared_classes,
        }
        texts = [words.to_parts() for words in self.texts]
        if texts:
            meta["texts"] = [fields for fields, _ in texts]
        arrays = {
            "n_class": self.values.n_class,
            "n_value": self.values.n_value,
            "moments": self.moments.parts,
            **self.numbers.to_parts(),
            **{f"text{k}_{name}": part for k, (_, parts) in enumerate(texts) for name, part in parts.items()},
        }
        return meta, arrays if text or labels is None else {**arrays, "classes": labels}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TableCounts:
        """Read what :meth:`to_parts` gave; every size is checked against the schema."""
        schema = Schema.from_json(meta["schema"])
        # Files from before the class was optional do not say that they have one.
        has_class = "has_class" not in meta or expect_field(meta, "has_class", bool)
        classes = read_classes(meta, arrays) if has_class else None
        n_classes = 1 if classes is None else len(classes)
        offsets = ragged([schema[j].n_values for j in schema.discrete])
        dtype = np.float64 if arrays["n_class"].dtype.kind == "f" else np.int64
        n_class = expect_array(arrays, "n_class", dtype, (n_classes,))
        n_value = expect_array(arrays, "n_value", dtype, (int(offsets[-1]), n_classes))
        # Files of an older form have weight, mean and scatter alone, without what each of them lacks.
        n_parts = 3 if len(arrays["moments"]) == 3 else 6
        moments = expect_array(arrays, "moments", np.float64, (n_parts, len(schema.numeric), n_classes))
        if (n_class < 0).any() or (n_value < 0).any() or (moments[[0, 2]] < 0).any():
            raise ModelFileError("a count is below zero.")
        if not (np.isfinite(n_class).all() and np.isfinite(n_value).all() and np.isfinite(moments).all()):
            raise ModelFileError("a count is not a finite number.")
        declared = expect_field(meta, "declared_classes", bool)
        numbers = NumberCounts.from_parts(arrays, len(schema.numeric), n_classes, dtype)
        values = ValueCounts(n_class, n_value, offsets)
        texts = texts_from_parts(meta.get("texts", []), arrays, len(schema.texts), classes)
        return cls(schema, classes, values, Moments.from_array(moments), numbers, declared, texts)

    def widen(self, schema: Schema, classes: NDArray[Any] | None) -> TableCounts:
        """Return the same counts under a schema and classes that cover these."""
        if schema is self.schema and _same_labels(classes, self.class_labels):
            return self
        if classes is None or self.class_labels is None:
            n_classes, to_class = 1, np.zeros(1, dtype=np.int64)
        else:
            n_classes, to_class = len(classes), np.searchsorted(classes, self.class_labels).astype(np.int64)
        offsets = ragged([schema[j].n_values for j in schema.discrete])
        cells = [offsets[schema.place[j]] + _places(self.schema[j], schema[j]) for j in self.schema.discrete]
        rows = np.concatenate(cells) if cells else np.empty(0, dtype=np.int64)
        sizes = [schema[j].n_values for j in schema.discrete]
        values = self.values.remap(sizes, rows, n_classes, to_class)
        numeric = np.array([schema.place[j] for j in self.schema.numeric], dtype=np.int64)
        moments = self.moments.remap(len(schema.numeric), numeric, n_classes, to_class)
        numbers = self.numbers.remap(len(schema.numeric), numeric, n_classes, to_class)
        labels = text_classes(classes)
        counted = {j: words.under(labels) for j, words in zip(self.schema.texts, self.texts, strict=True)}
        texts = tuple(counted[j] if j in counted else no_texts(classes) for j in schema.texts)
        return replace(
            self, schema=schema, class_labels=classes, values=values, moments=moments, numbers=numbers, texts=texts
        )

    def __add__(self, other: TableCounts) -> TableCounts:
        schema = self.schema.union(other.schema)
        classes = self._union_classes(other)
        a, b = self.widen(schema, classes), other.widen(schema, classes)
        declared = self.declared_classes or other.declared_classes
        texts = tuple(ours + theirs for ours, theirs in zip(a.texts, b.texts, strict=True))
        return TableCounts(
            schema, classes, a.values + b.values, a.moments + b.moments, a.numbers + b.numbers, declared, texts
        )

    def __sub__(self, other: TableCounts) -> TableCounts:
        schema = self.schema.union(other.schema)
        for ours, theirs in zip(self.schema, other.schema, strict=True):
            strange = [value for value in theirs.values if value not in ours.code_of]
            if theirs.kind != "unknown" and strange:
                raise MergeError(f"column '{ours.name}' never held {strange[0]!r}, so no such row can be subtracted.")
        self._union_classes(other)  # refuses a class beside none
        if self.has_class:
            strange = sorted(set(other.classes.tolist()) - set(self.classes.tolist()))
            if strange:
                raise MergeError(f"class {strange[0]!r} was never counted, so no such row can be subtracted.")
        b = other.widen(schema, self.class_labels)
        a = self.widen(schema, self.class_labels)
        left = (a.values - b.values, a.moments - b.moments, a.numbers - b.numbers)
        texts = tuple(ours - theirs for ours, theirs in zip(a.texts, b.texts, strict=True))
        return replace(a, values=left[0], moments=left[1], numbers=left[2], texts=texts).narrow()

    def _union_classes(self, other: TableCounts) -> NDArray[Any] | None:
        if self.has_class != other.has_class:
            raise MergeError("the rows are counted within classes on one side and without a class on the other.")
        return union_classes(self.classes, other.classes) if self.has_class else None

    def declare(self, classes: NDArray[Any]) -> TableCounts:
        """Return the counts with declared classes, which may have no row yet."""
        return replace(self.widen(self.schema, union_classes(self.classes, classes)), declared_classes=True)

    def narrow(self) -> TableCounts:
        """Return the counts without the values and classes that have no row and were not declared."""
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
        all_classes = self.declared_classes or not self.has_class
        kept_class = np.arange(self.n_classes) if all_classes else np.flatnonzero(self.n_class)
        rows = np.concatenate(kept_rows) if kept_rows else np.empty(0, dtype=np.int64)
        values = ValueCounts(
            self.n_class[kept_class],
            self.values.n_value[np.ix_(rows, kept_class)],
            ragged([len(kept) for kept in kept_rows]),
        )
        moments = self.moments.keep_classes(kept_class)
        schema = self.schema.with_variables(variables)
        labels = None if self.class_labels is None else self.class_labels[kept_class]
        numbers = self.numbers.keep_classes(kept_class)
        texts = tuple(words.keep_classes(kept_class) for words in self.texts)
        return replace(
            self, schema=schema, class_labels=labels, values=values, moments=moments, numbers=numbers, texts=texts
        )


def _places(narrow: Variable, wide: Variable) -> NDArray[np.int64]:
    """Return the code of each value of one variable in another that has all of them."""
    if narrow is wide:
        return np.arange(narrow.n_values)
    return np.array([wide.code_of[value] for value in narrow.values], dtype=np.int64)


def _same_labels(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def class_codes(y: NDArray[Any] | None, n_rows: int) -> NDArray[Any]:
    """Return the class of each row; without classes all rows are of the one that the kernels count."""
    return np.zeros(n_rows, dtype=np.uint8) if y is None else y


def without_class_axis(table: NDArray[Any], counts: TableCounts) -> NDArray[Any]:
    """Return a table of counts without its last axis, where the rows have no class."""
    return table if counts.has_class else table[..., 0]
