"""Mean ranks over tables, with the critical difference of Nemenyi's test, as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

TITLES = {"error": "by error", "log_loss": "by log-loss", "calibration": "by calibration error"}


def critical_difference(n_models: int, n_tables: int) -> float:
    """Return how far mean ranks must be apart to differ at the level of 5 % (Nemenyi; Demšar 2006).

    >>> round(critical_difference(4, 14), 2)  # Demšar's q is 2.569
    1.25
    """
    q = float(studentized_range.ppf(0.95, n_models, np.inf)) / np.sqrt(2)
    return q * float(np.sqrt(n_models * (n_models + 1) / (6 * n_tables)))


def mean_ranks(
    pair: Callable[[str, str], Any], models: list[str], tables: list[str], measure: str
) -> tuple[NDArray[np.float64], int]:
    """Return the mean rank of each model over the tables that all have; ours is compared on each peer's own folds."""
    ranks = []
    for table in tables:
        pairs = [pair(table, model) for model in models[1:]]
        if any(found is None for found in pairs):
            continue
        # How far each peer is from ours on the folds of both; ours is at 0.
        gaps = [0.0, *(found[1][measure] - found[0][measure] for found in pairs)]
        ranks.append(rankdata(np.round(gaps, 5)))
    return (np.mean(ranks, axis=0) if ranks else np.zeros(len(models))), len(ranks)


def draw_ranks(pair: Callable[[str, str], Any], models: list[str], tables: list[str], place: Path) -> str:
    """Draw the ranks by three measures, and return the words for the page."""
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    # A peer that few tables have would leave few tables to rank on.
    had = {model: sum(pair(table, model) is not None for table in tables) for model in models[1:]}
    models = [models[0], *(model for model, n in had.items() if n >= 0.9 * len(tables))]
    fig, axes = plt.subplots(len(TITLES), 1, figsize=(9, 2.9 * len(TITLES)))
    words = "\n## Mean ranks\n\n![Mean ranks with the critical difference](../docs/_static/auto-ranks.png)\n\n"
    for axis, (measure, title) in zip(axes, TITLES.items(), strict=True):
        ranks, n_tables = mean_ranks(pair, models, tables, measure)
        apart = critical_difference(len(models), max(n_tables, 1))
        one_picture(axis, models, ranks, apart, f"mean rank {title} on {n_tables} tables (1 is best)")
        order = np.argsort(ranks)
        said = ", ".join(f"{models[k]} {ranks[k]:.2f}" for k in order)
        words += f"- {title}, {n_tables} tables that all of these have, critical difference {apart:.2f}: {said}.\n"
    fig.tight_layout()
    place.parent.mkdir(exist_ok=True)
    fig.savefig(place, dpi=110, bbox_inches="tight")
    plt.close(fig)
    return words


def one_picture(axis: Any, models: list[str], ranks: NDArray[np.float64], apart: float, title: str) -> None:
    """Draw a line of ranks with the names on both sides, ours in colour, and the critical difference from ours on."""
    order = np.argsort(ranks)
    low, high = np.floor(ranks.min()) - 0.2, np.ceil(ranks.max()) + 0.2
    axis.set(xlim=(low - 1.8, high + 1.8), ylim=(-0.35 * ((len(models) + 1) // 2) - 0.3, 0.75))
    axis.axis("off")
    axis.set_title(title, fontsize=10, loc="left")
    axis.plot([low, high], [0, 0], color="#333333", lw=1.2)
    for tick in range(int(np.ceil(low)), int(high) + 1):
        axis.plot([tick, tick], [0, 0.08], color="#333333", lw=1)
        axis.text(tick, 0.14, str(tick), ha="center", fontsize=9)
    half = (len(models) + 1) // 2
    for place, k in enumerate(order):
        left = place < half
        y = -0.35 * ((place if left else len(models) - 1 - place) + 1)
        end = low - 0.05 if left else high + 0.05
        style = {"color": "#0072b2", "lw": 1.8} if k == 0 else {"color": "#777777", "lw": 0.9}
        axis.plot([ranks[k], ranks[k], end], [0, y, y], **style)
        weight = {"color": "#0072b2", "weight": "bold"} if k == 0 else {"color": "#222222"}
        axis.text(end - 0.05 if left else end + 0.05, y, f"{models[k]}  {ranks[k]:.2f}", va="center",
                  ha="right" if left else "left", fontsize=9, **weight)  # fmt: skip
    axis.plot([ranks[0], ranks[0] + apart], [0.42, 0.42], color="#0072b2", lw=4, solid_capstyle="butt")
    axis.text(ranks[0] + apart / 2, 0.52, f"critical difference {apart:.2f}", ha="center", fontsize=8, color="#0072b2")
