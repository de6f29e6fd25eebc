"""The methods of all mixtures: clusters, posteriors, densities, criteria, a summary, and the model file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, warn_caller
from bayeskit.estimate.em import EMResult
from bayeskit.estimate.history import History
from bayeskit.explain.explanation import Explanation
from bayeskit.explain.log_odds import explain
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.io.expect import expect_field
from bayeskit.learn.parameters import at_least, one_of
from bayeskit.learn.state import State, learned
from bayeskit.learn.whole_model import WholeModel
from bayeskit.mixture.cluster_summary import Column, describe_clusters
from bayeskit.mixture.start import as_generator
from bayeskit.result import Result
from bayeskit.table.encode import farthest_number

# A component with less than this share of the rows has died.
DEAD = 1e-9


@dataclass(frozen=True, repr=False)
class Candidate(Result):
    """A number of components that was tried, with the values of the criteria; higher is better."""

    n_components: int
    log_likelihood: float
    n_parameters: int
    bic: float
    aic: float


@dataclass(frozen=True, eq=False)
class EMRecord:
    """How EM went: its history, the numbers of components that were tried, and the likelihood of the one chosen."""

    history: History
    selection: tuple[Candidate, ...]
    log_likelihood: float

    @classmethod
    def of(cls, result: EMResult[Any], tried: tuple[Candidate, ...]) -> EMRecord:
        """Return the record of a result, and the likelihood with the chosen number of components."""
        k = len(result.parameters.weight)
        log = next(each.log_likelihood for each in tried if each.n_components == k)
        return cls(result.history, tried, log)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file."""
        history = self.history
        meta = {
            "reason": history.reason,
            "converged": history.converged,
            "log_likelihood": self.log_likelihood,
            "selection": [[getattr(each, name) for name in Candidate.__annotations__] for each in self.selection],
        }
        return meta, {"objective": np.array(history.objective), "starts": np.array(history.starts)}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> EMRecord:
        """Read what :meth:`to_parts` gave."""
        path, starts = (tuple(arrays[name].astype(float).tolist()) for name in ("objective", "starts"))
        if not path:
            raise ValueError("the history is empty")
        history = History("em", path, expect_field(meta, "reason", str), expect_field(meta, "converged", bool), starts)
        selection = tuple(
            Candidate(int(k), float(log), int(free), float(bic), float(aic))
            for k, log, free, bic, aic in expect_field(meta, "selection", list)
        )
        return cls(history, selection, expect_field(meta, "log_likelihood", float))


@dataclass(frozen=True, eq=False)
class MixtureState(State):
    """The state of a mixture; each model adds its components."""

    record: EMRecord
    weights: NDArray[np.float64]  # (k,)
    labels: NDArray[np.int64] | None  # (n_rows,) of the fit; a file does not keep them

    def parameters_of(self, components: Any) -> dict[str, Any]:
        """Return the parameters of one step of EM under the names of the attributes; each model has its own."""
        raise NotImplementedError

    def with_steps(self, order: NDArray[np.int64]) -> Self:
        """Return the state with the recorded steps under the names of the attributes, components in this order."""
        history = self.record.history
        steps = tuple(self.parameters_of(components.take(order)) for components in history.parameters)
        return replace(self, record=replace(self.record, history=replace(history, parameters=steps)))


