"""The density of a real variable as a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import BLUE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def density_curve(
    x: ArrayLike,
    density: ArrayLike,
    name: str = "x",
    *,
    shaded: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the density of a real variable, and return the Axes.

    Parameters
    ----------
    x, density : arrays of shape (n_points,)
    name : str
        The variable.
    shaded : (low, high), optional
        An interval under the curve that is shaded.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 61)
    >>> density_curve(x, np.exp(-x * x / 2), "height", shaded=(-1, 1)).get_xlabel()
    'height'
    """
    at, values = np.asarray(x, dtype=np.float64), np.asarray(density, dtype=np.float64)
    if at.ndim != 1 or at.shape != values.shape:
        raise BayeskitError(f"density_curve needs x and density of one length; got {at.shape} and {values.shape}.")
    ax = new_axes(ax, (5.0, 3.2))
    ax.plot(at, values, color=BLUE)
    if shaded is not None:
        ax.fill_between(at, values, where=(at >= shaded[0]) & (at <= shaded[1]), color=BLUE, alpha=0.2, linewidth=0)
    ax.set_xlabel(name)
    ax.set_ylim(0.0, 1.08 * float(values.max()))
    return finish(ax)
