"""AutoBayes on wide tables, on columns of very many values, and with very many classes."""

import copy
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AutoBayes, load
from bayeskit.classify.auto import rare_values
from bayeskit.classify.auto.gaussian_columns import all_columns
from bayeskit.classify.auto.levels import learn_levels
from bayeskit.classify.auto.linear import learn_linear
from bayeskit.classify.auto.rare_values import RareValues
from bayeskit.classify.auto.training_rows import TrainingRows, log_softmax
from bayeskit.errors import ModelFileError
from bayeskit.table.schema import Variable


def wide(n=60, d=300, useful=30, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, :useful] += np.where(y, 0.45, -0.45)[:, None]
    return X, y


def wide_rows(X, y, weight):
    n, d = X.shape
    columns, order = list(X.T), np.arange(n, dtype=np.int32)
    variables = [Variable(f"x{j}", "gaussian", numeric=True) for j in range(d)]
    levels = learn_levels(variables, columns, order, weight, [np.empty(0, np.int64)] * d)
    return levels, TrainingRows(columns, order, levels.encode(columns)[0], y.astype(np.uint32), weight, 2)


def test_leaving_a_row_out_of_the_linear_member_is_fitting_without_it():
    X, y = wide(25, 40, 10)
    weight = np.ones(25)
    weight[[3, 8]] = 2.0
    levels, rows = wide_rows(X, y, weight)
    scales = all_columns(rows, levels, np.ones((int(levels.level_at[-1]), 2)))
    plan, left_out = learn_linear(rows, scales)
    z = scales.of_rows(rows)
    of_rows = np.repeat(np.arange(25), weight.astype(int))  # a row of weight 2 is the row twice

    def fitted(kept, ridge):
        """Return what scores a row by ridge regression in the primal, with the ridge and power of the member."""
        mean, share = z[kept].mean(axis=0), np.eye(2)[y[kept]].mean(axis=0)
        inverse = np.linalg.inv((z[kept] - mean).T @ (z[kept] - mean) + ridge * np.eye(z.shape[1]))
        beta = inverse @ (z[kept] - mean).T @ (np.eye(2)[y[kept]] - share)
        return lambda row: (row - mean) @ beta + share

    # The ridge and the power follow from the coefficients, which the primal has with all rows.
    smoothed = (np.bincount(y, weights=weight) + 0.5) / (weight.sum() + 1)
    unit = np.square(z[of_rows] - z[of_rows].mean(axis=0)).sum() / len(of_rows)
    for ridge in unit * np.geomspace(1e-3, 1e2, 11):
        score = fitted(of_rows, ridge)
        slopes = np.array([score(z[row]) - score(z[0]) for row in (1, 2)])
        ours = (z[[1, 2]] - z[0]) @ plan.coefficients
        power = (ours / slopes).mean()
        if np.allclose(ours, power * slopes, rtol=1e-6):
            break
    else:
        pytest.fail("no ridge of the grid gives the coefficients")
    for row in (0, 3, 17):
        without = np.delete(of_rows, np.flatnonzero(of_rows == row)[0])
        expected = log_softmax((np.log(smoothed) + power * (fitted(without, ridge)(z[row]) - smoothed))[None, :])[0]
        assert_allclose(left_out[row], expected, rtol=1e-6)


def test_a_wide_table_has_a_linear_member_that_sees_all_columns():
    X, y = wide(560)
    model = AutoBayes(effort="fast").fit(X[:60], y[:60])
    assert list(model.members_)[-1] == "linear"
    assert len(model.counts_.plan.linear[0].scales.features) == 300
    without = AutoBayes(effort="fast").fit(X[:60, :40], y[:60])
    assert "linear" not in without.members_
    loss = -np.log(model.predict_proba(X[60:])[np.arange(500), y[60:]]).mean()
    assert loss < 0.35


