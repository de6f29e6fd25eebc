"""Training from a file: the table read, classifiers compared, and the best one fitted on all rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import MEASURES, Scores
from bayeskit.errors import TableError
from bayeskit.kinds.written import part_name
from bayeskit.progress import Progress
from bayeskit.result import Result
from bayeskit.workflow.calibration import fit_temperature, out_of_fold
from bayeskit.workflow.candidates import Candidate, candidates, too_large
from bayeskit.workflow.compare import cross_validate, fit_candidate, refuse_one_class
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.leaderboard import Leaderboard, Trial
from bayeskit.workflow.trained import TrainedModel

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.kinds.infer import Features
    from bayeskit.table.conventions import Convention
    from bayeskit.table.files import TableFile
    from bayeskit.table.target import Target
    from bayeskit.workflow.evaluation import Evaluation
    from bayeskit.workflow.scanned.comparison import ScanRows
    from bayeskit.workflow.scanned.training import ScannedFiles


@dataclass(frozen=True)
class TrainingTable:
    """A table that was read and is ready to learn from."""

    file: TableFile | ScannedFiles
    target: str
    labels: Target
    features: Features
    loss: Loss | None
    conventions: dict[str, Convention] = field(default_factory=dict)  # how columns of the file are written
    # Of a table that is not held in memory: all its rows; labels and features are then those of a sample.
    scanned: ScanRows | None = None
    n_class_of_all: NDArray[Any] | None = None  # (n_classes,)

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return len(self.labels.y) if self.scanned is None else self.scanned.sample.n_rows

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows of each class, of shape (n_classes,)."""
        if self.n_class_of_all is not None:
            return self.n_class_of_all
        return np.bincount(self.labels.y, minlength=len(self.labels.classes))

    @property
    def n_sampled(self) -> int:
        """Rows of the sample that a larger table is shown and scored by; 0 where all rows are held."""
        return 0 if self.scanned is None else len(self.labels.y)


@dataclass(frozen=True, repr=False)
class Training(Result):
    """The result of training."""

    table: TrainingTable
    board: Leaderboard
    model: Any  # the best one, fitted on all rows
    folds: FoldPlan
    random_state: int
    temperature: float = 1.0  # of its calibration; 1 is none
    test: Evaluation | None = None  # its scores on held-out rows
    test_name: str = ""

    @property
    def trained(self) -> TrainedModel:
        """The model with what is needed to use it on another file."""
        used = set(self.model.schema_.names)
        conventions = {
            name: each
            for name, each in self.table.conventions.items()
            if name in used or any(part_name(name, part) in used for part in each.parts)
        }
        return TrainedModel(self.model, conventions, self.temperature)

    def scored_on(self, test: TableFile, progress: Progress | None = None) -> Training:
        """Return the same training with the scores of the model on held-out rows of known classes."""
        from bayeskit.workflow.evaluation import evaluate

        scores = evaluate(self.trained, test, self.table.target, self.table.loss, progress)
        return replace(self, test=scores, test_name=test.name)

    @property
    def no_better_than_majority(self) -> str:
        """The warning where no classifier beats the majority class; None otherwise."""
        board = self.board
        best, majority = (trial.scores for trial in (board.best, board.majority))
        assert best is not None
        assert majority is not None
        said = (
            f"no classifier beats the majority class by {self.measures[board.by]}: {getattr(best, board.by)} for "
            f"{board.best.name}, {getattr(majority, board.by)} for predicting the class frequencies in every row. "
        )
        if best.error.value < majority.error.value - best.error.se:
            return said + (
                f"Its error is lower, {best.error} against {majority.error}: it ranks classes well but is "
                "overconfident. Calibrate it, or choose by error."
            )
        return said + (
            f"The columns hold no information about {self.table.target!r} that generalises to held-out rows; do not "
            "use this model for predictions."
        )

    @property
    def measures(self) -> dict[str, str]:
        """The measures that classifiers are compared by, with their titles; a loss adds one."""
        return {name: title for name, title in MEASURES.items() if name != "mean_loss" or self.board.loss is not None}


def read_training_table(
    file: TableFile,
    target: str,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    loss: Callable[[Sequence[Any]], Loss | None] = lambda classes: None,
    decimal: str | None = None,
    date_order: str | None = None,
) -> TrainingTable:
    """Read a file into memory and infer the kinds of its columns.

    Parameters
    ----------
    file : TableFile
        The file.
    target : str
        The column to predict.
    ignore : collection of str
        Columns to leave out.
    kinds : dict of column name to kind, optional
        Kinds that are given rather than inferred.
    loss : callable
        Returns the loss for a list of classes, which are known once the table is read.
    decimal, date_order : str, optional
        The decimal separator of text columns, "." or ",", and the order of their dates, "dmy", "mdy" or "ymd"; decided
        from the cells of each column when it is not given.
    """
    from bayeskit.kinds.infer import infer_kinds, read_features
    from bayeskit.kinds.written import read_columns
    from bayeskit.table.dates import AMOUNTS, CATEGORIES
    from bayeskit.table.target import read_target

    given = dict(kinds or {})
    made = {part_name(name, part) for name in file.names for part in (*CATEGORIES, *AMOUNTS)}
    file.refuse_absent((target, *(name for name in (*ignore, *given) if name not in made)))
    if len(file.names) < 2:
        raise TableError(
            f"{file.raw.shown} has the target and no other column to learn from; is its delimiter something other "
            "than a comma?",
            "delimiter",
        )
    written = read_columns(
        file.read_written(), target, given, ignore, decimal=decimal, date_order=date_order, place=file.place
    )
    labels = read_target(written.table, target)
    features = read_features(labels.table, infer_kinds(labels.table, target, ignore, given, written))
    refuse_misfits(features, given)
    return TrainingTable(file, target, labels, features, loss(labels.classes.tolist()), written.conventions)


