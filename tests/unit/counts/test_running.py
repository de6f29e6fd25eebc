"""Small batches wait as codes; their sum is what one pass over all rows counts."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import bayeskit
from bayeskit import AODE, KDB, TAN
from bayeskit.counts.families import FamilyCounts
from bayeskit.counts.running import RunningFamilies
from bayeskit.errors import MergeError, TooLargeError

MODELS = {"TAN": TAN, "AODE": AODE, "A2DE": lambda: AODE(n_parents=2), "KDB": KDB}


def table(rng, n, levels=12, holes=0.1):
    X = {f"c{j}": rng.integers(0, levels, n).astype(str).astype(object) for j in range(4)}
    for column in X.values():
        column[rng.random(n) < holes] = None
    return X, np.array(["no", "yes", "maybe"], dtype=object)[rng.integers(0, 3, n)]


def rows(X, part):
    return {name: column[part] for name, column in X.items()}


@pytest.mark.filterwarnings("ignore:column:bayeskit.errors.BayeskitWarning")  # a first batch without a value in one
@pytest.mark.parametrize("name", MODELS)
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(1, 39), max_size=6), weighted=st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_any_split_into_batches_counts_what_one_fit_counts(name, seed, cuts, weighted):
    rng = np.random.default_rng(seed)
    X, y = table(rng, 40)
    weight = rng.integers(1, 4, 40).astype(float) if weighted else None
    edges = [0, *sorted(set(cuts)), 40]
    model, whole = MODELS[name](), MODELS[name]().fit(X, y, sample_weight=weight)
    for k, (start, end) in enumerate(pairwise(edges)):
        part = slice(start, end)
        if weighted == 1 or weight is None:
            model.partial_fit(rows(X, part), y[part], sample_weight=None if weight is None else weight[part])
        else:  # whole weights here, repeated rows there
            again = np.repeat(np.arange(start, end), weight[part].astype(int))
            mine = (rows(X, again), y[again]) if k % 2 else (rows(X, part), y[part], None, weight[part])
            model.partial_fit(*mine)
    assert model.schema_ == whole.schema_
    assert model.classes_.tolist() == whole.classes_.tolist()
    assert_array_equal(model.counts_.cells, whole.counts_.cells)
    assert_array_equal(model.counts_.alone.values.n_value, whole.counts_.alone.values.n_value)
    assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def waiting(model):
    return model._state.counted.waiting


def test_rows_of_small_batches_wait_until_somebody_asks():
    X, y = table(np.random.default_rng(0), 400)
    model = TAN().fit(X, y)
    for k in range(4):
        model.partial_fit(rows(X, slice(10 * k, 10 * k + 10)), y[10 * k : 10 * k + 10])
    assert isinstance(model._state.counted, RunningFamilies)
    assert sum(len(part.y) for part in waiting(model)) == 40
    before = model.counts_  # counts them all
    assert isinstance(before, FamilyCounts)
    model.partial_fit(rows(X, slice(0, 10)), y[:10])
    assert sum(len(part.y) for part in waiting(model)) == 10
    assert model._state.counted.counted is before


def test_rows_that_wait_never_take_more_than_a_quarter_of_the_tables():
    rng = np.random.default_rng(1)
    X, y = table(rng, 400)
    model = AODE().fit(X, y)
    cells = model.counts_.cells.nbytes
    for _ in range(100):
        model.partial_fit(rows(X, slice(0, 50)), y[:50])
        assert sum(part.n_bytes for part in waiting(model)) <= cells / 4
    assert model.counts_.n_class.sum() == 400 + 100 * 50


def test_an_array_that_is_written_over_after_partial_fit_changes_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 30, (200, 6)).astype(np.uint8), rng.integers(0, 2, 200).astype(np.uint8)
    model = AODE(kinds="categorical").fit(X, y)
    batch, labels = X[:20].copy(), y[:20].copy()
    model.partial_fit(batch, labels)
    batch[:], labels[:] = 0, 0
    expected = AODE(kinds="categorical").fit(np.concatenate([X, X[:20]]), np.concatenate([y, y[:20]]))
    assert_array_equal(model.counts_.cells, expected.counts_.cells)


def test_levels_that_grow_past_the_limit_are_refused_while_rows_wait():
    def ids(first, n):
        return {c: [f"{c}{i}" for i in range(first, first + n)] for c in "ab"}, ["no", "yes"] * (n // 2)

    model = TAN(max_memory="4 MiB").fit(*ids(0, 200))
    model.partial_fit(*ids(200, 20))
    with pytest.raises(TooLargeError, match=r"4\.0 MiB"):
        model.partial_fit(*ids(1000, 400))
    assert model.counts_.n_class.sum() == 220


def test_what_does_not_fit_is_refused_and_leaves_the_rows_that_wait():
    model = TAN().fit({"a": ["x", "y"], "b": ["u", "v"]}, ["no", "yes"])
    model.partial_fit({"a": ["x"], "b": ["w"]}, ["yes"])
    with pytest.raises((MergeError, ValueError), match="'a' held text in fit; numbers came"):
        model.partial_fit({"a": [1.0], "b": ["u"]}, ["no"])
    assert model.counts_.n_class.tolist() == [1, 2]


def test_rows_that_wait_are_in_the_pickle_and_in_the_file(tmp_path):
    X, y = table(np.random.default_rng(3), 60)
    model = TAN().fit(X, y).partial_fit(rows(X, slice(0, 5)), y[:5])
    expected = model.predict_proba(X)
    model = TAN().fit(X, y).partial_fit(rows(X, slice(0, 5)), y[:5])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), expected)
    model = TAN().fit(X, y).partial_fit(rows(X, slice(0, 5)), y[:5])
    model.save(tmp_path / "tree.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "tree.bayes").predict_proba(X), expected)
    assert_array_equal(model.unlearn(rows(X, slice(0, 5)), y[:5]).counts_.cells, TAN().fit(X, y).counts_.cells)


def test_a_class_can_be_announced_while_rows_wait():
    X, y = table(np.random.default_rng(4), 60)
    model = TAN().fit(X, y).partial_fit(rows(X, slice(0, 5)), y[:5], classes=["maybe", "never", "no", "yes"])
    assert model.classes_.tolist() == ["maybe", "never", "no", "yes"]
    assert model.counts_.n_class[1] == 0
    assert model.predict_proba(X).shape == (60, 4)
