"""The sets of hypotheses of an optimal or a Gibbs classifier: classifiers, conjunctions, functions of x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.brute_force import BruteForceMAP
from bayeskit.concept.conjunctions import plain_cells
from bayeskit.concept.folds import rows_of, stratified_folds
from bayeskit.concept.hypotheses import Hypotheses
from bayeskit.concept.probabilities import read_prior
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError
from bayeskit.result import Result, pad, text_width
from bayeskit.table.labels import read_labels
from bayeskit.table.read import read_table

Proba = NDArray[np.float64]  # (n_rows, n_classes)


@dataclass(frozen=True, repr=False, eq=False)
class Votes(Result):
    """The prediction of each hypothesis for one row, and their average; prints as text.

    ``proba`` has shape (n_hypotheses, n_classes), ``posterior`` (n_hypotheses,).
    """

    names: tuple[Any, ...]
    classes: tuple[Any, ...]
    posterior: NDArray[np.float64]
    proba: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """Σ_h P(v | h) P(h | D) of each class."""
        return np.asarray(self.posterior @ self.proba)

    def __repr__(self) -> str:
        names = [str(name) for name in self.names]
        places = max(map(text_width, ["hypothesis", *names]))
        heads = [f"{c!s:>10.10}" for c in self.classes]
        lines = [f"{pad('hypothesis', places)}  {'posterior':>10}  {'  '.join(heads)}"]
        for name, p, row in zip(names, self.posterior, self.proba, strict=True):
            lines.append(f"{pad(name, places)}  {p:>10.4f}  {'  '.join(f'{q:>10.4f}' for q in row)}")
        lines.append(f"{pad('together', places)}  {1.0:>10.4f}  {'  '.join(f'{q:>10.4f}' for q in self.total)}")
        return "\n".join(lines)


class HypothesisSet(Protocol):
    """Hypotheses with a posterior: their averaged prediction, and the prediction of a single one."""

    classes: NDArray[Any]
    names: tuple[Any, ...]
    posterior: NDArray[np.float64]

    def proba_of(self, number: int, X: Any) -> Proba:
        """Return P(v | h, x) of one hypothesis."""
        ...

    def optimal(self, X: Any) -> Proba:
        """Return Σ_h P(v | h, x) P(h | D)."""
        ...


class ClassifierSet:
    """Fitted classifiers, weighted by their prior and the likelihood of held-out labels."""

    def __init__(
        self,
        names: tuple[str, ...],
        members: list[Any],
        posterior: NDArray[np.float64],
        classes: NDArray[Any],
        noise: float,
    ) -> None:
        self.names, self.members, self.posterior, self.classes, self.noise = names, members, posterior, classes, noise

    @classmethod
    def fit(
        cls,
        given: Sequence[Any],
        X: Any,
        y: Any,
        *,
        prior: Any,
        prefit: bool,
        cv: int,
        noise: float,
        rng: np.random.RandomState | None,
    ) -> tuple[ClassifierSet, NDArray[np.float64]]:
        """Return the set and log P(y | x, h) of each classifier, summed over held-out rows.

        Fitted classifiers are scored on all rows given. Others are cross-validated (fitted to all folds but one and
        scored on that one), and then fitted to all rows.
        """
        from sklearn.base import clone

        names, models = named(given)
        weights = read_prior(prior, names)
        classes, codes = read_labels(y)
        labels = classes[codes]
        if prefit:
            members = models
            classes = _union(classes, *(np.asarray(member.classes_) for member in members))
            log_likelihood = np.array(
                [_log_labels(m, X, labels, len(classes), n, noise) for n, m in zip(names, members, strict=True)]
            )
        else:
            log_likelihood = np.zeros(len(models))
            for train, test in stratified_folds(codes, cv, rng):
                some, others = rows_of(X, train), rows_of(X, test)
                for k, model in enumerate(models):
                    fitted = clone(model).fit(some, labels[train])
                    log_likelihood[k] += _log_labels(fitted, others, labels[test], len(classes), names[k], noise)
            members = [clone(model).fit(X, y) for model in models]
        with np.errstate(divide="ignore"):
            log_joint = np.log(weights) + log_likelihood
        if np.isneginf(log_joint.max()):
            raise ImpossibleEvidenceError(
                f"no hypothesis is left: each of {', '.join(map(repr, names))} gives "
                "probability 0 to a label that occurs. Pass noise=0.01, the probability that a label is wrong."
            )
        share = np.exp(log_joint - log_joint.max())
        return cls(names, members, share / share.sum(), classes, noise), log_likelihood

    def proba_of(self, number: int, X: Any) -> Proba:
        """Return P(v | h, x) of one classifier, with the noise of the labels."""
        member = self.members[number]
        proba = np.zeros((read_table(X).n_rows, len(self.classes)))
        column = {label: k for k, label in enumerate(self.classes.tolist())}
        proba[:, [column[label] for label in np.asarray(member.classes_).tolist()]] = member.predict_proba(X)
        return (1.0 - self.noise) * proba + self.noise / len(self.classes)

    def optimal(self, X: Any) -> Proba:
        """Return Σ_h P(v | h, x) P(h | D)."""
        total = np.zeros((read_table(X).n_rows, len(self.classes)))
        for k, p in enumerate(self.posterior):
            if p > 0.0:
                total += p * self.proba_of(k, X)
        return np.asarray(total / total.sum(axis=1, keepdims=True))


class ConjunctionSet:
    """All conjunctions over a table, with the posterior that a :class:`BruteForceMAP` gives them."""

    def __init__(self, learner: BruteForceMAP) -> None:
        self.learner = learner
        self._turn = slice(None)
        labels = learner.classes_.tolist()
        if labels != sorted(labels, key=str):
            self._turn = slice(None, None, -1)  # classes rise, as everywhere; the concept may be the first
        same = len({type(label) for label in labels}) == 1
        self.classes = np.array(labels[self._turn], dtype=None if same else object)
        self.posterior = np.exp(learner.log_posterior_)
        self.names: tuple[Any, ...] = ()

    def proba_of(self, number: int, X: Any) -> Proba:
        """Return P(v | h, x) of one conjunction, with the noise of the labels."""
        cells = self.learner._cells(X)
        state = self.learner._state
        covers = state.space.covers(np.array(state.hypothesis(number).constraints), cells)
        positive = np.where(covers, 1.0 - self.learner.noise, self.learner.noise)
        return np.stack([1.0 - positive, positive], axis=1)[:, self._turn]

    def optimal(self, X: Any) -> Proba:
        """Return Σ_h P(v | h, x) P(h | D) over all conjunctions."""
        return self.learner.optimal_proba(X)[:, self._turn]


class FunctionSet:
    """Functions of a row, as :class:`~bayeskit.Hypotheses` holds them, updated by every row and its label."""

    def __init__(self, hypotheses: Hypotheses, X: Any, y: Any) -> None:
        classes, codes = read_labels(y)
        self.hypotheses = hypotheses.update(*zip(_rows(X), classes[codes].tolist(), strict=True))
        self.classes = classes
        self.names = hypotheses.names
        self.posterior = self.hypotheses.posteriors[-1]

    def proba_of(self, number: int, X: Any) -> Proba:
        """Return P(v | h, x) of one function."""
        return self._table(X, lambda row: self.hypotheses.outcomes(number, row))

    def optimal(self, X: Any) -> Proba:
        """Return Σ_h P(v | h, x) P(h | D)."""
        return self._table(X, self.hypotheses.predict_proba)

    def _table(self, X: Any, say: Callable[[Any], dict[Any, float]]) -> Proba:
        places = {label: k for k, label in enumerate(self.classes.tolist())}
        rows = list(_rows(X))
        proba = np.zeros((len(rows), len(places)))
        for i, row in enumerate(rows):
            for outcome, p in say(row).items():
                if outcome in places:
                    proba[i, places[outcome]] += p
                elif p > 0.0:
                    raise BayeskitError(f"row {i}: a hypothesis says {outcome!r}, a label that was not seen in fit.")
        return proba


def named(given: Sequence[Any]) -> tuple[tuple[str, ...], list[Any]]:
    """Return classifiers and their names; those without a name are named by their class, numbered where needed.

    >>> from bayeskit import NaiveBayes, TAN
    >>> named([NaiveBayes(), TAN(), TAN(smoothing=1), ("smooth", TAN(smoothing=2))])[0]
    ('NaiveBayes', 'TAN', 'TAN 2', 'smooth')
    """
    names: list[str] = []
    models = []
    for item in given:
        name, model = item if isinstance(item, tuple) else (type(item).__name__, item)
        if not hasattr(model, "predict_proba"):
            raise BayeskitError(f"a hypothesis is a classifier with predict_proba; {name!r} is {model!r:.60}.")
        if isinstance(item, tuple) and name in names:
            raise BayeskitError(f"the name {name!r} appears twice; the names of hypotheses must be unique.")
        number = 2
        unique = name
        while unique in names:
            unique, number = f"{name} {number}", number + 1
        names.append(unique)
        models.append(model)
    if not names:
        raise BayeskitError("there is no hypothesis; give at least one classifier.")
    return tuple(names), models


def _log_labels(model: Any, X: Any, labels: NDArray[Any], n_classes: int, name: str, noise: float) -> float:
    """Return Σ log P(label | x, h), with the noise of the labels."""
    known = np.asarray(model.classes_)
    place = {label: k for k, label in enumerate(known.tolist())}
    column = np.array([place.get(label, -1) for label in labels.tolist()])
    rows = np.arange(len(labels))
    with np.errstate(divide="ignore"):
        if noise == 0.0 and hasattr(model, "predict_log_proba"):
            log_p = np.where(column >= 0, model.predict_log_proba(X)[rows, column], -np.inf)
        else:
            p = np.where(column >= 0, model.predict_proba(X)[rows, column], 0.0)
            log_p = np.log((1.0 - noise) * p + noise / n_classes)
    if np.isnan(log_p).any():
        raise BayeskitError(f"the hypothesis {name!r} gives row {int(np.isnan(log_p).argmax())} a probability of NaN.")
    return float(log_p.sum())


def _union(*parts: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of all parts in sorted order; text stays an array of objects where the first part is one."""
    labels = sorted({label for part in parts for label in part.tolist()})
    return np.array(labels, dtype=object if parts[0].dtype.kind == "O" else None)


def _rows(X: Any) -> list[dict[str, Any]]:
    source = read_table(X)
    columns = [plain_cells(source.column(j)) for j in range(len(source.names))]
    return [dict(zip(source.names, cells, strict=True)) for cells in zip(*columns, strict=True)]
