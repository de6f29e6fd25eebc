"""The evidence of one row as a small SVG: one line per column, from the prior to the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# A card on a phone of 390 pixels has room for it, so that the letters keep their size; bars stand below their labels.
WIDTH = 320.0
LINE, TEXT, BAR, FOOT = 30.0, 14.0, 9.0, 22.0  # heights


def waterfall_svg(labels: Sequence[str], terms: Sequence[float], used: Sequence[bool], prior: float) -> str:
    """Return the picture: label and number of each line, and below them its bar.

    Matplotlib draws the same as ``bayeskit.plot.waterfall``, a hundred times slower.

    >>> waterfall_svg(["wind = weak"], [0.5], [True], prior=-0.2).count("<rect")
    3
    """
    after = [prior]
    for term in terms:
        after.append(after[-1] + term)
    low, high = min(0.0, *after), max(0.0, *after)
    scale = (WIDTH - 2) / ((high - low) or 1.0)

    def x(value: float) -> float:
        return 1 + (value - low) * scale

    lines = [("prior", 0.0, prior, "sum", prior)]
    for label, term, on, end in zip(labels, terms, used, after[1:], strict=True):
        style = "up" if term >= 0 else "down"
        lines.append((label, end - term, end, style if on else "off", term))
    lines.append(("posterior", 0.0, after[-1], "sum", after[-1]))
    height = LINE * len(lines) + FOOT
    parts = [f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="{WIDTH:.0f}" role="img">']
    parts.append(f'<path class="axis" d="M{x(0):.1f} 2V{height - FOOT:.1f}"/>')
    for i, (label, start, end, style, value) in enumerate(lines):
        top, (left, right) = i * LINE + TEXT + 2, sorted((x(start), x(end)))
        baseline = f'y="{i * LINE + TEXT - 2:.1f}"'
        parts.append(f'<text class="{style} label" x="0" {baseline}>{escape(label)}</text>')
        box = f'x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 0.8):.1f}" height="{BAR:.0f}"'
        parts.append(f'<rect class="{style}" {box} rx="1.5"/>')
        if style != "off":
            parts.append(f'<text class="value" x="{WIDTH:.0f}" {baseline}>{round(value, 2) + 0.0:+.2f}</text>')
    anchor = "start" if x(0) < WIDTH / 4 else "end" if x(0) > WIDTH * 3 / 4 else "middle"
    parts.append(f'<text class="foot" text-anchor="{anchor}" x="{x(0):.1f}" y="{height - 7:.1f}">even odds</text>')
    return "".join([*parts, "</svg>"])
