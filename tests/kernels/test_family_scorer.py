"""The family scorer gives what the formula gives, with hidden cells summed over one by one."""

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import FamilyScorer, Score
from bayeskit._kernels import log_tables as log_tables_kernel

LOG_JOINT, LOG_POSTERIOR, POSTERIOR, CLASS, LOG_EVIDENCE = range(5)
MISSING = 255


def log_joint_reference(log_prior, tables, families, sizes, row):
    """log Σ over the hidden cells of P(c) ∏ P(x_j | parents, c), by writing every completion of the row down."""
    choices = [range(size) if value >= size else [value] for value, size in zip(row, sizes, strict=True)]
    total = np.zeros(len(log_prior))
    for x in product(*choices):
        terms = log_prior.copy()
        for members, table in zip(families, tables, strict=True):
            terms = terms + table[tuple(x[j] for j in members)]
        total += np.exp(terms)
    with np.errstate(divide="ignore"):
        return np.log(total)


@st.composite
def models(draw, most_parents=3):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, n_classes = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    sizes = [draw(st.integers(1, 3)) for _ in range(d)]
    order = rng.permutation(d).tolist()
    families = []
    for place, j in enumerate(order):
        n_parents = int(rng.integers(0, min(place, most_parents) + 1))
        families.append((*rng.permutation(order[:place])[:n_parents].tolist(), j))
    n = draw(st.integers(1, 30))
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    y = rng.integers(0, n_classes, n)
    for column in columns:
        column[rng.random(n) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = MISSING
    return rng, sizes, families, n_classes, columns, y


def random_tables(rng, sizes, families, n_classes):
    tables = []
    for members in families:
        p = rng.random([*(sizes[j] for j in members), n_classes]) + 0.01
        tables.append(np.log(p / p.sum(axis=-2, keepdims=True)))
    return tables


def flat(tables):
    return np.concatenate([table.ravel() for table in tables])


@given(models())
@settings(max_examples=80, deadline=None)
def test_hidden_cells_are_summed_out_as_by_writing_all_completions_down(model):
    rng, sizes, families, n_classes, columns, _ = model
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    tables = random_tables(rng, sizes, families, n_classes)
    scorer = FamilyScorer(log_prior, flat(tables), sizes, families, False, -1)
    found, impossible, too_large = scorer.score(columns, LOG_JOINT, False, 1)
    expected = [log_joint_reference(log_prior, tables, families, sizes, row) for row in zip(*columns, strict=True)]
    assert impossible == -1
    assert too_large == []
    assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@given(models())
@settings(max_examples=40, deadline=None)
def test_each_answer_follows_from_the_log_joint(model):
    rng, sizes, families, n_classes, columns, _ = model
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    tables = random_tables(rng, sizes, families, n_classes)
    scorer = FamilyScorer(log_prior, flat(tables), sizes, families, False, -1)
    joint = np.exp(scorer.score(columns, LOG_JOINT, False, 1)[0])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(scorer.score(columns, POSTERIOR, False, 2)[0], posterior, rtol=1e-10)
    assert_allclose(np.exp(scorer.score(columns, LOG_POSTERIOR, False, 1)[0]), posterior, rtol=1e-10)
    assert_array_equal(scorer.score(columns, CLASS, False, 1)[0], joint.argmax(axis=1))
    assert_allclose(np.exp(scorer.score(columns, LOG_EVIDENCE, False, 1)[0]), joint.sum(axis=1), rtol=1e-10)


def count_tables(columns, y, weight, sizes, families, n_classes):
    tables = []
    for members in families:
        table = np.zeros([*(sizes[j] for j in members), n_classes])
        for i, c in enumerate(y):
            if all(columns[j][i] < sizes[j] for j in members):
                table[(*(columns[j][i] for j in members), c)] += weight[i]
        tables.append(table)
    return tables


def estimate(tables, n_class, smoothing):
    log_prior = np.log((n_class + smoothing) / (n_class + smoothing).sum())
    probabilities = [(n + smoothing) / (n + smoothing).sum(axis=-2, keepdims=True) for n in tables]
    return log_prior, [np.log(p) for p in probabilities]


@given(models(most_parents=2), st.booleans())
@settings(max_examples=30, deadline=None)
def test_leave_one_out_equals_counting_again_without_the_row(model, weighted):
    rng, sizes, families, n_classes, columns, y = model
    smoothing = 0.5
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    tables = count_tables(columns, y, weight, sizes, families, n_classes)
    n_class = np.bincount(y, weights=weight, minlength=n_classes)
    log_prior, log_tables = estimate(tables, n_class, smoothing)
    scorer = FamilyScorer(log_prior, flat(log_tables), sizes, families, False, -1)
    evidence = (n_class, flat(tables), np.full(n_classes, smoothing), np.full(sum(sizes), smoothing))
    found, _, _ = scorer.leave_one_out(columns, y, weight, *evidence, None, None, Score.LOG_POSTERIOR, True, 2)
    n_values = [n.shape[-2] for n in tables]
    without = log_tables_kernel([n.ravel() for n in tables], n_values, n_classes, [smoothing] * len(tables), 1.0, 1)
    from_tables, _, _ = scorer.leave_one_out(columns, y, weight, *evidence, without, None, Score.LOG_POSTERIOR, True, 2)
    assert_allclose(from_tables, found, rtol=1e-12)
    for i, row in enumerate(zip(*columns, strict=True)):
        less = weight.copy()
        less[i] -= 1.0  # one of the copies
        n_less = np.bincount(y, weights=less, minlength=n_classes)
        prior, logs = estimate(count_tables(columns, y, less, sizes, families, n_classes), n_less, smoothing)
        joint = log_joint_reference(prior, logs, families, sizes, row)
        assert_allclose(np.exp(found[i]), np.exp(joint - np.logaddexp.reduce(joint)), rtol=1e-12, atol=1e-15)


def test_a_row_that_no_class_can_give_is_named_or_answered_with_the_prior():
    log_prior = np.log([0.3, 0.7])
    with np.errstate(divide="ignore"):
        table = np.log([[0.0, 0.0], [1.0, 1.0]])
    scorer = FamilyScorer(log_prior, table.ravel(), [2], [(0,)], False, -1)
    columns = [np.array([1, 0], dtype=np.uint8)]
    assert scorer.score(columns, POSTERIOR, False, 1)[1] == 1
    assert_allclose(scorer.score(columns, POSTERIOR, True, 1)[0][1], [0.3, 0.7], rtol=1e-12)


def test_a_sum_over_too_many_cells_is_not_tried_and_its_row_is_named():
    # Eight hidden parents of one child: no order of summation avoids the joint table of all of them.
    d, size = 9, 16
    families = [(j,) for j in range(8)]
    scorer_sizes = [size] * 8 + [2]
    tables = [np.zeros(size) for _ in range(8)]
    big = [(*range(5), 8)]
    tables.append(np.zeros(size**5 * 2))
    scorer = FamilyScorer(np.zeros(1), np.concatenate(tables), scorer_sizes, families + big, False, -1)
    row = [np.array([MISSING], dtype=np.uint8)] * 8 + [np.array([0], dtype=np.uint8)]
    assert d == len(row)
    # 16 ** 5 cells are still summed, each with the factor 1; the three columns without a child play no part.
    assert_allclose(scorer.score(row, LOG_JOINT, False, 1)[0], [[5 * np.log(16)]], rtol=1e-14)

    # Seven hidden columns of 16 values, and a child of each two of them: all seven meet in one table.
    pairs = list(combinations(range(7), 2))
    families = [*((j,) for j in range(7)), *((*pair, 7 + k) for k, pair in enumerate(pairs))]
    tables = np.zeros(7 * 16 + len(pairs) * 16**2)
    wide = FamilyScorer(np.zeros(1), tables, [16] * 7 + [1] * len(pairs), families, False, -1)
    hidden = [np.array([0, MISSING, 0], dtype=np.uint8)] * 7
    known = [np.array([0, 0, MISSING], dtype=np.uint8)] * len(pairs)
    scores, impossible, too_large = wide.score([*hidden, *known], LOG_JOINT, False, 1)
    assert impossible == -1
    assert too_large == [1]
    assert_array_equal(scores[[0, 2]], [[0.0], [0.0]])  # all tables hold log 1
