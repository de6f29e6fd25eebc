"""Naive Bayes beside scikit-learn: fit and predict on coded tables, numbers and strings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import sklearn
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

import bayeskit
from benchmarks.timing import Row, cpu_seconds, seconds, table, wall_seconds, write_section

ROWS, COLUMNS, VALUES, CLASSES = 1_000_000, 50, 8, 5


def categorical_rows(rng: np.random.Generator) -> list[Row]:
    X = rng.integers(0, VALUES, (ROWS, COLUMNS))
    y = rng.integers(0, CLASSES, ROWS)
    narrow = X.astype(np.uint8)
    frame = pd.DataFrame(
        {f"x{j}": pd.Categorical.from_codes(X[:, j], categories=range(VALUES)) for j in range(COLUMNS)}
    )
    peer, ours = CategoricalNB().fit(X, y), bayeskit.NaiveBayes(kinds="categorical").fit(X, y)
    fit = cpu_seconds(lambda: CategoricalNB().fit(X, y), 2)
    predict = cpu_seconds(lambda: peer.predict_log_proba(X), 2)
    names = f"{ROWS:.0e} × {COLUMNS}, {VALUES} values, {CLASSES} classes".replace("e+0", "e")

    def learn(data: object) -> float:
        return cpu_seconds(lambda: bayeskit.NaiveBayes(kinds="categorical").fit(data, y))

    return [
        Row(f"categorical fit, int64 codes, {names}", learn(X), "CategoricalNB", fit, 40),
        Row("same, uint8 codes", learn(narrow), "CategoricalNB", fit, 80),
        Row("same, pandas categorical dtype", learn(frame), "CategoricalNB", fit, 80),
        Row(
            "categorical predict_log_proba", cpu_seconds(lambda: ours.predict_log_proba(X)), "CategoricalNB", predict, 8
        ),
    ]


def gaussian_rows(rng: np.random.Generator) -> list[Row]:
    X, y = rng.normal(size=(ROWS, COLUMNS)), rng.integers(0, CLASSES, ROWS)
    peer, ours = GaussianNB().fit(X, y), bayeskit.NaiveBayes().fit(X, y)
    return [
        Row(
            "Gaussian fit",
            cpu_seconds(lambda: bayeskit.NaiveBayes().fit(X, y)),
            "GaussianNB",
            cpu_seconds(lambda: GaussianNB().fit(X, y), 3),
            12,
        ),
        Row(
            "Gaussian predict_log_proba",
            cpu_seconds(lambda: ours.predict_log_proba(X)),
            "GaussianNB",
            cpu_seconds(lambda: peer.predict_log_proba(X), 3),
            7,
        ),
    ]


def string_rows(rng: np.random.Generator) -> list[Row]:
    words = np.array([f"value-{v}" for v in range(VALUES)], dtype=object)
    y = rng.integers(0, CLASSES, ROWS)
    rows = []
    for dtype in (object, "str"):
        columns = {f"x{j}": pd.Series(words[rng.integers(0, VALUES, ROWS)], dtype=dtype) for j in range(20)}
        frame = pd.DataFrame(columns)

        def peer(frame: pd.DataFrame = frame) -> object:
            return CategoricalNB().fit(OrdinalEncoder(dtype=np.int64).fit_transform(frame), y)

        theirs = cpu_seconds(peer, 1)
        ours = cpu_seconds(lambda frame=frame: bayeskit.NaiveBayes().fit(frame, y), 3)  # type: ignore[misc]
        name = f"pandas strings ({getattr(dtype, '__name__', dtype)} dtype), 1e6 × 20, fit"
        rows.append(Row(name, ours, "OrdinalEncoder + CategoricalNB", theirs, 8))
    return rows


def one_row(rng: np.random.Generator) -> list[Row]:
    X, y = rng.integers(0, VALUES, (10_000, COLUMNS)), rng.integers(0, CLASSES, 10_000)
    peer, ours = CategoricalNB().fit(X, y), bayeskit.NaiveBayes(kinds="categorical").fit(X, y)
    row = X[:1]
    times = [
        cpu_seconds(lambda model=model: [model.predict_proba(row) for _ in range(500)]) / 500  # type: ignore[misc]
        for model in (ours, peer)
    ]
    return [Row("one row of 50 columns, predict_proba", times[0], "CategoricalNB", times[1], None)]


def two_threads(rng: np.random.Generator) -> str:
    X, Z, y = (
        rng.integers(0, VALUES, (ROWS, COLUMNS)),
        rng.normal(size=(ROWS, COLUMNS)),
        rng.integers(0, CLASSES, ROWS),
    )
    discrete, gaussian = bayeskit.NaiveBayes(kinds="categorical").fit(X, y), bayeskit.NaiveBayes().fit(Z, y)
    tasks = {
        "categorical fit": lambda: bayeskit.NaiveBayes(kinds="categorical").fit(X, y),
        "categorical predict_log_proba": lambda: discrete.predict_log_proba(X),
        "Gaussian fit": lambda: bayeskit.NaiveBayes().fit(Z, y),
        "Gaussian predict_log_proba": lambda: gaussian.predict_log_proba(Z),
    }
    lines = ["| wall time | one thread | two threads | gain |", "|---|--:|--:|--:|"]
    for name, work in tasks.items():
        with bayeskit.threads(1):
            one = wall_seconds(work)
        with bayeskit.threads(2):
            two = wall_seconds(work)
        lines.append(f"| {name} | {seconds(one)} | {seconds(two)} | {one / two:.2f} × |")
    return "\n".join(lines)


def main() -> None:
    rng = np.random.default_rng(0)
    with bayeskit.threads(1):
        rows = [*categorical_rows(rng), *gaussian_rows(rng), *string_rows(rng), *one_row(rng)]
    body = f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}, pandas {pd.__version__}\n\n{table(rows)}\n\n"
    write_section("Naive Bayes", "python -m benchmarks naive", body + two_threads(rng))
