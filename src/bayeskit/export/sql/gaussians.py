r"""The terms of Gaussians: numbers z of a row, their squared distance in each class, and hidden ones integrated out.

With a = z − μ, 0 where z is hidden, and P the inverse of Σ, the distance of the known z is that of a after each hidden
column was swept out of the matrix of q = aᵀPa, b = Pa and P:

.. math:: q \leftarrow q - b_j^2 / P_{jj}, \quad b \leftarrow b - b_j P_j / P_{jj}, \quad
          P \leftarrow P - P_j P_j^\top / P_{jj}, \quad \log|\Sigma| \leftarrow \log|\Sigma| + \log P_{jj}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.scorer import Gaussians, columns_hidden_whole, without_columns
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.scales import z_of


class GaussianTerms:
    """log p(z | c) of each class. ``suffix`` tells the names of several Gaussians in one query apart.

    ``hidden`` gives the condition under which a column is hidden: by default, that its cell is NULL. For each set of
    columns that is hidden whole there is a version without them.
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
        self.sums_out = missing == "sum"
        self.hidden = {j: hidden(j) for j in self.columns}
        sets = columns_hidden_whole(part) if self.sums_out else [()]
        self.versions = [Version(self, sets, v) for v in range(len(sets))]
        cells = self.versions[0].n_classes * len(self.versions[0].swept) ** 2
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
        part, end = self.part, self.suffix
        if not len(part.feature):
            return [self.dialect.number(start) for start in part.start]
        numbers = {
            f"z{k}{end}": f"CASE WHEN NOT ({self.hidden[j]}) THEN {z_of(part, k, self.dialect)} END"
            for k, j in enumerate(part.feature.tolist())
        }
        query.add({**numbers, f"h0{end}": " OR ".join(self.hidden.values())})
        # Side by side: one after the other they were so many stages that DuckDB ran out of stack on the adult table.
        parts = [query.part(f"{end}_{v}") for v in range(len(self.versions))]
        full, *others = [version.add_stages(part) for version, part in zip(self.versions, parts, strict=True)]
        query.add_together(parts)
        if not self.sums_out:
            cells.refused.append(f"h0{end}")
            return full
        if not others:
            return full
        conditions = [version.condition for version in self.versions[1:]]
        answers = []
        for c, score in enumerate(full):
            cases = [f"WHEN {when} THEN {other[c]}" for when, other in zip(conditions, others, strict=True)]
            answers.append(f"CASE {' '.join(cases)} ELSE {score} END")
        return answers


