"""The methods of every classifier: posteriors, likelihoods, explanations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.classify.posteriors import Posteriors
from bayeskit.classify.questions import TableQuestions
from bayeskit.classify.summaries import summarise
from bayeskit.decide.protocol import Domain
from bayeskit.defaults import UNSEEN
from bayeskit.errors import ImpossibleEvidenceError, TableError
from bayeskit.explain.summary import Summary
from bayeskit.learn.checks import in_place
from bayeskit.learn.naive_beliefs import kinds_of
from bayeskit.table.encode import encode, farthest_number, refuse_infinite
from bayeskit.table.labels import read_labels
from bayeskit.table.read import Source, read_values


class Beliefs(Protocol):
    """The probabilities that a model estimates from its counts; it scores rows."""

    in_place: bool
    log_prior: NDArray[np.float64]

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or -1)."""
        ...


class BayesClassifier(Posteriors, TableQuestions):
    """A classifier that learns from counts, and gives log P(x, c), also for rows with missing cells."""

    # What to do with unseen values and impossible rows; in models that leave the choice to the user, parameters.
    unseen: str = UNSEEN
    impossible: str = "error"
    # Under which names and settings ``bayeskit.compare`` tries the model; one without any is not tried.
    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {}
    # The same for names that are tried only when they are asked for.
    _compared_when_asked: ClassVar[dict[str, dict[str, Any]]] = {}

    # How columns depend on each other, in words, where arrows between columns cannot say it.
    _dependence: ClassVar[str] = ""

    def __dir__(self) -> list[str]:
        fixed = {"unseen", "impossible"} - set(self.get_params(deep=False))  # where they are no parameters
        return [name for name in super().__dir__() if name not in fixed]

    @classmethod
    def _takes_kind(cls, kind: str) -> bool:
        """Return whether ``kinds`` may give a column this kind."""
        return True

    def _counted_as(self) -> tuple[Any, ...] | None:
        """Return what is counted: models that return the same value get the same counts from the same rows.

        The first item is "values", "pairs" or "triples"; the others are the settings that the counts depend on. None
        means that the counts cannot be shared, since which families are counted depends on the rows or on the user.
        """
        return None

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x) of each row; low values mark rows unlike those of the fit."""
        return self._now()._score(X, Score.LOG_EVIDENCE)

    def _score(self, X: Any, result: Score) -> NDArray[Any]:
        beliefs: Beliefs = self._state.beliefs
        table = X if self._reads_in_place(X, beliefs) else self._encode(X)
        scores, impossible, infinite = beliefs.score(table, result, fallback=self.impossible == "prior")
        if infinite >= 0:
            source = self._read_features(X)
            for j, name in enumerate(self.schema_.names):
                column = source.column(j)
                refuse_infinite(getattr(column, "values", np.empty(0)), name)
        if impossible >= 0:
            way_out = " Pass impossible='prior' to predict the prior for such rows." * (
                "impossible" in self.get_params()
            )
            raise ImpossibleEvidenceError(
                f"row {impossible}: x has probability 0 under every class: it holds a value that smoothing > 0 would "
                f"allow, or a number too far from the training data."
                f"{farthest_number(self._read_features(X), impossible)}{way_out}"
            )
        return scores

    def _reads_in_place(self, X: Any, beliefs: Beliefs) -> bool:
        # The quick way for arrays: the kernel reads the numbers as they are.
        schema = self._state.counted.schema
        return beliefs.in_place and self.unseen != "error" and not schema.named and in_place(X, len(schema.variables))

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        source = self._read_features(X)
        return encode(source, self.schema_, unseen_is_error=self.unseen == "error")

    def log_likelihood(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return Σ log P(x, y) over the rows (natural logarithm)."""
        return float(self._now()._log_likelihoods(X, y, target).sum())

    def _log_likelihoods(self, X: Any, y: Any, target: str | None) -> NDArray[np.float64]:
        """Return log P(x, y) of each row."""
        X, y = self._rows_and_labels(X, y, target)
        if y is None:
            raise TableError("the likelihood of rows needs their labels: pass y, or target='column'.")
        log_joint = self._score(X, Score.LOG_JOINT)
        labels, codes = read_labels(y, len(log_joint))
        strange = [label for label in labels.tolist() if label not in self.classes_.tolist()]
        if strange:
            raise TableError(
                f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {self.classes_.tolist()}."
            )
        column = np.searchsorted(self.classes_, labels)[codes]
        return np.asarray(log_joint[np.arange(len(log_joint)), column])

    @property
    @abstractmethod
    def n_parameters_(self) -> int:
        """The number of free parameters."""

    def aic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return −2 log L + 2 · free parameters: smaller is better, as in scikit-learn."""
        model = self._now()
        return 2.0 * (float(model.n_parameters_) - float(model._log_likelihoods(X, y, target).sum()))

    def bic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return −2 log L + ln N · free parameters: smaller is better, as in scikit-learn."""
        model = self._now()
        rows = model._log_likelihoods(X, y, target)
        return float(np.log(len(rows))) * float(model.n_parameters_) - 2.0 * float(rows.sum())

    def explore(self) -> Any:
        """Show the model in a notebook as `bayeskit studio` does: a form, the decision, the evidence."""
        from bayeskit import explore  # a later stage, which the public name leads to

        return explore(self)

    def summary(self) -> Summary:
        """Return a printable summary: priors, the most informative values of each class, bins and missing rates."""
        return self._now()._summary()

    def _summary(self) -> Summary:
        unknown = np.full(len(self.schema_), np.nan)
        return summarise(self, np.asarray(self.counts_.n_class), unknown, {})

    def domains(self) -> list[Domain]:
        """Return the values that each column can take; a column with a density has a grid over it."""
        schema = self.schema_
        return [Domain(v.name, *kind.grid(v, None)) for v, kind in zip(schema, kinds_of(schema), strict=True)]

    def log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c), shape (n_rows, n_classes), for one column of values per feature; None is missing."""
        state = self._now()._state
        schema = state.counts.schema
        read = tuple(read_values(column.tolist(), v.name) for column, v in zip(columns, schema, strict=True))
        encoded = encode(Source(schema.names, schema.named, len(read[0]), read), schema)
        scores: NDArray[np.float64] = state.beliefs.score(encoded, Score.LOG_JOINT)[0]
        return scores

    def _log_joint_of_codes(self, columns: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c), shape (n_rows, n_classes), of rows that are encoded by the schema already."""
        scores: NDArray[np.float64] = self._beliefs.score(columns, Score.LOG_JOINT)[0]
        return scores

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
