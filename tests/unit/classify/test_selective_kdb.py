"""Selective KDB tries in one pass what a pass for each number of parents and features would try."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import KDB, load
from bayeskit.classify.kdb import kdb_families
from bayeskit.classify.leave_one_out import losses
from bayeskit.counts.families import FamilyCounts
from bayeskit.datasets import load_heart
from bayeskit.errors import BayeskitWarning
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.information import class_order, pair_gain
from bayeskit.learn.counting import learn_counts
from bayeskit.table.encode import encode
from bayeskit.table.read import read_table


def one_by_one(table, y, k, smoothing, weight):
    """The leave-one-out RMSE of each k′ and number of features as a model of its own, and its families."""
    source = read_table(table)
    alone = learn_counts(source, y, np.unique(y), weight, "categorical")
    columns = encode(source, alone.schema)
    pairs = FamilyCounts.of(alone, columns, y, "pairs", weight)
    order, information = class_order(pairs), pair_gain(pairs)
    rmse, tried = np.empty((k + 1, len(order) + 1)), {}
    for n_parents in range(k + 1):
        families = kdb_families(order, information, n_parents)
        for n_features in range(len(order) + 1):
            chosen = tried[n_parents, n_features] = families[:n_features]
            counts = FamilyCounts.of(alone, columns, y, chosen, weight)
            left_out = FamilyBeliefs(counts, chosen, smoothing).leave_one_out(columns, y, weight)
            rmse[n_parents, n_features] = losses(left_out, y, weight).rmse
    return rmse, tried, (alone, columns)


def random_table(rng, n, n_features, n_classes, missing):
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    sizes = rng.integers(1, 5, n_features)
    cells = np.column_stack([(rng.integers(0, size, n) + y * rng.integers(0, 2)) % size for size in sizes])
    cells = cells.astype(object)
    cells[rng.random(cells.shape) < missing] = None
    cells[0] = 0  # each column has a value
    return {f"x{j}": cells[:, j].tolist() for j in range(n_features)}, y


@given(st.integers(0, 2**32), st.integers(0, 4), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=40, deadline=None)
def test_the_selection_is_that_of_one_pass_for_each_structure(seed, k, missing, smoothing):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(1, 6))
    n = int(rng.integers(n_classes, 300))
    table, y = random_table(rng, n, int(rng.integers(1, 7)), n_classes, missing)
    # Without smoothing a weight that is no whole number leaves a rest of rounding where nothing should be left.
    weights = [None, rng.integers(1, 4, n).astype(float), *([rng.random(n) * 2] if smoothing else [])]
    weight = weights[rng.integers(len(weights))]
    model = KDB(k, selective=True, smoothing=smoothing, kinds="categorical").fit(table, y, sample_weight=weight)
    expected, tried, (alone, columns) = one_by_one(table, y, k, smoothing, weight)
    assert_allclose(model.selection_, expected, rtol=1e-12, atol=1e-12)
    chosen = model.counts_.families
    best = [families for at, families in tried.items() if expected[at] <= expected.min() + 1e-11]
    assert chosen in best
    again = FamilyCounts.of(alone, columns, y, chosen, weight)
    assert_allclose(model.counts_.cells, again.cells, rtol=1e-12)
    assert weight is not None or model.counts_.cells.dtype == again.cells.dtype


def test_the_selection_on_many_rows_is_that_of_one_pass_for_each_structure():
    rng = np.random.default_rng(1)
    table, y = random_table(rng, 5000, 8, 3, 0.03)
    model = KDB(3, selective=True, kinds="categorical").fit(table, y)
    expected, tried, _ = one_by_one(table, y, 3, 0.25, None)
    assert_allclose(model.selection_, expected, rtol=1e-12)
    assert model.counts_.families == tried[np.unravel_index(expected.argmin(), expected.shape)]


def test_the_tables_of_the_chosen_structure_are_those_that_were_counted(monkeypatch):
    rng = np.random.default_rng(2)
    table, y = random_table(rng, 400, 6, 2, 0.05)
    counted = []
    count = FamilyCounts.of.__func__

    def remember(cls, alone, columns, y, families, *rest):
        counted.append(families)
        return count(cls, alone, columns, y, families, *rest)

    monkeypatch.setattr(FamilyCounts, "of", classmethod(remember))
    for model in (KDB(2, selective=True, kinds="categorical"), KDB(2, kinds="categorical")):
        counted.clear()
        model.fit(table, y)
        pairs, more = counted
        assert pairs == "pairs"
        assert len(set(more)) == len(more)
        assert all(len(members) == 3 for members in more)


def seven_wide_columns_and_a_child_of_each_two(n=1500):
    """The child says of each parent only what the parent does not say of the class, so that all parents come first."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    wide = [rng.integers(0, 8, n) * 2 + np.where(rng.random(n) < 0.8, y, 1 - y) for _ in range(7)]
    X = {f"w{j}": column.astype(float) for j, column in enumerate(wide)}
    for i, j in combinations(range(7), 2):
        child = wide[i] // 8 * 2 + wide[j] // 8
        X[f"c{i}{j}"] = np.where(rng.random(n) < 0.1, rng.integers(0, 4, n), child).astype(float)
    return X, y


def test_rows_with_too_many_missing_cells_are_named_and_do_not_fail_the_selection():
    X, y = seven_wide_columns_and_a_child_of_each_two()
    for j in range(7):
        X[f"w{j}"][[3, 8]] = np.nan
    model = KDB(2, selective=True, kinds="categorical")
    with pytest.warns(BayeskitWarning, match="rows 3, 8: summing out the missing cells needs too large a table"):
        chosen = model.fit(X, y)
    # Of the two rows, features with a missing parent are left out, as leave_one_out of such a model does.
    whole = KDB(2, kinds="categorical").fit(X, y)
    with pytest.warns(BayeskitWarning, match="rows 3, 8"):
        expected = whole.leave_one_out(X, y).rmse
    assert_allclose(chosen.selection_[2, -1], expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::bayeskit.errors.BayeskitWarning")
def test_what_it_was_chosen_by_goes_where_the_counts_go(tmp_path):
    heart = load_heart()
    model = KDB(2, selective=True).fit(heart, target="disease")
    selection = model.selection_
    assert selection.shape == (3, len(model.schema_) + 1)
    model.save(tmp_path / "heart.bayes")
    copies = [
        KDB.from_counts(model.counts_, k=2, selective=True),
        load(tmp_path / "heart.bayes"),
        pickle.loads(pickle.dumps(model)),
        KDB(2, selective=True).fit(heart, target="disease").merge(model),
        KDB(2, selective=True).fit(heart, target="disease").partial_fit(heart, target="disease"),
    ]
    for other in copies:
        assert_array_equal(other.selection_, selection)
