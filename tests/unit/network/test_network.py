import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import ModelFileError, NetworkError, TooLargeError

CAMPFIRE = "Storm->Campfire<-BusTourGroup; Storm->Lightning->Thunder"


def test_one_line_gives_names_in_order_of_appearance_and_parents_in_order_of_arcs():
    net = BayesianNetwork(CAMPFIRE)
    assert net.names == ("Storm", "Campfire", "BusTourGroup", "Lightning", "Thunder")
    assert net.parents == ((), (0, 2), (), (0,), (3,))
    assert net.states[0] == ("no", "yes")
    assert net.arcs == (
        ("Storm", "Campfire"),
        ("BusTourGroup", "Campfire"),
        ("Storm", "Lightning"),
        ("Lightning", "Thunder"),
    )


def test_a_line_may_group_names_and_tell_states():
    net = BayesianNetwork("a[3], b{low|middle high} -> c; lonely")
    assert net.parents == ((), (), (0, 1), ())
    assert net.states == (("0", "1", "2"), ("low", "middle high"), ("no", "yes"), ("no", "yes"))


def test_names_in_a_line_may_hold_blanks_hyphens_and_chinese():
    assert BayesianNetwork("light-on -> dog out -> 听到 狗叫").names == ("light-on", "dog out", "听到 狗叫")


def test_pairs_mapping_and_line_give_the_same_network():
    line = BayesianNetwork("A->C<-B; D")
    assert BayesianNetwork([("A", "C"), ("B", "C"), "D"]).equals(line)
    assert BayesianNetwork({"A": [], "C": ["A", "B"], "B": [], "D": []}).equals(line)


def test_without_tables_every_row_is_uniform():
    net = BayesianNetwork("A[4]->B")
    assert_array_equal(net.tables[0], [0.25] * 4)
    assert_array_equal(net.tables[1], np.full((4, 2), 0.5))


def test_random_tables_are_the_same_each_time():
    one, two = BayesianNetwork("A[4]->B", random_tables=0), BayesianNetwork("A[4]->B", random_tables=0)
    assert one.equals(two)
    assert not one.equals(BayesianNetwork("A[4]->B", random_tables=1))
    assert_allclose(one.tables[1].sum(axis=-1), 1.0, rtol=1e-15)


ARRAYS = {
    "A": [0.2, 0.8],
    "B": [0.5, 0.3, 0.2],
    "C": [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], [[0.4, 0.6], [0.5, 0.5], [0, 1]]],
}
ROWS = [(a, b) for a in ("no", "yes") for b in "012"]
P_YES = [0.9, 0.8, 0.7, 0.6, 0.5, 1.0]


def as_dicts():
    return {
        "A": {"no": 0.2, "yes": 0.8},
        "B": {"0": 0.5, "1": 0.3, "2": 0.2},
        "C": {key: {"yes": p, "no": 1 - p} for key, p in zip(ROWS, P_YES, strict=True)},
    }


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_arrays_dicts_and_frames_give_the_same_tables(frame):
    arrays = BayesianNetwork("A->C<-B", tables=ARRAYS)
    dicts = BayesianNetwork("A->C<-B", tables=as_dicts(), states={"C": ["no", "yes"]})
    rows = {"A": [a for a, _ in ROWS], "B": [b for _, b in ROWS], "no": [1 - p for p in P_YES], "yes": P_YES}
    frames = BayesianNetwork(
        "A->C<-B",
        tables={"A": frame({"no": [0.2], "yes": [0.8]}), "B": {"0": 0.5, "1": 0.3, "2": 0.2}, "C": frame(rows)},
    )
    assert arrays.equals(dicts, 1e-15)
    assert arrays.equals(frames, 1e-15)
    assert arrays.tables[arrays.index("C")].shape == (2, 3, 2)


def test_the_states_of_a_dict_are_taken_in_its_order():
    assert BayesianNetwork("A->B", tables={"A": {"yes": 1.0, "no": 0.0}, "B": [[1, 0], [0, 1]]}).states[0] == (
        "yes",
        "no",
    )


def test_a_dict_with_one_parent_takes_its_states_as_keys():
    net = BayesianNetwork(
        "A->B", tables={"A": [0.5, 0.5], "B": {"yes": [0.1, 0.9], "no": [0.3, 0.7]}}, states={"B": ["n", "y"]}
    )
    assert_array_equal(net.tables[1], [[0.3, 0.7], [0.1, 0.9]])


def test_tables_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        BayesianNetwork("A").tables[0][0] = 1.0


def test_pickle_and_model_file_keep_every_bit(tmp_path):
    net = BayesianNetwork("A[3]->B{x|y}<-C", random_tables=3)
    assert pickle.loads(pickle.dumps(net)).equals(net)
    net.save(tmp_path / "net.bayes")
    again = bayeskit.load(tmp_path / "net.bayes")
    assert again.equals(net)
    assert (again.names, again.states, again.parents) == (net.names, net.states, net.parents)


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["A", 1]},
        {"states": [["no", "yes"], "ab"]},
        {"parents": [[], [7]]},
        {"parents": [[1], [0]]},
        {"parents": [[], []]},
        {"names": ["A", "A"]},
    ],
)
def test_a_model_file_that_describes_no_network_is_refused(tmp_path, change):
    from bayeskit.io import container

    meta, arrays = BayesianNetwork("A->B", random_tables=0).to_parts()
    container.write(tmp_path / "net.bayes", "BayesianNetwork", {**meta, **change}, arrays)
    with pytest.raises(ModelFileError):
        bayeskit.load(tmp_path / "net.bayes")


