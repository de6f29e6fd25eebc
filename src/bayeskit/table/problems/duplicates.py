"""Rows that occur several times: copies, and equal rows with different classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined, Values

# Copies are said from this share of the rows on, and from this number.
LEAST_SHARE, LEAST_COPIES = 0.01, 2
# Rows were copied where two rows that agree in all other columns agree in the last one this much more often than any
# two rows do: 0 is as often as any two, 1 is always.
COPIED = 0.45
# Contradicting rows are said where no classifier can have a lower error than this.
LEAST_ERROR = 0.01


@check("duplicates")
def duplicates(table: Examined) -> Iterator[Problem]:
    """Find copied rows.

    In a table of a few categories many rows are equal by chance. Where rows were copied, rows that agree in all
    columns but one agree in that one too, even if it has many values.
    """
    if len(table.used) < 2:
        return
    hashes = _row_hashes(table, table.telling)
    y = np.zeros(table.n_held, dtype=np.uint64) if table.y is None else table.y.astype(np.uint64)
    whole = sum(hashes.values(), start=_mixed(y))
    n_copies = table.n_held - len(np.unique(whole))
    if n_copies < max(LEAST_COPIES, LEAST_SHARE * table.n_held):
        return
    pairs = _pairs(whole)
    for name in table.used:
        by_chance = _agreement(table.values(name), table.n_held)
        if pairs / _pairs(whole - hashes[name]) < by_chance + COPIED * (1 - by_chance):
            return
    row = _first_copy(whole)
    yield Problem(
        "duplicates",
        f"{n_copies:,} of {table.rows} are copies of others",
        (),
        n_copies,
        f"rows {table.row(row[0])} and {table.row(row[1])}{_where(table)}",
        "A copy in another fold makes every score too good, and it is counted twice",
        "keep one of each, unless each row is a case of its own",
        severity="warning",
        options=(("drop_duplicates", ""),),
    )


@check("contradictions")
def contradictions(table: Examined) -> Iterator[Problem]:
    """Find rows that are equal and have different classes: the least error that any classifier can have on them."""
    if table.y is None or not table.read:
        return
    hashes = _row_hashes(table, table.read)
    _, group = np.unique(sum(hashes.values(), start=np.uint64(0)), return_inverse=True)
    n_classes = max(len(table.classes), 1)
    cells, n = np.unique(group * n_classes + table.y, return_counts=True)
    largest = np.zeros(int(group.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, cells // n_classes, n)
    n_wrong = table.n_held - int(largest.sum())
    majority = 1 - table.n_class.max() / table.n_held
    share = n_wrong / table.n_held
    if share < LEAST_ERROR or n_wrong < 2:
        return
    mixed = np.flatnonzero(largest < np.bincount(group))
    rows = np.flatnonzero(group == mixed[np.argmax(np.bincount(group)[mixed])])
    first = rows[0]
    other = rows[np.argmax(table.y[rows] != table.y[first])]
    labels = [table.classes[table.y[row]] for row in (first, other)]
    n_rows = int(np.bincount(group)[mixed].sum())
    yield Problem(
        "contradictions",
        f"{n_rows:,} of {table.rows} are equal to a row of another class",
        (table.target,),
        n_wrong,
        f"rows {table.row(first)} ({labels[0]}) and {table.row(other)} ({labels[1]}){_where(table)}",
        f"No classifier with these columns can have a lower error on these rows than {100 * share:.1f} %; the largest "
        f"class alone has {100 * majority:.1f} %",
        "more columns would help; more rows would not",
    )


def _where(table: Examined) -> str:
    return " of the sample" if table.is_sample and table.row_of is None else ""


def _row_hashes(table: Examined, names: Sequence[str]) -> dict[str, NDArray[np.uint64]]:
    """Return for each column a hash of each row's cell; rows are equal where the sums of these are."""
    rng = np.random.default_rng(0)
    salts = rng.integers(1, 2**63, size=len(names), dtype=np.uint64)
    return {
        name: _mixed((table.values(name).codes + 1).astype(np.uint64) ^ salt)
        for name, salt in zip(names, salts, strict=True)
    }


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # The finaliser of splitmix64 (Steele, Lea & Flood 2014): near numbers become unrelated ones.
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def first_of_copies(table: Examined) -> NDArray[np.bool_]:
    """Return which rows are not equal to an earlier one, the label and columns that no model reads included."""
    y = np.zeros(table.n_held, dtype=np.uint64) if table.y is None else table.y.astype(np.uint64)
    whole = sum(_row_hashes(table, table.telling).values(), start=_mixed(y))
    first = np.zeros(table.n_held, dtype=bool)
    first[np.unique(whole, return_index=True)[1]] = True
    return first


def _agreement(values: Values, n_rows: int) -> float:
    """Return the probability that two rows have the same cell."""
    shares = np.append(values.counts, n_rows - values.n_known) / n_rows
    return float((shares**2).sum())


def _pairs(hashes: NDArray[np.uint64]) -> float:
    """Return the number of pairs of equal rows."""
    n = np.unique(hashes, return_counts=True)[1].astype(np.float64)
    return float((n * (n - 1)).sum() / 2)


def _first_copy(hashes: NDArray[np.uint64]) -> tuple[int, int]:
    """Return a row that occurs again, and where."""
    order = np.argsort(hashes, kind="stable")
    again = order[1:][hashes[order[1:]] == hashes[order[:-1]]].min()
    first = int(np.flatnonzero(hashes == hashes[again])[0])
    return first, int(again)
