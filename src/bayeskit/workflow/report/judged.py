"""The scores of the classifiers: leaderboard, calibration, curves, and confusion matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.curves import curves
from bayeskit.decide.scores import MOST_IN_MATRIX, Scores
from bayeskit.language import label as translated_label
from bayeskit.language import translated
from bayeskit.workflow.learning_curve import learning_curve
from bayeskit.workflow.report.curve_svg import curve_svg, learning_svg
from bayeskit.workflow.report.html import bar, e, grid, section, short
from bayeskit.workflow.report.pictures import can_plot, picture
from bayeskit.workflow.wording import number, percent, seconds

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.workflow.training import Training

# With more classes than this columns are numbered instead of named.
MOST_NAMED = 6


def leaderboard(result: Training) -> str:
    """Compare the classifiers."""
    board = result.board
    head = ["classifier", *result.measures.values(), "fit", "predict"]
    rows = []
    for trial in board:
        if trial.scores is None:
            continue
        measures = [getattr(trial.scores, name) for name in result.measures]
        cells = [f"{m.value:.4f} <small>± {m.se:.4f}</small>" for m in measures]
        times = [e(seconds(t)) if trial.model else "" for t in (trial.fit_seconds, trial.predict_seconds)]
        style = "best" if trial is board.best else "out" if trial.model is None else ""
        rows.append((style, [e(trial.name), *cells, *times]))
    absent = [(trial.name, trial.refused) for trial in board if trial.scores is None] + list(board.left_out.items())
    notes = "".join(f"<p class='note'>{e(name)} not tried: {e(why)}</p>" for name, why in absent)
    held_out = ""
    if result.test is not None:
        scores = result.test.scores
        said = ", ".join(f"{e(title)} {e(getattr(scores, name))}" for name, title in result.measures.items())
        held_out = f"<p>On the held-out rows of {e(result.test_name)}: {said}.</p>"
    return section(
        "leaderboard",
        "Leaderboard",
        f"The best {e(translated_label(result.measures[board.by]))} first; ± is the standard error. Smaller is better "
        "in every column. A difference between two classifiers that is smaller than their standard errors may be "
        "chance.",
        grid(head, rows, numbers=range(1, len(head))),
        notes,
        held_out,
    )


def reliability(result: Training) -> str:
    """Show how well the probabilities of a table's rows are calibrated."""
    rows = result.board.scored_rows
    posterior = result.board.best.held_out[1][rows]
    confidence = np.clip(posterior.max(axis=1), 0.0, 1.0)
    right = posterior.argmax(axis=1) == result.table.labels.y[rows]
    calibrated = f" They were calibrated by the temperature {result.temperature:.3g}." * (result.temperature != 1.0)
    return reliability_of(right, confidence, calibrated)


def reliability_of(
    right: NDArray[np.bool_], confidence: NDArray[np.float64], words: str = "", rows: str = "rows"
) -> str:
    """Show how often a class was right that was predicted with some confidence; ``words`` come at the end."""
    from bayeskit.plot.reliability import reliability_curve

    shown = _plot(lambda ax: reliability_curve(right, confidence, ax=ax), (5.2, 5.0), "reliability")
    return section(
        "calibration",
        "Are the probabilities calibrated?",
        f"Of the {rows} predicted with probability 0.8, 80 % should be predicted right: such points are on the dashed "
        f"line. The bars at the bottom count {rows}.{words}",
        shown,
    )


def two_class_curves(result: Training) -> str:
    """Draw ROC, precision and recall, and lift of a table where there are two classes."""
    rows, classes = result.board.scored_rows, result.table.labels.classes
    y = result.table.labels.y[rows]
    if len(classes) != 2 or len(np.unique(y)) != 2:
        return ""
    return curves_of(result.board.best.held_out[1][rows, 1], y == 1, classes[1])


def curves_of(p: NDArray[np.float64], y: NDArray[np.bool_], name: Any, rows: str = "rows") -> str:
    """Draw ROC, precision and recall, and lift of the probabilities of one of two classes."""
    ranking = curves(p, y)
    label, base = e(short(name, 24)), float(y.mean())
    top = ranking.share >= 0.01
    lift = ranking.recall[top] / ranking.share[top]
    figures = [
        (
            f"ROC, area {ranking.auc:.3f}",
            curve_svg(ranking.false_positive_rate, ranking.recall, "false positive rate", "recall", [(0, 0), (1, 1)]),
        ),
        (
            f"Precision and recall, average precision {ranking.average_precision:.3f}",
            curve_svg(ranking.recall[1:], ranking.precision[1:], "recall", "precision", [(0, base), (1, base)]),
        ),
        (
            f"Lift, {ranking.lift(0.1):.2f} in the first tenth",
            curve_svg(
                ranking.share[top], lift, f"share of {rows}, most probable first", "lift", [(0, 1), (1, 1)],
                top=float(np.ceil(2 * lift.max()) / 2),
            ),
        ),
    ]  # fmt: skip
    cards = "".join(
        f'<figure class="card curve"><figcaption>{title}</figcaption>{svg}</figure>' for title, svg in figures
    )
    return section(
        "curves",
        f"Ranking {rows}",
        f"How well P({label}) ranks {rows}, at every threshold; the dashed line is chance. Lift is how many times more "
        f"often {label} is among the {rows} that come first than among all.",
        f'<div class="thirds">{cards}</div>',
    )


