"""The reliability curve: whether events with predicted probability p happen with frequency p."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.errors import BayeskitError
from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import BLUE, GREY, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Z = 1.959963984540054  # the 97.5 % point of the normal distribution


def reliability_curve(
    happened: ArrayLike,
    probability: ArrayLike,
    *,
    bins: int = 10,
    label: str | None = None,
    color: str = BLUE,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often an event happened against the probability it was given, and return the Axes.

    Points are the means of equally wide bins, with 95 % Wilson intervals; grey bars count the rows of each bin. The
    legend gives the expected calibration error. A second call on the same Axes adds another model.

    Parameters
    ----------
    happened : array of shape (n_rows,)
        1 or True where the event (such as "the class is yes") happened.
    probability : array of shape (n_rows,)
        The probability it was given.
    """
    truth, p = np.asarray(happened, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    if truth.shape != p.shape or truth.ndim != 1 or not len(truth):
        raise BayeskitError(
            f"happened and probability must be two columns of one length; got shapes {truth.shape} and {p.shape}."
        )
    if not (np.isin(truth, (0.0, 1.0)).all() and (p >= 0).all() and (p <= 1).all()):
        raise BayeskitError("happened must be 0 or 1 in every row, and probability between 0 and 1.")
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    rows = np.bincount(place, minlength=bins).astype(np.float64)
    filled = rows > 0
    given = np.bincount(place, p, bins)[filled] / rows[filled]
    seen = np.bincount(place, truth, bins)[filled] / rows[filled]
    error = float((rows[filled] * np.abs(given - seen)).sum() / len(p))
    low, high = _wilson(seen, rows[filled])
    fresh = ax is None
    ax = new_axes(ax, (5.0, 5.0))
    name = f"{label}, " if label else ""
    if fresh or not ax.lines:
        ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--", label=translated_label("perfect"))
        edges = np.linspace(0, 1, bins + 1)
        share = 0.18 * rows / rows.max()
        ax.bar(edges[:-1], share, width=1 / bins, align="edge", color="#dddddd", edgecolor="white", zorder=0)
    ax.errorbar(
        given, seen, yerr=np.stack([seen - low, high - seen]),
        color=color, marker="o", ms=5, lw=1.5, elinewidth=1, capsize=2,
        label=f"{name}calibration error {error:.3f}", clip_on=False,
    )  # fmt: skip
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel=translated_label("probability given"),
        ylabel=translated_label("share that happened"),
        aspect="equal",
    )
    ax.legend(frameon=False, loc="upper left")
    return finish(ax)


def _wilson(share: NDArray[np.float64], n: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    centre = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return np.minimum(centre - half, share), np.maximum(centre + half, share)