def test_hidden_cells_files_later_rows_and_classes_of_the_linear_member(tmp_path):
    X, y = wide(80)
    model = AutoBayes(effort="fast").fit(X[:60], y[:60])
    all_hidden = model.log_posterior_hiding(X[:1], np.ones((1, 300), dtype=bool))
    assert_allclose(np.exp(all_hidden)[0], np.bincount(y[:60]) / 60, rtol=1e-12)
    path = tmp_path / "wide.bayes"
    model.save(path)
    assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))
    parts = model.explain_members(dict(zip(model.schema_.names, X[0].tolist(), strict=True)), (1, 0))
    log_proba = model.predict_log_proba(X[:1])[0]
    assert_allclose(sum(part.log_odds for part in parts), log_proba[1] - log_proba[0], rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        later = copy.deepcopy(model).partial_fit(X[60:], y[60:])
        coefficients = model.counts_.plan.linear[0].coefficients
        assert_array_equal(later.counts_.plan.linear[0].coefficients, coefficients)
        back = copy.deepcopy(later).unlearn(X[60:], y[60:])
        new_class = copy.deepcopy(model).partial_fit(X[60:], np.where(y[60:] == 1, 3, 0))
    assert_allclose(back.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    assert_allclose(new_class.predict_proba(X).sum(axis=1), 1.0)


# -- columns of very many values --------------------------------------------------------------------------------------


def many_values(n=3000, n_values=900, effect=2.5, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.choice(n_values, n, p=rng.dirichlet(np.full(n_values, 1.0)))
    y = (rng.normal(size=n_values)[code] * effect + rng.logistic(size=n) > 0).astype(int)
    return {"shop": [f"s{c}" for c in code], "size": rng.normal(size=n).tolist()}, y


def part(table, rows):
    return {name: column[rows] for name, column in table.items()}


def test_values_without_a_level_of_their_own_still_say_something():
    table, y = many_values()
    learn, new = slice(0, 2000), slice(2000, None)
    model = AutoBayes(effort="fast").fit(part(table, learn), y[learn])
    plan = model.counts_.plan
    assert_array_equal(plan.rare.features, [0])
    rare = plan.levels.places[0] == 1
    assert model.counts_.rare.shape == (rare.sum(), 2)
    is_rare = np.array(
        [v in plan.schema[0].values and rare[plan.schema[0].values.index(v)] for v in table["shop"][new]]
    )
    error = (model.predict(part(table, new)) != y[new])[is_rare].mean()
    assert is_rare.sum() > 100
    assert error < 0.4  # by the group alone it is a coin


def test_what_rare_values_say_is_their_class_profile_without_the_row():
    rng = np.random.default_rng(1)
    places = np.ones(6, dtype=np.uint8)
    rare = RareValues(np.array([0]), (places,), np.array([2.0]), np.ones(1))
    codes, y = rng.integers(0, 6, 40).astype(np.uint8), rng.integers(0, 3, 40).astype(np.uint32)
    rows = TrainingRows([codes], np.arange(40, dtype=np.int32), codes[None, :], y, np.ones(40), 3)
    counts = rare.count(rows)
    assert_array_equal(counts, [[((codes == v) & (y == c)).sum() for c in range(3)] for v in range(6)])
    found = rare.left_out(counts, rows)[0]
    for row in range(40):
        rest = np.arange(40) != row
        shares = np.array([(y[rest] == c).sum() + 0.5 for c in range(3)])
        shares = shares / shares.sum()
        of_value = np.array([(rest & (codes == codes[row]) & (y == c)).sum() for c in range(3)])
        assert_allclose(found[row], np.log((of_value + 2 * shares) / (of_value.sum() + 2) / shares), rtol=1e-12)


def test_rare_values_add_subtract_travel_and_are_explained(tmp_path):
    table, y = many_values()
    first, rest = slice(0, 2000), slice(2000, None)
    model = AutoBayes(effort="fast").fit(part(table, first), y[first])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = copy.deepcopy(model).partial_fit(part(table, rest), y[rest])
        back = copy.deepcopy(both).unlearn(part(table, rest), y[rest])
    assert both.counts_.rare.sum() > model.counts_.rare.sum()
    assert_array_equal(back.counts_.rare, model.counts_.rare)
    path = tmp_path / "many.bayes"
    both.save(path)
    assert_array_equal(load(path).predict_proba(table), both.predict_proba(table))
    row = next(
        r
        for r in range(2000)
        if model.counts_.plan.levels.places[0][model.schema_[0].values.index(table["shop"][r])] == 1
    )
    parts = model.explain_members({name: column[row] for name, column in table.items()}, (1, 0))
    log_proba = model.predict_log_proba(part(table, slice(row, row + 1)))[0]
    assert_allclose(sum(each.log_odds for each in parts), log_proba[1] - log_proba[0], rtol=1e-9)


def test_values_that_are_merged_are_said(monkeypatch):
    monkeypatch.setattr(rare_values, "MOST_CELLS", 100)
    table, y = many_values()
    with pytest.warns(UserWarning, match="column 'shop' has too many values for 2 classes"):
        AutoBayes(effort="fast").fit(table, y)


# -- very many classes ------------------------------------------------------------------------------------------------


def test_a_model_of_many_classes_is_as_large_as_what_was_seen(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(200), 6)
    X = rng.normal(size=(200, 5))[y] * 3 + rng.normal(size=(len(y), 5))
    model = AutoBayes().fit(X, y)
    path = tmp_path / "many.bayes"
    model.save(path)
    assert path.stat().st_size < 3e6
    again = load(path)
    assert_array_equal(again.counts_.trees[0], model.counts_.trees[0])
    assert again.counts_.trees[0].dtype == model.counts_.trees[0].dtype
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    meta, arrays = model.counts_.to_parts()
    for name, damage in (("gaps", lambda a: a * 0 + a.dtype.type(255)), ("above", lambda a: a[1:])):
        damaged = {**arrays, f"trees0_counts_{name}": damage(arrays[f"trees0_counts_{name}"])}
        with pytest.raises(ModelFileError, match="do not fit the model"):
            type(model.counts_).from_parts(meta, damaged)


# -- later rows -------------------------------------------------------------------------------------------------------


def test_a_plan_of_half_of_the_rows_is_said_with_the_loss_of_the_new_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + y[:, None]
    model = AutoBayes(effort="fast").fit(X[:100], y[:100])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.partial_fit(X[100:150], y[100:150])
    assert not [each for each in said if "the plan was chosen on" in str(each.message)]
    of_true = model.predict_proba(X[150:])[np.arange(150), y[150:]]
    with pytest.warns(UserWarning, match="the plan was chosen on 100 rows, and there are 300 now") as said:
        model.partial_fit(X[150:], y[150:])
    loss = f"these 150 new ones was {-np.log(of_true).mean():.4f}"
    assert any(loss in str(each.message) for each in said)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:100], y[:100])  # it is said once
