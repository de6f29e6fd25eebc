"""A network with a class: its posteriors are those of the network, its counts add, and any search may find it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork, NaiveBayes, NetworkClassifier, learn_structure
from bayeskit.datasets import load_asia, load_penguins, load_tennis
from bayeskit.errors import BayeskitError, BayeskitWarning, MergeError, NetworkError, TableError, UnseenValueError
from bayeskit.network import BDeuScore, Tabu
from tests.networks import networks

PATIENTS = {"smoke": ["yes", "no", None], "xray": ["yes", None, "yes"], "dysp": [None, "yes", "yes"]}
# With a column for each: a learned classifier asks for all columns of its fit, a given network takes what comes.
ALL = {**{name: [None] * 3 for name in load_asia().names if name != "lung"}, **PATIENTS}


def posterior(net, table, target, classes):
    """What the network's own engine answers, in the order of the classes."""
    states = net.states[net.index(target)]
    return net.predict_proba(table, target)[:, [states.index(label) for label in classes]]


def cases(n_rows=600, seed=0):
    return load_asia().sample(n_rows, random_state=seed)


def part(table, rows):
    return {name: [column[i] for i in rows] for name, column in table.items()}


@given(networks(most=4), st.integers(0, 10**6))
@settings(max_examples=40)
def test_posteriors_are_those_of_the_networks_engine_whatever_is_missing(net, seed):
    assume(len(net.names) > 1)
    rng = np.random.default_rng(seed)
    target = net.names[int(rng.integers(len(net.names)))]
    net = net.fitted(net.sample(30, random_state=seed % 1000), smoothing=0.5)  # no zeros, so that no row is impossible
    model = NetworkClassifier.from_network(net, target)
    table = {
        name: [None if rng.random() < 0.4 else str(rng.choice(net.states[net.index(name)])) for _ in range(6)]
        for name in net.names
        if name != target
    }
    assert_allclose(model.predict_proba(table), posterior(net, table, target, model.classes_), rtol=1e-10)


@pytest.mark.parametrize("target", ["lung", "either", "asia", "dysp"])
def test_fit_gives_the_tables_of_the_networks_own_fit(target):
    net, table = load_asia(), cases()
    model, fitted = NetworkClassifier(net, target, smoothing=0.5).fit(table), net.fitted(table, smoothing=0.5)
    found = model.network_
    assert set(found.arcs) == set(net.arcs)
    assert_allclose(model.predict_proba(PATIENTS), posterior(fitted, PATIENTS, target, model.classes_), rtol=1e-12)
    assert_allclose(model.score_samples(PATIENTS)[:1], np.log(fitted.probability({"smoke": "yes", "xray": "yes"})))
    assert model.n_parameters_ == fitted.n_parameters
    assert found.target == target


def test_a_search_finds_the_graph_that_learn_structure_finds():
    table = cases(2000)
    model = NetworkClassifier("tabu", "lung", options={"score": "bdeu", "max_parents": 2}).fit(table)
    order = [name for name in table if name != "lung"] + ["lung"]
    found = learn_structure({name: table[name] for name in order}, "tabu", "bdeu", max_parents=2)
    assert set(model.network_.arcs) == set(found.arcs)
    assert_allclose(model.predict_proba(ALL), posterior(found.network, ALL, "lung", model.classes_), rtol=1e-9)


def test_the_class_may_have_parents():
    net = BayesianNetwork("a->c<-b", tables={
        "a": [0.3, 0.7], "b": [0.6, 0.4], "c": [[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.5, 0.5]]]})  # fmt: skip
    model = NetworkClassifier.from_network(net, "c")
    assert_allclose(model.predict_proba({"a": ["no"], "b": ["yes"]}), [[0.2, 0.8]], rtol=1e-14)
    assert_allclose(model.predict_proba({"a": ["no"], "b": [None]}), [[0.6 * 0.9 + 0.4 * 0.2, 0.6 * 0.1 + 0.4 * 0.8]])
    assert_allclose(model.class_prior_, net.posterior("c"), rtol=1e-14)


@pytest.mark.parametrize("network", [load_asia(), "hill-climb"], ids=["given", "learned"])
def test_batches_merged_and_unlearned_parts_and_weights_give_one_fit(network):
    table = cases()
    model = NetworkClassifier(network, "lung").fit(table)
    given = model.network_ if isinstance(network, str) else network  # batches are learned for one and the same graph
    whole = NetworkClassifier(given, "lung").fit(table)
    first, second = part(table, range(200)), part(table, range(200, 600))
    batches = NetworkClassifier(given, "lung").partial_fit(first).partial_fit(second)
    merged = NetworkClassifier(given, "lung").fit(first).merge(NetworkClassifier(given, "lung").fit(second))
    without = NetworkClassifier(given, "lung").fit(table).unlearn(second)
    for other in (batches, merged):
        assert_array_equal(other.counts_.cells, whole.counts_.cells)
        assert_array_equal(other.predict_proba(ALL), whole.predict_proba(ALL))
    assert_array_equal(without.counts_.cells, NetworkClassifier(given, "lung").fit(first).counts_.cells)
    weight = np.r_[np.full(200, 3.0), np.zeros(400)]
    thrice = NetworkClassifier(network, "lung").fit(part(table, list(range(200)) * 3))
    weighted = NetworkClassifier(network, "lung").fit(table, sample_weight=weight)
    assert weighted.network_.arcs == thrice.network_.arcs
    assert_allclose(weighted.predict_proba(ALL), thrice.predict_proba(ALL), rtol=1e-12)


