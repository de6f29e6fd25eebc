"""AutoBayes on a million rows: time and memory of each effort, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayeskit
from benchmarks.timing import Row, table, write_section

N_ROWS, N_NUMBERS, N_CATEGORIES, N_TEST = 1_000_000, 10, 10, 100_000
EFFORTS = "fast", "balanced", "thorough"


def million() -> tuple[pd.DataFrame, Any]:
    """Return numbers and categories, of which products and equal values say something of two classes."""
    rng = np.random.default_rng(0)
    n = N_ROWS + N_TEST
    numbers = {f"x{j}": rng.normal(size=n) for j in range(N_NUMBERS)}
    codes = {f"c{j}": rng.integers(0, 6, n) for j in range(N_CATEGORIES)}
    odds = numbers["x0"] + numbers["x1"] * numbers["x2"] + 1.5 * (codes["c0"] == codes["c1"]) - 1.0 * (codes["c2"] > 3)
    y = odds + rng.logistic(size=n) > 0
    letters = {name: pd.Categorical.from_codes(code, list("abcdef")) for name, code in codes.items()}
    return pd.DataFrame(numbers | letters), y


def megabytes(now: bool) -> float:
    """Return the memory of the process, now or at its peak; now it is known on Linux only."""
    if not now:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def measured(effort: str, result: Any) -> None:
    """Send seconds of CPU to fit and to predict, the log-loss of new rows, and the megabytes that the fit took."""
    warnings.simplefilter("ignore")
    X, y = million()
    model = bayeskit.AutoBayes(effort)
    with bayeskit.threads(1):
        model.fit(X[:2000], y[:2000])  # imports
        # The heap is filled up to its peak, so that every new page shows.
        filler = np.ones(int(max(0.0, megabytes(False) - megabytes(True)) * 2**17) + 1)
        before = megabytes(True)
        start = time.process_time()
        model.fit(X[:N_ROWS], y[:N_ROWS])
        fitted = time.process_time()
        posterior = model.predict_proba(X[N_ROWS:])
        predicted = time.process_time()
    of_true = posterior[np.arange(N_TEST), y[N_ROWS:].astype(int)]
    more = megabytes(False) - before
    del filler
    result.send((fitted - start, predicted - fitted, float(-np.log(of_true).mean()), more))


def main() -> None:
    context, numbers = multiprocessing.get_context("spawn"), {}
    for effort in EFFORTS:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=measured, args=(effort, sender))
        child.start()
        numbers[effort] = receiver.recv()
        child.join()
        print(effort, *(f"{number:.4f}" for number in numbers[effort]), flush=True)
    default = "balanced"
    rows = [
        Row(f"{task}, {effort}", numbers[effort][k], default, numbers[default][k])
        for k, task in enumerate(("fit", f"predict {N_TEST:,} rows"))
        for effort in EFFORTS
    ]
    losses = ", ".join(f"{effort} {numbers[effort][2]:.4f}" for effort in EFFORTS)
    memory = ", ".join(f"{effort} {numbers[effort][3]:.0f} MB" for effort in EFFORTS)
    said = f"{N_ROWS:,} rows, {N_NUMBERS} numbers and {N_CATEGORIES} categorical columns, two classes; CPU of one"
    said += f" thread, on a busy machine. Log-loss of new rows: {losses}. Memory of the fit beside the table, at the"
    said += f" peak: {memory}; the coded table has {N_ROWS * (N_NUMBERS + N_CATEGORIES) / 1e6:.0f} MB."
    write_section("AutoBayes on a million rows", "python -m benchmarks auto_million", table(rows) + "\n\n" + said)


if __name__ == "__main__":
    main()
