"""hmmlearn's own tests, run on ours through shims with its names.

Its tests of the examples of Wikipedia run on a chain; those of its C lattices, and of chains with given densities, run
on the passes that every chain here is made of. Its tests of its monitor, of the shapes of its parameters and of its
sampler test its insides; its tests of fits draw from its own sampler, and test_hmmlearn.py compares fits.
"""

from dataclasses import replace

import numpy as np
import pytest

from bayeskit import HiddenMarkov
from bayeskit.sequence.passes import Passes
from bayeskit.sequence.transitions import allowed_states

pytest.importorskip("hmmlearn.hmm")
with np.errstate():  # which this import would change for the whole process
    from hmmlearn import _hmmc
    from hmmlearn.tests import test_base as base
    from hmmlearn.tests.test_categorical_hmm import TestCategoricalAgainstWikipedia as Wikipedia


def chain_of_shares(start, step, cells):
    """Return a chain whose probabilities are shares of ten: counts without smoothing."""
    tenths = np.rint(10 * np.asarray(cells)).astype(int)  # (n_states, n_symbols)
    states, symbols = np.indices(tenths.shape)
    states, symbols = (np.repeat(each.ravel(), tenths.ravel()) for each in (states, symbols))
    counts = HiddenMarkov(kinds="categorical").count(symbols[:, None], states, lengths=[1] * len(states))
    whole = (np.rint(10 * np.asarray(each)).astype(np.int64) for each in (start, step))
    n_start, n_step = whole
    return HiddenMarkov.from_counts(replace(counts, n_start=n_start, n_step=n_step), kinds="categorical", smoothing=0.0)


class Shim:
    """hmmlearn's ``decode``, ``predict`` and ``predict_proba`` by our chain."""

    def __init__(self, chain):
        self.chain = chain

    def decode(self, X, algorithm="viterbi"):
        X = np.asarray(X)
        path = np.asarray(self.chain.decode(X, {"map": "posterior"}.get(algorithm, algorithm)))
        # hmmlearn gives the log-probability of the path with its rows; ours is that of the rows with the path known.
        start, step = self.chain.start_, self.chain.transitions_
        cells = np.asarray(self.chain.tables_[self.chain.schema_.names[0]].values)
        emitted = cells if cells.shape[0] == len(start) else cells.T
        log = np.log(start[path[0]]) + np.log(step[path[:-1], path[1:]]).sum() + np.log(emitted[path, X[:, 0]]).sum()
        return log, path

    def predict(self, X):
        return self.chain.predict(np.asarray(X))

    def predict_proba(self, X):
        return self.chain.smooth(np.asarray(X))


class TestCategoricalExamples(Wikipedia):
    """Viterbi path with its probability .01344, posterior decoding, and smoothed probabilities."""

    def new_hmm(self, impl):
        return Shim(chain_of_shares([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]))


# Collected through the class above only.
del Wikipedia


def umbrella():
    """The umbrella days of Wikipedia's forward–backward algorithm, as hmmlearn's test_base.py has them."""
    chain = chain_of_shares([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]])
    return chain, np.array([0, 0, 1, 0, 0])[:, None]


def test_the_forward_backward_example_of_hmmlearns_tests():
    chain, X = umbrella()
    assert round(float(chain.log_likelihood(X)[0]), 4) == -3.3725
    posteriors = [[0.8673, 0.1327], [0.8204, 0.1796], [0.3075, 0.6925], [0.8204, 0.1796], [0.8673, 0.1327]]
    np.testing.assert_allclose(chain.smooth(X), posteriors, atol=1e-4)
    forward = np.array([[0.4500, 0.1000], [0.3105, 0.0410], [0.0230, 0.0975], [0.0408, 0.0150], [0.0298, 0.0046]])
    np.testing.assert_allclose(
        chain.filter(X), forward / forward.sum(axis=1, keepdims=True), atol=2e-3
    )  # the lattice of their test has four digits


