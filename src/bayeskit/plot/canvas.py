"""Shared by all plots: axes, colours, and a font that has all characters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitWarning
from bayeskit.result import AGAINST, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Readable side by side for all kinds of colour vision (Okabe & Ito).
BLUE, RED, GREY = FOR, AGAINST, "#8c8c8c"

# Families that hold Chinese, in the order of preference.
CJK_FAMILIES = (
    "Noto Sans CJK SC", "Source Han Sans SC", "Source Han Sans CN", "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK JP", "Noto Sans CJK TC", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "SimHei", "Droid Sans Fallback", "Arial Unicode MS", "AR PL UMing CN", "SimSun",
)  # fmt: skip


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'bayeskit[plot]'.") from error
    axes: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    return axes


def draw_cells(
    ax: Axes,
    shade: NDArray[np.float64],
    texts: NDArray[np.str_],
    rows: Sequence[Any],
    columns: Sequence[Any],
    **colours: Any,
) -> None:
    """Draw a matrix of cells with a text in each, white where the cell is dark; the names stand beside."""
    ax.imshow(shade, aspect="auto", **colours)
    for i, j in np.ndindex(*shade.shape):
        dark = abs(shade[i, j]) > 0.6 * colours["vmax"]
        ax.text(j, i, str(texts[i, j]), ha="center", va="center", color="white" if dark else "black")
    ax.set_xticks(range(len(columns)), [str(name) for name in columns])
    ax.set_yticks(range(len(rows)), [str(name) for name in rows])
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def finish(ax: Axes) -> Axes:
    """Remove the top and right spines, and give every text a font that has its characters."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    choose_fonts(ax)
    return ax


def choose_fonts(ax: Axes) -> None:
    """Give the texts of the axes a font for characters that the usual font lacks, or warn which none has."""
    from matplotlib.text import Text

    texts = [text for text in ax.findobj(Text) if text.get_text()]
    usual = texts[0].get_fontfamily() if texts else ["sans-serif"]
    lacking = {char for text in texts for char in text.get_text() if not char.isspace()} - _characters(usual)
    if not lacking:
        return
    family = _family_with(frozenset(lacking))
    if family is None:
        shown = "".join(sorted(lacking)[:20])
        warnings.warn(
            f"no font on this machine has the characters {shown!r}, so the picture shows boxes in their place; install "
            "a font that has them, such as Noto Sans CJK.",
            BayeskitWarning,
            stacklevel=4,
        )
        return
    for text in texts:
        if lacking.intersection(text.get_text()):
            text.set_fontfamily([*usual, family])


@lru_cache(maxsize=64)
def _character_set(path: str) -> frozenset[str]:
    from matplotlib.ft2font import FT2Font

    return frozenset(chr(code) for code in FT2Font(path).get_charmap())


def _characters(families: list[str]) -> frozenset[str]:
    from matplotlib.font_manager import FontProperties, findfont

    return frozenset().union(*(_character_set(findfont(FontProperties(family=[name]))) for name in families))


@cache
def _font_files() -> dict[str, str]:
    """Return the file of each family; fonts that were installed after matplotlib made its list are looked for too."""
    from matplotlib import font_manager

    manager = font_manager.fontManager
    if not any(entry.name in CJK_FAMILIES for entry in manager.ttflist):
        listed = {entry.fname for entry in manager.ttflist}
        for path in font_manager.findSystemFonts():
            if path not in listed:
                with suppress(RuntimeError, OSError):  # a file that is no font that matplotlib reads
                    manager.addfont(path)
    return {entry.name: entry.fname for entry in manager.ttflist}


@lru_cache(maxsize=64)
def _family_with(lacking: frozenset[str]) -> str | None:
    """Return the first family that has all these characters."""
    paths = _font_files()
    present = (family for family in CJK_FAMILIES if family in paths)
    return next((family for family in present if lacking <= _character_set(paths[family])), None)
