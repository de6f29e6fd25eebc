"""The laws of hidden Markov models: brute force over all paths, networks, counts that add, EM that never lowers."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import HiddenMarkov


@st.composite
def fitted_chains(draw):
    """A chain of two words, fitted to known states with smoothing, and rows to ask about, some cells missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, n = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    a, b = rng.integers(0, 3, 20), rng.integers(0, 2, 20)
    y = np.append(np.arange(k), rng.integers(0, k, 20 - k))
    table = {"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b]}
    model = HiddenMarkov(smoothing=draw(st.sampled_from([0.3, 1.0]))).fit(table, y, lengths=[8, 12])
    asked = {
        name: [None if rng.random() < 0.25 else str(rng.choice(cells)) for _ in range(n)]
        for name, cells in table.items()
    }
    return model, asked


def joint_of_paths(model, asked):
    """P(path, rows) of every path, by the definition."""
    n, k = len(asked["a"]), model.n_states_
    cells = {name: (list(t.rows), t.values) for name, t in model.tables_.items()}
    probabilities = {}
    for path in product(range(k), repeat=n):
        p = model.start_[path[0]]
        for t, state in enumerate(path):
            p *= model.transitions_[path[t - 1], state] if t else 1.0
            for name, (rows, values) in cells.items():
                if asked[name][t] is not None:
                    p *= values[rows.index(asked[name][t]), state]
        probabilities[path] = p
    return probabilities


@settings(deadline=None, max_examples=60)
@given(fitted_chains())
def test_every_answer_is_what_a_sum_over_paths_gives(case):
    model, asked = case
    paths = joint_of_paths(model, asked)
    total, n, k = sum(paths.values()), len(asked["a"]), model.n_states_
    assert_allclose(np.exp(model.log_likelihood(asked)), total, rtol=1e-10)
    smoothed = np.zeros((n, k))
    for path, p in paths.items():
        smoothed[np.arange(n), path] += p / total
    assert_allclose(model.smooth(asked), smoothed, atol=1e-10)
    assert_allclose(model.filter(asked)[-1], smoothed[-1], atol=1e-10)
    best = tuple(model.states_.tolist().index(s) for s in model.predict(asked))
    assert_allclose(paths[best], max(paths.values()), rtol=1e-10)


@settings(deadline=None, max_examples=20)
@given(fitted_chains())
def test_the_network_gives_the_same_posteriors(case):
    model, asked = case
    n = len(asked["a"])
    net = model.to_network(n)
    evidence = {
        f"{name}[{t}]": cell for name, cells in asked.items() for t, cell in enumerate(cells) if cell is not None
    }
    evidence = {name: value for name, value in evidence.items() if name in net}
    for t in range(n):
        posterior = net.posterior(f"state[{t}]", given=evidence)
        assert_allclose(model.smooth(asked)[t], posterior.array, atol=1e-10)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0]), st.sampled_from(["diagonal", "full"]), st.booleans())
def test_no_step_of_em_lowers_the_objective(seed, smoothing, covariance, mixed):
    rng = np.random.default_rng(seed)
    n = 60
    X = {
        "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + np.repeat([0, 3, 0], 20)),
        "z": rng.normal(size=n),
    }
    if mixed:
        X["c"] = [None if rng.random() < 0.1 else f"v{v}" for v in rng.integers(0, 3, n)]
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps, and states that may die out
        model = HiddenMarkov(3, smoothing=smoothing, covariance=covariance, n_init=2, max_iter=15).fit(
            X, lengths=[30, 30]
        )
    path = np.array(model.history_.objective)
    assert (np.diff(path) >= -1e-7 * np.abs(path[:-1])).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_counts_of_sequences_add_and_subtract(seed, cut):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    table = {"g": np.repeat(np.arange(5), 6), "x": [f"v{v}" for v in x], "n": rng.normal(size=30)}
    model = HiddenMarkov()
    first = np.flatnonzero(table["g"] < cut)
    second = np.flatnonzero(table["g"] >= cut)

    def part(rows):
        columns = {name: [column[i] for i in rows] for name, column in table.items()}
        return model.count(columns, y[rows], group="g")

    whole = model.count(table, y, group="g")
    added = part(first) + part(second)
    assert_array_equal(added.n_step, whole.n_step)
    assert_array_equal(added.n_start, whole.n_start)
    assert_array_equal(added.table.values.n_value, whole.table.values.n_value)
    left = whole - part(second)
    assert_array_equal(left.n_step, part(first).n_step)
    assert_array_equal(left.classes, part(first).classes)
