"""The structure of a dynamic network is found in long tables, with what is known about arcs."""

import numpy as np
import pytest

from bayeskit import DynamicNetwork
from bayeskit.errors import BayeskitError, NetworkError, TableError

TRUTH = "rain[t-1]->rain[t]; rain[t]->umbrella[t]; rain[t-1]->mud[t]; mud[t-1]->mud[t]"
TABLES = {
    "rain[0]": [0.5, 0.5],
    "mud[0]": [0.5, 0.5],
    "rain[t]": [[0.8, 0.2], [0.3, 0.7]],
    "umbrella[t]": [[0.9, 0.1], [0.15, 0.85]],
    "mud[t]": [[[0.95, 0.05], [0.6, 0.4]], [[0.3, 0.7], [0.1, 0.9]]],
}


def rows(n=2000, seed=0):
    """Draw from the truth by hand, slice after slice."""
    rng = np.random.default_rng(seed)
    rain, mud, umbrella = 0, 0, 0
    drawn = {"rain": [], "mud": [], "umbrella": []}
    for _ in range(n):
        before = rain
        rain = int(rng.random() < TABLES["rain[t]"][before][1])
        mud = int(rng.random() < TABLES["mud[t]"][before][mud][1])
        umbrella = int(rng.random() < TABLES["umbrella[t]"][rain][1])
        for name, value in (("rain", rain), ("mud", mud), ("umbrella", umbrella)):
            drawn[name].append("yes" if value else "no")
    return drawn


def test_the_arcs_between_slices_and_within_one_are_found_and_the_tables_too():
    net = DynamicNetwork.learned(rows(8000), tiers=[["rain"], ["umbrella", "mud"]])
    assert {name: set(parents) for name, parents in net.parents.items()} == {
        "rain": {"rain[t-1]"},
        "umbrella": {"rain[t]"},
        "mud": {"rain[t-1]", "mud[t-1]"},
    }
    np.testing.assert_allclose(net.tables["rain[t]"], TABLES["rain[t]"], atol=0.03)
    assert net.fitted(rows(8000)).tables["mud[t]"].tolist() == net.tables["mud[t]"].tolist()


def test_windows_stay_within_their_sequence():
    # The two sequences alternate; a window across their border would see a change that no sequence has.
    one, two = {"x": ["a", "b"] * 30}, {"x": ["b", "a"] * 30}
    net = DynamicNetwork.learned([one, two])
    table = net.tables["x[t]"]
    assert table[0, 1] == pytest.approx(60 / 61, rel=1e-12)  # 59 times in all (30 and 29), λ = 1 in two states
    assert net.parents == {"x": ("x[t-1]",)}


def test_without_arcs_within_a_slice_all_parents_are_earlier():
    net = DynamicNetwork.learned(rows(), within=False)
    assert all(parent.endswith("[t-1]") for parents in net.parents.values() for parent in parents)


def test_parents_may_be_two_slices_back():
    rng = np.random.default_rng(0)
    x = ["a", "b"]
    for _ in range(1500):
        x.append(x[-2] if rng.random() < 0.9 else "ab"[rng.integers(2)])
    net = DynamicNetwork.learned({"x": x}, order=2)
    assert net.order == 2
    assert net.parents["x"] == ("x[t-2]",)


def test_lists_of_arcs_hold():
    net = DynamicNetwork.learned(
        rows(), whitelist=[("umbrella[t-1]", "mud[t]")], blacklist=[("rain[t]", "umbrella[t]")], max_parents=3
    )
    assert "umbrella[t-1]" in net.parents["mud"]
    assert "rain[t]" not in net.parents["umbrella"]


def test_gaps_and_missing_cells_are_taken():
    drawn = rows(600)
    drawn["mud"] = [None if i % 9 == 0 else value for i, value in enumerate(drawn["mud"])]
    net = DynamicNetwork.learned(drawn)
    assert "rain[t-1]" in net.parents["rain"]
    assert net.history is not None


def test_what_cannot_be_learned_is_said():
    rng = np.random.default_rng(0)
    with pytest.raises(NetworkError, match="no variable depends on the slice before"):
        DynamicNetwork.learned({"x": rng.choice(["a", "b"], 300), "y": rng.choice(["a", "b"], 300)})
    with pytest.raises(TableError, match=r"no sequence has more than 1 row, .* the longest has 1"):
        DynamicNetwork.learned({"x": ["a", "b"], "g": [1, 2]}, group="g")
    with pytest.raises(TableError, match="holds numbers"):
        DynamicNetwork.learned({"x": [0.5, 1.5, 2.5]})
    with pytest.raises(BayeskitError, match="order"):
        DynamicNetwork.learned(rows(20), order=0)
    with pytest.raises(NetworkError, match="not a column"):
        DynamicNetwork.learned(rows(20), whitelist=[("rain", "mud[t]")])
