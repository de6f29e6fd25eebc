"""TAN, AODE, A2DE, KDB and MDL bins beside Weka, pyAgrum, pgmpy and scikit-bayes, where they are installed."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import bayeskit
from benchmarks.timing import cpu_seconds, seconds, wall_seconds, write_section

ROWS, COLUMNS, VALUES, CLASSES, TEST_ROWS = 100_000, 30, 4, 3, 10_000
WEKA = Path("/usr/share/java/weka.jar")

Times = dict[str, float]


def table(rng: np.random.Generator) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return columns that depend on the class and on the column before."""
    y = rng.integers(0, CLASSES, ROWS)
    X = rng.integers(0, VALUES, (ROWS, COLUMNS)).astype(np.uint8)
    for j in range(1, COLUMNS):
        copy = rng.random(ROWS) < 0.3
        X[copy, j] = np.where(rng.random(copy.sum()) < 0.5, X[copy, j - 1], y[copy])
    return X, y


def ours(X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, Times]:
    makers: dict[str, tuple[Callable[[], Any], int]] = {
        "TAN": (lambda: bayeskit.TAN(kinds="categorical"), 7),
        "AODE": (lambda: bayeskit.AODE(kinds="categorical"), 7),
        "KDB k = 2": (lambda: bayeskit.KDB(2, kinds="categorical"), 7),
        "selective KDB k = 2": (lambda: bayeskit.KDB(2, selective=True, kinds="categorical"), 2),
        "A2DE": (lambda: bayeskit.AODE(n_parents=2, kinds="categorical"), 3),
    }
    found = {}
    for name, (make, runs) in makers.items():
        model = make().fit(X, y)
        found[name] = {
            "fit": cpu_seconds(lambda make=make: make().fit(X, y), runs),  # type: ignore[misc]
            "predict": cpu_seconds(lambda model=model: model.predict_proba(X[:TEST_ROWS]), runs),  # type: ignore[misc]
            "leave-one-out": cpu_seconds(lambda model=model: model.leave_one_out(X, y), 1)
            if name in ("TAN", "AODE")
            else np.nan,  # type: ignore[misc]
        }
    return found


def weka(X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, Times]:
    if not WEKA.exists():
        return {}
    values = ",".join(f"v{v}" for v in range(VALUES))
    head = ["@relation table", *(f"@attribute x{j} {{{values}}}" for j in range(COLUMNS))]
    head += [f"@attribute class {{{','.join(f'c{c}' for c in range(CLASSES))}}}", "@data"]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, n in (("train", ROWS), ("test", TEST_ROWS)):
            lines = [",".join([*(f"v{v}" for v in row), f"c{c}"]) for row, c in zip(X[:n].tolist(), y[:n], strict=True)]
            paths.append(Path(folder) / f"{name}.arff")
            paths[-1].write_text("\n".join([*head, *lines]))
        source = Path(__file__).with_name("WekaPeer.java")
        command = ["java", "-cp", str(WEKA), str(source), *map(str, paths)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {name: {"fit": float(fit), "predict": float(predict)} for name, fit, predict in words}


def scikit_bayes(X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, Times]:
    if find_spec("skbn") is None:
        return {}
    import skbn

    codes = X.astype(np.int64)
    model = skbn.AnDE(n_dependence=1, alpha=1.0).fit(codes, y)
    return {
        "AODE": {
            "fit": cpu_seconds(lambda: skbn.AnDE(n_dependence=1, alpha=1.0).fit(codes, y), 2),
            "predict": cpu_seconds(lambda: model.predict_proba(codes[:TEST_ROWS]), 2),
        }
    }


def pyagrum(X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, Times]:
    if find_spec("pyagrum") is None:
        return {}
    from pyagrum.skbn import createBNClassifier

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).astype(str)
    labels = pd.Series(y.astype(str), name="class")
    model = createBNClassifier(learningMethod="TAN", prior="Smoothing", priorWeight=1)
    fit = cpu_seconds(lambda: model.fit(frame, labels), 1)
    return {"TAN": {"fit": fit, "predict": cpu_seconds(lambda: model.predict_proba(frame[:TEST_ROWS]), 1)}}


def pgmpy(X: NDArray[np.uint8], y: NDArray[np.int64]) -> dict[str, Times]:
    if find_spec("pgmpy") is None:
        return {}
    from pgmpy.estimators import TreeSearch
    from pgmpy.models import DiscreteBayesianNetwork

    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(COLUMNS)]).assign(label=y).astype("category")

    def fit() -> None:
        search = TreeSearch(frame, root_node="x0", n_jobs=1)
        dag = search.estimate(estimator_type="tan", class_node="label", show_progress=False)
        DiscreteBayesianNetwork(dag.edges()).fit(frame)

    return {"TAN": {"fit": cpu_seconds(fit, 1)}}


