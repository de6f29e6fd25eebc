"""Pictures of a report as inline SVG whose colours follow the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

# Colours of our pictures → the page's own, which differ between light and dark.
_COLOURS = {
    "#0072b2": "var(--blue)",
    "#d55e00": "var(--red)",
    "#8c8c8c": "var(--grey)",
    "#404040": "var(--soft)",
    "#dddddd": "var(--line)",
    "#ffffff": "var(--card)",
    "#000000": "currentColor",
}
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and shown in the page's font
    "text.parse_math": False,  # a value such as "$5" is a value
    "font.size": 11.0,
    "axes.linewidth": 0.8,
}
_NEVER_SHOWN = re.compile(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)

# The smallest scale of a drawing of a network on the screen.
LEAST_SCALE = 0.75


def can_plot() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def picture(draw: Callable[[Any], Any], size: tuple[float, float], name: str, left: float = 0.75) -> str:
    """Draw on new axes and return the picture as SVG.

    Parameters
    ----------
    draw : callable
        Draws on the Axes that it is given.
    size : (width, height)
        Size in inches.
    name : str
        Makes the ids of the SVG unique on the page.
    left : float
        Left margin in inches; with fixed margins matplotlib need not draw everything twice to find them.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # The page's font draws the text, so it does not matter which characters matplotlib's font has.
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=size)
        FigureCanvasSVG(figure)
        width, height = size
        below, above, right = 0.55, 0.12, 0.12
        draw(figure.add_axes((left / width, below / height, 1 - (left + right) / width, 1 - (below + above) / height)))
        out = StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _inline(out.getvalue(), name)


def _inline(svg: str, name: str) -> str:
    svg = _NEVER_SHOWN.sub("", svg[svg.index("<svg") :])
    for colour, ours in _COLOURS.items():
        svg = svg.replace(f": {colour}", f": {ours}")
    # Groups such as "figure_1" have the same ids in every picture; a page needs each id once.
    svg = re.sub(r'\bid="([\w.]+_\d+)"', "", svg)
    # The clip paths are ours alone by the salt; the pictures' sizes follow the page.
    return re.sub(r'<svg ([^>]*?)height="[\d.]+pt"([^>]*?)width="([\d.]+)pt"', r'<svg \1\2width="\3"', svg, count=1)


def network_picture(names: Sequence[str], arcs: Sequence[tuple[int, int]], marked: Sequence[str]) -> str:
    """Return the drawing of a graph; its look comes from the page."""
    from bayeskit.plot.network_svg import draw_network

    svg = draw_network(names, arcs, given=marked).svg
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<rect x="[^"]*" y="[^"]*" width="[^"]*" height="[^"]*" fill="#fff"/>', "", svg, count=1)
    # It shrinks to the width of the page as long as its text of 12 px can be read, then it is scrolled.
    least = LEAST_SCALE * float(re.search(r'<svg[^>]* width="([\d.]+)', svg)[1])  # type: ignore[index]
    return svg.replace("<svg ", f'<svg style="min-width:{least:.0f}px" ', 1)
