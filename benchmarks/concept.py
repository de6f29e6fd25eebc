"""Hypotheses: version spaces, brute-force MAP and MDL trees, beside scikit-learn where it has the like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import bayeskit
from benchmarks.accuracy.tables import DATA
from benchmarks.timing import Row, cpu_seconds, seconds, table, write_section

CONCEPT_LIMIT = 1.0  # CPU seconds, for version spaces and for a million hypotheses
SLOWEST_TREE = 0.33  # MDLTree takes at most three times as long as the peer's tree
MANY_CLASSES = 0.2  # and at most five times as long with many classes


def concepts(rng: np.random.Generator) -> str:
    """A version space over 20 attributes of 4 values and 1 000 examples, and a million hypotheses × 100 examples."""
    codes = rng.integers(0, 4, (1000, 20))
    codes[::2, :3] = [1, 2, 3]
    is_positive = (codes[:, :3] == [1, 2, 3]).all(axis=1)
    names = np.array(["a", "b", "c", "d"])
    days = {f"x{j}": names[codes[:, j]].tolist() for j in range(20)}
    space = bayeskit.CandidateElimination().fit(days, is_positive.tolist())
    step = bayeskit.CandidateElimination()
    wide = {f"x{j}": rng.choice([f"v{k}" for k in range(9)], 100).tolist() for j in range(6)}
    labels = (rng.random(100) < 0.5).tolist()
    brute = bayeskit.BruteForceMAP(noise=0.2).fit(wide, labels)
    lines = ["| task | bayeskit | limit |", "|---|--:|--:|"]
    for task, time in [
        (
            f"version space, 20 attributes × 4 values, 1 000 examples; G has {len(space.G_)}",
            cpu_seconds(lambda: bayeskit.CandidateElimination().fit(days, is_positive.tolist())),
        ),
        (
            "same, one example at a time, S and G kept after each",
            cpu_seconds(lambda: sklearn.base.clone(step).partial_fit(days, is_positive.tolist()), runs=3),
        ),
        ("same, vote of all hypotheses on 1 000 rows", cpu_seconds(lambda: space.votes(days))),
        (
            f"brute-force MAP, {brute.n_hypotheses_:,} hypotheses × 100 examples",
            cpu_seconds(lambda: bayeskit.BruteForceMAP(noise=0.2).fit(wide, labels)),
        ),
    ]:
        lines.append(f"| {task} | {seconds(time)} | {seconds(CONCEPT_LIMIT)} |")
    return "\n".join(lines)


def adult() -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_csv(DATA / "tabular/adult.csv.gz", keep_default_na=False, na_values=[""])
    return frame, frame.pop("class")


def trees() -> list[Row]:
    X, y = adult()
    text = [name for name in X.columns if X[name].dtype.kind not in "if"]

    def peer(encoder: Any) -> Any:
        return make_column_transformer((encoder, text), remainder="passthrough")

    hot = peer(OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    ordinal = peer(OrdinalEncoder(encoded_missing_value=-1))
    coded, wide = ordinal.fit_transform(X).astype(np.float32), hot.fit_transform(X).astype(np.float32)
    ours = cpu_seconds(lambda: bayeskit.MDLTree().fit(X, y), runs=3)
    values = cpu_seconds(lambda: bayeskit.MDLTree(splits="values").fit(X, y), runs=3)
    one = cpu_seconds(lambda: DecisionTreeClassifier(random_state=0).fit(coded, y), runs=3)
    many = cpu_seconds(lambda: DecisionTreeClassifier(random_state=0).fit(wide, y), runs=3)
    whole = cpu_seconds(lambda: DecisionTreeClassifier(random_state=0).fit(ordinal.fit_transform(X), y), runs=3)
    task = "MDLTree fit, adult, 48 842 × 14 with text and missing cells"
    return [
        Row(task, ours, "DecisionTreeClassifier, text coded as numbers beforehand", one, SLOWEST_TREE),
        Row("same", ours, "DecisionTreeClassifier, one-hot beforehand", many, SLOWEST_TREE),
        Row("same", ours, "OrdinalEncoder + DecisionTreeClassifier", whole, SLOWEST_TREE),
        Row("same, splits='values'", values, "DecisionTreeClassifier, coded beforehand", one, SLOWEST_TREE),
    ]


def many_classes(rng: np.random.Generator) -> list[Row]:
    """Labels that no column says anything about: the worst case of a tree that is grown until its leaves are pure."""
    rows = []
    for k in (10, 100, 300, 1000):
        X, y = rng.normal(size=(5_000, 5)), rng.integers(0, k, 5_000)
        ours = cpu_seconds(lambda X=X, y=y: bayeskit.MDLTree().fit(X, y), runs=3)  # type: ignore[misc]
        one = cpu_seconds(lambda X=X, y=y: DecisionTreeClassifier(random_state=0).fit(X, y), runs=3)  # type: ignore[misc]
        rows.append(
            Row(f"MDLTree fit, noise, 5 000 × 5, {k} classes", ours, "DecisionTreeClassifier", one, MANY_CLASSES)
        )
    return rows


def units(rng: np.random.Generator) -> list[Row]:
    X = rng.normal(size=(100_000, 20))
    d = X @ rng.normal(size=20) + rng.normal(size=100_000)
    y = d > 0.3 * rng.logistic(size=100_000)
    logistic = LogisticRegression(C=np.inf, tol=1e-4)
    assert np.allclose(bayeskit.LeastSquares().fit(X, d).coef_, LinearRegression().fit(X, d).coef_)
    unit = bayeskit.SigmoidUnit(solver="lbfgs")
    assert np.allclose(unit.fit(X, y).coef_, logistic.fit(X, y).coef_, rtol=0.02, atol=0.02)
    line = cpu_seconds(lambda: bayeskit.LeastSquares().fit(X, d), runs=3)
    return [
        Row("LeastSquares, 1e5 × 20", line, "LinearRegression", cpu_seconds(lambda: LinearRegression().fit(X, d), 3)),
        Row(
            "SigmoidUnit(solver='lbfgs'), 1e5 × 20",
            cpu_seconds(lambda: bayeskit.SigmoidUnit(solver="lbfgs").fit(X, y), runs=3),
            "LogisticRegression without penalty",
            cpu_seconds(lambda: logistic.fit(X, y), runs=3),
        ),
    ]


def main() -> None:
    rng = np.random.default_rng(0)
    with bayeskit.threads(1), threadpool_limits(1):
        beside_peers = table([*trees(), *many_classes(rng), *units(rng)])
        body = f"scikit-learn {sklearn.__version__}\n\n{concepts(rng)}\n\n{beside_peers}"
    write_section("Hypotheses", "python -m benchmarks concept", body)
