"""Input checks of every model, with scikit-learn's messages where it has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.numbers import MOST_NUMBERS
from bayeskit.counts.table import TableCounts
from bayeskit.errors import TableError, UnseenValueError, warn_caller
from bayeskit.table.column import Column
from bayeskit.table.frames import given_names, refuse_rows_elsewhere
from bayeskit.table.labels import same_values
from bayeskit.table.names import not_found
from bayeskit.table.read import Source, is_records, read_converted, read_table, read_values, records_to_columns
from bayeskit.table.read_result import ReadTable
from bayeskit.table.schema import Schema


class _Takes(Protocol):
    def take(self, rows: NDArray[Any]) -> Self: ...


Rows = TypeVar("Rows", bound=_Takes)


def check_columns(source: Source, names: tuple[str, ...], named: bool, who: str) -> None:
    """Raise an error for a table whose columns are not those of the fit, compared by name or else by number."""
    if source.named and named:
        if source.names != names:
            raise TableError(_different_names(source.names, names))
        return
    if len(source.names) != len(names):
        raise TableError(f"X has {len(source.names)} features, but {who} is expecting {len(names)} features as input.")
    if named:
        warn_caller(f"X does not have valid feature names, but {who} was fitted with feature names", UserWarning)
    elif source.named:
        warn_caller(f"X has feature names, but {who} was fitted without feature names", UserWarning)


def _different_names(now: tuple[str, ...], then: tuple[str, ...]) -> str:
    def listed(names: set[str]) -> str:
        shown = sorted(names)[:5]
        return "".join(f"- {name}\n" for name in shown) + ("- ...\n" if len(names) > 5 else "")

    message = "The feature names should match those that were passed during fit.\n"
    unknown, absent = set(now) - set(then), set(then) - set(now)
    if unknown:
        message += f"Feature names unseen at fit time:\n{listed(unknown)}"
    if absent:
        message += f"Feature names seen at fit time, yet now missing:\n{listed(absent)}"
    if not unknown and not absent:
        message += "Feature names must be in the same order as they were in fit.\n"
        message += "Write X[list(model.feature_names_in_)] to bring them into that order.\n"
    return message


def refuse_target_among_features(X: Any, source: Source, y: Any) -> None:
    """Raise an error for a table that still holds the target: a column of y's name with y's values, or y in a dict."""
    if isinstance(X, Mapping):
        name = next((str(key) for key, column in X.items() if column is y), None)
        if name is not None:
            raise TableError(
                f"the target '{name}' is still among the features; leave that column out, or pass target='{name}'."
            )
    name = getattr(y, "name", None)
    if isinstance(name, str) and source.named and name in source.names:
        target: Column = read_values(y, name)
        if same_values(target, source.named_column(name)):
            raise TableError(
                f"the target '{name}' is still among the features; leave that column out, or pass target='{name}'."
            )


def rows_and_labels(
    X: Any,
    y: Any,
    target: str | None,
    who: str,
    split: Callable[[Any, str], tuple[Any, Any]],
    needs: str = "This {} estimator requires y to be passed, but the target y is None",
) -> tuple[Any, Any]:
    """Return X and y as given, or what ``split`` makes of X where ``target`` names the column of the labels."""
    refuse_rows_elsewhere(X)
    if target is not None:
        if y is not None:
            raise TableError(f"give the labels once: either y or target='{target}'.")
        return split(X, target)
    if y is None:
        raise TableError(f"{needs.format(who)}: pass y, or target='column'.")
    if isinstance(y, str):
        raise TableError(f"y is the text {y!r}; to name the column that holds the labels, pass target={y!r}.")
    return X, y


def target_of(X: Any, y: Any, target: str | None) -> str | None:
    """Return the column of the labels; a table that was read with a target knows it."""
    if not isinstance(X, ReadTable):
        return target
    if target not in (None, X.target):
        raise TableError(f"the table was read with target={X.target!r}; pass target={target!r} to bayeskit.read.")
    if y is not None and X.target is not None:
        raise TableError(f"give the labels once: the table was read with target={X.target!r}.")
    return X.target


def split_target(X: Any, target: str, schema: Schema | None = None) -> tuple[Source, Any]:
    """Return the features of a table, and its target column unread, so that labels are not read twice.

    With a ``schema`` whose raw columns were converted, those of the table are converted too.
    """
    converted = schema is not None and schema.conversions is not None
    if isinstance(X, ReadTable):
        return (read_converted(X, schema, target) if converted and schema is not None else X.features), X[target]
    if is_records(X):
        X = records_to_columns(X)
    there = target in given_names(X)
    if converted and schema is not None:
        source = read_converted(X, schema, target)
    else:
        source = read_table(X, without=target if there else None)
    if not source.named:
        raise TableError(f"target='{target}' needs a table with column names; got {type(X).__name__} without names.")
    if not there:
        raise TableError(f"target: {not_found('column', target, source.names)}")
    return source, X[target]


def in_order(X: Any, source: Source, names: tuple[str, ...]) -> Source:
    """Return the columns of dicts in the order of the fit: they are matched by name, as their order means nothing."""
    if not (isinstance(X, Mapping) or is_records(X)) or source.names == names or set(source.names) != set(names):
        return source
    return source.select(names)


def in_place(X: Any, n_features: int) -> bool:
    """Return whether X is an array that the kernels read as it is, without further checks."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == n_features
        and len(X) > 0
        and (X.dtype.kind in "iub" or X.dtype.char in "fd")
        and X.dtype.isnative
    )


