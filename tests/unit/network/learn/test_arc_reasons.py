"""Reasons of arcs: the gain is a difference of two networks' scores, and the rows are those that know the family."""

import numpy as np
import pytest

from bayeskit import BayesianNetwork, arc_reasons, datasets, learn_structure, network_score
from bayeskit.errors import NetworkError, TableError

ASIA = datasets.load_asia()
ROWS = ASIA.sample(3000, random_state=0)


def parents_of(net):
    return {name: [net.names[p] for p in above] for name, above in zip(net.names, net.parents, strict=True)}


@pytest.mark.parametrize("score", ["bic", "bdeu", "qnml"])
def test_a_gain_is_what_the_network_loses_without_the_arc(score):
    learned = learn_structure(ROWS, "hill-climb", score)
    whole, parents = network_score(learned.network, ROWS, score), parents_of(learned.network)
    reasons = arc_reasons(learned.network, ROWS, score)
    assert {(arc.parent, arc.child) for arc in reasons.arcs} == set(learned.arcs)
    for arc in reasons.arcs:
        fewer = {n: [p for p in above if (p, n) != (arc.parent, arc.child)] for n, above in parents.items()}
        assert arc.gain == pytest.approx(whole - network_score(BayesianNetwork(fewer), ROWS, score), abs=1e-6)
        assert arc.gain > 0
    assert [arc.gain for arc in reasons.arcs] == sorted((arc.gain for arc in reasons.arcs), reverse=True)


def test_a_candidate_s_gain_is_what_the_network_would_gain_with_it():
    learned = learn_structure(ROWS, "hill-climb")
    whole, parents = network_score(learned.network, ROWS), parents_of(learned.network)
    reasons = arc_reasons(learned.network, ROWS, n_candidates=2)
    assert set(reasons.candidates) == set(ROWS)
    for child, arcs in reasons.candidates.items():
        for arc in arcs:
            assert not arc.present
            assert arc.parent not in parents[child]
            if arc.closes_cycle:
                with pytest.raises(NetworkError, match="cycle"):
                    BayesianNetwork({**parents, child: [*parents[child], arc.parent]})
            else:  # hill-climbing stopped since no arc gains
                more = BayesianNetwork({**parents, child: [*parents[child], arc.parent]})
                assert arc.gain == pytest.approx(network_score(more, ROWS) - whole, abs=1e-6)
                assert arc.gain <= 0


def test_rows_are_those_that_know_the_family_and_configurations_those_that_occur():
    table = {
        "a": ["x", "y", "x", None, "x", "y"],
        "b": ["u", "u", "v", "v", "v", None],
        "c": ["p", "q", "p", "q", None, "p"],
    }
    arc = arc_reasons(BayesianNetwork("a->c<-b"), table).why("a", "c")
    assert (arc.n_rows, arc.n_configurations) == (3, 3)  # rows 0, 1 and 2: xu, yu, xv
    weighted = arc_reasons(BayesianNetwork("a->c<-b"), table, sample_weight=[2, 1, 3, 1, 1, 1]).why("b", "c")
    assert (weighted.n_rows, weighted.n_configurations) == (6, 3)


def test_any_arc_can_be_asked_for_and_one_that_closes_a_cycle_is_said():
    reasons = arc_reasons(BayesianNetwork("A->B->C"), BayesianNetwork("A->B->C", random_tables=1).sample(500))
    assert reasons.why("A", "B").present
    assert reasons.why("C", "A").closes_cycle
    assert "would close a cycle" in str(reasons.why("C", "A"))
    assert not reasons.why("A", "C").closes_cycle
    with pytest.raises(NetworkError, match="'D' is not a variable"):
        reasons.why("D", "A")
    with pytest.raises(NetworkError, match="joins two variables"):
        reasons.why("A", "A")


def test_numbers_are_cut_by_the_bins_of_the_network():
    rng = np.random.default_rng(0)
    age = rng.normal(size=2000)
    table = {"age": age, "ill": np.where(age + rng.normal(size=2000) > 0, "yes", "no")}
    for numeric in ("equal-frequency", "mdl"):
        learned = learn_structure(table, numeric=numeric)
        (arc,) = arc_reasons(learned.network, table).arcs
        assert arc.gain > 100
    with pytest.raises(TableError, match="numbers"):
        arc_reasons(BayesianNetwork("age->ill"), table)


@pytest.mark.parametrize(
    ("network", "options", "message"),
    [
        (BayesianNetwork("A->B"), {}, "in the network or in the table only"),
        (ASIA, {"n_candidates": -1}, "n_candidates must be a whole number"),
        (ASIA, {"score": "bde"}, "score must be one of"),
    ],
)
def test_what_has_no_reasons_is_refused(network, options, message):
    with pytest.raises((NetworkError, TableError), match=message):
        arc_reasons(network, ROWS, **options)
