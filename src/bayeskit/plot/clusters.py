"""Clusters in two columns: points, and the ellipses of one and two deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.plot.canvas import finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Readable side by side for all kinds of colour vision (Okabe & Ito); more clusters begin again.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8c8c8c")


def plot_clusters(
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
    names: tuple[str, str],
    points: NDArray[np.float64] | None = None,
    labels: NDArray[np.int64] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot means (k, 2), the ellipses of covariances (k, 2, 2), and points (n, 2) in the colours of their labels."""
    ax = new_axes(ax, (6.0, 4.5))
    from matplotlib.patches import Ellipse

    for c, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        colour = COLOURS[c % len(COLOURS)]
        if points is not None and labels is not None:
            members = points[labels == c]
            ax.scatter(members[:, 0], members[:, 1], s=9, color=colour, alpha=0.45, linewidths=0)
        length, direction = np.linalg.eigh(covariance)
        angle = float(np.degrees(np.arctan2(direction[1, 1], direction[0, 1])))
        for deviations in (1, 2):
            wide, high = 2 * deviations * np.sqrt(length[::-1])
            ax.add_patch(Ellipse((mean[0], mean[1]), wide, high, angle=angle, fill=False, color=colour, linewidth=1.4))
        ax.plot(mean[0], mean[1], marker="+", color=colour, markersize=10, markeredgewidth=2, label=f"cluster {c}")
    ax.autoscale_view()
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.legend(frameon=False)
    return finish(ax)
