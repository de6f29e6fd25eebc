"""The right form of each formula that docs/theory/text.md lists as often printed wrong; the wrong form fails."""

import numpy as np
from numpy.testing import assert_allclose

from bayeskit import TextClassifier
from texts import LABELS, TEXTS


def counts_of(model):
    """How often each kept word stands in each class, (n_words, n_classes)."""
    counts = model.counts_
    n = np.zeros((counts.n_words, len(counts.classes)))
    n[np.repeat(np.arange(counts.n_words), np.diff(counts.indptr)), counts.codes] = counts.n_token
    return n


def test_probabilities_sum_to_one_when_n_counts_positions():
    model = TextClassifier().fit(TEXTS, LABELS)
    n = counts_of(model)
    assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1.0, rtol=1e-12)
    distinct = (n > 0).sum(axis=0)
    wrong = ((n + 1) / (distinct + len(n))).sum(axis=0)
    assert (wrong > 1.2).all()


def test_a_pruned_vocabulary_counts_its_own_positions():
    model = TextClassifier(drop_frequent=2).fit(TEXTS, LABELS)
    assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1.0, rtol=1e-12)
    n = counts_of(model)
    kept = [model.counts_.words.index(word) for word in model.vocabulary_]
    wrong = ((n[kept] + 1) / (n.sum(axis=0) + len(kept))).sum(axis=0)
    assert (wrong < 0.85).all()
    assert abs(wrong[0] - wrong[1]) > 0.01


def test_unknown_words_change_nothing():
    model = TextClassifier().fit(TEXTS, LABELS)
    assert_allclose(model.predict_proba(["vote zzz yyy xxx"]), model.predict_proba(["vote"]), rtol=1e-12)
    n_c = counts_of(model).sum(axis=0)
    smoothed = model.predict_proba(["vote"])[0] * (n_c + 18.0) ** -3
    assert smoothed[1] / smoothed.sum() > model.predict_proba(["vote"])[0, 1]  # the class of fewer words gains


def test_a_word_is_there_or_not():
    model = TextClassifier(model="bernoulli", prior="uniform").fit(["a b", "b", "b c"], ["x", "x", "y"])
    joint = np.exp(model.predict_joint_log_proba(["b"])[0])
    assert_allclose(joint, [0.5 * (2 / 4) * (3 / 4) * (3 / 4), 0.5 * (2 / 3) * (2 / 3) * (1 / 3)], rtol=1e-12)


def test_a_word_of_every_document_has_no_weight():
    model = TextClassifier(idf=True).fit(["the cat", "the dog"], ["cat", "dog"])
    weights = model.feature_log_prob_[:, model.vocabulary_["the"]]
    assert_allclose(np.exp(weights), 1 / (np.log(2) + 3), rtol=1e-12)  # no count is left, λ = 1 alone
