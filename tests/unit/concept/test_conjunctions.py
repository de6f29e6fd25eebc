"""Attributes, conjunctions and concept learners: what they cover, what they refuse, and how they explain."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit import BruteForceMAP, CandidateElimination, FindS
from bayeskit.concept import ConjunctionSpace, Hierarchy, Range, Values
from bayeskit.concept.attributes import ANY, EMPTY, MISSING
from bayeskit.concept.coverage import _count_ones_by_table, count_ones
from bayeskit.datasets import load_enjoy_sport
from bayeskit.errors import (
    BayeskitError,
    ImpossibleEvidenceError,
    InconsistentExamplesError,
    TableError,
    TooLargeError,
    UnseenValueError,
)

SHAPES = Hierarchy({"round": ["circle", "ellipse"], "straight": {"four": ["square"], "three": ["triangle"]}})


def test_numbers_between_levels_are_covered_by_ranges_that_reach_beyond_them():
    age = Range([20, 35, 50])
    cells = [age.code(x) for x in (10, 20, 27, 35, 42, 50, 60)]
    assert cells == [-1, 0, 1, 2, 3, 4, 5]
    young = age.parse((20, 35))
    assert age.covers(young, np.array(cells)).tolist() == [False, True, True, True, False, False, False]
    assert age.covers(ANY, np.array([*cells, MISSING])).all()
    assert age.label(age.join(EMPTY, age.code(27))) == "20..35"
    assert age.join(EMPTY, age.code(60)) == ANY
    assert [age.label(c) for c in age.without(ANY, age.code(35))] == ["20", "50"]
    assert [age.label(c) for c in age.without(ANY, age.code(27))] == ["20", "35..50"]
    assert sorted(age.label(c) for c in age.without(ANY, MISSING)) == ["20..35", "35..50"]


def test_words_have_an_order_when_it_is_given():
    size = Range(["small", "medium", "large"])
    assert size.label(size.parse(("small", "medium"))) == "small..medium"
    with pytest.raises(UnseenValueError, match="the value 'huge' is unknown; known values: 'small', 'medium', 'large'"):
        size.code("huge")


def test_a_hierarchy_climbs_to_the_first_term_above_both():
    assert SHAPES.values == ("circle", "ellipse", "square", "triangle")
    assert SHAPES.label(SHAPES.join(SHAPES.parse("square"), SHAPES.code("triangle"))) == "straight"
    assert SHAPES.label(SHAPES.join(SHAPES.parse("round"), SHAPES.code("triangle"))) == "?"
    assert [SHAPES.label(c) for c in SHAPES.without(ANY, SHAPES.code("square"))] == ["round", "three"]


def test_a_concept_over_all_three_kinds():
    table = {
        "shape": ["circle", "ellipse", "square", "circle"],
        "size": [3, 5, 4, 9],
        "colour": ["red", "red", "red", "red"],
        "label": [1, 1, 0, 0],
    }
    learner = CandidateElimination(attributes={"shape": SHAPES}).fit(table, target="label")
    assert repr(learner.S_[0]) == "⟨round, 3..5, red⟩"
    assert {repr(g) for g in learner.G_} == {"⟨round, 3..5, ?⟩"}
    assert learner.n_hypotheses_ == 2
    assert learner.predict({"shape": ["circle", "circle"], "size": [4.5, 7], "colour": ["red", None]}).tolist() == [
        1,
        0,
    ]


def test_find_s_lists_the_negative_rows_that_it_covers():
    table = {"a": ["x", "y", "x"], "b": ["u", "v", "w"], "label": ["yes", "yes", "no"]}
    learner = FindS().fit(table, target="label")
    assert repr(learner.hypothesis_) == "⟨?, ?⟩"
    assert_array_equal(learner.covered_negatives_, [2])
    assert learner.score(table, target="label") == 2 / 3


def test_explanations_tell_each_constraint():
    days = load_enjoy_sport()
    row = {"sky": "rainy", "air_temp": "warm", "humidity": "high", "wind": "strong", "water": "warm"}
    for learner in (FindS(), CandidateElimination(), BruteForceMAP(noise=0.1)):
        explanation = learner.fit(days, target="enjoy").explain(row)
        assert explanation.checks[5].value == "missing"
        assert ("sky" in explanation.broken) == (explanation.checks[0].asks != "?")
    text = repr(FindS().fit(days, target="enjoy").explain(row))
    assert "no: ⟨sunny, warm, ?, strong, ?, ?⟩ does not cover the row" in text
    assert "NOT met" in text
    note = CandidateElimination().fit(days, target="enjoy").explain(row).note
    assert note == "2 of 6 hypotheses cover the row: they do not agree"
    assert "all together give 'yes' P = " in BruteForceMAP(noise=0.1).fit(days, target="enjoy").explain(row).note


def test_the_example_that_emptied_the_version_space_is_named_and_the_error_can_be_pickled():
    table = {"a": ["x", "x", "y", "x"], "b": ["u", "v", "v", "u"]}
    with pytest.raises(InconsistentExamplesError, match=r"row 2 \(a=y, b=v; 1\) emptied the version space") as caught:
        CandidateElimination().fit(table, [1, 0, 1, 0])
    assert caught.value.row == 2
    assert repr(caught.value.hypothesis) == "⟨?, ?⟩"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.row, str(again)) == (2, str(caught.value))
    step = CandidateElimination().partial_fit({"a": ["x", "x", "y"], "b": ["u", "v", "v"]}, [1, 0, 0])
    with pytest.raises(InconsistentExamplesError, match="row 3"):
        step.partial_fit({"a": ["y"], "b": ["v"]}, [1])
    assert len(step.steps_) == 3


def test_a_g_that_would_explode_is_refused_with_its_size():
    rng = np.random.default_rng(0)
    table = {f"a{j}": rng.choice(list("wxyz"), 30).tolist() for j in range(20)}
    with pytest.raises(TooLargeError, match=r"G would grow from \d+ to \d+ hypotheses, more than max_general=100"):
        CandidateElimination(positive=True, max_general=100).fit(table, [False] * 30)
    learner = CandidateElimination(positive=True).fit({"a": ["x", "y"], "b": ["u", "v"]}, [True, True])
    with pytest.raises(TooLargeError, match="the version space has 1 hypotheses, more than limit=0"):
        learner.hypotheses(limit=0)


def test_labels_may_be_of_any_kind():
    table = {"a": ["x", "y", "z"]}
    assert FindS(positive="b").fit(table, ["a", "b", "c"]).predict(table).tolist() == ["not b", "b", "not b"]
    assert FindS().fit(table, [0, 1, 1]).predict(table).tolist() == [1, 1, 1]
    assert FindS(positive=True).fit(table, [True] * 3).classes_.tolist() == [False, True]
    with pytest.raises(BayeskitError, match=r"there are 3: .* Pass positive="):
        FindS().fit(table, ["a", "b", "c"])
    with pytest.raises(BayeskitError, match="positive is 'd', which is not a label"):
        FindS(positive="d").fit(table, ["a", "b", "b"])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Values([]), BayeskitError, "needs at least one value, and no value twice"),
        (lambda: Range([2, 1]), BayeskitError, "levels of a range must be in increasing order"),
        (lambda: Hierarchy({"a": ["b"], "c": ["b"]}), BayeskitError, "'b' appears twice"),
        (lambda: Hierarchy({"a": "b"}), BayeskitError, "the children of a term must be"),
        (lambda: Range([1, 2]).parse((2, 1)), BayeskitError, "from its lower to its higher level"),
        (lambda: SHAPES.code("round"), UnseenValueError, "the value 'round' is unknown"),
        (lambda: ConjunctionSpace({}), BayeskitError, "at least one attribute"),
        (lambda: ConjunctionSpace({"a": Values("xy")})("x", "y"), BayeskitError, "give one constraint for each of a"),
        (lambda: ConjunctionSpace({"a": Values("xy")}).conjunction(9), BayeskitError, "numbered from 0 to 3"),
        (lambda: FindS(attributes={"b": "values"}).fit({"a": ["x"]}, [1]), TableError, "there is no column 'b'"),
        (lambda: FindS(attributes={"a": 3}).fit({"a": ["x"]}, [1]), BayeskitError, "must be Values, Range, Hierarchy"),
        (lambda: FindS(attributes="range").fit({"a": ["x"]}, [1]), TableError, "holds text, whose order is not known"),
        (lambda: FindS().fit({"a": [None, None]}, [0, 1]), TableError, "column 'a' has no value in any row"),
        (lambda: FindS().fit({"a": np.arange(1001.0)}, [1] * 1001), TableError, "holds 1001 different numbers"),
        (
            lambda: CandidateElimination(max_general=0).fit({"a": ["x"]}, [1]),
            BayeskitError,
            "'max_general' parameter of CandidateElimination must be a whole number of at least 1",
        ),
        (
            lambda: BruteForceMAP(noise=0.5).fit({"a": ["x"]}, [1]),
            BayeskitError,
            "must be a number from 0 to below 0.5. Got 0.5",
        ),
        (
            lambda: BruteForceMAP(prior="flat").fit({"a": ["x"]}, [1]),
            BayeskitError,
            "'prior' parameter of BruteForceMAP must be one of 'uniform'",
        ),
        (lambda: BruteForceMAP(prior=[0.5, 0.4, 0.3]).fit({"a": ["x"]}, [1]), BayeskitError, "the prior sums to 1.2"),
        (
            lambda: BruteForceMAP(max_hypotheses=0).fit({"a": ["x"]}, [1]),
            BayeskitError,
            "'max_hypotheses' parameter of BruteForceMAP must be",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_unknown_value_is_named_with_its_row_and_the_nearest_known_one():
    learner = FindS().fit(load_enjoy_sport(), target="enjoy")
    new = {name: column[:2] for name, column in load_enjoy_sport().items() if name != "enjoy"} | {
        "sky": ["sunny", "suny"]
    }
    with pytest.raises(
        UnseenValueError, match=r"column 'sky', row 1: the value 'suny' is unknown.*Did you mean 'sunny'"
    ):
        learner.predict(new)


def test_a_large_space_needs_noise_and_a_named_prior():
    table = {f"a{j}": ["x", "y", "z", "w"] for j in range(12)}
    labels = [1, 1, 0, 0]
    with pytest.raises(TooLargeError, match="a beam search needs noise > 0"):
        BruteForceMAP().fit(table, labels)
    with pytest.raises(TooLargeError, match="a beam search needs one of the priors"):
        BruteForceMAP(noise=0.1, prior=lambda h: 1.0).fit(table, labels)
    with pytest.warns(UserWarning, match="a beam of 1000 was searched"):
        learner = BruteForceMAP(noise=0.1).fit(table, labels)
    with pytest.raises(BayeskitError, match="did not evaluate"):
        learner.posterior(learner.space_(*["w"] * 12))


def test_a_function_may_be_the_prior():
    days = load_enjoy_sport()
    learner = BruteForceMAP(prior=lambda h: float(h.labels.count("?"))).fit(days, target="enjoy")
    assert {repr(h) for h, _, _ in learner.most_probable(ties=True)} == {
        "⟨?, warm, ?, ?, ?, ?⟩",
        "⟨sunny, ?, ?, ?, ?, ?⟩",
    }


def test_no_hypothesis_left_names_the_best():
    with pytest.raises(ImpossibleEvidenceError, match=r"each of 4 gets at least 1 of 3 examples wrong .* Pass noise"):
        BruteForceMAP().fit({"a": ["x", "x", "y"]}, [1, 0, 1])


def test_ones_are_counted_alike_with_and_without_the_instruction():
    bits = np.random.default_rng(0).integers(0, 2**63, (5, 7), dtype=np.uint64)
    bits[0] = [0, ~np.uint64(0), 1, 2, 3, 2**63, 2**32]
    assert_array_equal(_count_ones_by_table(bits), count_ones(bits))
    assert_array_equal(count_ones(bits), [[bin(int(word)).count("1") for word in row] for row in bits])


def test_arrays_without_names_are_read_too():
    X = np.array([[0, 1], [0, 2], [1, 2]])
    learner = FindS(attributes="values").fit(X, [1, 1, 0])
    assert repr(learner.hypothesis_) == "⟨0, ?⟩"
    assert learner.predict(X).tolist() == [1, 1, 0]
    assert learner.explain([0, 1]).label == 1


def test_labels_that_come_one_at_a_time_keep_their_names():
    wind = {"wind": Values(["strong", "weak"])}
    for positive in (None, "yes"):
        learner = CandidateElimination(attributes=wind, positive=positive)
        learner.partial_fit({"wind": ["strong"]}, ["yes"])
        assert learner.predict({"wind": ["weak"]}).tolist() == ["not yes"]
        learner.partial_fit({"wind": ["weak"]}, ["no"])
        assert learner.predict({"wind": ["weak", "strong"]}).tolist() == ["no", "yes"]
        assert [step.label for step in learner.steps_] == ["yes", "no"]
        assert learner.score({"wind": ["weak"]}, ["no"]) == 1.0
    learner.partial_fit({"wind": ["weak"]}, ["never"])
    assert learner.predict({"wind": ["weak"]}).tolist() == ["not yes"]


def test_a_score_changes_no_label():
    learner = CandidateElimination(positive="yes").fit({"wind": ["strong", "weak"]}, ["yes", "no"])
    assert learner.score({"wind": ["strong", "weak"]}, ["yes", "never"]) == 1.0
    assert learner.predict({"wind": ["weak"]}).tolist() == ["no"]


def test_labels_that_all_say_no_are_not_the_concept():
    table = {"wind": ["strong", "weak"]}
    for label, is_concept in ((False, True), (0, 1)):
        learner = FindS().fit(table, [label, label])
        assert learner.positive_ == is_concept
        assert learner.hypothesis_.is_empty
        assert learner.predict(table).tolist() == [label, label]
    with pytest.raises(BayeskitError, match="all labels are 'no', so that the label of the concept is not known"):
        FindS().fit(table, ["no", "no"])
    assert FindS(positive="yes").fit(table, ["no", "no"]).hypothesis_.is_empty


def test_a_third_label_is_refused_with_what_would_do():
    learner = CandidateElimination().fit({"wind": ["strong", "weak"]}, ["yes", "no"])
    with pytest.raises(
        BayeskitError, match=r"the label 'never' was not seen before; seen: 'no', 'yes'.*pass positive="
    ):
        learner.partial_fit({"wind": ["weak"]}, ["never"])


def test_an_unknown_value_is_refused_with_how_to_declare_it():
    learner = CandidateElimination().partial_fit({"wind": ["strong"]}, ["yes"])
    with pytest.raises(UnseenValueError, match=r"declared with attributes=\{'wind': ...\}"):
        learner.partial_fit({"wind": ["weak"]}, ["no"])
