"""How often the true error lies within the bounds of ``bayes_error``, on distributions whose error is known.

    python -m benchmarks.bayes_error draws.jsonl [n_rows …]

writes a line for each draw that the file does not hold yet, so that it can be stopped and go on, and prints the rows of
the table in ``benchmarks/BAYES_ERROR.md``; all sizes together take about two hours on one core.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy.stats import binom, norm

import bayeskit

Draw = Callable[[int, int, np.random.Generator], tuple[Any, Any, float]]
SIZES = (200, 2_000, 20_000)
N_DRAWS = 200
# Other draws than those by which the rules of `bayes_error` were chosen, which came from the seeds 0, 991 and 2026.
SEED = 2027
COLUMNS = (1, 3, 10)
SHAPE = np.array([0.6, 0.2, 0.2])  # of the values in a class of `profiles`


def coin(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """One binary column, P(x = 1 | c) .3 and .7; the others are fair coins: the error is .3."""
    y = rng.integers(0, 2, n)
    x = rng.random((n, d)) < 0.5
    x[:, 0] = rng.random(n) < np.where(y == 1, 0.7, 0.3)
    return x.astype(str), y, 0.3


def coins(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Binary columns, each with P(x = 1 | c) .4 and .6: the best guess goes by how many are 1."""
    y = rng.integers(0, 2, n)
    x = rng.random((n, d)) < np.where(y == 1, 0.6, 0.4)[:, None]
    ones = np.arange(d + 1)
    return x.astype(str), y, 0.5 * float(np.minimum(binom.pmf(ones, d, 0.6), binom.pmf(ones, d, 0.4)).sum())


def cells(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Columns of three values; P(c | x) is any number for each value of the first three columns."""
    informative = min(d, 3)
    p = np.random.default_rng(7).random(3**informative)
    x = rng.integers(0, 3, (n, d))
    cell = x[:, :informative] @ 3 ** np.arange(informative)
    return x.astype(str), (rng.random(n) < p[cell]).astype(int), float(np.minimum(p, 1 - p).mean())


def profiles(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Three classes, and columns of three values of which each class prefers its own."""
    y = rng.integers(0, 3, n)
    x = (rng.choice(3, (n, d), p=SHAPE) + y[:, None]) % 3
    rows = np.array(list(product(range(3), repeat=d)))
    joint = [np.log(SHAPE[(rows - c) % 3]).sum(axis=1) for c in range(3)]
    return x.astype(str), y, 1.0 - float(np.exp(joint).max(axis=0).sum()) / 3


def nothing(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Columns of three values that say nothing: the error is .5."""
    return rng.integers(0, 3, (n, d)).astype(str), rng.integers(0, 2, n), 0.5


def normals(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Two normal distributions, two deviations apart along one axis; the others say nothing."""
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, d))
    x[:, 0] += 2.0 * y
    return x, y, float(norm.cdf(-1.0))


def diagonal(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Two normal distributions, two deviations apart along the diagonal."""
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, d)) + 2.0 / np.sqrt(d) * y[:, None], y, float(norm.cdf(-1.0))


def halves(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Uniform numbers; P(c | x) is .9 in either half of the first: the error is .1."""
    x = rng.random((n, d))
    return x, ((x[:, 0] > 0.5) ^ (rng.random(n) < 0.1)).astype(int), 0.1


def rare(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Uniform numbers; P(c | x) is .99 in either half of the first: the error is .01, two rows in 200."""
    x = rng.random((n, d))
    return x, ((x[:, 0] > 0.5) ^ (rng.random(n) < 0.01)).astype(int), 0.01


def certain(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Uniform numbers, of which the first says the class: the error is 0."""
    x = rng.random((n, d))
    return x, (x[:, 0] > 0.5).astype(int), 0.0


DISCRETE: tuple[Draw, ...] = (coin, coins, cells, profiles, nothing)
NUMERIC: tuple[Draw, ...] = (normals, diagonal, halves, rare, certain)


# name, columns, rows → what was drawn: number of the draw → true error, lower end, upper end
Drawn = dict[tuple[str, int, int], dict[int, tuple[float, float, float]]]


def read(path: Path) -> Drawn:
    """Read the draws that were made."""
    drawn: Drawn = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        name, d, n, number, *ends = json.loads(line)
        drawn.setdefault((name, d, n), {})[number] = tuple(ends)
    return drawn


def run(path: Path, sizes: tuple[int, ...]) -> None:
    """Make the draws that are not in the file yet."""
    drawn = read(path)
    with path.open("a") as file:
        for n, draw, d in product(sizes, (*DISCRETE, *NUMERIC), COLUMNS):
            for number in range(N_DRAWS):
                if number in drawn.get((draw.__name__, d, n), ()):
                    continue
                rng = np.random.default_rng([SEED, crc32(draw.__name__.encode()), d, n, number])
                X, y, error = draw(n, d, rng)
                bounds = bayeskit.bayes_error(X, y)
                ends = (error, bounds.lower_interval[0], bounds.upper_interval[1])
                file.write(json.dumps((draw.__name__, d, n, number, *ends)) + "\n")
                file.flush()


def report(drawn: Drawn, sizes: tuple[int, ...]) -> None:
    """Print the table of all distributions."""
    print("| distribution | columns | error |" + "".join(f" n = {n:,} |" for n in sizes))
    print("|---|--:|--:|" + "--:|" * len(sizes))
    for draw, d in product((*DISCRETE, *NUMERIC), COLUMNS):
        cells, error = "", 0.0
        for n in sizes:
            draws = np.array(list(drawn.get((draw.__name__, d, n), {}).values())).reshape(-1, 3)
            if not len(draws):
                cells += "  |"
                continue
            true, low, high = draws.T
            error, held = true[0], int(((low <= true) & (true <= high)).sum())
            cells += f" {held} of {len(draws)} ({low.mean():.3f} – {high.mean():.3f}) |"
        print(f"| {draw.__name__} | {d} | {error:.4f} |" + cells)


if __name__ == "__main__":
    chosen = tuple(map(int, sys.argv[2:])) or SIZES
    run(Path(sys.argv[1]), chosen)
    report(read(Path(sys.argv[1])), chosen)
