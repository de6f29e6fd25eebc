"""Which classifier suits a table: all of them cross-validated, the counts of folds added rather than counted again."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.folds import Folds
from bayeskit.classify.validate import refuse_target_among_features, split_target
from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError
from bayeskit.estimate.naive import Score
from bayeskit.io.registry import MODELS, model_class
from bayeskit.table.discretise import METHODS
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_labels
from bayeskit.table.nearest import not_found
from bayeskit.table.read import Source, read_table

MAJORITY = "majority class"
# Settings that are tried beside a model's own. The parents of an ODE are a person's to give; without them it is naive.
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "NaiveBayes": {"NaiveBayes": {}, "NaiveBayes-MDL": {"numeric": "mdl"}},
    "AODE": {"AODE": {}, "A2DE": {"order": 2}},
    "ODE": {},
}
# More columns than this make so many triples that A2DE is tried only when it is asked for.
MOST_COLUMNS_OF_A2DE = 30


@dataclass(frozen=True)
class Trial:
    """How one classifier did in cross-validation, or why it could not take part."""

    name: str
    model: BayesClassifier | None  # not fitted; None for the majority class
    scores: Scores | None = None
    posterior: NDArray[np.float64] | None = field(default=None, repr=False)  # (n_rows, n_classes), each row unseen
    fit_seconds: float = 0.0  # CPU time over all folds
    predict_seconds: float = 0.0
    added: bool = False  # whether the counts of the folds were added
    refused: str = ""


@dataclass(frozen=True)
class Leaderboard(Sequence[Trial]):
    """The classifiers, the best by log-loss first; those that could not take part come last."""

    trials: tuple[Trial, ...]
    classes: tuple[Any, ...]
    part: NDArray[np.intp] = field(repr=False)  # (n_rows,) the fold in which each row was predicted
    loss: Loss | None = None

    @property
    def best(self) -> Trial:
        """The classifier with the least log-loss; the majority class is no classifier."""
        able = [trial for trial in self.trials if trial.scores is not None and trial.model is not None]
        if not able:
            raise BayeskitError(f"no classifier could take part: {self.trials[0].refused}")
        return able[0]

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, number: Any) -> Any:
        return self.trials[number]

    def __str__(self) -> str:
        head = f"{'':16} {'error':>15} {'log-loss':>15} {'Brier':>15} {'calibration':>15}"
        lines = [head]
        for trial in self.trials:
            if trial.scores is None:
                lines.append(f"{trial.name:16} left out: {trial.refused}")
                continue
            s = trial.scores
            lines.append(f"{trial.name:16} {s.error!s} {s.log_loss!s} {s.brier!s} {s.calibration_error!s}")
        return "\n".join(lines)


def compare(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    models: Sequence[str] | None = None,
    folds: int = 5,
    seed: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Any = None,
) -> Leaderboard:
    """Cross-validate classifiers on one table and return a leaderboard.

    Parameters
    ----------
    X, y, target
        The table and its labels, as ``fit`` takes them.
    models : list of str, optional
        Names out of :func:`candidates`; all of them by default.
    folds, seed : int
        How many parts the rows are dealt into, stratified by class, and the seed of the dealing.
    kinds : dict, optional
        What columns are where the dtype does not tell, as ``NaiveBayes`` takes it.
    loss : matrix, frame or dict, optional
        λ(truth, action); the scores then tell what the decisions of least risk cost.

    Examples
    --------
    >>> from bayeskit import compare, datasets
    >>> board = compare(datasets.load_heart(), target="disease", models=["NaiveBayes", "TAN"])
    >>> board.best.name, round(board.best.scores.error.value, 2)
    ('TAN', 0.19)
    """
    source = read_table(X)
    if target is not None:
        source, y = split_target(X, source, target)
    else:
        refuse_target_among_features(X, source, y)
    classes, codes = read_labels(y, source.n_rows)
    read = None if loss is None else read_loss(loss, classes)
    return cross_validate(source, codes, classes, candidates(models, len(source.names)), folds, seed, kinds, read)


def candidates(names: Sequence[str] | None = None, n_columns: int = 0) -> dict[str, BayesClassifier]:
    """Return the classifiers of the registry that read any table, by the names that they have here.

    >>> "NaiveBayes" in candidates()
    True
    """
    found: dict[str, BayesClassifier] = {}
    for name in sorted(MODELS, key=lambda name: (name != "NaiveBayes", name)):
        model = model_class(name)
        # A model that can be told the kinds of columns reads any table; scikit-learn's twins read arrays only.
        if issubclass(model, BayesClassifier) and "kinds" in signature(model).parameters:
            for label, settings in SETTINGS.get(name, {name: {}}).items():
                found[label] = model(**settings)
    if names is None:
        return {k: v for k, v in found.items() if k != "A2DE" or n_columns <= MOST_COLUMNS_OF_A2DE}
    by_case = {label.casefold(): label for label in found}
    for name in names:
        if name.casefold() not in by_case:
            raise BayeskitError(not_found("classifier", name, found))
    return {by_case[name.casefold()]: found[by_case[name.casefold()]] for name in names}


def cross_validate(
    source: Source,
    y: NDArray[Any],
    classes: NDArray[Any],
    models: Mapping[str, BayesClassifier],
    folds: int = 5,
    seed: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Loss | None = None,
    part: NDArray[np.intp] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Leaderboard:
    """Cross-validate classifiers on a table that was read; ``part`` gives each row's fold where it is known."""
    if len(classes) < 2:
        raise TableError(f"the target has one class, {classes[0]!r}; there is nothing to tell apart.")
    if part is None:
        part = stratified_parts(y, folds, seed)
    data = Folds(source, y, len(classes), part)
    trials = [_majority(data, classes, loss)]
    no_numbers = not any(getattr(column, "values", None) is not None for column in source.columns or ())
    for name, model in models.items():
        if progress is not None:
            progress(name)
        if no_numbers and SETTINGS.get(type(model).__name__, {}).get(name, {}).keys() == {"numeric"}:
            continue  # without numbers it is the same model again
        trials.append(_try(name, model, data, classes, dict(kinds or {}), loss))
    trials.sort(key=lambda trial: np.inf if trial.scores is None else trial.scores.log_loss.value)
    return Leaderboard(tuple(trials), tuple(classes.tolist()), part, loss)


