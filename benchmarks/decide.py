"""Decisions and explanations: the action of least risk beside the bare matrix product, evidence beside hide-and-ask."""

from __future__ import annotations

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import bayeskit
from bayeskit.decide.risk import bayes_action, expected_loss
from benchmarks.timing import Row, cpu_seconds, seconds, table, wall_seconds, write_section

ROWS, CLASSES, ACTIONS = 1_000_000, 10, 12
EXPLAINED, FEATURES, VALUES = 1_000, 50, 8
EXPLAIN_LIMIT = 0.050  # CPU seconds


def decision_rows(rng: np.random.Generator) -> list[Row]:
    posterior, loss = rng.dirichlet(np.ones(CLASSES), ROWS), rng.random((CLASSES, ACTIONS))
    names = f"{ROWS:.0e} × {CLASSES} posteriors, {CLASSES} × {ACTIONS} loss".replace("e+0", "e")
    assert np.array_equal(bayes_action(posterior, loss), (posterior @ loss).argmin(axis=1))
    product = cpu_seconds(lambda: posterior @ loss)
    by_numpy = cpu_seconds(lambda: (posterior @ loss).argmin(axis=1))
    both = cpu_seconds(lambda: (posterior @ loss).min(axis=1))
    decide = cpu_seconds(lambda: bayes_action(posterior, loss))
    return [
        Row(f"decide, posteriors checked, {names}", decide, "NumPy product, argmin, no check", by_numpy, 1),
        Row("same", decide, "NumPy product alone", product, None),
        Row("expected loss", cpu_seconds(lambda: expected_loss(posterior, loss)), "NumPy product, min", both, None),
    ]


def explanation_rows(rng: np.random.Generator) -> list[Row]:
    X, y = rng.integers(0, VALUES, (EXPLAINED, FEATURES)), rng.integers(0, 5, EXPLAINED)
    model = bayeskit.NaiveBayes(kinds="categorical").fit(X, y)
    hidden = np.repeat(X.astype(float), FEATURES + 1, axis=0)
    for step in range(FEATURES + 1):
        hidden[step :: FEATURES + 1, step:] = np.nan

    def by_hiding() -> object:
        return np.diff(model.predict_log_proba(hidden).reshape(EXPLAINED, FEATURES + 1, -1), axis=1)

    ours = cpu_seconds(lambda: model.explain_rows(X))
    return [
        Row(
            f"explain, naive Bayes, {EXPLAINED} rows × {FEATURES} features (limit {seconds(EXPLAIN_LIMIT)})",
            ours,
            "hide and ask again, our predict",
            cpu_seconds(by_hiding),
            None,
        )
    ]


def two_threads(rng: np.random.Generator) -> str:
    posterior, loss = rng.dirichlet(np.ones(CLASSES), ROWS), rng.random((CLASSES, ACTIONS))
    times = []
    for n in (1, 2):
        with bayeskit.threads(n):
            times.append(wall_seconds(lambda: bayes_action(posterior, loss)))
    one, two = times
    lines = ["| wall time | one thread | two threads | gain |", "|---|--:|--:|--:|"]
    return "\n".join([*lines, f"| decide | {seconds(one)} | {seconds(two)} | {one / two:.2f} × |"])


def main() -> None:
    rng = np.random.default_rng(0)
    with bayeskit.threads(1), threadpool_limits(1):
        rows = [*decision_rows(rng), *explanation_rows(rng)]
    body = f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}\n\n{table(rows)}\n\n{two_threads(rng)}"
    write_section("Decisions and explanations", "python -m benchmarks decide", body)
