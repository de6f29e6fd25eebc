"""Training: classifiers compared, and the best one fitted on all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeskit.decide.scores import MEASURES, Scores
from bayeskit.kinds.written import part_name
from bayeskit.progress import Progress
from bayeskit.workflow.calibration import fit_temperature, out_of_fold
from bayeskit.workflow.candidates import candidates
from bayeskit.workflow.compare import cross_validate
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.leaderboard import Leaderboard, Trial
from bayeskit.workflow.trained import TrainedModel

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.evaluation import Evaluation
    from bayeskit.workflow.training_table import TrainingTable


@dataclass(frozen=True)
class Training:
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
    on_trial : callable, optional
        Called with the :class:`bayeskit.workflow.leaderboard.Trial` of each classifier as soon as it is known, before
        any calibration.
    """
    labels = table.labels
    plan = folds if isinstance(folds, FoldPlan) else FoldPlan(folds)
    compared = cross_validate(
        table.rows,
        candidates(models),
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
    assert best.model is not None
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
