"""Comparisons of structures: counted between classes, drawn with colours."""

import re

from hypothesis import given

from bayeskit import BayesianNetwork, compare_networks
from bayeskit.network.learn.pdag import PartialGraph
from tests.networks import dags


def named(parents):
    names = [f"v{i}" for i in range(len(parents))]
    return BayesianNetwork({names[i]: [names[p] for p in own] for i, own in enumerate(parents)})


@given(dags())
def test_a_network_does_not_differ_from_itself(parents):
    assert compare_networks(named(parents), named(parents)).shd == 0


def test_equivalent_networks_do_not_differ():
    assert compare_networks(BayesianNetwork("A->B->C"), BayesianNetwork("C->B->A")).shd == 0


def test_missing_extra_and_turned_arcs_are_counted_once_each():
    truth, other = BayesianNetwork("A->C<-B; C->D; E"), BayesianNetwork("A->C->B; E->D; C")
    found = compare_networks(truth, other)
    assert found.missing == (("C", "D"),)
    assert found.extra == (("D", "E"),) or found.extra == (("E", "D"),)
    assert set(found.reversed) == {("A", "C"), ("B", "C")}
    assert found.shd == 4 == len(found.missing) + len(found.extra) + len(found.reversed)


def ends(svg, kind):
    """How many lines of a kind there are, and how many tips."""
    return svg.count(f'class="arc {kind}" d="M') - svg.count(f'class="arc {kind}" d="M0 '), svg.count(
        f'class="tip {kind}"'
    )


def test_the_picture_colours_each_kind_of_arc_and_says_what_it_means():
    svg = compare_networks(BayesianNetwork("A->C<-B; C->D; E"), BayesianNetwork("A->C->B; E->D; C")).draw().svg
    assert ends(svg, "missing") == (1, 1)  # C -> D, which the v-structure directs
    assert ends(svg, "turned") == (2, 2)
    assert ends(svg, "extra") == (1, 0)  # D and E are joined, and data do not say in which direction
    for said in ("in the first only (1)", "in the second only (1)", "another direction (as in the first) (2)"):
        assert said in svg
    assert "in both (" not in svg


def test_arcs_that_form_a_cycle_keep_their_direction_in_the_picture():
    # The truth is A -> C <- B; the other adds C -> D -> A, whose arc D -> A points upwards.
    one = PartialGraph(("A", "B", "C", "D"), (("A", "C"), ("B", "C"), ("C", "D"), ("D", "A")), ())
    svg = one.draw().svg
    tips = re.findall(r'class="tip" d="M[0-9.-]+ [0-9.-]+l-3.6 (-?)7.5', svg)
    assert sorted(tips) == ["", "-", "-", "-"]  # one tip points up
    assert 'class="tip"' not in PartialGraph(("A", "B"), (), (("A", "B"),)).draw().svg
