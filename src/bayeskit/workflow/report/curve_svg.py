"""Small drawings as SVG whose colours come from the page: a curve, and a histogram by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bayeskit.workflow.learning_curve import LearningPoint

SIZE, LEFT, BELOW, ABOVE = 220.0, 46.0, 36.0, 8.0
# Points that a curve is drawn with at the most; more are not seen.
MOST_POINTS = 300
HISTOGRAM = (300.0, 92.0)
LEARNING = (340.0, 220.0)


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


def learning_svg(points: Sequence[LearningPoint]) -> str:
    """Return the log-loss by the number of rows, with bars of one standard error; each step doubles the rows.

    >>> from bayeskit.decide.scores import Measure
    >>> from bayeskit.workflow.learning_curve import LearningPoint
    >>> loss = Measure(0.5, 0.1)
    >>> learning_svg([LearningPoint(10, loss, loss), LearningPoint(20, loss, loss)]).count("<circle")
    2
    """
    width, height = LEARNING
    places = np.log2([point.n_rows for point in points])
    across = (places - places[0]) / ((places[-1] - places[0]) or 1.0)
    value = np.array([point.log_loss.value for point in points])
    error = np.nan_to_num(np.array([point.log_loss.se for point in points]))
    low, high = float((value - error).min()), float((value + error).max())
    room = (high - low) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        return LEFT + (width - LEFT - 24) * x, ABOVE + (height - ABOVE - BELOW) * (high - y) / room

    parts = [f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">']
    corners = [at(0, high), at(0, low), at(1, low)]
    parts.append('<path class="frame" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + '"/>')
    line = [at(x, y) for x, y in zip(across, value, strict=True)]
    parts.append('<path class="line" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in line) + '"/>')
    for (x, y), v, se, point in zip(line, value, error, points, strict=True):
        top, below = at(0, v + se)[1], at(0, v - se)[1]
        parts.append(f'<path class="frame" d="M{x:.1f} {top:.1f}V{below:.1f}"/>')
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
        parts.append(f'<text class="tick middle" x="{x:.0f}" y="{height - 20:.0f}">{point.n_rows:,}</text>')
    parts += [
        f'<text class="tick end" x="{LEFT - 5:.0f}" y="{at(0, level)[1] + 4:.0f}">{level:.3g}</text>'
        for level in (low, high)
    ]
    parts.append(f'<text class="tick middle" x="{width / 2:.0f}" y="{height - 4:.0f}">rows learned from</text></svg>')
    return "".join(parts)


def effect_svg(x: Sequence[float], shares: NDArray[np.float64], base: Sequence[float], low: str, high: str) -> str:
    """Return curves of P(class | value) over a numeric column, with the shares of the classes as dashed lines.

    >>> effect_svg([1, 2], np.array([[0.2], [0.6]]), [0.4], "1", "2").count("<path")
    3
    """
    width, height = HISTOGRAM
    span = (x[-1] - x[0]) or 1.0
    top = max(float(shares.max()), *base)
    top = 1.0 if top > 0.5 else float(np.ceil(10 * top) / 10)

    def at(value: float, share: float) -> str:
        return f"{width * (value - x[0]) / span:.1f} {height - (height - 4) * share / top:.1f}"

    parts = [f'<svg viewBox="0 0 {width:.0f} {height + 18:.0f}" width="{width:.0f}" role="img">']
    for k, share in enumerate(base):
        parts.append(f'<path class="chance c{k}" d="M{at(x[0], share)}L{at(x[-1], share)}"/>')
        line = "L".join(at(value, float(p)) for value, p in zip(x, shares[:, k], strict=True))
        parts.append(f'<path class="effect c{k}" d="M{line}"/>')
    parts.append(f'<path class="frame" d="M0 {height:.1f}H{width:.1f}"/>')
    parts.append(f'<text class="tick" x="0" y="{height + 14:.0f}">{low}</text>')
    parts.append(f'<text class="tick end" x="{width:.0f}" y="{height + 14:.0f}">{high}</text>')
    parts.append(f'<text class="tick end" x="{width:.0f}" y="10">{top:g}</text></svg>')
    return "".join(parts)


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
