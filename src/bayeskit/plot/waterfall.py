"""The waterfall plot: how evidence changes the log-odds from the prior to the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.explain.explanation import Explanation
from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import BLUE, GREY, RED, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def waterfall(
    labels: Sequence[str] | Explanation,
    terms: ArrayLike | None = None,
    *,
    start: float = 0.0,
    used: ArrayLike | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw terms as steps from ``start`` to their sum, one line per term, and return the Axes.

    Parameters
    ----------
    labels : sequence of str, or Explanation
        The name of each term; or the result of ``model.explain``, which contains terms, prior and title.
    terms : array of shape (n_terms,)
        The steps; blue to the right and red to the left.
    start : float
        Where the first step begins, such as the prior log-odds.
    used : bool array of shape (n_terms,), optional
        False for terms that are not used; they are drawn grey.

    Examples
    --------
    >>> from bayeskit import NaiveBayes, datasets
    >>> model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    >>> waterfall(model.explain({"outlook": "sunny", "wind": "strong"})).get_title(loc="left")
    'log-odds of no over yes'
    """
    if isinstance(labels, Explanation):
        return _of_explanation(labels, title, ax)
    steps = np.asarray(terms, dtype=np.float64)
    if steps.ndim != 1 or len(labels) != len(steps):
        raise BayeskitError(f"a waterfall needs one label per term; got {len(labels)} labels and shape {steps.shape}.")
    if not np.isfinite(steps).all() or not np.isfinite(start):
        raise BayeskitError("a waterfall needs finite terms; an infinite one means that a class is ruled out.")
    active = np.ones(len(steps), dtype=bool) if used is None else np.asarray(used, dtype=bool)
    shown = [True, *active, True]
    n_lines = len(steps) + 2
    ax = new_axes(ax, (7.0, 0.9 + 0.34 * n_lines))
    after = start + np.cumsum(steps)
    before = after - steps
    end = float(after[-1]) if len(after) else float(start)
    reach = np.concatenate([[0.0, start], after])
    span = float(np.ptp(reach)) or 1.0
    colours = [GREY if not on else BLUE if step >= 0 else RED for on, step in zip(active, steps, strict=True)]
    ax.barh([0, n_lines - 1], [start, end], color="#404040", height=0.55)
    ax.barh(np.arange(1, n_lines - 1), steps, left=before, color=colours, height=0.55)
    joints = np.concatenate([[start], after])
    ax.vlines(joints, np.arange(n_lines - 1) - 0.28, np.arange(1, n_lines) + 0.28, color=GREY, lw=0.7, zorder=0)
    ax.axvline(0.0, color="black", lw=0.8)
    right = np.concatenate([[max(start, 0.0)], np.maximum(before, after), [max(end, 0.0)]])
    for line, (place, number) in enumerate(zip(right, (start, *steps, end), strict=True)):
        text = f"{number:+.2f}" if shown[line] else ""
        ax.text(place + 0.012 * span, line, text, va="center", ha="left", fontsize="small")
    ax.set_yticks(np.arange(n_lines), ["prior", *labels, "posterior"])
    for tick, on in zip(ax.get_yticklabels(), shown, strict=True):
        tick.set_color("black" if on else GREY)
    ax.set_ylim(n_lines - 0.4, -0.6)
    ax.set_xlim(reach.min() - 0.03 * span, reach.max() + 0.13 * span)
    ax.set_xlabel(translated_label("log-odds"))
    ax.set_title(title, loc="left")
    ax.tick_params(axis="y", length=0)
    return finish(ax)


def _of_explanation(explanation: Explanation, title: str, ax: Axes | None) -> Axes:
    a, b = explanation.classes
    labels, terms, used = zip(*explanation.steps(), strict=True) if explanation.steps() else ((), (), ())
    title = title or f"log-odds of {a} over {b}"
    return waterfall(labels, terms, start=explanation.prior, used=used, title=title, ax=ax)