def test_the_first_batch_chooses_the_graph_and_says_so():
    table = cases()
    with pytest.warns(BayeskitWarning, match="the structure was chosen on the first batch"):
        model = NetworkClassifier(target="lung").partial_fit(part(table, range(300)))
    arcs = model.network_.arcs
    assert model.partial_fit(part(table, range(300, 600))).network_.arcs == arcs
    assert model.counts_.n_class.sum() == 600


def test_counts_of_another_graph_do_not_add():
    one, two = (NetworkClassifier(BayesianNetwork(text), "c").fit({"a": ["no"], "c": ["yes"]}) for text in
                ("a->c", "c->a"))  # fmt: skip
    with pytest.raises(MergeError, match="different graphs"):
        one.merge(two)


@pytest.mark.parametrize("make", [
    lambda table: NetworkClassifier(load_asia(), "lung", smoothing=0.5).fit(table),
    lambda table: NetworkClassifier("chow-liu", "lung").fit(table),
    lambda table: NetworkClassifier.from_network(load_asia(), "lung"),
], ids=["given", "learned", "tables of the network"])  # fmt: skip
def test_a_file_gives_the_same_bits(make, tmp_path):
    model = make(cases())
    model.save(tmp_path / "model.bayes")
    again = bayeskit.load(tmp_path / "model.bayes")
    assert_array_equal(again.predict_proba(ALL), model.predict_proba(ALL))
    assert_array_equal(again.merge(model).counts_.cells, 2 * model.counts_.cells)


def test_numbers_are_cut_into_bins_and_missing_cells_are_read():
    table = load_penguins()
    model = NetworkClassifier("tabu", "species", options={"missing": "node-average"}).fit(table)
    assert model.score(table, target="species") > 0.95
    assert model.schema_["bill_length_mm"].kind == "binned"
    bird = {name: [None] for name in model.schema_.names} | {"bill_length_mm": [37.0]}
    assert model.predict(bird).tolist() == ["Adelie"]


def test_a_row_is_explained_as_by_the_model_that_the_network_comes_from():
    tennis = NaiveBayes().fit(load_tennis(), target="play")
    model = NetworkClassifier.from_network(tennis.to_network())
    row = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    ours, theirs = model.explain(row), tennis.explain(row)
    assert ours.features == theirs.features
    assert_allclose(ours.terms, theirs.terms, rtol=1e-10)
    assert_allclose(ours.probability, theirs.probability, rtol=1e-12)


def test_arrays_are_read_in_the_order_of_the_network():
    net = BayesianNetwork("c->a; c->b")
    X, y = np.array([["no", "yes"], ["yes", "yes"], ["no", "no"]]), np.array(["no", "yes", "no"])
    by_array, by_name = NetworkClassifier(net, "c").fit(X, y), NetworkClassifier(net, "c").fit(
        {"a": X[:, 0], "b": X[:, 1]}, y)  # fmt: skip
    assert_array_equal(by_array.predict_proba(X), by_name.predict_proba({"b": X[:, 1], "a": X[:, 0]}))
    with pytest.raises(TableError, match="X has 1 features, but the network has 2 variables besides 'c'"):
        by_array.predict(X[:, :1])


def test_what_cannot_be_is_refused():
    table = cases(50)
    with pytest.raises(NetworkError, match="needs a target to be a classifier"):
        NetworkClassifier(load_asia()).fit(table)
    with pytest.raises(NetworkError, match="unknown variable 'lungs'; did you mean 'lung'"):
        NetworkClassifier.from_network(load_asia(), "lungs")
    with pytest.raises(NetworkError, match="no variable besides 'a'"):
        NetworkClassifier.from_network(BayesianNetwork(["a"]), "a")
    with pytest.raises(TableError, match="label 'maybe', which is not a state of 'lung'"):
        NetworkClassifier(load_asia(), "lung").fit({**table, "lung": ["maybe"] * 50})
    with pytest.raises(UnseenValueError, match="'often' is not a state"):
        NetworkClassifier(load_asia(), "lung").fit({**table, "smoke": ["often"] * 50})
    with pytest.raises(
        BayeskitError, match="must be a BayesianNetwork, or a method of learn_structure, such as 'hill-climb'"
    ):
        NetworkClassifier("magic", "lung").fit(table)
    with pytest.raises(BayeskitError, match="must be None, or a dict with keys among score"):
        NetworkClassifier(target="lung", options={"speed": 1}).fit(table)


def test_a_value_that_is_no_state_is_passed_over_unless_it_is_to_be_refused():
    model = NetworkClassifier.from_network(load_asia(), "lung")
    odd, none = model.predict_proba({"smoke": ["often"], "xray": ["yes"]}), model.predict_proba({"xray": ["yes"]})
    assert_allclose(odd, none, rtol=1e-14)
    with pytest.raises(UnseenValueError, match="'often' is not a state"):
        NetworkClassifier.from_network(load_asia(), "lung", unseen="error").predict_proba({"smoke": ["often"]})


def test_a_search_method_with_its_options_is_saved_and_read_back(tmp_path):
    table, start = cases(200), BayesianNetwork([*cases(2), ("smoke", "lung")])
    options = {"score": BDeuScore(4.0), "max_parents": 2}
    model = NetworkClassifier(Tabu(length=20, restarts=1, start=start), "lung", options=options).fit(table)
    model.save(tmp_path / "model.bayes")
    again = bayeskit.load(tmp_path / "model.bayes")
    assert again.network.length == 20
    assert again.network.start.arcs == start.arcs
    assert again.options == options
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    assert_array_equal(again.fit(table).predict_proba(table), model.predict_proba(table))
