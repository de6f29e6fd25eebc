"""The command: how long help, training and predicting take, beside pandas and scikit-learn."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.timing import Row, cpu_seconds, seconds, table, write_section

RNG = np.random.default_rng(0)
MODELS = ("NaiveBayes", "NaiveBayes-MDL", "SPODE", "TAN", "KDB", "AODE")


def training_table(n_rows: int = 50_000) -> pa.Table:
    """Eight columns of text and six of numbers, one cell in twenty missing, three classes."""
    y = RNG.integers(0, 3, n_rows)
    columns = {}
    for j in range(8):
        words = np.array([f"v{k}" for k in range(5)], dtype=object)
        column = words[(y + RNG.integers(0, 4, n_rows) * (RNG.random(n_rows) < 0.8)) % 5]
        column[RNG.random(n_rows) < 0.05] = None
        columns[f"c{j}"] = pa.array(column, from_pandas=True)
    for j in range(6):
        numbers = (0.5 * y + RNG.normal(size=n_rows)).round(3)
        columns[f"x{j}"] = pa.array(numbers, mask=RNG.random(n_rows) < 0.05)
    columns["y"] = pa.array(np.array(["a", "b", "c"])[y])
    return pa.table(columns)


def text_table(n_rows: int = 1_000_000) -> pa.Table:
    """Fifteen columns of text and the class."""
    y = RNG.integers(0, 3, n_rows)
    columns = {}
    for j in range(15):
        words = np.array([f"value{k}" for k in range(3 + j % 6)])
        columns[f"c{j}"] = pa.array(words[(y + RNG.integers(0, 3, n_rows)) % len(words)])
    columns["y"] = pa.array(np.array(["a", "b", "c"])[y])
    return pa.table(columns)


def child_cpu_seconds(*arguments: str, runs: int = 5) -> float:
    """Return the least CPU time of a new process that runs the command, Python's own start included."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "bayeskit.cli", *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def train_seconds(path: str) -> float:
    """Return the CPU time of `train` in this process, where the first run has made all imports."""
    from bayeskit.cli.app import run

    arguments = ["train", path, "-t", "y", "--json"]
    for model in MODELS:
        arguments += ["-m", model]

    def quietly() -> None:
        with open(os.devnull, "w") as nowhere:
            shown, sys.stdout = sys.stdout, nowhere
            try:
                assert run(arguments) == 0
            finally:
                sys.stdout = shown

    quietly()
    return cpu_seconds(quietly, 3)


def predict_row(folder: Path) -> Row:
    """Predict a million rows, as the command does and as pandas with scikit-learn does."""
    data = text_table()
    pc.write_csv(data, folder / "big.csv")
    pc.write_csv(data.slice(0, 50_000), folder / "some.csv")
    frame = pd.read_csv(folder / "some.csv")
    names = [name for name in frame.columns if name != "y"]
    encoder = OrdinalEncoder().fit(frame[names])
    model = CategoricalNB().fit(encoder.transform(frame[names]), frame["y"])

    def theirs() -> None:
        read = pd.read_csv(folder / "big.csv")
        posterior = model.predict_proba(encoder.transform(read[names]))
        out = pd.DataFrame(posterior, columns=[f"P({label})" for label in model.classes_]).round(6)
        out.insert(0, "prediction", model.classes_[posterior.argmax(axis=1)])
        out.to_csv(folder / "theirs.csv", index=False)

    from bayeskit.cli.app import run

    os.chdir(folder)
    assert run(["train", "some.csv", "-t", "y", "-m", "NaiveBayes", "--no-report", "--json"]) == 0
    ours = ["predict", "some-y.bayes", "big.csv", "-o", "ours.csv", "--force"]
    start = time.process_time()
    theirs()
    peer = time.process_time() - start
    mine = cpu_seconds(lambda: run(ours), 3)
    a, b = pd.read_csv("ours.csv"), pd.read_csv("theirs.csv")
    assert np.abs(a.filter(like="P(").to_numpy() - b.filter(like="P(").to_numpy()).max() < 2e-3  # priors differ by λ
    return Row("`predict`, CSV of 1e6 × 15 text columns to CSV", mine, "pandas + scikit-learn", peer, 5)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pc.write_csv(training_table(), folder / "train.csv")
        here = os.getcwd()
        help_time = child_cpu_seconds("--help")
        os.chdir(folder)
        train = train_seconds("train.csv")
        row = predict_row(folder)
        os.chdir(here)
    body = "\n".join(
        [
            "| task | bayeskit | aim |",
            "|---|--:|--:|",
            f"| `bayeskit --help`, a new process | {seconds(help_time)} | 0.3 s |",
            f"| `train` 50 000 × 14, missing cells, {len(MODELS)} models, report | {seconds(train)} | 1.5 s |",
            "",
            table([row]),
        ]
    )
    write_section("The command", "python -m benchmarks command", body)


if __name__ == "__main__":
    main()
