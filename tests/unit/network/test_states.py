"""States and the values of a table that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork, NaiveBayes
from bayeskit.errors import BayeskitError, ModelFileError, NetworkError
from bayeskit.io import container
from bayeskit.table.schema import Schema, Variable

AGE = Variable("age", "binned", edges=(30.0, 41.0))
SEATS = Variable("seats", "categorical", (2, 4, 7), declared=True)


@pytest.fixture
def net():
    states = [AGE.values, ("2", "4", "7")]
    return BayesianNetwork.from_tables(
        ["age", "seats"], states, [[], [0]], [[0.2, 0.3, 0.5], np.eye(3)], schema=Schema((AGE, SEATS))
    )


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("age", 29.9, 0),
        ("age", 30, 1),
        ("age", np.float64(41.0), 2),
        ("age", "[30, 41)", 1),
        ("seats", 4, 1),
        ("seats", 4.0, 1),
        ("seats", np.int64(7), 2),
        ("seats", "7", 2),
    ],
)
def test_a_value_means_the_state_that_it_falls_into(net, name, value, place):
    assert net.state(name, value) == place


@pytest.mark.parametrize(("name", "value"), [("seats", 3), ("seats", True), ("age", float("nan")), ("age", "old")])
def test_a_value_that_is_no_state_is_refused(net, name, value):
    with pytest.raises(NetworkError, match=f"variable '{name}' has no state"):
        net.state(name, value)


def test_numbers_fall_into_bins_and_integers_are_looked_up(net):
    table = {"age": [10.0, 35.5, 80.0], "seats": [2, 4, 7]}
    assert_array_equal(np.exp(net.log_probability(table)), [0.2, 0.3, 0.5])
    names = {"age": ["(-inf, 30)", "[30, 41)", "[41, inf)"], "seats": ["2", "4", "7"]}
    assert_array_equal(net.log_probability(names), net.log_probability(table))


def test_without_a_schema_variables_are_categorical_columns_of_text():
    net = BayesianNetwork("A{low|high}->B")
    assert net.schema[0] == Variable("A", "categorical", ("low", "high"), declared=True)
    assert net.target is None


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (Schema((SEATS, AGE)), r"the schema has the columns \['seats', 'age'\]; the variables are \['age', 'seats'\]"),
        (Schema((AGE, Variable("seats", "categorical", (2, 4)))), "'seats' has the states"),
        (
            Schema((Variable("age", "gaussian", numeric=True), SEATS)),
            "column 'age' is gaussian, and the variable has states",
        ),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(net, schema, message):
    with pytest.raises(NetworkError, match=message):
        BayesianNetwork.from_tables(net.names, net.states, net.parents, net.tables, schema=schema)


def test_a_target_must_be_a_variable(net):
    with pytest.raises(NetworkError, match="unknown variable 'seat'; did you mean 'seats'"):
        BayesianNetwork("age->seats", target="seat")
    with pytest.raises(NetworkError, match="needs a target: this network was made without one"):
        net.predict_proba({"age": [3.0]})
    assert BayesianNetwork("age->seats", target="seats").predict_proba({"age": ["no"]}).tolist() == [[0.5, 0.5]]


def test_text_without_a_letter_is_a_state_with_a_name():
    model = NaiveBayes().fit({"word": ["", "a", ""]}, ["no", "yes", "yes"])
    net = model.to_network()
    assert net.states[1] == ("(empty)", "a")
    assert net.state("word", "") == net.state("word", "(empty)") == 0
    assert_allclose(net.predict_proba({"word": ["", "a"]}), model.predict_proba({"word": ["", "a"]}), rtol=1e-13)


def test_an_intervention_keeps_schema_and_target(net):
    after = net.do(seats=4)
    assert after.schema == net.schema
    assert after.tables[1].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: meta["schema"]["variables"][0].update(kind="colour"), "colour"),
        (lambda meta: meta["schema"]["variables"].pop(), "the schema has the columns"),
        (lambda meta: meta["schema"]["variables"][1].update(values=[2, 4]), "'seats' has the states"),
        (lambda meta: meta.update(target="seat"), "unknown variable 'seat'"),
        (lambda meta: meta.update(target=3), "field 'target' is a int; a str is needed"),
        (lambda meta: meta["cpds"][0].update(kind="poisson"), "of a kind that this bayeskit does not know"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(net, tmp_path, change, message):
    meta, arrays = net.to_parts()
    change(meta)
    container.write(tmp_path / "bad.bayes", "BayesianNetwork", meta, arrays)
    with pytest.raises(BayeskitError, match=message):
        bayeskit.load(tmp_path / "bad.bayes")


def test_a_file_from_before_networks_had_a_schema_is_refused(tmp_path):
    meta = {"names": ["A", "B"], "states": [["no", "yes"], ["no", "yes"]], "parents": [[], [0]]}
    container.write(tmp_path / "old.bayes", "BayesianNetwork", meta, {"tables": np.full(6, 0.5)})
    with pytest.raises(ModelFileError, match="'numbers'"):
        bayeskit.load(tmp_path / "old.bayes")
