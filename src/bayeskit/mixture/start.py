"""The start of EM: k-means++ on the rows in an order that does not depend on their order or repetition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError

# Seeds are chosen among at most this many rows, spread evenly over the table.
SEED_ROWS = 8192


def seed_rows(
    projection: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows to seed from, and their weights: all rows, or every k-th along a random direction.

    ``projection`` is each row's place in that direction. Rows are taken in its order, and counted by weight: so a row
    of weight 2 counts as two equal rows, and the order of the table does not matter.
    """
    order = np.argsort(projection, kind="stable")
    row_weight = np.ones(len(order)) if weight is None else weight
    mass = np.cumsum(row_weight[order])
    if len(order) <= SEED_ROWS:
        return order, row_weight[order]
    points = (np.arange(SEED_ROWS) + 0.5) / SEED_ROWS * mass[-1]
    return order[np.searchsorted(mass, points)], np.ones(SEED_ROWS)


def k_means_plus_plus(
    distances: Callable[[int], NDArray[np.float64]], weight: NDArray[np.float64], k: int, rng: np.random.Generator
) -> list[int]:
    """Return k rows, each drawn with probability in proportion to the squared distance from those before it.

    ``distances(i)`` gives the squared distance of all rows from row i. Of 2 + ln k candidates for each seed the one
    that lowers the total distance most is taken.

    References
    ----------
    Arthur & Vassilvitskii (2007), k-means++: the advantages of careful seeding, SODA, section 2 and 7.
    """
    tries = 2 + int(np.log(k))
    seeds = [_sample_row(weight, rng)]
    nearest = distances(seeds[0])
    for _ in range(1, k):
        if not (weight * nearest).any():
            raise BayeskitError(
                f"n_components is {k}, but the table has only {len(seeds)} distinct rows; use at most that many."
            )
        best: tuple[float, int, NDArray[np.float64]] | None = None
        for _ in range(tries):
            row = _sample_row(weight * nearest, rng)
            now = np.minimum(nearest, distances(row))
            total = float(weight @ now)
            if best is None or total < best[0]:
                best = total, row, now
        assert best is not None
        seeds.append(best[1])
        nearest = best[2]
    return seeds


def _sample_row(mass: NDArray[np.float64], rng: np.random.Generator) -> int:
    # By the inverse of the distribution: rows of one value, however they are split up, cover the same stretch of it.
    ends = np.cumsum(mass)
    return int(min(np.searchsorted(ends, rng.random() * ends[-1], side="right"), len(mass) - 1))


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a generator or scikit-learn's ``RandomState``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
