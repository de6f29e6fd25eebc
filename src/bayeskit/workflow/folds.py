"""The folds of a cross-validation: the table encoded once, its rows sorted by fold so that a fold is a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.kinds import words
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import Labelled
from bayeskit.table.column import Coded, Column, Numbers
from bayeskit.table.discretize import METHODS
from bayeskit.table.encode import encode_column
from bayeskit.table.read import Source
from bayeskit.workflow.held_rows import HeldRows

Kinds = Mapping[str, str]


@dataclass(frozen=True)
class Fold:
    """The rows to learn from and the rows to predict, under the same bins."""

    train: Labelled
    test: Source
    binned: frozenset[str]  # columns that are bins here


class Folds:
    """A table split into folds: categorical columns are encoded once for all models, bins once for each fold.

    Parameters
    ----------
    held : HeldRows
        The table.
    part : array of shape (n_rows,)
        The fold of each row.
    kinds : dict of column name to kind
        The kinds that are given rather than taken from the dtypes.
    forward : bool
        Learn from the folds before each fold only; the first fold is then not predicted.
    """

    def __init__(self, held: HeldRows, part: NDArray[np.intp], kinds: Kinds, *, forward: bool = False) -> None:
        self.held, self.n, self._forward = held, int(part.max()) + 1, forward
        # The folds that are predicted.
        self.tested = range(1 if forward else 0, self.n)
        self._order = np.argsort(part, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=self.n))])
        self.source = _encode_categorical(held.source, kinds).take(self._order)
        self.y = held.y[self._order]

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which of the sorted rows are predicted."""
        return np.arange(len(self.y)) >= (self._ends[1] if self._forward else 0)

    def learns(self, other: int, k: int) -> bool:
        """Return whether fold ``k`` is predicted from fold ``other``."""
        return other < k if self._forward else other != k

    def rows(self, k: int) -> slice:
        """Return where fold ``k`` is: a slice, so that taking its rows copies nothing."""
        return slice(int(self._ends[k]), int(self._ends[k + 1]))

    def part(self, k: int) -> Source:
        """Return the rows of fold ``k``."""
        return self.source.take(self.rows(k))  # type: ignore[arg-type]

    def labelled(self, k: int) -> Labelled:
        """Return the rows of fold ``k`` with their classes."""
        return Labelled(self.part(k), self.y[self.rows(k)], self.held.classes, None, self.held.target)

    def others(self, k: int) -> NDArray[np.intp]:
        """Return the rows that fold ``k`` is predicted from: those of all other folds, or of all before it."""
        if self._forward:
            return np.arange(self._ends[k])
        return np.concatenate([np.arange(self._ends[k]), np.arange(self._ends[k + 1], len(self.y))])

    def unsorted(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of the sorted rows in the order of the table."""
        back = np.empty_like(values)
        back[self._order] = values
        return back

    def numbers(self, kinds: Kinds) -> list[str]:
        """Return the columns that hold numbers rather than categories."""
        # A word that is a kind's own name, unlike a way to cut bins, says that the column is categories.
        discrete = {word for word, kind in words().items() if kind.coded and word == kind.name}
        return [
            name
            for j, name in enumerate(self.source.names)
            if isinstance(column := self.source.column(j), Numbers)
            and column.values.dtype.kind != "b"
            and kinds.get(name) not in discrete
        ]

    def bins_of(self, numeric: str, bins: int, kinds: Kinds) -> tuple[str, int] | None:
        """Return how a model with these settings bins numbers, or None where it does not."""
        if numeric in METHODS:
            return (numeric, bins) if self.numbers(kinds) else None
        return ("gaussian", bins) if any(kind in METHODS for kind in kinds.values()) else None

    def fold(self, k: int, bins: tuple[str, int] | None, kinds: Kinds) -> Fold:
        """Return fold ``k``: its rows to predict, and all others to learn from; bins are learned from the others."""
        rows = self.others(k)
        y = self.y[rows]
        source, binned = (self.source, frozenset[str]()) if bins is None else self._cut(rows, y, *bins, kinds)
        # A class that only fold ``k`` has is not known to a model.
        present, places = np.unique(y, return_inverse=True)
        train = Labelled(source.take(rows), places.astype(y.dtype), self.held.classes[present], None, self.held.target)
        return Fold(train, source.take(self.rows(k)), binned)  # type: ignore[arg-type]

    def _cut(
        self, rows: NDArray[np.intp], y: NDArray[Any], numeric: str, bins: int, kinds: Kinds
    ) -> tuple[Source, frozenset[str]]:
        names = self.numbers(kinds)
        few = self.source.select(tuple(names)).take(rows)
        few_kinds = {name: kinds[name] for name in names if name in kinds}
        schema = learn_schema(few, few_kinds, numeric, bins, y=y)
        columns = {name: self.source.column(j) for j, name in enumerate(self.source.names)}
        binned = [variable for variable in schema if variable.is_binned]
        for variable in binned:
            codes = encode_column(columns[variable.name], variable)
            columns[variable.name] = Coded(codes, variable.values, declared=True)
        names_cut = frozenset(variable.name for variable in binned)
        left = {name: kind for name, kind in self.source.kinds.items() if name not in names_cut}
        return replace(self.source, columns=tuple(columns.values()), array=None, kinds=left), names_cut


def stratified_parts(y: NDArray[Any], folds: int, random_state: int = 0) -> NDArray[np.intp]:
    """Assign rows to folds at random, class by class, so that each fold has its share of each class.

    >>> stratified_parts(np.array([0, 0, 1, 1]), 2, random_state=0)[:2].tolist() in ([0, 1], [1, 0])
    True
    """
    if not 2 <= folds <= len(y):
        raise TableError(f"folds must be between 2 and the number of rows, {len(y)}; got {folds}.", "folds")
    order = np.random.default_rng(random_state).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    part = np.empty(len(y), dtype=np.intp)
    part[order] = np.arange(len(y)) % folds
    return part


def group_parts(groups: NDArray[Any], folds: int, random_state: int = 0) -> NDArray[np.intp]:
    """Assign whole groups to folds, the largest first, each to the fold that is smallest so far.

    >>> group_parts(np.array(["a", "a", "b", "c"]), 2).tolist()
    [0, 0, 1, 1]
    """
    names, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < folds:
        raise TableError(f"{folds} folds need at least as many groups; got {len(names)}.", "folds")
    order = np.random.default_rng(random_state).permutation(len(names))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.empty(len(names), dtype=np.intp), np.zeros(folds, dtype=np.int64)
    for group in order:
        k = int(filled.argmin())
        fold_of[group] = k
        filled[k] += sizes[group]
    parts: NDArray[np.intp] = fold_of[place]
    return parts


def time_parts(times: NDArray[Any], folds: int) -> NDArray[np.intp]:
    """Assign rows to ``folds`` + 1 stretches of time of about equal size; rows with the same time stay together.

    The first stretch is learned from and not predicted, so that ``folds`` are predicted, each from those before it.

    >>> time_parts(np.array([1, 2, 2, 3]), 1).tolist()
    [0, 1, 1, 1]
    """
    moments, place, sizes = np.unique(times, return_inverse=True, return_counts=True)
    if len(moments) <= folds:
        raise TableError(
            f"{folds} folds in time need at least {folds + 1} different times; got {len(moments)}.", "folds"
        )
    # The stretch of a moment is that of its last row.
    stretch = np.minimum((np.cumsum(sizes) - 1) * (folds + 1) // len(times), folds)
    # A moment with many rows may skip a stretch; stretches are numbered without gaps.
    parts: NDArray[np.intp] = np.unique(stretch, return_inverse=True)[1][place].astype(np.intp)
    return parts


def _encode_categorical(source: Source, kinds: Kinds) -> Source:
    """Return the table with every categorical column as codes of its sorted levels, which models count as they are."""
    columns: list[Column] = [source.column(j) for j in range(len(source.names))]
    chosen = [j for j, column in enumerate(columns) if _is_categorical(column, kinds.get(source.names[j]))]
    if not chosen:
        return source
    few = source.select(tuple(source.names[j] for j in chosen))
    for j, variable in zip(chosen, learn_schema(few, "categorical"), strict=True):
        if variable.kind == "categorical":  # and not a column without any value
            codes = encode_column(columns[j], variable)
            columns[j] = Coded(codes, variable.values, variable.declared)
    return replace(source, columns=tuple(columns), array=None)


def _is_categorical(column: Column, kind: str | None) -> bool:
    if kind == "categorical":
        return True
    return kind is None and (isinstance(column, Coded) or column.values.dtype.kind == "b")
