"""Hidden Markov models and hmmlearn give the same numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import HiddenMarkov

hmm = pytest.importorskip("hmmlearn.hmm")


def gaussian_rows(seed, n=300, k=3, d=2):
    rng = np.random.default_rng(seed)
    step = rng.dirichlet(np.ones(k), size=k) * 0.3 + 0.7 * np.eye(k)
    states = np.zeros(n, dtype=int)
    for t in range(1, n):
        states[t] = rng.choice(k, p=step[states[t - 1]])
    return rng.normal(size=(n, d)) + 2.0 * states[:, None], states


def as_hmmlearn(model, full):
    """hmmlearn's model with our parameters."""
    k, d = model.n_states_, len(model.schema_)
    peer = hmm.GaussianHMM(k, covariance_type="full" if full else "diag")
    peer.startprob_, peer.transmat_ = model.start_, model.transitions_
    if full:
        peer.means_, peer.covars_ = model._chain.joint.mean, model.covariances_
    else:
        tables = [model.tables_[name].values for name in model.schema_.names]
        peer.means_ = np.array([table[0] for table in tables]).T
        peer.covars_ = np.array([table[1] ** 2 for table in tables]).T
    peer.n_features = d
    return peer


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_answers_agree_for_the_same_parameters(covariance, seed):
    X, states = gaussian_rows(seed)
    lengths = [100, 150, 50]
    model = HiddenMarkov(covariance=covariance).fit(X, states, lengths=lengths)
    peer = as_hmmlearn(model, covariance == "full")
    assert_allclose(model.smooth(X, lengths=lengths), peer.predict_proba(X, lengths), atol=1e-8)
    assert_array_equal(model.predict(X, lengths=lengths), peer.predict(X, lengths))
    assert_allclose(model.log_likelihood(X, lengths=lengths).sum(), peer.score(X, lengths), rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_baum_welch_reaches_the_same_likelihood_from_the_same_start(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, 400)
    start, step, cells = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2), 2), rng.dirichlet(np.ones(4), 2)
    peer = hmm.CategoricalHMM(2, n_iter=5, tol=-np.inf, init_params="")
    peer.startprob_, peer.transmat_, peer.emissionprob_ = start, step, cells
    peer.fit(X[:, None])
    # The same five steps, from the same probabilities, with our expected counts.
    from bayeskit.kinds import Estimation
    from bayeskit.learn.column_kinds import learn_schema
    from bayeskit.sequence.beliefs import ChainBeliefs
    from bayeskit.sequence.expected import ExpectedCounts, HiddenRows
    from bayeskit.sequence.learning import Climb, HiddenSequences
    from bayeskit.sequence.transitions import allowed_states
    from bayeskit.table.encode import encode
    from bayeskit.table.read import read_table

    source = read_table(X[:, None])
    schema = learn_schema(source, "categorical")
    rows = HiddenRows(schema, encode(source, schema), False)
    allowed, settings = allowed_states("any", None, np.arange(2)), Estimation(smoothing=0.0)
    hidden = HiddenSequences(rows, np.array([0, 400]), None, Climb(settings, lambda k: allowed, False, 1, 0, 1, np.inf))
    first = ExpectedCounts(rows, 2)
    first.add(0, 400, np.full((400, 2), 0.5))
    first.n_start += start
    first.n_step += step
    counts = first.total()
    beliefs = ChainBeliefs.of(counts, settings, allowed)
    log_table = np.zeros((6, 2))
    log_table[:4] = np.log(cells.T)
    beliefs = ChainBeliefs(
        beliefs.log_start, beliefs.log_step, type(beliefs.cells)(schema, np.zeros(2), (log_table,)), None
    )
    for _ in range(5):
        total = ExpectedCounts(rows, 2, counts)
        for block in hidden.passes(beliefs).smoothed(count=True):
            total.add(block.begin, block.end, block.states)
            total.n_start += block.n_start
            total.n_step += block.n_step
        counts = total.total()
        beliefs = ChainBeliefs.of(counts, settings, allowed)
    assert_allclose(np.exp(beliefs.log_step), peer.transmat_, atol=1e-8)
    assert_allclose(np.exp(beliefs.log_start), peer.startprob_, atol=1e-8)
    assert_allclose(np.exp(beliefs.cells.parameters[0][:4]).T, peer.emissionprob_, atol=1e-8)


def test_a_fit_is_at_least_as_likely_as_hmmlearns():
    X, _ = gaussian_rows(7, n=250)
    ours = HiddenMarkov(3, smoothing=0, variance="ml", n_init=5, tol=1e-8).fit(X)
    peer = max(
        (hmm.GaussianHMM(3, n_iter=200, tol=1e-4, random_state=s).fit(X) for s in range(5)), key=lambda m: m.score(X)
    )
    assert ours.log_likelihood(X).sum() > peer.score(X) - 1.0
