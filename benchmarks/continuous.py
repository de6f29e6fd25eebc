"""Gaussian classes and logistic regression beside scikit-learn's discriminant analysis and its solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import bayeskit
from benchmarks.timing import Row, cpu_seconds, table, write_section


def gaussian(rng: np.random.Generator) -> list[Row]:
    """A full covariance for each of 5 classes, 1e6 × 20."""
    y = rng.integers(0, 5, 1_000_000)
    X = rng.normal(size=(1_000_000, 20)) + rng.normal(size=(5, 20))[y]
    peer, ours = QuadraticDiscriminantAnalysis().fit(X, y), bayeskit.GaussianBayes().fit(X, y)
    some = X[:200_000]
    return [
        Row(
            "full covariance, fit, 1e6 × 20, 5 classes",
            cpu_seconds(lambda: bayeskit.GaussianBayes().fit(X, y).means_, runs=3),
            "QuadraticDiscriminantAnalysis",
            cpu_seconds(lambda: QuadraticDiscriminantAnalysis().fit(X, y), runs=2),
            2,
        ),
        Row(
            "same, predict_proba of 200 000 rows",
            cpu_seconds(lambda: ours.predict_proba(some), runs=3),
            "QuadraticDiscriminantAnalysis",
            cpu_seconds(lambda: peer.predict_proba(some), runs=2),
        ),
    ]


def logistic(rng: np.random.Generator, n_rows: int, n_columns: int, n_classes: int, task: str) -> list[Row]:
    """Maximum likelihood to the same gradient: the peer's solvers stop where they do, and ours goes at least as far."""
    X = rng.normal(size=(n_rows, n_columns))
    scores = X @ (0.3 * rng.normal(size=(n_columns, n_classes))) + rng.gumbel(size=(n_rows, n_classes))
    y = scores.argmax(axis=1)
    settings: dict[str, Any] = {"C": np.inf, "tol": 1e-4, "max_iter": 1000}
    solvers = ("lbfgs", "newton-cholesky") if n_classes == 2 else ("lbfgs",)
    times = {s: cpu_seconds(lambda s=s: LogisticRegression(solver=s, **settings).fit(X, y), runs=2) for s in solvers}
    best = min(times, key=lambda solver: times[solver])
    reached = gradient(X, y, LogisticRegression(solver=best, **settings).fit(X, y))

    def fit(errors: bool) -> bayeskit.LogisticRegression:
        return bayeskit.LogisticRegression(tol=reached, standard_errors=errors).fit(X, y)

    assert gradient(X, y, fit(False)) <= reached * (1 + 1e-6)
    rows = [Row(f"{task}, gradient {reached:.1e}", cpu_seconds(lambda: fit(False), runs=2), best, times[best], 1)]
    if n_classes == 2:
        rows.append(
            Row("same, with standard errors", cpu_seconds(lambda: fit(True), runs=2), f"{best} (none)", times[best])
        )
    return rows


def gradient(X: np.ndarray, y: np.ndarray, model: Any) -> float:
    """The largest entry of the gradient per row, for inputs of deviation 1."""
    p = model.predict_proba(X)
    p[np.arange(len(y)), y] -= 1.0
    return float(max(abs(p.T @ (X - X.mean(axis=0)) / X.std(axis=0)).max(), abs(p.sum(axis=0)).max()) / len(y))


def main() -> None:
    rng = np.random.default_rng(0)
    with threadpool_limits(1), bayeskit.threads(1):
        rows = [
            *gaussian(rng),
            *logistic(rng, 1_000_000, 50, 2, "logistic regression, 1e6 × 50, 2 classes"),
            *logistic(rng, 100_000, 50, 20, "logistic regression, 1e5 × 50, 20 classes"),
        ]
    text = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}; maximum likelihood without a penalty\n\n"
    write_section("Gaussian classes and logistic regression", "python -m benchmarks continuous", text + table(rows))
