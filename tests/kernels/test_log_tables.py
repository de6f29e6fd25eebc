"""The logs of many families' tables are those of the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import log_tables


def log_tables_reference(n, smoothing):
    """log (n_v + λ) / (Σ n_v + S λ) along the last axis but one; log 1/S where nothing is known."""
    p = np.empty(n.shape)
    for u in np.ndindex(n.shape[:-2]):
        for c in range(n.shape[-1]):
            norm = (n[u][:, c] + smoothing).sum()
            p[u][:, c] = (n[u][:, c] + smoothing) / norm if norm > 0 else 1 / max(1, n.shape[-2])
    with np.errstate(divide="ignore"):
        return np.log(p)


def without_one_reference(n, smoothing):
    """Each cell's own entry in the logs of the table from which one row of that cell is taken, if it has one."""
    logs = np.empty(n.shape)
    for cell in np.ndindex(n.shape):
        *u, v, c = cell
        left = np.array(n[(*u, slice(None), c)], dtype=float)
        norm = max(0.0, left.sum() - 1) + smoothing * len(left)
        with np.errstate(divide="ignore"):
            logs[cell] = np.log((max(0.0, left[v] - 1) + smoothing) / norm if norm > 0 else 1 / len(left))
    return logs


@given(st.integers(0, 2**32), st.sampled_from([np.int32, np.int64, np.float64]), st.sampled_from([0.0, 0.25, 3.0]))
@settings(max_examples=60, deadline=None)
def test_each_family_gets_the_logs_of_its_own_counts(seed, dtype, smoothing):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(1, 5))
    tables = []
    for _ in range(rng.integers(0, 4)):
        shape = [*rng.integers(1, 30, rng.integers(0, 3)), rng.integers(0, 6), n_classes]
        counts = rng.integers(0, 9, shape) * (rng.random(shape) < rng.choice([0.02, 0.7]))
        tables.append(counts.astype(dtype))
    given = [n.ravel() for n in tables], [n.shape[-2] for n in tables], n_classes, [smoothing] * len(tables)
    found = log_tables(*given, 0.0, 2)
    expected = np.concatenate([*(log_tables_reference(n, smoothing).ravel() for n in tables), np.empty(0)])
    assert_allclose(found, expected, rtol=1e-14)
    assert_array_equal(found, log_tables(*given, 0.0, 1))
    without = np.concatenate([*(without_one_reference(n, smoothing).ravel() for n in tables), np.empty(0)])
    assert_allclose(log_tables(*given, 1.0, 2), without, rtol=1e-14)


@pytest.mark.parametrize("sizes", [[2], [0], [], [3, 3]])
def test_counts_that_do_not_fit_are_refused(sizes):
    with pytest.raises(ValueError, match=r"do not fit|one number of values"):
        log_tables([np.zeros(9, dtype=np.int32)], sizes, 3, [1.0] * len(sizes), 0.0, 1)
