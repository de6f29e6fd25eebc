"""Two classes: what each threshold of the probability costs and gains, as a table and with a slider."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.workflow.report.html import e, grid, section, short
from bayeskit.workflow.wording import number, percent

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# The script of the slider; it reads numbers only, and the page allows no other script.
SCRIPT = Path(__file__).with_name("thresholds.js").read_text("utf-8")
SCRIPT_HASH = "sha256-" + b64encode(sha256(SCRIPT.encode()).digest()).decode()
# Thresholds of the slider, and every how many of them is a line of the table.
STEPS, EVERY = 100, 5


def thresholds(result: Training) -> str:
    """Show what each threshold of P(second class) gains and costs, on held-out rows."""
    board, labels = result.board, result.table.labels
    rows = board.scored_rows
    y = labels.y[rows]
    if len(labels.classes) != 2 or len(np.unique(y)) != 2:
        return ""
    costs = _costs(result)
    chosen, right = _counted(board.best.held_out[1][rows, 1], y == 1)
    n, n_positive = len(y), int((y == 1).sum())
    # Cost of each threshold: false alarms, misses, and what right decisions cost.
    cost = _mean_costs(chosen, right, n, n_positive, costs)
    best = int(cost.argmin())
    lines = []
    for k in sorted({*range(EVERY, STEPS, EVERY), best}):
        precision = right[k] / chosen[k] if chosen[k] else np.nan
        recall = right[k] / n_positive
        cells = [f"{k / STEPS:.2f}", f"{chosen[k]:,}", _share(precision), percent(recall) if recall else "0 %"]
        cells += [f"{chosen[k] - right[k]:,}", f"{n_positive - right[k]:,}"]
        cells += [f"{recall / (chosen[k] / n):.2f}" if chosen[k] else "–", number(float(cost[k]))]
        lines.append(("best" if k == best else "", cells))
    label = e(short(labels.classes[1], 24))
    given = "the losses that were given" if board.loss is not None else "1 for each error; change it below"
    head = ("threshold", "chosen", "precision", "recall (gain)", "false alarms", "misses", "lift", "mean cost")
    return section(
        "thresholds",
        "Thresholds, costs and gains",
        f"A row is called {label} where P({label}) is at least the threshold. Chosen: rows called so; gain: the share "
        f"of all {label} among them; lift: how many times more often than among all rows. The cost is {given}. The "
        "line of least cost stands out.",
        _slider(chosen, right, n, n_positive, costs, best),
        grid(head, lines, numbers=range(len(head))),
        f"<script>{SCRIPT}</script>",
    )


def _costs(result: Training) -> NDArray[np.float64]:
    """Return the cost of calling a row of each class (rows) the first or the second class (columns)."""
    loss, classes = result.board.loss, result.table.labels.classes.tolist()
    if loss is None or not all(label in loss.actions for label in classes):
        return 1.0 - np.eye(2)
    places = [list(loss.actions).index(label) for label in classes]
    return np.asarray(loss.matrix, dtype=np.float64)[:, places]


def _counted(p: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many rows have at least each threshold 0, 0.01, …, 1, and how many of them are positive.

    >>> chosen, right = _counted(np.array([0.2, 0.5, 0.9]), np.array([False, True, True]))
    >>> chosen[[0, 50, 51, 100]].tolist(), right[[0, 50, 51]].tolist()
    ([3, 2, 1, 0], [2, 2, 1])
    """
    # A hundredth above the largest threshold that a row reaches, exact where P is a hundredth itself.
    reached = np.floor(np.clip(p, 0, 1) * STEPS + 1e-9).astype(np.intp)
    everyone, ours = (np.bincount(reached[some], minlength=STEPS + 1) for some in (slice(None), positive))
    return np.cumsum(everyone[::-1])[::-1], np.cumsum(ours[::-1])[::-1]


def _mean_costs(
    chosen: NDArray[np.int64], right: NDArray[np.int64], n: int, n_positive: int, costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean cost of each threshold."""
    wrong, missed = chosen - right, n_positive - right
    total = wrong * costs[0, 1] + missed * costs[1, 0] + right * costs[1, 1] + (n - n_positive - wrong) * costs[0, 0]
    return np.asarray(total / n)


def _share(value: float) -> str:
    return "–" if np.isnan(value) else percent(value) if value else "0 %"


def _slider(
    chosen: NDArray[np.int64],
    right: NDArray[np.int64],
    n: int,
    n_positive: int,
    costs: NDArray[np.float64],
    best: int,
) -> str:
    """Return the slider, which is hidden where no script runs; it holds numbers, never names."""
    field = '<label>{} <input type="number" step="any" min="0" data-cost="{}" value="{:g}"></label>'
    fields = "".join(
        field.format(title, name, max(value, 0.0))
        for title, name, value in (
            ("cost of a false alarm", "wrong", costs[0, 1] - costs[0, 0]),
            ("cost of a miss", "missed", costs[1, 0] - costs[1, 1]),
        )
    )
    shown = "".join(
        f'<div class="figure"><b data-shown="{name}"></b><span>{title}</span></div>'
        for name, title in (
            ("chosen", "rows chosen"),
            ("precision", "precision"),
            ("recall", "recall (gain)"),
            ("lift", "lift"),
            ("cost", "mean cost above that of being right"),
            ("best", "threshold of least cost"),
        )
    )
    numbers = f'data-chosen="{" ".join(map(str, chosen))}" data-right="{" ".join(map(str, right))}"'
    return (
        f'<div class="card slider" hidden {numbers} data-rows="{n}" data-positive="{n_positive}">'
        f'<label class="long">threshold <output></output><input type="range" min="0" max="{STEPS}" value="{best}">'
        f'</label><div class="costs">{fields}</div><div class="figures">{shown}</div></div>'
    )
