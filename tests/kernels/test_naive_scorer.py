"""The scoring kernel scores as its plain twin does."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, logsumexp

from bayeskit._kernels import NaiveScorer, Score
from kernels import twins
from kernels.arrays import laid_out

ROUNDING = 1e-12
FAMILY = {"table": 0, "gaussian": 1, "poisson": 2, "skip": 3}


def log_table(draw, n_rows, n_classes):
    cell = st.sampled_from([-np.inf, -3.0, -1.5, -0.25, 0.0])
    return np.array(draw(st.lists(cell, min_size=n_rows * n_classes, max_size=n_rows * n_classes))).reshape(
        n_rows, n_classes
    )


@st.composite
def features(draw, n_rows, n_classes, coded):
    family = draw(st.sampled_from(["table", "table", "table", "gaussian", "poisson", "skip"]))
    number = st.sampled_from([np.nan, 0.0, 1.0, 2.0, 5.0])
    if family == "table":
        size, low = draw(st.integers(0, 5)), draw(st.integers(-2, 3))
        dtype = np.dtype(draw(st.sampled_from(["u1", "u2", "u4"] if coded else ["i1", "u1", "i8", "u8", "f4", "f8"])))
        if dtype.kind == "f":
            cell = number | st.sampled_from([0.5, -1.0])
        else:
            ends = [np.iinfo(dtype).max, np.iinfo(dtype).max - 1]
            cell = st.integers(max(-3, np.iinfo(dtype).min), 8) | st.sampled_from(ends)
        table = log_table(draw, size + 2, n_classes)
    else:
        low, dtype = 0, np.dtype(draw(st.sampled_from(["f4", "f8", "i4", "u1"])))
        cell = number if dtype.kind == "f" else st.integers(0, 9)
        positive = st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n_classes, max_size=n_classes).map(np.array)
        if family == "gaussian":
            table = np.stack([-draw(positive), draw(positive), draw(positive)])
        elif family == "poisson":
            rate = draw(positive)
            table = np.stack([np.log(rate), rate])
        else:
            table = np.empty((0, n_classes))
    column = np.array(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), dtype=dtype)
    return (family, low, table), laid_out(column, draw(st.sampled_from(["row-major", "sliced", "reversed"])))


@st.composite
def scored(draw):
    n_rows, n_classes, coded = draw(st.integers(1, 70)), draw(st.integers(1, 9)), draw(st.booleans())
    parts = draw(st.lists(features(n_rows, n_classes, coded), min_size=1, max_size=6))
    prior = log_table(draw, 1, n_classes)[0]
    return prior, [part[0] for part in parts], [part[1] for part in parts], coded


def scorer(prior, parts):
    n_classes = len(prior)
    tables = np.concatenate([table for _, _, table in parts] + [np.empty((0, n_classes))])
    families = [FAMILY[family] for family, _, _ in parts]
    sizes = [len(table) - 2 if family == "table" else 0 for family, _, table in parts]
    return NaiveScorer(prior, tables, families, [low for _, low, _ in parts], sizes)


@given(scored())
@settings(max_examples=120, deadline=None)
def test_all_five_results_are_those_of_the_twin(case):
    prior, parts, columns, coded = case
    kernel = scorer(prior, parts)
    joint = twins.log_joint(prior, parts, columns, coded)
    found, impossible, infinite = kernel.score(columns, coded, Score.LOG_JOINT, False, None, 1)
    assert_allclose(found, joint, rtol=ROUNDING, atol=ROUNDING)
    assert (impossible, infinite) == (-1, -1)
    evidence = logsumexp(joint, axis=1)
    assert_allclose(
        kernel.score(columns, coded, Score.LOG_EVIDENCE, False, None, 1)[0], evidence, rtol=1e-11, atol=1e-11
    )
    possible = evidence > -np.inf
    first = int(np.argmin(possible)) if not possible.all() else -1
    for result in (Score.LOG_POSTERIOR, Score.POSTERIOR, Score.CLASS):
        scores, impossible, _ = kernel.score(columns, coded, result, False, None, 1)
        assert impossible == first
        expected = log_softmax(joint[possible], axis=1)
        if result == Score.CLASS:
            best = np.take_along_axis(expected, scores[possible, None], axis=1)[:, 0]
            assert_allclose(best, expected.max(axis=1), rtol=1e-11, atol=1e-11)
        else:
            expected = np.exp(expected) if result == Score.POSTERIOR else expected
            assert_allclose(scores[possible], expected, rtol=1e-11, atol=1e-11)


@given(scored(), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_terms_of_other_densities_are_added_to_the_log_joint(case, seed):
    prior, parts, columns, coded = case
    joint = twins.log_joint(prior, parts, columns, coded)
    terms = np.random.default_rng(seed).normal(size=joint.shape)
    kernel = scorer(prior, parts)
    found = kernel.score(columns, coded, Score.LOG_JOINT, False, terms, 1)[0]
    assert_allclose(found, joint + terms, rtol=ROUNDING, atol=ROUNDING)
    with pytest.raises(ValueError, match="the terms do not fit the rows and classes"):
        kernel.score(columns, coded, Score.LOG_JOINT, False, np.zeros((len(joint) + 1, len(prior))), 1)


@given(scored())
@settings(max_examples=100, deadline=None)
def test_with_fallback_an_impossible_row_gets_the_prior(case):
    prior, parts, columns, coded = case
    assume(not np.isneginf(prior).all())
    joint = twins.log_joint(prior, parts, columns, coded)
    rows = np.isneginf(joint).all(axis=1)
    posterior, impossible, _ = scorer(prior, parts).score(columns, coded, Score.POSTERIOR, True, None, 1)
    assert impossible == -1
    expected = np.exp(log_softmax(prior))
    assert_allclose(posterior[rows], np.tile(expected, (rows.sum(), 1)), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [1, 2, 4, 5, 8, 9])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 8191, 8193, 20_000])
def test_blocks_and_chunks_have_no_seam_and_threads_no_effect(n_rows, n_classes):
    rng = np.random.default_rng(n_rows)
    parts = [("table", 0, rng.normal(size=(6, n_classes))) for _ in range(5)]
    parts += [("gaussian", 0, np.abs(rng.normal(size=(3, n_classes)))) for _ in range(2)]
    prior = rng.normal(size=n_classes)
    X = np.concatenate([rng.integers(0, 5, (n_rows, 5)), rng.normal(size=(n_rows, 2))], axis=1)
    level = np.minimum(X[:, :5].astype(int), 4)  # 4 is unseen
    joint = prior + sum(table[level[:, j]] for j, (_, _, table) in enumerate(parts[:5]))
    for j, (_, _, (constant, mean, half)) in enumerate(parts[5:]):
        joint = joint + constant - (X[:, [5 + j]] - mean) ** 2 * half
    one = scorer(prior, parts).score(X, False, Score.LOG_JOINT, False, None, 1)[0]
    assert_allclose(one, joint, rtol=1e-11, atol=1e-11)
    assert_array_equal(one, scorer(prior, parts).score(X, False, Score.LOG_JOINT, False, None, 2)[0], strict=True)
    assert_array_equal(
        one, scorer(prior, parts).score(np.asfortranarray(X), False, Score.LOG_JOINT, False, None, 1)[0], strict=True
    )


def test_the_first_infinite_and_the_first_impossible_row_are_named():
    table = np.array([[0.0], [-np.inf], [0.0], [0.0]])
    kernel = NaiveScorer(np.zeros(1), np.concatenate([table, [[0.0], [0.0], [1.0]]]), [0, 1], [0, 0], [2, 0])
    X = np.zeros((20_000, 2))
    X[[9000, 12_000], 0] = 1
    X[[15_000, 17_000], 1] = [-np.inf, np.inf]
    assert kernel.score(X, False, Score.POSTERIOR, False, None, 2)[1:] == (9000, 15_000)


def test_raw_bytes_254_and_255_are_values_and_reserved_only_as_codes():
    table = np.arange(258.0)[:, None]  # 256 values, unseen, missing
    kernel = NaiveScorer(np.zeros(1), table, [0], [0], [256])
    column = np.array([254, 255], dtype=np.uint8)
    assert_array_equal(kernel.score(column[:, None], False, Score.LOG_JOINT, False, None, 1)[0][:, 0], [254, 255])
    small = NaiveScorer(np.zeros(1), np.arange(4.0)[:, None], [0], [0], [2])
    assert_array_equal(small.score([column], True, Score.LOG_JOINT, False, None, 1)[0][:, 0], [2, 3])


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="parameter rows does not fit"):
        NaiveScorer(np.zeros(2), np.zeros((3, 2)), [0], [0], [2])
    with pytest.raises(ValueError, match="do not fit together"):
        NaiveScorer(np.zeros(2), np.zeros((4, 3)), [0], [0], [2])
    kernel = NaiveScorer(np.zeros(2), np.zeros((4, 2)), [0], [0], [2])
    with pytest.raises(ValueError, match="wrong number of columns"):
        kernel.score(np.zeros((1, 2)), False, 0, False, None, 1)
