"""The EM loop climbs: the two coins of Do & Batzoglou (2008), and what the loop promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.estimate.em import expectation_maximisation

# Do & Batzoglou (2008), What is the expectation maximization algorithm?, Nature Biotechnology 26, figure 1:
# five times ten tosses, each ten of one of two coins, chosen with equal chance.
HEADS = np.array([5, 9, 8, 4, 7])
TOSSES = 10


def likelihoods(theta):
    """P(tosses of each set, coin), of shape (5, 2)."""
    return 0.5 * theta ** HEADS[:, None] * (1 - theta) ** (TOSSES - HEADS[:, None])


def expect(theta):
    joint = likelihoods(theta)
    share = joint / joint.sum(axis=1, keepdims=True)
    heads, tails = share.T @ HEADS, share.T @ (TOSSES - HEADS)
    return (heads, tails), float(np.log(joint.sum(axis=1)).sum())


def maximise(statistics):
    heads, tails = statistics
    return heads / (heads + tails)


def test_the_first_step_is_the_published_one():
    first = maximise(expect(np.array([0.6, 0.5]))[0])
    assert_allclose(first, [0.71, 0.58], atol=0.005)


def test_the_expected_counts_are_the_published_ones():
    (heads, tails), _ = expect(np.array([0.6, 0.5]))
    assert_allclose(heads, [21.3, 11.7], atol=0.05)
    assert_allclose(tails, [8.6, 8.4], atol=0.05)


def test_ten_steps_end_where_the_paper_ends():
    with pytest.warns(BayeskitWarning, match="stopped after 10 steps"):
        result = expectation_maximisation(np.array([0.6, 0.5]), expect, maximise, tol=0.0, max_iter=10)
    assert_allclose(result.parameters, [0.80, 0.52], atol=0.005)
    assert result.history.n_steps == 10


def test_it_ends_at_the_maximum_that_a_direct_search_finds():
    found = expectation_maximisation(np.array([0.6, 0.5]), expect, maximise, tol=1e-13, max_iter=1000)
    direct = minimize(lambda t: -expect(t)[1], [0.75, 0.55], bounds=[(0.01, 0.99)] * 2, tol=1e-14)
    assert_allclose(found.parameters, direct.x, atol=1e-5)
    assert_allclose(found.history.objective[-1], -direct.fun, rtol=1e-10)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_no_step_lowers_the_objective(a, b):
    result = expectation_maximisation(np.array([a, b]), expect, maximise, tol=1e-12, max_iter=2000)
    steps = np.diff(result.history.objective)
    assert (steps >= -1e-10).all()  # rounding of a sum of five logarithms
    assert result.history.converged


def test_of_several_starts_the_best_end_is_kept():
    starts = [np.array([0.5, 0.5]), np.array([0.6, 0.5]), np.array([0.2, 0.2])]
    result = expectation_maximisation(starts, expect, maximise, restarts=True)
    assert len(result.history.starts) == 3
    assert result.history.objective[-1] == max(result.history.starts)
    assert result.history.starts[1] > result.history.starts[0]  # equal coins stay equal
    assert_allclose(sorted(result.parameters), [0.52, 0.80], atol=0.01)


def test_the_history_says_why_it_stopped():
    result = expectation_maximisation(np.array([0.6, 0.5]), expect, maximise, tol=0.1)
    assert result.history.converged
    assert "no more than 0.1" in result.history.reason
    assert len(result.history.objective) == result.history.n_steps + 1


def test_progress_is_told_each_step_and_may_stop_the_work():
    seen = []
    expectation_maximisation(np.array([0.6, 0.5]), expect, maximise, tol=1e-3, progress=seen.append)
    assert [step.done for step in seen] == list(range(1, len(seen) + 1))
    assert {(step.name, step.total) for step in seen} == {("em", None)}
    assert all(step.objective < 0 for step in seen)

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        expectation_maximisation(np.array([0.6, 0.5]), expect, maximise, progress=stop)


def test_parameters_are_kept_where_they_are_asked_for_and_else_not():
    start = np.array([0.6, 0.5])
    quiet = expectation_maximisation(start, expect, maximise, tol=1e-3)
    told = expectation_maximisation(start, expect, maximise, tol=1e-3, record=True)
    assert quiet.history.parameters == ()
    assert len(told.history.parameters) == len(told.history.objective)
    for parameters, objective in zip(told.history.parameters, told.history.objective, strict=True):
        assert expect(parameters)[1] == objective
    assert told.history.parameters[-1] is told.parameters


def test_it_does_not_stop_at_parameters_that_must_be_mended():
    # A walk over whole numbers: 0 → 1 gains nothing, but 1 is to be replaced by 5, and 5 → 6 → 6.
    steps, heights = {0: 1, 1: 1, 5: 6, 6: 6}, {0: 2.0, 1: 2.0, 5: 3.0, 6: 4.0}
    result = expectation_maximisation(
        0,
        lambda place: (place, heights[place]),
        lambda place: steps[place],
        mend=lambda place, statistics: 5 if place == 1 else None,
    )
    assert result.parameters == 6
    assert result.history.objective == (3.0, 4.0, 4.0)  # a new history begins where it was mended
    assert result.history.mended == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_iter": 0}, "max_iter must be at least 1; got 0"),
        ({"tol": -1.0}, "tol must not be negative; got -1.0"),
    ],
)
def test_bad_settings_are_refused_before_the_first_step(arguments, message):
    def never(_):
        raise AssertionError("work began")

    with pytest.raises(BayeskitError, match=message):
        expectation_maximisation(np.array([0.6, 0.5]), never, never, **arguments)


def test_no_start_at_all_is_refused():
    with pytest.raises(BayeskitError, match="at least one start"):
        expectation_maximisation([], expect, maximise, restarts=True)
