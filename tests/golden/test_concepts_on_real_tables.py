"""Concept learners on monks and mushroom: no conjunction fits, the collapse is told, and noise gives an answer."""

import csv
from pathlib import Path

import numpy as np
import pytest

from bayeskit import BayesOptimalClassifier, BruteForceMAP, CandidateElimination, FindS, MDLTree
from bayeskit.errors import InconsistentExamplesError

DATA = Path(__file__).parents[3] / "shared" / "data" / "tabular"
pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason="the tables of monks and mushroom lie in ../shared, which is not here"
)


def load(name):
    with (DATA / name).open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return {column: [row[j] or None for row in rows] for j, column in enumerate(head)}


@pytest.mark.parametrize(("number", "row"), [(1, 10), (2, 15), (3, 3)])
def test_no_conjunction_fits_monks_and_the_example_is_named(number, row):
    table = load(f"monks-{number}-train.csv")
    with pytest.raises(InconsistentExamplesError, match=f"row {row} ") as caught:
        CandidateElimination().fit(table, target="class")
    assert caught.value.row == row
    # All rows before it are fitted by some conjunction.
    before = {name: column[:row] for name, column in table.items()}
    assert CandidateElimination(positive="1").fit(before, target="class").n_hypotheses_ >= 1
    assert len(FindS().fit(table, target="class").covered_negatives_) > 0


def test_brute_force_finds_the_exact_part_of_monks_1_that_a_conjunction_can_say():
    # The concept is (head = body) or (jacket is red); of all 2 881 conjunctions jacket = red (e = 1) fits best.
    learner = BruteForceMAP(noise=0.1).fit(load("monks-1-train.csv"), target="class")
    assert learner.exact_
    assert learner.n_hypotheses_ == 1 + 4 * 4 * 3 * 4 * 5 * 3 == 2881
    assert repr(learner.map_) == "⟨?, ?, ?, ?, 1, ?⟩"
    assert learner.score(load("monks-1.csv"), target="class") == 0.75


def test_brute_force_on_monks_3_is_useful_though_labels_are_noisy():
    # Not octagonal (b ≠ 3) is most of the concept: P(class 0) = body shape octagon.
    learner = BruteForceMAP(noise=0.1, positive="0").fit(load("monks-3-train.csv"), target="class")
    assert repr(learner.map_) == "⟨?, 3, ?, ?, ?, ?⟩"
    test = load("monks-3.csv")
    np.testing.assert_allclose(learner.score(test, target="class"), 348 / 432, rtol=1e-12)
    optimal = BayesOptimalClassifier(learner).fit(load("monks-3-train.csv"), target="class")
    np.testing.assert_allclose(optimal.score(test, target="class"), 348 / 432, rtol=1e-12)


@pytest.mark.parametrize(("positive", "row", "errors"), [("e", 15, 920), ("p", 1816, 888)])
def test_mushroom_collapses_and_a_beam_gives_a_useful_answer_and_says_that_it_is_one(positive, row, errors):
    table = load("mushroom.csv")
    with pytest.raises(InconsistentExamplesError) as caught:
        CandidateElimination(positive=positive).fit(table, target="class")
    assert caught.value.row == row
    with pytest.warns(UserWarning, match=r"the space has 2.04e\+16 hypotheses, .* need not be the MAP"):
        learner = BruteForceMAP(noise=0.05, prior="simple", positive=positive).fit(table, target="class")
    assert not learner.exact_
    assert learner.errors_.min() <= errors
    assert learner.score(table, target="class") > 0.88


def test_the_tree_of_monks_3_is_short_and_accurate():
    model = MDLTree().fit(load("monks-3-train.csv"), target="class")
    assert model.n_leaves_ == 3
    np.testing.assert_allclose(model.score(load("monks-3.csv"), target="class"), 420 / 432, rtol=1e-12)
