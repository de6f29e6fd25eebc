"""All super-parents at once get the losses that each gets alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit.classify.leave_one_out import losses
from bayeskit.classify.spode import spode_families
from bayeskit.counts.families import FamilyCounts
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.super_parent import super_parent_losses
from bayeskit.learn.counting import learn_counts
from bayeskit.table.encode import encode
from bayeskit.table.read import read_table


def one_by_one(counts, smoothing, columns, y, weight):
    """The leave-one-out pass of each SPODE as a model of its own, and whether two classes tie in some row of it."""
    d, total = len(columns), len(y) if weight is None else weight.sum()
    rows, tied = [], []
    for u in range(d):
        beliefs = FamilyBeliefs(counts, spode_families(d, u), smoothing, super_parent=u)
        found = losses(beliefs.leave_one_out(columns, y, weight), y, weight)
        rows.append([found.error * total, found.log_loss * total, found.rmse**2 * total])
        best = np.sort(np.exp(found.log_posterior), axis=1)[:, -2:]
        tied.append(best.shape[1] == 2 and (np.ptp(best, axis=1) < 1e-9).any())
    return np.array(rows), np.array(tied)


def counted(rng, n, sizes, n_classes, missing, weight):
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    cells = np.column_stack([(rng.integers(0, size, n) + y) % size for size in sizes]).astype(object)
    cells[rng.random(cells.shape) < missing] = None
    cells[0] = 0  # each column has a value
    table = read_table({f"x{j}": cells[:, j].tolist() for j in range(len(sizes))})
    alone = learn_counts(table, y, np.arange(n_classes), weight, "categorical")
    columns = encode(table, alone.schema)
    return FamilyCounts.of(alone, columns, y, "pairs", weight), columns, y


@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from([0.0, 0.1, 0.6]), st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=60, deadline=None)
def test_losses_are_those_of_one_pass_for_each_super_parent(seed, n_classes, missing, smoothing):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(n_classes, 700))
    # Without smoothing a weight that is no whole number leaves a rest of rounding where nothing should be left.
    weights = [None, rng.integers(1, 4, n).astype(float), *([rng.random(n) * 2] if smoothing else [])]
    weight = weights[rng.integers(len(weights))]
    sizes = rng.integers(1, 6, rng.integers(1, 7)).tolist()
    counts, columns, y = counted(rng, n, sizes, n_classes, missing, weight)
    found = super_parent_losses(counts, smoothing, columns, y, weight)
    expected, tied = one_by_one(counts, smoothing, columns, y, weight)
    assert_allclose(found[:, 1:], expected[:, 1:], rtol=1e-12, atol=1e-12)
    # A tie between classes may fall either way in the last bit; without one the errors are the same.
    assert_allclose(found[~tied, 0], expected[~tied, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_of_many_rows_are_those_of_one_pass_for_each_super_parent(weighted):
    rng = np.random.default_rng(0)
    weight = rng.random(20_000) * 2 if weighted else None
    counts, columns, y = counted(rng, 20_000, [2, 5, 4, 9, 3], 3, 0.05, weight)
    found = super_parent_losses(counts, 0.25, columns, y, weight)
    assert_allclose(found, one_by_one(counts, 0.25, columns, y, weight)[0], rtol=1e-12)
