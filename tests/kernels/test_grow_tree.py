"""The kernel that grows a tree makes the nodes that a plain recursion makes."""

from math import ceil, comb, floor, lgamma, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import grow_tree

LEAF, EVERY_VALUE, ONE_VALUE, CUT, GROUP = range(5)
TIE = 1e-9
MOST_ORDERS = 32  # classes of a node that order the values of a column
MOST_IN_VAIN = 4  # tests in a row that may cost more bits than they save


@st.composite
def coded_tables(draw, most_rows=24):
    """Codes, sizes, ordered, labels and the number of classes, some without rows; some cells are missing."""
    n, d = draw(st.integers(1, most_rows)), draw(st.integers(1, 3))
    k = draw(st.sampled_from([2, 3, 4, 9, 60]))
    sizes = np.array([draw(st.integers(1, 6)) for _ in range(d)], dtype=np.int64)
    ordered = np.array([draw(st.integers(0, 1)) for _ in range(d)], dtype=np.int64)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lost = draw(st.booleans())
    codes = np.stack([rng.integers(0, size + lost, n) for size in sizes]).astype(np.uint32)
    return codes, sizes, ordered, rng.integers(0, k, n).astype(np.uint32), k


def leaf_bits(counts):
    """Bits of a leaf: "leaf", class, exceptions, which, and their classes; the gamma function serves any weight."""
    n, most, k = sum(counts), max(counts), len(counts)
    e = n - most

    def f(x):
        return lgamma(x + 1) / log(2)

    whole = all(c == floor(c) for c in counts)
    bound = n - ceil(n / k) if whole else n - n / k
    bits = 1 + log2(k) + log2(bound + 1) + f(n) - f(e) - f(most)
    if k > 2 and e > 0:
        others = list(counts)
        others.remove(most)
        bits += f(e + k - 2) - f(k - 2) - sum(map(f, others))
    return bits


def information(counts):
    """Bits of a leaf where the rows of each class are known: "leaf", class, and the order of the labels."""
    return 1 + log2(len(counts)) + (lgamma(sum(counts) + 1) - sum(lgamma(c + 1) for c in counts)) / log(2)


def plain_tree(codes, sizes, ordered, y, k, splits):
    """Return nodes as (test, feature, value, missing_first, branch, counts, n_usable, n_choices, children)."""

    def counts_of(rows):
        return np.bincount(y[rows], minlength=k).astype(float)

    def tests_of(rows):
        for j, size in enumerate(sizes):
            cells = codes[j, rows]
            if ordered[j]:
                known = sorted(set(cells[cells < size].tolist()))
                lost = (cells == size).any()
                if len(known) > 1:
                    options = []
                    for value in known[:-1]:
                        for first in (1, 0) if lost else (-1,):
                            low = (cells <= value) if first != 1 else (cells <= value) | (cells == size)
                            options.append((CUT, value, first, [(0, rows[low]), (1, rows[~low])]))
                    yield j, (len(known) - 1) * (2 if lost else 1), options
                continue
            present = sorted(set(cells.tolist()))
            if len(present) < 2:
                continue
            if splits == 0 or len(present) == 2:
                yield j, 1, [(EVERY_VALUE, -1, -1, [(v, rows[cells == v]) for v in present])]
            elif splits == 2:
                yield j, 2 ** (len(present) - 1) - 1, list(groups_of(rows, cells, present))
            else:
                lost = 0 if size in present else -1
                parts = [(ONE_VALUE, v, lost, [(0, rows[cells == v]), (1, rows[cells != v])]) for v in present]
                yield j, len(present), parts

    def classes_with_order(rows):
        # Of more classes than MOST_ORDERS in the node, the largest; those without rows give the order of the values.
        counts = counts_of(rows)
        present = sorted(np.flatnonzero(counts).tolist(), key=lambda c: (-counts[c], c))[:MOST_ORDERS]
        return sorted([*present, *np.flatnonzero(counts == 0)[:1].tolist()])

    def groups_of(rows, cells, present):
        # Values in the order of the share of a class, cut in two; the group that lacks the last value is the first.
        for c in range(1) if k == 2 else classes_with_order(rows):
            order = sorted(present, key=lambda v: ((y[rows[cells == v]] == c).mean(), v))
            for cut in range(1, len(order)):
                a, b = order[:cut], order[cut:]
                first, second = (b, a) if present[-1] in a else (a, b)
                parts = [(sum(1 << v for v in group), rows[np.isin(cells, group)]) for group in (first, second)]
                yield GROUP, parts[0][0], -1, parts

    def grow(rows, branch, in_vain):
        counts = counts_of(rows)
        tests = list(tests_of(rows))
        shortest, informative = None, None
        if (counts > 0).sum() > 1:
            for j, n_choices, options in tests:
                for test, value, first, parts in options:
                    children = [counts_of(part) for _, part in parts]
                    bits = log2(n_choices) + sum(map(leaf_bits, children))
                    if shortest is None or bits < shortest[0] - TIE:
                        shortest = bits, test, j, value, first, n_choices, parts
                    bits = log2(n_choices) + sum(map(information, children))
                    if informative is None or bits < informative[0] - TIE:
                        informative = bits, test, j, value, first, n_choices, parts
        if shortest is None:
            return (LEAF, -1, -1, -1, branch, counts, len(tests), 1, [])
        pays = shortest[0] + 1 + log2(len(tests)) < leaf_bits(counts) - TIE
        in_vain = 0 if pays else in_vain + 1
        _, test, j, value, first, n_choices, parts = shortest if in_vain <= MOST_IN_VAIN else informative
        children = [grow(part, v, in_vain) for v, part in parts]
        return (test, j, value, first, branch, counts, len(tests), n_choices, children)

    return grow(np.arange(codes.shape[1]), 0, 0)


