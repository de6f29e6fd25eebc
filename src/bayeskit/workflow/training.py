"""Training: classifiers compared, and the best one fitted on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.decide.risk import bayes_action, realised_loss
from bayeskit.decide.scores import MEASURES, Measure, Scores, measure_of, row_scores
from bayeskit.progress import Progress
from bayeskit.result import Result
from bayeskit.workflow.calibration import fit_temperature, out_of_fold
from bayeskit.workflow.candidates import candidates
from bayeskit.workflow.compare import cross_validate
from bayeskit.workflow.drift import Profile
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.leaderboard import Leaderboard, Trial
from bayeskit.workflow.trained import TrainedModel

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile
    from bayeskit.table.problem import Problem
    from bayeskit.workflow.evaluation import Evaluation
    from bayeskit.workflow.training_table import TrainingTable

# Rows are enough to say that columns hold no information where a gain of this share of the score can be excluded.
_USEFUL = 0.1
# Rows are too few for that where two standard errors of the majority's error are more than this share of it: below 64
# rows of two equally frequent classes.
_FEW = 0.25


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
    scores_by: tuple[str, ...] = ()  # columns by whose groups the report scores the best one

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the table, the gravest first."""
        return self.table.read.problems

    @cached_property
    def trained(self) -> TrainedModel:
        """The model with what is needed to use it on another file."""
        return TrainedModel(self.model, self.temperature, Profile.of(self.table))

    def scored_on(self, test: TableFile, progress: Progress | None = None) -> Training:
        """Return the same training with the scores of the model on held-out rows of known classes."""
        from bayeskit.workflow.evaluation import evaluate

        scores = evaluate(self.trained, test, self.table.target, self.table.loss, progress)
        return replace(self, test=scores, test_name=test.name)

    @property
    def no_better_than_majority(self) -> str:
        """The warning where no classifier beats the majority class: what follows from that, and what does not."""
        board = self.board
        best, majority = board.best.held_out[0], board.majority.held_out[0]
        said = (
            f"no classifier beats the majority class by {self.measures[board.by]}: {getattr(best, board.by)} for "
            f"{board.best.name}, {getattr(majority, board.by)} for predicting the class frequencies in every row. "
        )
        gain, fewer = self._gain(board.by), self._gain("error")
        if fewer.value > 2 * fewer.se:
            return said + (
                f"Its error is lower, {best.error} against {majority.error}: it ranks classes well but is "
                "overconfident. Calibrate it, or choose by error."
            )
        # A model that hardly leaves the class frequencies differs little from them in every row, however few there are.
        few = 2 * majority.error.se > _FEW * majority.error.value
        if few or gain.value + 2 * gain.se > _USEFUL * abs(getattr(majority, board.by).value):
            return said + (
                f"{len(board.scored_rows)} rows are too few to tell whether the columns say anything about "
                f"{self.table.target!r}: the difference is {-gain.value:.4f} ± {gain.se:.4f}. Gather more rows."
            )
        return said + (
            f"The columns hold no information about {self.table.target!r} that generalises to held-out rows; do not "
            "use this model for predictions."
        )

    def _gain(self, by: str) -> Measure:
        """Return by how much the best classifier is better than the majority class, taken row by row."""
        board, rows = self.board, self.board.scored_rows
        y, place = self.table.labels.y[rows], list(MEASURES).index(by)
        costs = []
        for trial in (board.majority, board.best):
            posterior = trial.held_out[1][rows]
            if board.loss is not None and by == "mean_loss":
                costs.append(realised_loss(y, bayes_action(posterior, board.loss), board.loss))
            else:
                costs.append(row_scores(posterior, y)[place])
        gain = costs[0] - costs[1]
        return measure_of(np.array([gain.sum(), (gain**2).sum()]), len(gain))

    @property
    def measures(self) -> dict[str, str]:
        """The measures that classifiers are compared by, with their titles; a loss adds one."""
        return {name: title for name, title in MEASURES.items() if name != "mean_loss" or self.board.loss is not None}


def train(
    table: TrainingTable,
    models: Sequence[str] | None = None,
    folds: int | FoldPlan = 5,
    random_state: int = 0,
    progress: Progress | None = None,
    *,
    by: str | None = None,
    calibrate: bool = False,
    smoothing: float | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Training:
    """Compare the classifiers by cross-validation and fit the best on all rows.

    Parameters
    ----------
    table : TrainingTable
        The table, from :func:`bayeskit.workflow.training_table.read_training_table`.
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
    smoothing : float, optional
        The pseudo-count λ of every classifier; those without one are then not tried.
    on_trial : callable, optional
        Called with the :class:`bayeskit.workflow.leaderboard.Trial` of each classifier as soon as it is known, before
        any calibration.
    """
    tried = candidates(models, smoothing)
    table = table.readable_by(tried)
    labels = table.labels
    plan = folds if isinstance(folds, FoldPlan) else FoldPlan(folds)
    compared = cross_validate(
        table.rows,
        tried,
        plan,
        random_state=random_state,
        kinds=table.features.kinds,
        loss=table.loss,
        by=by,
        all_asked=models is not None,
        progress=progress,
        on_trial=on_trial,
    )
    board = compared.board
    raw = {trial.name: trial.posterior for trial in board}
    if calibrate:
        board = _calibrated(board, labels.y)
    best = board.best
    model = compared.fit(best, progress)
    temperature = 1.0
    if calibrate and (posterior := raw[best.name]) is not None:
        temperature = fit_temperature(posterior[board.scored_rows], labels.y[board.scored_rows])
    plan = replace(plan, n_scored=table.n_sampled)
    return Training(table, board, model, plan, random_state, temperature)


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
