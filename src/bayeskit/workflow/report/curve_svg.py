"""Small drawings as SVG whose colours come from the page: a curve, and a histogram by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE, LEFT, BELOW, ABOVE = 220.0, 46.0, 36.0, 8.0
# Points that a curve is drawn with at the most; more are not seen.
MOST_POINTS = 300
HISTOGRAM = (300.0, 92.0)


def curve_svg(
    x: NDArray[Any],
    y: NDArray[Any],
    x_title: str,
    y_title: str,
    chance: Sequence[tuple[float, float]],
    top: float = 1.0,
) -> str:
    """Return a curve over [0, 1] with the line of chance.

    >>> curve_svg(np.array([0, 1]), np.array([0, 1]), "share", "recall", [(0, 0), (1, 1)]).count("<path")
    3
    """
    if len(x) > MOST_POINTS:
        keep = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).astype(int))
        x, y = x[keep], y[keep]

    def at(a: float, b: float) -> str:
        return f"{LEFT + SIZE * a:.1f} {ABOVE + SIZE * (1 - b / top):.1f}"

    width, height = LEFT + SIZE + 8, ABOVE + SIZE + BELOW
    line = "L".join(at(float(a), float(b)) for a, b in zip(x, y, strict=True))
    dashed = "L".join(at(a, b) for a, b in chance)
    parts = [
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">',
        f'<path class="frame" d="M{at(0, top)}L{at(0, 0)}L{at(1, 0)}"/>',
        f'<path class="chance" d="M{dashed}"/><path class="line" d="M{line}"/>',
    ]
    across, down = LEFT + SIZE / 2, ABOVE + SIZE / 2
    for share in (0.0, 0.5, 1.0):
        x_place, y_place = LEFT + SIZE * share, ABOVE + SIZE * (1 - share) + 4
        parts += [
            f'<text class="tick middle" x="{x_place:.0f}" y="{ABOVE + SIZE + 15:.0f}">{share:g}</text>',
            f'<text class="tick end" x="{LEFT - 5:.0f}" y="{y_place:.0f}">{top * share:.3g}</text>',
        ]
    turned = f'transform="rotate(-90 11 {down:.0f})"'
    parts += [
        f'<text class="tick middle" x="{across:.0f}" y="{height - 5:.0f}">{x_title}</text>',
        f'<text class="tick middle" {turned} x="11" y="{down:.0f}">{y_title}</text>',
    ]
    return "".join([*parts, "</svg>"])


def histogram_svg(shares: NDArray[np.float64], low: str, high: str) -> str:
    """Return histograms by class as outlines on one scale.

    Parameters
    ----------
    shares : float64 array of shape (n_classes, n_bins)
        The share of each class's rows that lies in each bin.
    low, high : str
        The ends of the axis.

    Examples
    --------
    >>> histogram_svg(np.array([[0.5, 0.5], [0.1, 0.9]]), "0", "1").count('class="step')
    2
    """
    width, height = HISTOGRAM
    top = float(shares.max()) or 1.0
    n_bins = shares.shape[1]
    parts = [f'<svg viewBox="0 0 {width:.0f} {height + 18:.0f}" width="{width:.0f}" role="img">']
    for k, row in enumerate(shares):
        path = f"M0 {height:.1f}"
        for b, share in enumerate(row.tolist()):
            level = height - (height - 4) * share / top
            path += f"V{level:.1f}H{width * (b + 1) / n_bins:.1f}"
        parts.append(f'<path class="step c{k}" d="{path}V{height:.1f}"/>')
    parts.append(f'<path class="frame" d="M0 {height:.1f}H{width:.1f}"/>')
    parts.append(f'<text class="tick" x="0" y="{height + 14:.0f}">{low}</text>')
    parts.append(f'<text class="tick end" x="{width:.0f}" y="{height + 14:.0f}">{high}</text></svg>')
    return "".join(parts)
