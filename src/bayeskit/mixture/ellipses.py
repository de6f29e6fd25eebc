"""A Gaussian mixture in two of its columns: ellipses of the components, and the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.plot.clusters import plot_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayeskit.mixture.gaussian_mixture import GaussianMixture


def plot_gaussians(model: GaussianMixture, X: Any, columns: tuple[str, str] | None, ax: Axes | None) -> Axes:
    """Plot two columns of a fitted mixture."""
    used = model._state.used.tolist()
    names = [model.schema_.names[j] for j in used]
    if len(used) < 2:
        raise BayeskitError(f"a picture needs two columns that differ between rows; there is {len(used)}.")
    a, b = _widest(model) if columns is None else (_position(name, names) for name in columns)
    cov = model._state.components.spread
    whole = cov if cov.ndim == 3 else np.stack([np.diag(each) for each in cov])
    pair = np.array([a, b])
    two = whole[np.ix_(np.arange(len(whole)), pair, pair)]
    points: NDArray[np.float64] | None = None
    labels: NDArray[np.int64] | None = None
    if X is not None:
        cells = model._encode(X)
        points = np.column_stack([np.asarray(cells[used[j]], dtype=np.float64) for j in (a, b)])
        labels = model.predict(X)
    means = model.means_[:, [used[a], used[b]]]
    return plot_clusters(means, two, (names[a], names[b]), points, labels, ax)


def _widest(model: GaussianMixture) -> tuple[int, int]:
    """Return the two columns whose means differ most between components, beside the spread within them."""
    components = model._state.components
    middle = components.weight @ components.mean
    ratio = (components.weight @ (components.mean - middle) ** 2) / (components.weight @ components.variance)
    best = np.sort(np.argsort(-ratio, kind="stable")[:2])
    return int(best[0]), int(best[1])


def _position(name: str, names: list[str]) -> int:
    if name not in names:
        raise BayeskitError(f"column {name!r} is not one of {', '.join(names)}.")
    return names.index(name)
