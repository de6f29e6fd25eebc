"""The scores of classifiers in cross-validation, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss
from bayeskit.decide.scores import MEASURES, Scores
from bayeskit.errors import BayeskitError
from bayeskit.language import label, translated
from bayeskit.result import Result, html_table, text_width

MAJORITY = "majority class"
# Decimal places of the scores that a leaderboard shows.
DIGITS = 4


@dataclass(frozen=True, repr=False)
class Trial(Result):
    """The scores of one classifier in cross-validation, or why it could not be fitted."""

    name: str
    model: Any  # an estimator that is not fitted; None for the majority class
    scores: Scores | None = None
    posterior: NDArray[np.float64] | None = field(default=None, repr=False)  # (n_rows, n_classes), each row unseen
    fit_seconds: float = 0.0  # CPU time over all folds
    predict_seconds: float = 0.0
    added: bool = False  # whether the counts of the folds were added
    refused: str = ""
    # Of a table of any size: True where the model needs the rows, and learned from the sample alone.
    from_sample: bool = False

    @property
    def held_out(self) -> tuple[Scores, NDArray[np.float64]]:
        """The scores and the posterior of every row, of a classifier that could be fitted."""
        assert self.scores is not None
        assert self.posterior is not None
        return self.scores, self.posterior


@dataclass(frozen=True, repr=False)
class Leaderboard(Sequence[Trial], Result):
    """The classifiers, the best by one measure first; those that could not be fitted come last."""

    trials: tuple[Trial, ...]
    classes: tuple[Any, ...]
    part: NDArray[np.intp] = field(repr=False)  # (n_rows,) the fold in which each row was predicted
    loss: Loss | None = None
    by: str = "log_loss"  # the measure that classifiers are ordered by
    # Classifiers that were not tried unless they are asked for, and why.
    left_out: dict[str, str] = field(default_factory=dict)
    # (n_rows,) which rows were predicted; None is all of them
    scored: NDArray[np.bool_] | None = field(default=None, repr=False)

    @property
    def scored_rows(self) -> NDArray[np.bool_]:
        """Which rows were predicted, of shape (n_rows,)."""
        return np.ones(len(self.part), dtype=bool) if self.scored is None else self.scored

    def in_order(self, trials: Sequence[Trial]) -> Leaderboard:
        """Return a leaderboard of other trials, the best first; of equal ones that with the better probabilities."""

        def key(trial: Trial) -> tuple[float, ...]:
            scores = trial.scores
            return (np.inf,) if scores is None else (getattr(scores, self.by).value, scores.log_loss.value)

        return replace(self, trials=tuple(sorted(trials, key=key)))

    @property
    def majority(self) -> Trial:
        """The scores of predicting the class frequencies in every row."""
        return next(trial for trial in self.trials if trial.name == MAJORITY)

    @property
    def beats_majority(self) -> bool:
        """Whether the best classifier has a lower value of the measure than the majority class, in the digits shown."""
        best, majority = self.best.held_out[0], self.majority.held_out[0]
        # A classifier that learned nothing but P(c), with another smoothing, differs in digits that nobody sees.
        lower: bool = round(getattr(best, self.by).value, DIGITS) < round(getattr(majority, self.by).value, DIGITS)
        return lower

    @property
    def best(self) -> Trial:
        """The classifier with the least value of the measure; the majority class does not count."""
        able = [trial for trial in self.trials if trial.scores is not None and trial.model is not None]
        if not able:
            reasons = "; ".join(
                f"{name}: {why or 'it gave no reason.'}"
                for name, why in (*((t.name, t.refused) for t in self.trials if t.model), *self.left_out.items())
            )
            raise BayeskitError(f"no classifier could be fitted. {reasons or 'None was asked for.'}")
        return able[0]

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, number: Any) -> Any:
        return self.trials[number]

    def _repr_html_(self) -> str:
        measures = [name for name in MEASURES if name != "mean_loss" or self.loss is not None]
        rows = []
        for trial in self.trials:
            scores = [str(getattr(trial.scores, name)).strip() for name in measures] if trial.scores else []
            rows.append([trial.name, *scores, "" if scores else f"left out: {trial.refused}"])
        rows += [[name, f"not tried: {why}"] for name, why in self.left_out.items()]
        return html_table(["", *(MEASURES[name] for name in measures), ""], rows)

    def __str__(self) -> str:
        measures = [name for name in MEASURES if name != "mean_loss" or self.loss is not None]
        width = max([16, *map(len, self.left_out), *(len(trial.name) for trial in self.trials)])
        titles = [label(MEASURES[name]) for name in measures]
        lines = [" ".join([" " * width, *(" " * (15 - text_width(title)) + title for title in titles)])]
        for trial in self.trials:
            if trial.scores is None:
                lines.append(f"{trial.name:{width}} {translated(f'left out: {trial.refused}')}")
                continue
            lines.append(" ".join([f"{trial.name:{width}}", *(str(getattr(trial.scores, name)) for name in measures)]))
        lines += [f"{name:{width}} {translated(f'not tried: {why}')}" for name, why in self.left_out.items()]
        return "\n".join(lines)
