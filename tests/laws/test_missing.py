"""A missing cell is summed out, not imputed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import logsumexp

from bayeskit import NaiveBayes
from bayeskit.datasets import load_penguins, load_watermelon

COLUMNS = {"u": "abc", "v": "xyz", "w": "01"}


@st.composite
def discrete_tables(draw):
    n_rows = draw(st.integers(1, 12))
    table = {
        name: draw(st.lists(st.sampled_from([*values, None]), min_size=n_rows, max_size=n_rows))
        for name, values in COLUMNS.items()
    }
    for name, values in COLUMNS.items():
        table[name][0] = values[0]  # no column is without values
    return table, draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n_rows, max_size=n_rows))


@given(discrete_tables(), st.sampled_from([0.5, 1.0]), st.data())
@settings(max_examples=60, deadline=None)
def test_the_joint_with_missing_cells_is_the_sum_over_their_values(data, smoothing, draw):
    table, y = data
    model = NaiveBayes(smoothing=smoothing).fit(table, y)
    row = {name: draw.draw(st.sampled_from([*model.schema_[name].values, None])) for name in COLUMNS}
    choices = [model.schema_[name].values if value is None else (value,) for name, value in row.items()]
    completions = list(itertools.product(*choices))
    full = model.predict_joint_log_proba(
        {name: list(cells) for name, cells in zip(COLUMNS, zip(*completions, strict=True), strict=True)}
    )
    summed = logsumexp(full, axis=0)
    found = model.predict_joint_log_proba({name: [value] for name, value in row.items()})[0]
    assert_allclose(found, summed, rtol=1e-12, atol=1e-12)


def test_a_missing_number_is_integrated_out():
    model = NaiveBayes().fit(load_watermelon(), target="好瓜")
    row = {name: [values[0]] for name, values in load_watermelon().items() if name != "好瓜"}

    def density(x, c):
        return np.exp(model.predict_joint_log_proba({**row, "密度": [x]})[0, c])

    without = np.exp(model.predict_joint_log_proba({**row, "密度": [None]})[0])
    for c in range(2):
        assert_allclose(quad(density, -3, 4, args=(c,), points=[0.5])[0], without[c], rtol=1e-11)


def test_denominators_count_the_rows_in_which_the_cell_is_known():
    model = NaiveBayes(smoothing=1).fit({"u": ["a", "a", "b", None, None]}, list("xxxxy"))
    # Of the four rows of class x three are known: (2 + 1) / (3 + 2 · 1).
    assert_allclose(model.tables_["u"]["a", "x"], 3 / 5, rtol=1e-14)
    # Class y has no known cell: 1 / 2.
    assert_allclose(model.tables_["u"]["a", "y"], 1 / 2, rtol=1e-14)
    assert_allclose(model.class_prior_, [5 / 7, 2 / 7], rtol=1e-14)


@pytest.mark.parametrize("blank", [None, float("nan")])
def test_a_row_without_any_cell_gets_the_prior(blank):
    model = NaiveBayes().fit({"u": list("aabb"), "h": [1.0, 2.0, 3.0, 5.0]}, list("xxyx"))
    assert_allclose(model.predict_proba({"u": [None], "h": [blank]})[0], model.class_prior_, rtol=1e-14)
    assert_array_equal(
        model.score_samples({"u": [None], "h": [blank]}), model.score_samples({"u": [None], "h": [None]})
    )
    assert_allclose(model.score_samples({"u": [None], "h": [blank]}), 0.0, atol=1e-15)


def test_an_unseen_value_is_as_missing_by_default():
    model = NaiveBayes().fit({"u": list("aab"), "v": list("cdd")}, list("xxy"))
    assert_array_equal(model.predict_proba({"u": ["?"], "v": ["c"]}), model.predict_proba({"u": [None], "v": ["c"]}))


def test_the_evidence_sums_to_one_over_all_rows():
    penguins = {name: load_penguins()[name] for name in ("species", "island", "sex")}
    model = NaiveBayes().fit(penguins, target="species")
    cells = list(itertools.product(model.schema_["island"].values, model.schema_["sex"].values))
    evidence = model.score_samples({"island": [a for a, _ in cells], "sex": [b for _, b in cells]})
    assert_allclose(np.exp(evidence).sum(), 1.0, rtol=1e-12)
