"""Posteriors over hypotheses as evidence comes in: bars after some examples, curves over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.errors import BayeskitError
from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import BLUE, GREY, RED, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The other colours of Okabe & Ito.
_COLOURS = (BLUE, "#E69F00", "#009E73", RED, GREY, "#CC79A7", "#56B4E9", "#F0E442")
_STYLES = ("-", "--", ":", "-.")
# Names of more hypotheses than these cannot be read along the axis.
_MOST_NAMES = 20


def posterior_bars(
    posteriors: ArrayLike, names: Sequence[str], titles: Sequence[str], *, ax: Axes | None = None
) -> Axes:
    """Draw P(h | D) as bars over the hypotheses, one group of bars after the other as examples come in.

    Parameters
    ----------
    posteriors : array of shape (n_steps, n_hypotheses)
        One distribution per step.
    names : sequence of str
        The hypotheses.
    titles : sequence of str
        The title of each step, such as "prior" and "after 2 examples".

    References
    ----------
    Mitchell (1997), Machine Learning, figure 6.1.

    Examples
    --------
    >>> ax = posterior_bars([[0.5, 0.5], [0.25, 0.75]], ["fair", "loaded"], ["prior", "after a six"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['fair', 'loaded', 'fair', 'loaded']
    """
    values = _checked(posteriors, len(names))
    if len(titles) != len(values):
        raise BayeskitError(f"posterior_bars needs one title for each of {len(values)} steps; got {len(titles)}.")
    n_steps, n = values.shape
    ax = new_axes(ax, (min(3.0 + 0.24 * n_steps * n, 14.0), 3.2))
    gap = max(1.0, 0.12 * n)
    starts = np.arange(n_steps) * (n + gap)
    places = (starts[:, None] + np.arange(n)).ravel()
    ax.bar(places, values.ravel(), width=0.85 if n <= 40 else 1.0, color=BLUE)
    for start, title in zip(starts, titles, strict=True):
        ax.text(start + (n - 1) / 2, 1.02, title, ha="center", va="bottom", transform=ax.get_xaxis_transform())
    if n <= _MOST_NAMES:
        long = max(map(len, names)) * n * n_steps > 60
        ax.set_xticks(places, list(names) * n_steps, rotation=60 if long else 0, ha="right" if long else "center")
    else:
        ax.set_xticks(starts + (n - 1) / 2, [f"{n} hypotheses"] * n_steps)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("P(h | D)")
    ax.set_ylim(0.0, max(1.0, float(values.max())) if values.max() > 0.5 else 1.15 * float(values.max()))
    return finish(ax)


def posterior_curves(posteriors: ArrayLike, names: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw P(h | D) of each hypothesis as a curve over the number of examples, and return the Axes.

    Parameters
    ----------
    posteriors : array of shape (n_examples + 1, n_hypotheses)
        The posterior after 0, 1, 2, … examples.
    names : sequence of str
        The hypotheses.

    References
    ----------
    Russell & Norvig (2021), Artificial Intelligence: A Modern Approach, 4th edition, figure 20.1 (a).

    Examples
    --------
    >>> posterior_curves([[0.5, 0.5], [0.25, 0.75]], ["fair", "loaded"]).get_xlabel()
    'number of examples'
    """
    values = _checked(posteriors, len(names))
    ax = new_axes(ax, (6.4, 3.6))
    steps = np.arange(len(values))
    for k, name in enumerate(names):
        style = _STYLES[k // len(_COLOURS) % len(_STYLES)]
        ax.plot(
            steps, values[:, k], style, color=_COLOURS[k % len(_COLOURS)], marker="." if len(steps) < 30 else None,
            label=name,
        )  # fmt: skip
    ax.set_xlabel(translated_label("number of examples"))
    ax.set_ylabel("P(h | D)")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlim(0, max(1, len(values) - 1))
    ax.locator_params(axis="x", integer=True)
    if len(names) <= _MOST_NAMES:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return finish(ax)


def _checked(posteriors: ArrayLike, n: int) -> NDArray[np.float64]:
    values = np.asarray(posteriors, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != n or not len(values):
        raise BayeskitError(
            f"posteriors must have shape (n_steps, {n}), one column per hypothesis; got {values.shape}."
        )
    if not ((values >= 0.0) & (values <= 1.0 + 1e-9)).all():
        raise BayeskitError("posteriors must hold probabilities between 0 and 1.")
    return values
