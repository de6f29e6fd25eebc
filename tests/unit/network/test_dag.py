import itertools

import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.errors import NetworkError
from bayeskit.network import dag


@pytest.fixture
def fire():
    """Mitchell's forest fire."""
    return BayesianNetwork(
        "Storm->Lightning->Thunder; Storm, BusTourGroup->Campfire; Storm, Lightning, Campfire->ForestFire"
    )


def test_a_chain_and_a_fork_are_blocked_by_their_middle(fire):
    assert fire.d_separated("Storm", "Thunder", given="Lightning")
    assert fire.d_separated("Campfire", "Thunder", given="Storm")
    assert not fire.d_separated("Storm", "Thunder")


def test_a_collider_blocks_until_it_or_a_descendant_is_given(fire):
    assert repr(fire.d_separated("Storm", "BusTourGroup")) == (
        "d-separated: no trail between Storm and BusTourGroup is open while nothing is given."
    )
    opened = fire.d_separated("Storm", "BusTourGroup", given="Campfire")
    assert opened.trail == ("Storm", "Campfire", "BusTourGroup")
    assert opened.reason == (
        "not d-separated: the trail Storm -> Campfire <- BusTourGroup is open; "
        "its colliders are opened: Campfire is given."
    )
    below = BayesianNetwork("Storm->Campfire<-BusTourGroup; Campfire->Smoke->Smell").d_separated(
        "Storm", "BusTourGroup", given=["Smell"]
    )
    assert "Campfire has the given descendant Smell" in below.reason


def test_the_reason_names_an_open_trail(fire):
    answer = fire.d_separated("Thunder", "Campfire")
    assert answer.reason == (
        "not d-separated: the trail Thunder <- Lightning <- Storm -> Campfire is open; no variable on it is given."
    )


def test_sets_are_separated_when_every_pair_is(fire):
    assert fire.d_separated(["Thunder"], ["Campfire", "BusTourGroup"], given=["Storm", "Lightning"])
    assert not fire.d_separated(["Thunder", "ForestFire"], ["Campfire"], given=["Storm", "Lightning"])


def test_overlapping_and_empty_sets_are_refused(fire):
    with pytest.raises(NetworkError, match="variable 'Storm' is in two of the three sets"):
        fire.d_separated("Storm", "Thunder", given="Storm")
    with pytest.raises(NetworkError, match="at least one variable each"):
        fire.d_separated([], "Thunder")
    with pytest.raises(NetworkError, match="unknown variable 'Sturm'; did you mean 'Storm'"):
        fire.d_separated("Sturm", "Thunder")


def test_blanket_ancestors_and_descendants(fire):
    assert fire.markov_blanket("Storm") == ("Lightning", "BusTourGroup", "Campfire", "ForestFire")
    assert fire.markov_blanket("Thunder") == ("Lightning",)
    assert fire.ancestors("Thunder") == ("Storm", "Lightning")
    assert fire.ancestors(["Thunder", "Campfire"]) == ("Storm", "Lightning", "BusTourGroup")
    assert fire.descendants("Storm") == ("Lightning", "Thunder", "Campfire", "ForestFire")


def test_parents_come_before_children_in_the_order(fire):
    place = {i: k for k, i in enumerate(fire.topological_order)}
    assert all(place[p] < place[i] for i, own in enumerate(fire.parents) for p in own)


def test_the_moral_graph_marries_parents():
    assert set(BayesianNetwork("A->C<-B; C->D").moral_graph()) == {("A", "C"), ("C", "B"), ("A", "B"), ("C", "D")}


def test_meek_turns_the_arc_that_would_make_a_new_v_structure():
    arcs, edges = BayesianNetwork("A->C<-B; C->D; D->E").cpdag()
    assert set(arcs) == {("A", "C"), ("B", "C"), ("C", "D"), ("D", "E")}
    assert edges == ()


def test_a_chain_has_no_sure_arc():
    arcs, edges = BayesianNetwork("A->B->C").cpdag()
    assert arcs == ()
    assert set(edges) == {("A", "B"), ("B", "C")}


def test_a_chain_and_a_fork_are_equivalent_and_a_collider_is_not():
    chain = BayesianNetwork("A->B->C")
    assert chain.equivalent(BayesianNetwork("B->A; B->C"))
    assert not chain.equivalent(BayesianNetwork("A->B<-C"))
    assert not chain.equivalent(BayesianNetwork("A->B; C"))
    assert not chain.equivalent(BayesianNetwork("A->B->D"))


def test_a_cycle_is_shown_along_its_arcs():
    cycle = dag.find_cycle([[3], [0], [], [1], [2]])
    assert cycle[0] == cycle[-1]
    assert set(cycle) == {0, 1, 3}
    parents = [[3], [0], [], [1], [2]]
    assert all(a in parents[b] for a, b in itertools.pairwise(cycle))


def test_connected_variables_are_those_that_are_not_d_separated():
    net = datasets.load_asia()
    for x in net.names:
        for given in ([], ["either"], ["smoke", "dysp"], ["xray"]):
            if x in given:
                continue
            others = [name for name in net.names if name != x and name not in given]
            assert set(net.d_connected(x, given)) == {name for name in others if not net.d_separated(x, name, given)}
