import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import AODE, KDB, ODE, TAN, BayesianNetwork, CategoricalNB, NaiveBayes, datasets
from bayeskit.errors import NetworkError, TooLargeError


def with_holes(table, seed):
    """The table with a third of its cells missing."""
    rng = np.random.default_rng(seed)
    return {name: [None if rng.random() < 1 / 3 else cell for cell in column] for name, column in table.items()}


@pytest.mark.parametrize("smoothing", [0.5, 1.0])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_the_network_predicts_rows_with_missing_cells_as_the_model_does(smoothing, unseen):
    tennis = datasets.load_tennis()
    model = NaiveBayes(smoothing=smoothing, unseen=unseen).fit(tennis, target="play")
    net = model.to_network()
    days = with_holes({name: column for name, column in tennis.items() if name != "play"}, 0)
    assert_allclose(net.predict_proba(days, "play"), model.predict_proba(days), rtol=1e-12)
    assert net.arcs == tuple(("play", name) for name in days)
    assert ("(unseen)" in net.states[1]) == (unseen == "smooth")


@pytest.mark.parametrize("model", [TAN(), KDB(2), ODE({"wind": "outlook"}), TAN(unseen="smooth")], ids=repr)
def test_semi_naive_networks_predict_rows_with_missing_cells_as_the_model_does(model):
    tennis = datasets.load_tennis()
    net = model.fit(tennis, target="play").to_network()
    days = with_holes({name: column for name, column in tennis.items() if name != "play"}, 1)
    assert_allclose(net.predict_proba(days, "play"), model.predict_proba(days), rtol=1e-10)


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_aodes_joint_is_the_mean_of_its_networks_joints(order, holes, unseen):
    tennis = datasets.load_tennis()
    labels = tennis.pop("play")
    rows = with_holes(tennis, 2) if holes else tennis
    model = AODE(min_rows=0, n_parents=order, unseen=unseen).fit(rows, labels)
    nets = model.to_networks()
    assert len(nets) == (4 if order == 1 else 6)
    seen = [[state for state in net_states if state != "(unseen)"] for net_states in states_of(nets[0], tennis)]
    days = list(product(*seen))
    found = np.exp(model.predict_joint_log_proba(dict(zip(tennis, zip(*days, strict=True), strict=True))))
    for day, joint in zip(days, found, strict=True):
        event = dict(zip(tennis, day, strict=True))
        mean = [np.mean([net.probability({**event, "class": label}) for net in nets]) for label in ("no", "yes")]
        assert_allclose(joint, mean, rtol=1e-10)


def states_of(net, names):
    return [net.states[net.names.index(name)] for name in names]


def test_with_one_column_known_a2de_is_the_network_of_that_column():
    model = AODE(n_parents=2).fit({"wind": ["weak", "strong", "weak"]}, ["no", "no", "yes"])
    (net,) = model.to_networks()
    assert_allclose(net.predict_proba({"wind": ["weak"]}, "class"), model.predict_proba({"wind": ["weak"]}), rtol=1e-12)


def test_networks_of_too_many_pairs_are_refused_with_their_number_and_size():
    X = np.random.default_rng(0).integers(0, 2, (20, 40))
    model = AODE(n_parents=2, kinds="categorical", max_memory="20.48 MiB").fit(X, X[:, 0])
    with pytest.raises(
        TooLargeError, match=r"780 networks of 41 variables, which need about \d+\.\d MiB\. .*max_memory"
    ):
        model.to_networks()


@pytest.mark.parametrize("model", [TAN(), KDB(2), NaiveBayes(numeric="equal-width"), TAN(unseen="smooth")], ids=repr)
@pytest.mark.parametrize("load", [datasets.load_heart, datasets.load_penguins])
def test_the_network_reads_the_table_that_the_model_was_fitted_on(model, load):
    table = load()
    target = "disease" if load is datasets.load_heart else "species"
    model.fit(table, target=target)
    net = model.to_network()
    assert net.target == target
    assert any(variable.kind == "binned" for variable in net.schema)
    columns = {name: column for name, column in table.items() if name != target}
    expected = model.predict_proba(columns)
    assert_allclose(net.predict_proba(table), expected, rtol=1e-9)
    holes = with_holes(columns, 3)
    assert_allclose(net.predict_proba(holes), model.predict_proba(holes), rtol=1e-9)


