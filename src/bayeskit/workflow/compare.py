"""Comparison of classifiers: all of them cross-validated on one table, with shared counts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss, read_loss
from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError, warn_caller
from bayeskit.learn.learner import Learner
from bayeskit.progress import Progress, renamed
from bayeskit.result import Result
from bayeskit.workflow.candidates import Candidate, candidates, fit_candidate, settle_texts, too_large
from bayeskit.workflow.fold_plan import FoldPlan, ScanFolds
from bayeskit.workflow.folds import Folds
from bayeskit.workflow.held_rows import HeldRows, hold_rows
from bayeskit.workflow.leaderboard import MAJORITY, Leaderboard, Trial
from bayeskit.workflow.runs import Run, Steps, add_counts, distinct_runs, fit_each_fold

# The measures that may decide which classifier is best.
CHOOSING = ("error", "log_loss", "brier", "mean_loss")


def compare(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    models: Sequence[Any] | None = None,
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
    models : list of str and estimators, optional
        Names out of :func:`bayeskit.workflow.candidates.candidates`; by default all of them whose counts are not too
        large for the table (those left out are named in ``left_out``). "LogisticRegression" and, for tables of numbers,
        "GaussianBayes" and "GaussianBayes-tied" are tried when they are named. An estimator, such as
        ``NaiveBayes(smoothing=0)`` or one of scikit-learn with ``predict_proba``, takes part under its repr; those of
        scikit-learn get the columns as a pandas frame, or as an array where the table came as one.
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
    >>> from bayeskit import NaiveBayes
    >>> [trial.name for trial in compare(datasets.load_heart(), target="disease", models=[NaiveBayes(smoothing=0.5)])]
    ['NaiveBayes(smoothing=0.5)', 'majority class']
    """
    tried = candidates(models)
    rows = hold_rows(X, y, target, random_state, progress)
    return cross_validate(
        rows,
        tried,
        FoldPlan(folds),
        random_state=random_state,
        kinds=kinds,
        loss=None if loss is None else read_loss(loss, rows.classes),
        by=by,
        all_asked=models is not None,
        progress=progress,
    ).board


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A leaderboard, and what its classifiers are fitted from."""

    board: Leaderboard
    rows: HeldRows
    counts: Mapping[str, Any] = field(default_factory=dict)  # classifier → counts of all rows of a scan

    def __repr__(self) -> str:
        return str(self.board)

    def _repr_html_(self) -> str:
        return self.board._repr_html_()

    def fit(self, trial: Trial, progress: Progress | None = None) -> Any:
        """Return a classifier of the board fitted on all rows: from their counts, from a scan or from those held."""
        model, rows = trial.model, self.rows
        assert model is not None
        settings = model.get_params(deep=False)
        if trial.name in self.counts:
            return type(model).from_counts(self.counts[trial.name], target=rows.target, **settings)
        if rows.scan is not None:
            if isinstance(model, Learner) and type(model)._passes is not Learner._passes:
                scan = replace(rows.scan, labeled_by=rows.target, progress=renamed(progress, trial.name))
                return type(model)(**settings).fit(scan, target=rows.target)
            warn_caller(f"{trial.name} needs the rows themselves: it is fitted on the sample of {len(rows.y):,} rows.")
        return fit_candidate(model, rows.labelled)


def cross_validate(
    rows: HeldRows,
    models: Mapping[str, Candidate],
    plan: FoldPlan = FoldPlan(),  # noqa: B008 (frozen)
    *,
    random_state: int = 0,
    kinds: Mapping[str, str] | None = None,
    loss: Loss | None = None,
    by: str | None = None,
    all_asked: bool = True,
    part: NDArray[np.intp] | None = None,
    progress: Progress | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Comparison:
    """Cross-validate classifiers.

    Models that learn from the same counts share them. Of a table in memory the rows of each fold are counted; bins, and
    structures that need all rows, are learned in each fold. Of a scan one pass counts all rows in each fold, with bins
    cut by the sample, and each row of the sample is predicted from the counts of all rows of the other folds; a model
    that needs the rows themselves is cross-validated within the sample.

    Parameters
    ----------
    rows : HeldRows
        The table, from :func:`bayeskit.workflow.held_rows.hold_rows`.
    models : dict of name to classifier
        Unfitted classifiers; their ``kinds`` are set here.
    plan : FoldPlan
        How rows are assigned to folds.
    random_state, kinds, loss, by, progress
        As in :func:`compare`.
    all_asked : bool
        Whether the models were asked for by name; otherwise those whose counts are too large are left out.
    part : array of shape (n_rows,), optional
        The fold of each row where it is known, of a table in memory.
    on_trial : callable, optional
        Called with the `Trial` of a classifier as soon as its last fold is predicted.
    """
    by, given = deciding_measure(by, loss), kinds or {}
    refuse_one_class(rows.classes)
    rows, unable = settle_texts(rows, models, given)
    able = {name: model for name, model in models.items() if name not in unable}
    left_out = unable | ({} if all_asked else too_large(able, rows, given, plan.n))
    given = {name: kind for name, kind in given.items() if name in rows.source.names}
    folds = None if rows.scan is None else ScanFolds.of_plan(plan, random_state, rows)
    if part is None:
        part = plan.parts(rows.y, rows.table, random_state) if folds is None else folds.of_rows(rows)
    data = Folds(rows, part, given, forward=plan.how == "time")
    tried = {name: model for name, model in models.items() if name not in left_out}
    runs = distinct_runs([Run(name, model, data, given) for name, model in tried.items()], data)
    _warn_of_other_kinds(runs, given)
    steps = Steps(progress, len(runs) * len(data.tested))

    def finish(run: Run) -> None:
        if on_trial is not None:
            on_trial(run.trial(data, loss))

    with quiet():
        counts = add_counts([run for run in runs if run.adds], data, folds, steps, finish)
        fit_each_fold([run for run in runs if not run.adds], data, steps, finish)
    trials = [majority(data, loss), *(run.trial(data, loss) for run in runs)]
    board = Leaderboard((), tuple(rows.classes.tolist()), part, loss, by, left_out, data.unsorted(data.scored))
    return Comparison(board.in_order(trials), rows, counts)


def deciding_measure(by: str | None, loss: Loss | None) -> str:
    """Return the measure that decides: the one given, else the log-loss, and with a loss its mean."""
    by = by or ("log_loss" if loss is None else "mean_loss")
    if by not in CHOOSING or (by == "mean_loss" and loss is None):
        known = [name for name in CHOOSING if name != "mean_loss" or loss is not None]
        raise BayeskitError(f"by must be one of {', '.join(known)}; got {by!r}.")
    return by


def _warn_of_other_kinds(runs: Sequence[Run], kinds: Mapping[str, str]) -> None:
    """Warn of columns that classifiers read as another kind than the one given, since they do not take it."""
    for column, kind in kinds.items():
        names = [run.name for run in runs if run.kinds.get(column) == "numeric" != kind]
        if names:
            verbs = ("does", "reads") if len(names) == 1 else ("do", "read")
            warn_caller(
                f"column {column!r}: {', '.join(names)} {verbs[0]} not take the kind {kind!r} and {verbs[1]} it as "
                "numeric, which may mean bins."
            )


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


def majority(data: Folds, loss: Loss | None) -> Trial:
    """Return the scores of predicting the class frequencies in every row."""
    classes = data.held.classes
    posterior = np.empty((len(data.y), len(classes)))
    posterior[:] = 1 / len(classes)
    for k in data.tested:
        n_class = np.bincount(data.y[data.others(k)], minlength=len(classes))
        posterior[data.rows(k)] = n_class / n_class.sum()
    scores = Scores.of(posterior[data.scored], data.y[data.scored], classes.tolist(), loss)
    return Trial(MAJORITY, None, scores, data.unsorted(posterior))
