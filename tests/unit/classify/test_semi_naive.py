"""Structures, refusals and edges of ODE, SPODE, TAN, AODE and KDB."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, KDB, ODE, SPODE, TAN, NaiveBayes
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure
from bayeskit.datasets import load_penguins, load_tennis
from bayeskit.errors import BayeskitError, BayeskitWarning, ImpossibleEvidenceError, TableError, TooLargeError
from common.registry import classifiers

EVERY = [ODE(), SPODE(), TAN(), AODE(), AODE(n_parents=2), KDB(), KDB(2), KDB(2, selective=True)]
names = pytest.mark.parametrize("model", EVERY, ids=str)


def test_every_registered_model_with_a_structure_is_among_these():
    registered = {type(model) for model in classifiers() if isinstance(model, SemiNaive)}
    assert {type(model) for model in EVERY} == registered


def tennis():
    table = load_tennis()
    return {name: values for name, values in table.items() if name != "play"}, table["play"]


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [-1, 1.5, "2", None, True])
def test_k_must_be_a_whole_number_of_at_least_zero(k):
    with pytest.raises(BayeskitError, match=r"The 'k' parameter of KDB must be a whole number of at least 0\. Got"):
        KDB(k).fit(*tennis())


@pytest.mark.parametrize("order", [0, 3, 1.5, "1", True])
def test_n_parents_must_be_one_or_two(order):
    with pytest.raises(BayeskitError, match="The 'n_parents' parameter of AODE must be 1 or 2"):
        AODE(n_parents=order).fit(*tennis())


def test_min_rows_must_not_be_negative():
    with pytest.raises(BayeskitError, match="'min_rows' parameter of AODE must be a finite number of at least 0"):
        AODE(min_rows=-1).fit(*tennis())


def test_a_parent_that_is_no_feature_is_refused_by_name():
    with pytest.raises(BayeskitError, match="the parent of 'wind' is 'rain', which is not a feature; the features are"):
        ODE({"wind": "rain"}).fit(*tennis())
    with pytest.raises(BayeskitError, match="a key of parents is 'rain', which is not a feature"):
        ODE({"rain": "wind"}).fit(*tennis())
    with pytest.raises(BayeskitError, match="super_parent is 9, which is not a feature"):
        SPODE(9).fit(*tennis())
    with pytest.raises(BayeskitError, match="root is 'sea', which is not a feature"):
        TAN("sea").fit(*tennis())
    with pytest.raises(BayeskitError, match="one-dependence estimator has one parent"):
        ODE({"wind": ["outlook", "humidity"]}).fit(*tennis())


def test_a_cycle_is_refused_and_shown():
    with pytest.raises(BayeskitError, match=r"the parents form a cycle: .*wind → .*; a structure must have none"):
        ODE({"wind": "outlook", "outlook": "humidity", "humidity": "wind"}).fit(*tennis())
    with pytest.raises(BayeskitError, match="cycle: wind → wind"):
        ODE({"wind": "wind"}).fit(*tennis())


def test_densities_are_refused_since_values_are_counted():
    with pytest.raises(TableError, match=r"kinds says 'gaussian', but TAN counts values: numbers are put into bins"):
        TAN(kinds={"year": "gaussian"}).fit(load_penguins(), target="species")
    with pytest.raises(BayeskitError, match="'numeric' parameter of TAN must be one of"):
        TAN(numeric="gaussian").fit(load_penguins(), target="species")


# -- tables at the edge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [model for model in EVERY if not isinstance(model, AODE)], ids=str)
def test_a_feature_with_one_value_changes_nothing(model):
    X, y = tennis()
    plain = type(model)(**model.get_params()).fit(X, y)
    more = type(model)(**model.get_params()).fit({**X, "planet": ["earth"] * 14}, y)
    found = more.predict_proba({**X, "planet": ["earth"] * 14})
    assert_allclose(found, plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("order", "n_plain", "n_lower"), [(1, 4, 1), (2, 6, 4)])
def test_a_feature_with_one_value_adds_the_model_of_one_order_less_to_an_average(order, n_plain, n_lower):
    # As a child it is the factor 1. As the super-parent it gives naive Bayes; with one of the 4 others, a SPODE of it.
    X, y = tennis()
    plain = AODE(n_parents=order).fit(X, y)
    lower = NaiveBayes(smoothing=plain.smoothing) if order == 1 else AODE(n_parents=1)
    more = AODE(n_parents=order).fit({**X, "planet": ["earth"] * 14}, y)
    found = np.exp(more.predict_joint_log_proba({**X, "planet": ["earth"] * 14}))
    terms = n_plain * np.exp(plain.predict_joint_log_proba(X))
    terms += n_lower * np.exp(lower.fit(X, y).predict_joint_log_proba(X))
    assert_allclose(found, terms / (n_plain + n_lower), rtol=1e-12)


@names
def test_columns_that_are_all_constant_give_the_prior(model):
    X, y = {"a": ["x"] * 10, "b": ["z"] * 10}, ["no"] * 6 + ["yes"] * 4
    posterior = type(model)(**model.get_params()).set_params(smoothing=0).fit(X, y).predict_proba(X)
    assert_allclose(posterior, np.tile([0.6, 0.4], (10, 1)), rtol=1e-12)


@names
def test_a_class_that_was_seen_once_is_learned(model):
    X = {"a": ["x", "x", "y", "y", "z"], "b": ["u", "v", "u", "v", "w"]}
    fitted = type(model)(**model.get_params()).fit(X, ["no", "no", "no", "no", "yes"])
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.predict({"a": ["z"], "b": ["w"]}).tolist() == ["yes"]


@names
def test_a_column_that_is_missing_throughout_is_left_out_and_said(model):
    X, y = tennis()
    fresh = type(model)(**model.get_params())
    with pytest.warns(BayeskitWarning, match="column 'soil' has no value in any row; it is left out"):
        fresh.fit({**X, "soil": [None] * 14}, y)
    plain = type(model)(**model.get_params()).fit(X, y)
    assert_allclose(fresh.predict_proba({**X, "soil": [None] * 14}), plain.predict_proba(X), rtol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fresh.partial_fit({**X, "soil": ["dry", "wet"] * 7}, y)
    assert fresh.schema_["soil"].values == ("dry", "wet")
    assert fresh.counts_.n_class.tolist() == [10, 18]
    assert np.isfinite(fresh.predict_log_proba({**X, "soil": ["dry"] * 14})).all()


@names
def test_thousands_of_values_in_one_feature_are_counted(model):
    rng = np.random.default_rng(0)
    X = {"id": [f"row {i}" for i in range(3000)], "a": rng.integers(0, 3, 3000).astype(str).tolist()}
    X["b"] = rng.integers(0, 3, 3000).astype(str).tolist()
    y = np.where(np.array(X["a"]) == "1", "yes", "no")
    fitted = type(model)(**model.get_params()).fit(X, y)
    assert fitted.schema_["id"].n_values == 3000
    assert_array_equal(fitted.counts_.column(0).sum(axis=1), np.ones(3000))
    few = {name: values[:50] for name, values in X.items()}
    assert (fitted.predict(few) == y[:50]).mean() > 0.9


def test_counts_above_the_limit_are_refused_before_any_counting_with_the_sizes_named():
    X = {"a": [f"a{i}" for i in range(400)], "b": [f"b{i}" for i in range(400)]}
    y = ["no", "yes"] * 200
    message = r"need 1\.2 MiB; the columns with most values are 'a' with 400, 'b' with 400\. The limit is 512\.0 KiB"
    for model in (TAN(max_memory="0.5 MiB"), AODE(max_memory="0.5 MiB"), KDB(2, max_memory="0.5 MiB")):
        with pytest.raises(TooLargeError, match=message):
            model.fit(X, y)


def test_large_counts_are_said_before_the_work(monkeypatch):
    monkeypatch.setattr("bayeskit.counts.memory.WORTH_SAYING", 100)
    with pytest.warns(BayeskitWarning, match="the counts of 6 families of columns for 2 classes need"):
        TAN().fit(*tennis())


# -- values that were not seen, rows that cannot be -----------------------------------------------------------------


@names
def test_an_unseen_value_is_as_missing_or_an_error_or_has_a_slot_of_its_own(model):
    X, y = tennis()
    fresh = type(model)(**model.get_params()).fit(X, y)
    foggy = {name: ["foggy" if name == "outlook" else values[0]] for name, values in X.items()}
    hidden = {name: [None if name == "outlook" else values[0]] for name, values in X.items()}
    assert_array_equal(fresh.predict_proba(foggy), fresh.predict_proba(hidden))
    strict = type(model)(**model.get_params()).set_params(unseen="error").fit(X, y)
    with pytest.raises(BayeskitError, match="feature 'outlook', row 0: value 'foggy' was not seen in fit"):
        strict.predict(foggy)
    smooth = type(model)(**model.get_params()).set_params(unseen="smooth")
    if isinstance(model, AODE):
        smooth.set_params(min_rows=0)  # more would leave out the super-parent whose value is unseen
    smooth.fit(X, y)
    joint = np.exp(smooth.predict_joint_log_proba(foggy)).sum()
    every = [
        np.exp(smooth.predict_joint_log_proba({**hidden, "outlook": [value]})).sum()
        for value in smooth.schema_["outlook"].values
    ]
    whole = np.exp(smooth.predict_joint_log_proba(hidden)).sum()
    assert_allclose(joint + sum(every), whole, rtol=1e-12)


def test_a_row_that_no_class_can_give_is_named_or_answered_with_the_prior():
    X, y = {"a": ["x", "x", "y"], "b": ["u", "v", "v"]}, ["no", "no", "yes"]
    for model in (TAN(smoothing=0), KDB(2, smoothing=0), ODE({"b": "a"}, smoothing=0), SPODE("a", smoothing=0)):
        with pytest.raises(ImpossibleEvidenceError, match="row 0: x has probability 0 under every class"):
            model.fit(X, y).predict({"a": ["y"], "b": ["u"]})
        posterior = model.set_params(impossible="prior").fit(X, y).predict_proba({"a": ["y"], "b": ["u"]})
        assert_allclose(posterior, [[2 / 3, 1 / 3]], rtol=1e-12)


def test_where_no_super_parent_has_enough_rows_naive_bayes_answers():
    X, y = tennis()
    aode = AODE(min_rows=100, smoothing=1).fit(X, y)
    naive = NaiveBayes(smoothing=1).fit(X, y)
    assert_allclose(aode.predict_proba(X), naive.predict_proba(X), rtol=1e-10)
    a2de = AODE(min_rows=100, n_parents=2, smoothing=1).fit(X, y)
    assert_allclose(a2de.predict_proba(X), naive.predict_proba(X), rtol=1e-10)


# -- structures ----------------------------------------------------------------------------------------------------


def test_special_cases_are_the_same_model():
    X, y = tennis()
    naive = NaiveBayes(smoothing=0.25).fit(X, y).predict_proba(X)
    for model in (ODE(), KDB(0)):
        assert_allclose(model.fit(X, y).predict_proba(X), naive, rtol=1e-12)
    tree = TAN().fit(X, y)
    given = ODE({child: parent for parent, child in tree.structure_.arcs}).fit(X, y)
    assert_allclose(given.predict_proba(X), tree.predict_proba(X), rtol=1e-12)


def test_the_root_sets_the_direction_and_nothing_else():
    X, y = tennis()
    trees = [TAN(root).fit(X, y).structure_ for root in range(4)]
    assert len({frozenset(map(frozenset, tree.arcs)) for tree in trees}) == 1
    for root, tree in enumerate(trees):
        assert tree.parents[root] == ()
        assert sum(parents == () for parents in tree.parents) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"prior": "uniform"},
        {"prior": "data"},
        {"prior": [0.7, 0.1, 0.1, 0.1]},
        {"smoothing": 1.0, "unseen": "smooth"},
    ],
)
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_the_best_super_parent_is_the_first_with_the_least_leave_one_out_error_then_log_loss(settings, share_missing):
    # Few rows and many classes: posteriors tie, and an error of one row decides.
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.r_[np.arange(4), rng.integers(0, 4, 12)]
        table = {f"f{j}": rng.choice(["u", "v", "w"], 16).astype(object) for j in range(4)}
        for column in table.values():
            column[rng.random(16) < share_missing] = None
        losses = {}
        for name in table:
            found = SPODE(name, **settings).fit(table, y).leave_one_out(table, y)
            losses[name] = (round(found.error, 9), round(found.log_loss, 9))
        assert SPODE("best", **settings).fit(table, y).super_parent_ == min(losses, key=losses.get)


def test_kdb_takes_the_most_informative_parents_among_the_features_before():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    a = np.where(rng.random(4000) < 0.9, y, 1 - y)
    b = np.where(rng.random(4000) < 0.95, a, 1 - a)
    noise = rng.integers(0, 2, 4000)
    model = KDB(1, kinds="categorical").fit(np.column_stack([noise, b, a]), y)
    assert model.structure_.parents[2] == ()
    assert model.structure_.parents[1] == (2,)


def test_selective_kdb_drops_features_that_do_not_help():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    useful = np.where(rng.random(300) < 0.9, y, 1 - y)
    noise = rng.integers(0, 6, (300, 12))
    model = KDB(2, selective=True, kinds="categorical").fit(np.column_stack([noise, useful]), y)
    assert model.structure_.parents[12] is not None
    assert sum(parents is None for parents in model.structure_.parents) >= 8
    rmse = model.selection_
    assert rmse.shape == (3, 14)
    chosen = model.leave_one_out(np.column_stack([noise, useful]), y)
    assert_allclose(chosen.rmse, rmse.min(), rtol=1e-12)
    assert "left out: x0" in str(model.structure_)


def test_structures_print_and_draw():
    structure = Structure(('a "b"', "c"), ((), (0,)), "class")
    assert str(structure) == 'a "b" | class\nc     | class, a "b"'
    assert '"a \\"b\\"" -> "c";' in structure.to_dot()
    assert AODE().fit(*tennis()).structure_.to_dot().count("digraph") == 4
    assert len(AODE(n_parents=2).fit(*tennis()).structure_.members) == 6


def test_the_class_gets_a_name_that_no_feature_has():
    X, y = tennis()
    model = ODE().fit({"class": X["wind"], "sky": X["outlook"]}, y)
    assert model.to_network().names == ("class_", "class", "sky")


@names
def test_the_networks_tables_are_distributions(model):
    fitted = type(model)(**model.get_params()).fit(*tennis())
    if isinstance(model, AODE):
        with pytest.raises(BayeskitError, match=r"to_networks\(\) returns them"):
            fitted.to_network()
    for network in fitted.to_networks() if isinstance(model, AODE) else [fitted.to_network()]:
        for table in network.tables:
            assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)


def test_free_parameters_are_counted():
    X, y = tennis()  # 3, 3, 2, 2 values and 2 classes
    assert ODE().fit(X, y).n_parameters_ == 1 + 2 * (2 + 2 + 1 + 1)
    assert ODE({"wind": "outlook"}).fit(X, y).n_parameters_ == 1 + 2 * (2 + 2 + 1 + 3)


# -- mixed tables, copies, batches ---------------------------------------------------------------------------------


@names
def test_numbers_are_cut_where_the_classes_part_and_the_bins_have_names(model):
    penguins = load_penguins()
    fitted = type(model)(**model.get_params()).fit(penguins, target="species")
    bins = fitted.schema_["flipper_length_mm"]
    assert bins.kind == "binned"
    assert bins.values[0].startswith("(-inf, ")
    assert (fitted.predict(penguins) == penguins["species"]).mean() > 0.95


@names
def test_a_copy_by_pickle_predicts_the_same(model):
    X, y = tennis()
    fitted = type(model)(**model.get_params()).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))


def test_what_partial_fit_cannot_change_is_said_once():
    X, y = tennis()
    for model in (SPODE(), KDB(2), KDB(1, selective=True)):
        with pytest.warns(BayeskitWarning, match="was chosen on the first batch and stays as it is"):
            model.partial_fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.partial_fit(X, y)
    for model in (SPODE("wind"), TAN(), KDB(1), AODE(), ODE()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.partial_fit(X, y)


def test_models_of_different_structure_do_not_merge():
    X, y = tennis()
    with pytest.raises(BayeskitError, match="the two sides count different families of columns"):
        SPODE("wind").fit(X, y).merge(SPODE("outlook").fit(X, y))


def test_leave_one_out_refuses_a_class_that_was_never_seen():
    X, y = tennis()
    with pytest.raises(TableError, match="y holds the class 'perhaps', which was not seen in fit"):
        TAN().fit(X, y).leave_one_out(X, ["perhaps"] * 14)
    assert "error=" in repr(TAN().fit(X, y).leave_one_out(X, y))


def test_tables_can_be_read():
    X, y = tennis()
    tables = ODE({"wind": "outlook"}, smoothing=0).fit(X, y).tables_
    assert tables["wind"].title == "P(wind | class, outlook)"
    assert tables["wind"]["strong", ("no", "sunny")] == 1 / 3  # two of three sunny days without play are weak
    assert tables["outlook"]["sunny", "no"] == 3 / 5
    joint = AODE(smoothing=0).fit(X, y).tables_["outlook"]
    assert joint["overcast", "yes"] == 4 / 14
    assert "temperature" not in KDB(2, selective=True).fit(X, y).tables_


@names
def test_explanations_add_up_and_the_summary_knows_what_is_missing(model):
    X, y = tennis()
    X = {**X, "wind": [None, *X["wind"][1:]]}
    fitted = type(model)(**model.get_params()).fit(X, y)
    row = {name: values[1] for name, values in X.items()}
    told = fitted.explain(row)
    posterior = fitted.predict_proba({name: [value] for name, value in row.items()})[0]
    assert_allclose(abs(told.log_odds), abs(np.log(posterior[0] / posterior[1])), rtol=1e-12)
    assert "7.1%" in str(fitted.summary()).replace("7.14%", "7.1%")


def test_selection_with_a_slot_for_unseen_values_is_leave_one_out_with_it():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (40, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (rng.random(40) < 0.2 + 0.15 * np.nan_to_num(X[:, 0])).astype(int)
    kinds = "categorical"
    chosen = KDB(2, selective=True, unseen="smooth", kinds=kinds).fit(X, y)
    for k in (0, 1, 2):
        whole = KDB(k, unseen="smooth", kinds=kinds).fit(X, y).leave_one_out(X, y)
        assert_allclose(chosen.selection_[k, 4], whole.rmse, rtol=1e-10)
    assert np.abs(chosen.selection_ - KDB(2, selective=True, kinds=kinds).fit(X, y).selection_).max() > 1e-4
    left_out = [SPODE(i, unseen="smooth", kinds=kinds).fit(X, y).leave_one_out(X, y) for i in range(4)]
    best = min(range(4), key=lambda i: (left_out[i].error, left_out[i].log_loss))
    assert SPODE("best", unseen="smooth", kinds=kinds).fit(X, y).super_parent_ == f"x{best}"


@pytest.mark.parametrize("order", [1, 2])
def test_without_smoothing_a_super_parent_that_no_row_knows_takes_no_part(order):
    pd = pytest.importorskip("pandas", reason="declared levels come from pandas")
    X = pd.DataFrame(
        {"a": ["u", "u", "v"], "b": ["s", "t", "t"], "none": pd.Categorical([None] * 3, categories=["p", "q"])}
    )
    y = [0, 0, 1]
    model, without = AODE(n_parents=order, smoothing=0), AODE(n_parents=order, smoothing=0)
    model.fit(X, y)
    without.fit(X[["a", "b"]], y)
    row = pd.DataFrame({"a": [None], "b": [None], "none": [None]})
    assert_allclose(np.exp(model.predict_joint_log_proba(row)).sum(), 1.0, rtol=1e-12)
    for a, b in (("u", "s"), ("u", None), (None, "t")):
        row = pd.DataFrame({"a": [a], "b": [b], "none": [None]})
        assert_allclose(
            model.predict_joint_log_proba(row), without.predict_joint_log_proba(row[["a", "b"]]), rtol=1e-12
        )
    assert_allclose(
        model.leave_one_out(X, y).log_posterior, without.leave_one_out(X[["a", "b"]], y).log_posterior, rtol=1e-12
    )


def test_hidden_cells_of_aode_are_summed_out_exactly_where_all_super_parents_take_part():
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)
    for order in (1, 2):
        exact, near = (AODE(min_rows, order, kinds="categorical").fit(X, y) for min_rows in (0, 20))
        off = []
        for model in (exact, near):
            full = np.array([[1.0, 2.0, v] for v in range(3)])
            summed = np.exp(model.predict_joint_log_proba(full)).sum(axis=0)
            hidden = np.exp(model.predict_joint_log_proba(np.array([[1.0, 2.0, np.nan]])))[0]
            off.append(np.abs(summed / hidden - 1).max())
        assert off[0] < 1e-12
        assert off[1] > 1e-6  # m′ lets other super-parents answer


def test_of_super_parents_that_are_equally_good_the_first_is_taken_however_the_losses_are_added():
    table = {
        "colour": [None, "red", "green", "red"],
        "paid": [True, None, False, True],
        "member": [0, 0, None, 0],
        "grade": [1, 2, None, 1],
    }
    weight, y = [3, 1, 3, 0], np.array(["no", "yes", "no", "no"])
    copies = np.repeat(np.arange(4), weight)
    weighted = SPODE("best").fit(table, y, sample_weight=weight)
    repeated = SPODE("best").fit({name: [cells[i] for i in copies] for name, cells in table.items()}, y[copies])
    assert weighted.structure_.arcs == repeated.structure_.arcs


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("min_rows", [0, 1])
@pytest.mark.parametrize("prior", ["smoothed", "data", [0.3, 0.7]])
def test_without_smoothing_rows_are_left_out_of_super_parents_that_no_other_row_knows(order, min_rows, prior):
    pd = pytest.importorskip("pandas", reason="declared levels come from pandas")
    rng, n = np.random.default_rng(3), 8
    X = pd.DataFrame(
        {
            "a": pd.Categorical(rng.choice(["u", "v", None], n), ["u", "v", "w"]),
            "b": pd.Categorical(rng.choice(["s", "t"], n), ["s", "t"]),
            "nobody": pd.Categorical([None] * n, ["p", "q"]),
            "once": pd.Categorical(["m"] + [None] * (n - 1), ["m", "k"]),
        }
    )
    y = np.array(["no", "yes"] * 4)
    model = AODE(min_rows, order, smoothing=0, impossible="prior", prior=prior).fit(X, y)
    found = np.exp(model.leave_one_out(X, y).log_posterior)
    for i in range(n):
        rest = model.count(X, y, np.arange(n) != i, schema=model.schema_).declare(model.classes_)
        again = AODE.from_counts(rest, **model.get_params())
        assert_allclose(found[i], again.predict_proba(X.iloc[[i]])[0], rtol=0, atol=1e-12)
