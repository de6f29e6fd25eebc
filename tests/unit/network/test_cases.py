import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import TableError, UnseenValueError
from bayeskit.network.cases import read_cases
from bayeskit.network.states import schema_of

STATES = (("no", "yes"), ("1", "2", "10"))
SCHEMA = schema_of(("a", "b"), STATES)


@pytest.mark.parametrize(
    "table",
    [
        {"b": [1, 10, 2], "a": ["yes", "no", "no"]},
        {"b": [1.0, 10.0, 2.0], "a": ["yes", "no", "no"], "other": [0, 0, 0]},
        pd.DataFrame({"a": ["yes", "no", "no"], "b": ["1", "10", "2"]}),
        pd.DataFrame({"a": pd.Categorical(["yes", "no", "no"]), "b": [1, 10, 2]}),
        pl.DataFrame({"a": ["yes", "no", "no"], "b": [1, 10, 2]}),
        np.array([[1, 0], [0, 2], [0, 1]]),
        [np.array([1, 0, 0], dtype=np.uint8), np.array([0, 2, 1], dtype=np.uint16)],
    ],
)
def test_any_table_becomes_codes_in_the_order_of_the_states(table):
    a, b = read_cases(SCHEMA, STATES, table).columns
    assert_array_equal(a, [1, 0, 0])
    assert_array_equal(b, [0, 2, 1])


@pytest.mark.parametrize(
    "table", [{"a": ["yes", None], "b": [float("nan"), 2.0]}, np.array([[1, np.nan], [np.nan, 1]])]
)
def test_missing_cells_have_the_largest_code(table):
    a, b = read_cases(SCHEMA, STATES, table).columns
    assert a.tolist() == [1, np.iinfo(a.dtype).max]
    assert b.tolist() == [np.iinfo(b.dtype).max, 1]


def test_a_variable_without_a_column_is_refused_or_missing():
    with pytest.raises(TableError, match="the table has no column 'b'; did you mean 'B2'"):
        read_cases(SCHEMA, STATES, {"a": ["yes"], "B2": [1]})
    cases = read_cases(SCHEMA, STATES, {"a": ["yes"]}, absent="none")
    assert cases.n_rows == 1
    assert cases.columns[1] is None


@pytest.mark.parametrize("b", [[1, 3], ["1", "3"], [1.0, 2.5], [1.0, 1e300]])
def test_a_value_that_is_no_state_is_refused_or_kept_as_unseen(b):
    with pytest.raises(UnseenValueError, match=r"column 'b', row 1: .* is not a state of the variable; "):
        read_cases(SCHEMA, STATES, {"a": ["yes", "no"], "b": b})
    assert read_cases(SCHEMA, STATES, {"a": ["yes", "no"], "b": b}, unseen="keep").columns[1].tolist() == [0, 254]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([np.zeros(2, np.uint8)], "needs one column per variable, 2 in the order of the names; got 1"),
        ([np.zeros(2, np.uint8), np.zeros(3, np.uint8)], "the codes of 'b' must be a column of"),
        ([np.zeros(2, np.uint8), np.zeros(2)], "the codes of 'b' must be a column of"),
        (
            [np.zeros(2, np.uint8), np.array([0, 3], np.uint8)],
            "row 1: code 3 of 'b' is not a state; codes go from 0 to 2",
        ),
        (np.array([["yes", "1"]]), "column 0 holds text but the table has no names"),
        (np.array([[0.5, 1.0]]), "column 0 holds numbers that are not state codes"),
        (np.array([[0, -2]]), "column 1 holds numbers that are not state codes"),
    ],
)
def test_codes_that_do_not_fit_are_refused(table, message):
    with pytest.raises(TableError) as error:
        read_cases(SCHEMA, STATES, table)
    assert message in str(error.value)


def test_the_log_likelihood_of_a_frame_is_the_sum_over_rows_and_families():
    net = BayesianNetwork("A->B", tables={"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.125, 0.875]]})
    frame = pd.DataFrame({"B": ["yes", "no", "yes"], "A": ["no", "yes", "yes"]})
    expected = [np.log(0.25 * 0.5), np.log(0.75 * 0.125), np.log(0.75 * 0.875)]
    assert_allclose(net.log_probability(frame), expected, rtol=1e-15)
    assert net.log_likelihood(frame) == pytest.approx(sum(expected), rel=1e-15)


def test_a_row_with_a_missing_cell_is_named():
    net = BayesianNetwork("A->B")
    with pytest.raises(TableError, match="row 1 has no value for 'B'"):
        net.log_likelihood({"A": ["no", "yes"], "B": ["no", None]})