def test_networkx_keeps_states_parents_and_tables():
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    net = BayesianNetwork("B->C<-A; D[3]", random_tables=1)
    graph = net.to_networkx()
    assert set(graph.edges) == set(net.arcs)
    again = BayesianNetwork.from_networkx(graph)
    assert again.equals(net)
    assert again.parents == net.parents
    numbered = networkx.DiGraph([(1, 2)])
    numbered.add_node(1, states=["a", "b"])
    assert BayesianNetwork.from_networkx(numbered).states == (("a", "b"), ("no", "yes"))
    with pytest.raises(NetworkError, match="directed graph"):
        BayesianNetwork.from_networkx(networkx.Graph([("A", "B")]))
    with pytest.raises(NetworkError, match="cycle: "):
        BayesianNetwork.from_networkx(networkx.DiGraph([("A", "B"), ("B", "A")]))


def test_a_variable_with_one_state_is_a_constant():
    net = BayesianNetwork("A{only}->B")
    assert net.tables[0].tolist() == [1.0]
    assert net.log_likelihood({"A": ["only"], "B": ["yes"]}) == pytest.approx(np.log(0.5), rel=1e-15)


def test_do_cuts_the_arcs_into_a_variable_and_sets_its_state():
    net = BayesianNetwork("Storm->Lightning->Thunder", random_tables=0)
    after = net.do({"Lightning": "yes"})
    assert after.arcs == (("Lightning", "Thunder"),)
    assert_array_equal(after.tables[1], [0.0, 1.0])
    assert_array_equal(after.tables[0], net.tables[0])
    assert_array_equal(net.do(Lightning={"no": 0.3, "yes": 0.7}).tables[1], [0.3, 0.7])
    with pytest.raises(NetworkError, match=r"distribution of 'Lightning' sums to 0\.5"):
        net.do(Lightning={"no": 0.5})


def test_equality_does_not_mind_the_order_of_variables_and_parents():
    table = np.random.default_rng(0).dirichlet([1, 1], size=(2, 3))
    one = BayesianNetwork("A->C<-B[3]", tables={"A": [0.1, 0.9], "B": [0.2, 0.3, 0.5], "C": table})
    two = BayesianNetwork("B[3]->C<-A", tables={"A": [0.1, 0.9], "B": [0.2, 0.3, 0.5], "C": table.transpose(1, 0, 2)})
    assert one.parents[1] == (0, 2)
    assert one.equals(two)
    assert not one.equals(BayesianNetwork("A->C<-B[3]", random_tables=0))


REFUSED = [
    ("A->B->C->A", {}, "the arcs form a cycle: A -> B -> C -> A; remove one of them."),
    ("A->A", {}, "the arcs form a cycle: A -> A;"),
    ("", {}, "the network is empty: give at least one variable."),
    ("A->B; A->B", {}, "the arc A->B appears twice; give it once."),
    ("A{x|x}->B", {}, "variable 'A': state 'x' appears twice; names must differ."),
    ("A{x|}->B", {}, "variable 'A': state at position 1 has an empty name; give it one."),
    ("A[0]->B", {}, "variable 'A' has no states; give it at least one."),
    ("A=>B", {}, "cannot read 'A=>B' as a variable"),
    ("A->", {}, "cannot read '' as a variable"),
    ("A[2]; A{x|y|z}", {}, "variable 'A' has the states 2 and also ['x', 'y', 'z']; give them once."),
    ([("A", "B", "C")], {}, "an arc is a pair (parent, child); got ('A', 'B', 'C')."),
    ("A->B", {"states": {"A": "yes"}}, "states['A'] must be a list of states; got 'yes'."),
    ("A->B", {"states": {"a": ["n", "y"]}}, "states names 'a', which is not a variable; did you mean 'A'?"),
    ("A->B", {"tables": {"C": [1, 0]}}, "tables names 'C', which is not a variable; known: 'A', 'B'."),
    ("A->B", {"tables": {"A": [0.5, 0.5]}}, "tables has no table for 'B'; give one for each variable."),
    ("A->B", {"tables": {"A": [0.5, 0.5]}, "random_tables": 0}, "random_tables makes the tables"),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": [0.5, 0.5]}},
        "the table of 'B' has shape (2,); it must be (2, 2), one axis per parent in order, its own states last "
        "('A': 2, 'B': 2).",
    ),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": [[0.5, 0.5], [0.5, 0.6]]}},
        "the row P(B | A=yes) sums to 1.1, not to 1 within 1e-05; correct it or pass normalize=True.",
    ),
    ("A", {"tables": {"A": [0.5, 0.6]}}, "the table P(A) sums to 1.1, not to 1 within 1e-05"),
    ("A", {"tables": {"A": [-0.5, 1.5]}}, "the table P(A) holds [-0.5, 1.5]; probabilities are 0 or more."),
    ("A", {"tables": {"A": [float("nan"), 1.0]}}, "the table P(A) holds [nan, 1.0]"),
    ("A", {"tables": {"A": [0.0, 0.0]}, "normalize": True}, "the table P(A) is all zero, so it cannot be normalised."),
    ("A", {"tables": {"A": ["x", "y"]}}, "the table of 'A' is not an array of numbers"),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": {"no": {"x": 0.5, "y": 0.5}, "yse": {"x": 0.5, "y": 0.5}}}},
        "parent 'A' of 'B' has no state 'yse'; did you mean 'yes'?",
    ),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": {"no": {"x": 0.5, "y": 0.5}}}},
        "the table of 'B' has no number for B=x given A=yes; all 4 are needed.",
    ),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": {("no", "x"): [0.5, 0.5]}}, "states": {"B": ["x", "y"]}},
        "the table of 'B' has the key ('no', 'x'); a key is one state for each of ['A'].",
    ),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": pd.DataFrame({"no": [0.5], "yes": [0.5]})}},
        "the frame of 'B' has no column 'A'; it needs a column for each parent and each own state: 'A', 'no', 'yes'.",
    ),
    (
        "A->B",
        {"tables": {"A": [0.5, 0.5], "B": pd.DataFrame({"A": ["no", "no"], "x": [0.5, 0.5], "y": [0.5, 0.5]})}},
        "the frame of 'B' has two rows for A=no; give each once.",
    ),
]


