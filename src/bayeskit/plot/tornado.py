"""The tornado: how far one result moves when each number behind it changes, the widest bar on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import BLUE, GREY, RED, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tornado(
    labels: Sequence[str],
    below: Sequence[float],
    above: Sequence[float],
    now: float,
    xlabel: str = "result",
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar per number, from the result when it is smaller to the result when it is larger.

    Parameters
    ----------
    labels : names of the numbers
    below, above : the result when each number is smaller, and when it is larger
    now : the result as it is
    """
    order = sorted(range(len(labels)), key=lambda k: abs(above[k] - below[k]))
    ax = new_axes(ax, (7.0, 1.2 + 0.3 * len(labels)))
    for row, k in enumerate(order):
        ax.barh(
            row,
            below[k] - now,
            left=now,
            color=RED,
            height=0.6,
            label=translated_label("smaller") if row == 0 else None,
        )
        ax.barh(
            row,
            above[k] - now,
            left=now,
            color=BLUE,
            height=0.6,
            label=translated_label("larger") if row == 0 else None,
        )
    ax.axvline(now, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(labels)), [labels[k] for k in order])
    ax.set_xlabel(xlabel)
    if labels:
        ax.legend(title="the number is", frameon=False)
    return finish(ax)
