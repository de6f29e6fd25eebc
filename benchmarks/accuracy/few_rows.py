"""TAN on tables of few rows: all edges of the tree, edges that pay for their parameters, back-off, naive Bayes.

``python -m benchmarks.accuracy.few_rows`` prints the means over 28 tables, five random samples of each size.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayeskit import TAN, NaiveBayes
from benchmarks.accuracy.tables import DATA, load

SIZES, REPEATS, MOST_TESTED, MOST_READ = (30, 60, 120, 500), 5, 2000, 20_000
TABLES = [
    "anneal",
    "balance-scale",
    "breast-w",
    "car",
    "cmc",
    "colic",
    "credit-a",
    "credit-g",
    "dermatology",
    "diabetes",
    "heart-c",
    "heart-statlog",
    "hypothyroid",
    "ionosphere",
    "kr-vs-kp",
    "led24",
    "lymph",
    "mushroom",
    "nursery",
    "penguins",
    "phishing",
    "sick",
    "spect",
    "tae",
    "titanic",
    "vote",
    "waveform-5000",
    "wine",
]
MODELS: dict[str, Callable[[], Any]] = {
    "NaiveBayes": NaiveBayes,
    "naive Bayes, MDL bins": lambda: NaiveBayes(numeric="mdl", smoothing=0.25),
    "TAN, all edges": lambda: TAN(),
    "TAN, all edges, back-off": lambda: TAN(smoothing="back-off"),
    "TAN": lambda: TAN(edges="penalized"),
}


def samples() -> Iterator[tuple[str, int, pd.DataFrame, pd.Series, pd.DataFrame, pd.Series]]:
    """Each table at each size: rows to learn from, and other rows of the classes that these have."""
    schemas = json.loads((DATA / "schema.json").read_text())
    paths = {Path(name).name.split(".")[0]: name for name in schemas if name.startswith("tabular/")}
    for table in TABLES:
        X, y = load(paths[table], schemas[paths[table]])
        if len(X) > MOST_READ:
            kept = np.random.default_rng(0).permutation(len(X))[:MOST_READ]
            X, y = X.iloc[kept].reset_index(drop=True), y.iloc[kept].reset_index(drop=True)
        for size in (n for n in SIZES if n <= 0.67 * len(X)):
            for repeat in range(REPEATS):
                order = np.random.default_rng(1000 * repeat + size).permutation(len(X))
                train, test = order[:size], order[size : size + MOST_TESTED]
                test = test[np.isin(y.iloc[test], y.iloc[train].unique())]
                if y.iloc[train].nunique() > 1:
                    yield table, size, X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test]


def scores(model: Any, X: pd.DataFrame, y: pd.Series) -> tuple[float, float]:
    """Error and log-loss."""
    posterior, code = model.predict_proba(X), np.searchsorted(model.classes_, y.to_numpy())
    true = np.maximum(posterior[np.arange(len(code)), code], 1e-12)
    return float((posterior.argmax(axis=1) != code).mean()), float(-np.log(true).mean())


def main() -> None:
    """Print the means."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sample may have a column without a value
        for table, size, X, y, X_test, y_test in samples():
            for name, make in MODELS.items():
                error, log_loss = scores(make().fit(X, y), X_test, y_test)
                found.append((size, name, table, error, log_loss))
    rows = pd.DataFrame(found, columns=["rows", "model", "table", "error", "log_loss"])
    by_table = rows.groupby(["rows", "model", "table"])[["error", "log_loss"]].mean()
    print(by_table.groupby(["rows", "model"]).mean().round(4).to_string())


if __name__ == "__main__":
    main()
