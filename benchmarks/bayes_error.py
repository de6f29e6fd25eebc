"""How often the true error lies within the bounds of ``bayes_error``, on distributions whose error is known.

    python -m benchmarks.bayes_error [n_rows …]

prints the rows of the table in ``benchmarks/BAYES_ERROR.md``; all sizes together take hours on one core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom, norm

import bayeskit

Draw = Callable[[int, int, np.random.Generator], tuple[Any, Any, float]]
N_DRAWS = {200: 200, 2_000: 200, 20_000: 100}  # by number of rows
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


def certain(n: int, d: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Uniform numbers, of which the first says the class: the error is 0."""
    x = rng.random((n, d))
    return x, (x[:, 0] > 0.5).astype(int), 0.0


DISCRETE: tuple[Draw, ...] = (coin, coins, cells, profiles, nothing)
NUMERIC: tuple[Draw, ...] = (normals, diagonal, halves, certain)


def inside(draw: Draw, n: int, d: int) -> tuple[float, float, float, float]:
    """Return the share of draws whose interval holds the error, that error, and the mean ends of the intervals."""
    rng, ends, error = np.random.default_rng(0), [], 0.0
    for _ in range(N_DRAWS[n]):
        X, y, error = draw(n, d, rng)
        bounds = bayeskit.bayes_error(X, y)
        ends.append((bounds.lower_interval[0], bounds.upper_interval[1]))
    low, high = np.transpose(ends)
    return float(((low <= error) & (error <= high)).mean()), error, float(low.mean()), float(high.mean())


def report(sizes: tuple[int, ...]) -> None:
    """Print the table of all distributions."""
    print("| distribution | columns | error |" + "".join(f" n = {n:,} |" for n in sizes))
    print("|---|--:|--:|" + "--:|" * len(sizes))
    for draw in (*DISCRETE, *NUMERIC):
        for d in COLUMNS:
            tried = [inside(draw, n, d) for n in sizes]
            shares = [f" {share:.3f} ({low:.3f} – {high:.3f}) |" for share, _, low, high in tried]
            print(f"| {draw.__name__} | {d} | {tried[0][1]:.4f} |" + "".join(shares), flush=True)


if __name__ == "__main__":
    report(tuple(map(int, sys.argv[1:])) or tuple(N_DRAWS))
