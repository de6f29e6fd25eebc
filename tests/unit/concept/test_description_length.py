"""Description lengths: bits by hand, networks and classifiers alike, and the shortest hypothesis is the MAP."""

from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.tree import DecisionTreeClassifier

from bayeskit import (
    AODE,
    KDB,
    ODE,
    SPODE,
    TAN,
    BayesianNetwork,
    BernoulliNB,
    BruteForceMAP,
    CategoricalNB,
    ComplementNB,
    Hypotheses,
    MultinomialNB,
    NaiveBayes,
    TextClassifier,
    datasets,
    description_length,
)
from bayeskit.concept.priors import conjunction_bits
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TableError
from laws.concepts import as_table, samples

TENNIS = datasets.load_tennis()
MODELS = [NaiveBayes(), ODE(), SPODE("outlook"), TAN(), KDB(2)]


def test_a_network_by_hand():
    net = BayesianNetwork("A->B", tables={"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.25, 0.75]]})
    found = description_length(net, {"A": ["no", "yes"] * 4, "B": ["no", "yes"] * 4})
    # Two variables: how many parents, 1 bit each, and nothing to choose. Three parameters of ½ log₂ 8 bits.
    assert_allclose(found.structure, 2.0, rtol=1e-12)
    assert_allclose(found.parameters, 3 * 1.5, rtol=1e-12)
    assert_allclose(found.data, 4 * (2 + 1) + 4 * 2 * -log2(0.75), rtol=1e-12)
    assert_allclose(found.total, found.model + found.data, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_classifier_is_told_as_the_network_that_it_is(model):
    model = model.fit(TENNIS, target="play")
    ours = description_length(model, TENNIS, target="play")
    net = description_length(model.to_network(), TENNIS)
    assert_allclose([ours.structure, ours.parameters, ours.data], [net.structure, net.parameters, net.data], rtol=1e-9)


@pytest.mark.parametrize("model", [*MODELS, AODE(), AODE(n_parents=2)], ids=repr)
def test_without_the_structure_it_is_the_bic(model):
    model = model.fit(TENNIS, target="play")
    found = description_length(model, TENNIS, target="play")
    assert_allclose(found.parameters + found.data, 0.5 * model.bic(TENNIS, target="play") / np.log(2), rtol=1e-12)


def test_structures_by_hand():
    found = description_length(TAN().fit(TENNIS, target="play"), TENNIS, target="play").structure
    # Five variables: the class without parents, the root of the tree with the class alone, three with a parent besides.
    expected = 5 * log2(5) + log2(comb(4, 0)) + log2(comb(4, 1)) + 3 * log2(comb(4, 2))
    assert_allclose(found, expected, rtol=1e-12)


def test_labels_alone_need_fewer_bits():
    model = NaiveBayes().fit(TENNIS, target="play")
    found = description_length(model, TENNIS, target="play", labels_only=True)
    codes = np.searchsorted(model.classes_, TENNIS["play"])
    expected = -model.predict_log_proba(TENNIS)[np.arange(14), codes].sum() / np.log(2)
    assert_allclose(found.data, expected, rtol=1e-12)
    assert found.data < 14
    features = {name: column for name, column in TENNIS.items() if name != "play"}
    assert description_length(model, features, TENNIS["play"], labels_only=True) == found


def test_categorical_nb_has_the_length_of_naive_bayes_with_the_same_tables():
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [0, 1]]), [0, 1, 1, 0, 1]
    found = description_length(CategoricalNB(alpha=0.5).fit(X, y), X, y)
    same = NaiveBayes(smoothing=0.5, prior="data", kinds="categorical").fit(X, y)
    assert_allclose(found.total, description_length(same, X, y).total, rtol=1e-12)
    # By hand: 2 features with 1 parent of 2 others and the class with none, 1 + 2 · 2 free numbers of ½ log₂ 5 bits.
    assert_allclose(found.model, 3 * np.log2(3) + 2 * np.log2(2) + 5 * np.log2(5) / 2, rtol=1e-12)


def test_bernoulli_features_are_told_as_the_same_columns_of_two_values_are():
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    y = np.arange(40) % 2
    ours = description_length(BernoulliNB(alpha=0.5).fit(X, y), X, y)
    same = description_length(NaiveBayes(smoothing=0.5, prior="data", kinds="categorical").fit(X, y), X, y)
    assert_allclose(
        [ours.structure, ours.parameters, ours.data], [same.structure, same.parameters, same.data], rtol=1e-12
    )


def test_words_are_told_one_after_the_other():
    # P(a) = 2/3. In a: 2 of x and 1 of y, so 3/5 and 2/5; in b: 1 of y, so 1/3 and 2/3.
    X, y = [[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]
    data = -log2(2 / 3 * 3 / 5) - log2(2 / 3 * 3 / 5 * 2 / 5) - log2(1 / 3 * 2 / 3)
    found = description_length(MultinomialNB().fit(X, y), X, y)
    assert_allclose([found.structure, found.parameters, found.data], [0.0, 1.5 * log2(3), data], rtol=1e-12)
    texts = {"text": ["x", "x y", "y"], "label": y}
    assert_allclose(
        description_length(TextClassifier().fit(texts, target="label"), texts, target="label").total,
        found.total,
        rtol=1e-12,
    )


def test_the_complement_model_tells_labels_only():
    X, y = [[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]
    model = ComplementNB().fit(X, y)
    expected = -sum(model.predict_log_proba(X)[i, "ab".index(c)] for i, c in enumerate(y)) / np.log(2)
    assert_allclose(description_length(model, X, y, labels_only=True).data, expected, rtol=1e-12)
    with pytest.raises(BayeskitError, match="gives rows no probability: pass labels_only=True"):
        description_length(model, X, y)
    with pytest.raises(ImpossibleEvidenceError, match="row 1 has probability 0"):
        description_length(MultinomialNB(alpha=0).fit(X, y), [[1, 0], [1, 1]], ["a", "b"])


@settings(max_examples=80)
@given(samples(), st.floats(0.01, 0.4))
def test_the_shortest_conjunction_is_the_map_under_the_prior_of_its_code(sample, noise):
    space, rows, labels = sample
    table = as_table(space, rows)
    learner = BruteForceMAP(noise=noise, prior="simple", attributes=dict(space.attributes), positive=True)
    learner.fit(table, labels)
    lengths = np.array([conjunction_bits(h) for h in space])
    assert_allclose(np.sum(2.0**-lengths), 1.0, rtol=1e-9)  # a complete code: Kraft's inequality is an equality
    wrong = np.array([sum(h.covers(r) != d for r, d in zip(rows, labels, strict=True)) for h in space])
    data = -(wrong * np.log2(noise) + (len(rows) - wrong) * np.log2(1 - noise))
    h, d = learner.description_lengths()
    assert_allclose(h, lengths, rtol=1e-9)
    assert_allclose(d, data, rtol=1e-9)
    found = description_length(learner, table, labels)
    assert_allclose(found.total, np.min(lengths + data), rtol=1e-9)
    assert_allclose([found.model, found.data], [conjunction_bits(learner.map_), found.total - found.model], rtol=1e-9)


@settings(max_examples=50)
@given(st.lists(st.sampled_from("HT"), max_size=12), st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_the_shortest_of_a_set_of_hypotheses_is_its_map(tosses, weights):
    says = {p: {"H": p, "T": 1 - p} for p in (0.2, 0.5, 0.9)}
    coins = Hypotheses(says, prior=weights, normalize=True).update(*tosses)
    lengths = {name: sum(parts) for name, parts in coins.description_lengths().items()}
    shortest = min(lengths.values())
    assert lengths[coins.map()] <= shortest + 1e-9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: description_length(DecisionTreeClassifier(), TENNIS), BayeskitError, "got DecisionTreeClassifier"),
        (
            lambda: description_length(
                NaiveBayes().fit(datasets.load_heart(), target="disease"), datasets.load_heart(), target="disease"
            ),
            BayeskitError,
            "column 'age' is gaussian.*numeric='mdl'",
        ),
        (
            lambda: description_length(NaiveBayes().fit(TENNIS, target="play"), TENNIS),
            TableError,
            "needs their labels",
        ),
        (
            lambda: description_length(BayesianNetwork("A", tables={"A": [1.0, 0.0]}), {"A": ["no", "yes"]}),
            ImpossibleEvidenceError,
            "row 1 has probability 0 under the model, so it has no code; smooth the tables",
        ),
        (
            lambda: description_length(BayesianNetwork("A"), {"A": ["no"]}, target="A"),
            BayeskitError,
            "encodes all its variables",
        ),
    ],
)
def test_what_has_no_length_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
