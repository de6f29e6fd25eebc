"""AutoBayes over tables with columns of free text."""

import pickle
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import TAN, AutoBayes, AutoText, NaiveBayes
from bayeskit.errors import BayeskitError, ModelFileError, TableError

WORDS = np.array([f"w{k}" for k in range(120)])
KINDS = {"note": "text", "noise": "text"}


@cache
def tickets(n=400):
    """Three classes: notes of few words that differ by class, a number, a category, and texts that tell nothing."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, n)
    share = rng.dirichlet(np.full(len(WORDS), 0.3), 3)
    notes = [" ".join(rng.choice(WORDS, rng.integers(2, 7), p=share[c])) for c in y]
    table = {
        "note": [None if rng.random() < 0.1 else text for text in notes],
        "size": rng.normal(y, 1.0).tolist(),
        "desk": [("u", "v", "w")[(c + int(rng.integers(0, 3)) // 2) % 3] for c in y],
        "noise": [" ".join(rng.choice(WORDS, 4)) for _ in y],
    }
    return table, np.array(["bill", "fault", "other"])[y]


def rows(table, places):
    return {name: [column[i] for i in places] for name, column in table.items()}


@cache
def fitted():
    table, y = tickets()
    return AutoBayes("fast", kinds=KINDS).fit(rows(table, range(250)), y[:250])


def held_out():
    table, y = tickets()
    return rows(table, range(250, 400)), y[250:]


def loss(model, X, y):
    posterior = model.predict_proba(X)
    return -np.log(posterior[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


def test_words_enter_the_pool_where_rows_left_out_gain_and_noise_does_not():
    assert "words of note" in fitted().members_
    assert "words of noise" not in fitted().members_
    X, y = held_out()
    table, labels = tickets()
    plain = {name: column for name, column in rows(table, range(250)).items() if name not in KINDS}
    without = AutoBayes("fast").fit(plain, labels[:250])
    assert loss(fitted(), X, y) < 0.7 * loss(without, {name: X[name] for name in plain}, y)
    alone = AutoText().fit([text or "" for text in table["note"][:250]], labels[:250])
    assert loss(fitted(), X, y) < loss(alone, [text or "" for text in X["note"]], y)


def test_log_loss_of_the_words_on_rows_left_out_is_that_of_new_rows():
    X, y = held_out()
    table, labels = tickets()
    only = AutoBayes("fast", kinds="text").fit({"note": table["note"][:250]}, labels[:250])
    assert only.left_out_loss_["pool"] == pytest.approx(loss(only, {"note": X["note"]}, y), abs=0.15)


def test_the_order_of_rows_and_columns_changes_nothing():
    (table, y), (X, _) = tickets(), held_out()
    shuffled = np.random.default_rng(1).permutation(250)
    again = AutoBayes("fast", kinds=KINDS).fit(rows(table, shuffled), y[shuffled])
    assert_array_equal(again.predict_proba(X), fitted().predict_proba(X))
    turned = {name: table[name][:250] for name in reversed(table)}
    other = AutoBayes("fast", kinds=KINDS).fit(turned, y[:250])
    assert_allclose(other.predict_proba({name: X[name] for name in turned}), fitted().predict_proba(X), atol=1e-6)


def test_names_of_classes_change_nothing():
    (table, y), (X, _) = tickets(), held_out()
    renamed = {"bill": "z", "fault": "b", "other": "k"}
    other = AutoBayes("fast", kinds=KINDS).fit(rows(table, range(250)), [renamed[label] for label in y[:250]])
    places = np.searchsorted(other.classes_, [renamed[label] for label in fitted().classes_])
    assert_allclose(other.predict_proba(X)[:, places], fitted().predict_proba(X), atol=1e-6)


def test_with_nothing_known_the_answer_are_the_class_shares():
    counts = fitted().counts_.n_class
    hidden = np.ones((1, 4), dtype=bool)
    log_posterior = fitted().log_posterior_hiding(rows(tickets()[0], [0]), hidden)
    assert_allclose(np.exp(log_posterior[0]), counts / counts.sum(), rtol=1e-12)


def test_a_hidden_text_is_summed_out_whatever_it_says():
    X, _ = held_out()
    hidden = np.zeros((150, 4), dtype=bool)
    hidden[:, 0] = True
    other = {**X, "note": ["w1 w2"] * 150}
    assert_array_equal(fitted().log_posterior_hiding(X, hidden), fitted().log_posterior_hiding(other, hidden))


def test_a_saved_model_says_the_same_to_the_last_bit_and_a_damaged_file_is_refused(tmp_path):
    X, _ = held_out()
    fitted().save(tmp_path / "tickets.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "tickets.bayes").predict_proba(X), fitted().predict_proba(X))
    meta, arrays = fitted().counts_.to_parts()
    column, fields = meta["texts"][0]
    with pytest.raises(ModelFileError, match="a column of text is out of range"):
        type(fitted().counts_).from_parts({**meta, "texts": [[column + 1, fields]]}, arrays)


@pytest.mark.filterwarnings("ignore:the plan")
def test_counts_of_copies_add_and_subtract():
    X, y = held_out()
    before = fitted().predict_proba(X)
    copy = pickle.loads(pickle.dumps(fitted())).partial_fit(X, y)
    words = copy.counts_.texts[0]
    assert words.n_class.sum() == sum(text is not None for text in tickets()[0]["note"])
    assert_allclose(copy.unlearn(X, y).predict_proba(X), before, rtol=1e-9)


def test_a_scan_gives_the_model_of_the_table():
    (table, y), (X, _) = tickets(), held_out()
    arrow = pa.table({**rows(table, range(250)), "kind": y[:250]})
    scanned = AutoBayes("fast", kinds=KINDS).fit(bayeskit.scan(arrow), target="kind")
    assert_array_equal(scanned.predict_proba(X), fitted().predict_proba(X))


def test_rows_that_are_repeated_with_the_same_text_are_left_out_one_copy_at_a_time():
    table, y = tickets()
    first = AutoBayes("fast", kinds=KINDS).fit(rows(table, [*range(150), *range(150)]), np.tile(y[:150], 2))
    weighted = AutoBayes("fast", kinds=KINDS).fit(rows(table, range(150)), y[:150], sample_weight=np.full(150, 2.0))
    assert_allclose(first.predict_proba(table), weighted.predict_proba(table), rtol=1e-9)


def test_explanations_name_the_words_and_the_parts_of_members_sum_to_the_log_odds():
    row = {"note": "w3 w5 unheard", "size": 1.0, "desk": "u"}
    why = fitted().explain(row)
    assert [(word.token, word.used) for word in why.words["note"] if " " not in word.token] == [
        ("w3", True),
        ("w5", True),
        ("unheard", False),
    ]
    parts = fitted().explain_members(row, why.classes)
    assert "words of note" in [part.member for part in parts]
    assert sum(part.log_odds for part in parts) == pytest.approx(why.log_odds, rel=1e-9)
    assert "telling words" in str(fitted().summary())


def test_questions_are_rated_for_the_other_columns_only():
    asked = [each.feature for each in bayeskit.value_of_information(fitted(), {"size": 1.0})]
    assert asked == ["desk"]


@pytest.mark.parametrize("write", [lambda model: bayeskit.to_sql(model, "duckdb"), bayeskit.to_onnx, bayeskit.to_c])
def test_what_leaves_the_library_refuses_text_by_name(write):
    with pytest.raises(BayeskitError, match="column 'note' is text"):
        write(fitted())
    with pytest.raises(BayeskitError, match="column 'note' is text"):
        bayeskit.distill(fitted(), held_out()[0])


def test_a_table_whose_texts_have_no_word_is_learned_without_them():
    table, y = tickets()
    empty = {**rows(table, range(100)), "note": ["!"] * 100, "noise": [None] * 99 + ["?"]}
    model = AutoBayes("fast", kinds=KINDS).fit(empty, y[:100])
    assert not model.counts_.texts
    assert_allclose(model.predict_proba(empty).sum(axis=1), 1.0)


def test_naive_bayes_over_the_same_table_is_beaten():
    X, y = held_out()
    table, labels = tickets()
    naive = NaiveBayes(kinds=KINDS).fit(rows(table, range(250)), labels[:250])
    assert loss(fitted(), X, y) < loss(naive, X, y)


REVIEWS = {
    "review": [
        f"{'good cheap fast' if i % 2 else 'slow bad broken'} thing of number {i} that I bought" for i in range(60)
    ],
    "price": [float(i % 7) for i in range(60)],
    "kept": ["yes" if i % 2 else "no" for i in range(60)],
}


def test_the_reader_calls_free_text_text_and_models_that_cannot_read_it_leave_it_out_aloud():
    read = bayeskit.read(REVIEWS, target="kept")
    assert read.kinds["review"] == "text"
    naive = NaiveBayes().fit(read)
    assert naive.schema_["review"].is_text
    assert naive.score(REVIEWS, target="kept") == 1.0
    with pytest.warns(UserWarning, match="column 'review' left out: free text, which TAN cannot read"):
        tan = TAN().fit(read)
    assert tan.schema_.names == ("price",)
    assert len(tan.predict({name: REVIEWS[name] for name in ("review", "price")})) == 60
    inferred = NaiveBayes(kinds="infer").fit(REVIEWS, target="kept")
    assert_array_equal(inferred.predict_proba(REVIEWS), naive.predict_proba(REVIEWS))
    only = bayeskit.read({name: REVIEWS[name] for name in ("review", "kept")}, target="kept")
    with pytest.raises(TableError, match="free text only"):
        TAN().fit(only)


def test_a_comparison_tries_the_models_that_read_text_and_says_why_others_are_not_tried():
    board = bayeskit.compare(bayeskit.read(REVIEWS, target="kept"), models=["NaiveBayes", "TAN"], folds=3)
    assert [trial.name for trial in board if trial.model is not None] == ["NaiveBayes"]
    assert "cannot read column 'review'" in board.left_out["TAN"]


def test_rows_that_differ_by_their_texts_are_no_contradictions():
    same = {**REVIEWS, "price": [1.0] * 60}
    problems = [problem.code for problem in bayeskit.read(same, target="kept").problems]
    assert "texts" in problems
    assert "contradictions" not in problems
