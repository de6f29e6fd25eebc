"""Mixtures by EM beside scikit-learn: the same start, the same number of steps, on the same rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture as Theirs
from threadpoolctl import threadpool_limits

import bayeskit
from bayeskit import GaussianMixture, LatentClass
from benchmarks.timing import Row, cpu_seconds, seconds, table, wall_seconds, write_section

ROWS, COLUMNS, K, STEPS = 1_000_000, 10, 8, 10
AIMS = {"diagonal": 3.0, "full": 6.0, "tied": None, "spherical": None}
PEER = {"diagonal": "diag", "full": "full", "tied": "tied", "spherical": "spherical"}


def rows(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    centres = rng.normal(size=(K, COLUMNS)) * 1.5
    return centres[rng.integers(0, K, ROWS)] + rng.normal(size=(ROWS, COLUMNS))


def start(shape: str, means: np.ndarray[Any, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    spread = {
        "full": np.repeat(np.eye(COLUMNS)[None], K, axis=0),
        "tied": np.eye(COLUMNS),
        "diagonal": np.ones((K, COLUMNS)),
        "spherical": np.ones(K),
    }[shape]
    even = np.full(K, 1.0 / K)
    ours = {"init": {"weights": even, "means": means, "covariances": spread}}
    return ours, {"weights_init": even, "means_init": means, "precisions_init": spread}


def gaussian_rows(X: np.ndarray[Any, Any], runs: int) -> list[Row]:
    found = []
    for shape, aim in AIMS.items():
        ours, theirs = start(shape, X[:K])
        mine = GaussianMixture(K, covariance=shape, tol=0, max_iter=STEPS, **ours)  # type: ignore[arg-type]
        peer = Theirs(K, covariance_type=PEER[shape], tol=0, max_iter=STEPS, init_params="random_from_data", **theirs)
        task = f"{shape} covariance, {ROWS:.0e} × {COLUMNS}, {K} components, {STEPS} steps".replace("e+0", "e")
        theirs_time = cpu_seconds(lambda peer=peer: peer.fit(X), 1)
        found.append(Row(task, cpu_seconds(lambda mine=mine: mine.fit(X), runs), "GaussianMixture", theirs_time, aim))
        assert np.allclose(mine.means_, peer.means_, atol=1e-5)
    return found


def k_means_rows(X: np.ndarray[Any, Any], runs: int) -> list[Row]:
    mine = GaussianMixture(K, covariance="fixed", hard=True, tol=0, max_iter=STEPS, init=X[:K])
    peer = KMeans(K, init=X[:K], n_init=1, tol=0, max_iter=STEPS)
    task = f"k-means, {STEPS} steps, from the same means"
    return [Row(task, cpu_seconds(lambda: mine.fit(X), runs), "KMeans", cpu_seconds(lambda: peer.fit(X), runs), 1.0)]


def own_rows(X: np.ndarray[Any, Any], rng: np.random.Generator) -> str:
    """Return what no peer does: missing cells and mixed columns; and what threads gain."""
    hidden = X[: ROWS // 10].copy()
    hidden[rng.random(hidden.shape) < 0.1] = np.nan
    init = start("full", X[:K])[0]
    full = GaussianMixture(K, tol=0, max_iter=STEPS, **init)
    codes = {f"c{j}": (X[: ROWS // 10, j] > 0).astype(str) for j in range(5)}
    numbers = {f"x{j}": X[: ROWS // 10, j] for j in range(5, 10)}
    latent = LatentClass(K, n_init=1, tol=0, max_iter=STEPS)
    lines = ["| task | bayeskit |", "|---|--:|"]
    lines.append(
        f"| full, 1e5 × 10, a tenth of the cells missing | {seconds(cpu_seconds(lambda: full.fit(hidden), 2))} |"
    )
    mixed = cpu_seconds(lambda: latent.fit({**codes, **numbers}), 2)
    lines.append(f"| latent classes, 1e5 × (5 of text + 5 of numbers), {K} classes | {seconds(mixed)} |")
    model = GaussianMixture(K, tol=0, max_iter=STEPS, **init)
    times = []
    for n in (1, 2):
        with bayeskit.threads(n):
            times.append(wall_seconds(lambda: model.fit(X), 1))
    lines.append(f"| full, 1e6 × 10, wall time with one and two threads | {seconds(times[0])}, {seconds(times[1])} |")
    return "\n".join(lines)


def main() -> None:
    rng = np.random.default_rng(0)
    X = rows(rng)
    with bayeskit.threads(1), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten steps are not enough to converge
        found = [*gaussian_rows(X, 2), *k_means_rows(X, 3)]
        rest = own_rows(X, rng)
    write_section(
        "Mixtures", "python -m benchmarks mixture", f"scikit-learn {sklearn.__version__}\n\n{table(found)}\n\n{rest}"
    )