def bins(rng: np.random.Generator) -> list[str]:
    X = rng.normal(size=(1_000_000, 10))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] + rng.normal(size=len(X)) > 0)
    whole = cpu_seconds(lambda: bayeskit.Discretizer().fit(X, y), 3)
    lines = [f"| MDL bins, 1e6 × 10, 3 classes | {seconds(whole)} | | | ≤ 0.9 s |"]
    if find_spec("skbn") is not None:
        import skbn

        part, labels = X[:20_000, :2], y[:20_000]
        small = cpu_seconds(lambda: bayeskit.Discretizer().fit(part, labels), 5)
        theirs = cpu_seconds(lambda: skbn.MDLPDiscretizer().fit(part, labels), 1)
        lines.append(
            f"| MDL bins, 2e4 × 2 | {seconds(small)} | scikit-bayes {seconds(theirs)} | {theirs / small:.0f} × | |"
        )
    return lines


def two_threads(X: NDArray[np.uint8], y: NDArray[np.int64], rng: np.random.Generator) -> str:
    aode = bayeskit.AODE(kinds="categorical").fit(X, y)
    numbers, labels = rng.normal(size=(300_000, 8)), rng.integers(0, 3, 300_000)
    many, classes = np.tile(X, (5, 1)), np.tile(y, 5)
    tasks: dict[str, Callable[[], Any]] = {
        "AODE fit, 5e5 rows": lambda: bayeskit.AODE(kinds="categorical").fit(many, classes),
        "A2DE fit": lambda: bayeskit.AODE(n_parents=2, kinds="categorical").fit(X, y),
        "selective KDB k = 2 fit": lambda: bayeskit.KDB(2, selective=True, kinds="categorical").fit(X, y),
        "AODE predict, 1e5 rows": lambda: aode.predict_proba(X),
        "MDL bins, 3e5 × 8": lambda: bayeskit.Discretizer().fit(numbers, labels),
    }
    lines = ["| wall time | one thread | two threads | gain |", "|---|--:|--:|--:|"]
    for name, work in tasks.items():
        one = two = float("inf")
        for _ in range(20):  # in turn, so that a busy moment meets both
            with bayeskit.threads(1):
                one = min(one, wall_seconds(work, 1))
            with bayeskit.threads(2):
                two = min(two, wall_seconds(work, 1))
        lines.append(f"| {name} | {seconds(one)} | {seconds(two)} | {one / two:.2f} × |")
    return "\n".join(lines)


AIMS = {
    ("TAN", "fit"): 0.045,
    ("TAN", "predict"): 0.002,
    ("AODE", "fit"): 0.04,
    ("AODE", "predict"): 0.03,
    ("KDB k = 2", "fit"): 0.07,
}


def main() -> None:
    rng = np.random.default_rng(0)
    X, y = table(rng)
    with bayeskit.threads(1):
        mine = ours(X, y)
        peers = {peer.__name__: peer(X, y) for peer in (weka, scikit_bayes, pyagrum, pgmpy)}
        lines = ["| task | bayeskit | peer | ratio | aim |", "|---|--:|--:|--:|--:|"]
        for model, times in mine.items():
            for task, spent in times.items():
                if np.isnan(spent):
                    continue
                aim = AIMS.get((model, task))
                words = f"≤ {aim:g} s" if aim else ""
                name = f"{model} {task}" + (f", {TEST_ROWS} rows" if task == "predict" else "")
                theirs = {peer: found[model][task] for peer, found in peers.items() if task in found.get(model, {})}
                for peer, value in theirs.items():
                    label = peer.replace("scikit_bayes", "scikit-bayes")
                    lines.append(
                        f"| {name} | {seconds(spent)} | {label} {seconds(value)} | {value / spent:.0f} × | {words} |"
                    )
                if not theirs:
                    lines.append(f"| {name} | {seconds(spent)} | | | {words} |")
        lines += bins(rng)
    intro = f"n = {ROWS}, d = {COLUMNS}, {VALUES} values, {CLASSES} classes, from uint8 codes\n\n"
    body = intro + "\n".join(lines) + "\n\n" + two_threads(X, y, rng)
    write_section("Semi-naive Bayes", "python -m benchmarks seminaive", body)
