"""What cannot be learned from is refused before the work, and the message says what would do."""

import warnings

import numpy as np
import pytest

from bayeskit import BayesianNetwork, arc_strength, compare_networks, learn_structure
from bayeskit.errors import BayeskitError, BayeskitWarning, NetworkError, TableError, TooLargeError
from bayeskit.network import K2, MMHC, PC, BDeuScore, Best, ChowLiu, Exact, HillClimb, Tabu

ROWS = {"A": list("xyxyxy"), "B": list("uuvvuv"), "C": list("ppqqqp")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"score": "bde"}, "score must be one of"),
        ({"missing": "drop"}, "missing must be one of"),
        ({"method": "k2"}, "needs ordering="),
        ({"method": K2(["A", "B"])}, "leaves out 'C'"),
        ({"method": K2(["A", "B", "C", "A"])}, "has 'A' twice"),
        ({"method": K2(["A", "B", "D"])}, "names 'D', which is not a column"),
        ({"whitelist": [("A", "B")], "blacklist": [("A", "B")]}, "the blacklist forbids it"),
        ({"whitelist": [("A", "B"), ("B", "A")]}, "form a cycle"),
        ({"whitelist": [("B", "A")], "tiers": [["A"], ["B", "C"]]}, "the tiers forbid it"),
        ({"tiers": [["A", "B"], ["B", "C"]]}, "cycle of tiers"),
        ({"tiers": [["A"], ["B"]]}, "leave out 'C'"),
        ({"blacklist": [("A", "Z")]}, "names 'Z', which is not a column"),
        ({"blacklist": ["AB"]}, "list of \\(parent, child\\) pairs"),
        ({"max_parents": -1}, "max_parents must be"),
        ({"whitelist": [("A", "C"), ("B", "C")], "max_parents": 1}, "2 parents and max_parents is 1"),
        ({"method": Best, "max_parents": 1}, "method must be one of"),
        ({"method": "chow-liu", "whitelist": [("A", "B")]}, "takes no lists"),
        ({"method": ChowLiu("Z")}, "root must be a column"),
        ({"method": HillClimb(start=BayesianNetwork("A->B"))}, "over the columns of the table"),
        ({"method": Tabu}, "method must be one of"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(options, message):
    with pytest.raises(NetworkError, match=message):
        learn_structure(ROWS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": "much"}, "smoothing must be a number"),
        ({"smoothing": -1.0}, "λ must be a finite number of at least 0"),
        ({"random_state": "dice"}, "random_state must be a whole number"),
        ({"max_parents": "two"}, "max_parents must be a whole number"),
    ],
)
def test_what_only_the_result_needs_is_refused_before_the_search(monkeypatch, options, message):
    def search(*_):
        raise AssertionError("the search began")

    monkeypatch.setattr(HillClimb, "search", search)
    with pytest.raises(BayeskitError, match=message):
        learn_structure(ROWS, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HillClimb(restarts=-1), "restarts of HillClimb must be a whole number of at least 0; got -1"),
        (lambda: Tabu(perturb=1.5), "perturb of Tabu must be a whole number"),
        (lambda: Tabu(length=0), "length of Tabu must be a whole number of at least 1"),
        (lambda: HillClimb(start="A->B"), "start must be a BayesianNetwork"),
        (lambda: PC(alpha=7), "alpha must lie between 0 and 1; got 7"),
        (lambda: MMHC(alpha=0), "alpha must lie between 0 and 1; got 0"),
        (lambda: PC(test="nonsense"), "test must be one of 'g2', 'chi2', 'mi'"),
        (lambda: MMHC(test="t"), "test must be one of"),
        (lambda: PC(max_condition=-1), "max_condition of PC"),
        (lambda: K2("ABC"), "must be a list of all columns"),
        (lambda: BDeuScore(0), "must be above 0"),
    ],
)
def test_an_option_that_cannot_be_is_refused_when_the_method_is_made(make, message):
    with pytest.raises(NetworkError, match=message):
        make()


@pytest.mark.parametrize("options", [{"root": "A"}, {"alpha": 0.1}, {"ordering": ["A"]}, {"tabu_length": 4}])
def test_an_option_of_another_method_is_an_error_before_the_table_is_read(options):
    for call in (lambda: learn_structure(None, **options), lambda: arc_strength(None, **options)):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        Exact(**options)


def test_numbers_without_bins_are_refused_with_the_way_out():
    with pytest.raises(TableError, match="numeric='equal-frequency'"):
        learn_structure({**ROWS, "age": [1.5, 2, 3, 4, 5, 6]})
    found = learn_structure({**ROWS, "age": [1.5, 2, 3, 4, 5, 6]}, numeric="equal-frequency", bins=2)
    assert found.network.cards[3] == 2
    assert found.network.schema["age"].kind == "binned"
    codes = learn_structure({**ROWS, "age": [1, 2, 2, 1, 1, 2]}, kinds={"age": "categorical"})
    assert codes.network.states[3] == ("1", "2")


def test_a_constant_column_is_said_and_gets_no_arc():
    with pytest.warns(BayeskitWarning, match="'D' has one value"):
        found = learn_structure({**ROWS, "D": ["z"] * 6})
    assert all("D" not in arc for arc in found.arcs)


@pytest.mark.parametrize("method", ["best", "hill-climb", "pc"])
def test_columns_that_are_the_same_are_said(method):
    rng = np.random.default_rng(0)
    sex = [None, None, None, *rng.choice(["f", "m"], 297).tolist()]
    table = {"sex": sex, "x": rng.choice(["a", "b"], 300), "gender": [{"f": "W", "m": "M"}.get(v) for v in sex]}
    with pytest.warns(BayeskitWarning, match="columns 'sex' and 'gender' are the same in all rows"):
        learn_structure(table, method, missing="node-average")
    table["gender"][5] = None  # one cell is enough
    with warnings.catch_warnings():
        warnings.simplefilter("error", BayeskitWarning)
        learn_structure(table, method, missing="node-average")


def test_more_states_than_half_the_rows_are_said():
    rng = np.random.default_rng(0)
    rows = {"name": [f"n{i}" for i in range(120)], "x": rng.choice(["a", "b"], 120).tolist()}
    with pytest.warns(BayeskitWarning, match="mostly a name"):
        learn_structure(rows)


def test_an_empty_column_and_rows_that_are_all_incomplete_are_refused():
    with pytest.raises(TableError, match="'D' has no value"):
        learn_structure({**ROWS, "D": [None] * 6})
    holes = {"A": ["x", None, "y", None], "B": [None, "u", None, "v"]}
    with pytest.raises(TableError, match="every row has a missing cell"):
        learn_structure(holes, missing="complete-rows")


def test_exact_search_over_many_columns_is_refused_before_it_starts():
    rows = {f"v{i}": list(f"{i:030b}") for i in range(1, 31)}
    with pytest.raises(TooLargeError, match="up to about 20"):
        learn_structure(rows, "exact")


def test_a_family_too_large_for_its_table_is_refused():
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 90, 200).astype(str).tolist() for name in "ABCDEF"}
    arcs = [(name, "F") for name in "ABCDE"]
    with pytest.raises(TooLargeError, match="would hold"):
        learn_structure(rows, whitelist=arcs, max_memory="64 MiB")


def test_comparing_networks_over_other_variables_is_refused():
    with pytest.raises(NetworkError, match="different variables"):
        compare_networks(BayesianNetwork("A->B"), BayesianNetwork("A->C"))
