"""What semi-naive classifiers do after the first fit: grow, change parameters, leave rows out, explain, be saved."""

import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import bayeskit
from bayeskit import AODE, KDB, ODE, SPODE, TAN, datasets
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError, TooLargeError

MODELS = [ODE(), SPODE("outlook"), TAN(), AODE(), AODE(n_parents=2), KDB(1), KDB(2), KDB(2, selective=True)]


@pytest.fixture
def tennis():
    table = dict(datasets.load_tennis())
    return table, table.pop("play")


def ids(first, n=1000):
    names = range(first, first + n)
    return {"a": [f"a{i}" for i in names], "b": [f"b{i}" for i in names]}, ["no", "yes"] * (n // 2)


def test_levels_that_grow_past_the_limit_are_refused_before_the_sum_is_made():
    small = TAN(max_memory="60 MiB").fit(*ids(0))
    other = TAN(max_memory="60 MiB").fit(*ids(1000))
    for grow in (lambda: small.partial_fit(*ids(1000)), lambda: small.merge(other)):
        with pytest.raises(TooLargeError, match=r"need 30.5 MiB; the columns with most values are 'a' with 2000"):
            grow()
        assert small.counts_.alone.n_rows == 1000


def test_a_sum_that_is_large_is_said_where_the_user_called(monkeypatch):
    monkeypatch.setattr("bayeskit.counts.memory.WORTH_SAYING", 2**26)
    model = TAN().fit(*ids(0))
    with pytest.warns(BayeskitWarning, match="need 30.5 MiB") as said:
        model.partial_fit(*ids(1000))
    assert said[0].filename == __file__


@pytest.mark.parametrize("change", [{"k": 2}, {"selective": True}])
def test_a_kdb_whose_counts_do_not_hold_what_is_asked_for_says_so(tennis, change):
    model = KDB(1).fit(*tennis).set_params(**change)
    with pytest.raises(BayeskitError, match="does not fit the counts of this model; call fit again"):
        model.partial_fit(*tennis)


def test_the_selection_is_saved_and_survives_a_fit_that_fails(tennis, tmp_path):
    model = KDB(2, selective=True).fit(*tennis)
    model.save(tmp_path / "kdb.bayes")
    np.testing.assert_array_equal(bayeskit.load(tmp_path / "kdb.bayes").selection_, model.selection_)
    before = model.selection_
    with pytest.raises(TooLargeError):
        model.set_params(max_memory=0).fit(*tennis)
    assert model.selection_ is before


def test_leave_one_out_matches_dicts_by_name_and_takes_the_table_of_the_fit_again(tennis):
    X, y = tennis
    table = {**X, "play": y}
    model = TAN().fit(table, target="play")
    expected = model.leave_one_out(table, target="play").log_loss
    assert model.leave_one_out(dict(reversed(table.items())), target="play").log_loss == expected
    assert model.leave_one_out(table, y).log_loss == expected
    with pytest.raises(TableError, match="needs the labels"):
        model.leave_one_out(table)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("smoothing", [0, 1])
def test_rows_without_weight_take_no_part_in_leave_one_out(tennis, model, smoothing):
    X, y = tennis
    model.set_params(smoothing=smoothing)
    labels = np.array([*y, "never", "no"], dtype=object)
    wider = {name: [*column, "new", column[0]] for name, column in X.items()}
    weight = np.r_[np.ones(len(y)), 0, 0]
    with_them = model.fit(wider, labels, weight).leave_one_out(wider, labels, weight)
    without = model.fit(X, y).leave_one_out(X, y)
    assert repr(with_them) == repr(without)


def test_a_parent_may_be_given_by_a_numpy_integer(tennis):
    assert ODE({np.int64(1): np.int64(0)}).fit(*tennis).structure_.arcs == (("outlook", "temperature"),)


def test_text_in_a_column_of_numbers_is_refused_as_what_it_is():
    model = TAN().fit({"age": [1.0, 2.0, 30.0, 40.0]}, ["young", "young", "old", "old"])
    with pytest.raises(TableError, match="column 'age' held numbers in fit; text came, such as 'forty'"):
        model.predict({"age": ["forty"]})


def test_a_missing_cell_of_a_nullable_frame_is_explained():
    frame = pd.DataFrame({"a": pd.array([1, 0, 1, None], dtype="Int64"), "b": ["x", "y", "y", "x"]})
    model = TAN(kinds={"a": "categorical"}).fit(frame, [0, 1, 1, 0])
    assert model.explain_rows(frame)[3].used.tolist() == [False, True]
    assert model.explain(frame.iloc[3]).used.tolist() == [False, True]


@pytest.mark.parametrize("model", [ODE(), TAN(), AODE(), KDB(2)])
def test_an_explanation_does_not_use_a_value_that_the_model_leaves_out(tennis, model):
    day = {"outlook": "foggy", "temperature": None, "humidity": "high", "wind": "weak"}
    assert model.fit(*tennis).explain(day).used.tolist() == [False, False, True, True]


def test_an_explanation_does_not_use_a_feature_that_selection_left_out(tennis):
    model = KDB(2, selective=True).fit(*tennis)
    day = {name: column[0] for name, column in tennis[0].items()}
    assert model.explain(day).used.tolist() == [True, False, True, True]


def test_the_joint_tables_of_aode_have_the_slot_for_unseen_values(tennis):
    outlook = {"outlook": tennis[0]["outlook"]}
    model = AODE(min_rows=0, unseen="smooth").fit(outlook, tennis[1])
    table = model.tables_["outlook"]
    values = {"outlook": ["overcast", "rain", "sunny", "never seen"]}
    np.testing.assert_allclose(np.asarray(table.values), np.exp(model.predict_joint_log_proba(values)), rtol=1e-12)


def test_aode_with_too_few_columns_for_its_order_has_the_parameters_of_the_lower_one(tennis):
    X = {name: tennis[0][name] for name in ("outlook", "wind")}
    assert AODE(n_parents=2).fit(X, tennis[1]).n_parameters_ == AODE().fit(X, tennis[1]).n_parameters_ == 3 * 2 * 2 - 1
    assert AODE().fit({"wind": X["wind"]}, tennis[1]).n_parameters_ == 2 * 2 - 1


@pytest.mark.parametrize(("sizes", "n_classes"), [((2, 2), 2), ((2, 3, 2), 3), ((3, 2, 2, 4), 2)])
@pytest.mark.parametrize("order", [1, 2])
def test_the_parameters_of_aode_are_as_many_as_its_counts_can_differ_in(sizes, n_classes, order):
    # Every joint table of all columns gives margins P(c, x_i, x_j …); how many of these numbers are free is the rank of
    # the map, less one for the sum of all.
    joint = np.eye(n_classes * np.prod(sizes)).reshape(-1, n_classes, *sizes)
    margins = []
    for kept in combinations(range(len(sizes)), min(order + 1, len(sizes))):
        others = tuple(2 + j for j in range(len(sizes)) if j not in kept)
        margins.append(joint.sum(axis=others).reshape(len(joint), -1))
    free = np.linalg.matrix_rank(np.hstack(margins)) - 1
    rows = np.array(list(product(*(range(size) for size in sizes), range(n_classes)))).astype(str).T
    table = {f"x{j}": column for j, column in enumerate(rows[:-1])}
    assert AODE(n_parents=order).fit(table, rows[-1]).n_parameters_ == free
    assert AODE(n_parents=order, prior="uniform").fit(table, rows[-1]).n_parameters_ == free - (n_classes - 1)


def test_the_shared_margins_of_the_watermelons_are_counted_once():
    # K = 2 and sizes 3, 3, 3, 3, 3, 2: 1 + 2 · 11 + 2 · (10 · 4 + 5 · 2) = 123.
    table = {name: column for name, column in datasets.load_watermelon().items() if isinstance(column[0], str)}
    assert AODE().fit(table, target="好瓜").n_parameters_ == 123


def test_one_class_has_no_loss():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loo = TAN().fit({"a": ["x", "y"]}, ["c", "c"]).leave_one_out({"a": ["x", "y"]}, ["c", "c"])
    assert repr(loo) == "LeaveOneOut(error=0, log_loss=0, rmse=0)"


def test_rows_after_fit_are_told_once_what_stays_frozen():
    table = dict(datasets.load_penguins())
    y = table.pop("species")
    model = KDB(2).fit(table, y)
    with pytest.warns(BayeskitWarning) as said:
        model.partial_fit(table, y)
    told = [str(warning.message) for warning in said]
    assert any("the bins of" in text for text in told)
    assert any("the structure was chosen" in text for text in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(table, y)


def test_explanation_and_summary_name_the_bin():
    model = TAN(numeric="equal-width", bins=2).fit({"age": [20.0, 30.0, 50.0, 60.0]}, ["no", "no", "yes", "yes"])
    assert model.explain({"age": 35}).labels() == ["age = 35 in (-inf, 40)"]
    assert model.explain_rows({"age": [35, 40]})[1].labels() == ["age = 40 in [40, inf)"]
    assert "age in [40, inf)" in str(model.summary())


def test_all_columns_without_a_value_are_named_where_the_user_called():
    with pytest.warns(BayeskitWarning, match="columns 'a', 'b' have no value in any row; they are left out") as said:
        TAN().fit({"a": [None, None], "b": [None, None], "c": ["x", "y"]}, [0, 1])
    assert said[0].filename == __file__


@pytest.mark.parametrize("model", [bayeskit.NaiveBayes(), TAN()])
def test_score_and_likelihood_match_the_columns_of_a_dict_by_name(model, tennis):
    table, y = tennis
    model.fit({**table, "play": y}, target="play")
    turned = {"play": y, **dict(reversed(table.items()))}
    assert model.score(turned, target="play") == model.score(table, y)
    assert model.log_likelihood(turned, target="play") == model.log_likelihood(table, y)