def refuse_misfits(features: Features, given: Mapping[str, str]) -> None:
    """Raise an error, before any fit, for a column that does not fit the given kind, such as fractions as counts."""
    from bayeskit.kinds import FitContext, words

    for name, word in given.items():
        if word in words() and word == words()[word].name and name in features.source.names:
            column = features.source.column(features.source.names.index(name))
            if not column.all_missing():
                words()[word].learn([column], [name], word, FitContext())


def train(
    table: TrainingTable,
    models: Sequence[str] | None = None,
    folds: int | FoldPlan = 5,
    random_state: int = 0,
    progress: Progress | None = None,
    *,
    by: str | None = None,
    calibrate: bool = False,
    on_trial: Callable[[Trial], None] | None = None,
) -> Training:
    """Compare the classifiers by cross-validation and fit the best on all rows.

    Parameters
    ----------
    table : TrainingTable
        The table, from :func:`read_training_table`.
    models : list of str, optional
        Names out of :func:`bayeskit.workflow.candidates.candidates`; by default all that are not too large.
    folds : int or FoldPlan
        The number of folds, or how rows are assigned to them.
    random_state : int
        The seed that assigns rows to folds.
    progress : callable, optional
        Called before each classifier; it can stop the run by raising an exception.
    by : {"error", "log_loss", "brier", "mean_loss"}, optional
        The measure that decides; by default the log-loss, and with a loss its mean.
    calibrate : bool
        Divide the log-posteriors of each classifier by a temperature, fitted on held-out rows.
    on_trial : callable, optional
        Called with the :class:`bayeskit.workflow.leaderboard.Trial` of each classifier as soon as it is known, before
        any calibration.
    """
    labels = table.labels
    refuse_one_class(labels.classes)
    plan = folds if isinstance(folds, FoldPlan) else FoldPlan(folds)
    tried = candidates(models)
    board, fit = (_compare if table.scanned is None else _compare_scanned)(
        table, tried, plan, random_state, models is not None, by, progress, on_trial
    )
    raw = {trial.name: trial.posterior for trial in board}
    if calibrate:
        board = _calibrated(board, labels.y)
    best = board.best
    assert best.model is not None
    model = fit(best)
    temperature = 1.0
    if calibrate and (posterior := raw[best.name]) is not None:
        temperature = fit_temperature(posterior[board.scored_rows], labels.y[board.scored_rows])
    plan = replace(plan, n_scored=table.n_sampled)
    return Training(table, board, model, plan, random_state, temperature)


# A leaderboard, and what fits one of its classifiers on all rows.
_Compared = tuple[Leaderboard, Callable[[Trial], Any]]


def _compare(
    table: TrainingTable,
    tried: Mapping[str, Candidate],
    plan: FoldPlan,
    random_state: int,
    all_asked: bool,
    by: str | None,
    progress: Progress | None,
    on_trial: Callable[[Trial], None] | None,
) -> _Compared:
    source, labels, kinds = table.features.source, table.labels, table.features.kinds
    left_out = {} if all_asked else too_large(tried, source, labels.y, len(labels.classes), kinds)
    board = cross_validate(
        source,
        labels.y,
        labels.classes,
        {name: model for name, model in tried.items() if name not in left_out},
        kinds=kinds,
        loss=table.loss,
        by=by,
        part=plan.parts(labels, random_state),
        forward=plan.how == "time",
        progress=progress,
        on_trial=on_trial,
    )

    def fit(best: Trial) -> Any:
        assert best.model is not None
        return fit_candidate(best.model, source, labels.y, labels.classes, table.target)

    return replace(board, left_out=left_out), fit


def _compare_scanned(
    table: TrainingTable,
    tried: Mapping[str, Candidate],
    plan: FoldPlan,
    random_state: int,
    all_asked: bool,
    by: str | None,
    progress: Progress | None,
    on_trial: Callable[[Trial], None] | None,
) -> _Compared:
    from bayeskit.workflow.scanned.comparison import cross_validate_scan

    assert table.scanned is not None
    found = cross_validate_scan(
        table.scanned,
        tried,
        plan,
        random_state=random_state,
        kinds=table.features.kinds,
        loss=table.loss,
        by=by,
        all_asked=all_asked,
        progress=progress,
        on_trial=on_trial,
    )
    return found.board, lambda best: found.fit(best, progress)


def _calibrated(board: Leaderboard, y: Any) -> Leaderboard:
    """Return the leaderboard of the calibrated classifiers, in their new order."""
    rows = board.scored_rows
    trials = []
    for trial in board:
        if trial.model is not None and trial.posterior is not None:
            posterior = trial.posterior.copy()
            posterior[rows] = out_of_fold(posterior[rows], y[rows], board.part[rows])
            scores = Scores.of(posterior[rows], y[rows], board.classes, board.loss)
            trial = replace(trial, posterior=posterior, scores=scores)
        trials.append(trial)
    return board.in_order(trials)