class Version:
    """The Gaussians of rows in which the columns of one set are hidden, and no others of those hidden whole."""

    def __init__(self, terms: GaussianTerms, sets: Sequence[tuple[int, ...]], v: int) -> None:
        self.dialect, self.sums_out, self.hidden = terms.dialect, terms.sums_out, terms.hidden
        self.part = part = without_columns(terms.part, sets[v]) if sets[v] else terms.part
        whole = sets[-1]  # all columns that are hidden whole
        place = np.flatnonzero(~np.isin(terms.part.feature, sets[v])).tolist()
        self.z = [f"z{k}{terms.suffix}" for k in place]
        self.n_classes, self.p = part.mean.shape
        self.swept: list[int] = np.flatnonzero(~np.isin(part.feature, whole)).tolist()
        self.inverse = np.linalg.inv(part.lower) if part.lower.size else part.lower  # of the Cholesky factors
        self.suffix = f"{terms.suffix}_{v}" if v else terms.suffix
        self.any_hidden = f"h0{terms.suffix}"
        # The condition of the rows; the version with all columns is computed for every row.
        hides = [self.hidden[j] if j in sets[v] else f"NOT ({self.hidden[j]})" for j in whole]
        self.condition = " AND ".join(hides) if v else None

    def add_stages(self, query: Query) -> list[str]:
        """Add to the query the distances, and what swept columns change; return start + log p(z | c) of each class."""
        part, number, classes = self.part, self.dialect.number, range(self.n_classes)
        if not self.p:
            return [number(start) for start in part.start]
        w, distances = self._add_distances(query)
        diagonals = np.diagonal(part.lower, axis1=1, axis2=2) * part.deviation
        log_det = [float(each) for each in 2.0 * np.log(diagonals).sum(axis=1)]
        full = [
            self._log_density(c, distances[c], number(log_det[c]), number(part.shape[c, -1]), str(self.p))
            for c in classes
        ]
        if not self.sums_out or not self.swept:
            return full
        distance, pivots, known, here = self._sweep(query, w, distances)
        rest = []
        for c in classes:
            shape = self.dialect.lookup(part.shape[c].tolist(), f"{known} + 1")
            rest.append(self._log_density(c, distance[c], f"({number(log_det[c])} + {pivots[c]})", shape, known))
        return [f"CASE WHEN {here} THEN {rest[c]} ELSE {full[c]} END" for c in classes]

    def _add_distances(self, query: Query) -> tuple[dict[str, str], list[str]]:
        """Add the whitened z, 0 where they are hidden, and their squared length in each class; return their names."""
        classes, places, end = range(self.n_classes), range(self.p), self.suffix
        none = self.dialect.number(0.0)
        away = {f"a{c}_{k}{end}": f"coalesce({self._away(c, k)}, {none})" for c in classes for k in places}
        a = self._add(query, away)
        w = self._add(query, {f"w{c}_{k}{end}": self._whitened(a, c, k) for c in classes for k in places})
        squares = {c: [f"{w[f'w{c}_{k}{end}']} * {w[f'w{c}_{k}{end}']}" for k in places] for c in classes}
        d = self._add(query, {f"d{c}{end}": sum_of(squares[c]) for c in classes})
        return w, [d[f"d{c}{end}"] for c in classes]

    def _add(self, query: Query, columns: dict[str, str]) -> dict[str, str]:
        """Add a stage that only the rows of this version need; return what later stages call each column."""
        if self.condition is not None:
            return query.add_where(self.condition, columns)
        query.add(columns)
        return {name: name for name in columns}

    def _log_density(self, c: int, distance: str, log_det: str, shape: str, known: str) -> str:
        part, number = self.part, self.dialect.number
        start = f"{number(part.start[c])} + {shape} - {number(0.5)} * {log_det}"
        if part.df is None:
            return f"{start} - {number(0.5)} * {distance}"
        power = f"{number(0.5)} * ({number(part.df[c])} + {known})"
        return f"{start} - {power} * ln({number(1.0)} + {number(part.spread[c])} * {distance})"

    def _away(self, c: int, k: int) -> str:
        part, number = self.part, self.dialect.number
        rest = f" - {number(part.mean_rest[c, k])}" if part.mean_rest[c, k] else ""
        return f"({self.z[k]} - {number(part.mean[c, k])}{rest}) / {number(part.deviation[c, k])}"

    def _whitened(self, a: Mapping[str, str], c: int, k: int) -> str:
        number = self.dialect.number
        return sum_of([f"{number(self.inverse[c, k, v])} * {a[f'a{c}_{v}{self.suffix}']}" for v in range(k + 1)])

    # -- hidden columns ---------------------------------------------------------------------------------------------

    def _sweep(
        self, query: Query, w: Mapping[str, str], distances: Sequence[str]
    ) -> tuple[list[str], list[str], str, str]:
        """Add a stage per column that sweeps it out where it is hidden; of P and b only what such columns need.

        Return the distance of each class, what log|Σ| gains, how many columns are known, and the rows' condition.
        """
        dialect, end, n, classes = self.dialect, self.suffix, len(self.swept), range(self.n_classes)
        number = dialect.number
        hidden = [self.hidden[int(j)] for j in self.part.feature[self.swept]]
        here = " OR ".join(dict.fromkeys(hidden))
        if self.condition is None and len(self.swept) == self.p:
            here = self.any_hidden
        elif self.condition is not None:
            here = f"{self.condition} AND ({here})"
        precision = np.einsum("cvi,cvj->cij", self.inverse, self.inverse)[:, self.swept][:, :, self.swept]
        rows = [cell for c in classes for cell in (distances[c], *(self._slope(w, c, k) for k in self.swept))]
        known = " + ".join([str(self.p), *(f"CASE WHEN {each} THEN -1 ELSE 0 END" for each in hidden)])
        names = query.add_where(
            here,
            {
                f"bb0{end}": dialect.list_of(rows),
                f"pp0{end}": dialect.numbers(precision.ravel().tolist()),
                f"nn0{end}": known,
                **{f"oo{c}_0{end}": number(0.0) for c in classes},
            },
        )
        n_known, gains = names[f"nn0{end}"], [names[f"oo{c}_0{end}"] for c in classes]
        b, m = names[f"bb0{end}"], names[f"pp0{end}"]
        for j in range(n):
            pivot = self._pivot(m, j)
            swept = {
                f"bb{j + 1}{end}": f"CASE WHEN {hidden[j]} THEN {self._swept_row(b, m, j)} ELSE {b} END",
                f"pp{j + 1}{end}": f"CASE WHEN {hidden[j]} THEN {self._swept(m, j)} ELSE {m} END",
            }
            for c in classes:
                deviation = float(self.part.deviation[c, self.swept[j]])
                gain = f"ln({pivot(str(c))}) - {number(2.0 * float(np.log(deviation)))}"
                swept[f"oo{c}_{j + 1}{end}"] = f"CASE WHEN {hidden[j]} THEN {gains[c]} + {gain} ELSE {gains[c]} END"
            names = query.add_where(here, swept)
            b, m = names[f"bb{j + 1}{end}"], names[f"pp{j + 1}{end}"]
            gains = [names[f"oo{c}_{j + 1}{end}"] for c in classes]
        distance = [dialect.greatest([dialect.item(b, str(c * (n + 1) + 1)), number(0.0)]) for c in classes]
        return distance, gains, n_known, here

    def _slope(self, w: Mapping[str, str], c: int, k: int) -> str:
        number = self.dialect.number
        return sum_of([f"{number(self.inverse[c, v, k])} * {w[f'w{c}_{v}{self.suffix}']}" for v in range(k, self.p)])

    def _pivot(self, m: str, j: int) -> Callable[[str], str]:
        return lambda c: self.dialect.item(m, f"{c} * {len(self.swept) ** 2} + {j * len(self.swept) + j + 1}")

    def _swept_row(self, b: str, m: str, j: int) -> str:
        """The q and b of all classes without column j."""
        item, p = self.dialect.item, len(self.swept)
        c, place = self.dialect.quotient("i", p + 1), f"i % {p + 1}"
        mine = item(b, f"{c} * {p + 1} + {j + 2}")
        other = f"CASE WHEN {place} = 0 THEN {mine} ELSE {item(m, f'{c} * {p * p} + {j * p} + {place}')} END"
        # The place of q in the line of the matrix would be that before it, which is not asked for.
        pivot = self._pivot(m, j)(c)
        return self.dialect.tabulate(self.n_classes * (p + 1), f"{item(b, 'i + 1')} - {mine} * ({other}) / {pivot}")

    def _swept(self, m: str, j: int) -> str:
        """The P of all classes without column j."""
        item, p = self.dialect.item, len(self.swept)
        c, line, place = self.dialect.quotient("i", p * p), f"{self.dialect.quotient('i', p)} % {p}", f"i % {p}"
        left = item(m, f"{c} * {p * p} + ({line}) * {p} + {j + 1}")
        right = item(m, f"{c} * {p * p} + {j * p} + {place} + 1")
        pivot = self._pivot(m, j)(c)
        return self.dialect.tabulate(self.n_classes * p * p, f"{item(m, 'i + 1')} - {left} * {right} / {pivot}")
