"""AutoBayes on a million rows: time and memory of each effort, each in a process of its own, beside boosting."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

import bayeskit
from benchmarks.accuracy.models import boosting
from benchmarks.timing import Row, table, write_section

N_ROWS, N_NUMBERS, N_CATEGORIES, N_TEST = 1_000_000, 10, 10, 100_000
EFFORTS = "fast", "balanced", "thorough"
PEER = "sk HistGradientBoosting"


def million() -> tuple[pd.DataFrame, Any]:
    """Return numbers and categories, of which products and equal values say something of two classes."""
    rng = np.random.default_rng(0)
    n = N_ROWS + N_TEST
    numbers = {f"x{j}": rng.normal(size=n) for j in range(N_NUMBERS)}
    codes = {f"c{j}": rng.integers(0, 6, n) for j in range(N_CATEGORIES)}
    odds = numbers["x0"] + numbers["x1"] * numbers["x2"] + 1.5 * (codes["c0"] == codes["c1"]) - 1.0 * (codes["c2"] > 3)
    y = odds + rng.logistic(size=n) > 0
    letters = {name: pd.Categorical.from_codes(code, list("abcdef")) for name, code in codes.items()}
    return pd.DataFrame(numbers | letters), np.where(y, "yes", "no")


def measured(effort: str, result: Any) -> None:
    """Send seconds of CPU to fit and to predict, the log-loss of new rows, and the megabytes that the fit took."""
    warnings.simplefilter("ignore")
    X, y = million()
    model = boosting(X) if effort == PEER else bayeskit.AutoBayes(effort)
    with bayeskit.threads(1):
        model.fit(X[:2000], y[:2000])  # imports
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        model.fit(X[:N_ROWS], y[:N_ROWS])
        fitted = time.process_time()
        posterior = model.predict_proba(X[N_ROWS:])
        predicted = time.process_time()
    of_true = posterior[np.arange(N_TEST), (y[N_ROWS:] == "yes").astype(int)]
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (1024 if sys.platform != "darwin" else 2**20)
    result.send((fitted - start, predicted - fitted, float(-np.log(of_true).mean()), more))


def main() -> None:
    context, numbers = multiprocessing.get_context("spawn"), {}
    for effort in (*EFFORTS, PEER):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=measured, args=(effort, sender))
        child.start()
        numbers[effort] = receiver.recv()
        child.join()
        print(effort, *(f"{number:.4f}" for number in numbers[effort]), flush=True)
    peer = numbers[PEER]
    rows = [Row(f"fit, {effort}", numbers[effort][0], PEER, peer[0]) for effort in EFFORTS]
    rows += [Row(f"predict {N_TEST:,} rows, {effort}", numbers[effort][1], PEER, peer[1]) for effort in EFFORTS]
    losses = ", ".join(f"{effort} {numbers[effort][2]:.4f}" for effort in (*EFFORTS, PEER))
    memory = ", ".join(f"{effort} {numbers[effort][3]:.0f} MB" for effort in EFFORTS)
    said = (
        f"{N_ROWS:,} rows, {N_NUMBERS} numbers and {N_CATEGORIES} categorical columns, two classes; CPU of one thread."
    )
    said += f" Log-loss of new rows: {losses}. Memory of the fit beside the table, at the peak: {memory}; the coded"
    said += f" table has {N_ROWS * (N_NUMBERS + N_CATEGORIES) / 1e6:.0f} MB."
    write_section("AutoBayes on a million rows", "python -m benchmarks auto_million", table(rows) + "\n\n" + said)


if __name__ == "__main__":
    main()