def as_nested(tree, node=0):
    first = int(tree["first_child"][node])
    children = range(first, first + int(tree["n_children"][node]))
    return (
        int(tree["test"][node]),
        int(tree["feature"][node]),
        int(tree["value"][node]),
        int(tree["missing_first"][node]),
        int(tree["branch"][node]),
        tree["counts"][node],
        int(tree["n_usable"][node]),
        int(tree["n_choices"][node]),
        [as_nested(tree, child) for child in children],
    )


def assert_same(a, b):
    assert a[:5] == b[:5]
    assert_array_equal(a[5], b[5])
    assert a[6:8] == b[6:8]
    assert len(a[8]) == len(b[8])
    for x, y in zip(a[8], b[8], strict=True):
        assert_same(x, y)


@settings(max_examples=150)
@given(coded_tables(), st.sampled_from([0, 1, 2]))
def test_the_kernel_grows_what_the_plain_recursion_grows(table, splits):
    codes, sizes, ordered, y, k = table
    grown = grow_tree(codes, sizes, ordered, y, None, k, splits)
    assert_same(as_nested(grown), plain_tree(codes, sizes, ordered, y, k, splits))


def test_of_many_classes_the_largest_order_the_values():
    # 45 classes, of which 32 give an order; the smallest are rare, and one code has no row.
    rng = np.random.default_rng(3)
    y = np.minimum(rng.geometric(0.06, 400), 45).astype(np.uint32)
    codes = np.stack([(y + rng.integers(0, 3, 400)) % 7, rng.integers(0, 6, 400)]).astype(np.uint32)
    sizes, ordered = np.array([7, 6]), np.array([0, 0])
    assert len(np.unique(y)) > MOST_ORDERS
    assert_same(
        as_nested(grow_tree(codes, sizes, ordered, y, None, 47, 2)), plain_tree(codes, sizes, ordered, y, 47, 2)
    )


