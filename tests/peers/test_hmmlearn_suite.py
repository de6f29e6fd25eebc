"""hmmlearn's own tests of the examples of Wikipedia, run on ours through a shim with its names.

The shim answers what has a counterpart here. hmmlearn's tests of its monitor, of its C lattices and of the shapes of
its parameters test its insides; its tests of fits draw from its own sampler, and test_hmmlearn.py compares fits.
"""

from dataclasses import replace

import numpy as np
import pytest

from bayeskit import HiddenMarkov

pytest.importorskip("hmmlearn.hmm")
with np.errstate():  # which this import would change for the whole process
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
