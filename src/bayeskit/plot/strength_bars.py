"""Bars of arc strength: how often two variables are joined, and which way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayeskit.plot.canvas import BLUE, GREY, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def strength_bars(
    labels: Sequence[str],
    strength: Sequence[float],
    direction: Sequence[float],
    threshold: float,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar per pair, the first on top: dark for the direction of its label, light for the other one.

    Parameters
    ----------
    labels : names of the pairs
    strength : the share of networks that join each pair
    direction : of these networks, the share with the direction of the label
    threshold : the strength from which a pair counts as joined
    """
    ax = new_axes(ax, (6.4, 1.2 + 0.26 * max(len(labels), 2)))
    places = range(len(labels))
    shown = [share * way for share, way in zip(strength, direction, strict=True)]
    rest = [share - part for share, part in zip(strength, shown, strict=True)]
    ax.barh(places, shown, color=BLUE, height=0.65, label="as written")
    ax.barh(places, rest, left=shown, color="#a9cbe4", height=0.65, label="the other way")
    ax.axvline(threshold, color=GREY, linestyle="--", linewidth=1, label=f"threshold {threshold:.2f}")
    ax.set_yticks(places, labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of the networks")
    ax.legend(loc="lower right", frameon=False, fontsize="small")
    return finish(ax)
