"""What every classifier offers: posteriors, likelihoods, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from bayeskit.classify.learner import Learner
from bayeskit.classify.tell import domain_of, summarise
from bayeskit.classify.validate import check_columns, in_order, in_place, split_target
from bayeskit.decide.known import Domain
from bayeskit.errors import ImpossibleEvidenceError, TableError
from bayeskit.estimate.naive import Score
from bayeskit.explain.evidence import Explanation, Explanations, explain, explain_rows
from bayeskit.explain.summary import Summary
from bayeskit.table.encode import encode, refuse_infinite, refuse_uncountable
from bayeskit.table.labels import read_labels
from bayeskit.table.read import Source, read_table, read_values


class Beliefs(Protocol):
    """What a model believes once it has counted; it scores rows."""

    in_place: bool
    log_prior: NDArray[np.float64]

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or -1)."""
        ...


class BayesClassifier(ClassifierMixin, Learner):
    """A classifier that learns from counts, and whose beliefs give log P(x, c) for rows with missing cells too."""

    # How values and rows of probability zero are met; models that leave the choice to the user have parameters for it.
    unseen: str = "ignore"
    impossible: str = "error"

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        codes = self._score(X, Score.CLASS)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_POSTERIOR)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_JOINT)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x) of each row; low values mark rows unlike those of the fit."""
        return self._score(X, Score.LOG_EVIDENCE)

    def _score(self, X: Any, result: Score) -> NDArray[Any]:
        self._refuse_unfitted()
        beliefs: Beliefs = self._beliefs
        table = X if self._reads_in_place(X) else self._encode(X)
        scores, impossible, infinite = beliefs.score(table, result, fallback=self.impossible == "prior")
        if infinite >= 0:
            source = self._read_features(X)
            for j, name in enumerate(self.schema_.names):
                column = source.column(j)
                refuse_infinite(getattr(column, "values", np.empty(0)), name)
        if impossible >= 0:
            way_out = " Pass impossible='prior' to answer such rows with the prior." * (
                "impossible" in self.get_params()
            )
            raise ImpossibleEvidenceError(
                f"row {impossible}: no class can give this x, since under each of them some value has probability 0: a "
                f"value that smoothing > 0 would allow, or a number too far out.{way_out}"
            )
        return scores

    def _reads_in_place(self, X: Any) -> bool:
        # The quick way for arrays: the kernel reads the numbers as they are.
        return (
            self._beliefs.in_place
            and self.unseen != "error"
            and in_place(X, self.n_features_in_)
            and not self.schema_.named
        )

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        source = self._read_features(X)
        columns = encode(source, self.schema_, unseen_is_error=self.unseen == "error")
        for column, variable in zip(columns, self.schema_, strict=True):
            if variable.kind == "poisson":
                refuse_uncountable(column, variable.name)
        return columns

    def _read_features(self, X: Any) -> Source:
        source = read_table(X)
        if self._target is not None and source.named and self._target in source.names:
            source = source.without(self._target)  # fitted with target=: the whole table may come again
        source = in_order(X, source, self.schema_.names)
        check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        return source

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the share of rows whose class is predicted right."""
        if target is not None:
            self._refuse_unfitted()
            source, y = split_target(X, read_table(X), target)
            X = in_order(X, source, self.schema_.names)
        return float(super().score(X, y, sample_weight))

    def log_likelihood(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return Σ log P(x, y) over the rows, by the natural logarithm."""
        self._refuse_unfitted()
        if target is not None:
            source, y = split_target(X, read_table(X), target)
            X = in_order(X, source, self.schema_.names)
        elif y is None:
            raise TableError("the likelihood of rows needs their labels: pass y, or target='column'.")
        log_joint = self.predict_joint_log_proba(X)
        labels, codes = read_labels(y, len(log_joint))
        strange = [label for label in labels.tolist() if label not in self.classes_.tolist()]
        if strange:
            raise TableError(
                f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {self.classes_.tolist()}."
            )
        column = np.searchsorted(self.classes_, labels)[codes]
        return float(log_joint[np.arange(len(log_joint)), column].sum())

    def aic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return log-likelihood − free parameters: higher is better, as in bnlearn."""
        return self.log_likelihood(X, y, target=target) - float(self.n_parameters_)

    def bic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return log-likelihood − ½ ln N · free parameters: higher is better, as in bnlearn."""
        log_likelihood = self.log_likelihood(X, y, target=target)
        return log_likelihood - 0.5 * float(np.log(read_table(X).n_rows)) * float(self.n_parameters_)

    def explain(
        self, row: Any, classes: tuple[Any, Any] | None = None, order: Sequence[str] | None = None
    ) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and what each feature adds to them.

        Parameters
        ----------
        row : dict, list, 1-D array, Series, or table with one row
            What to explain; a dict may leave features out.
        classes : (a, b), optional
            The classes to compare; by default the most probable one and the runner-up.
        order : sequence of str, optional
            The features in the order in which they are revealed; by default that of the table.
        """
        self._refuse_unfitted()
        return explain(self, row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a table, as :meth:`explain` does one."""
        self._refuse_unfitted()
        return explain_rows(self, X, classes)

    def summary(self) -> Summary:
        """Return priors, the most telling values of each class, bins, rows counted and missing rates, to print."""
        self._refuse_unfitted()
        return self._summary()

    def _summary(self) -> Summary:
        unknown = np.full(len(self.schema_), np.nan)
        return summarise(self, np.asarray(self.counts_.n_class), unknown, {})

    def _domains(self) -> list[Domain]:
        """Return the values that each column takes; a model with densities gives grids over them."""
        self._refuse_unfitted()
        return [domain_of(variable) for variable in self.schema_]

    def _log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c) for columns of plain values in which None is missing."""
        names = self.schema_.names
        read = tuple(read_values(column.tolist(), name) for column, name in zip(columns, names, strict=True))
        encoded = encode(Source(names, self.schema_.named, len(read[0]), read), self.schema_)
        scores: NDArray[np.float64] = self._beliefs.score(encoded, Score.LOG_JOINT)[0]
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
