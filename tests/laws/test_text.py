"""Counts of texts add and subtract exactly; batches, merges and weights are what one fit would give."""

from collections import Counter

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import MultinomialNB, TextClassifier

TEXT = st.text(st.sampled_from("ab é中国1 .'"), max_size=12)
CORPUS = st.lists(st.tuples(TEXT, st.sampled_from(["no", "yes", "maybe"])), min_size=1, max_size=12)
MAKE = st.sampled_from(
    [
        {},
        {"tokens": "sklearn", "ngram_range": (1, 2)},
        {"tokens": "characters", "ngram_range": (1, 3), "lowercase": False},
        {"hashing": 5, "hash_seed": 3},
        {"punctuation": True, "ideographs": "characters"},
    ]
)


def table(counts):
    """Every number of the counts under its word and class, whatever the order of the words."""
    cells = {}
    for w, word in enumerate(counts.words):
        for k in range(counts.indptr[w], counts.indptr[w + 1]):
            cells[word, counts.classes[counts.codes[k]]] = (counts.n_token[k].item(), counts.n_document[k].item())
    return cells, dict(zip(counts.classes.tolist(), counts.n_class.tolist(), strict=True))


def count(rows, **options):
    return TextClassifier(**options).count([text for text, _ in rows] + ["xx"], [label for _, label in rows] + ["no"])


@given(CORPUS, MAKE)
def test_counts_are_what_a_plain_loop_counts(rows, options):
    from bayeskit import Tokenizer

    assume("hashing" not in options)
    counts = count(rows, **options)
    token, document = Counter(), Counter()
    for text, label in [*rows, ("xx", "no")]:
        words = Tokenizer(**options).split(text)
        token.update((word, label) for word in words)
        document.update((word, label) for word in set(words))
    assert table(counts)[0] == {cell: (n, document[cell]) for cell, n in token.items()}
    assert table(counts)[1] == Counter(label for _, label in [*rows, ("xx", "no")])


@given(CORPUS, CORPUS, MAKE)
def test_counts_of_two_corpora_add_up_to_counts_of_both(a, b, options):
    left, right = count(a, **options), count(b, **options)
    both = count([*a, ("xx", "no"), *b], **options)
    assert table(left + right) == table(right + left) == table(both)
    assert table(both - right) == table(left)


@given(CORPUS, st.integers(0, 12), MAKE, st.sampled_from(["multinomial", "bernoulli", "complement"]))
def test_any_split_into_batches_is_one_fit(rows, cut, options, model):
    rows = [("aa bb", "no"), *rows, ("bb cc", "yes")]
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    cut = max(1, min(cut, len(rows) - 1))
    whole = TextClassifier(model=model, **options).fit(texts, labels)
    parts = TextClassifier(model=model, **options).partial_fit(texts[:cut], labels[:cut])
    parts.partial_fit(texts[cut:], labels[cut:])
    assert table(parts.counts_) == table(whole.counts_)
    # Sums over the vocabulary are taken in order of appearance, which is the same here: the last bit is, too.
    assert_array_equal(parts.predict_log_proba(texts), whole.predict_log_proba(texts))
    other = TextClassifier(model=model, **options).fit(texts[cut:], labels[cut:])
    merged = TextClassifier(model=model, **options).fit(texts[:cut], labels[:cut]).merge(other)
    assert table(merged.counts_) == table(whole.counts_)
    assert table(whole.unlearn(texts[cut:], labels[cut:]).counts_) == table(
        TextClassifier(model=model, **options).fit(texts[:cut], labels[:cut]).counts_
    )


@settings(max_examples=40)
@given(CORPUS, st.permutations(range(12)), st.sampled_from([{"drop_frequent": 2}, {"k_best": 3}, {"min_count": 2}]))
def test_a_pruned_vocabulary_does_not_depend_on_the_order_of_documents_or_of_merging(rows, order, pruning):
    # Many words are equally frequent, and equally informative: the cut must fall between the same ones.
    rows = [("aa bb cc dd", "no"), *rows, ("aa bb cc dd", "no")]
    mixed = [rows[i] for i in order if i < len(rows)] + rows[12:]
    a, b = (TextClassifier(**pruning).fit(*zip(*each, strict=True)) for each in (rows, mixed))
    assert set(a.vocabulary_) == set(b.vocabulary_)
    halves = [TextClassifier(**pruning).count(*zip(*part, strict=True)) for part in (rows[:1], rows[1:])]
    for counts in (halves[0] + halves[1], halves[1] + halves[0]):
        merged = TextClassifier.from_counts(counts, **pruning)
        assert set(merged.vocabulary_) == set(a.vocabulary_)
        texts = [text for text, _ in rows]
        assert_allclose(merged.predict_log_proba(texts), a.predict_log_proba(texts), rtol=1e-9, atol=1e-12)


@given(CORPUS, st.data())
def test_weights_are_repetition_and_zero_is_removal(rows, data):
    rows = [("a b", "no"), *rows]
    weight = [1, *data.draw(st.lists(st.integers(0, 3), min_size=len(rows) - 1, max_size=len(rows) - 1))]
    texts, labels = [text for text, _ in rows], [label for _, label in rows]
    repeated = [row for row, n in zip(rows, weight, strict=True) for _ in range(n)]
    a = TextClassifier().fit(texts, labels, sample_weight=weight)
    b = TextClassifier().fit([text for text, _ in repeated], [label for _, label in repeated])
    assert table(a.counts_) == table(b.counts_)
    assert_allclose(a.predict_log_proba(texts), b.predict_log_proba(texts), rtol=1e-12)


@settings(max_examples=30)
@given(CORPUS, st.sampled_from(["multinomial", "bernoulli", "complement"]), st.integers(1, 30))
def test_order_and_batches_of_prediction_do_not_matter(rows, model, n):
    texts = [text for text, _ in rows]
    fitted = TextClassifier(model=model).fit([*texts, "a b"], [*(label for _, label in rows), "no"])
    many = fitted.predict_proba(texts * n)
    assert_array_equal(many, np.tile(fitted.predict_proba(texts), (n, 1)))
    assert_allclose(many.sum(axis=1), 1.0, rtol=1e-12)


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 5), min_size=3, max_size=3), st.integers(0, 2)), min_size=2, max_size=9)
)
def test_matrices_of_counts_add_exactly(rows):
    X, y = np.array([row for row, _ in rows]), np.array([label for _, label in rows])
    whole = MultinomialNB().fit(X, y)
    parts = MultinomialNB().partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    assert_array_equal(parts.feature_count_, whole.feature_count_)
    assert_array_equal(parts.predict_log_proba(X), whole.predict_log_proba(X))
    assert_array_equal(whole.unlearn(X[1:], y[1:]).feature_count_, MultinomialNB().fit(X[:1], y[:1]).feature_count_)
