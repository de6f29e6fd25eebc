"""Bins that see their neighbours: the best cuts of all, an objective that never falls, borders that are found."""

from itertools import combinations

import numpy as np
import pytest

from bayeskit import arc_strength, learn_structure
from bayeskit.errors import TableError
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.neighbor_bins import NeighborBins


def table(n=400, seed=0, holes=False):
    """x decides c and bends z; w follows z, and u nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 2
    c = np.where(x < -1, "low", np.where(x < 2.5, "mid", "high"))
    z = x * x + rng.normal(size=n)
    w = z + rng.normal(size=n)
    columns = {"x": x, "c": c, "z": z, "w": w, "u": rng.normal(size=n)}
    if holes:
        z[rng.random(n) < 0.2] = np.nan
    return columns


PARENTS = [[], [0], [0, 1], [2], []]  # x -> c, x and c -> z, z -> w


@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_cuts_of_a_column_are_better(weighted):
    weight = np.random.default_rng(1).integers(1, 4, 400).astype(float) if weighted else None
    bins = NeighborBins(read_rows(table(), weight, numeric="equal-frequency", bins=7), 4)
    for j in bins.cuts:
        if j == 4:
            continue
        best = bins.best_cuts(j, PARENTS)
        values = {}
        for k in (1, 2, 3):
            for cuts in combinations(range(1, 7), k):
                bins._set(j, cuts)
                values[cuts] = bins.objective(PARENTS)
        bins._set(j, best)
        assert max(values, key=values.__getitem__) == best


def test_cutting_one_column_after_the_other_never_lowers_the_objective():
    bins = NeighborBins(read_rows(table(2000), numeric="equal-frequency", bins=30), 5)
    path = [bins.objective(PARENTS)]
    for _ in range(2):
        for j in (0, 2, 3):
            bins._set(j, bins.best_cuts(j, PARENTS))
            path.append(bins.objective(PARENTS))
    assert (np.diff(path) >= -1e-7).all()
    assert path[-1] > path[0]


def test_the_borders_that_decide_are_found_and_no_arc_bridges_what_bins_lost():
    rows = {name: column for name, column in table(5000).items() if name in "xcz"}
    even, seen = learn_structure(rows, numeric="equal-frequency"), learn_structure(rows, numeric="mdl")
    assert len(even.arcs) == 3
    assert {frozenset(arc) for arc in seen.arcs} == {frozenset("xc"), frozenset("xz")}
    edges = seen.network.schema["x"].edges
    for border in (-1, 2.5):
        assert min(abs(edge - border) for edge in edges) < 0.15  # the fine bins are about that wide there


def test_a_network_with_such_bins_reads_numbers():
    net = learn_structure(table(1000), numeric="mdl", bins=3).network
    assert all(card <= 3 for card in net.cards)
    assert net.posterior("c", given={"x": -4.0})["low"] > 0.8


def test_missing_cells_and_weights_are_taken():
    found = learn_structure(table(1000, holes=True), numeric="mdl", sample_weight=np.arange(1000) % 3)
    assert ("x", "c") in {tuple(sorted(arc, reverse=True)) for arc in found.arcs}


def test_only_a_search_can_take_it():
    with pytest.raises(TableError, match="only learn_structure takes it"):
        arc_strength(table(50), numeric="mdl")


def test_columns_of_few_values_keep_them():
    found = learn_structure({"a": [1.5, 2.5] * 100, "b": ["u", "v"] * 99 + ["v", "u"]}, numeric="mdl")
    assert found.network.cards == (2, 2)
    assert len(found.arcs) == 1
