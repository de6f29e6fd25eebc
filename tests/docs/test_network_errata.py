"""The errata of the page on networks: the right form holds, the wrong one does not."""

import numpy as np

from bayeskit import BayesianNetwork


def test_given_its_parents_a_variable_still_depends_on_its_children():
    net = BayesianNetwork("A->B->C", random_tables=0)
    assert not net.independent("B", "C", given="A")
    assert BayesianNetwork("A->B; A->D->E", random_tables=0).independent("B", ["D", "E"], given="A")


def test_parents_and_children_alone_are_no_blanket():
    net = BayesianNetwork("X->C<-P", random_tables=0)
    assert not net.independent("X", "P", given="C")
    assert net.markov_blanket("X") == ("C", "P")


def test_a_given_descendant_opens_a_collider():
    net = BayesianNetwork("A->C<-B; C->D->E", random_tables=0)
    assert net.independent("A", "B")
    assert not net.independent("A", "B", given="E")
    assert not net.d_separated("A", "B", given="E")


def test_an_arc_allows_dependence_and_its_absence_does_not_forbid_it():
    same_rows = BayesianNetwork("A->B", tables={"A": [0.5, 0.5], "B": [[0.3, 0.7], [0.3, 0.7]]})
    assert same_rows.independent("A", "B")
    chain = BayesianNetwork("A->B->C", random_tables=0)
    assert ("A", "C") not in chain.arcs
    assert not chain.independent("A", "C")


def test_free_parameters_are_r_minus_one_a_row():
    net = BayesianNetwork("A[3]->B[4]")
    assert net.n_parameters == (3 - 1) + (4 - 1) * 3
    assert sum(table.size for table in net.tables) == 3 + 4 * 3


def test_independent_pairs_do_not_make_independent_sets():
    differ = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    net = BayesianNetwork("A, B -> C", tables={"A": [0.5, 0.5], "B": [0.5, 0.5], "C": differ})
    assert all(net.independent(x, y) for x, y in ("AB", "AC", "BC"))
    assert not net.independent(["A", "B"], "C")