def learning(result: Training) -> str:
    """Show how the scores of the best classifier change with the number of rows that it learns from."""
    points = learning_curve(result)
    if not points:
        return ""
    rows = []
    for point in points:
        measures = [f"{m.value:.4f} <small>± {m.se:.4f}</small>" for m in (point.error, point.log_loss)]
        rows.append(("", [f"{point.n_rows:,}", *measures]))
    fall = points[-2].log_loss.value - points[-1].log_loss.value
    words = (
        "The log-loss still falls: more rows would help."
        if fall > points[-1].log_loss.se
        else "The last step is smaller than its standard error: more rows of the same kind would help little."
    )
    return section(
        "learning",
        "Learning curve",
        f"{e(result.board.best.name)} on the same held-out rows, the last fold, after learning from fewer of the "
        f"others. {words}",
        f'<div class="pair"><figure class="card curve">{learning_svg(points)}</figure>'
        + grid(("rows learned from", "error", "log-loss"), rows, numbers=(0, 1, 2))
        + "</div>",
    )


def confusion(result: Training) -> str:
    """Show which classes of a table are confused with which, and the losses where they were given."""
    return confusion_of(result.board.best.held_out[0], result.board.loss)


def confusion_of(scores: Scores, loss: Loss | None = None, unit: str = "rows") -> str:
    """Show which classes are confused with which, and the losses where they were given."""
    share = scores.decided / np.maximum(scores.decided.sum(axis=1, keepdims=True), 1)
    words = f"Number of {unit} by true class and decision."
    if len(scores.classes) > MOST_IN_MATRIX:
        rows = [
            ("", [e(short(truth)), e(short(action)), f"{n:,}"]) for truth, action, n in scores.most_frequent_errors()
        ]
        shown = grid(("true class", "decision", unit), rows, numbers=(2,))
        words = f"{len(scores.classes)} classes have no room in a matrix; these are the most frequent errors."
    else:
        errors = [
            [(f"{n}" if n or i == j else "", s, i == j) for j, (n, s) in enumerate(zip(*row, strict=True))]
            for i, row in enumerate(zip(scores.decided.tolist(), share.tolist(), strict=True))
        ]
        shown = _matrix(unit, scores.classes, scores.actions, errors)
        # Losses of 0 and 1 say nothing that the matrix of errors does not.
        if loss is not None:
            top = float(np.abs(loss.matrix).max()) or 1.0
            costs = [[(number(x), abs(x) / top, False) for x in row] for row in loss.matrix.tolist()]
            wide = len(scores.classes) <= MOST_NAMED
            shown = (
                f'<div class="{"pair" if wide else ""}">{shown}'
                f"{_matrix('loss, as given', scores.classes, scores.actions, costs)}</div>"
            )
            words += f" The mean loss is {e(scores.mean_loss)}."
    return section("confusion", "Confusion matrix", words, shown, _per_class(scores, unit))


def _per_class(scores: Scores, unit: str = "rows") -> str:
    right, truth, guess = np.diag(scores.confusion), scores.confusion.sum(axis=1), scores.confusion.sum(axis=0)
    rows = []
    for k in np.argsort(-truth, kind="stable")[:100]:
        shares = [
            f"{percent(right[k] / n) if right[k] else '0 %'}{bar(right[k] / n)}" if n else "–"
            for n in (guess[k], truth[k])
        ]  # precision, recall
        rows.append(("", [e(short(scores.classes[k], 40)), f"{truth[k]:,}", f"{guess[k]:,}", *shares]))
    words = translated(
        f"Precision: of the {unit} predicted to be of the class, the share that is. Recall: of the {unit} of the "
        "class, the share that is predicted so."
    )
    return f"<h3>{translated('Each class')}</h3><p class='lead'>{words}</p>" + grid(
        ("class", unit, "predicted", "precision", "recall"), rows, numbers=(1, 2, 3, 4)
    )


def _matrix(
    title: str, classes: Sequence[Any], actions: Sequence[Any], cells: list[list[tuple[str, float, bool]]]
) -> str:
    numbered = len(actions) > MOST_NAMED
    places = {str(action): j + 1 for j, action in enumerate(actions)}
    named = [str(j + 1) if numbered else short(action, 20) for j, action in enumerate(actions)]
    head = "".join(f'<th class="cell" title="{e(a)}">{e(n)}</th>' for a, n in zip(actions, named, strict=True))
    rows = ""
    for label, row in zip(classes, cells, strict=True):
        mark = f"<small>{places.get(str(label), '')}</small> " if numbered else ""
        shaded = "".join(f'<td style="background:{_shade(share, right)}">{e(text)}</td>' for text, share, right in row)
        rows += f"<tr><th>{mark}{e(short(label, 28))}</th>{shaded}</tr>"
    others = [f"{places[str(a)]} = {e(a)}" for a in actions if numbered and a not in classes]
    note = f'<p class="note">Columns have the numbers of the classes{"; " + ", ".join(others) if others else ""}.</p>'
    title = translated_label(title)
    return (
        f'<figure class="card"><figcaption>{e(title)}</figcaption><div class="wide"><table class="matrix'
        f'{" many" if numbered else ""}"><thead><tr><th>true class</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"</div>{note if numbered else ''}</figure>"
    )


def _shade(share: float, right: bool) -> str:
    return f"color-mix(in srgb,var(--{'hit' if right else 'miss'}) {70 * share:.0f}%,transparent)"


def _plot(draw: Callable[[Any], Any], size: tuple[float, float], name: str, left: float = 0.75) -> str:
    if not can_plot():
        return '<p class="note">No plot: matplotlib is not installed (<code>pip install bayeskit[plot]</code>).</p>'
    return f'<figure class="card plot">{picture(draw, size, name, left)}</figure>'
