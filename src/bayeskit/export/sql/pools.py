"""The pool of AutoBayes: its members side by side, their log-probabilities, and both pools."""

from __future__ import annotations

import numpy as np

from bayeskit.export.scorer import Floats, Pool, Scorer
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.forests import ForestPart
from bayeskit.export.sql.gaussians import GaussianTerms
from bayeskit.export.sql.levels import add_levels
from bayeskit.export.sql.networks import NetworkTerms
from bayeskit.export.sql.query import Query, sum_of

_LEAST_PROBABILITY = 1e-300


class PoolTerms:
    """log P(c | x) of AutoBayes."""

    def __init__(self, part: Pool, dialect: Dialect, scorer: Scorer, missing: str) -> None:
        self.part, self.dialect, self.scorer = part, dialect, scorer
        self.networks = NetworkTerms(part.networks, dialect)
        n = len(part.gaussians)
        self.gaussians = [
            GaussianTerms(each, dialect, missing, f"_{m + 1}", "v{} = 0".format)
            for m, each in enumerate(part.gaussians)
        ]
        self.forests = [ForestPart(each, dialect, f"_{n + m + 1}") for m, each in enumerate(part.forests)]
        self.classes = range(len(scorer.classes))

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        parts = [self.networks.columns, *(g.columns for g in self.gaussians), *(f.columns for f in self.forests)]
        return sorted({*(j for part in parts for j in part), *np.flatnonzero(self.part.varies).tolist()})

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the members and the pools; return log P(c | x) of each class."""
        add_levels(query, self.scorer.columns, self.columns)
        # What each member has said: log P(c | x), and by the networks without weights.
        parts = [query.part(f"_{m}") for m in range(len(self.part.weight))]
        weighted, plain = self.networks.add_stages(parts[0])
        scores = [weighted]
        for terms, tables, part in zip(self.gaussians, self.part.beside, parts[1:], strict=False):
            scores.append(self._with_tables(terms.add_stages(part, cells), tables))
        for forest, part in zip(self.forests, parts[1 + len(self.gaussians) :], strict=True):
            answers = forest.add_stages(part)
            part.add({f"gy{c}{forest.suffix}": answer for c, answer in enumerate(answers)})
            least = self.dialect.number(_LEAST_PROBABILITY)
            scores.append([f"ln({self.dialect.greatest([f'gy{c}{forest.suffix}', least])})" for c in self.classes])
        for m, part in enumerate(parts):
            unweighted = {f"mp{c}": plain[c] for c in self.classes} if m == 0 else {}
            part.add({**{f"ms{c}_{m}": scores[m][c] for c in self.classes}, **unweighted})
            self._log_softmax(part, f"_{m}")
        query.add_together(parts)
        return self._pool(query)

    def _with_tables(self, totals: list[str], tables: dict[int, Floats]) -> list[str]:
        """Add the terms of the columns beside the Gaussians; a hidden cell adds nothing."""
        none = self.dialect.number(0.0)
        for j, table in tables.items():
            for c in self.classes:
                item = self.dialect.lookup(table[:, c].tolist(), f"nullif(v{j}, 0)")
                totals[c] = f"{totals[c]} + coalesce({item}, {none})"
        return totals

    def _log_softmax(self, query: Query, end: str) -> None:
        """From the scores ms{c} the log-probabilities mf{c}, at least those of the pool."""
        dialect = self.dialect
        query.add({f"mx0{end}": dialect.greatest([f"ms{c}{end}" for c in self.classes])})
        query.add({f"mz0{end}": f"ln({sum_of([dialect.exponential(f'ms{c}{end} - mx0{end}') for c in self.classes])})"})
        least = dialect.number(self.part.least_log)
        query.add({f"mf{c}{end}": dialect.greatest([f"ms{c}{end} - mx0{end} - mz0{end}", least]) for c in self.classes})

    def _pool(self, query: Query) -> list[str]:
        part, number, classes, dialect = self.part, self.dialect.number, self.classes, self.dialect
        members = range(len(part.weight))
        pooled = [
            sum_of([number(part.bias[c]), *(f"{number(part.weight[m])} * mf{c}_{m}" for m in members)]) for c in classes
        ]
        told = [
            sum_of([f"mp{c}", *(f"mf{c}_{m} - {number(part.nothing_known[m, c])}" for m in members[1:])])
            for c in classes
        ]
        few = [f"{number(part.log_prior[c])} + {number(part.few_weight)} * ({told[c]})" for c in classes]
        varies = np.flatnonzero(part.varies).tolist()
        n_known = sum_of([f"CASE WHEN v{j} > 0 THEN 1 ELSE 0 END" for j in varies])
        query.add(
            {
                **{f"fu{c}": pooled[c] for c in classes},
                **{f"fe{c}": few[c] for c in classes},
                "fk0": f"({n_known}) * {number(1.0)} / {len(varies)}" if varies else number(1.0),
            }
        )
        centre = np.flatnonzero(part.centre).tolist()
        query.add({"fm0": f"({sum_of([f'fu{c}' for c in centre])}) / {len(centre)}"})
        query.add(
            {
                f"fs{c}": sum_of(
                    [
                        number(part.matrix[c, -1]),
                        *(f"{number(part.matrix[c, d])} * (fu{d} - fm0)" for d in classes if part.matrix[c, d]),
                    ]
                )
                for c in classes
            }
        )
        query.add({"fx0": dialect.greatest([f"fs{c}" for c in classes])})
        query.add({"fz0": f"ln({sum_of([dialect.exponential(f'fs{c} - fx0') for c in classes])})"})
        full = [f"(fs{c} - fx0 - fz0)" for c in classes]
        one = number(1.0)
        query.add({f"ft{c}": f"fk0 * fk0 * {full[c]} + ({one} - fk0 * fk0) * fe{c}" for c in classes})
        query.add({"fx1": dialect.greatest([f"ft{c}" for c in classes])})
        query.add({f"fp{c}": dialect.exponential(f"ft{c} - fx1") for c in classes})
        query.add({"fz1": sum_of([f"fp{c}" for c in classes])})
        rows, prior = part.n_rows, np.exp(part.log_prior)
        return [f"ln({number(rows)} * fp{c} / fz1 + {number(prior[c])}) - ln({number(rows + 1.0)})" for c in classes]
