"""Rows to learn from: a table, the class of each row and its weight, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.statistic import Statistic
from bayeskit.errors import TableError, warn_caller
from bayeskit.estimate.class_weight import class_factors
from bayeskit.kinds.reader import inferred
from bayeskit.learn.checks import (
    check_columns,
    in_order,
    keep_weighted,
    refuse_target_among_features,
    rows_and_labels,
    split_target,
    target_of,
)
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.read import Source, read_converted, read_table
from bayeskit.table.read_result import ReadTable
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class Labelled:
    """The rows of a table that count, with their classes."""

    source: Source
    y: NDArray[Any]  # (n_rows,) positions among the classes
    classes: NDArray[Any]  # (n_classes,) rising
    weight: NDArray[np.float64] | None  # (n_rows,), or None where every row counts once
    target: str | None

    def take(self, rows: NDArray[Any]) -> Labelled:
        """Return some of the rows; the classes stay those of all."""
        weight = None if self.weight is None else self.weight[rows]
        return Labelled(self.source.take(rows), self.y[rows], self.classes, weight, self.target)

    def with_class_weight(self, class_weight: Mapping[Any, float] | str | None) -> Labelled:
        """Return the rows, each weighted by its class as well; a class of weight 0 is left out."""
        if class_weight is None:
            return self
        n_class = np.bincount(self.y, self.weight, minlength=len(self.classes))
        weight = class_factors(n_class, self.classes, class_weight)[self.y] * (
            1.0 if self.weight is None else self.weight
        )
        source, classes, y, kept = keep_weighted(self.source, self.classes, self.y, weight)
        return Labelled(source, y, classes, kept, self.target)


def read_features_and_y(
    X: Any, y: Any, target: str | None, who: str, schema: Schema | None = None
) -> tuple[Source, Any]:
    """Return the features of a table, and y or the column ``target``, unread; exactly one of these is given."""
    X, y = rows_and_labels(X, y, target, who, partial(split_target, schema=schema))
    if target is not None:
        return X, y
    source = read_table(X) if schema is None else read_converted(X, schema)
    refuse_target_among_features(X, source, y)
    return source, y


def read_labelled(
    X: Any,
    y: Any,
    sample_weight: Any,
    target: str | None,
    schema: Schema | None,
    who: str,
    kinds: Any = None,
    *,
    texts: bool = False,
) -> Labelled:
    """Read the arguments of ``fit`` and similar methods; with a ``schema``, the columns must be its columns.

    Where ``kinds`` is "infer" and there is no schema yet, a frame is read as :func:`bayeskit.read` reads it. A row
    without a label is an error. Without ``texts``, columns that the reader calls free text are left out, with a
    warning. Rows that were read already are returned as they are.
    """
    if isinstance(X, Labelled):
        return X
    if schema is None:
        X = inferred(X, kinds, target)
    target = target_of(X, y, target)
    source, y = read_features_and_y(X, y, target, who, schema)
    if isinstance(X, ReadTable):
        y, sample_weight = X.y if target is not None else y, X.of_rows(sample_weight)
    if schema is None and not texts:
        said = kinds if isinstance(kinds, Mapping) else {}
        free = tuple(name for name in source.names if source.kinds.get(name) == "text" and name not in said)
        source = without_texts(source, free, who) if free else source
    if schema is not None:
        source = in_order(X, source, schema.names)
        check_columns(source, schema.names, schema.named, who)
    weight = read_weight(sample_weight, source.n_rows)
    classes, codes = read_labels(y, source.n_rows)
    source, classes, codes, weight = keep_weighted(source, classes, codes, weight)
    return Labelled(source, codes, classes, weight, target)


def without_texts(source: Source, free: tuple[str, ...], who: str) -> Source:
    """Return a table without its columns of text, which ``who`` cannot read; a warning names them."""
    named = f"column{'s' if len(free) > 1 else ''} {', '.join(map(repr, free))}"
    rest = tuple(name for name in source.names if name not in free)
    if not rest:
        raise TableError(f"{named}: free text only, which {who} cannot read; NaiveBayes, AutoBayes and AutoText can.")
    warn_caller(f"{named} left out: free text, which {who} cannot read; NaiveBayes and AutoBayes can.")
    conversions = source.conversions
    if conversions is not None:
        conversions = replace(conversions, left_out=(*conversions.left_out, *free))
    kinds = {name: kind for name, kind in source.kinds.items() if name not in free}
    return replace(source.select(rest), conversions=conversions, kinds=kinds)


def coded_under(rows: Labelled, counts: Statistic) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Return the columns and classes of rows as codes under the schema and classes of counts that include them."""
    columns = encode(rows.source, counts.schema)
    return columns, np.searchsorted(counts.classes, rows.classes)[rows.y]
