"""The statistic of Gaussian classes: joint moments of the rows of each class with the same missing cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.class_labels import read_classes, union_classes
from bayeskit.counts.double_double import multiply, wide
from bayeskit.counts.joint_moments import JointMoments
from bayeskit.counts.memory import readable
from bayeskit.errors import MergeError, ModelFileError, TooLargeError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class GaussianCounts:
    """Joint moments of groups of rows: those of one class that have the same missing cells. They add and subtract.

    Grouped by missing cells, they are all that maximum likelihood needs: the rows are not read again.
    """

    schema: Schema
    classes: NDArray[Any]  # (n_classes,), rising
    n_class: NDArray[Any]  # (n_classes,): rows, or their weight
    label: NDArray[np.int64]  # (n_groups,): the class of each group; groups are in increasing order of class and cells
    known: NDArray[np.bool_]  # (n_groups, n_numeric): which cells the rows of a group have
    moments: JointMoments  # (n_groups, n_numeric)
    # Classes that were announced rather than seen stay when their last row is unlearned.
    declared_classes: bool = False

    @classmethod
    def of(
        cls,
        schema: Schema,
        classes: NDArray[Any],
        table: NDArray[Any] | list[NDArray[Any]],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        limit: float = np.inf,
    ) -> GaussianCounts:
        """Sum up the numeric columns of a table; moments of more than ``limit`` bytes are an error."""
        patterns, pattern = _missing_patterns(table, len(y))
        cells = pattern * len(classes) + y
        several = len(patterns) > 1
        groups, group = np.unique(cells, return_inverse=True) if several else _classes_alone(y, len(classes))
        label, known = groups % len(classes), patterns[groups // len(classes)]
        _refuse_too_large(len(groups), patterns.shape[1], len(patterns), limit)
        moments = JointMoments.of(table, group, len(groups), weight)
        n_class = np.bincount(y, weight, minlength=len(classes))
        counts = cls(schema, classes, n_class, label, known, moments)
        return counts._in_order()

    @property
    def n_rows(self) -> float:
        """Rows counted, or their weight."""
        return self.n_class.sum().item()  # type: ignore[no-any-return]

    def _in_order(self) -> GaussianCounts:
        kept = np.flatnonzero(self.moments.weight > 0)
        order = kept[np.lexsort([*self.known[kept].T[::-1], self.label[kept]])]
        return replace(self, label=self.label[order], known=self.known[order], moments=self.moments.take(order))

    def _keys(self) -> list[tuple[int, bytes]]:
        return [(int(c), known.tobytes()) for c, known in zip(self.label, self.known, strict=True)]

    def widen(self, schema: Schema, classes: NDArray[Any]) -> GaussianCounts:
        """Return the same counts under a schema and classes that cover these; a new column is missing."""
        if schema.numeric == self.schema.numeric and np.array_equal(classes, self.classes):
            return replace(self, schema=schema)
        to_class = np.searchsorted(classes, self.classes)
        columns = np.array([schema.place[j] for j in self.schema.numeric], dtype=np.int64)
        n, n_groups = len(schema.numeric), len(self.label)
        n_class = np.zeros(len(classes), dtype=self.n_class.dtype)
        n_class[to_class] = self.n_class
        known = np.zeros((n_groups, n), dtype=bool)
        known[:, columns] = self.known
        mean, scatter = np.zeros((2, n_groups, n)), np.zeros((2, n_groups, n, n))
        mean[:, :, columns] = self.moments.wide_mean
        scatter[:, :, columns[:, None], columns[None, :]] = self.moments.wide_scatter
        moments = JointMoments(self.moments.weight, mean, scatter)
        label = to_class[self.label].astype(np.int64)
        return replace(self, schema=schema, classes=classes, n_class=n_class, label=label, known=known, moments=moments)

    def __add__(self, other: GaussianCounts) -> GaussianCounts:
        schema, classes = self.schema.union(other.schema), union_classes(self.classes, other.classes)
        a, b = self.widen(schema, classes), other.widen(schema, classes)
        ours = {key: g for g, key in enumerate(a._keys())}
        to = np.array([ours.setdefault(key, len(ours)) for key in b._keys()], dtype=np.int64)
        new = to >= len(a.label)
        moments = a.moments.spread_out(len(ours), np.arange(len(a.label))) + b.moments.spread_out(len(ours), to)
        label, known = np.concatenate([a.label, b.label[new]]), np.concatenate([a.known, b.known[new]])
        declared = self.declared_classes or other.declared_classes
        return GaussianCounts(schema, classes, a.n_class + b.n_class, label, known, moments, declared)._in_order()

    def __sub__(self, other: GaussianCounts) -> GaussianCounts:
        schema = self.schema.union(other.schema)
        strange = sorted(set(other.classes.tolist()) - set(self.classes.tolist()))
        if strange:
            raise MergeError(f"class {strange[0]!r} was never counted, so no such row can be subtracted.")
        a, b = self.widen(schema, self.classes), other.widen(schema, self.classes)
        ours = {key: g for g, key in enumerate(a._keys())}
        if not all(key in ours for key in b._keys()):
            raise MergeError("no row of that class with the same missing cells was counted, so none can be subtracted.")
        to = np.array([ours[key] for key in b._keys()], dtype=np.int64)
        moments = a.moments - b.moments.spread_out(len(ours), to)
        n_class = a.n_class - b.n_class
        if n_class.dtype.kind == "f":
            n_class = np.where(n_class <= 1e-9 * a.n_class, 0.0, n_class)
        return replace(a, n_class=n_class, moments=moments)._in_order().narrow()

    def weighted(self, factor: NDArray[Any]) -> GaussianCounts:
        """Return the counts in which each row of class c counts ``factor[c]`` times as much."""
        by_group = factor[self.label].astype(np.float64)
        moments = self.moments
        scatter = multiply(moments.wide_scatter, wide(by_group)[:, :, None, None])
        scaled = JointMoments(moments.weight * by_group, moments.wide_mean, scatter)
        return replace(self, n_class=self.n_class * factor, moments=scaled)._in_order()

    def declare(self, classes: NDArray[Any]) -> GaussianCounts:
        """Return the counts with declared classes, which may have no row yet."""
        return replace(self.widen(self.schema, union_classes(self.classes, classes)), declared_classes=True)

    def narrow(self) -> GaussianCounts:
        """Return the counts without classes that have no row and were not declared."""
        if self.declared_classes or self.n_class.all():
            return self
        kept = np.flatnonzero(self.n_class)
        label = np.searchsorted(kept, self.label).astype(np.int64)
        return replace(self, classes=self.classes[kept], n_class=self.n_class[kept], label=label)

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
            "n_class": self.n_class,
            "label": self.label,
            "known": self.known.astype(np.uint8),
            "weight": self.moments.weight,
            "mean": self.moments.wide_mean,
            "scatter": self.moments.wide_scatter,
        }
        return meta, arrays if text else {**arrays, "classes": self.classes}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GaussianCounts:
        """Read what :meth:`to_parts` gave; every size is checked against the schema."""
        schema, classes = Schema.from_json(meta["schema"]), read_classes(meta, arrays)
        n = len(schema.numeric)
        dtype = np.float64 if arrays["n_class"].dtype.kind == "f" else np.int64
        n_class = expect_array(arrays, "n_class", dtype, (len(classes),))
        label = expect_array(arrays, "label", np.int64, (None,))
        known = expect_array(arrays, "known", np.uint8, (len(label), n))
        weight = expect_array(arrays, "weight", np.float64, (len(label),))
        mean = expect_array(arrays, "mean", np.float64, (2, len(label), n))
        scatter = expect_array(arrays, "scatter", np.float64, (2, len(label), n, n))
        if not all(np.isfinite(each).all() for each in (n_class, weight, mean, scatter)):
            raise ModelFileError("a moment is not a finite number.")
        moments = JointMoments(weight, mean, scatter)
        spread = np.diagonal(scatter[0], axis1=1, axis2=2)
        sensible = (weight > 0).all() and (n_class >= 0).all() and (spread >= 0).all() and (known <= 1).all()
        if not sensible or ((label < 0) | (label >= len(classes))).any() or np.abs(mean).max(initial=0.0) > 1e300:
            raise ModelFileError("the moments are not those of rows.")
        # Of rows, |S_jk| ≤ √(S_jj S_kk); a file that breaks it could give a variance below zero.
        most = np.sqrt(spread)[:, :, None] * np.sqrt(spread)[:, None, :]
        if (np.abs(scatter[0]) > most * (1 + 1e-9)).any() or (scatter != np.swapaxes(scatter, 2, 3)).any():
            raise ModelFileError("a scatter matrix is not that of rows.")
        declared = expect_field(meta, "declared_classes", bool)
        return cls(schema, classes, n_class, label, known.astype(bool), moments, declared)


def _missing_patterns(
    table: NDArray[Any] | list[NDArray[Any]], n_rows: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which cells are known, (n_patterns, n_columns), and the pattern of each row."""
    columns = list(table.T) if isinstance(table, np.ndarray) else table
    whole = np.ones((1, len(columns)), dtype=bool)
    if isinstance(table, np.ndarray):
        some = table.dtype.kind == "f" and table.size > 0 and bool(np.isnan(table.min()))
    else:
        some = any(column.dtype.kind == "f" and np.isnan(column.min()) for column in columns)
    if not some:
        return whole, np.zeros(n_rows, dtype=np.int64)
    known = np.column_stack(
        [~np.isnan(column) if column.dtype.kind == "f" else np.ones(n_rows, bool) for column in columns]
    )
    packed = np.packbits(known, axis=1)
    padded = np.zeros((n_rows, -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(np.uint64)  # eight bytes are compared at once
    keys = words[:, 0] if words.shape[1] == 1 else words.view([("", np.uint64)] * words.shape[1])[:, 0]
    _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
    return known[first], pattern.astype(np.int64)


def _classes_alone(y: NDArray[Any], n_classes: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    return np.arange(n_classes), y


def _refuse_too_large(n_groups: int, n_columns: int, n_patterns: int, limit: float) -> None:
    need = 16.0 * n_groups * n_columns * (n_columns + 1)
    if need > limit:
        raise TooLargeError(
            f"the table has {n_patterns} different sets of missing cells, and the scatter matrices of their "
            f"{n_groups} groups of rows need {readable(need)}. The limit is {readable(limit)}: leave out columns that "
            "are often missing, fill in cells, or raise max_memory."
        )
