"""The effect of each column: what a model says of a row of which only this column is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.protocol import HidingModel, JointModel
from bayeskit.result import Result
from bayeskit.table.column import Coded, Column, Numbers
from bayeskit.table.read import Source
from bayeskit.workflow.calibration import tempered

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# Points of a curve, and values of a category at the most.
POINTS, MOST_VALUES = 25, 12
# Rows among which the points are chosen, and rows over which a model is averaged that takes no missing cell.
MOST_ROWS, AVERAGED_ROWS = 20_000, 100


@dataclass(frozen=True, repr=False)
class ColumnEffect(Result):
    """P(c | x_j = v) for some values v of a column."""

    name: str
    values: tuple[Any, ...]
    posterior: NDArray[np.float64]  # (n_values, n_classes)
    shares: NDArray[np.float64]  # (n_values,) of the rows; NaN for numbers
    numeric: bool
    averaged: bool  # over rows, where the model cannot leave the other columns open


def column_effects(result: Training, names: Sequence[str]) -> list[ColumnEffect]:
    """Return the effect of columns on the probabilities of the saved model.

    All other columns are hidden: a model of P(x, c) sums them out, which is exact, and `AutoBayes` leaves them
    unobserved, as in its explanations. Other models are averaged over rows instead (partial dependence).
    """
    source = result.table.features.source
    if source.n_rows > MOST_ROWS:
        source = source.take(np.sort(np.random.default_rng(0).choice(source.n_rows, MOST_ROWS, replace=False)))
    kinds = {note.name: note.kind for note in result.table.features.notes}
    names = [name for name in names if kinds.get(name) != "text"]  # texts have no list of values to show
    grids = {name: _grid(source.named_column(name), kinds.get(name) == "categorical") for name in names}
    grids = {name: grid for name, grid in grids.items() if len(grid[0]) > 1}
    if not grids:
        return []
    rows = np.concatenate([grid[0] for grid in grids.values()])
    known = np.concatenate([[source.place[name]] * len(grid[0]) for name, grid in grids.items()]).astype(np.intp)
    # A model that only fills in missing cells does not leave a column open.
    averaged = not isinstance(result.model, JointModel | HidingModel)
    if averaged:
        posterior = _averaged(result, source, rows, known)
    else:
        posterior = _alone(result, source.take(rows), known)
    effects, start = [], 0
    for name, (points, shares, numeric) in grids.items():
        column = source.named_column(name)
        values = tuple(_value(column, int(row)) for row in points)
        part = posterior[start : start + len(points)]
        effects.append(ColumnEffect(name, values, part, shares, numeric, averaged))
        start += len(points)
    return effects


def _grid(column: Column, categorical: bool) -> tuple[NDArray[np.intp], NDArray[np.float64], bool]:
    """Return rows that hold the values to show, the share of rows of each value, and whether they are numbers."""
    rows = np.flatnonzero(~column.missing())
    if not len(rows):
        return rows, np.empty(0), False
    cells = column.codes[rows] if isinstance(column, Coded) else column.values[rows]
    if isinstance(column, Numbers) and column.values.dtype.kind != "b" and not categorical:
        order = rows[np.argsort(cells, kind="stable")]
        places = np.linspace(0.01, 0.99, POINTS) * (len(order) - 1)
        points = order[np.round(places).astype(np.intp)]
        points = points[np.unique(column.values[points], return_index=True)[1]]
        return points, np.full(len(points), np.nan), True
    different, first, counts = np.unique(cells, return_index=True, return_counts=True)
    most = np.sort(np.argsort(-counts, kind="stable")[:MOST_VALUES])
    if isinstance(column, Coded):  # as its levels are ordered
        most = np.array(sorted(most, key=lambda k: str(column.levels[different[k]])), dtype=np.intp)
    return rows[first[most]], counts[most] / len(column), False


def _value(column: Column, row: int) -> Any:
    if isinstance(column, Coded):
        return column.levels[column.codes[row]]
    value = column.values[row].item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _alone(result: Training, source: Source, known: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return P(c | the known column) of each row."""
    hidden = np.ones((source.n_rows, len(source.names)), dtype=bool)
    hidden[np.arange(source.n_rows), known] = False
    model = result.model
    if isinstance(model, HidingModel):
        posterior = np.exp(model.log_posterior_hiding(source, hidden, floor=True))
    else:
        columns = tuple(_missing_where(source.column(j), hidden[:, j]) for j in range(len(source.names)))
        posterior = model.predict_proba(Source(source.names, source.named, source.n_rows, columns))
    return tempered(np.asarray(posterior), result.temperature)


def _missing_where(column: Column, hidden: NDArray[np.bool_]) -> Column:
    if isinstance(column, Coded):
        codes = column.codes.copy()
        codes[hidden] = np.iinfo(codes.dtype).max
        return Coded(codes, column.levels, column.declared)
    values = column.values
    if values.dtype.kind == "b" and not hidden.any():
        return column
    return Numbers(np.where(hidden, np.nan, values.astype(np.float64)))


def _averaged(result: Training, source: Source, rows: NDArray[np.intp], known: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean of P(c | x) over some rows in which one cell is replaced."""
    rng = np.random.default_rng(0)
    some = np.sort(rng.choice(source.n_rows, min(AVERAGED_ROWS, source.n_rows), replace=False))
    means = []
    for row, j in zip(rows, known, strict=True):
        columns = tuple(
            source.column(i).take(np.full(len(some), row) if i == j else some) for i in range(len(source.names))
        )
        posterior = result.model.predict_proba(Source(source.names, source.named, len(some), columns))
        means.append(tempered(np.asarray(posterior), result.temperature).mean(axis=0))
    return np.array(means)
