import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import BayesianNetwork
from bayeskit.datasets import load_asia
from bayeskit.errors import NetworkError
from networks import networks


def test_a_cause_and_its_effect_depend_and_the_reason_shows_where():
    net = BayesianNetwork("A->B", tables={"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.5, 0.5]]})
    assert net.independent("A", "B")  # an arc whose rows are the same
    assert not net.d_separated("A", "B")
    answer = BayesianNetwork("A->B", tables={"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]}).independent("A", "B")
    assert answer.reason == "not independent: P(A=no, B=no) = 0.5, but P(A=no) P(B=no) = 0.25."
    assert answer.difference == 0.25


def test_pairwise_independence_does_not_make_sets_independent():
    xor = np.zeros((2, 2, 2))
    xor[0, 0, 0] = xor[1, 1, 0] = xor[0, 1, 1] = xor[1, 0, 1] = 1.0
    net = BayesianNetwork("A, B -> C", tables={"A": [0.5, 0.5], "B": [0.5, 0.5], "C": xor})
    assert net.independent("A", "C")
    assert net.independent("B", "C")
    assert not net.independent(["A", "B"], "C")
    assert not net.independent("A", "B", given="C")


def test_a_given_variable_counts_only_in_states_that_can_be():
    net = BayesianNetwork(
        "A->B; A->C", tables={"A": [1.0, 0.0], "B": [[0.5, 0.5], [0.1, 0.9]], "C": [[0.5, 0.5], [0.9, 0.1]]}
    )
    assert net.independent("B", "C")
    assert net.independent("A", "B")


def test_asia_by_the_numbers():
    net = load_asia()
    assert net.independent("asia", "smoke")
    assert net.independent("xray", ["asia", "smoke"], given="either")
    assert not net.independent("asia", "smoke", given="dysp")


def test_the_sets_must_not_overlap():
    with pytest.raises(NetworkError, match="must not overlap"):
        load_asia().independent("asia", ["asia", "smoke"])


@given(networks(most=4, least=2), st.data())
@settings(max_examples=100, deadline=None)
def test_the_difference_is_that_of_the_whole_joint_table(net, data):
    n = len(net.names)
    # Both sides have a variable by construction: few random sides would.
    first, second, *others = data.draw(st.permutations(range(n)))
    side = {first: "x", second: "y", **{i: data.draw(st.sampled_from("xyz-")) for i in others}}
    x, y, z = ([i for i in range(n) if side[i] == name] for name in "xyz")
    joint = np.ones(net.cards)  # by the definition, over all variables
    for i, above in enumerate(net.parents):
        axes = [*above, i]
        order = np.argsort(axes)
        shape = [net.cards[j] if j in axes else 1 for j in range(n)]
        joint = joint * net.tables[i].transpose(order).reshape(shape)

    def margin(keep):
        return joint.sum(axis=tuple(j for j in range(n) if j not in keep), keepdims=True)

    known = margin(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = abs(margin([*x, *y, *z]) / known - margin([*x, *z]) / known * (margin([*y, *z]) / known))
    answer = net.independent(*([net.names[i] for i in places] for places in (x, y, z)))
    assert answer.difference == pytest.approx(np.nanmax(difference), abs=1e-12)
    assert bool(answer) == (np.nanmax(difference) <= 1e-9)