def test_a_network_learned_from_an_array_without_names_reads_such_an_array():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).round(2), rng.integers(0, 2, 40)
    model = TAN(numeric="equal-frequency", bins=3).fit(X, y)
    assert_allclose(model.to_network().predict_proba(X), model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("wind", [["storm"], ["(unseen)"]])
def test_with_a_state_for_unseen_values_they_all_fall_into_it(wind):
    model = TAN(unseen="smooth").fit(datasets.load_tennis(), target="play")
    expected = model.predict_proba({"outlook": ["rain"], "temperature": [None], "humidity": [None], "wind": ["storm"]})
    assert_allclose(model.to_network().predict_proba({"outlook": ["rain"], "wind": wind}), expected, rtol=1e-12)


def test_bins_are_states_by_name_and_numbers_are_evidence():
    table = datasets.load_heart()
    net = TAN().fit(table, target="disease").to_network()
    age = net.states[net.index("age")]
    assert len(age) > 1
    assert all(state.startswith(("(", "[")) for state in age)
    known = {"age": 63}
    assert_allclose(net.posterior("disease", given=known)["yes"], net.predict_proba({"age": [63]})[0, 1], rtol=1e-13)
    assert net.posterior("disease", given={"age": age[net.state("age", 63)]}).array.tolist() == (
        net.posterior("disease", given=known).array.tolist()
    )
    cases = net.sample(50)
    assert set(cases["age"]) <= set(age)
    assert np.isfinite(net.log_probability(cases)).all()  # bin names are read back


def test_the_schema_survives_a_model_file_and_other_formats_keep_the_state_names(tmp_path):
    table = datasets.load_heart()
    net = TAN().fit(table, target="disease").to_network()
    net.save(tmp_path / "heart.bayes")
    again = bayeskit.load(tmp_path / "heart.bayes")
    assert again.schema == net.schema
    assert again.target == "disease"
    assert_array_equal(again.predict_proba(table), net.predict_proba(table))
    assert_array_equal(pickle.loads(pickle.dumps(net)).predict_proba(table), net.predict_proba(table))
    net.write(tmp_path / "heart.bif")
    read = BayesianNetwork.read(tmp_path / "heart.bif")
    assert read.states == net.states
    assert {variable.kind for variable in read.schema} == {"categorical"}
    assert read.equals(net)
    cases = net.sample(20)
    assert_array_equal(read.predict_proba(cases, "disease"), net.predict_proba(cases))


def test_categories_that_are_numbers_become_states():
    X, y = np.array([[0, 1], [1, 2], [2, 0], [0, 0]]), np.array([0, 1, 1, 0])
    model = CategoricalNB().fit(X, y)
    net = model.to_network()
    rows = dict(zip(net.names[1:], X.T, strict=True))
    assert_allclose(net.predict_proba(rows, "class"), model.predict_proba(X), rtol=1e-12)


def test_a_column_with_a_density_is_refused_by_name():
    model = NaiveBayes().fit(datasets.load_penguins(), target="species")
    with pytest.raises(NetworkError, match=r"column 'bill_length_mm' is gaussian, .* fit with bins"):
        model.to_network()


def test_a_constant_column_is_a_variable_with_one_state():
    model = NaiveBayes().fit({"a": ["x", "x"], "b": ["u", "v"]}, ["no", "yes"])
    net = model.to_network()
    assert net.cards == (2, 1, 2)
    rows = {"a": ["x", None], "b": ["u", "v"]}
    assert_allclose(net.predict_proba(rows, "class"), model.predict_proba(rows), rtol=1e-12)


def test_a_column_called_like_the_class_is_refused():
    with pytest.raises(NetworkError, match="both called 'class'"):
        NaiveBayes().fit({"class": ["x", "y"]}, ["no", "yes"]).to_network()
