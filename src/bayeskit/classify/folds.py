"""The parts of a table for cross-validation: rows sorted by part, so that a part is a view."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.column import Coded, Numbers
from bayeskit.table.encode import encode_column, learn_schema
from bayeskit.table.read import Source


class Folds:
    """A table whose rows are sorted by part, with the bins of each fold learned once for all models."""

    def __init__(self, source: Source, y: NDArray[Any], n_classes: int, part: NDArray[np.intp]) -> None:
        self.n = int(part.max()) + 1
        self._order = np.argsort(part, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=self.n))])
        self.source = source.take(self._order)
        self.y = y[self._order]
        self._binned: dict[tuple[int, str, int, tuple[str, ...]], tuple[Source, set[str], float]] = {}

    def rows(self, k: int) -> Any:
        """Return where part ``k`` stands: a slice, so that taking its rows copies nothing."""
        return slice(int(self._ends[k]), int(self._ends[k + 1]))

    def others(self, k: int) -> NDArray[np.intp]:
        """Return the rows of all other parts."""
        return np.concatenate([np.arange(self._ends[k]), np.arange(self._ends[k + 1], len(self.y))])

    def unsorted(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the sorted rows in the order of the table."""
        back = np.empty_like(values)
        back[self._order] = values
        return back

    def numbers(self, kinds: Mapping[str, str]) -> list[str]:
        """Return the columns that hold amounts."""
        discrete = ("categorical", "bernoulli")
        return [
            name
            for j, name in enumerate(self.source.names)
            if isinstance(column := self.source.column(j), Numbers)
            and column.values.dtype.kind != "b"
            and kinds.get(name) not in discrete
        ]

    def binned(self, k: int, numeric: str, bins: int, kinds: Mapping[str, str]) -> tuple[Source, set[str], float]:
        """Return the table with bins learned without part ``k``, the names of the columns cut, and the CPU time."""
        key = (k, numeric, bins, tuple(f"{name}={kind}" for name, kind in sorted(kinds.items())))
        if key not in self._binned:
            start = time.process_time()
            names = self.numbers(kinds)
            places = [self.source.names.index(name) for name in names]
            few = Source(tuple(names), True, self.source.n_rows, tuple(self.source.column(j) for j in places))
            rows = self.others(k)
            few_kinds = {name: kinds[name] for name in names if name in kinds}
            schema = learn_schema(few.take(rows), few_kinds, numeric, bins, None, None, self.y[rows])
            columns = [self.source.column(j) for j in range(len(self.source.names))]
            cut = set()
            for j, variable in zip(places, schema, strict=True):
                if variable.kind == "binned":
                    columns[j] = Coded(encode_column(columns[j], variable), variable.values, declared=True)
                    cut.add(variable.name)
            table = Source(self.source.names, True, self.source.n_rows, tuple(columns))
            self._binned[key] = (table, cut, time.process_time() - start)
        return self._binned[key]
