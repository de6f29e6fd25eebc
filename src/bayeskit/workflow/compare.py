"""Comparison of classifiers: all of them cross-validated on one encoded table, with shared counts."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.table_classifier import TableClassifier
from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError, BayeskitWarning, ImpossibleEvidenceError, TableError
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.labelled import read_labelled
from bayeskit.progress import Progress, report_step
from bayeskit.table.read import Source
from bayeskit.table.scan import Scan
from bayeskit.workflow.candidates import Candidate, candidates, too_large
from bayeskit.workflow.folds import Fold, Folds, stratified_parts
from bayeskit.workflow.leaderboard import MAJORITY, Leaderboard, Trial

# The measures that may decide which classifier is best.
CHOOSING = ("error", "log_loss", "brier", "mean_loss")


def compare(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    models: Sequence[str] | None = None,
    folds: int = 5,
    random_state: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Any = None,
    by: str | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Cross-validate classifiers on one table and return a leaderboard.

    The table is read and encoded once. Classifiers that learn from the same counts share them, and the counts of a
    fold are the sum of the counts of the others; only bins and structures that need all rows are learned in each fold.

    Parameters
    ----------
    X, y, target
        The table and its labels, as ``fit`` takes them. Of a table of any size (:func:`bayeskit.scan`) all rows are
        counted, fold by fold, and the scores are those of a random sample of rows.
    models : list of str, optional
        Names out of :func:`bayeskit.workflow.candidates.candidates`; by default all of them whose counts are not too
        large for the table (those left out are named in ``left_out``). "LogisticRegression" and, for tables of numbers,
        "GaussianBayes" and "GaussianBayes-tied" are tried when they are named.
    folds, random_state : int
        The number of folds, stratified by class, and the seed that assigns rows to them.
    kinds : dict, optional
        The kinds of columns whose dtype does not decide it, as in ``NaiveBayes``.
    loss : matrix, frame or dict, optional
        λ(truth, action); the scores then include the mean loss of the decisions with the least expected loss.
    by : {"error", "log_loss", "brier", "mean_loss"}, optional
        The measure that decides which classifier is best; by default the log-loss, and with a loss its mean.
    progress : callable, optional
        Called with a :class:`bayeskit.progress.Step` before each fold of each classifier; it can stop the
        run by raising an exception.

    Examples
    --------
    >>> from bayeskit import compare, datasets
    >>> board = compare(datasets.load_heart(), target="disease", models=["NaiveBayes", "TAN"])
    >>> board.best.name, round(board.best.scores.error.value, 2)
    ('TAN', 0.19)
    """
    if isinstance(X, Scan):
        from bayeskit.workflow.scanned.comparison import compare_scan

        if y is not None or target is None:
            raise TableError("a scan needs target=, the name of the column that holds the labels.")
        return compare_scan(X, target, models, folds, random_state, kinds, loss, by, progress)
    tried = candidates(models)
    rows = read_labelled(X, y, None, target, None, "comparison")
    left_out = {} if models else too_large(tried, rows.source, rows.y, len(rows.classes), kinds)
    board = cross_validate(
        rows.source,
        rows.y,
        rows.classes,
        {name: model for name, model in tried.items() if name not in left_out},
        folds=folds,
        random_state=random_state,
        kinds=kinds,
        loss=None if loss is None else read_loss(loss, rows.classes),
        by=by,
        progress=progress,
    )
    return replace(board, left_out=left_out)


def cross_validate(
    source: Source,
    y: NDArray[Any],
    classes: NDArray[Any],
    models: Mapping[str, Candidate],
    *,
    folds: int = 5,
    random_state: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Loss | None = None,
    by: str | None = None,
    part: NDArray[np.intp] | None = None,
    forward: bool = False,
    progress: Progress | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Leaderboard:
    """Cross-validate classifiers on a table that was read.

    Parameters
    ----------
    source, y, classes
        The table, the class position of each row, and the class labels.
    models : dict of name to classifier
        Unfitted classifiers; their ``kinds`` are set here. They see class positions instead of labels.
    folds, random_state, kinds, loss, by, progress
        As in :func:`compare`.
    part : array of shape (n_rows,), optional
        The fold of each row where it is known.
    forward : bool
        Learn from the folds before each fold only, as in time; the rows of the first fold are not scored.
    on_trial : callable, optional
        Called with the `Trial` of a classifier as soon as its last fold is predicted.
    """
    by = deciding_measure(by, loss)
    refuse_one_class(classes)
    if part is None:
        part = stratified_parts(y, folds, random_state)
    data = Folds(source, y, part, kinds or {}, forward=forward)
    running = distinct_runs([Run(name, model, data, len(classes), kinds or {}) for name, model in models.items()], data)
    steps = Steps(progress, len(running) * len(data.tested))

    def finish(run: Run) -> None:
        if on_trial is not None:
            on_trial(run.trial(data, classes, loss))

    with quiet():
        _add_counts([run for run in running if run.adds], data, steps, finish)
        fit_each_fold([run for run in running if not run.adds], data, steps, finish)
    trials = [majority(data, classes, loss), *(run.trial(data, classes, loss) for run in running)]
    board = Leaderboard((), tuple(classes.tolist()), part, loss, by, scored=data.unsorted(data.scored))
    return board.in_order(trials)


def deciding_measure(by: str | None, loss: Loss | None) -> str:
    """Return the measure that decides: the one given, else the log-loss, and with a loss its mean."""
    by = by or ("log_loss" if loss is None else "mean_loss")
    if by not in CHOOSING or (by == "mean_loss" and loss is None):
        known = [name for name in CHOOSING if name != "mean_loss" or loss is not None]
        raise BayeskitError(f"by must be one of {', '.join(known)}; got {by!r}.")
    return by


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of columns that have no value in one of the folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayeskitWarning)
        yield


