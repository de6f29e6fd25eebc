"""Sums of features per class: the statistic of naive Bayes over matrices of counts; it adds and subtracts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.class_labels import read_classes, union_classes
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_array, expect_field


@dataclass(frozen=True)
class FeatureNames:
    """The columns of a matrix: how many, and their names where they have names. A matrix may have very many."""

    size: int
    given: tuple[str, ...] | None = None

    @property
    def named(self) -> bool:
        """Whether the columns came with names."""
        return self.given is not None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, x0, x1, … where none were given."""
        return self.given if self.given is not None else tuple(f"x{j}" for j in range(self.size))

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        """Yield nothing: the columns have no kind and no values."""
        return iter(())


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Rows of each class, and the sum of each feature over them: whole numbers, or floats. They add and subtract.

    Examples
    --------
    >>> a = FeatureCounts(FeatureNames(2), np.array(["no", "yes"]), np.array([1, 2]), np.array([[3, 0], [1, 5]]))
    >>> (a + a).n_feature
    array([[ 6,  0],
           [ 2, 10]])
    """

    schema: Any  # FeatureNames
    classes: NDArray[Any]  # (n_classes,), rising
    n_class: NDArray[Any]  # (n_classes,)
    n_feature: NDArray[Any]  # (n_classes, n_features)
    declared_classes: bool = False

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        self._refuse_other(other)
        classes = union_classes(self.classes, other.classes)
        a, b = self._under(classes), other._under(classes)
        declared = self.declared_classes or other.declared_classes
        return FeatureCounts(self.schema, classes, a.n_class + b.n_class, a.n_feature + b.n_feature, declared)

    def __sub__(self, other: FeatureCounts) -> FeatureCounts:
        self._refuse_other(other)
        strange = sorted(set(other.classes.tolist()) - set(self.classes.tolist()))
        if strange:
            raise MergeError(f"class {strange[0]!r} was never counted, so no such row can be subtracted.")
        b = other._under(self.classes)
        n_class, n_feature = _less(self.n_class, b.n_class), _less(self.n_feature, b.n_feature)
        return replace(self, n_class=n_class, n_feature=n_feature).narrow()

    def declare(self, classes: NDArray[Any]) -> FeatureCounts:
        """Return the counts with declared classes, which may have no row yet."""
        return replace(self._under(union_classes(self.classes, classes)), declared_classes=True)

    def narrow(self) -> FeatureCounts:
        """Return the counts without classes that have no row and were not declared."""
        if self.declared_classes or self.n_class.all():
            return self
        kept = np.flatnonzero(self.n_class)
        return replace(self, classes=self.classes[kept], n_class=self.n_class[kept], n_feature=self.n_feature[kept])

    def _under(self, classes: NDArray[Any]) -> FeatureCounts:
        if classes is self.classes:
            return self
        place = np.searchsorted(classes, self.classes)
        n_class = np.zeros(len(classes), dtype=self.n_class.dtype)
        n_feature = np.zeros((len(classes), len(self.schema)), dtype=self.n_feature.dtype)
        n_class[place], n_feature[place] = self.n_class, self.n_feature
        return replace(self, classes=classes, n_class=n_class, n_feature=n_feature)

    def _refuse_other(self, other: FeatureCounts) -> None:
        if len(self.schema) != len(other.schema):
            raise MergeError(
                f"counts of {len(self.schema)} features do not fit counts of {len(other.schema)} features."
            )
        if self.schema.named and other.schema.named and self.schema.names != other.schema.names:
            ours, theirs = next(
                pair for pair in zip(self.schema.names, other.schema.names, strict=True) if pair[0] != pair[1]
            )
            raise MergeError(f"column {ours!r} on one side is column {theirs!r} on the other.")

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        text = self.classes.dtype.kind in "OU"
        meta = {
            "names": list(self.schema.given) if self.schema.named else None,
            "classes": self.classes.tolist() if text else None,
            "text_dtype": self.classes.dtype.str if text else None,
            "declared_classes": self.declared_classes,
        }
        arrays = {"n_class": self.n_class, "n_feature": self.n_feature}
        return meta, arrays if text else {**arrays, "classes": self.classes}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FeatureCounts:
        """Read what :meth:`to_parts` gave; every size is checked."""
        classes = read_classes(meta, arrays)
        size = arrays["n_feature"].shape[-1]
        kinds = [np.float64 if arrays[name].dtype.kind == "f" else np.int64 for name in ("n_class", "n_feature")]
        n_class = expect_array(arrays, "n_class", kinds[0], (len(classes),))
        n_feature = expect_array(arrays, "n_feature", kinds[1], (len(classes), size))
        for numbers in (n_class, n_feature):
            if not np.isfinite(numbers).all() or (numbers < 0).any():
                raise ModelFileError("a count is negative or not a number.")
        names = meta["names"]
        if names is not None and (len(names) != size or not all(isinstance(name, str) for name in names)):
            raise ModelFileError("the names are not one per feature.")
        schema = FeatureNames(size, None if names is None else tuple(names))
        return cls(schema, classes, n_class, n_feature, expect_field(meta, "declared_classes", bool))


def _less(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    left = a - b
    # Sums of floats are rounded; what they leave near zero is rounding, not a row too many or too few.
    slack = 1e-9 * a if left.dtype.kind == "f" else 0
    if (left < -slack).any():
        raise MergeError("cannot subtract rows that were never counted: a count would become negative.")
    return np.where(left <= slack, 0, left) if left.dtype.kind == "f" else left
