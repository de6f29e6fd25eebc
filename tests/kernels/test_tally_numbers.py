"""Numbers are counted, and rounded where there are too many, as a plain dictionary does it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit._kernels import tally_numbers

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(1e9, 1e9 + 1e-3),
)


def rounded(value, level):
    """The number without its last bits; there is one zero."""
    bits = int(np.float64(value).view(np.uint64))
    return float(np.uint64(bits >> level << level).view(np.float64)) + 0.0


def plain_tally(cells, level, most):
    """Return the least level at which the cells fit, and their weights by number, class and whether it was rounded."""
    while True:
        sums = Counter()
        for value, label, lost, weight in cells:
            kept = rounded(value, level)
            sums[kept, label, lost or kept != value] += weight
        if len(sums) <= most or level == 63:
            return level, sums
        level += 1


def as_counter(found):
    level, *columns = found
    values, labels, lost, weight = (column.tolist() for column in columns)
    sums = Counter(dict(zip(zip(values, labels, lost, strict=True), weight, strict=True)))
    assert len(sums) == len(values)  # no cell twice
    return level, sums


@settings(max_examples=150)
@given(
    st.lists(st.tuples(NUMBERS, st.integers(0, 3), st.booleans(), st.integers(0, 5)), max_size=60),
    st.sampled_from([0, 0, 3, 40, 63]),
    st.integers(1, 40),
)
def test_the_kernel_counts_as_the_dictionary_does(cells, level, most):
    values, labels, lost, weight = (
        (np.array(column) for column in zip(*cells, strict=True)) if cells else [np.zeros(0)] * 4
    )
    given = values.astype(float), labels.astype(np.int64), lost.astype(bool), weight.astype(float)
    assert as_counter(tally_numbers(*given, level, most)) == plain_tally(cells, level, most)
    alone = [(value, label, False, 1) for value, label, *_ in cells]
    assert as_counter(tally_numbers(*given[:2], None, None, level, most)) == plain_tally(alone, level, most)


def test_many_numbers_are_counted_whatever_their_order():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=20_000).round(3), rng.integers(0, 3, 20_000)
    expected = Counter(zip((values + 0.0).tolist(), labels.tolist(), [False] * 20_000, strict=True))
    order = np.argsort(values)
    for rows in (np.arange(20_000), order, order[::-1]):
        assert as_counter(tally_numbers(values[rows], labels[rows], None, None, 0, 1 << 17)) == (0, expected)
    few = [as_counter(tally_numbers(values[rows], labels[rows], None, None, 0, 500)) for rows in (order, order[::-1])]
    assert few[0] == few[1]


def test_arrays_of_different_length_and_levels_that_are_none_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        tally_numbers(np.zeros(2), np.zeros(3, dtype=np.int64), None, None, 0, 5)
    with pytest.raises(ValueError, match="level must be from 0 to 63"):
        tally_numbers(np.zeros(2), np.zeros(2, dtype=np.int64), None, None, 64, 5)
