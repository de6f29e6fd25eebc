"""What all naive models share: a table of probabilities, or a density, per column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bayeskit.classify.as_network import naive_network
from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.tell import domain_of, summarise
from bayeskit.counts.table import TableCounts
from bayeskit.decide.known import Domain, as_column
from bayeskit.estimate.tables import NamedTable
from bayeskit.explain.summary import Summary
from bayeskit.table.column import missing_code
from bayeskit.table.encode import refuse_infinite

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


class NaiveModel(BayesClassifier):
    """A classifier over :class:`TableCounts`; it says how to count and what to believe, and can be read here."""

    # Whether P(c) is learned from the rows, and so counts as parameters.
    _learns_prior: bool = True

    def _counts_from_file(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TableCounts:
        return TableCounts.from_parts(meta, arrays)

    def _evidence(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return log P(c), log P(x_j | c) of shape (n_rows, n_features, n_classes), and which cells are used."""
        columns = self._encode(X)
        log_prior = self._beliefs.log_prior
        terms = np.zeros((len(columns[0]), len(columns), len(log_prior)))
        used = np.ones(terms.shape[:2], dtype=bool)
        for j, (variable, column, rows) in enumerate(zip(self.schema_, columns, self._beliefs.parameters, strict=True)):
            if variable.is_discrete:
                # The rows of a table are its values, then unseen, then missing.
                place = np.minimum(column, variable.n_values).astype(np.intp)
                place[column == missing_code(column.dtype)] = variable.n_values + 1
                terms[:, j] = rows[place]
                used[:, j] = (place < variable.n_values) | ((place == variable.n_values) & (self.unseen == "smooth"))
            elif variable.is_numeric:
                refuse_infinite(column, variable.name)
                numbers = np.asarray(column, dtype=np.float64)[:, None]
                used[:, j] = ~np.isnan(numbers[:, 0])
                if variable.kind == "gaussian":
                    log_density = rows[0] - (numbers - rows[1]) ** 2 * rows[2]
                else:
                    # A rate of 0 gives a count of 0 for sure: 0 log 0 is 0.
                    log_density = xlogy(numbers, rows[1]) - rows[1] - gammaln(numbers + 1)
                terms[:, j] = np.where(used[:, j, None], log_density, 0.0)
            else:
                used[:, j] = False
        return log_prior, terms, used

    def _domains(self) -> list[Domain]:
        self._refuse_unfitted()
        tables = self.tables_
        return [
            domain_of(variable, tables[variable.name].values if variable.is_numeric else None)
            for variable in self.schema_
        ]

    def _draw(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return columns of rows drawn from the model: a class, then each column given the class."""
        y = rng.choice(len(self.classes_), size=n_rows, p=self.class_prior_)
        columns = []
        for variable, domain in zip(self.schema_, self._domains(), strict=True):
            column = np.full(n_rows, None, dtype=object)
            table = self.tables_[variable.name].values if variable.kind != "unknown" else np.empty((0, 0))
            for c in range(len(self.classes_)):
                mine = np.flatnonzero(y == c)
                if variable.is_discrete:
                    share = table[:, c] / table[:, c].sum()  # an unseen slot keeps a share, which is never drawn
                    column[mine] = as_column(domain.values)[rng.choice(len(share), size=len(mine), p=share)]
                elif variable.kind == "gaussian":
                    column[mine] = rng.normal(table[0, c], table[1, c], size=len(mine))
                elif variable.kind == "poisson":
                    column[mine] = rng.poisson(table[0, c], size=len(mine))
            columns.append(column)
        return columns

    def _summary(self) -> Summary:
        counts: TableCounts = self.counts_
        known = np.zeros((len(self.schema_), len(self.classes_)))
        for k, j in enumerate(self.schema_.discrete):
            known[j] = counts.values.n_value[counts.values.offsets[k] : counts.values.offsets[k + 1]].sum(axis=0)
        for k, j in enumerate(self.schema_.numeric):
            known[j] = counts.moments.weight[k]
        tables = self.tables_
        densities = {
            variable.name: dict(zip(map(str, tables[variable.name].rows), tables[variable.name].values, strict=True))
            for variable in self.schema_
            if variable.is_numeric
        }
        return summarise(self, np.asarray(counts.n_class), 1.0 - known.sum(axis=1) / counts.n_rows, densities)

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
        target = self._target or "class"
        tables = {}
        for variable, rows in zip(self.schema_, self._beliefs.parameters, strict=True):
            title = f"P({variable.name} | {target})"
            if variable.is_discrete:
                tables[variable.name] = NamedTable(title, variable.values, classes, np.exp(rows[: variable.n_values]))
            elif variable.kind == "gaussian":
                values = np.stack([rows[1], np.sqrt(0.5 / rows[2])])
                tables[variable.name] = NamedTable(
                    f"p({variable.name} | {target})", ("mean", "deviation"), classes, values
                )
            elif variable.kind == "poisson":
                tables[variable.name] = NamedTable(title, ("rate",), classes, rows[1:])
        return tables

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network that this model is: the class is the parent of every column.

        It can be drawn, queried, and written as BIF; it answers rows with missing cells as `predict_proba` does.
        Columns with a density are refused by name. With ``unseen="smooth"`` each column has one more state, "(unseen)".

        Examples
        --------
        >>> from bayeskit import NaiveBayes, datasets
        >>> net = NaiveBayes().fit(datasets.load_tennis(), target="play").to_network()
        >>> net.arcs[0]
        ('play', 'outlook')
        """
        self._refuse_unfitted()
        return naive_network(self, self._target or "class")
