"""Hypotheses: posteriors from evidence, MAP and ML, predictions, explanations and pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit import Hypotheses
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError

CANDY = {f"h{k}": {"cherry": 1 - lime, "lime": lime} for k, lime in enumerate([0.0, 0.25, 0.5, 0.75, 1.0], 1)}
CANDY_PRIOR = [0.1, 0.2, 0.4, 0.2, 0.1]


def test_the_candy_bags_of_russell_and_norvig():
    # AIMA, section 20.1: after ten limes; P(next is lime) after 1 lime is 0.65, after 2 limes 0.73.
    bags = Hypotheses(CANDY, prior=CANDY_PRIOR)
    assert_allclose(bags.predict_proba()["lime"], 0.5, rtol=1e-12)
    assert_allclose(bags.update("lime").predict_proba()["lime"], 0.65, rtol=1e-12)
    assert_allclose(bags.update("lime", "lime").predict_proba()["lime"], 0.475 / 0.65, rtol=1e-12)
    after = bags.update(*["lime"] * 10)
    weights = np.array(CANDY_PRIOR) * np.array([0.0, 0.25, 0.5, 0.75, 1.0]) ** 10
    assert_allclose(after.posteriors[-1], weights / weights.sum(), rtol=1e-12)
    assert after.map() == after.ml() == "h5"
    assert bags.update("lime", "lime").map() == "h4"
    assert bags.update("lime", "lime", "lime").map() == "h5"


def test_map_and_optimal_answer_differ_with_4_3_3():
    # Mitchell (1997), section 6.7.
    says = {"h1": {"+": 1.0, "-": 0.0}, "h2": {"+": 0.0, "-": 1.0}, "h3": {"+": 0.0, "-": 1.0}}
    three = Hypotheses(says, prior=[0.4, 0.3, 0.3])
    assert three.map() == "h1"
    assert three.predict() == "-"
    shares = three.predict_proba()
    assert_allclose([shares["+"], shares["-"]], [0.4, 0.6], rtol=1e-12)


@given(st.lists(st.sampled_from(["cherry", "lime"]), min_size=1, max_size=30))
def test_one_at_a_time_equals_all_at_once(examples):
    bags = Hypotheses(dict(list(CANDY.items())[1:4]))
    one = bags
    for example in examples:
        one = one.update(example)
    whole = bags.update(*examples)
    assert np.array_equal(one.posteriors, whole.posteriors)
    # And the likelihood of the whole, put in as one number, gives the same.
    log_likelihood = whole.log_likelihood
    at_once = bags.update(likelihood=np.exp(log_likelihood - log_likelihood.max()))
    assert_allclose(at_once.posteriors[-1], whole.posteriors[-1], rtol=1e-9)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_the_posterior_is_likelihood_times_prior_over_their_sum(weights, random):
    prior = np.array(weights) / sum(weights)
    p = np.array([random.uniform(0.05, 0.95) for _ in weights])
    coins = Hypotheses({k: {"H": q, "T": 1 - q} for k, q in enumerate(p)}, prior=prior, normalize=True)
    after = coins.update("H", "T", "H")
    joint = prior * p**2 * (1 - p)
    assert_allclose(after.posteriors[-1], joint / joint.sum(), rtol=1e-9)
    assert_allclose(after.log_evidence, np.log(joint.sum()), rtol=1e-9)
    # The names are the places; of two that differ by rounding alone, either is the most probable.
    likelihood = p**2 * (1 - p)
    assert joint[after.map()] >= joint.max() * (1 - 1e-12)
    assert likelihood[after.ml()] >= likelihood.max() * (1 - 1e-12)


def test_thousands_of_examples_do_not_underflow():
    coins = Hypotheses({p: {"H": p, "T": 1 - p} for p in (0.4, 0.5, 0.6)})
    after = coins.update(*["H", "T"] * 5000)
    assert after.posterior()[0.5] > 0.999999
    assert np.isfinite(after.log_evidence)


def test_hypotheses_may_be_functions_of_x():
    says = {"even": lambda x: x % 2 == 0, "small": lambda x: {True: 0.9, False: 0.1} if x < 5 else {False: 1.0}}
    after = Hypotheses(says).update((2, True), (7, False))
    assert_allclose(after.posterior()["even"], 1 / 1.9, rtol=1e-12)
    assert after.predict(4) is True
    assert_allclose(after.predict_proba(4)[True], (1 + 0.9 * 0.9) / 1.9, rtol=1e-12)


def test_a_likelihood_function_serves_any_hypothesis():
    def density(mean, x):
        return float(np.exp(-0.5 * (x - mean) ** 2))

    after = Hypotheses([0.0, 1.0, 2.0], likelihood=density).update(1.1, 0.9)
    assert after.map() == 1.0
    with pytest.raises(BayeskitError, match="given only by likelihood="):
        after.predict()


def test_equal_hypotheses_tie():
    coins = Hypotheses({"a": {"H": 0.5, "T": 0.5}, "b": {"H": 0.5, "T": 0.5}, "c": {"H": 0.1, "T": 0.9}}).update("H")
    assert coins.map(ties=True) == ("a", "b")
    assert coins.ml(ties=True) == ("a", "b")


def test_a_draw_follows_the_posterior():
    bags = Hypotheses(CANDY, prior=CANDY_PRIOR).update("lime")
    rng = np.random.default_rng(0)
    drawn = [bags.sample(rng) for _ in range(4000)]
    for name, p in bags.posterior().items():
        error = np.sqrt(p * (1 - p) / 4000)
        assert abs(drawn.count(name) / 4000 - p) <= 5 * error


def test_an_explanation_adds_up_to_the_log_odds():
    after = Hypotheses(CANDY, prior=CANDY_PRIOR).update("lime", "lime")
    found = after.explain("h5", "h3")
    assert_allclose(found.log_odds, np.log(after.posterior()["h5"] / after.posterior()["h3"]), atol=1e-12)
    assert_allclose(found.terms, [np.log(2.0)] * 2, rtol=1e-12)
    assert "example 1 = lime" in str(found)
    assert after.explain().classes[0] == "h4"


@pytest.mark.parametrize("kind", ["bars", "curves"])
def test_the_posteriors_can_be_drawn(kind):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    bags = Hypotheses(CANDY, prior=CANDY_PRIOR).update(*["lime"] * 4)
    ax = bags.plot(kind)
    if kind == "bars":
        heights = np.array([patch.get_height() for patch in ax.patches]).reshape(3, 5)
        assert_allclose(heights, bags.posteriors[[0, 2, 4]], rtol=1e-12)
    else:
        drawn = np.array([line.get_ydata() for line in ax.lines])
        assert_allclose(drawn.T, bags.posteriors, rtol=1e-12)
    pyplot.close("all")


def test_a_set_does_not_change():
    bags = Hypotheses(CANDY, prior=CANDY_PRIOR)
    bags.update("lime")
    assert bags.n_examples == 0
    assert_allclose(bags.posteriors, [CANDY_PRIOR], rtol=1e-12)
    assert "h3  0.400000" in repr(bags)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hypotheses(CANDY, prior=[0.5, 0.5, 0.5, 0, 0]), "the prior sums to 1.5.*normalize=True"),
        (lambda: Hypotheses(CANDY, prior=[0.5, 0.5]), "one number for each of 5 hypotheses"),
        (lambda: Hypotheses(CANDY, prior={"h1": 1.0}), "'h2' has no prior"),
        (lambda: Hypotheses(CANDY, prior=[1.5, -0.5, 0, 0, 0]), "the prior of 'h1' must be a probability"),
        (lambda: Hypotheses(CANDY, prior=[0] * 5, normalize=True), "one above 0"),
        (lambda: Hypotheses({}), "there is no hypothesis"),
        (lambda: Hypotheses(["a", "b"]), "needs likelihood="),
        (lambda: Hypotheses({"a": {"H": 0.6, "T": 0.6}}), "the outcomes of 'a' sum to 1.2"),
        (lambda: Hypotheses({"a": 3}), "'a' must be a mapping of outcome to probability or a function"),
        (lambda: Hypotheses(["a", "a"], likelihood=lambda h, d: 1.0), "'a' appears twice"),
        (lambda: Hypotheses(CANDY).update("lime", likelihood=[1] * 5), "either examples or likelihood="),
        (lambda: Hypotheses(CANDY).update(likelihood=[1, 1]), "must have 5 numbers"),
        (lambda: Hypotheses(CANDY).update(likelihood={"h1": 1}), "no number for the hypothesis 'h2'"),
        (lambda: Hypotheses(CANDY).update(["lime"]), "an example must be one of the outcomes"),
        (lambda: Hypotheses(["a"], likelihood=lambda h, d: -1.0).update(3), "at least 0; got -1"),
        (lambda: Hypotheses(CANDY).predict_proba(3), "does not depend on x"),
        (lambda: Hypotheses(CANDY).plot("pie"), "kind must be 'bars' or 'curves'"),
        (lambda: Hypotheses(CANDY).plot(steps=[4]), "from 0 to 0"),
        (lambda: Hypotheses(CANDY).explain("h1", "h9"), "'h9' is not a hypothesis"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(BayeskitError, match=message):
        make()


def test_evidence_that_rules_out_all_is_named():
    with pytest.raises(ImpossibleEvidenceError, match="example 1, 'grape', has likelihood 0 under every hypothesis"):
        Hypotheses(CANDY).update("grape")
    extremes = Hypotheses({"all cherry": {"cherry": 1}, "all lime": {"lime": 1}})
    with pytest.raises(ImpossibleEvidenceError, match="no hypothesis is left: example 3, 'cherry', rules out"):
        extremes.update("lime", "lime", "cherry")
