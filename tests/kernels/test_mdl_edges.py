"""The MDL kernel cuts where a plain twin, written from Fayyad and Irani's formulas, cuts."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import mdl_edges
from bayeskit.table.discretize import learn_mdl_edges

# Two cuts whose entropies differ by less than this, in nats times rows, are a tie; the lower one is taken.
TIE = 1e-9


def entropy(weights):
    p = weights[weights > 0] / weights.sum()
    return -(p * np.log2(p)).sum()


def class_weights(y, w, n_classes):
    return np.bincount(y, weights=w, minlength=n_classes)


def mdl_edges_reference(x, y, w, n_classes):
    """Cut a sorted column at the boundary of least class entropy, if the gain pays for it, and cut the parts again."""
    keep = ~np.isnan(x) & (w > 0)
    x, y, w = x[keep], y[keep], w[keep]
    whole = class_weights(y, w, n_classes)
    n, k = w.sum(), (whole > 0).sum()
    values = np.unique(x)
    if k < 2 or n <= 1:
        return []
    best, best_parts = None, np.inf
    for below, above in pairwise(values):
        left, right = (class_weights(y[side], w[side], n_classes) for side in (x <= below, x >= above))
        parts = (left.sum() * entropy(left) + right.sum() * entropy(right)) * np.log(2)
        if parts < best_parts - TIE:
            best, best_parts = (below, above, left, right), parts
    if best is None:
        return []
    below, above, left, right = best
    gain = entropy(whole) - best_parts / np.log(2) / n
    k1, k2 = (left > 0).sum(), (right > 0).sum()
    delta = np.log2(3.0**k - 2) - (k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right))
    if not gain > (np.log2(n - 1) + delta) / n:
        return []
    low, high = x <= below, x >= above
    lower = mdl_edges_reference(x[low], y[low], w[low], n_classes)
    upper = mdl_edges_reference(x[high], y[high], w[high], n_classes)
    return [*lower, (below + above) / 2, *upper]


@st.composite
def columns(draw):
    n = draw(st.integers(1, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    x = np.round(y * draw(st.floats(0, 3)) + rng.normal(size=n), draw(st.sampled_from([0, 1, 3])))
    x[rng.random(n) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    kind = draw(st.sampled_from(["none", "whole", "real"]))
    w = {"none": np.ones(n), "whole": rng.integers(0, 4, n).astype(float), "real": rng.random(n) * 5}[kind]
    return x, y, w, kind


@given(columns())
@settings(max_examples=150, deadline=None)
def test_kernel_cuts_where_the_twin_cuts(column):
    x, y, w, kind = column
    found = mdl_edges([x], y, None if kind == "none" else w, 4, 1)[0]
    assert_allclose(found, mdl_edges_reference(x, y, w, 4), rtol=1e-14)


@given(columns())
@settings(max_examples=100, deadline=None)
def test_a_whole_weight_is_so_many_copies(column):
    x, y, w, _ = column
    copies = np.floor(w).astype(int)
    weighted = mdl_edges([x], y, np.floor(w), 4, 1)[0]
    repeated = mdl_edges([np.repeat(x, copies)], np.repeat(y, copies), None, 4, 1)[0]
    assert_array_equal(weighted, repeated)


def test_the_number_of_threads_does_not_show():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    table = [y + rng.normal(size=2000) for _ in range(5)]
    for one, two in zip(mdl_edges(table, y, None, 3, 1), mdl_edges(table, y, None, 3, 2), strict=True):
        assert_array_equal(one, two)


def test_values_that_agree_in_their_leading_bits_are_sorted_too():
    # Neighbouring doubles differ in the last bit only, which the three sorted digits do not see.
    x = 1.0 + np.arange(64)[::-1] * np.finfo(float).eps
    y = (x > x.mean()).astype(np.int64)
    edge = mdl_edges([x], y, None, 2, 1)[0]
    assert len(edge) == 1
    assert_array_equal(x >= edge[0], y == 1)


def test_integers_and_strides_are_read_as_they_are():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    table = (y[:, None] * 3 + rng.integers(0, 4, (500, 3))).astype(np.int16)
    from_ints = mdl_edges(table, y, None, 2, 1)
    for j, edges in enumerate(from_ints):
        assert_array_equal(edges, mdl_edges([table[:, j].astype(float)], y, None, 2, 1)[0])


def test_minus_zero_and_infinities_have_their_place():
    x = np.array([-np.inf] * 8 + [-0.0, 0.0] * 4 + [np.inf] * 8)
    y = np.array([0] * 8 + [1] * 8 + [2] * 8)
    edges = learn_mdl_edges([x], y, 3)[0]
    assert_array_equal(np.searchsorted(edges, x, side="right"), y)
