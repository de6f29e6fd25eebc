"""A small printable table of numbers with row names and column names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import html_table, text_width


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with a title, row names and column names; prints as text and in a notebook.

    Examples
    --------
    >>> table = NamedTable("P(wind | play)", ("strong", "weak"), ("no", "yes"), np.array([[0.6, 0.3], [0.4, 0.7]]))
    >>> table["weak", "yes"]
    0.7
    >>> table
    P(wind | play)      no     yes
    strong          0.6000  0.3000
    weak            0.4000  0.7000
    """

    title: str
    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    values: NDArray[np.float64]  # (n_rows, n_columns)

    def __getitem__(self, key: Any) -> float:
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(f"a cell is named by its row and its column, such as {self.rows[0]!r}, {self.columns[0]!r}.")
        row, column = key
        return float(self.values[self._find(self.rows, row), self._find(self.columns, column)])

    def _find(self, names: tuple[Any, ...], name: Any) -> int:
        if name not in names:
            raise KeyError(f"{name!r} is not in the table {self.title!r}; there are {', '.join(map(repr, names))}.")
        return names.index(name)

    def _cells(self) -> list[list[str]]:
        head = [self.title, *map(str, self.columns)]
        return [head, *([str(row), *(f"{x:.4f}" if 1e-3 <= abs(x) < 1e5 or x == 0 else f"{x:.4g}" for x in line)]
                        for row, line in zip(self.rows, self.values, strict=True))]  # fmt: skip

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(text_width(line[k]) for line in cells) for k in range(len(cells[0]))]
        lines = []
        for line in cells:
            first = line[0] + " " * (widths[0] - text_width(line[0]))
            rest = (" " * (width - text_width(cell)) + cell for cell, width in zip(line[1:], widths[1:], strict=True))
            lines.append("  ".join([first, *rest]).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        return html_table(head, body)

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(self.values, index=list(self.rows), columns=list(self.columns))
