"""Posteriors of whole tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import (
    BayeskitError,
    ImpossibleEvidenceError,
    NetworkError,
    TableError,
    TooLargeError,
    UnseenValueError,
)


@pytest.fixture
def net():
    return BayesianNetwork(
        "rain->wet<-sprinkler; wet->slip",
        tables={
            "rain": [0.8, 0.2],
            "sprinkler": [0.7, 0.3],
            "wet": [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.0, 1.0]]],
            "slip": [[0.95, 0.05], [0.5, 0.5]],
        },
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_frames_of_any_kind_give_the_same_posteriors(net, make):
    table = make({"wet": ["yes", None, "no"], "sprinkler": ["no", "yes", None]})
    found = net.predict_proba(table, "rain")
    for row, given in zip(found, [{"wet": "yes", "sprinkler": "no"}, {"sprinkler": "yes"}, {"wet": "no"}], strict=True):
        assert_allclose(row, net.posterior("rain", given=given).array, rtol=1e-13)


def test_an_observed_target_is_certain_in_posterior_and_not_looked_at_in_predict_proba(net):
    table = {"rain": ["yes", None], "wet": ["yes", "yes"]}
    assert_array_equal(net.posterior_rows(table, "rain")[0], [0.0, 1.0])
    assert_allclose(net.predict_proba(table, "rain")[0], net.posterior("rain", given={"wet": "yes"}).array, rtol=1e-13)


def test_a_table_without_known_cells_gives_the_prior(net):
    assert_allclose(net.predict_proba({"wet": [None, None]}, "rain"), [[0.8, 0.2]] * 2, rtol=1e-13)


def test_a_table_without_a_column_of_the_network_is_refused(net):
    with pytest.raises(
        TableError, match="has none of the network's variables; its columns are 'other', the variables "
    ):
        net.predict_proba({"other": [1, 2]}, "rain")


def test_an_empty_table_gives_no_rows(net):
    assert net.predict_proba([np.empty(0, np.uint8)] * 4, "rain").shape == (0, 2)


def test_an_impossible_row_is_named_or_given_the_prior(net):
    table = {"sprinkler": ["no", "no"], "rain": ["no", "no"], "wet": ["no", "yes"]}
    with pytest.raises(
        ImpossibleEvidenceError, match=r"row 1: its cells cannot occur together .* \(1 here\) the prior"
    ):
        net.posterior_rows(table, ["slip", "rain"])
    patient = net.posterior_rows(table, "slip", impossible="prior")
    assert_allclose(patient[1], net.posterior("slip").array, rtol=1e-13)
    with pytest.raises(NetworkError, match="impossible must be 'error' or 'prior'"):
        net.posterior_rows(table, "slip", impossible="ignore")


def test_a_value_that_is_no_state_is_named(net):
    with pytest.raises(UnseenValueError, match="column 'wet', row 1: 'damp' is not a state of the variable"):
        net.predict_proba({"wet": ["yes", "damp"]}, "rain")


def test_a_value_that_is_no_state_may_be_ignored(net):
    found = net.predict_proba({"wet": ["yes", "damp"], "sprinkler": ["no", "no"]}, "rain", unseen="ignore")
    assert_array_equal(found, net.predict_proba({"wet": ["yes", None], "sprinkler": ["no", "no"]}, "rain"))
    with pytest.raises(NetworkError, match="unseen must be 'error' or 'ignore'; got 'smooth'"):
        net.posterior_rows({"wet": ["damp"]}, unseen="smooth")


def test_the_targets_own_column_is_not_read(net):
    assert_array_equal(
        net.predict_proba({"rain": ["drizzle"], "wet": ["yes"]}, "rain"), net.predict_proba({"wet": ["yes"]}, "rain")
    )


@pytest.mark.parametrize("table", [{"wet": ["yes"]}, pd.DataFrame({"wet": ["yes"]}), np.zeros((2, 4)), [["yes"]]])
def test_posterior_of_a_table_says_where_to_ask(net, table):
    with pytest.raises(NetworkError, match=r"for a table of cases call posterior_rows\(table, variables\)"):
        net.posterior(table)


def test_posterior_rows_gives_one_array_for_a_name_and_a_dict_otherwise(net):
    table = {"wet": ["yes", None]}
    one = net.posterior_rows(table, "rain")
    assert one.shape == (2, 2)
    some, every = net.posterior_rows(table, ["rain", "slip"]), net.posterior_rows(table)
    assert list(some) == ["rain", "slip"]
    assert list(every) == list(net.names)
    for found in (some, every):
        assert_allclose(found["rain"], one, rtol=1e-13)


@pytest.mark.parametrize("limit", [64, "64 B", "0.05 KiB"])
def test_memory_is_bytes_or_text_with_a_unit(net, limit):
    with pytest.raises(TooLargeError, match="a larger max_memory"):
        net.posterior(max_memory=limit)
    assert_allclose(net.posterior(max_memory="1 MiB")["rain"]["yes"], 0.2, rtol=1e-13)
    with pytest.raises(BayeskitError, match="number of bytes or text such as '4 GiB'; got '4 elephants'"):
        net.joint(["rain"], max_memory="4 elephants")


def test_rows_that_need_too_large_tables_are_refused(net):
    with pytest.raises(
        TooLargeError, match=r"need [\d,]+ bytes of memory at once, over the limit of 8\. Pass a larger max_"
    ):
        net.predict_proba({"wet": ["yes"]}, "rain", max_memory=8)


def test_a_refused_row_is_told_what_helps_for_it():
    # A grid of 48 x 48 has cliques of more than 2^40 cells: no memory is enough.
    arcs = [(f"x{i}_{j}", f"x{i + 1}_{j}") for i in range(47) for j in range(48)]
    arcs += [(f"x{i}_{j}", f"x{i}_{j + 1}") for i in range(48) for j in range(47)]
    grid = BayesianNetwork(arcs, random_tables=1)
    table = {"x0_0": ["yes"], "x47_47": ["no"]}
    with pytest.raises(TooLargeError, match=r"^row 0: .*more than 2\^40") as refused:
        grid.predict_proba(table, "x20_20")
    assert "max_memory" not in str(refused.value)
    assert "posterior('x20_20', given={…}, method='weighting') samples the answer" in str(refused.value)
    sampled = grid.posterior("x20_20", given={"x0_0": "yes"}, method="weighting", n_samples=1000)
    assert 0 <= sampled["yes"] <= 1
    with pytest.raises(TooLargeError, match=r"one variable at a time: posterior_rows\(table, 'x20_20'\)"):
        grid.posterior_rows(table, ["x20_20", "x3_3"])


def test_the_number_of_threads_changes_nothing(net):
    rng = np.random.default_rng(0)
    table = [
        np.where(rng.random(20_000) < 0.5, 255, codes).astype(np.uint8) for codes in net.sample(20_000, output="codes")
    ]
    found = []
    for n in (1, 3):
        with bayeskit.threads(n):
            found.append(net.posterior_rows(table, ["rain", "slip"]))
    for target in ("rain", "slip"):
        assert found[0][target].shape == (20_000, 2)
        assert_array_equal(found[0][target], found[1][target])