@pytest.mark.parametrize(("structure", "more", "message"), REFUSED)
def test_what_is_no_network_is_refused_in_one_sentence(structure, more, message):
    with pytest.raises(NetworkError) as error:
        BayesianNetwork(structure, **more)
    assert message in str(error.value)


def test_a_table_too_large_to_hold_is_refused_before_it_is_made():
    with pytest.raises(TooLargeError, match="the table of 'Y' would hold 1e\\+12 numbers"):
        BayesianNetwork("A[1000], B[1000], C[1000] -> Y[1000]")
    with pytest.raises(NetworkError, match="at most 999999"):
        BayesianNetwork("A[123456789012345678901234567890]")


def test_normalise_divides_each_row_by_its_sum():
    net = BayesianNetwork("A->B", tables={"A": [1, 3], "B": [[1, 1], [0, 5]]}, normalize=True)
    assert_array_equal(net.tables[0], [0.25, 0.75])
    assert_array_equal(net.tables[1], [[0.5, 0.5], [0, 1]])


def test_a_row_that_misses_one_by_a_printed_digit_is_kept_as_it_came():
    assert_array_equal(BayesianNetwork("A[3]", tables={"A": [0.333333] * 3}).tables[0], [0.333333] * 3)


def test_the_low_level_constructor_checks_lengths_names_and_parents():
    states = [["n", "y"]] * 2
    table = [0.5, 0.5]
    with pytest.raises(NetworkError, match="one entry per variable; got 2, 2, 1 and 2"):
        BayesianNetwork.from_tables(["A", "B"], states, [[]], [table, table])
    with pytest.raises(NetworkError, match="variable 'A' appears twice; names must differ"):
        BayesianNetwork.from_tables(["A", "A"], states, [[], []], [table, table])
    with pytest.raises(NetworkError, match="variable 'B' has the parent 5; positions go from 0 to 1"):
        BayesianNetwork.from_tables(["A", "B"], states, [[], [5]], [table, table])
    with pytest.raises(NetworkError, match="variable 'B' has the parent 'A' twice"):
        BayesianNetwork.from_tables(["A", "B"], states, [[], [0, 0]], [table, table])


def test_unknown_names_are_answered_with_the_nearest():
    net = BayesianNetwork("smoke->lung; smoke->bronc")
    with pytest.raises(NetworkError, match="unknown variable 'smok'; did you mean 'smoke'\\?"):
        net.index("smok")
    with pytest.raises(NetworkError, match="unknown variable 'zebra'; known: 'smoke', 'lung', 'bronc'"):
        net.markov_blanket("zebra")
    with pytest.raises(NetworkError, match="variable 'lung' has no state 'yess'; did you mean 'yes'\\?"):
        net.state("lung", "yess")
    with pytest.raises(NetworkError, match="unknown variable \\['smoke'\\]"):
        net.index(["smoke"])


def test_states_are_found_by_numbers_and_booleans():
    net = BayesianNetwork("A{0|1}; B{FALSE|TRUE}; C{true|false}")
    assert [net.state("A", value) for value in (1, 1.0, "1", np.int64(0))] == [1, 1, 1, 0]
    assert [net.state("B", True), net.state("C", np.bool_(True))] == [1, 0]
    with pytest.raises(NetworkError, match="has no state 2"):
        net.state("A", 2)


def test_the_representation_says_how_large_the_network_is():
    assert repr(BayesianNetwork("A[3]->B")) == "BayesianNetwork(2 variables, 1 arcs, 5 free parameters)"
