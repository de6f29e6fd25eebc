"""Which edges TAN takes: those that gain something, pay for their parameters, and are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import KDB, TAN, NaiveBayes
from bayeskit.datasets import load_tennis
from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import edge_cost


def tennis():
    table = load_tennis()
    return {name: values for name, values in table.items() if name != "play"}, table["play"]


def scarce(share):
    """Two useful columns behind one that is known in a share of the rows (0: its levels are declared)."""
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    useful = [np.where(rng.random(1000) < 0.8, y, 1 - y) for _ in range(3)]
    rare = pd.Categorical([None] * 1000, categories=["p", "q", "r"])
    if share:
        rare = pd.Categorical(
            np.where(np.arange(1000) % round(1 / share) == 0, rng.choice(["p", "q", "r"], 1000), None),
            categories=["p", "q", "r"],
        )
    return pd.DataFrame({"rare": rare, **{f"u{i}": column.astype(str) for i, column in enumerate(useful)}}), y


@pytest.mark.parametrize("edges", ["penalized", "all"])
@pytest.mark.parametrize("share", [0.0, 0.005, 0.05])
def test_a_column_that_is_hardly_known_spoils_no_other_one_in_tan(share, edges):
    pytest.importorskip("pandas", reason="declared levels come from pandas")
    X, y = scarce(share)
    model = TAN(edges=edges).fit(X, y)
    assert all(parent != "rare" for parent, _ in model.structure_.arcs)
    naive = np.mean(KDB(0).fit(X[:700], y[:700]).predict(X[700:]) != y[700:])
    assert np.mean(TAN(edges=edges).fit(X[:700], y[:700]).predict(X[700:]) != y[700:]) <= naive + 0.02


@pytest.mark.parametrize(("known", "has_child"), [(24, False), (25, True), (34, True), (36, True)])
def test_a_parent_is_known_in_at_least_a_quarter_of_the_rows_of_its_child(known, has_child):
    # Where both are known they are equal, so the edge gains; "rare" is the root that was asked for.
    useful = ["u", "v"] * 50
    X = {"rare": [value if i < known else None for i, value in enumerate(useful)], "useful": useful}
    model = TAN(root="rare").fit(X, [0, 0, 1, 1] * 25)
    assert (("rare", "useful") in model.structure_.arcs) == has_child


def test_columns_without_any_information_about_each_other_have_no_edge():
    X = {"a": ["u", "v"] * 8, "b": ["s", "s", "t", "t"] * 4, "c": ["k"] * 16}
    assert TAN().fit(X, [0] * 8 + [1] * 8).structure_.arcs == ()


def test_an_edge_of_tan_pays_for_its_parameters():
    # Two columns that agree in three of four rows, in both classes: the same gain per row in 16 rows and in 160.
    for times, arcs in ((1, 0), (10, 1)):
        X = {"a": [0, 0, 0, 0, 1, 1, 1, 1] * 2 * times, "b": [0, 0, 0, 1, 1, 1, 1, 0] * 2 * times}
        y = ([0] * 8 + [1] * 8) * times
        model = TAN(kinds="categorical", edges="penalized").fit(X, y)
        cost = (np.log(8 * times) + 1) / (32 * times) * 2  # one further parameter in each class
        assert_allclose(edge_cost(model.counts_)[0, 1], cost, rtol=1e-12)
        assert (model.information_[0, 1] > cost) == bool(arcs)
        assert len(model.structure_.arcs) == arcs
        assert len(TAN(kinds="categorical").fit(X, y).structure_.arcs) == 1
    with pytest.raises(BayeskitError, match="'edges' parameter of TAN must be one of 'all' or 'penalized'"):
        TAN(edges="some").fit(*tennis())


def test_on_a_table_of_few_rows_a_penalized_tan_is_naive_bayes():
    X, y = tennis()
    model = TAN(edges="penalized").fit(X, y)
    assert model.structure_.arcs == ()
    naive = NaiveBayes(smoothing=0.25).fit(X, y)
    assert_allclose(model.predict_proba(X), naive.predict_proba(X), rtol=1e-12)
    assert len(TAN().fit(X, y).structure_.arcs) == 3


def test_values_that_a_class_never_has_cost_nothing():
    X, y = {"a": ["u", "v", "w", "u"], "b": ["s", "t", "s", "s"]}, [0, 0, 0, 1]
    counts = TAN().fit(X, y).counts_
    assert_allclose(edge_cost(counts)[0, 1], (np.log(3) + 1) / 8 * (2 * 1 + 0), rtol=1e-12)
