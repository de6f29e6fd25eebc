"""k-means: the hard mixture of Gaussians with equal weights and one known variance."""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from bayeskit.learn.state import learned
from bayeskit.mixture.covariance_shapes import Shape
from bayeskit.mixture.gaussian_mixture import GaussianMixture


class KMeans(GaussianMixture):
    r"""k-means clustering: k means with the least sum of squared distances of the rows to the nearest of them.

    .. math:: \min_{\mu} \sum_i \min_c \lVert x_i - \mu_c \rVert^2

    It is :class:`GaussianMixture` with ``covariance="fixed"`` and ``hard=True``, under scikit-learn's names. Missing
    cells take no part in a distance.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        The number of clusters; "auto" chooses it by BIC.
    init : "k-means++" or array of shape (n_clusters, n_features)
        Where to begin.
    n_init : int, default 3
        The number of starts; the best result is kept.
    tol : float, default 1e-6
        Stop when a step lowers the objective by less than this per row.
    max_iter : int, default 500
        The largest number of steps.
    random_state : int, Generator or None, default 0
        The seed of the starts.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means.
    labels_, inertia_, history_
        The cluster of each row of the fit, the sum of squared distances, and the steps.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM; Arthur & Vassilvitskii (2007), k-means++.

    Examples
    --------
    >>> from bayeskit import KMeans
    >>> model = KMeans(2).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist()), round(model.inertia_, 9)
    ([0.5, 10.5], 1.0)
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **{name: GaussianMixture._rules[name] for name in ("init", "n_init", "tol", "max_iter")},
        "n_clusters": GaussianMixture._rules["n_components"],
    }

    # What makes k-means of the mixture.
    covariance: Shape = "fixed"
    hard: bool = True
    regularization: float = 0.0

    cluster_centers_ = learned("means", "The means, of shape (n_clusters, n_features).")

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        init: Literal["k-means++"] | ArrayLike = "k-means++",
        n_init: int = 3,
        tol: float = 1e-6,
        max_iter: int = 500,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def __dir__(self) -> list[str]:
        fixed = set(signature(GaussianMixture).parameters) - set(self.get_params(deep=False))
        return [name for name in super().__dir__() if name not in fixed]

    @property
    def sigma(self) -> float | None:  # type: ignore[override]
        """None: the distances alone decide, whatever the deviation is."""
        return None

    @property
    def _n_wanted(self) -> int | str:
        return self.n_clusters
