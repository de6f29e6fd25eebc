"""The k nearest neighbours classifier for any table."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.heom import HeomRows, Voters, heom_rows, nearest_rows
from bayeskit.classify.leave_one_out import LeaveOneOut, losses
from bayeskit.classify.table_classifier import ClassifierState, TableClassifier, classes_to_parts
from bayeskit.counts.class_labels import read_classes
from bayeskit.errors import BayeskitError
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.io.expect import expect_array
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import read_labelled
from bayeskit.learn.parameters import at_least, one_of
from bayeskit.learn.whole_model import refuse_infinite_columns
from bayeskit.table.encode import encode, missing_column
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class NeighborState(ClassifierState):
    """The rows of the fit, as they came and as distances are measured."""

    columns: tuple[NDArray[Any], ...]
    y: NDArray[np.int64]  # (n_rows,)
    low: NDArray[np.float64]  # (n_features,) the least number of each column
    half_range: NDArray[np.float64]  # (n_features,)
    rows: HeomRows
    voters: Voters


@dataclass(eq=False, repr=False)
class KNeighbors(TableClassifier):
    """k nearest neighbours over any table: text and numbers mixed, missing cells allowed.

    The distance is the heterogeneous Euclidean-overlap metric (HEOM): numbers count by their difference in units of the
    column's training range, categories by whether they differ, and a missing cell, like a value that was not seen in
    fit, has distance 1 from everything. P(c | x) is the share of class c among the neighbours. Of rows that are as far
    as the k-th neighbour all take part, each with the same part of the votes that are left, so that the order of the
    rows never matters. Tables of few columns without missing cells are searched by a tree; otherwise all pairs of rows
    are compared, in blocks.

    Parameters
    ----------
    n_neighbors : int, default 5
        The number of neighbours; all rows if there are fewer.
    weights : {"uniform", "distance"}, default "uniform"
        Whether each neighbour counts the same or by 1/distance; neighbours at distance 0 are then the only ones that
        count.
    kinds : dict or str, optional
        The kind of a column, where the dtype does not decide it.

    Attributes
    ----------
    classes_, schema_
        As in :class:`NaiveBayes`.

    References
    ----------
    Wilson & Martinez (1997), Improved heterogeneous distance functions, JAIR 6, section 2.3.

    Examples
    --------
    >>> from bayeskit import KNeighbors, datasets
    >>> penguins = datasets.load_penguins()
    >>> model = KNeighbors().fit(penguins, target="species")
    >>> model.predict({**{name: None for name in model.feature_names_in_}, "island": "Torgersen"}).tolist()
    ['Adelie']
    """

    _state: NeighborState = field(init=False)

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "n_neighbors": at_least(1, whole=True),
        "weights": one_of("uniform", "distance"),
    }

    n_neighbors: int = 5
    _: KW_ONLY
    weights: str = "uniform"
    kinds: Any = None

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Keep the rows of a table and their labels; parameters are those of :meth:`NaiveBayes.fit`."""
        settings = self._checked_settings()
        rows = read_labelled(X, y, None, target, None, type(self).__name__, self.kinds)
        schema = learn_schema(rows.source, self.kinds)
        warn_of_empty_columns(schema)
        columns = encode(rows.source, schema)
        refuse_infinite_columns(columns, schema)
        self._state = _state_of(settings, schema, rows.target, rows.classes, columns, rows.y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class among the neighbours of each row, of shape (n_rows, n_classes)."""
        model = self._now()
        k = min(model.n_neighbors, len(model._state.y))
        return model._state.voters.shares(model._asked(X), k, by_distance=model.weights == "distance")

    def _shares_left_out(self) -> NDArray[np.float64]:
        y, by_distance = self._state.y, self.weights == "distance"
        if len(y) < 2:
            raise BayeskitError("the fit has one row, which has no other row as its neighbour.")
        return self._state.voters.shares_left_out(y, min(self.n_neighbors, len(y) - 1), by_distance=by_distance)

    def leave_one_out(self) -> LeaveOneOut:
        """Return error, log-loss and RMSE on the rows of the fit, each predicted by its neighbours among the others.

        The model keeps its rows, so none are given; the ranges of numeric columns stay those of all rows. The log-loss
        is infinite where no neighbour of a row has its class.
        """
        model = self._now()
        with np.errstate(divide="ignore"):
            return losses(np.log(model._shares_left_out()), model._state.y)

    def kneighbors(self, X: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and row numbers of the nearest rows of the fit, each of shape (n_rows, n_neighbors).

        Without ``X``, the neighbours of each training row among the others. Of equally far rows the first are given.
        """
        model = self._now()
        n_rows = len(model._state.y) - (X is None)
        if n_rows < 1:
            raise BayeskitError("the fit has one row, which has no other row as its neighbour.")
        k = min(model.n_neighbors, n_rows)
        return nearest_rows(model._state.rows, None if X is None else model._asked(X), k)

    def summary(self) -> ModelSummary:
        """Return a printable summary."""
        model = self._now()
        state = model._state
        n_class = np.bincount(state.y, minlength=len(state.classes))
        classes = [str(label) for label in state.classes.tolist()]
        facts = {"classes": classes, "rows": dict(zip(classes, n_class.tolist(), strict=True))}
        title = f"KNeighbors: {len(state.schema)} features, {len(classes)} classes"
        body = f"{len(state.y):,} training rows; {min(model.n_neighbors, len(state.y))} neighbours per prediction\n"
        return ModelSummary(title, facts, body + listed(tuple(classes), n_class[:, None].astype(float), ("rows",)))

    def _asked(self, X: Any) -> HeomRows:
        state = self._state
        columns = [
            missing_column(variable, len(column)) if variable.kind == "unknown" else column
            for column, variable in zip(self._encode(X), state.schema, strict=True)
        ]
        return heom_rows(columns, state.schema, state.low, state.half_range)

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = classes_to_parts(self._state.classes)
        columns = {f"column{j}": column for j, column in enumerate(self._state.columns)}
        return meta, {**arrays, "y": self._state.y, **columns}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> NeighborState:
        classes = read_classes(meta, arrays)
        y = expect_array(arrays, "y", np.int64, (None,))
        if not len(y) or y.min() < 0 or y.max() >= len(classes):
            raise ValueError("a label is not a class")
        columns = []
        for j, variable in enumerate(schema):
            dtype = arrays[f"column{j}"].dtype if f"column{j}" in arrays else np.dtype(np.float64)
            if dtype.kind not in ("fiu" if variable.is_numeric else "u"):
                raise ValueError(f"column '{variable.name}' has cells of type {dtype}")
            columns.append(expect_array(arrays, f"column{j}", dtype, (len(y),)))
        refuse_infinite_columns(columns, schema)
        return _state_of(self, schema, target, classes, columns, y)


def _state_of(
    settings: KNeighbors,
    schema: Schema,
    target: str | None,
    classes: NDArray[Any],
    columns: list[NDArray[Any]],
    y: NDArray[Any],
) -> NeighborState:
    low, half_range = np.zeros(len(schema)), np.full(len(schema), 0.5)
    for j in schema.numeric:
        numbers = columns[j][~np.isnan(columns[j])]
        if len(numbers):
            low[j] = numbers.min()
            half_range[j] = numbers.max() / 2 - low[j] / 2 or 0.5  # half, since the range itself may overflow
    rows = heom_rows(columns, schema, low, half_range)
    codes = np.asarray(y, dtype=np.int64)
    voters = Voters.of(rows, codes, len(classes))
    return NeighborState(settings, schema, target, classes, tuple(columns), codes, low, half_range, rows, voters)