def fit_read(
    model: BayesClassifier, source: Source, y: NDArray[Any], classes: NDArray[Any], target: str
) -> BayesClassifier:
    """Fit a model on a table that was read, as ``fit(table, target=target)`` would."""
    model._adopt(model._count(source, y, classes, None, None), target)
    return model


def stratified_parts(y: NDArray[Any], folds: int, seed: int) -> NDArray[np.intp]:
    """Deal rows into parts, class by class in a shuffled order, so that each part has its share of each class.

    >>> stratified_parts(np.array([0, 0, 1, 1]), 2, seed=0)[:2].tolist() in ([0, 1], [1, 0])
    True
    """
    if not 2 <= folds <= len(y):
        raise BayeskitError(f"folds must be between 2 and the number of rows, {len(y)}; got {folds}.")
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    part = np.empty(len(y), dtype=np.intp)
    part[order] = np.arange(len(y)) % folds
    return part


def _majority(data: Folds, classes: NDArray[Any], loss: Loss | None) -> Trial:
    posterior = np.empty((len(data.y), len(classes)))
    for k in range(data.n):
        n_class = np.bincount(data.y[data.others(k)], minlength=len(classes))
        posterior[data.rows(k)] = n_class / n_class.sum()
    return Trial(MAJORITY, None, Scores.of(posterior, data.y, classes.tolist(), loss), data.unsorted(posterior))


def _try(
    name: str, model: BayesClassifier, data: Folds, classes: NDArray[Any], kinds: dict[str, str], loss: Loss | None
) -> Trial:
    kinds = {column: _allowed(kind, model) for column, kind in kinds.items()}
    model.set_params(kinds=kinds or None)
    posterior = np.zeros((len(data.y), len(classes)))
    fitting = predicting = 0.0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeskitWarning)  # of columns that have no value in one of the parts
            fits = _Fits(model, data, classes, kinds)
            for k in range(data.n):
                start = time.process_time()
                counts, beliefs, test = fits.without(k)
                half = time.process_time()
                columns = encode(test, counts.schema)
                scores, impossible, _ = beliefs.score(columns, Score.POSTERIOR, fallback=model.impossible == "prior")
                if impossible >= 0:
                    raise BayeskitError("no class can give some row, since some value has probability 0.")
                posterior[data.rows(k), np.searchsorted(classes, counts.classes)] = scores
                fitting += half - start
                predicting += time.process_time() - half
    except BayeskitError as error:
        return Trial(name, model, refused=str(error))
    scores = Scores.of(posterior, data.y, classes.tolist(), loss)
    return Trial(name, model, scores, data.unsorted(posterior), fitting + fits.seconds, predicting, fits.add)


class _Fits:
    """The counts and beliefs of a model without each part in turn."""

    def __init__(self, model: BayesClassifier, data: Folds, classes: NDArray[Any], kinds: dict[str, str]) -> None:
        self.model, self.data, self.classes, self.kinds = model, data, classes, kinds
        numeric = str(getattr(model, "numeric", ""))
        cut = numeric if numeric in METHODS else None
        binned = data.numbers(kinds) if cut else [name for name, kind in kinds.items() if kind in METHODS]
        self.cut = (cut or "gaussian", int(getattr(model, "bins", 1))) if binned else None
        # Bins, and a structure that needs all rows, are learned anew for each fold; all else adds.
        self.add = self.cut is None and getattr(model, "_frozen", None) is None
        start = time.process_time()
        self.parts = [self._count(data.source, data.rows(k)) for k in range(data.n)] if self.add else []
        self.seconds = time.process_time() - start

    def without(self, k: int) -> tuple[Any, Any, Source]:
        if self.add:
            others = [part for number, part in enumerate(self.parts) if number != k]
            counts = others[0]
            for part in others[1:]:
                counts = counts + part
            return counts, self.model._believe(counts), self.data.source.take(self.data.rows(k))
        source, kinds = self.data.source, self.kinds
        if self.cut is not None:
            source, names, seconds = self.data.binned(k, *self.cut, kinds)
            kinds = {name: kind for name, kind in kinds.items() if name not in names}
            self.seconds += seconds
        counts = self._count(source, self.data.others(k), kinds)
        return counts, self.model._believe(counts), source.take(self.data.rows(k))

    def _count(self, source: Source, rows: Any, kinds: dict[str, str] | None = None) -> Any:
        y = self.data.y[rows]
        here = np.flatnonzero(np.bincount(y, minlength=len(self.classes)))
        if len(here) < len(self.classes):
            y = np.searchsorted(here, y).astype(np.uint32)
        if kinds is not None:
            self.model.set_params(kinds=kinds or None)
        try:
            return self.model._count(source.take(rows), y, self.classes[here], None, None)
        finally:
            self.model.set_params(kinds=self.kinds or None)


def _allowed(kind: str, model: BayesClassifier) -> str:
    # A model that only counts values cuts an amount into bins, whatever density was asked for.
    numeric = getattr(model, "numeric", "")
    dense = type(model).__name__ in ("NaiveBayes",)
    return "numeric" if kind in ("gaussian", "poisson") and not dense and numeric in METHODS else kind
