"""The conditional table as an object: what it says of itself, and its way through a file."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import ModelFileError
from bayeskit.network.cpd.saved import cpds_from_parts, cpds_to_parts
from bayeskit.network.cpd.table import TableCPD

ROWS = np.array([[[0.5, 0.5], [0.25, 0.75]], [[1.0, 0.0], [0.125, 0.875]], [[0.0, 1.0], [0.5, 0.5]]])
SHAPES = [(3, 2, 2), (2,)]


def cpds():
    return [TableCPD(ROWS.copy()), TableCPD(np.array([0.25, 0.75]))]


def test_a_table_knows_its_states_and_free_parameters_and_cannot_be_written_to():
    cpd = cpds()[0]
    assert (cpd.kind, cpd.n_states, cpd.n_parameters) == ("table", 2, 6)
    with pytest.raises(ValueError, match="read-only"):
        cpd.values[0, 0, 0] = 1.0


def test_a_networks_tables_are_those_of_its_distributions():
    net = BayesianNetwork("A->B", tables={"A": [0.5, 0.5], "B": [[0.25, 0.75], [1.0, 0.0]]})
    assert [cpd.kind for cpd in net.cpds] == ["table", "table"]
    assert net.tables[1] is net.cpds[1].values
    assert net.n_parameters == 3


def test_tables_come_back_from_a_file():
    entries, numbers = cpds_to_parts(cpds())
    assert entries[0] == {"kind": "table", "n_numbers": 12, "shape": [3, 2, 2]}
    for again, cpd in zip(cpds_from_parts(entries, numbers, ["x", "y"], SHAPES), cpds(), strict=True):
        assert_array_equal(again.values, cpd.values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: entries[0].update(kind="poisson"), "distribution of 'x' is of a kind that this bayeskit"),
        (lambda entries: entries[0].update(shape=[2, 3, 2]), r"shape \[2, 3, 2\] and 12 numbers; it needs \(3, 2, 2\)"),
        (lambda entries: entries[0].update(n_numbers=11), r"shape \[3, 2, 2\] and 11 numbers"),
        (lambda entries: entries[1].update(n_numbers=3), "the table of 'y' is cut short"),
        (lambda entries: entries[1].update(n_numbers=-1), "the table of 'y' is cut short"),
        (lambda entries: entries.pop(), "2 variables and 1 distributions"),
        (lambda entries: entries.__setitem__(1, "table"), "distribution of 'y' is of a kind"),
    ],
)
def test_entries_that_do_not_fit_are_refused(change, message):
    entries, numbers = cpds_to_parts(cpds())
    change(entries)
    with pytest.raises(ModelFileError, match=message):
        cpds_from_parts(entries, numbers, ["x", "y"], SHAPES)


def test_numbers_too_many_are_refused():
    entries, numbers = cpds_to_parts(cpds())
    with pytest.raises(ModelFileError, match="1 numbers too many"):
        cpds_from_parts(entries, np.append(numbers, 0.5), ["x", "y"], SHAPES)
