"""The pool of AutoBayes: its members side by side, their log-probabilities, and both pools."""

from __future__ import annotations

import numpy as np

from bayeskit.export.scorer import Floats, Pool, Scorer
from bayeskit.export.sql.cells import Cells
from bayeskit.export.sql.dialect import Dialect
from bayeskit.export.sql.forests import ForestPart
from bayeskit.export.sql.gaussians import GaussianTerms
from bayeskit.export.sql.levels import add_levels
from bayeskit.export.sql.linear import LinearTerms
from bayeskit.export.sql.networks import NetworkTerms
from bayeskit.export.sql.query import Query, sum_of
from bayeskit.export.sql.rare_values import add_rare_values

_LEAST_PROBABILITY = 1e-300


class PoolTerms:
    """log P(c | x) of AutoBayes."""

    def __init__(self, part: Pool, dialect: Dialect, scorer: Scorer, missing: str) -> None:
        self.part, self.dialect, self.scorer = part, dialect, scorer
        self.networks = NetworkTerms(part.networks, dialect)
        n, n_trees = len(part.gaussians), len(part.forests)
        self.gaussians = [
            GaussianTerms(each, dialect, missing, f"_{m + 1}", "v{} = 0".format)
            for m, each in enumerate(part.gaussians)
        ]
        self.forests = [ForestPart(each, dialect, f"_{n + m + 1}") for m, each in enumerate(part.forests)]
        self.linear = [LinearTerms(each, dialect, f"_{n + n_trees + m + 1}") for m, each in enumerate(part.linear)]
        first = len(part.weight)
        self.boosted = [ForestPart(each, dialect, f"_{first + m}") for m, each in enumerate(part.boosted)]
        self.classes = range(len(scorer.classes))

    @property
    def columns(self) -> list[int]:
        """The columns that are read."""
        parts = [self.networks.columns, *(g.columns for g in self.gaussians), *(f.columns for f in self.forests)]
        parts += [*(each.columns for each in self.linear), *(each.columns for each in self.boosted)]
        rare = {each.column for each in self.part.rare}
        return sorted({*(j for part in parts for j in part), *rare, *np.flatnonzero(self.part.varies).tolist()})

    def add_stages(self, query: Query, cells: Cells) -> list[str]:
        """Add to the query the members and the pools; return log P(c | x) of each class."""
        add_levels(query, self.scorer.columns, self.columns)
        # What each member has said: log P(c | x), and by the networks without weights.
        parts = [query.part(f"_{m}") for m in range(len(self.part.weight))]
        weighted, plain = self._networks(parts[0])
        scores, later = [weighted], iter(parts[1:])
        for gaussians, tables in zip(self.gaussians, self.part.beside, strict=True):
            scores.append(self._with_tables(gaussians.add_stages(next(later), cells), tables))
        scores += [self._forest(forest, next(later)) for forest in self.forests]
        scores += [linear.add_stages(next(later)) for linear in self.linear]
        for m, part in enumerate(parts):
            unweighted = {f"mp{c}": plain[c] for c in self.classes} if m == 0 else {}
            part.add({**{f"ms{c}_{m}": scores[m][c] for c in self.classes}, **unweighted})
            self._log_softmax(part, f"_{m}")
        boosted = [query.part(forest.suffix) for forest in self.boosted]
        for forest, part in zip(self.boosted, boosted, strict=True):
            part.add({f"gy{c}{forest.suffix}": answer for c, answer in enumerate(forest.add_stages(part))})
        query.add_together([*parts, *boosted])
        self._add_full_and_few(query)
        self._add_class_matrix(query)
        return self._mixed(query)

    # -- members ----------------------------------------------------------------------------------------------------

    def _networks(self, query: Query) -> tuple[list[str], list[str]]:
        """The scores of the networks with weights of the columns, and without; rare values take part in both."""
        weighted, plain = self.networks.add_stages(query)
        for each, terms in zip(self.part.rare, add_rare_values(query, self.part.rare), strict=True):
            weight = self.dialect.number(each.weight)
            weighted = [f"{score} + {weight} * {term}" for score, term in zip(weighted, terms, strict=True)]
            plain = [f"{score} + {term}" for score, term in zip(plain, terms, strict=True)]
        return weighted, plain

    def _with_tables(self, totals: list[str], tables: dict[int, Floats]) -> list[str]:
        """Add the terms of the columns beside the Gaussians; a hidden cell adds nothing."""
        none = self.dialect.number(0.0)
        for j, table in tables.items():
            for c in self.classes:
                item = self.dialect.lookup(table[:, c].tolist(), f"nullif(v{j}, 0)")
                totals[c] = f"{totals[c]} + coalesce({item}, {none})"
        return totals

    def _forest(self, forest: ForestPart, query: Query) -> list[str]:
        """Log P(c | x) of trees, whose P(c | x) may be 0."""
        names = [f"gy{c}{forest.suffix}" for c in self.classes]
        query.add(dict(zip(names, forest.add_stages(query), strict=True)))
        least = self.dialect.number(_LEAST_PROBABILITY)
        return [f"ln({self.dialect.greatest([name, least])})" for name in names]

    def _log_softmax(self, query: Query, end: str) -> None:
        """From the scores ms{c} the log-probabilities mf{c}, at least those of the pool."""
        dialect = self.dialect
        query.add({f"mx0{end}": dialect.greatest([f"ms{c}{end}" for c in self.classes])})
        query.add({f"mz0{end}": f"ln({sum_of([dialect.exponential(f'ms{c}{end} - mx0{end}') for c in self.classes])})"})
        least = dialect.number(self.part.least_log)
        query.add({f"mf{c}{end}": dialect.greatest([f"ms{c}{end} - mx0{end} - mz0{end}", least]) for c in self.classes})

    # -- pools ------------------------------------------------------------------------------------------------------

    def _add_full_and_few(self, query: Query) -> None:
        """Add fu{c}, the pool of full rows, fe{c}, that of rows of which little is known, and the share of both."""
        part, number = self.part, self.dialect.number
        members = range(len(part.weight))
        full, few = {}, {}
        for c in self.classes:
            weighed = [f"{number(part.weight[m])} * mf{c}_{m}" for m in members]
            full[f"fu{c}"] = sum_of([number(part.bias[c]), *weighed])
            told = [f"mf{c}_{m} - {number(part.nothing_known[m, c])}" for m in members[1:]]
            few[f"fe{c}"] = f"{number(part.log_prior[c])} + {number(part.few_weight)} * ({sum_of([f'mp{c}', *told])})"
        varies = np.flatnonzero(part.varies).tolist()
        n_known = sum_of([f"CASE WHEN v{j} > 0 THEN 1 ELSE 0 END" for j in varies])
        share = f"({n_known}) * {number(1.0)} / {len(varies)}" if varies else number(1.0)
        query.add({**full, **few, "fk0": share})

    def _add_class_matrix(self, query: Query) -> None:
        """Add fs{c}, the pool of full rows less its mean, times the matrix of the classes, and what is boosted."""
        matrix, number = self.part.matrix, self.dialect.number
        centre = np.flatnonzero(self.part.centre).tolist()
        query.add({"fm0": f"({sum_of([f'fu{c}' for c in centre])}) / {len(centre)}"})
        scores = {}
        for c in self.classes:
            terms = [f"{number(matrix[c, d])} * (fu{d} - fm0)" for d in self.classes if matrix[c, d]]
            boosted = [f"gy{c}{forest.suffix}" for forest in self.boosted]
            scores[f"fs{c}"] = sum_of([number(matrix[c, -1]), *terms, *boosted])
        query.add(scores)

    def _mixed(self, query: Query) -> list[str]:
        """Add both pools, as far as cells are known; return the logarithms of their mean with one row of P(c)."""
        number, classes, dialect = self.dialect.number, self.classes, self.dialect
        query.add({"fx0": dialect.greatest([f"fs{c}" for c in classes])})
        query.add({"fz0": f"ln({sum_of([dialect.exponential(f'fs{c} - fx0') for c in classes])})"})
        one = number(1.0)
        query.add({f"ft{c}": f"fk0 * fk0 * (fs{c} - fx0 - fz0) + ({one} - fk0 * fk0) * fe{c}" for c in classes})
        query.add({"fx1": dialect.greatest([f"ft{c}" for c in classes])})
        query.add({f"fp{c}": dialect.exponential(f"ft{c} - fx1") for c in classes})
        query.add({"fz1": sum_of([f"fp{c}" for c in classes])})
        rows, prior = self.part.n_rows, np.exp(self.part.log_prior)
        return [f"ln({number(rows)} * fp{c} / fz1 + {number(prior[c])}) - ln({number(rows + 1.0)})" for c in classes]
