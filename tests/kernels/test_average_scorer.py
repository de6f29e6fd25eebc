"""The averaging scorer gives the mean over super-parents, written out from the formula."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import AverageScorer, count_subsets, count_values

LOG_JOINT = 0
MISSING, UNSEEN = 255, 254


def rows_with(columns, y, weight, cells, known, n_classes):
    """Weight of the rows of each class that have the cells {column: value} and in which the other columns are known."""
    chosen = np.ones(len(y), dtype=bool)
    for j, value in cells.items():
        chosen &= columns[j] == value
    for j in known:
        chosen &= columns[j] < UNSEEN
    return np.bincount(y[chosen], weights=weight[chosen], minlength=n_classes)


def average_reference(columns, y, weight, n_classes, sizes, row, order, smoothing, min_count, smooth, prior="smoothed"):
    """The mean over super-parents u of Σ over the hidden values of u of P(c, x_u) ∏ P(x_j | c, x_u)."""
    d, λ = len(sizes), smoothing
    levels = [size + smooth for size in sizes]
    hidden = [value == MISSING or (value == UNSEEN and not smooth) for value in row]
    row = [size if value == UNSEEN else value for value, size in zip(row, sizes, strict=True)]

    def share(cells, rest):
        """P(x_rest | c, cells) = (n + λ) / (n known + λ S)."""
        n = rows_with(columns, y, weight, {**cells, rest: row[rest]}, (), n_classes)
        all_rows = rows_with(columns, y, weight, cells, (rest,), n_classes)
        return (n + λ) / (all_rows + λ * levels[rest])

    terms = []
    for parents in combinations(range(d), order):
        choices = [range(levels[i]) if hidden[i] else [row[i]] for i in parents]
        observed = not any(hidden[i] for i in parents)
        total, n_levels = (
            rows_with(columns, y, weight, {}, parents, n_classes).sum(),
            np.prod([levels[i] for i in parents]),
        )
        term = np.zeros(n_classes)
        for values in product(*choices):
            cells = dict(zip(parents, values, strict=True))
            n = rows_with(columns, y, weight, cells, (), n_classes)
            if observed and n.sum() < min_count:
                break
            p = (n + λ) / (total + λ * n_classes * n_levels)
            if not isinstance(prior, str) or prior == "data":  # P(c) times P(x_u | c)
                rows = rows_with(columns, y, weight, {}, parents, n_classes)
                shares = rows / total if total else np.full(n_classes, 1 / n_classes)
                p = (shares if isinstance(prior, str) else np.array(prior)) * (n + λ) / (rows + λ * n_levels)
            for j in range(d):
                if j not in parents and not hidden[j]:
                    p = p * share(cells, j)
            term = term + p
        else:
            terms.append(term)
    if terms:
        return np.mean(terms, axis=0)
    if order > 1:
        return average_reference(
            columns, y, weight, n_classes, sizes, row_codes(row, sizes, hidden), order - 1, λ, min_count, smooth, prior
        )
    n_class = rows_with(columns, y, weight, {}, (), n_classes)
    p = (n_class + λ) / (n_class + λ).sum()
    if not isinstance(prior, str):
        p = np.array(prior)
    elif prior == "data":
        p = n_class / n_class.sum()
    for j in range(d):
        p = p if hidden[j] else p * share({}, j)
    return p


def row_codes(row, sizes, hidden):
    return [MISSING if h else UNSEEN if v == size else v for v, size, h in zip(row, sizes, hidden, strict=True)]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 5)))]
    n_classes, n = draw(st.integers(1, 5)), draw(st.integers(2, 25))
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    if draw(st.booleans()):
        for column in columns:
            column[rng.random(n) < 0.2] = MISSING
    weight = rng.random(n) * 3 if draw(st.booleans()) else None
    y = rng.integers(0, n_classes, n)
    rows = [rng.choice([*range(size), MISSING, UNSEEN], 6).astype(np.uint8) for size in sizes]
    whole = [rng.integers(0, size, 3).astype(np.uint8) for size in sizes]
    test = [np.concatenate(pair) for pair in zip(rows, whole, strict=True)]
    options = draw(st.sampled_from([1, 2])), draw(st.sampled_from([0.3, 1.0])), draw(st.sampled_from([0, 1, 3]))
    return columns, y, weight, n_classes, sizes, test, *options, draw(st.booleans())


def make_scorer(columns, y, weight, n_classes, sizes, order, smoothing, min_count, smooth, prior="smoothed"):
    n_class = np.bincount(y, weights=weight, minlength=n_classes).astype(float)
    n_value = count_values(columns, y, weight, n_classes, sizes, 1).ravel()
    pairs = count_subsets(columns, y, weight, n_classes, sizes, 2, 1)
    triples = count_subsets(columns, y, weight, n_classes, sizes, 3, 1)[len(pairs) :] if order == 2 else None
    d = len(sizes)
    pseudo = smoothing, [smoothing] * d, [smoothing] * d, [smoothing] * (d * (d - 1) // 2 if order == 2 else 0)
    given = None if isinstance(prior, str) else np.array(prior)
    data = isinstance(prior, str) and prior == "data"
    return AverageScorer(n_class, n_value, pairs, triples, sizes, *pseudo, given, data, min_count, smooth)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_kernel_averages_as_the_twin_averages(problem):
    columns, y, weight, n_classes, sizes, test, order, smoothing, min_count, smooth = problem
    scorer = make_scorer(columns, y, weight, n_classes, sizes, order, smoothing, min_count, smooth)
    found = np.exp(scorer.score(test, LOG_JOINT, False, 1)[0])
    w = np.ones(len(y)) if weight is None else weight
    for i, row in enumerate(zip(*(column.tolist() for column in test), strict=True)):
        expected = average_reference(columns, y, w, n_classes, sizes, row, order, smoothing, min_count, smooth)
        assert_allclose(found[i], expected, rtol=1e-10, atol=1e-14)


@given(problems(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_prior_takes_the_place_of_the_class_shares_of_each_super_parent(problem, is_given):
    columns, y, weight, n_classes, sizes, test, *options = problem
    prior = np.arange(1.0, n_classes + 1) / np.arange(1.0, n_classes + 1).sum() if is_given else "data"
    w = np.ones(len(y)) if weight is None else weight
    scorer = make_scorer(columns, y, weight, n_classes, sizes, *options, prior)
    found = np.exp(scorer.score(test, LOG_JOINT, False, 1)[0])
    for i, row in enumerate(zip(*(column.tolist() for column in test), strict=True)):
        assert_allclose(
            found[i],
            average_reference(columns, y, w, n_classes, sizes, row, *options, prior),
            rtol=1e-10,
            atol=1e-14,
        )


@given(problems(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_prior_takes_their_place_where_a_row_is_left_out(problem, is_given):
    columns, y, weight, n_classes, sizes, _, *options = problem
    assume(weight is None and len(np.unique(y)) > 1)
    prior = np.arange(1.0, n_classes + 1) / np.arange(1.0, n_classes + 1).sum() if is_given else "data"
    w = np.ones(len(y))
    scorer = make_scorer(columns, y, weight, n_classes, sizes, *options, prior)
    found = np.exp(scorer.leave_one_out(columns, y, None, True, 2)[0])
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        less = w.copy()
        less[i] = 0.0
        expected = average_reference(columns, y, less, n_classes, sizes, row, *options, prior)
        assert_allclose(found[i], expected / expected.sum(), rtol=1e-11, atol=1e-14)


@given(problems(), st.sampled_from(["none", "whole", "halves"]))
@settings(max_examples=60, deadline=None)
def test_leave_one_out_equals_counting_again_without_the_row(problem, weights):
    columns, y, _, n_classes, sizes, _, order, smoothing, min_count, smooth = problem
    rng = np.random.default_rng(0)
    weight = np.ones(len(y)) if weights == "none" else rng.integers(1, 4, len(y)) / (1 if weights == "whole" else 2)
    given_weight = None if weights == "none" else weight
    scorer = make_scorer(columns, y, given_weight, n_classes, sizes, order, smoothing, min_count, smooth)
    found = np.exp(scorer.leave_one_out(columns, y, given_weight, True, 2)[0])
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        less = weight.copy()
        less[i] = max(0.0, less[i] - 1.0)
        expected = average_reference(columns, y, less, n_classes, sizes, row, order, smoothing, min_count, smooth)
        assert_allclose(found[i], expected / expected.sum(), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n_classes", [3, 7, 27])
def test_a_row_scores_alone_as_it_does_among_others(order, n_classes):
    # 27 classes take all widths of the kernel; 300 rows fill a chunk, blocks and tiles, and leave a rest of each.
    rng = np.random.default_rng(order)
    n, sizes = 300, [3, 2, 4, 3]
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    for column in columns:
        column[rng.random(n) < 0.1] = MISSING
    y = rng.integers(0, n_classes, n)
    scorer = make_scorer(columns, y, None, n_classes, sizes, order, 0.5, 1, False)
    together = scorer.score(columns, LOG_JOINT, False, 1)[0]
    alone = [scorer.score([column[i : i + 1] for column in columns], LOG_JOINT, False, 1)[0][0] for i in range(n)]
    assert_allclose(together, alone, rtol=1e-14)
    for i in range(0, n, 60):
        row = [int(column[i]) for column in columns]
        expected = average_reference(columns, y, np.ones(n), n_classes, sizes, row, order, 0.5, 1, False)
        assert_allclose(np.exp(together[i]), expected, rtol=1e-10)


@pytest.mark.parametrize("smooth", [False, True])
def test_super_parents_of_many_values_are_summed_out_though_most_pairs_of_values_have_no_row(smooth):
    rng = np.random.default_rng(2)
    sizes, n = [40, 30, 3, 2], 60
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    columns[3][::5] = MISSING
    y = rng.integers(0, 2, n)
    scorer = make_scorer(columns, y, None, 2, sizes, 2, 0.25, 1, smooth)
    rows = [[MISSING, MISSING, 2, 1], [MISSING, 3, MISSING, 0], [MISSING, MISSING, UNSEEN, MISSING]]
    test = [np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True)]
    found = np.exp(scorer.score(test, LOG_JOINT, False, 1)[0])
    for i, row in enumerate(rows):
        expected = average_reference(columns, y, np.ones(n), 2, sizes, row, 2, 0.25, 1, smooth)
        assert_allclose(found[i], expected, rtol=1e-10)


def test_long_products_neither_vanish_nor_overflow():
    # 400 features: the plain product of probabilities is far below the smallest double.
    rng = np.random.default_rng(0)
    d, n = 400, 300
    columns = [rng.integers(0, 3, n).astype(np.uint8) for _ in range(d)]
    y = rng.integers(0, 2, n)
    scorer = make_scorer(columns, y, None, 2, [3] * d, 1, 1.0, 1, False)
    found = scorer.score([column[:4] for column in columns], LOG_JOINT, False, 1)[0]
    pairs = count_subsets(columns, y, None, 2, [3] * d, 2, 1).reshape(-1, 3, 3, 2)
    at = {pair: k for k, pair in enumerate(combinations(range(d), 2))}
    n_value = count_values(columns, y, None, 2, [3] * d, 1).reshape(d, 3, 2)
    for r in range(4):
        x = [int(column[r]) for column in columns]
        logs = []
        for i in range(d):
            n_parent = n_value[i, x[i]]
            others = [j for j in range(d) if j != i]
            n_pair = np.array([pairs[at[min(i, j), max(i, j)], x[min(i, j)], x[max(i, j)]] for j in others])
            logs.append(np.log((n_parent + 1) / (n + 6)) + np.log((n_pair + 1) / (n_parent + 3)).sum(axis=0))
        assert_allclose(found[r], np.logaddexp.reduce(logs, axis=0) - np.log(d), rtol=1e-12)
    assert (found < -300).all()


def test_the_number_of_threads_does_not_show():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, 2000).astype(np.uint8) for _ in range(5)]
    columns[2][::7] = MISSING
    scorer = make_scorer(columns, rng.integers(0, 3, 2000), None, 3, [3] * 5, 2, 1.0, 1, False)
    assert_array_equal(scorer.score(columns, LOG_JOINT, False, 1)[0], scorer.score(columns, LOG_JOINT, False, 2)[0])
