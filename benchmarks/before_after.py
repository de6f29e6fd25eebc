"""The tasks of naive, seminaive, decide, network and command in two versions of bayeskit, which take turns.

``python -m benchmarks.before_after OLD NEW`` takes the interpreter of an environment for each version. A busy moment of
the machine meets both, and the least CPU time of all rounds counts.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from inspect import signature
from pathlib import Path
from typing import Any

ROUNDS = 2
NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"
ROWS, COLUMNS, VALUES, CLASSES = 200_000, 50, 8, 5
MODELS = ("NaiveBayes", "NaiveBayes-MDL", "SPODE", "TAN", "KDB", "AODE")

Timed = Iterator[tuple[str, Callable[[], Any]]]


def naive() -> Timed:
    import numpy as np
    import pandas as pd

    from bayeskit import NaiveBayes

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, VALUES, (ROWS, COLUMNS)), rng.integers(0, CLASSES, ROWS)
    narrow = X.astype(np.uint8)
    model = NaiveBayes(kinds="categorical").fit(X, y)
    size = f"{ROWS:,} × {COLUMNS}"
    yield f"categorical fit, int64, {size}", lambda: NaiveBayes(kinds="categorical").fit(X, y)
    yield f"categorical fit, uint8, {size}", lambda: NaiveBayes(kinds="categorical").fit(narrow, y)
    yield "categorical predict_log_proba", lambda: model.predict_log_proba(X)
    yield "one row of 50 columns, predict_proba, 500 times", lambda: [model.predict_proba(X[:1]) for _ in range(500)]
    Z = rng.normal(size=(ROWS, COLUMNS))
    gaussian = NaiveBayes().fit(Z, y)
    yield f"Gaussian fit, {size}", lambda: NaiveBayes().fit(Z, y)
    yield "Gaussian predict_log_proba", lambda: gaussian.predict_log_proba(Z)
    words = np.array([f"value-{v}" for v in range(VALUES)], dtype=object)
    for dtype in (object, "str"):
        frame = pd.DataFrame({f"x{j}": pd.Series(words[X[:, j]], dtype=dtype) for j in range(20)})
        name = getattr(dtype, "__name__", dtype)
        yield f"pandas strings ({name}), {ROWS:,} × 20, fit", lambda frame=frame: NaiveBayes().fit(frame, y)  # type: ignore[misc]
    wide, few = rng.normal(size=(200, 20_000)), rng.integers(0, 2, 200)
    yield "Gaussian fit, 200 × 20,000", lambda: NaiveBayes().fit(wide, few)
    coded = rng.integers(0, 4, (200, 2_000))
    yield "categorical fit, 200 × 2,000", lambda: NaiveBayes(kinds="categorical").fit(coded, few)


def seminaive() -> Timed:
    import numpy as np

    import bayeskit
    from bayeskit import AODE, KDB, TAN

    # The older version may have other names for the same things.
    Discretizer = getattr(bayeskit, "Discretizer", None) or bayeskit.Discretiser  # type: ignore[attr-defined]
    old = "select" in signature(KDB).parameters
    edges, selective, pairs = ("penalised", "select", "order") if old else ("penalized", "selective", "n_parents")
    rng = np.random.default_rng(0)
    n, d = 100_000, 30
    y, X = rng.integers(0, 3, n), rng.integers(0, 4, (n, d)).astype(np.uint8)
    for j in range(1, d):
        copy = rng.random(n) < 0.3
        X[copy, j] = np.where(rng.random(copy.sum()) < 0.5, X[copy, j - 1], y[copy])
    makers: dict[str, Callable[[], Any]] = {
        "TAN": lambda: TAN(edges=edges, kinds="categorical"),
        "AODE": lambda: AODE(kinds="categorical"),
        "KDB k = 2": lambda: KDB(2, kinds="categorical"),
        "selective KDB k = 2": lambda: KDB(2, **{selective: True}, kinds="categorical"),
        "A2DE": lambda: AODE(**{pairs: 2}, kinds="categorical"),
    }
    for name, make in makers.items():
        model = make().fit(X, y)
        yield f"{name} fit, {n:,} × {d}", lambda make=make: make().fit(X, y)  # type: ignore[misc]
        yield f"{name} predict, 10,000 rows", lambda model=model: model.predict_proba(X[:10_000])  # type: ignore[misc]
        if name in ("TAN", "AODE"):
            yield f"{name} leave-one-out", lambda model=model: model.leave_one_out(X, y)  # type: ignore[misc]
    Z = rng.normal(size=(300_000, 8))
    labels = (Z[:, 0] > 0).astype(int) + (Z[:, 1] + rng.normal(size=len(Z)) > 0)
    yield "MDL bins, 300,000 × 8", lambda: Discretizer().fit(Z, labels)


def decide() -> Timed:
    import numpy as np

    from bayeskit import NaiveBayes
    from bayeskit.decide.risk import bayes_action, expected_loss

    rng = np.random.default_rng(0)
    posterior, loss = rng.dirichlet(np.ones(10), 1_000_000), rng.random((10, 12))
    yield "decide, 1e6 × 10, 12 actions", lambda: bayes_action(posterior, loss)
    yield "expected loss, 1e6 × 10, 12 actions", lambda: expected_loss(posterior, loss)
    X, y = rng.integers(0, 8, (1_000, 50)), rng.integers(0, 5, 1_000)
    model = NaiveBayes(kinds="categorical").fit(X, y)
    yield "explain, naive Bayes, 1,000 rows × 50", lambda: model.explain_rows(X)


def network() -> Timed:
    import numpy as np

    from bayeskit import BayesianNetwork

    seed = "random_state" if "random_state" in signature(BayesianNetwork.sample).parameters else "seed"
    for name in ("alarm", "hailfinder", "win95pts", "insurance", "andes", "pigs", "mildew", "munin"):
        net = BayesianNetwork.read(NETWORKS / f"{name}.bif.gz")
        rng = np.random.default_rng(1)
        cases = net.sample(1, **{seed: 1}, output="codes")
        seen = rng.choice(len(net.names), 10, replace=False)
        given = {net.names[v]: net.states[v][int(cases[v][0])] for v in seen}
        engine = net._engine
        engine.compile() if hasattr(engine, "compile") else net.posterior()

        def ask(net: Any = net, given: Any = given, engine: Any = engine) -> None:
            engine._plans.clear()  # new evidence each time: no plan of a former question helps
            net.posterior(given=given).arrays  # noqa: B018

        times = 1 if name == "munin" else 20
        yield (
            f"{name}, all marginals, 10 observed, {times} ×",
            lambda ask=ask, times=times: [ask() for _ in range(times)],
        )  # type: ignore[misc]
    net = BayesianNetwork.read(NETWORKS / "alarm.bif.gz")
    codes = net.sample(1_000_000, **{seed: 1}, output="codes")
    rng = np.random.default_rng(0)
    holes = [np.where(rng.random(100_000) < 0.5, 255, column[:100_000]).astype(np.uint8) for column in codes]
    yield "alarm, 1e6 rows, all observed, P(HYPOVOLEMIA)", lambda: net.predict_proba(codes, "HYPOVOLEMIA")
    yield "alarm, 1e5 rows, half missing, P(HYPOVOLEMIA)", lambda: net.predict_proba(holes, "HYPOVOLEMIA")
    yield "alarm, 1e6 forward samples", lambda: net.sample(1_000_000, **{seed: 1}, output="codes")


def command() -> Timed:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pc

    from bayeskit.cli.app import run

    rng = np.random.default_rng(0)
    n = 50_000
    y = rng.integers(0, 3, n)
    words = np.array([f"v{k}" for k in range(5)])
    columns = {f"c{j}": words[(y + rng.integers(0, 4, n) * (rng.random(n) < 0.8)) % 5] for j in range(8)}
    numbers = {f"x{j}": (0.5 * y + rng.normal(size=n)).round(3) for j in range(6)}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pc.write_csv(pa.table({**columns, **numbers, "y": np.array(["a", "b", "c"])[y]}), "train.csv")
        pc.write_csv(pa.table({**columns, "y": np.array(["a", "b", "c"])[y]}), "text.csv")

        def quietly(*arguments: str) -> None:
            with redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                assert run(list(arguments)) == 0

        models = [word for model in MODELS for word in ("-m", model)]
        train = ("train", "train.csv", "-t", "y", "--json", *models)
        quietly("train", "text.csv", "-t", "y", "-m", "NaiveBayes", "--no-report", "--json", "-o", "text.bayes")
        yield f"train {n:,} × 14, {len(MODELS)} models, no report", lambda: quietly(*train, "--no-report")
        yield f"train {n:,} × 14, {len(MODELS)} models, report", lambda: quietly(*train)

        def predict() -> None:
            Path("out.csv").unlink(missing_ok=True)  # a file that is there is not replaced
            quietly("predict", "text.bayes", "text.csv", "-o", "out.csv")

        yield f"predict {n:,} × 8 text columns", predict


def start() -> Timed:
    from bayeskit import TAN, datasets

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        TAN().fit(datasets.load_tennis(), target="play").save("play.bayes")
        Path("days.csv").write_text("outlook,temperature,humidity,wind\nsunny,cool,high,weak\n")
        for words in ("--help", "show play.bayes", "predict play.bayes days.csv", "explain play.bayes days.csv"):
            command = [sys.executable, "-m", "bayeskit.cli", *words.split()]
            yield (
                f"a new process, {words.split()[0]}",
                lambda command=command: subprocess.run(command, check=True, capture_output=True),  # type: ignore[misc]
            )


TASKS = {
    "naive": naive,
    "seminaive": seminaive,
    "decide": decide,
    "network": network,
    "command": command,
    "start": start,
}


def measure(task: str) -> dict[str, float]:
    """Return the least CPU time, children included, of each piece of a task."""
    from threadpoolctl import threadpool_limits

    import bayeskit

    least = {}
    with bayeskit.threads(1), threadpool_limits(1):
        for name, work in TASKS[task]():
            work()
            best, spent, runs = float("inf"), 0.0, 0
            while runs < 3 or (spent < 0.3 and runs < 100):
                before = os.times()
                begin = time.process_time()
                work()
                after = os.times()
                last = time.process_time() - begin
                last += sum(after[2:4]) - sum(before[2:4])  # of the processes that it started
                best, spent, runs = min(best, last), spent + last, runs + 1
            least[name] = best
    return least


def main(old: str, new: str, tasks: list[str]) -> None:
    for task in tasks or list(TASKS):
        best: dict[str, dict[str, float]] = {}
        for _ in range(ROUNDS):
            for which, python in (("old", old), ("new", new)):
                done = subprocess.run([python, __file__, "--measure", task], capture_output=True, text=True, cwd="/")
                if done.returncode:
                    sys.exit(f"{task} with {python}:\n{done.stderr}")
                for name, value in json.loads(done.stdout.splitlines()[-1]).items():
                    times = best.setdefault(name, {})
                    times[which] = min(value, times.get(which, float("inf")))
        print(f"\n**{task}**\n\n| task | before | after | after / before |\n|---|--:|--:|--:|")
        for name, times in best.items():
            a, b = times.get("old", float("nan")), times.get("new", float("nan"))
            print(f"| {name} | {a * 1e3:.4g} ms | {b * 1e3:.4g} ms | {b / a:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--measure":
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
