"""How rows are assigned to folds: at random by class, by group, or in time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.names import not_found
from bayeskit.workflow.folds import group_parts, stratified_parts, time_parts
from bayeskit.workflow.wording import count

if TYPE_CHECKING:
    from bayeskit.table.target import Target

_PLAN = re.compile(r"(?P<how>group|time):(?P<column>.+?)(:(?P<n>\d+))?")


@dataclass(frozen=True)
class FoldPlan:
    """A number of folds and the way to fill them.

    Examples
    --------
    >>> FoldPlan.read("group:patient").described
    '5-fold cross-validation, each patient in one fold'
    """

    n: int = 5
    how: str = "stratified"  # or "group", "time"
    column: str = ""  # of the groups or times
    n_scored: int = 0  # rows of the sample that scores are taken on, where the table is larger; 0 is all rows

    @classmethod
    def read(cls, text: str) -> FoldPlan:
        """Read ``5``, ``group:COLUMN`` or ``time:COLUMN``; ``group:COLUMN:10`` has ten folds."""
        if text.isdecimal() and int(text) >= 2:
            return cls(int(text))
        found = _PLAN.fullmatch(text)
        n = int(found["n"] or 5) if found else 0
        if found is None or n < 2:
            raise BayeskitError(
                f"folds are a number from 2 on, group:COLUMN or time:COLUMN, with :NUMBER at the end if not 5; got "
                f"{text!r}."
            )
        return cls(n, found["how"], found["column"])

    @property
    def described(self) -> str:
        """The plan as text."""
        if self.n_scored:
            return f"{replace(self, n_scored=0).described}, scored on a random sample of {self.n_scored:,} rows"
        if self.how == "group":
            return f"{self.n}-fold cross-validation, each {self.column} in one fold"
        if self.how == "time":
            return f"{count(self.n, 'stretch')} of time by {self.column}, each predicted from the rows before it"
        return f"{self.n}-fold cross-validation"

    def parts(self, labels: Target, random_state: int) -> NDArray[np.intp]:
        """Return the fold of each row."""
        if self.how == "stratified":
            return stratified_parts(labels.y, self.n, random_state)
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.column not in labels.table.column_names:
            raise TableError(not_found("column", self.column, labels.table.column_names))
        column = labels.table[self.column]
        if column.null_count:
            row = int(np.asarray(pc.is_null(column)).argmax()) + 1
            raise TableError(f"row {row} has no value of {self.column!r}, by which rows are assigned to folds.")
        if self.how == "group":
            return group_parts(np.unique(column.to_pylist(), return_inverse=True)[1], self.n, random_state)
        orderly = pa.types.is_temporal, pa.types.is_integer, pa.types.is_floating
        if not any(is_such(column.type) for is_such in orderly):
            raise TableError(
                f"column {self.column!r} holds {column.type} such as {column[0].as_py()!r}; folds in time need numbers "
                "or dates.",
                "date_order",
            )
        return time_parts(np.asarray(column.to_numpy()), self.n)
