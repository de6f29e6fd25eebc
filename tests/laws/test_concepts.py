"""Laws of version spaces and of brute-force MAP, each checked against a list of all hypotheses."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BruteForceMAP, CandidateElimination, FindS
from bayeskit.errors import ImpossibleEvidenceError, InconsistentExamplesError
from laws.concepts import as_table, samples, spaces

quick = settings(max_examples=40)  # each lists all hypotheses


def consistent(space, rows, labels):
    return {h for h in space if all(h.covers(row) == label for row, label in zip(rows, labels, strict=True))}


def learn(kind, space, rows, labels, **parameters):
    learner = kind(attributes=dict(space.attributes), positive=True, **parameters)
    return learner.fit(as_table(space, rows), labels)


@quick
@given(spaces(), st.data())
def test_more_general_means_covers_all_that_the_other_covers(space_and_row, data):
    space, row = space_and_row
    a, b = (space.conjunction(data.draw(st.integers(0, space.size - 1))) for _ in range(2))
    if a >= b:
        x = data.draw(row)
        assert a.covers(x) or not b.covers(x)
    assert space.most_general >= a >= space.most_specific


@quick
@given(samples())
def test_examples_without_a_consistent_hypothesis_are_refused_at_the_first_that_leaves_none(sample):
    space, rows, labels = sample
    assume(not consistent(space, rows, labels))
    with pytest.raises(InconsistentExamplesError) as caught:
        learn(CandidateElimination, space, rows, labels)
    first = caught.value.row
    assert not consistent(space, rows[: first + 1], labels[: first + 1])
    assert consistent(space, rows[:first], labels[:first])


@quick
@given(samples())
def test_the_version_space_is_the_list_of_consistent_hypotheses(sample):
    space, rows, labels = sample
    expected = consistent(space, rows, labels)
    assume(expected)
    learner = learn(CandidateElimination, space, rows, labels)
    assert set(learner.hypotheses()) == expected
    assert learner.n_hypotheses_ == len(expected)
    for hypothesis in space:
        assert (hypothesis in learner) == (hypothesis in expected)
    votes = [sum(h.covers(row) for h in expected) for row in rows]
    assert_array_equal(learner.votes(as_table(space, rows)), votes)


@quick
@given(samples(consistent=True))
def test_one_example_at_a_time_gives_the_same_boundaries_in_any_order(sample):
    space, rows, labels = sample
    whole = learn(CandidateElimination, space, rows, labels)
    step = CandidateElimination(attributes=dict(space.attributes), positive=True)
    for row, label in zip(rows, labels, strict=True):
        step.partial_fit(as_table(space, [row]), [label])
    assert step.S_ == whole.S_
    assert set(step.G_) == set(whole.G_)
    assert len(step.steps_) == len(rows)
    backwards = learn(CandidateElimination, space, rows[::-1], labels[::-1])
    assert (backwards.S_, set(backwards.G_)) == (whole.S_, set(whole.G_))


@quick
@given(samples(consistent=True))
def test_uniform_prior_without_noise_gives_one_over_vs_and_evidence_vs_over_h(sample):
    space, rows, labels = sample
    version_space = learn(CandidateElimination, space, rows, labels)
    brute = learn(BruteForceMAP, space, rows, labels)
    n = version_space.n_hypotheses_
    assert_allclose(np.exp(brute.log_evidence_), n / space.size, rtol=1e-12)
    for hypothesis in space:
        expected = 1 / n if hypothesis in version_space else 0.0
        assert_allclose(brute.posterior(hypothesis), expected, rtol=1e-12)
    # So every consistent learner gives a MAP hypothesis, and the optimal answer is the vote.
    found = learn(FindS, space, rows, labels).hypothesis_
    assert_allclose(brute.posterior(found), brute.posterior(brute.map_), rtol=1e-12)
    table = as_table(space, rows)
    assert_allclose(brute.optimal_proba(table)[:, 1], version_space.vote(table), rtol=1e-9, atol=1e-15)


@quick
@given(samples(consistent=True), st.integers(0, 2**32 - 1))
def test_find_s_is_map_under_every_prior_that_favours_more_specific_hypotheses(sample, seed):
    space, rows, labels = sample
    hypotheses = list(space)
    if len(hypotheses) > 120:
        hypotheses = None
    found = learn(FindS, space, rows, labels).hypothesis_
    if hypotheses is not None:
        # Random numbers raised until each is at least that of every hypothesis that is more general.
        weight = np.random.default_rng(seed).random(len(hypotheses))
        above = np.array([[a >= b for a in hypotheses] for b in hypotheses])
        weight = np.array([weight[row].max() for row in above])
        brute = learn(BruteForceMAP, space, rows, labels, prior=weight / weight.sum())
        assert_allclose(brute.posterior(found), brute.posterior(brute.map_), rtol=1e-12)
    brute = learn(BruteForceMAP, space, rows, labels, prior="specific")
    assert brute.map_ == found


@quick
@given(samples(), st.floats(0.01, 0.45), st.sampled_from(["uniform", "specific", "simple"]))
def test_the_noisy_posterior_is_that_of_a_list(sample, noise, prior):
    space, rows, labels = sample
    brute = learn(BruteForceMAP, space, rows, labels, noise=noise, prior=prior)
    errors = np.array([sum(h.covers(r) != d for r, d in zip(rows, labels, strict=True)) for h in space])
    assert_array_equal(brute.errors_, errors)
    p = np.exp(brute._state.log_prior)
    assert_allclose(p.sum(), 1.0, rtol=1e-9)
    joint = p * noise**errors * (1 - noise) ** (len(rows) - errors)
    assert_allclose(np.exp(brute.log_posterior_), joint / joint.sum(), rtol=1e-9, atol=1e-300)
    assert_allclose(np.exp(brute.log_evidence_), joint.sum(), rtol=1e-9)
    covers = np.array([[h.covers(row) for row in rows] for h in space])
    positive = (joint / joint.sum()) @ np.where(covers, 1 - noise, noise)
    assert_allclose(brute.optimal_proba(as_table(space, rows))[:, 1], positive, rtol=1e-9)


@quick
@given(samples(), st.floats(0.01, 0.45), st.sampled_from(["uniform", "specific", "simple"]))
def test_a_wide_beam_finds_the_map_of_a_small_space(sample, noise, prior):
    space, rows, labels = sample
    whole = learn(BruteForceMAP, space, rows, labels, noise=noise, prior=prior)
    with pytest.warns(UserWarning, match="a beam of 100000 was searched"):
        beam = learn(BruteForceMAP, space, rows, labels, noise=noise, prior=prior, max_hypotheses=1, beam_width=100_000)
    assert not beam.exact_
    best = whole.log_posterior_.max()
    assert_allclose(np.log(whole.posterior(beam.map_)), best, rtol=1e-9, atol=1e-9)


@quick
@given(samples())
def test_no_hypothesis_left_is_said_with_the_best_that_there_was(sample):
    space, rows, labels = sample
    assume(not consistent(space, rows, labels))
    with pytest.raises(ImpossibleEvidenceError, match=r"no hypothesis is left: each of .* gets at least"):
        learn(BruteForceMAP, space, rows, labels)
