"""The log-probability of rows under a network equals the sum that its definition writes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import _kernels as native
from bayeskit import threads
from bayeskit._kernels import n_threads
from networks import networks


def log_probability_reference(rows, net):
    """log P(row) = sum over i of log P(row_i | parents of i)."""
    total = np.zeros(len(rows))
    for r, row in enumerate(rows):
        for i, above in enumerate(net.parents):
            p = net.tables[i][(*(row[q] for q in above), row[i])]
            total[r] += np.log(p) if p > 0 else -np.inf
    return total


def flat_logs(net):
    with np.errstate(divide="ignore"):
        return np.log(np.concatenate([table.reshape(-1) for table in net.tables]))


@given(networks(), st.integers(0, 20), st.sampled_from([np.uint8, np.uint16, np.uint32]), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_the_kernel_sums_what_the_reference_sums(net, n_rows, dtype, seed):
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, card, n_rows) for card in net.cards], axis=1).astype(dtype)
    columns = [np.ascontiguousarray(rows[:, i]) for i in range(len(net.names))]
    log, row, column = native.log_probability(columns, net.cards, net.parents, flat_logs(net), 1)
    assert (row, column) == (-1, -1)
    assert_allclose(log, log_probability_reference(rows, net), rtol=1e-12)


@pytest.mark.parametrize("code", [254, 255, 2])
def test_the_first_missing_unseen_or_impossible_code_is_reported(code):
    net_cards, parents = (2, 2), ((), (0,))
    a, b = np.zeros(30_000, dtype=np.uint8), np.zeros(30_000, dtype=np.uint8)
    b[9_000], a[20_000] = code, code
    _, row, column = native.log_probability([a, b], net_cards, parents, np.zeros(6), 2)
    assert (row, column) == (9_000, 1)


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 100_000).astype(np.uint8) for _ in range(4)]
    arguments = (columns, (3, 3, 3, 3), ((), (0,), (0, 1), (2,)), rng.normal(size=3 + 9 + 27 + 9))
    assert_array_equal(native.log_probability(*arguments, 1)[0], native.log_probability(*arguments, 4)[0])
    with threads(1):
        assert n_threads() == 1
