"""Published numbers of hidden Markov models."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import HiddenMarkov


def counted(start, step, cells, values, states, target):
    """A model with exactly these probabilities: counts in their proportions, not smoothed."""
    model = HiddenMarkov(smoothing=0)
    base = model.count({"x": list(values)}, [states[0]] * len(values))
    names = np.array(states, dtype=object)
    wide = base.declare(names)
    order = np.argsort(names.astype(str))
    scale = 1000
    n_value = np.rint(scale * np.array(cells)[order]).astype(np.int64).T
    table = replace(wide.table, values=replace(wide.table.values, n_class=n_value.sum(axis=0), n_value=n_value))
    counts = replace(
        wide,
        table=table,
        n_start=np.rint(scale * np.array(start)[order]).astype(np.int64),
        n_step=np.rint(scale * np.array(step)[np.ix_(order, order)]).astype(np.int64),
    )
    return HiddenMarkov.from_counts(counts, smoothing=0, target=target)


@pytest.fixture
def umbrella():
    return counted(
        [0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], [[0.1, 0.9], [0.8, 0.2]], ["no", "yes"], ["rain", "sun"], "weather"
    )


def test_the_umbrella_world_of_russell_and_norvig(umbrella):
    # Artificial Intelligence: A Modern Approach, 4th ed., section 14.2: filtering .818 and .883, smoothing .883.
    two = {"x": ["yes", "yes"]}
    assert_allclose(umbrella.filter(two)[:, 0], [0.818, 0.883], atol=5e-4)
    assert_allclose(umbrella.smooth(two)[0, 0], 0.883, atol=5e-4)
    # One step ahead of the first day, before the second is seen: .627.
    assert_allclose(umbrella.forecast({"x": ["yes"]}).states[0, 0, 0], 0.627, atol=5e-4)
    # Section 14.2.3: the most likely path given yes, yes, no, yes, yes.
    path = umbrella.predict({"x": ["yes", "yes", "no", "yes", "yes"]}).tolist()
    assert path == ["rain", "rain", "sun", "rain", "rain"]


def test_messages_of_the_viterbi_figure(umbrella):
    # Figure 14.5(b) of the same book: .8182, .5155, .0361, .0334, .0210 for rain.
    logs = []
    for n in range(1, 6):
        rows = {"x": ["yes", "yes", "no", "yes", "yes"][:n]}
        joint = umbrella._now()._asked(rows, None, None, None)[1].best_path()[1][0]
        logs.append(joint)
    # The figure's messages are P(path, later evidence | first evidence), of the best path so far: days 1, 2, 4 and 5
    # end in rain, day 3 in sun (.1237).
    assert_allclose(np.exp(np.array(logs)) / 0.55, [0.8182, 0.5155, 0.1237, 0.0334, 0.0210], atol=5e-5)


def test_eisners_ice_cream():
    # Jurafsky & Martin, Speech and Language Processing, 3rd ed. draft, appendix A, figures A.5 and A.8:
    # P(3 1) and P(3 1 3) with π = (.8 hot, .2 cold), hot → hot .6, hot → cold .4, cold → hot .5, cold → cold .5,
    # P(1, 2, 3 | hot) = .2, .4, .4 and P(1, 2, 3 | cold) = .5, .4, .1.
    model = counted(
        [0.8, 0.2],
        [[0.6, 0.4], [0.5, 0.5]],
        [[0.2, 0.4, 0.4], [0.5, 0.4, 0.1]],
        ["1", "2", "3"],
        ["hot", "cold"],
        "day",
    )
    hot = model.states_.tolist().index("hot")
    # α₁(hot) = .32, α₁(cold) = .02, α₂(hot) = .0404, α₂(cold) = .069
    first, two = (np.exp(model.log_likelihood({"x": rows})[0]) for rows in (["3"], ["3", "1"]))
    assert_allclose(first, 0.34, atol=1e-12)
    assert_allclose(two, 0.0404 + 0.069, atol=1e-12)
    assert_allclose(model.filter({"x": ["3", "1"]})[1, hot], 0.0404 / 0.1094, atol=1e-12)
    # Figure A.8: the best path to cold on day 2, .32 · .4 · .5 = .064, beats that to hot, .32 · .6 · .2 = .0384.
    path = model.predict({"x": ["3", "1"]}).tolist()
    assert path == ["hot", "cold"]