def keep_weighted(
    source: Rows, classes: NDArray[Any], y: NDArray[Any], weight: NDArray[np.float64] | None
) -> tuple[Rows, NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
    """Drop the rows of zero weight, with the classes that only they have."""
    if weight is None or weight.all():
        return source, classes, y, weight
    rows = np.flatnonzero(weight)
    kept, y = np.unique(y[rows], return_inverse=True)
    return source.take(rows), classes[kept], y.astype(np.uint32), np.ascontiguousarray(weight[rows])


def warn_of_empty_columns(schema: Schema) -> None:
    """Warn the caller of ``fit`` of columns that have no value in any row."""
    empty = [variable.name for variable in schema if variable.kind == "unknown"]
    if empty:
        names = ", ".join(map(repr, empty[:5])) + (" …" if len(empty) > 5 else "")
        warn_caller(
            f"column{'s' if len(empty) > 1 else ''} {names} {'have' if len(empty) > 1 else 'has'} no value in any row; "
            f"{'they are' if len(empty) > 1 else 'it is'} left out until a later row has one.",
        )


def refuse_new_levels(grown: Schema, agreed: Schema) -> None:
    """Raise an error for the first value of a table that the agreed schema does not have."""
    for variable, known in zip(grown, agreed, strict=True):
        if known.kind == "unknown" and variable.kind != "unknown":
            raise UnseenValueError(
                f"column '{known.name}' had no value when the schema was agreed on, and now it has; "
                "agree on a schema in which its kind is known, or pass new_levels='add'."
            )
        strange = [value for value in variable.values if value not in known.code_of]
        if strange:
            raise UnseenValueError(
                f"column '{known.name}' holds {strange[0]!r}, which is not in the agreed schema; "
                "pass new_levels='add' to count it under a schema that has it."
            )


def warn_of_cut_numbers(counts: TableCounts, before: Sequence[TableCounts]) -> None:
    """Warn of columns with more distinct numbers than are counted one by one, unless ``before`` had warned of them."""
    known = {name for each in before for name, width in _widths(each).items() if width}
    new = {name: width for name, width in _widths(counts).items() if width and name not in known}
    if new:
        shown = ", ".join(f"{name!r} (bins of {width:.4g})" for name, width in list(new.items())[:5])
        warn_caller(
            f"more than {MOST_NUMBERS} distinct numbers: {shown}{' …' if len(new) > 5 else ''}; they are "
            "binned from now on, with a kernel at the middle of each bin.",
        )


def _widths(counts: TableCounts) -> dict[str, float]:
    """Return the width of the bins of each column whose numbers are counted, 0 where they are not binned."""
    numbers, places = counts.numbers, counts.schema.numeric
    return {counts.schema[places[k]].name: numbers.width(k) for k in numbers.counted.tolist()}
