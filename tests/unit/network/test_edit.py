"""Networks made from others: what changes is right, what stays is shared, and the old network is as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork, datasets
from bayeskit.errors import NetworkError, TooLargeError
from networks import networks

TIGHT = 1e-12


@pytest.fixture
def net():
    return BayesianNetwork(
        "rain->wet<-sprinkler; rain->sprinkler; wet->slip",
        tables={
            "rain": [0.8, 0.2],
            "sprinkler": [[0.6, 0.4], [0.9, 0.1]],
            "wet": [[[1.0, 0.0], [0.2, 0.8]], [[0.1, 0.9], [0.05, 0.95]]],
            "slip": [[0.99, 0.01], [0.7, 0.3]],
        },
        target="slip",
    )


def test_another_table_is_another_network_that_shares_the_rest(net):
    new = net.with_table("rain", {"no": 0.5, "yes": 0.5})
    assert new["rain"].array.tolist() == [0.5, 0.5]
    assert net["rain"].array.tolist() == [0.8, 0.2]
    assert new.target == "slip"
    for i in range(1, 4):
        assert new.cpds[i] is net.cpds[i]
    with pytest.raises(NetworkError, match=r"sums to 1\.1"):
        net.with_table("rain", [0.5, 0.6])
    assert net.with_table("rain", [1, 3], normalize=True)["rain"].array.tolist() == [0.25, 0.75]


def test_a_new_arc_changes_no_probability_until_it_gets_a_table(net):
    new = net.with_arc("sprinkler", "slip")
    assert ("sprinkler", "slip") in new.arcs
    assert_allclose(new.joint(net.names).array, net.joint(net.names).array, rtol=TIGHT)
    table = np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.8, 0.2], [0.4, 0.6]]])
    assert_array_equal(net.with_arc("sprinkler", "slip", table)["slip"].array, table)
    with pytest.raises(NetworkError, match="form a cycle: "):
        net.with_arc("slip", "rain")
    with pytest.raises(NetworkError, match="the arc rain->wet is there already"):
        net.with_arc("rain", "wet")


def test_an_arc_to_a_table_beyond_all_memory_is_refused_before_it_is_made():
    net = BayesianNetwork("A[99999]->B; C[99999]")
    with pytest.raises(TooLargeError, match="would hold 2e\\+10 numbers"):
        net.with_arc("C", "B")


@settings(deadline=None, max_examples=30)
@given(networks(most=5), st.data())
def test_without_an_arc_the_family_keeps_its_margin(net, data):
    arcs = [(p, i) for i, own in enumerate(net.parents) for p in own]
    assume(arcs)
    p, i = data.draw(st.sampled_from(arcs))
    new = net.without_arc(net.names[p], net.names[i])
    rest = [net.names[v] for v in (*(q for q in net.parents[i] if q != p), i)]
    assert (net.names[p], net.names[i]) not in new.arcs
    # P(child, its other parents) is what it was: the definition of the averaged table.
    assert_allclose(new.joint(rest).array, net.joint(rest).array, atol=1e-12)


def test_no_arc_is_taken_away_that_is_not_there(net):
    with pytest.raises(NetworkError, match=r"there is no arc slip->rain; the parents of 'rain' are none"):
        net.without_arc("slip", "rain")


def test_a_new_variable_stands_below_its_parents(net):
    new = net.with_variable(
        "injury", ["none", "bruise", "fracture"], parents=["slip"], table=[[1, 0, 0], [0.6, 0.3, 0.1]]
    )
    assert len(new) == 5
    assert new.states[4] == ("none", "bruise", "fracture")
    assert new.posterior("injury", given={"slip": "yes"})["fracture"] == pytest.approx(0.1, abs=TIGHT)
    assert net.with_variable("sun").states[-1] == ("no", "yes")
    by_key = net.with_variable(
        "mood", parents=["slip"], table={"no": {"good": 1, "bad": 0}, "yes": {"good": 0, "bad": 1}}
    )
    assert by_key.states[4] == ("good", "bad")
    with pytest.raises(NetworkError, match="has a variable 'rain' already"):
        net.with_variable("rain")


def test_names_and_states_get_other_names(net):
    new = net.rename({"slip": "fall"}, states={"rain": {"no": "dry", "yes": "wet"}})
    assert new.target == "fall"
    assert new.posterior("fall", given={"rain": "wet"})["yes"] == net.posterior("slip", given={"rain": "yes"})["yes"]
    assert_array_equal(new.predict_proba({"rain": ["dry", "wet"]}), net.predict_proba({"rain": ["no", "yes"]}))
    assert all(a is b for a, b in zip(new.cpds, net.cpds, strict=True))
    with pytest.raises(NetworkError, match="variable 'wet' appears twice"):
        net.rename({"rain": "wet"})
    with pytest.raises(NetworkError, match="unknown variable 'snow'"):
        net.rename({"snow": "rain"})


def test_a_variable_is_printed_as_a_table(net):
    assert repr(net["wet"]) == (
        "rain  sprinkler  no    yes\n"
        "no    no         1     0\n"
        "no    yes        0.2   0.8\n"
        "yes   no         0.1   0.9\n"
        "yes   yes        0.05  0.95"
    )
    assert net["wet"]["yes", "no"].tolist() == [0.1, 0.9]
    with pytest.raises(KeyError, match="rain has no state 'maybe'"):
        net["wet"]["maybe", "no"]
    with pytest.raises(NetworkError, match="unknown variable 'wett'; did you mean 'wet'"):
        net["wett"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_frame_of_a_variable_reads_back_as_the_same_table(net, output):
    for name in net:
        assert_array_equal(net.with_table(name, net[name].to_frame(output))[name].array, net[name].array)
    assert isinstance(net["wet"].to_frame(output), {"pandas": pd.DataFrame, "polars": pl.DataFrame}[output])
    with pytest.raises(NetworkError, match="output must be 'pandas' or 'polars'"):
        net["wet"].to_frame("arrow")


def test_a_network_has_a_length_members_and_equals_its_copy_in_any_order(net):
    assert len(net) == 4
    assert "wet" in net
    assert "snow" not in net
    assert 3 not in net
    assert list(net) == list(net.names)
    other = BayesianNetwork(
        "wet->slip; sprinkler->wet<-rain; rain->sprinkler",
        tables={**{name: net[name].array for name in net}, "wet": net["wet"].array.transpose(1, 0, 2)},
        target="slip",
    )
    assert net == other
    assert hash(net) == hash(other)
    assert net != net.with_table("rain", [0.7, 0.3])
    assert net != net.without_arc("rain", "wet")
    assert net != "a network"


def test_answers_become_frames(net):
    posterior = net.posterior("slip", given={"rain": "yes"}).to_frame()
    assert list(posterior.columns) == ["slip", "P"]
    everything = net.posterior().to_frame("polars")
    assert everything.shape == (8, 3)
    assert everything.row(0)[:2] == ("rain", "no")
    assert everything.row(0)[2] == pytest.approx(0.8, abs=TIGHT)
    joint = net.joint(["rain", "wet"]).to_frame()
    assert list(joint.columns) == ["rain", "wet", "P"]
    assert joint["P"].sum() == pytest.approx(1.0, abs=TIGHT)
    assert net.most_probable(given={"rain": "yes"}).to_frame().shape == (3, 2)
    sampled = net.posterior("slip", method="weighting", n_samples=1000).to_frame()
    assert list(sampled.columns) == ["slip", "P", "standard_error"]


def test_do_takes_a_state_or_a_distribution_and_refuses_the_rest_in_words(net):
    assert net.do(wet=[0.7, 0.3])["wet"].array.tolist() == [0.7, 0.3]
    assert net.do(wet={"yes": 1})["wet"].array.tolist() == [0.0, 1.0]
    for bad, message in [
        ([0.7, 0.2], "sums to 0.9"),
        ([0.7], "needs one number per state"),
        ({"yes", "no"}, "sets 'wet' to one state or to a distribution"),
        ({"yes": "much"}, "must hold numbers"),
        (["yes"], "sets 'wet' to one state"),
        (None, "has no state None"),
    ]:
        with pytest.raises(NetworkError, match=message):
            net.do(wet=bad)
    with pytest.raises(NetworkError, match="do maps variables to states"):
        net.do("wet")


def test_a_dict_of_rows_does_not_name_the_childs_states():
    net = BayesianNetwork("A{low|high}->B", tables={"A": [0.5, 0.5], "B": {"low": [0.9, 0.1], "high": [0.2, 0.8]}})
    assert net.states == (("low", "high"), ("no", "yes"))
    three = BayesianNetwork("A{low|high}->B", tables={"A": [0.5, 0.5], "B": {"low": [1, 0, 0], "high": [0, 0, 1]}})
    assert three.states[1] == ("0", "1", "2")
    named = BayesianNetwork(
        "A{low|high}->B", tables={"A": [0.5, 0.5], "B": {"low": {"x": 1, "y": 0}, "high": {"x": 0, "y": 1}}}
    )
    assert named.states[1] == ("x", "y")


def test_log_probability_divides_rows_by_their_sum_as_inference_does():
    net = BayesianNetwork("a->b", tables={"a": [0.3, 0.7], "b": [[0.333333, 0.666664], [0.5, 0.5]]})
    said = np.exp(net.log_probability({"a": ["no"], "b": ["no"]}))[0]
    assert said == pytest.approx(net.probability({"a": "no", "b": "no"}), rel=1e-14)


def test_a_variable_is_removed_with_its_arcs_averaged_out():
    net = datasets.load_asia()
    for name in net.names:
        less = net.without_variable(name)
        assert name not in less
        assert less.arcs == tuple(arc for arc in net.arcs if name not in arc)
    # A variable without children takes nothing with it.
    leaf, before = net.without_variable("dysp").posterior(), net.posterior()
    assert all(np.allclose(leaf[name].array, before[name].array, rtol=1e-12) for name in leaf)


def test_the_last_variable_stays():
    with pytest.raises(NetworkError, match="last variable"):
        BayesianNetwork("a").without_variable("a")


def test_influence_is_the_mean_over_rows_of_the_largest_total_variation():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), size=(2, 4))
    net = BayesianNetwork(
        "a->c; b->c", states={"a": list("01"), "b": list("0123"), "c": list("xyz")},
        tables={"a": [0.5, 0.5], "b": [0.25] * 4, "c": table},
    )  # fmt: skip
    far = [
        [max(0.5 * abs(table[:, b][i] - table[:, b][j]).sum() for i in range(2) for j in range(2)) for b in range(4)]
    ]
    assert net.arc_influence()["a", "c"] == pytest.approx(np.mean(far), rel=1e-12)
    far = [max(0.5 * abs(table[a][i] - table[a][j]).sum() for i in range(4) for j in range(4)) for a in range(2)]
    assert net.arc_influence()["b", "c"] == pytest.approx(np.mean(far), rel=1e-12)
    assert BayesianNetwork("a->b").arc_influence() == {("a", "b"): 0.0}
