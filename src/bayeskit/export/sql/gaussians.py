r"""The terms of Gaussians: numbers z of a row, their squared distance in each class, and hidden ones integrated out.

With a = z − μ, 0 where z is hidden, and P the inverse of Σ, the distance of the known z is that of a after each hidden
column was swept out of the matrix of q = aᵀPa, b = Pa and P:

.. math:: q \leftarrow q - b_j^2 / P_{jj}, \quad b \leftarrow b - b_j P_j / P_{jj}, \quad
          P \leftarrow P - P_j P_j^\top / P_{jj}, \quad \log|\Sigma| \leftarrow \log|\Sigma| + \log P_{jj}
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.scorer import Floats, Gaussians
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of


class GaussianTerms:
    """log p(z | c) of each class. ``suffix`` tells the names of several Gaussians in one query apart.

    ``hidden`` gives the condition under which a column is hidden: by default, that its cell is NULL.
    """

    def __init__(
        self,
        part: Gaussians,
        dialect: Dialect,
        missing: str,
        suffix: str = "",
        hidden: Callable[[int], str] = "x{} IS NULL".format,
    ) -> None:
        self.part, self.dialect, self.suffix = part, dialect, suffix
        self.n_classes, self.p = part.mean.shape
        self.sums_out = missing == "sum"
        self.hidden = [hidden(int(j)) for j in part.feature]
        self.inverse = np.linalg.inv(part.lower) if part.lower.size else part.lower  # of the Cholesky factors
        cells = self.n_classes * self.p**2
        if self.sums_out and cells > dialect.most_cells:
            raise TooLargeError(
                f"integrating out missing cells takes {cells} numbers per row, more than the {dialect.most_cells} of "
                f"{dialect.name}. Pass missing_parents='null' to answer such rows with NULL, or fit fewer columns."
            )

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        return sorted({int(j) for j in self.part.feature})

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the distances, and what hidden columns change; return start + log p(z | c) of each class."""
        part, number, end = self.part, self.dialect.number, self.suffix
        classes, places = range(self.n_classes), range(self.p)
        if not self.p:
            return [number(start) for start in part.start]
        any_hidden = " OR ".join(dict.fromkeys(self.hidden))
        numbers = {f"z{k}{end}": f"CASE WHEN NOT ({self.hidden[k]}) THEN {self._z(k)} END" for k in places}
        query.add({**numbers, f"h0{end}": any_hidden})
        query.add({f"a{c}_{k}{end}": f"coalesce({self._away(c, k)}, {number(0.0)})" for c in classes for k in places})
        query.add({f"w{c}_{k}{end}": self._whitened(c, k) for c in classes for k in places})
        query.add({f"d{c}{end}": sum_of([f"w{c}_{k}{end} * w{c}_{k}{end}" for k in places]) for c in classes})
        diagonals = np.diagonal(part.lower, axis1=1, axis2=2) * part.deviation
        log_det = [float(each) for each in 2.0 * np.log(diagonals).sum(axis=1)]
        full = [
            self._log_density(c, f"d{c}{end}", number(log_det[c]), number(part.shape[c, -1]), str(self.p))
            for c in classes
        ]
        if not self.sums_out:
            cells.refused.append(f"h0{end}")
            return full
        distance, pivots, known = self._sweep(query)
        rest = []
        for c in classes:
            shape = self.dialect.lookup(part.shape[c].tolist(), f"{known} + 1")
            rest.append(self._log_density(c, distance[c], f"({number(log_det[c])} + {pivots[c]})", shape, known))
        return [f"CASE WHEN h0{end} THEN {rest[c]} ELSE {full[c]} END" for c in classes]

    def _log_density(self, c: int, distance: str, log_det: str, shape: str, known: str) -> str:
        part, number = self.part, self.dialect.number
        start = f"{number(part.start[c])} + {shape} - {number(0.5)} * {log_det}"
        if part.df is None:
            return f"{start} - {number(0.5)} * {distance}"
        power = f"{number(0.5)} * ({number(part.df[c])} + {known})"
        return f"{start} - {power} * ln({number(1.0)} + {number(part.spread[c])} * {distance})"

    def _z(self, k: int) -> str:
        """A number on its scale, or the indicator of a level."""
        part, number = self.part, self.dialect.number
        j = int(part.feature[k])
        if k >= len(part.curve_at) - 1:
            off, on = -part.center[k] / part.scale[k], (1.0 - part.center[k]) / part.scale[k]
            return f"CASE WHEN v{j} = {int(part.level[k]) + 1} THEN {number(on)} ELSE {number(off)} END"
        if np.isinf(part.farthest):
            return f"x{j}"
        cell = f"coalesce(x{j}, {number(part.median[k])})"
        points = slice(int(part.curve_at[k]), int(part.curve_at[k + 1]))
        if points.stop > points.start:
            return self._curve(cell, part.curve_x[points], part.curve_z[points])
        z = f"({cell} / {number(part.unit[k])} - {number(part.center[k])}) / {number(part.scale[k])}"
        least, greatest = self.dialect.least, self.dialect.greatest
        return greatest([f"{least}({z}, {number(part.farthest)})", number(-part.farthest)])

    def _curve(self, cell: str, x: Floats, z: Floats) -> str:
        """A piecewise linear curve, by halving; level outside of it."""
        number = self.dialect.number
        if len(x) == 1:
            return number(z[0])

        def between(first: int, last: int) -> str:
            if last - first == 1:
                share = f"({cell} / 2 - {number(x[first] / 2)}) / {number(x[last] / 2 - x[first] / 2)}"
                return f"({share} * {number(z[last] - z[first])} + {number(z[first])})"
            middle = (first + last) // 2
            below, above = between(first, middle), between(middle, last)
            return f"CASE WHEN {cell} < {number(x[middle])} THEN {below} ELSE {above} END"

        ends = f"WHEN {cell} <= {number(x[0])} THEN {number(z[0])} WHEN {cell} >= {number(x[-1])} THEN {number(z[-1])}"
        return f"CASE {ends} ELSE {between(0, len(x) - 1)} END"

    def _away(self, c: int, k: int) -> str:
        part, number = self.part, self.dialect.number
        rest = f" - {number(part.mean_rest[c, k])}" if part.mean_rest[c, k] else ""
        return f"(z{k}{self.suffix} - {number(part.mean[c, k])}{rest}) / {number(part.deviation[c, k])}"

    def _whitened(self, c: int, k: int) -> str:
        number = self.dialect.number
        return sum_of([f"{number(self.inverse[c, k, v])} * a{c}_{v}{self.suffix}" for v in range(k + 1)])

    def _sweep(self, query: Query) -> tuple[list[str], list[str], str]:
        """Add a stage per column that sweeps it out where it is hidden.

        Return the distance of each class, what log|Σ| gains, and how many columns are known.
        """
        dialect, end, p, classes = self.dialect, self.suffix, self.p, range(self.n_classes)
        number, here = dialect.number, f"h0{self.suffix}"
        precision = np.einsum("cvi,cvj->cij", self.inverse, self.inverse)
        rows = [cell for c in classes for cell in (f"d{c}{end}", *(self._slope(c, k) for k in range(p)))]
        matrix = dialect.numbers(precision.ravel().tolist())
        known = " + ".join([str(p), *(f"CASE WHEN {hidden} THEN -1 ELSE 0 END" for hidden in self.hidden)])
        names = query.add_where(
            here,
            {
                f"bb0{end}": dialect.list_of(rows),
                f"pp0{end}": matrix,
                f"nn0{end}": known,
                **{f"oo{c}_0{end}": number(0.0) for c in classes},
            },
        )
        n_known, gains = names[f"nn0{end}"], [names[f"oo{c}_0{end}"] for c in classes]
        b, m = names[f"bb0{end}"], names[f"pp0{end}"]
        for j in range(p):
            hidden, pivot = self.hidden[j], self._pivot(m, j)
            swept = {
                f"bb{j + 1}{end}": f"CASE WHEN {hidden} THEN {self._swept_row(b, m, j)} ELSE {b} END",
                f"pp{j + 1}{end}": f"CASE WHEN {hidden} THEN {self._swept(m, j)} ELSE {m} END",
            }
            for c in classes:
                gain = f"ln({pivot(str(c))}) - {number(2.0 * float(np.log(self.part.deviation[c, j])))}"
                swept[f"oo{c}_{j + 1}{end}"] = f"CASE WHEN {hidden} THEN {gains[c]} + {gain} ELSE {gains[c]} END"
            names = query.add_where(here, swept)
            b, m = names[f"bb{j + 1}{end}"], names[f"pp{j + 1}{end}"]
            gains = [names[f"oo{c}_{j + 1}{end}"] for c in classes]
        distance = [dialect.greatest([dialect.item(b, str(c * (p + 1) + 1)), number(0.0)]) for c in classes]
        return distance, gains, n_known

    def _slope(self, c: int, k: int) -> str:
        number = self.dialect.number
        return sum_of([f"{number(self.inverse[c, v, k])} * w{c}_{v}{self.suffix}" for v in range(k, self.p)])

    def _pivot(self, m: str, j: int) -> Callable[[str], str]:
        return lambda c: self.dialect.item(m, f"{c} * {self.p**2} + {j * self.p + j + 1}")

    def _swept_row(self, b: str, m: str, j: int) -> str:
        """The q and b of all classes without column j."""
        item, p = self.dialect.item, self.p
        c, place = self.dialect.quotient("i", p + 1), f"i % {p + 1}"
        mine = item(b, f"{c} * {p + 1} + {j + 2}")
        other = f"CASE WHEN {place} = 0 THEN {mine} ELSE {item(m, f'{c} * {p * p} + {j * p} + {place}')} END"
        # The place of q in the line of the matrix would be that before it, which is not asked for.
        pivot = self._pivot(m, j)(c)
        return self.dialect.tabulate(self.n_classes * (p + 1), f"{item(b, 'i + 1')} - {mine} * ({other}) / {pivot}")

    def _swept(self, m: str, j: int) -> str:
        """The P of all classes without column j."""
        item, p = self.dialect.item, self.p
        c, line, place = self.dialect.quotient("i", p * p), f"{self.dialect.quotient('i', p)} % {p}", f"i % {p}"
        left = item(m, f"{c} * {p * p} + ({line}) * {p} + {j + 1}")
        right = item(m, f"{c} * {p * p} + {j * p} + {place} + 1")
        pivot = self._pivot(m, j)(c)
        return self.dialect.tabulate(self.n_classes * p * p, f"{item(m, 'i + 1')} - {left} * {right} / {pivot}")