@dataclass(eq=False, repr=False)
class MixtureModel(WholeModel):
    """A mixture over a table: each row comes from one of k hidden components."""

    _role = "clusterer"
    _state: MixtureState = field(init=False)

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "n_components": (
            "'auto' or a whole number of at least 1",
            lambda value: (isinstance(value, str) and value == "auto") or at_least(1, whole=True)[1](value),
        ),
        "criterion": one_of("bic", "aic"),
        "max_components": at_least(1, whole=True),
        "n_init": at_least(1, whole=True),
        "tol": at_least(0),
        "max_iter": at_least(1, whole=True),
        "regularization": at_least(0),
    }

    n_components: int | Literal["auto"] = "auto"
    _: KW_ONLY
    criterion: Literal["bic", "aic"] = "bic"
    max_components: int = 10
    n_init: int = 3
    tol: float = 1e-6
    max_iter: int = 500
    regularization: float = 1e-6
    random_state: Any = 0

    weights_ = learned("weights", "P(component), of shape (k,).")

    @property
    def _n_wanted(self) -> int | str:
        """The number of components that was asked for, or "auto"."""
        return self.n_components

    # -- fitting ----------------------------------------------------------------------------------------------------

    def _choose(self, n_rows: int, total: float, climb: Callable[[int], tuple[EMResult[Any], float, int]]) -> Any:
        """Fit one number of components, or several and keep the best by the criterion.

        The numbers 1, 2, … are tried up to ``max_components``, or until three in a row have not lowered the criterion.
        """
        if self._n_wanted != "auto":
            k = int(self._n_wanted)
            if k > n_rows:
                raise BayeskitError(
                    f"n_components is {k}, but there {'is' if n_rows == 1 else 'are'} only {n_rows} "
                    f"row{'s' if n_rows != 1 else ''} to learn from; n_samples must be at least n_components."
                )
            result, log, free = climb(k)
            self._warn_of_reinitialised(result)
            return result, (candidate(k, log, free, total),)
        tried: list[Candidate] = []
        best: tuple[float, EMResult[Any]] | None = None
        since = 0
        for k in range(1, min(self.max_components, n_rows) + 1):
            try:
                result, log, free = climb(k)
            except BayeskitError:
                if best is None:
                    raise
                break  # fewer distinct rows than components
            tried.append(candidate(k, log, free, total))
            value = getattr(tried[-1], self.criterion)
            since += 1
            if best is None or value < best[0]:
                best, since = (value, result), 0
            if since == 3:
                break
        assert best is not None
        self._warn_of_reinitialised(best[1])
        return best[1], tuple(tried)

    @staticmethod
    def _warn_of_reinitialised(result: EMResult[Any]) -> None:
        if result.history.mended:
            warn_caller(
                f"a component was left without rows {result.history.mended} time(s) and was re-initialised at the row "
                "that the others explain worst; a lower n_components may fit as well."
            )

    @property
    def history_(self) -> History:
        """The objective before each step and at the end, and why EM stopped."""
        return self._fitted.record.history  # type: ignore[no-any-return]

    @property
    def selection_(self) -> tuple[Candidate, ...]:
        """The numbers of components that were tried, with the values of the criteria."""
        return self._fitted.record.selection  # type: ignore[no-any-return]

    @property
    def log_likelihood_(self) -> float:
        """Log P(x) of all rows of the fit."""
        return self._fitted.record.log_likelihood  # type: ignore[no-any-return]

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The cluster of each row of the fit."""
        labels: NDArray[np.int64] | None = self._fitted.labels
        if labels is None:
            raise AttributeError("a model file does not keep the clusters of the rows of the fit; predict them.")
        return labels

    @property
    def n_components_(self) -> int:
        """The number of components."""
        return len(self.weights_)

    @property
    def n_iter_(self) -> int:
        """The number of EM steps of the best start."""
        return max(self.history_.n_steps, 1)

    @property
    def converged_(self) -> bool:
        """Whether the best start stopped by ``tol`` and not by ``max_iter``."""
        return self.history_.converged

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The numbers of the clusters."""
        return np.arange(self.n_components_)

    # -- use --------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _scores(self, X: Any, wanted: Score) -> tuple[NDArray[Any], int]:
        """Return the scores of rows, and the first row with probability 0 under every component, or -1."""

    @abstractmethod
    def _columns(self) -> list[Column]:
        """Return the columns of the summary."""

    def _score(self, X: Any, wanted: Score) -> NDArray[Any]:
        model = self._now()
        scores, impossible = model._scores(X, wanted)
        if impossible >= 0:
            raise ImpossibleEvidenceError(
                f"row {impossible}: it lies so far from every component that its density is zero; leave the row out."
                f"{farthest_number(self._read_features(X), impossible)}"
            )
        return scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the most probable cluster of each row."""
        return self._score(X, Score.CLASS)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(cluster | x), of shape (n_rows, n_components)."""
        return self._score(X, Score.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(cluster | x), of shape (n_rows, n_components)."""
        return self._score(X, Score.LOG_POSTERIOR)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x) of each row, of its known cells; low values mark rows unlike those of the fit."""
        return self._score(X, Score.LOG_EVIDENCE)

    def _sample_labels(self, n_samples: int, random_state: Any) -> tuple[NDArray[np.int64], np.random.Generator]:
        # The components of the rows to draw, in rising order, and what draws the rows themselves.
        weights = self.weights_
        if n_samples < 1:
            raise BayeskitError(f"n_samples must be at least 1; got {n_samples}.")
        rng = as_generator(random_state)
        return np.sort(rng.choice(len(weights), size=n_samples, p=weights)), rng

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of log P(x) over the rows."""
        return float(self.score_samples(X).mean())

    @property
    @abstractmethod
    def n_parameters_(self) -> int:
        """The number of free parameters."""

    def aic(self, X: Any) -> float:
        """Return −2 log L + 2 · free parameters: smaller is better, as in scikit-learn."""
        model = self._now()
        return 2.0 * (model.n_parameters_ - float(model.score_samples(X).sum()))

    def bic(self, X: Any) -> float:
        """Return −2 log L + ln N · free parameters: smaller is better, as in scikit-learn."""
        model = self._now()
        rows = model.score_samples(X)
        return float(np.log(len(rows))) * model.n_parameters_ - 2.0 * float(rows.sum())

    def explain(
        self, row: Any, clusters: tuple[int, int] | None = None, order: Sequence[str] | None = None
    ) -> Explanation:
        """Explain why one row is in its cluster and not in another: the log-odds, and how each feature changes them.

        Parameters
        ----------
        row : dict, list, 1-D array, Series, or table with one row
            What to explain; a dict may leave features out.
        clusters : (a, b), optional
            The clusters to compare; by default the most probable one and the runner-up.
        order : sequence of str, optional
            The features in the order in which they are revealed; by default that of the table.
        """
        return explain(self._now(), row, clusters, order)

    def summary(self) -> ModelSummary:
        """Return the clusters in words: how large each is, and in which columns it differs most from all rows."""
        model = self._now()
        facts, body = describe_clusters(model.weights_, model._columns())
        title = f"{type(self).__name__}: {len(model.schema_)} features, {model.n_components_} clusters"
        facts = {
            "columns": list(model.schema_.names),
            "log_likelihood": model.log_likelihood_,
            "n_parameters": model.n_parameters_,
            "steps": model.history_.n_steps,
            "stopped": model.history_.reason,
            **facts,
        }
        return ModelSummary(title, facts, body)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.sparse = False


def warn_of_spikes(
    variance: NDArray[np.float64], total: NDArray[np.float64], floor: NDArray[np.float64], names: list[str], advice: str
) -> None:
    """Warn where only the regularization (d,) keeps a variance (k, d) above zero, given expected rows (k,)."""
    c, j = np.nonzero((variance * total[:, None] <= 2 * floor) & (floor > 0))
    if len(c):
        more = f", and {len(c) - 1} more such" if len(c) > 1 else ""
        warn_caller(
            f"cluster {c[0]} has one value of column {names[j[0]]!r} throughout{more}: its density there, and with it "
            f"the likelihood, grows without bound as regularization falls. {advice}"
        )


def candidate(k: int, log: float, free: int, total: float) -> Candidate:
    """Return a number of components with its criteria, for rows of this total weight."""
    return Candidate(k, log, free, float(np.log(total)) * free - 2.0 * log, 2.0 * (free - log))
