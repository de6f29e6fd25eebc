"""What all naive models share: a table of probabilities, or a density, per column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.tables import NamedTable


class NaiveModel(BayesClassifier):
    """A classifier over :class:`TableCounts`; it says how to count and what to believe, and can be read here."""

    # Whether P(c) is learned from the rows, and so counts as parameters.
    _learns_prior: bool = True

    def _counts_from_file(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TableCounts:
        return TableCounts.from_parts(meta, arrays)

    @property
    def class_count_(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        self._refuse_unfitted()
        return np.asarray(self.counts_.n_class)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        self._refuse_unfitted()
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        self._refuse_unfitted()
        n_classes = len(self.classes_)
        per_class = sum(
            variable.n_values - 1 if variable.is_discrete else {"gaussian": 2, "poisson": 1}.get(variable.kind, 0)
            for variable in self.schema_
        )
        return n_classes * per_class + (n_classes - 1 if self._learns_prior else 0)

    @property
    def n_joint_cells_(self) -> int:
        """How many cells the full joint of class and discrete columns has, K ∏ S_j: what naivety spares."""
        self._refuse_unfitted()
        cells = len(self.classes_)
        for variable in self.schema_:
            cells *= variable.n_values if variable.is_discrete else 1
        return cells

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(x | c) of each discrete column, and the parameters of each density."""
        self._refuse_unfitted()
        classes = tuple(self.classes_.tolist())
        tables = {}
        for variable, rows in zip(self.schema_, self._beliefs.parameters, strict=True):
            title = f"P({variable.name} | class)"
            if variable.is_discrete:
                tables[variable.name] = NamedTable(title, variable.values, classes, np.exp(rows[: variable.n_values]))
            elif variable.kind == "gaussian":
                values = np.stack([rows[1], np.sqrt(0.5 / rows[2])])
                tables[variable.name] = NamedTable(
                    f"p({variable.name} | class)", ("mean", "deviation"), classes, values
                )
            elif variable.kind == "poisson":
                tables[variable.name] = NamedTable(title, ("rate",), classes, rows[1:])
        return tables
