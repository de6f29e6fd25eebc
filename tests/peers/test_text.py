"""Text models agree with scikit-learn's CountVectorizer and naive Bayes on the same tokens."""

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import bayeskit
from bayeskit import TextClassifier, Tokenizer
from texts import LABELS, SHARED, TEXTS, corpus

# Without the shared texts one name is left, so that the skipped test says what is not there.
CORPORA = sorted(path.name.removesuffix(".jsonl.gz") for path in SHARED.glob("*.jsonl.gz")) or ["trec-questions"]
MODELS = [
    ({"model": "multinomial"}, theirs.MultinomialNB()),
    ({"model": "multinomial", "smoothing": 0.1, "prior": "uniform"}, theirs.MultinomialNB(alpha=0.1, fit_prior=False)),
    ({"model": "bernoulli"}, theirs.BernoulliNB()),
    ({"model": "bernoulli", "smoothing": 0.3}, theirs.BernoulliNB(alpha=0.3)),
    ({"model": "complement"}, theirs.ComplementNB()),
    ({"model": "complement", "norm": True, "smoothing": 0.5}, theirs.ComplementNB(norm=True, alpha=0.5)),
]
models = pytest.mark.parametrize(("options", "peer"), MODELS, ids=[str(options) for options, _ in MODELS])


@models
def test_the_same_posterior_on_a_small_corpus(options, peer):
    pipe = make_pipeline(CountVectorizer(), peer).fit(TEXTS, LABELS)
    ours = TextClassifier(tokens="sklearn", calibrate=False, **options).fit(TEXTS, LABELS)
    asked = [*TEXTS, "a great vote", "", "nothing of it known"]
    assert_allclose(ours.predict_log_proba(asked), pipe.predict_log_proba(asked), rtol=1e-9, atol=1e-9)


@models
def test_the_same_posterior_on_questions(options, peer):
    texts, labels, split = corpus("trec-questions")
    train = [i for i, part in enumerate(split) if part == "train"]
    pipe = make_pipeline(CountVectorizer(), peer).fit([texts[i] for i in train], [labels[i] for i in train])
    learned = [texts[i] for i in train], [labels[i] for i in train]
    ours = TextClassifier(tokens="sklearn", calibrate=False, **options).fit(*learned)
    assert_allclose(ours.predict_log_proba(texts), pipe.predict_log_proba(texts), rtol=1e-9, atol=1e-9)


def test_word_ngrams_and_characters_give_the_same_posterior():
    for options, peer in (
        ({"tokens": "sklearn", "ngram_range": (1, 2)}, {"ngram_range": (1, 2)}),
        ({"tokens": "characters", "ngram_range": (2, 4)}, {"analyzer": "char", "ngram_range": (2, 4)}),
    ):
        pipe = make_pipeline(CountVectorizer(**peer), theirs.MultinomialNB()).fit(TEXTS, LABELS)
        ours = TextClassifier(calibrate=False, **options).fit(TEXTS, LABELS)
        assert_allclose(ours.predict_log_proba(TEXTS), pipe.predict_log_proba(TEXTS), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CORPORA)
def test_counts_of_tokens_are_those_of_count_vectorizer(name):
    texts, labels, _ = corpus(name)
    vectorizer = CountVectorizer()
    matrix = vectorizer.fit_transform(texts)
    counts = TextClassifier(tokens="sklearn").count(texts, labels)
    assert sorted(counts.words) == sorted(vectorizer.vocabulary_)
    total = np.add.reduceat(counts.n_token, counts.indptr[:-1])
    documents = np.add.reduceat(counts.n_document, counts.indptr[:-1])
    order = np.array([vectorizer.vocabulary_[word] for word in counts.words])
    assert_array_equal(total, np.asarray(matrix.sum(axis=0)).ravel()[order])
    assert_array_equal(documents, np.diff(matrix.tocsc().indptr)[order])


@pytest.mark.parametrize("name", CORPORA)
def test_tokens_are_those_of_the_default_pattern(name):
    texts, _, _ = corpus(name)
    analyse, ours = CountVectorizer().build_analyzer(), Tokenizer("sklearn")
    assert all(ours.split(text) == analyse(text) for text in texts[:: max(1, len(texts) // 500)])


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB"])
@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_array", "coo_matrix", "toarray", "float32"])
def test_matrices_in_every_form_give_scikit_learns_posterior(name, form):
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.3, (60, 40)))
    y = rng.integers(0, 4, 60)
    weight = rng.random(60)
    given = {"toarray": X.toarray(), "float32": X.toarray().astype(np.float32)}.get(form)
    given = getattr(sparse, form)(X) if given is None else given
    for own, peer in ((None, None), (weight, weight)):
        a = getattr(bayeskit, name)().fit(given, y, own)
        b = getattr(theirs, name)().fit(given, y, peer)
        assert_allclose(a.predict_log_proba(given), b.predict_log_proba(given), rtol=1e-9, atol=1e-9)
        assert_allclose(a.feature_log_prob_, b.feature_log_prob_, rtol=1e-12)
        assert_allclose(a.feature_count_, b.feature_count_, rtol=1e-12)
        assert_array_equal(a.predict(given), b.predict(given))


def test_complement_has_scikit_learns_sums_of_all_classes():
    rng = np.random.default_rng(1)
    X, y, weight = rng.poisson(0.3, (60, 40)), rng.integers(0, 4, 60), rng.random(60)
    for own in (None, weight):
        found = bayeskit.ComplementNB().fit(X, y, own).feature_all_
        assert_allclose(found, theirs.ComplementNB().fit(X, y, own).feature_all_, rtol=1e-12)
