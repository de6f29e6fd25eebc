"""EnjoySport step by step, as Mitchell (1997), Machine Learning, chapter 2, works it out."""

import numpy as np
from numpy.testing import assert_array_equal

from bayeskit import BruteForceMAP, CandidateElimination, FindS
from bayeskit.concept import ConjunctionSpace, Values
from bayeskit.datasets import load_enjoy_sport

# Page 20: Sky has three values, the others two; the table shows fewer.
ATTRIBUTES = {"sky": Values(["sunny", "cloudy", "rainy"]), "wind": Values(["strong", "weak"])}
DAYS = load_enjoy_sport()


def shown(hypotheses):
    return {repr(hypothesis) for hypothesis in hypotheses}


def test_the_space_has_973_hypotheses():
    learner = FindS(attributes=ATTRIBUTES).fit(DAYS, target="enjoy")
    assert learner.space_.size == 1 + 4 * 3**5 == 973


def test_find_s_generalises_as_in_table_2_3():
    learner = FindS(attributes=ATTRIBUTES).fit(DAYS, target="enjoy")
    assert [(step.row, repr(step.hypothesis)) for step in learner.steps_] == [
        (0, "⟨sunny, warm, normal, strong, warm, same⟩"),
        (1, "⟨sunny, warm, ?, strong, warm, same⟩"),
        (3, "⟨sunny, warm, ?, strong, ?, ?⟩"),
    ]
    assert_array_equal(learner.covered_negatives_, [])


def test_candidate_elimination_moves_its_boundaries_as_in_figures_2_4_to_2_6():
    learner = CandidateElimination(attributes=ATTRIBUTES).partial_fit(DAYS, target="enjoy")
    everything = {"⟨?, ?, ?, ?, ?, ?⟩"}
    expected = [
        ("⟨sunny, warm, normal, strong, warm, same⟩", everything),
        ("⟨sunny, warm, ?, strong, warm, same⟩", everything),
        (
            "⟨sunny, warm, ?, strong, warm, same⟩",
            {"⟨sunny, ?, ?, ?, ?, ?⟩", "⟨?, warm, ?, ?, ?, ?⟩", "⟨?, ?, ?, ?, ?, same⟩"},
        ),
        ("⟨sunny, warm, ?, strong, ?, ?⟩", {"⟨sunny, ?, ?, ?, ?, ?⟩", "⟨?, warm, ?, ?, ?, ?⟩"}),
    ]
    assert [(repr(step.S[0]), shown(step.G)) for step in learner.steps_] == expected


def test_the_version_space_is_that_of_figure_2_3():
    learner = CandidateElimination(attributes=ATTRIBUTES).fit(DAYS, target="enjoy")
    assert shown(learner) == {
        "⟨sunny, warm, ?, strong, ?, ?⟩",
        "⟨sunny, ?, ?, strong, ?, ?⟩",
        "⟨sunny, warm, ?, ?, ?, ?⟩",
        "⟨?, warm, ?, strong, ?, ?⟩",
        "⟨sunny, ?, ?, ?, ?, ?⟩",
        "⟨?, warm, ?, ?, ?, ?⟩",
    }
    assert learner.n_hypotheses_ == 6
    space: ConjunctionSpace = learner.space_
    assert space("sunny", "?", "?", "strong", "?", "?") in learner
    assert space("?", "?", "?", "strong", "?", "?") not in learner


def test_the_new_days_of_table_2_6_are_voted_on():
    learner = CandidateElimination(attributes=ATTRIBUTES).fit(DAYS, target="enjoy")
    days = {
        "sky": ["sunny", "rainy", "sunny", "sunny"],
        "air_temp": ["warm", "cold", "warm", "cold"],
        "humidity": ["normal", "normal", "normal", "normal"],
        "wind": ["strong", "weak", "weak", "strong"],
        "water": ["cool", "warm", "warm", "warm"],
        "forecast": ["change", "same", "same", "same"],
    }
    # Six yes; six no; three against three; two yes and four no.
    assert_array_equal(learner.votes(days), [6, 0, 3, 2])
    assert_array_equal(learner.vote(days), [1.0, 0.0, 0.5, 2 / 6])
    assert_array_equal(learner.predict(days), ["yes", "no", "no", "no"])


def test_every_consistent_hypothesis_has_posterior_one_sixth():
    learner = BruteForceMAP(attributes=ATTRIBUTES).fit(DAYS, target="enjoy")
    best = learner.most_probable(ties=True)
    assert len(best) == 6
    np.testing.assert_allclose([p for _, p, _ in best], 1 / 6, rtol=1e-12)
    np.testing.assert_allclose(np.exp(learner.log_evidence_), 6 / 973, rtol=1e-12)
