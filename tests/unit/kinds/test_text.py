"""Columns of free text in a table: words counted within each class, as scikit-learn's MultinomialNB counts them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB

import bayeskit
from bayeskit import KDB, TAN, KNeighbors, LogisticRegression, MDLTree, NaiveBayes, SemiSupervised
from bayeskit.errors import BayeskitError, MergeError, ModelFileError, NetworkError, TableError

MAILS = {
    "text": ["cheap pills now", "lunch at noon", "cheap cheap watches", None, "noon meeting", "", "pills at noon"],
    "size": [1.0, 2.0, 3.0, 4.0, 2.0, 6.0, 1.5],
    "sender": ["a", "b", "a", "b", "b", None, "a"],
}
KIND = ["spam", "ham", "spam", "spam", "ham", "ham", "spam"]
TEXT = {"text": "text"}


def some(rows):
    return {name: [column[i] for i in rows] for name, column in MAILS.items()}, [KIND[i] for i in rows]


def fitted(rows=range(7), **parameters):
    return NaiveBayes(kinds=TEXT, **parameters).fit(*some(rows))


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
def test_words_are_as_probable_as_in_multinomial_nb(smoothing):
    texts = [text for text in MAILS["text"] if text is not None]
    y = [label for label, text in zip(KIND, MAILS["text"], strict=True) if text is not None]
    counter = CountVectorizer(token_pattern=r"\w+")
    peer = MultinomialNB(alpha=smoothing).fit(counter.fit_transform(texts), y)
    ours = NaiveBayes(kinds=TEXT, smoothing=smoothing, prior="data").fit({"text": texts}, y)
    words, values = ours.tables_["text"].rows, ours.tables_["text"].values
    order = [counter.vocabulary_[word] for word in words]
    assert_allclose(np.log(values), peer.feature_log_prob_.T[order], rtol=1e-12)
    new = ["cheap lunch", "pills pills noon", "never seen", ""]
    assert_allclose(ours.predict_log_proba({"text": new}), peer.predict_log_proba(counter.transform(new)), atol=1e-12)


def test_text_beside_a_number_multiplies_what_multinomial_nb_and_gaussian_nb_say():
    texts, y = ["cheap pills", "noon noon", "cheap noon", "lunch"], np.array([0, 1, 0, 1])
    sizes = np.array([1.0, 2.5, 2.0, 4.0])
    counter = CountVectorizer()
    words = MultinomialNB().fit(counter.fit_transform(texts), y)
    number = GaussianNB(var_smoothing=0).fit(sizes[:, None], y)
    ours = NaiveBayes(kinds=TEXT, prior="data", variance="ml").fit({"text": texts, "size": sizes}, y)
    joint = words.predict_joint_log_proba(counter.transform(texts)) + number.predict_joint_log_proba(sizes[:, None])
    joint -= np.log(0.5)  # P(c) is in both
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    assert_allclose(ours.predict_log_proba({"text": texts, "size": sizes}), expected, atol=1e-12)


def test_a_missing_text_is_summed_out_and_is_no_document():
    model = fitted()
    assert_array_equal(model.counts_.texts[0].n_class, [3, 3])  # of four spam rows one has no text
    without = NaiveBayes().fit({name: MAILS[name] for name in ("size", "sender")}, KIND)
    unknown = {**MAILS, "text": [None] * 7}
    assert_allclose(model.predict_proba(unknown), without.predict_proba({k: MAILS[k] for k in ("size", "sender")}))


@pytest.mark.filterwarnings("ignore:column.* no value in any row")
@given(st.lists(st.integers(0, 2), min_size=7, max_size=7))
def test_parts_are_the_whole_in_any_order_and_can_be_unlearned(part_of):
    whole = fitted().counts_
    parts = [[i for i in range(7) if part_of[i] == k] for k in range(3)]
    parts = [rows for rows in parts if rows]
    total = NaiveBayes(kinds=TEXT).count(*some(parts[0]))
    for rows in parts[1:]:
        total = total + NaiveBayes(kinds=TEXT).count(*some(rows))
    assert_array_equal(words_by_class(total), words_by_class(whole))
    if len(parts) > 1:
        rest = sorted(i for rows in parts[1:] for i in rows)
        left = whole - NaiveBayes(kinds=TEXT).count(*some(parts[0]))
        assert_array_equal(words_by_class(left), words_by_class(NaiveBayes(kinds=TEXT).count(*some(rest))))


def words_by_class(counts):
    """(word, class, times, documents), and the documents of each class; the order of words says nothing."""
    if not counts.texts:  # no text is known
        return np.array([])
    words = counts.texts[0]
    cell = np.repeat(np.arange(words.n_words), np.diff(words.indptr))
    labels = words.classes[words.codes]
    cells = [
        (words.words[w], str(c), str(n), str(d))
        for w, c, n, d in zip(cell, labels, words.n_token, words.n_document, strict=True)
    ]
    known = [(str(c), str(n), "", "") for c, n in zip(words.classes, words.n_class, strict=True) if n]
    return np.array(sorted([*cells, *known]))


def test_partial_fit_merge_unlearn_and_a_scan_give_the_model_of_one_fit():
    whole = fitted().predict_proba(MAILS)
    first, second = some(range(3)), some(range(3, 7))
    assert_allclose(fitted(range(3)).partial_fit(*second).predict_proba(MAILS), whole, rtol=1e-12)
    assert_allclose(fitted(range(3)).merge(fitted(range(3, 7))).predict_proba(MAILS), whole, rtol=1e-12)
    less = fitted().unlearn(*second)
    assert_allclose(less.predict_proba(MAILS), NaiveBayes(kinds=TEXT).fit(*first).predict_proba(MAILS), rtol=1e-9)
    table = pa.table({**MAILS, "kind": KIND})
    scanned = NaiveBayes(kinds=TEXT).fit(bayeskit.scan(table), target="kind")
    assert_array_equal(scanned.predict_proba(MAILS), whole)


def test_a_column_whose_first_rows_have_no_text_learns_its_words_later():
    late = NaiveBayes(kinds=TEXT)
    with pytest.warns(UserWarning, match="column 'text' has no value"):
        late.fit(*some([3]))
    late.partial_fit(*some([0, 1, 2, 4, 5, 6]))
    assert_allclose(late.predict_proba(MAILS), fitted([3, 0, 1, 2, 4, 5, 6]).predict_proba(MAILS), rtol=1e-12)


def test_a_saved_model_says_the_same_to_the_last_bit_and_a_damaged_file_is_refused(tmp_path):
    model = fitted()
    model.save(tmp_path / "mail.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "mail.bayes").predict_proba(MAILS), model.predict_proba(MAILS))
    meta, arrays = model.counts_.to_parts()
    with pytest.raises(ModelFileError, match="1 columns of text and the words of 0"):
        type(model.counts_).from_parts({**meta, "texts": []}, arrays)


def test_leaving_one_out_is_a_fit_on_the_others_with_the_same_vocabulary():
    texts = {"text": ["a b", "b", "a a c", "c d", "d b c", "a d b b", "c"]}
    y = np.array([0, 0, 0, 1, 1, 0, 1])
    ours = NaiveBayes(kinds=TEXT).fit(texts, y).leave_one_out(texts, y).log_posterior
    for i in range(7):
        rest = [k for k in range(7) if k != i]
        model = NaiveBayes(kinds=TEXT).fit({"text": [texts["text"][k] for k in rest]}, y[rest])
        assert_allclose(ours[i], model.predict_log_proba({"text": texts["text"][i : i + 1]})[0], rtol=1e-12)


def test_weights_of_rows_and_classes_count_words_so_often():
    twice = NaiveBayes(kinds=TEXT).fit(*some([0, 0, 1, 2, 3]))
    weighted = NaiveBayes(kinds=TEXT).fit(*some(range(4)), sample_weight=[2, 1, 1, 1])
    assert_allclose(weighted.predict_proba(MAILS), twice.predict_proba(MAILS), rtol=1e-12)
    texts, y = {"text": ["a b", "b c", "a"]}, [0, 1, 1]
    by_class = NaiveBayes(kinds=TEXT, class_weight={0: 2, 1: 1}).fit(texts, y)
    copied = NaiveBayes(kinds=TEXT).fit({"text": ["a b", "a b", "b c", "a"]}, [0, 0, 1, 1])
    assert_allclose(by_class.predict_proba(texts), copied.predict_proba(texts), rtol=1e-12)


def test_an_explanation_names_the_words_and_their_terms_sum_to_the_column():
    model = fitted()
    why = model.explain({"text": "Cheap cheap lunch, unheard", "size": 2.0})
    assert [(word.token, word.used) for word in why.words["text"]] == [
        ("cheap", True),
        ("cheap", True),
        ("lunch", True),
        ("unheard", False),
    ]
    assert sum(word.weight for word in why.words["text"]) == pytest.approx(why.terms[0], rel=1e-12)
    assert "text = cheap +" in str(why)
    assert "unheard" not in str(why)
    assert "cheap" in model.explain_rows(MAILS)[0].labels()[0]
    assert "text has cheap" in str(model.summary())


def test_with_unseen_smooth_all_other_words_have_one_slot_together():
    model = NaiveBayes(kinds=TEXT, unseen="smooth", prior="uniform").fit({"text": ["a a b", "c"]}, [0, 1])
    # λ = 1, three words and the slot: 1 / 7 in the first class, 1 / 5 in the second.
    assert_allclose(model.predict_proba({"text": ["z"]}), [[(1 / 7) / (1 / 7 + 1 / 5), (1 / 5) / (1 / 7 + 1 / 5)]])


def test_drawn_texts_have_the_words_of_their_class():
    drawn = NaiveBayes(kinds=TEXT).fit({"text": ["a a a b", "b b b a"]}, [0, 1]).sample(4000, random_state=0)
    words = [text.split() for text, c in zip(drawn["text"], drawn["class"], strict=True) if c == 0]
    share = sum(each.count("a") for each in words) / sum(map(len, words))
    assert abs(share - 4 / 6) < 4 * np.sqrt(2 / 9 / sum(map(len, words)))  # (3 + 1) / (4 + 2), four standard errors


def test_em_uses_texts_without_a_label_and_never_lowers_its_objective():
    labels = ["spam", "ham", None, None, "ham", None, None]
    model = SemiSupervised(NaiveBayes(kinds=TEXT)).fit(MAILS, labels)
    assert (np.diff(model.history_.objective) >= -1e-9).all()


def test_a_question_for_a_text_is_not_rated_since_its_answers_have_no_end():
    assert [each.feature for each in bayeskit.value_of_information(fitted(), {"size": 2.0})] == ["sender"]
    assert {each.feature for each in bayeskit.feature_relevance(fitted())} == {"size", "sender"}


def test_what_is_not_text_is_refused_by_name():
    with pytest.raises(TableError, match=r"column 'size' cannot be text: it holds 1\.0"):
        NaiveBayes(kinds={"size": "text"}).fit(MAILS, KIND)
    with pytest.raises(TableError, match="column 'text' cannot be text: it holds 3"):
        fitted().predict({**MAILS, "text": [3] * 7})
    with pytest.raises(MergeError, match="'text' is text on one side and categorical on the other"):
        fitted().merge(NaiveBayes().fit(MAILS, KIND))
    with pytest.raises(MergeError, match="cannot"):
        fitted().unlearn({"text": ["another"], "size": [1.0], "sender": ["a"]}, ["spam"])


@pytest.mark.parametrize("model", [TAN, KDB, LogisticRegression, KNeighbors, MDLTree])
def test_models_that_cannot_read_text_say_so(model):
    with pytest.raises(TableError, match="text"):
        model(kinds=TEXT).fit(MAILS, KIND)


@pytest.mark.parametrize("write", [lambda model: bayeskit.to_sql(model, "duckdb"), bayeskit.to_onnx, bayeskit.to_c])
def test_programs_that_cannot_cut_words_refuse_the_column_by_name(write):
    with pytest.raises(BayeskitError, match="column 'text' is text"):
        write(fitted())
    with pytest.raises(NetworkError, match="column 'text' is text"):
        fitted().to_network()


def test_a_column_without_any_word_says_nothing():
    texts = {"text": ["!!", "..", "?"]}
    model = NaiveBayes(kinds=TEXT, prior="data").fit(texts, [0, 1, 1])
    assert_allclose(model.predict_proba({"text": ["word", "", None]}), [[1 / 3, 2 / 3]] * 3)
    assert_allclose(np.exp(model.leave_one_out(texts, [0, 1, 1]).log_posterior[0]), [0.0, 1.0], atol=1e-15)
