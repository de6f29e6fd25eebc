"""The objective of a run of learning, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def objective_curve(objective: Sequence[float], label: str, ax: Axes | None = None) -> Axes:
    """Plot an objective over the steps that raised it; called again with the same axes it adds a line."""
    ax = new_axes(ax, (6.0, 3.6))
    ax.plot(range(len(objective)), objective, marker="o", markersize=3, linewidth=1.2, label=label)
    ax.set_xlabel(translated_label("step"))
    ax.set_ylabel(translated_label("objective"))
    ax.legend(frameon=False)
    return finish(ax)