@pytest.mark.parametrize("k", [2, 10, 100])
def test_a_tree_of_noise_is_much_less_deep_than_it_has_rows(k):
    # The test that is shortest takes single rows off, which made these trees 90, 507 and 277 tests deep.
    rng = np.random.default_rng(k)
    codes = np.argsort(rng.random((3, 1500)), axis=1).astype(np.uint32)
    y = rng.integers(0, k, 1500).astype(np.uint32)
    tree = grow_tree(codes, np.full(3, 1500), np.ones(3, dtype=np.int64), y, None, k, 0)
    depth = np.zeros(len(tree["test"]), dtype=int)
    for node in np.flatnonzero(tree["test"]):
        depth[tree["first_child"][node] : tree["first_child"][node] + tree["n_children"][node]] = depth[node] + 1
    assert depth.max() < 50


@pytest.mark.parametrize("splits", [0, 1, 2])
def test_after_tests_that_did_not_pay_the_most_informative_is_taken_as_in_the_plain_recursion(splits):
    rng = np.random.default_rng(splits)
    codes = np.stack([rng.permutation(90), rng.integers(0, 7, 90), rng.integers(0, 4, 90)]).astype(np.uint32)
    sizes, ordered = np.array([90, 6, 4]), np.array([1, 0, 0])  # the code 6 is a missing cell
    y = rng.integers(0, 5, 90).astype(np.uint32)
    assert_same(
        as_nested(grow_tree(codes, sizes, ordered, y, None, 5, splits)), plain_tree(codes, sizes, ordered, y, 5, splits)
    )


@settings(max_examples=60)
@given(coded_tables(), st.sampled_from([0, 1, 2]), st.integers(0, 2**32 - 1))
def test_a_whole_weight_is_so_many_copies(table, splits, seed):
    codes, sizes, ordered, y, k = table
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = grow_tree(codes, sizes, ordered, y, weight.astype(float), k, splits)
    repeated = grow_tree(np.ascontiguousarray(codes[:, copies]), sizes, ordered, y[copies], None, k, splits)
    for name, array in weighted.items():
        assert_array_equal(array, repeated[name])


@given(coded_tables(), st.sampled_from([0, 1, 2]))
def test_a_row_of_weight_zero_is_not_there(table, splits):
    codes, sizes, ordered, y, k = table
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    weighted = grow_tree(codes, sizes, ordered, y, weight, k, splits)
    kept = grow_tree(np.ascontiguousarray(codes[:, weight > 0]), sizes, ordered, y[weight > 0], None, k, splits)
    for name, array in weighted.items():
        assert_array_equal(array, kept[name])


def test_weights_that_are_no_whole_numbers_use_the_gamma_function():
    codes, y = np.array([[0, 0, 1, 1]], dtype=np.uint32), np.array([0, 0, 1, 1], dtype=np.uint32)
    sizes, ordered = np.array([2]), np.array([0])
    tree = grow_tree(codes, sizes, ordered, y, np.array([0.5, 1.25, 2.0, 0.25]), 2, 0)
    assert_allclose(tree["counts"], [[1.75, 2.25], [1.75, 0.0], [0.0, 2.25]], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.array([0, 1, 2], dtype=np.uint32)}, "a class code is out of range"),
        ({"y": np.array([0, 1], dtype=np.uint32)}, "differ in length"),
        ({"codes": np.array([[0, 1, 9]], dtype=np.uint32)}, "a code is out of range"),
        ({"sizes": np.array([2, 2])}, "one number a column"),
        ({"splits": 3}, "splits must be 0, 1 or 2"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    given = {
        "codes": np.array([[0, 1, 1]], dtype=np.uint32),
        "sizes": np.array([2]),
        "ordered": np.array([0]),
        "y": np.array([0, 1, 1], dtype=np.uint32),
        "weight": None,
        "n_classes": 2,
        "splits": 0,
    }
    with pytest.raises(ValueError, match=message):
        grow_tree(**(given | change))


def test_the_bits_of_a_leaf_are_those_of_the_paper():
    # Quinlan & Rivest (1989): lg(b + 1) + lg C(n, k), besides one bit for "leaf" and one for the class.
    assert_allclose(leaf_bits([9, 5]), 1 + 1 + log2(7 + 1) + log2(comb(14, 5)), rtol=1e-12)
