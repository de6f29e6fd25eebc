"""The evidence of one row as a small SVG: a line a column, from the prior to the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

LABELS, BARS, VALUES = 250.0, 220.0, 48.0  # widths
LINE, BAR, FOOT = 23.0, 13.0, 24.0  # heights


def waterfall_svg(labels: Sequence[str], terms: Sequence[float], used: Sequence[bool], prior: float) -> str:
    """Return the picture; matplotlib draws the same as ``bayeskit.plot.waterfall``, a hundred times slower.

    >>> waterfall_svg(["wind = weak"], [0.5], [True], prior=-0.2).count("<rect")
    3
    """
    after = [prior]
    for term in terms:
        after.append(after[-1] + term)
    low, high = min(0.0, *after), max(0.0, *after)
    scale = BARS / ((high - low) or 1.0)

    def x(value: float) -> float:
        return LABELS + 8 + (value - low) * scale

    lines = [("prior", 0.0, prior, "sum", prior)]
    for label, term, on, end in zip(labels, terms, used, after[1:], strict=True):
        style = "up" if term >= 0 else "down"
        lines.append((label, end - term, end, style if on else "off", term))
    lines.append(("posterior", 0.0, after[-1], "sum", after[-1]))
    height = LINE * len(lines) + FOOT
    width = LABELS + BARS + VALUES + 8
    parts = [f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img">']
    parts.append(f'<path class="axis" d="M{x(0):.1f} 2V{height - FOOT:.1f}"/>')
    for i, (label, start, end, style, value) in enumerate(lines):
        top, (left, right) = i * LINE + (LINE - BAR) / 2, sorted((x(start), x(end)))
        middle = f"{top + BAR - 2:.1f}"
        parts.append(f'<text class="{style} label" x="{LABELS:.0f}" y="{middle}">{escape(label)}</text>')
        box = f'x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.8):.1f}" height="{BAR:.0f}"'
        parts.append(f'<rect class="{style}" {box} rx="1.5"/>')
        if style != "off":
            parts.append(f'<text class="value" x="{right + 5:.1f}" y="{middle}">{value:+.2f}</text>')
    parts.append(f'<text class="foot" x="{x(0):.1f}" y="{height - 7:.1f}">even odds</text>')
    return "".join([*parts, "</svg>"])
