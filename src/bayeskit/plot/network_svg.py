"""A drawing of a network as SVG: boxes in layers, arcs as curves, bars of probabilities in the boxes."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

from bayeskit.io.container import atomic_write
from bayeskit.io.overwriting import MADE_BY, refuse_overwriting
from bayeskit.plot.layers import Arc
from bayeskit.plot.layout import Layout, lay_out
from bayeskit.plot.overview import overview

Mark = Literal["arrow", "circle", "none"]
# The marks at the start and at the end of a line.
Ends = tuple[Mark, Mark]
Rows = Sequence[Sequence[str]]

FONT = 12.0
FONT_STATE = 10.0
PAD = 9.0
ROW = 14.0  # height of a state's line
BAR = 62.0  # length of a bar for probability 1
PERCENT = 46.0  # room for "100.0 %"
COLUMN_GAP = 10.0  # between the columns of a table
MARGIN = 16.0
MAX_STATES = 10  # more are summed up in a last line
MAX_STATE_WIDTH = 110.0

STYLE = """
.box{fill:#fff;stroke:#5b6b80;stroke-width:1.1}
.given .box{fill:#fff3d6;stroke:#b7791f}
.cut .box{stroke-dasharray:4 3}
.arc{fill:none;stroke:#7d8ca1;stroke-width:1.2}
.tip{fill:#7d8ca1}
.ring{fill:#fff;stroke:#7d8ca1;stroke-width:1.2}
.arc.missing{stroke:#d55e00;stroke-dasharray:5 3;stroke-width:1.8}
.tip.missing{fill:#d55e00}
.arc.extra{stroke:#0072b2;stroke-width:1.8}
.tip.extra{fill:#0072b2}
.arc.turned{stroke:#e69f00;stroke-width:1.8}
.tip.turned{fill:#e69f00}
text{font-family:"Helvetica Neue",Helvetica,Arial,"Noto Sans","Noto Sans CJK SC",sans-serif;fill:#1f2933}
.name{font-size:12px;font-weight:600;text-anchor:middle}
.state{font-size:10px;fill:#3e4c59}
.p{font-size:10px;fill:#3e4c59;text-anchor:end}
.back{fill:#e9eef4}
.bar{fill:#3b7dd8}
.given .bar{fill:#d69e2e}
.rule{stroke:#d5dde6;stroke-width:1}
"""

# Characters that XML cannot hold, not even as a number.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


@dataclass(frozen=True)
class Drawing:
    """An SVG picture, shown by notebooks as it is.

    Attributes
    ----------
    svg : str
        The picture.
    crossings : int
        How many pairs of arcs cross.
    """

    svg: str
    crossings: int

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Drawing({len(self.svg)} characters of SVG, {self.crossings} crossings)"

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the picture to a file that ends in .svg.

        A file that bayeskit did not write is refused, unless ``force`` says that it may be replaced.
        """
        if Path(path).suffix.lower() != ".svg":
            raise ValueError(
                f"a drawing is saved as .svg; got {os.fspath(path)!r}. A browser prints it to other formats."
            )
        refuse_overwriting(Path(path), (), force=force)
        with atomic_write(Path(path)) as file:
            file.write(self.svg.encode())


@dataclass(frozen=True)
class _Line:
    label: str
    p: float


def draw_network(
    names: Sequence[str],
    arcs: Sequence[Arc],
    *,
    states: Sequence[Sequence[str]] | None = None,
    posterior: Mapping[str, Sequence[float]] | None = None,
    given: Collection[str] = (),
    arc_kinds: Mapping[Arc, str] | None = None,
    ends: Mapping[Arc, Ends] | None = None,
    legend: Mapping[str, str] | None = None,
    cut: Collection[str] = (),
    tables: Mapping[str, Rows] | None = None,
) -> Drawing:
    """Draw a directed acyclic graph in layers.

    Parameters
    ----------
    names : names of the nodes
    arcs : pairs (parent, child) of positions in ``names``
    states : names of each node's states, for the bars
    posterior : mapping of name to the probabilities of its states
        These nodes get one bar per state.
    given : names of nodes that were observed; they are coloured.
    arc_kinds : mapping of arc to "same", "missing", "extra" or "turned"
        Arcs of a comparison get colours of their own.
    ends : mapping of arc to the marks at its start and at its end, "arrow", "circle" or "none"
        Where a line is not an arc with an arrow at its end: edges without a direction have no mark.
    legend : mapping of a kind of arc to what it means
        Lines below the picture.
    cut : names of nodes with arcs to others that are not drawn; their border is dashed.
    tables : mapping of name to rows of text, the first of them the heading
        These nodes show the rows in their box, below the bars if any.

    Examples
    --------
    >>> drawing = draw_network(["Storm", "Lightning"], [(0, 1)])
    >>> drawing.svg.startswith("<svg"), drawing.crossings
    (True, 0)
    """
    lines = [
        _lines(states[i], posterior[name]) if posterior and states and name in posterior else []
        for i, name in enumerate(names)
    ]
    grids = [(tables or {}).get(name, ()) for name in names]
    boxes = [_size(name, rows) for name, rows in zip(names, lines, strict=True)]
    sizes = [_with_grid(box, grid) for box, grid in zip(boxes, grids, strict=True)]
    layout = lay_out(sizes, arcs)
    kinds = [(arc_kinds or {}).get(arc, "") for arc in arcs]
    marks = [(ends or {}).get(arc, _ARC) for arc in arcs]
    parts = [_arc(curve, kind, pair) for curve, kind, pair in zip(layout.curves, kinds, marks, strict=True)]
    for i, (name, rows, size, centre) in enumerate(zip(names, lines, sizes, layout.centres, strict=True)):
        kind = "node" + " given" * (name in given) + " cut" * (name in cut)
        parts.append(_node(name, rows, size, centre, kind))
        parts.append(_grid(grids[i], centre[0] - size[0] / 2, centre[1] - size[1] / 2 + boxes[i][1]))
    return Drawing(_page(layout, parts, legend or {}), layout.crossings)


# Boxes that a page lays out with care: more take seconds.
MOST_WITH_CARE = 300


@dataclass(frozen=True)
class Geometry:
    """The positions of boxes and arcs of a drawing with bars, for a page that draws it itself.

    Attributes
    ----------
    layout : Layout
        Centres of boxes, curves of arcs, the size of the whole.
    sizes : list of (width, height)
        The boxes.
    label_rooms : list of float
        The width of the states' names in each box.
    shown : list of int
        The number of states with a line; where some have none, one more line sums them up.
    """

    layout: Layout
    sizes: list[tuple[float, float]]
    label_rooms: list[float]
    shown: list[int]


def network_geometry(names: Sequence[str], states: Sequence[Sequence[str]], arcs: Sequence[Arc]) -> Geometry:
    """Lay out a network with a bar for each state, up to `MAX_STATES`; a large one quickly rather than with care.

    Examples
    --------
    >>> geometry = network_geometry(["Storm", "Rain"], [["no", "yes"], ["no", "yes"]], [(0, 1)])
    >>> geometry.shown, geometry.sizes[0][1] == FONT + 2 * PAD + 2 * ROW + 4
    ([2, 2], True)
    """
    shown = [len(rows) if len(rows) <= MAX_STATES else MAX_STATES - 1 for rows in states]
    lines = [
        [_Line(state, 0.0) for state in rows[:k]] + ([] if k == len(rows) else [_Line("999 others", 0.0)])
        for rows, k in zip(states, shown, strict=True)
    ]
    sizes = [_size(name, rows) for name, rows in zip(names, lines, strict=True)]
    placed = lay_out(sizes, arcs) if len(names) <= MOST_WITH_CARE else overview(sizes, arcs)
    return Geometry(placed, sizes, [_label_room(rows) for rows in lines], shown)


def _lines(states: Sequence[str], p: Sequence[float]) -> list[_Line]:
    lines = [_Line(state, float(share)) for state, share in zip(states, p, strict=True)]
    if len(lines) <= MAX_STATES:
        return lines
    likeliest = sorted(range(len(lines)), key=lambda k: -lines[k].p)[: MAX_STATES - 1]
    rest = sum(line.p for k, line in enumerate(lines) if k not in likeliest)
    return [lines[k] for k in sorted(likeliest)] + [_Line(f"{len(lines) - len(likeliest)} others", rest)]


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is in a sans serif font; Chinese, Japanese and Korean characters are squares."""
    width = 0.0
    for sign in text:
        if unicodedata.east_asian_width(sign) in "WF":
            width += 1.0
        elif sign in "iljtfrI.,:;|!'()[] -/":
            width += 0.34
        elif sign in "mwMW@%":
            width += 0.9
        elif sign.isupper() or sign in "_=+<>#&":
            width += 0.7
        else:
            width += 0.57
    return width * size


def _shortened(text: str, size: float, limit: float) -> str:
    if text_width(text, size) <= limit:
        return text
    while text and text_width(text + "…", size) > limit:
        text = text[:-1]
    return text + "…"


def _size(name: str, lines: list[_Line]) -> tuple[float, float]:
    width = text_width(name, FONT) * 1.12 + 2 * PAD
    if not lines:
        return max(width, 44.0), FONT + 2 * PAD
    return max(width, _label_room(lines) + BAR + PERCENT + 2 * PAD), FONT + 2 * PAD + ROW * len(lines) + 4


def _column_widths(grid: Rows) -> list[float]:
    columns = zip(*grid, strict=True)
    return [max(text_width(cell, FONT_STATE) for cell in column) + COLUMN_GAP for column in columns]


def _with_grid(box: tuple[float, float], grid: Rows) -> tuple[float, float]:
    """Return the size of a box that has a table below its name and bars."""
    if not grid:
        return box
    return max(box[0], sum(_column_widths(grid)) - COLUMN_GAP + 2 * PAD), box[1] + ROW * len(grid) + 6


def _grid(grid: Rows, left: float, top: float) -> str:
    """Return a table of texts, its first row as the heading."""
    if not grid:
        return ""
    parts, y = [], top + 4
    for k, row in enumerate(grid):
        x = left + PAD
        for cell, width in zip(row, _column_widths(grid), strict=True):
            weight = ' font-weight="600"' if k == 0 else ""
            parts.append(f'<text class="state"{weight} x="{x:.1f}" y="{y + 10:.1f}">{_text(cell)}</text>')
            x += width
        y += ROW
    return "".join(parts)


def _label_room(lines: list[_Line]) -> float:
    return min(max(text_width(line.label, FONT_STATE) for line in lines), MAX_STATE_WIDTH) + 6


def _node(name: str, lines: list[_Line], size: tuple[float, float], centre: tuple[float, float], kind: str) -> str:
    width, height = size
    left, top = centre[0] - width / 2, centre[1] - height / 2
    label = _text(name)
    parts = [
        f'<g class="{kind}"><title>{label}</title>',
        f'<rect class="box" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>',
        f'<text class="name" x="{centre[0]:.1f}" y="{top + PAD + FONT - 2.5:.1f}">{label}</text>',
    ]
    if lines:
        y = top + FONT + 2 * PAD - 2
        parts.append(f'<path class="rule" d="M{left:.1f} {y - 3:.1f}H{left + width:.1f}"/>')
        start = left + PAD + _label_room(lines)
        room = left + width - PAD - PERCENT - start
        for line in lines:
            shown = _text(_shortened(line.label, FONT_STATE, MAX_STATE_WIDTH))
            bar = f'x="{start:.1f}" y="{y + 2.5:.1f}" height="9" rx="1.5"'
            parts += [
                f'<text class="state" x="{left + PAD:.1f}" y="{y + 10:.1f}">{shown}</text>',
                f'<rect class="back" {bar} width="{room:.1f}"/><rect class="bar" {bar} width="{room * line.p:.2f}"/>',
                f'<text class="p" x="{left + width - PAD:.1f}" y="{y + 10:.1f}">{100 * line.p:.1f} %</text>',
            ]
            y += ROW
    return "".join([*parts, "</g>"])


_ARC: Ends = ("none", "arrow")


def _arc(curve: list[tuple[float, float]], kind: str = "", ends: Ends = _ARC) -> str:
    (x, y), rest = curve[0], curve[1:]
    end_x, end_y = rest[-1]
    style = f" {kind}" if kind else ""
    # Lines leave a box downwards. A line ends where its mark begins, so that no line shows beside or inside the mark.
    heads = _mark(ends[0], x, y, 1, style) + _mark(ends[1], end_x, end_y, -1, style)
    y += _ROOM[ends[0]]
    rest = [*rest[:-1], (end_x, end_y - _ROOM[ends[1]])]
    steps = "".join("C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in rest[k : k + 3]) for k in range(0, len(rest), 3))
    return f'<path class="arc{style}" d="M{x:.1f} {y:.1f}{steps}"/>{heads}'


_ROOM: dict[Mark, float] = {"arrow": 6.0, "circle": 7.0, "none": 0.0}


def _mark(mark: Mark, x: float, y: float, side: int, style: str) -> str:
    """Return a mark at a box; ``side`` is 1 below it and −1 above it."""
    if mark == "none":
        return ""
    if mark == "circle":
        return f'<circle class="ring{style}" cx="{x:.1f}" cy="{y + 3.5 * side:.1f}" r="3.5"/>'
    return f'<path class="tip{style}" d="M{x:.1f} {y:.1f}l-3.6 {7.5 * side:g}h7.2z"/>'


def _legend(legend: Mapping[str, str], top: float) -> list[str]:
    parts = []
    for k, (kind, meaning) in enumerate(legend.items()):
        y = top + ROW * (k + 1)
        parts.append(f'<path class="arc {kind}" d="M0 {y - 3.5:.1f}h26"/>')
        parts.append(f'<text class="state" x="34" y="{y:.1f}">{_text(meaning)}</text>')
    return parts


def _page(layout: Layout, parts: list[str], legend: Mapping[str, str]) -> str:
    lines = _legend(legend, layout.height + PAD)
    wide = max([layout.width, *(34 + text_width(meaning, FONT_STATE) for meaning in legend.values())])
    tall = layout.height + (PAD + ROW * len(legend) + 4 if legend else 0.0)
    width, height = wide + 2 * MARGIN, tall + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {MADE_BY} width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-MARGIN:.0f} {-MARGIN:.0f} {width:.0f} {height:.0f}"><style>{STYLE}</style>'
        f'<rect x="{-MARGIN:.0f}" y="{-MARGIN:.0f}" width="{width:.0f}" height="{height:.0f}" fill="#fff"/>'
        + "\n".join([*parts, *lines])
        + "</svg>\n"
    )
