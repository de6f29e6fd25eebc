"""AutoText: its scores by brute force, what it promises of counts, and bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bayeskit
from bayeskit import AutoText, Tokenizer
from bayeskit.classify.auto_text.members import Presence
from bayeskit.classify.auto_text.plan import digests, halves, is_pair, members_of
from bayeskit.classify.auto_text.pool import fit_correction, fit_doubt, fit_pool, softmax
from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import BayeskitError, MergeError, TableError

WORDS = ["rain", "sun", "goal", "match", "vote", "law", "the", "a", "of"]
TOPICS = {"weather": [0, 1, 6, 7, 8], "sport": [2, 3, 6, 7, 8], "politics": [4, 5, 6, 7, 8]}


def corpus(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array([list(TOPICS)[i % 3] for i in range(n)])
    texts = [" ".join(rng.choice([WORDS[j] for j in TOPICS[c]], size=rng.integers(2, 9))) for c in y]
    return [f"{text} number{i}" for i, text in enumerate(texts)], y


@pytest.fixture(scope="module")
def fitted():
    texts, y = corpus()
    return texts, y, AutoText().fit(texts, y)


def brute_scores(kept_documents, codes, k, document):
    """s and t by the formulas, from documents as sets of words, word by word."""
    words = sorted(set().union(*kept_documents))
    n = {
        w: [sum(w in d for d, c in zip(kept_documents, codes, strict=True) if c == j) for j in range(k)] for w in words
    }
    size = [sum(n[w][j] for w in words) for j in range(k)]
    known = [w for w in document if w in n]
    s = [sum(np.log((n[w][j] + 1) / (size[j] + len(words))) for w in known) for j in range(k)]
    t = [-sum(np.log((sum(n[w]) - n[w][j] + 1) / (sum(size) - size[j] + len(words))) for w in known) for j in range(k)]
    return np.array(s), np.array(t), len(known)


def presence_of(documents, codes, k):
    words = sorted(set().union(*documents))
    x = np.array([[float(w in d) for w in words] for d in documents])
    n = np.array([[x[codes == c, j].sum() for c in range(k)] for j in range(len(words))])
    return Presence(sparse.csr_array(n)), sparse.csr_array(x)


def test_scores_of_documents_left_out_are_those_of_counts_without_them():
    texts, y = corpus(30)
    documents = [set(Tokenizer().split(text)) for text in texts]
    codes = np.unique(y, return_inverse=True)[1]
    kind, x = presence_of(documents, codes, 3)
    s, t, size = kind.scores_left_out(x, codes, np.ones(len(y)))
    for i in range(len(y)):
        rest = [d for k, d in enumerate(documents) if k != i]
        s_i, t_i, n_i = brute_scores(rest, np.delete(codes, i), 3, documents[i])
        assert size[i] == n_i
        assert_allclose(s[i], s_i, rtol=1e-12)
        assert_allclose(t[i], t_i, rtol=1e-12)


def test_scores_of_new_documents_follow_the_formulas():
    texts, y = corpus(30)
    documents = [set(Tokenizer().split(text)) for text in texts]
    codes = np.unique(y, return_inverse=True)[1]
    kind, x = presence_of(documents, codes, 3)
    s, t, _ = kind.scores(x)
    for i, document in enumerate(documents):
        s_i, t_i, _ = brute_scores(documents, codes, 3, document)
        assert_allclose(s[i], s_i, rtol=1e-12)
        # t is known up to a number of the document, which the pool takes out
        assert_allclose(t[i] - t[i].mean(), t_i - t_i.mean(), rtol=1e-10, atol=1e-12)


def test_pairs_of_words_are_told_from_words():
    counts = TokenCounts.of(
        ["to be or", "朴素"], np.array([0, 0]), np.array(["x"]), Tokenizer(ngram_range=(1, 2), ideographs="characters")
    )
    assert {w for w, pair in zip(counts.words, is_pair(counts), strict=True) if pair} == {"to be", "be or", "朴 素"}
    words, pairs = members_of(counts).kinds
    assert (words.of_class.sum(), pairs.of_class.sum()) == (5, 3)


def test_the_pool_has_no_gradient_left():
    rng = np.random.default_rng(3)
    z, y, weight = rng.normal(size=(200, 3, 2)), rng.integers(0, 3, 200), np.ones(200)
    z[np.arange(200), y, 0] += 0.7
    w, b = fit_pool(z, y, weight)
    residual = softmax(z @ w + b) - np.eye(3)[y]
    spread = z.reshape(-1, 2).std(axis=0)
    gradient = np.tensordot(residual, z / spread, ([0, 1], [0, 1])) + 1e-3 * w * spread
    assert w[0] > 0
    assert w[1] == 0  # noise: a weight below 0 is not allowed, and would lower the loss
    assert gradient[0] == pytest.approx(0, abs=0.01)  # 200 documents: 5e-5 of each
    assert gradient[1] >= 0
    assert_allclose(residual.sum(axis=0) + b, 0, atol=0.01)


def test_without_an_offset_the_correction_is_scikit_learns_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(150, 5)), rng.integers(0, 3, 150)
    x[np.arange(150), y] += 1.0
    u = fit_correction(sparse.csr_array(x), y, np.ones(150), np.zeros((150, 3)), 0.5, np.zeros((5, 3)), 500)
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8).fit(x, y)
    assert_allclose(u - u.mean(axis=1, keepdims=True), (theirs.coef_ - theirs.coef_.mean(axis=0)).T, atol=2e-2)


def test_doubt_grows_with_scores_that_are_sure_and_wrong():
    scores, y = np.array([[20.0, -20.0]] * 50), np.array([0] * 40 + [1] * 10)
    _, doubt = fit_doubt(scores, y, np.ones(50), np.array([0.5, 0.5]))
    assert doubt == pytest.approx(0.4, abs=0.02)  # half of it goes to the wrong class: a fifth, as often as seen


def test_new_documents_of_known_topics_are_told(fitted):
    _, _, model = fitted
    assert_array_equal(
        model.predict(["rain and sun", "a goal of the match", "the vote"]), ["weather", "sport", "politics"]
    )
    assert model.left_out_loss_["corrected pool"] < model.left_out_loss_["class shares"]


def test_a_document_without_known_words_gets_the_class_shares():
    texts, y = corpus(80)
    model = AutoText().fit(texts, y)
    p = model.predict_proba(["", "rain", "words never seen"])
    assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (p > 0).all()
    assert_allclose(p[[0, 2]], np.tile(model.class_count_ / 80, (2, 1)), rtol=1e-12)
    assert model.explain("", classes=("sport", "politics")).prior == pytest.approx(np.log(27 / 26))


def test_the_order_of_documents_changes_nothing(fitted):
    texts, y, model = fitted
    order = np.random.default_rng(1).permutation(len(y))
    other = AutoText().fit([texts[i] for i in order], y[order])
    assert_allclose(other.predict_proba(texts), model.predict_proba(texts), rtol=1e-12)


def test_a_weight_of_two_is_a_document_twice_in_the_counts():
    texts, y = corpus(30)
    twice = AutoText(correction=False).fit(texts + texts[:5], np.concatenate([y, y[:5]]))
    weighted = AutoText(correction=False).fit(texts, y, sample_weight=np.r_[np.full(5, 2.0), np.ones(25)])
    assert_array_equal(weighted.class_count_, twice.class_count_)
    ours, theirs = (
        dict(zip(m.counts_.tokens.words, m.counts_.tokens.indptr[1:], strict=True)) for m in (weighted, twice)
    )
    assert ours == theirs


def test_counts_of_later_documents_add_and_subtract_exactly(fitted):
    texts, y, _ = fitted
    more, labels = corpus(20, seed=7)
    model = AutoText().fit(texts, y)
    before = model.predict_proba(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(more, labels)
    assert model.class_count_.sum() == 110
    assert np.abs(model.predict_proba(texts) - before).max() > 1e-6
    model.unlearn(more, labels)
    assert_allclose(model.predict_proba(texts), before, rtol=1e-9)


def test_partial_fit_says_what_stays(fitted):
    texts, y = corpus(30)
    with pytest.warns(UserWarning, match="the weight of each score, and the correction,"):
        AutoText().partial_fit(texts, y)


def test_models_fitted_apart_do_not_merge_and_copies_do(fitted):
    _, y, model = fitted
    with pytest.raises(MergeError, match=r"only copies of one fitted AutoText.*in every copy: unlearn them"):
        model.merge(AutoText().fit(*corpus(40, seed=5)))
    copy = AutoText.from_counts(model.counts_)
    assert copy.merge(model).class_count_.sum() == 2 * len(y)


def test_a_new_class_of_later_documents_can_be_predicted(fitted):
    _, _, model = fitted
    later = AutoText.from_counts(model.counts_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        later.partial_fit(["piano violin piano", "violin concert"] * 10, ["music"] * 20)
    assert later.predict(["piano violin concert"]).tolist() == ["music"]


def test_saved_and_loaded_it_answers_to_the_last_bit(fitted, tmp_path):
    texts, _, model = fitted
    model.save(tmp_path / "topics.bayes")
    again = bayeskit.load(tmp_path / "topics.bayes")
    assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert again.explain(texts[0]) is not None


@pytest.mark.parametrize("correction", [True, False])
def test_the_parts_of_an_explanation_sum_to_the_log_odds(correction):
    texts, y = corpus()
    model = AutoText(correction=correction).fit(texts, y)
    for text in ["a goal of the rain rain", "nothing known here", texts[4]]:
        explanation = model.explain(text)
        p = dict(zip(model.classes_.tolist(), model.predict_proba([text])[0], strict=True))
        a, b = explanation.classes
        assert explanation.log_odds == pytest.approx(np.log(p[a] / p[b]), abs=1e-9)
    # what no word says are the biases and the doubt: the same as in a text of unknown words, up to the doubt
    words = {word.token: word.weight for word in model.explain("goal of", classes=("sport", "weather")).words}
    assert words["goal"] > 0
    assert abs(words["of"]) < words["goal"]


def test_the_strongest_words_of_a_class_are_its_own(fitted):
    _, _, model = fitted
    assert {"goal", "match"} <= {word for word, _ in model.top_words("sport", 6)}
    assert not {"rain", "sun", "vote", "law"} & {word for word, _ in model.top_words("sport", 50)}
    assert "sport (30 documents)" in str(model.summary())


def test_halves_keep_equal_documents_together_and_do_not_depend_on_order():
    texts, y = ["a", "b", "a", "c", "d", "a"], np.zeros(6, dtype=int)
    half = halves(digests(texts), y)
    assert half[0] == half[2] == half[5]
    assert half.sum() not in (0, 6)
    assert_array_equal(halves(digests(texts[::-1]), y), half[::-1])


def test_chinese_is_read_in_characters_and_pairs():
    good, bad = ["很好吃", "味道好", "非常好吃", "好吃又快"], ["太难吃", "味道差", "难吃极了", "又慢又差"]
    model = AutoText().fit(good + bad, ["好"] * 4 + ["差"] * 4)
    assert model.predict(["真好吃", "真难吃"]).tolist() == ["好", "差"]
    assert "好 吃" in model.counts_.tokens.words


def test_one_class_is_certain():
    model = AutoText().fit(["one text", "another text"], ["only", "only"])
    assert_array_equal(model.predict_proba(["text", "strange"]), [[1.0], [1.0]])


@pytest.mark.parametrize("n", [6, 20, 200])
@pytest.mark.parametrize("word", ["good thing", "id"])
def test_words_that_say_nothing_are_not_learned_the_wrong_way_round(word, n):
    texts, y = [f"{word} {i}" for i in range(n)], [str(i % 2) for i in range(n)]
    model = AutoText().fit(texts, y)
    assert min(model.member_weight_.values()) >= 0
    truth = model.predict_proba(texts)[np.arange(n), np.arange(n) % 2]
    assert truth.min() > 0.4


def test_classes_of_one_document_each_are_answered():
    texts = [f"word{i} the" for i in range(50)]
    model = AutoText().fit(texts, [f"class {i}" for i in range(50)])
    p = model.predict_proba(texts)
    assert np.isfinite(p).all()
    assert_allclose(p.sum(axis=1), 1)


@pytest.mark.parametrize("text", ["", "\ud800 broken", "🙂🙂 smile", "مرحبا بالعالم", "x" * 1_000_000])
def test_any_string_is_a_document(fitted, text):
    _, _, model = fitted
    assert np.isfinite(model.predict_proba([text])).all()
    assert np.isfinite(model.explain(text[:1000]).log_odds)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: AutoText().fit(["", " "], ["a", "b"]), TableError, "none of the 2 documents has a token"),
        (lambda: AutoText().fit([], []), TableError, "there is no document"),
        (lambda: AutoText().fit(["a", None], ["x", "y"]), TableError, "document 1 must be text"),
        (lambda: AutoText().fit("a text", ["x"]), TableError, "put one text into a list"),
        (lambda: AutoText().fit(["a b"], ["x", "y"]), TableError, "2"),
        (lambda: AutoText(correction="no").fit(["a"], ["x"]), BayeskitError, "correction"),
        (lambda: AutoText(tokens="letters").fit(["a"], ["x"]), BayeskitError, "tokens"),
    ],
)
def test_bad_input_is_refused_with_what_came(call, error, message):
    with pytest.raises((error, ValueError), match=message):
        call()


def test_a_scan_is_refused_with_what_to_do():
    import pyarrow as pa

    table = pa.table({"text": ["a b", "c d"], "label": ["x", "y"]})
    with pytest.raises(BayeskitError, match="read_texts"):
        AutoText().fit(bayeskit.scan(table), target="label")