def refuse_one_class(classes: NDArray[Any]) -> None:
    """Raise an error for a target with a single class."""
    if len(classes) < 2:
        raise TableError(f"the target has one class, {classes.tolist()[0]!r}; a classifier needs at least two.")


def fit_candidate(model: Candidate, source: Source, y: NDArray[Any], classes: NDArray[Any], target: str) -> Candidate:
    """Return a model fitted on a table that was read, as ``fit(table, target=target)`` would."""
    if isinstance(model, TableClassifier):
        fitted = type(model)(**model.get_params(deep=False)).fit(source, classes[y])
        fitted._state = replace(fitted._state, target=target)
        return fitted
    counts = model.count(source, classes[y])
    return type(model).from_counts(counts, target=target, **model.get_params(deep=False))


class Run:
    """A classifier in cross-validation: its posterior of every row, its times, or why it cannot be fitted."""

    def __init__(self, name: str, model: Candidate, data: Folds, n_classes: int, kinds: Mapping[str, str]) -> None:
        counts = isinstance(model, BayesClassifier)
        self.name, self.model, self.kinds = name, model, dict(kinds)
        if counts:
            # A model that only counts values cuts a number into bins, whatever density was asked for.
            self.kinds = {column: kind if model._takes_kind(kind) else "numeric" for column, kind in kinds.items()}
        if "kinds" in model.get_params(deep=False):
            model.set_params(kinds=self.kinds or None)
        parameters = model.get_params(deep=False)
        self.bins = data.bins_of(str(parameters.get("numeric", "")), int(parameters.get("bins", 1)), self.kinds)
        # Which counts the model learns from; models that say the same share them.
        self.counted_as = model._counted_as() if counts else None
        self.posterior = np.zeros((len(data.y), n_classes))
        self.fit_seconds = self.predict_seconds = 0.0
        self.refused = ""
        self.labels: NDArray[Any] | None = None

    @property
    def adds(self) -> bool:
        """Whether the counts of a fold are the sum of the others: no bins, and no structure that needs all rows."""
        return self.bins is None and self.counted_as is not None

    def settings(self, binned: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return the model's parameters for a table in which some columns are bins already."""
        parameters: dict[str, Any] = self.model.get_params(deep=False)
        if "kinds" in parameters:
            parameters["kinds"] = {name: kind for name, kind in self.kinds.items() if name not in binned} or None
        return parameters

    def predict(self, counts: Any, test: Source, rows: slice, settings: dict[str, Any], shared: float) -> None:
        """Predict the rows of a fold from the counts of the others, which took ``shared`` seconds.

        In place of counts there is the fitted model, where it counts nothing.
        """
        if self.refused:
            return
        start = time.process_time()
        try:
            whole = isinstance(counts, TableClassifier)
            fitted: Any = counts if whole else type(self.model).from_counts(counts, **settings)
            # Probabilities are made when they are first needed; that time belongs to the fit.
            fitted.predict_proba(test.take(np.arange(1)))
            half = time.process_time()
            # The labels that the model knows are class positions, or the labels of counts that were made elsewhere.
            places = fitted.classes_ if self.labels is None else np.searchsorted(self.labels, fitted.classes_)
            self.posterior[rows, places] = fitted.predict_proba(test)
        except ImpossibleEvidenceError:
            self.refused = "a row has probability 0 under every class, since some value has probability 0."
            return
        except BayeskitError as error:
            self.refused = str(error)
            return
        self.fit_seconds += half - start + shared
        self.predict_seconds += time.process_time() - half

    def trial(self, data: Folds, classes: NDArray[Any], loss: Loss | None) -> Trial:
        """Return the result."""
        if self.refused:
            return Trial(self.name, self.model, refused=self.refused)
        scored = data.scored
        scores = Scores.of(self.posterior[scored], data.y[scored], classes.tolist(), loss)
        posterior = data.unsorted(self.posterior)
        return Trial(self.name, self.model, scores, posterior, self.fit_seconds, self.predict_seconds, self.adds)


class Steps:
    """The progress of a cross-validation: a step is one fold of one classifier."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total

    def begin(self, name: str) -> None:
        """Report that a fold of this classifier begins."""
        report_step(self._progress, name, self._done, self._total)
        self._done += 1


def distinct_runs(runs: list[Run], data: Folds) -> list[Run]:
    """Return the runs without duplicates: without numeric columns, models that differ only there are equal."""
    found: dict[Any, Run] = {}
    for run in runs:
        parameters = run.settings()
        if not data.numbers(run.kinds):
            parameters = {name: value for name, value in parameters.items() if name not in ("numeric", "bins")}
        found.setdefault((type(run.model), repr(sorted(parameters.items()))), run)
    return list(found.values())


def grouped(runs: list[Run]) -> list[list[Run]]:
    """Return the runs in groups that learn from the same counts; a run without shared counts is a group of its own."""
    groups: dict[Any, list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.name if run.counted_as is None else run.counted_as].append(run)
    return list(groups.values())


def _add_counts(runs: list[Run], data: Folds, steps: Steps, finish: Callable[[Run], None]) -> None:
    """Count each fold once for each group of models, under the schema of all rows, and add the others."""

    def count(run: Run) -> list[Any]:
        schema = learn_schema(data.source, run.kinds, str(run.settings().get("numeric", "")))
        return [run.model.count(data.part(k), data.y[data.rows(k)], schema=schema) for k in range(data.n)]

    for group in grouped(runs):
        parts, seconds = _counted(group, count)
        for k in data.tested:
            start = time.process_time()
            others = [part for number, part in enumerate(parts) if data.learns(number, k)]
            counts = sum(others[1:], start=others[0]) if others else None
            shared = seconds / data.n + time.process_time() - start
            for run in group:
                steps.begin(run.name)
                run.predict(counts, data.part(k), data.rows(k), run.settings(), shared)
        for run in group:
            finish(run)


def fit_each_fold(runs: list[Run], data: Folds, steps: Steps, finish: Callable[[Run], None]) -> None:
    """Learn bins in each fold, count its rows once for each group of models, and free it before the next."""
    for k in data.tested:
        tables = _BinnedTables(data, k)
        for group in grouped(runs):
            counts, seconds = _counted(group, tables.count)
            for run in group:
                steps.begin(run.name)
                if not run.refused:
                    fold = tables.of(run)
                    run.predict(counts, fold.test, data.rows(k), run.settings(fold.binned), seconds)
                if k == data.tested[-1]:
                    finish(run)


class _BinnedTables:
    """One fold under the bins of each model; models that cut the same bins share the table."""

    def __init__(self, data: Folds, k: int) -> None:
        self._data, self._k = data, k
        self._found: dict[Any, Fold] = {}

    def of(self, run: Run) -> Fold:
        key = (run.bins, tuple(sorted(run.kinds.items())))
        if key not in self._found:
            self._found[key] = self._data.fold(self._k, run.bins, run.kinds)
        return self._found[key]

    def count(self, run: Run) -> Any:
        fold = self.of(run)
        model = type(run.model)(**run.settings(fold.binned))
        return model.fit(fold.train, fold.y) if isinstance(model, TableClassifier) else model.count(fold.train, fold.y)


def _counted(group: list[Run], count: Callable[[Run], Any]) -> tuple[Any, float]:
    """Return the counts of the first model of a group that can be fitted, and their CPU time."""
    for run in group:
        if not run.refused:
            start = time.process_time()
            try:
                return count(run), time.process_time() - start
            except BayeskitError as error:
                run.refused = str(error)
    return [], 0.0


def majority(data: Folds, classes: NDArray[Any], loss: Loss | None) -> Trial:
    """Return the scores of predicting the class frequencies in every row."""
    posterior = np.empty((len(data.y), len(classes)))
    posterior[:] = 1 / len(classes)
    for k in data.tested:
        n_class = np.bincount(data.y[data.others(k)], minlength=len(classes))
        posterior[data.rows(k)] = n_class / n_class.sum()
    scores = Scores.of(posterior[data.scored], data.y[data.scored], classes.tolist(), loss)
    return Trial(MAJORITY, None, scores, data.unsorted(posterior))