class Lattices:
    """hmmlearn's C functions by our passes: its lattices are what ours say row by row, put together again."""

    @staticmethod
    def passes(start, step, log_density):
        with np.errstate(divide="ignore"):
            log_start, log_step = np.log(np.asarray(start, float)), np.log(np.asarray(step, float))
        offsets = np.array([0, len(log_density)])
        return Passes(log_start, log_step, lambda a, b: np.array(log_density[a:b]), offsets, np.inf)

    def forward_log(self, start, step, log_density):
        ((_, _, states, evidence, _),) = self.passes(start, step, log_density).filtered()
        return evidence.sum(), np.log(states) + np.cumsum(evidence)[:, None]

    def forward_scaling(self, start, step, density):
        ((_, _, states, evidence, _),) = self.passes(start, step, np.log(density)).filtered()
        return evidence.sum(), states, np.exp(-evidence)

    def backward_log(self, start, step, log_density):
        (all_rows,) = self.passes(start, step, log_density).smoothed()
        log, forward = self.forward_log(start, step, log_density)
        return np.log(all_rows.states) + log - forward

    def backward_scaling(self, start, step, density, scaling):
        backward = np.exp(self.backward_log(start, step, np.log(density)))
        return backward * np.cumprod(scaling[::-1])[::-1][:, None]

    def viterbi(self, start, step, log_density):
        path, log = self.passes(start, step, log_density).best_path()
        return float(log[0]), path


class Stub(Lattices):
    """hmmlearn's chain with given densities."""

    def __init__(self, n_components):
        self.n_components = n_components

    def score_samples(self, X):
        (all_rows,) = self.passes(self.startprob_, self.transmat_, self.log_frameprob).smoothed()
        return all_rows.log_evidence.sum(), all_rows.states

    def decode(self, X):
        return self.viterbi(self.startprob_, self.transmat_, self.log_frameprob)


@pytest.fixture(autouse=True)
def ours_in_the_place_of_hmmlearn(monkeypatch):
    monkeypatch.setattr(base, "_hmmc", Lattices())
    monkeypatch.setattr(base, "StubHMM", Stub)


class TestLattices(base.TestBaseAgainstWikipedia):
    """Forward and backward lattices, in logarithms and scaled, Viterbi and posteriors."""

    test_generate_samples = None  # of its own sampler


class TestMixture(base.TestBaseConsistentWithGMM):
    """A chain without memory is a mixture."""


@pytest.mark.parametrize("seed", range(5))
def test_lattices_are_those_of_hmmlearn_to_1e_12(seed):
    rng = np.random.default_rng(seed)
    k, n = 4, 60
    start, step = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)
    log_density = np.log(rng.random((n, k)))
    ours = Lattices()
    for name in ("forward_log", "viterbi"):
        mine, theirs = (getattr(each, name)(start, step, log_density) for each in (ours, _hmmc))
        assert mine[0] == pytest.approx(theirs[0], rel=1e-12)
        np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-12, atol=1e-12)
    backward = _hmmc.backward_log(start, step, log_density)
    np.testing.assert_allclose(ours.backward_log(start, step, log_density), backward, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("outlier", [1e4, 1e150])
def test_an_outlier_that_fails_hmmlearns_scaled_pass_is_learned_from(outlier):
    """The data of its test_underflow_from_scaling, where its default of that pass raises a ValueError."""
    rng = np.random.RandomState(10)
    data = np.concatenate([rng.normal(mean, 1, 100) for mean in (0, 5, 0, 5)])
    data[40] = outlier
    model = HiddenMarkov(2, n_init=2).fit(data)
    posterior = model.smooth(data)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(model.log_likelihood(data)).all()


def test_left_to_right_keeps_the_zeros_of_hmmlearns_test():
    rng = np.random.RandomState(10)
    k, lengths = 3, [10, 8, 1]
    allowed = np.eye(k, dtype=bool) | np.eye(k, k=1, dtype=bool)
    X = rng.rand(sum(lengths), 3)
    model = HiddenMarkov(k, transitions=allowed, start=[0], n_init=2).fit(X, lengths=lengths)
    assert allowed_states(allowed, [0], np.arange(k)).step.tolist() == allowed.tolist()
    assert (model.transitions_[~allowed] == 0).all()
    assert model.start_.tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(model.smooth(X, lengths=lengths).sum(axis=1), 1.0, rtol=1e-12)
