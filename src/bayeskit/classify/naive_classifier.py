"""Base of all naive models: a table of probabilities, or a density, per column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import naive_network
from bayeskit.classify.leave_one_out import LeavesOneOut
from bayeskit.classify.sampling import SamplesRows
from bayeskit.classify.summaries import summarise
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.table import TableCounts
from bayeskit.decide.protocol import Domain, JointTerms
from bayeskit.estimate.class_weight import class_factors
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.explanation import Word
from bayeskit.explain.summary import Summary
from bayeskit.kinds import Estimation, Kind
from bayeskit.learn.checks import warn_of_cut_numbers
from bayeskit.learn.naive_beliefs import NaiveBeliefs, kinds_of, log_joint_left_out
from bayeskit.table.column import missing_code, unseen_code
from bayeskit.table.encode import refuse_infinite
from bayeskit.table.schema import Variable

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

# The words of a column of text that a summary lists.
MOST_WORDS = 20


class NaiveClassifier(LeavesOneOut, SamplesRows):
    """A classifier over :class:`TableCounts`: subclasses say how to count and how to estimate."""

    # Whether P(c) is learned from the rows, and so counts as parameters.
    @property
    def _learns_prior(self) -> bool:
        return True

    _statistic = TableCounts

    def _plus(self, ours: TableCounts, theirs: TableCounts) -> TableCounts:
        total = ours + theirs
        warn_of_cut_numbers(total, (ours, theirs))
        return total

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return log P(c), log P(x_j | c) of shape (n_rows, n_features, n_classes), and which cells are used."""
        model = self._now()
        columns = model._beliefs.read(model._encode(X))
        log_prior = model._beliefs.log_prior
        terms = np.zeros((len(columns[0]), len(columns), len(log_prior)))
        used = np.zeros(terms.shape[:2], dtype=bool)
        for j, (variable, kind, parameters) in enumerate(model._columns()):
            if variable.is_numeric:
                refuse_infinite(columns[j], variable.name)
                used[:, j] = ~np.isnan(columns[j])
            elif variable.is_discrete:
                left_out = columns[j] == missing_code(columns[j].dtype)
                if model.unseen != "smooth":
                    left_out |= columns[j] == unseen_code(columns[j].dtype)
                used[:, j] = ~left_out
            elif variable.is_text:
                used[:, j] = [cell is not None for cell in columns[j]]
            terms[:, j] = kind.log_density(variable, parameters, columns[j])
        return JointTerms(log_prior, terms, used)

    @property
    def _settings(self) -> Estimation:
        """How counts become the parameters of the columns."""
        return Estimation()

    def _check(self, counts: TableCounts) -> None:
        prior, smoothing = self._smoothed_prior
        factor = class_factors(counts.n_class, counts.classes, getattr(self, "class_weight", None))
        class_prior(counts.n_class * factor, prior, smoothing, counts.classes)

    def _believe(self, counts: TableCounts) -> NaiveBeliefs:
        prior, weight = self._smoothed_prior[0], getattr(self, "class_weight", None)
        return NaiveBeliefs.of(counts, self._settings, prior=prior, class_weight=weight)

    def _log_joint_left_out(
        self, rows: list[NDArray[Any]], left: LeftOut, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        settings: Any = self._state.settings
        return log_joint_left_out(self.counts_, settings._settings, rows, left, log_prior)

    def _columns(self) -> Iterator[tuple[Variable, Kind, Any]]:
        """Return each column with its kind and the parameters that the kind estimated."""
        return zip(self.schema_, kinds_of(self.schema_), self._beliefs.parameters, strict=True)

    def domains(self) -> list[Domain]:
        """Return the values that each column can take; a column with a density has a grid over it."""
        return [Domain(v.name, *kind.grid(v, parameters)) for v, kind, parameters in self._now()._columns()]

    def sample_columns(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return rows drawn from P(x), one column per feature: first a class, then each column given the class."""
        model = self._now()
        y = rng.choice(len(model.classes_), size=n_rows, p=model.class_prior_)
        columns = []
        for variable, kind, parameters in model._columns():
            column = np.full(n_rows, None, dtype=object)
            for c in range(len(model.classes_)):
                mine = np.flatnonzero(y == c)
                column[mine] = kind.sample(variable, parameters, c, len(mine), rng)
            columns.append(column)
        return columns

    def _summary(self) -> Summary:
        counts: TableCounts = self.counts_
        tables = self.tables_
        densities = {
            variable.name: dict(zip(map(str, tables[variable.name].rows), tables[variable.name].values, strict=True))
            for variable in self.schema_
            if variable.is_numeric
        }
        missing = 1.0 - counts.n_known().sum(axis=1) / counts.n_rows
        # Given the class the columns are independent, so that the tables are those of the columns alone.
        values = {v.name: tables[v.name].values for v in self.schema_ if v.is_discrete and v.name in tables}
        telling = {v.name: _first_rows(tables[v.name]) for v in self.schema_ if v.is_text}
        return summarise(self, np.asarray(counts.n_class), missing, densities, values, words=telling)

    def _words_of(self, column: str, text: str, classes: tuple[int, int]) -> list[Word]:
        """Return the words of a cell of text, each with its term in the log-odds of two classes, by their numbers."""
        beliefs: NaiveBeliefs = self._now()._beliefs
        table = beliefs.parameters[beliefs.schema.names.index(column)]
        return [Word(*found) for found in table.word_terms(text, *classes)]

    @property
    def class_count_(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c)."""
        return np.asarray(np.exp(self._beliefs.log_prior))

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        model = self._now()
        free = sum(kind.n_parameters(variable, parameters) for variable, kind, parameters in model._columns())
        return free + (len(model.classes_) - 1 if model._learns_prior else 0)

    @property
    def n_joint_cells_(self) -> int:
        """The number of cells of the full joint table, K ∏ S_j, for comparison with ``n_parameters_``."""
        model = self._now()
        cells = len(model.classes_)
        for variable in model.schema_:
            cells *= variable.n_values if variable.is_discrete else 1
        return cells

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(x | c) of each discrete column, and the parameters of each density."""
        model = self._now()
        classes, target = tuple(model.classes_.tolist()), model.target_ or "class"
        tables = {}
        for variable, kind, parameters in model._columns():
            if variable.kind != "unknown":
                rows, values = kind.table(variable, parameters)
                tables[variable.name] = NamedTable(kind.title(variable, target), rows, classes, values)
        return tables

    def to_network(self) -> BayesianNetwork:
        """Return the Bayesian network that this model is: the class is the parent of every column.

        It can be drawn, queried, and written as BIF; it answers rows with missing cells as `predict_proba` does.
        A column with a density is an error. With ``unseen="smooth"`` each column has one more state, "(unseen)".

        Examples
        --------
        >>> from bayeskit import NaiveBayes, datasets
        >>> net = NaiveBayes().fit(datasets.load_tennis(), target="play").to_network()
        >>> net.arcs[0]
        ('play', 'outlook')
        """
        model = self._now()
        return naive_network(model, model.target_ or "class")


def _first_rows(table: NamedTable) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """Return the words that tell most about the class, with P(w | c)."""
    return table.rows[:MOST_WORDS], table.values[:MOST_WORDS]
