"""Expected counts equal a sum over all completions of each row, and the gradient equals finite differences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit._kernels import ExpectedCounts
from tests.networks import networks


def expected_reference(net, columns, weight, tables):
    """All completions of a row, each with its share."""
    counts = [np.zeros_like(table) for table in tables]
    log = 0.0
    for i in range(len(columns[0])):
        cells = [int(column[i]) for column in columns]
        ways = [[x] if x < card else range(card) for x, card in zip(cells, net.cards, strict=True)]
        joint = {}
        for row in product(*ways):
            joint[row] = np.prod([tables[v][tuple(row[p] for p in (*own, v))] for v, own in enumerate(net.parents)])
        total = sum(joint.values())
        w = 1.0 if weight is None else weight[i]
        log += w * np.log(total)
        for row, p in joint.items():
            for v, own in enumerate(net.parents):
                counts[v][tuple(row[u] for u in (*own, v))] += w * p / total
    return np.concatenate([part.ravel() for part in counts]), log


def positive(net, rng):
    return [rng.random(table.shape) + 0.05 for table in net.tables]


@st.composite
def hidden(draw):
    net = draw(networks(most=5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 8))
    columns = [rng.integers(0, card, n_rows).astype(np.uint8) for card in net.cards]
    share = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    for column in columns:
        column[rng.random(n_rows) < share] = 255
    weight = rng.integers(1, 3, n_rows).astype(float) if draw(st.booleans()) else None
    return net, columns, weight, positive(net, rng)


def kernel_of(net, columns, weight):
    return ExpectedCounts(list(net.cards), [list(own) for own in net.parents], columns, weight, 1e9)


@given(hidden())
@settings(max_examples=60)
def test_expected_counts_are_those_of_all_completions(case):
    net, columns, weight, tables = case
    flat = np.concatenate([table.ravel() for table in tables])
    counts, log, bad = kernel_of(net, columns, weight).expect(flat, 2)
    expected, expected_log = expected_reference(net, columns, weight, tables)
    assert bad == -1
    assert log == pytest.approx(expected_log, rel=1e-10, abs=1e-10)
    assert_allclose(counts, expected, rtol=1e-9, atol=1e-12)


@given(hidden())
@settings(max_examples=30)
def test_the_gradient_is_that_of_finite_differences_of_unnormalised_tables(case):
    net, columns, weight, tables = case
    flat = np.concatenate([table.ravel() for table in tables])
    counts, _, _ = kernel_of(net, columns, weight).expect(flat, 1)
    gradient = counts / flat  # Russell et al. 1995: Σ_d P(y, u | d) / w
    step = 1e-6
    shapes = [table.shape for table in tables]
    cuts = np.cumsum([table.size for table in tables])[:-1]

    def log_likelihood(values):
        parts = [part.reshape(shape) for part, shape in zip(np.split(values, cuts), shapes, strict=True)]
        return expected_reference(net, columns, weight, parts)[1]

    for k in range(0, len(flat), max(1, len(flat) // 5)):
        up, down = flat.copy(), flat.copy()
        up[k], down[k] = flat[k] + step, flat[k] - step
        slope = (log_likelihood(up) - log_likelihood(down)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_completed_rows_keep_known_cells_and_follow_the_posterior():
    from bayeskit import BayesianNetwork

    net = BayesianNetwork("A->B", tables={"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})
    n = 20000
    columns = [np.full(n, 255, dtype=np.uint8), np.ones(n, dtype=np.uint8)]
    flat = np.concatenate([table.ravel() for table in net.tables])
    a, b = kernel_of(net, columns, None).complete_rows(flat, 3)
    assert (b == 1).all()
    p = 0.7 * 0.8 / (0.7 * 0.8 + 0.3 * 0.1)
    assert a.mean() == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / n))


def test_an_impossible_row_is_named():
    from bayeskit import BayesianNetwork

    net = BayesianNetwork("A->B->C", tables={"A": [1.0, 0.0], "B": np.eye(2), "C": np.eye(2)})
    columns = [np.array(c, dtype=np.uint8) for c in ([0, 1], [255, 255], [0, 0])]
    flat = np.concatenate([table.ravel() for table in net.tables])
    assert kernel_of(net, columns, None).expect(flat, 1)[2] == 1


def class_with_children(n_children, first):
    """A hidden class whose children are all observed as state 0, with P(child = 0 | class) in each row of ``first``."""
    first = np.asarray(first)
    tables = [np.full(first.shape[1], 1.0 / first.shape[1]), *np.stack([first, 1.0 - first], axis=-1)]
    columns = [np.full(1, 255, dtype=np.uint8), *([np.zeros(1, dtype=np.uint8)] * n_children)]
    kernel = ExpectedCounts([first.shape[1], *([2] * n_children)], [[], *([[0]] * n_children)], columns, None, 1e9)
    return kernel, np.concatenate([table.ravel() for table in tables]), np.log(tables[0]) + np.log(first).sum(axis=0)


@pytest.mark.parametrize(
    "first",
    [
        np.concatenate([np.tile([0.5, 0.05], (400, 1)), np.tile([0.05, 0.5], (400, 1))]),
        np.concatenate([np.tile([1e-40, 3e-40], (30, 1)), np.tile([2e-40, 1e-40], (30, 1))]),
        np.concatenate([np.tile([1e-300, 0.5], (20, 1)), np.tile([0.5, 1e-300], (20, 1))]),
        np.tile([5e-324, 1e-323], (40, 1)),
        np.random.default_rng(0).uniform(1e-12, 1e-9, size=(300, 50)),
    ],
    ids=["10 to 1, both ways", "1e-40", "conflict of 6000 decades", "denormal", "50 classes"],
)
def test_a_hidden_class_is_counted_right_whatever_the_magnitudes(first):
    kernel, flat, log = class_with_children(len(first), first)
    total = np.logaddexp.reduce(log)
    posterior = np.exp(log - total)
    counts, found, bad = kernel.expect(flat, 1)
    assert bad == -1
    assert_allclose(found, total, rtol=1e-12)
    k = first.shape[1]
    assert_allclose(counts[:k], posterior, atol=1e-10)
    assert_allclose(counts[k:].reshape(-1, k, 2)[:, :, 0], np.tile(posterior, (len(first), 1)), atol=1e-10)
    # A row that is completed takes a class that is possible: the only one, where one has all the mass.
    chosen = int(kernel.complete_rows(flat, 0)[0][0])
    assert posterior[chosen] > 1e-3


def test_a_chain_of_hidden_cells_with_far_apart_ends_equals_sums_of_logarithms():
    n, rng = 60, np.random.default_rng(4)
    move = np.array([[1 - 1e-30, 1e-30], [1e-30, 1 - 1e-30]])
    seen = np.stack([10.0 ** rng.uniform(-250, 0, n), 10.0 ** rng.uniform(-250, 0, n)], axis=1)
    tables = [np.array([0.5, 0.5]), *([move] * (n - 1)), *np.stack([seen, 1.0 - seen], axis=-1)]
    parents = [[], *([i] for i in range(n - 1)), *([i] for i in range(n))]
    columns = [np.full(1, 255, np.uint8)] * n + [np.zeros(1, np.uint8)] * n
    kernel = ExpectedCounts([2] * (2 * n), parents, columns, None, 1e9)
    counts, log, _ = kernel.expect(np.concatenate([table.ravel() for table in tables]), 1)
    forward, backward = [np.log([0.5, 0.5]) + np.log(seen[0])], [np.zeros(2)]
    for i in range(1, n):
        forward.append(np.logaddexp.reduce(forward[-1][:, None] + np.log(move), axis=0) + np.log(seen[i]))
    for i in reversed(range(1, n)):
        backward.append(np.logaddexp.reduce(np.log(move) + np.log(seen[i]) + backward[-1], axis=1))
    total = np.logaddexp.reduce(forward[-1])
    assert_allclose(log, total, rtol=1e-12)
    pairs = counts[2 : 2 + 4 * (n - 1)].reshape(n - 1, 2, 2)
    for i in range(n - 1):
        edge = forward[i][:, None] + np.log(move) + np.log(seen[i + 1]) + backward[n - 2 - i]
        assert_allclose(pairs[i], np.exp(edge - total), atol=1e-10)


def test_cells_that_need_too_much_memory_are_refused_before_tables_are_made():
    n, rng = 2000, np.random.default_rng(0)
    parents = [rng.choice(i, min(i, 3), replace=False).tolist() for i in range(n)]
    columns = [np.full(1, 255, dtype=np.uint8)] * n
    with pytest.raises(ValueError, match="over the memory limit"):
        ExpectedCounts([2] * n, parents, columns, None, 1e12)
