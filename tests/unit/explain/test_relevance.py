import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm, poisson
from sklearn.feature_selection import mutual_info_classif
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from bayeskit import AODE, KDB, SPODE, TAN, AutoBayes, NaiveBayes, datasets, feature_relevance, value_of_information
from bayeskit.errors import BayeskitError

TENNIS = datasets.load_tennis()
MODEL = NaiveBayes().fit(TENNIS, target="play")
LOSS = np.array([[0.0, 5.0], [1.0, 0.0]])
ROUNDING = 1e-12


def joint_of(known):
    """P(known, c) by hand, from the readable tables."""
    joint = np.array(MODEL.class_prior_)
    for name, value in known.items():
        joint = joint * [MODEL.tables_[name][value, c] for c in MODEL.classes_]
    return joint


@pytest.mark.parametrize("known", [{}, {"outlook": "sunny"}, {"outlook": "sunny", "wind": "strong"}])
@pytest.mark.parametrize("loss", [None, LOSS])
def test_the_value_of_a_question_is_the_mean_fall_of_the_risk(known, loss):
    costs = 1 - np.eye(2) if loss is None else loss
    found = value_of_information(MODEL, known, loss)
    assert {question.feature for question in found} == set(MODEL.tables_) - set(known)
    evidence = joint_of(known).sum()
    for question in found:
        rows = MODEL.tables_[question.feature].rows
        after = sum((joint_of({**known, question.feature: value}) @ costs).min() for value in rows) / evidence
        before = (joint_of(known) @ costs).min() / evidence
        assert question.risk_before == pytest.approx(before, rel=ROUNDING)
        assert question.risk_after == pytest.approx(after, rel=ROUNDING)
        assert question.value == pytest.approx(before - after, abs=ROUNDING)
        assert question.exact
    assert [q.value for q in found] == sorted((q.value for q in found), reverse=True)


def test_a_row_without_unknown_features_leaves_nothing_to_ask():
    assert value_of_information(MODEL, {name: TENNIS[name][0] for name in MODEL.tables_}) == []


def test_relevance_is_the_mutual_information_of_the_counts():
    # Quinlan 1986 gives the gains of play tennis as .246, .029, .151, .048 bits.
    found = {
        each.feature: each.information for each in feature_relevance(NaiveBayes(smoothing=0).fit(TENNIS, target="play"))
    }
    bits = {name: value / np.log(2) for name, value in found.items()}
    assert bits == pytest.approx(
        {"outlook": 0.2467, "humidity": 0.1518, "wind": 0.0481, "temperature": 0.0292}, abs=5e-5
    )
    frame = pd.DataFrame(TENNIS).apply(lambda column: column.astype("category").cat.codes)
    expected = mutual_info_classif(frame[list(found)], frame["play"], discrete_features=True)
    assert list(found.values()) == pytest.approx(expected.tolist(), rel=1e-12)


def test_the_relevance_of_a_gaussian_is_the_integral():
    x = np.array([-1.0, 0.0, 1.0, 1.0, 2.5, 4.0])
    model = NaiveBayes(prior="uniform", variance="ml").fit(x[:, None], [0, 0, 0, 1, 1, 1])
    (mean, deviation) = model.tables_["x0"].values

    def integrand(t):
        density = norm.pdf(t, mean, deviation)
        total = density.mean()
        return float((0.5 * density * np.log(density / total)).sum())

    expected = quad(integrand, -12, 14, epsabs=1e-12, limit=200)[0]
    (found,) = feature_relevance(model)
    assert found.information == pytest.approx(expected, rel=1e-9)
    assert not found.exact


def test_asking_for_a_continuous_feature_is_worth_what_the_integral_says():
    x = np.array([-1.0, 0.0, 1.0, 1.0, 2.5, 4.0])
    model = NaiveBayes(prior="uniform").fit(x[:, None], [0, 0, 0, 1, 1, 1])
    mean, deviation = model.tables_["x0"].values
    after = quad(lambda t: 0.5 * norm.pdf(t, mean, deviation).min(), -12, 14, epsabs=1e-12, limit=400)[0]
    (question,) = value_of_information(model, {"x0": None} if model.schema_.named else [None])
    assert question.value == pytest.approx(0.5 - after, rel=1e-6)


def test_counts_and_bins_can_be_asked_for():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"n": rng.poisson(2 + 3 * y), "b": rng.normal(y), "noise": rng.choice(["u", "v"], 200)})
    model = NaiveBayes(kinds={"n": "poisson", "b": "equal-width"}, bins=5).fit(frame, y)
    found = {question.feature: question for question in value_of_information(model, {})}
    prior, tables = model.class_prior_, model.tables_
    rates = tables["n"].values[0]
    joints = {name: tables[name].values * prior for name in ("b", "noise")}
    joints["n"] = poisson.pmf(np.arange(200)[:, None], rates) * prior
    for name, joint in joints.items():
        assert found[name].value == pytest.approx(prior.min() - joint.min(axis=1).sum(), rel=ROUNDING, abs=ROUNDING)
        assert found[name].exact
    assert found["n"].value > found["noise"].value


def random_table(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 30)
    levels = np.minimum(2, (rng.random((30, 5)) * 3 * (0.5 + 0.5 * y[:, None])).astype(int))
    return {f"x{j}": np.array(list("abc"))[levels[:, j]] for j in range(5)}, y


@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), TAN(), KDB(2), SPODE("x0"), AODE(), AODE(min_rows=0), AODE(min_rows=0, n_parents=2), AutoBayes()],
    ids=repr,
)
def test_no_question_has_a_negative_value(model):
    for seed in range(8 if isinstance(model, AutoBayes) else 20):
        table, y = random_table(seed)
        for question in value_of_information(model.fit(table, y), {name: table[name][0] for name in ("x0", "x1")}):
            assert question.exact or isinstance(model, AutoBayes)
            assert question.value > -ROUNDING


def with_margins(joint, posterior):
    """The table of least Kullback-Leibler divergence from this one that has these class shares, by its dual."""
    rows = joint.sum(axis=1)

    def dual(scale):
        logs = np.log(joint) + scale
        total = np.logaddexp.reduce(logs, axis=1)
        return rows @ total - posterior @ scale

    best = minimize(dual, np.zeros(joint.shape[1]), tol=1e-14).x
    shares = joint * np.exp(best)
    return rows[:, None] * shares / shares.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("settings", [{"min_rows": 30}, {"n_parents": 2}, {"unseen": "smooth"}], ids=repr)
@pytest.mark.parametrize("loss", [None, LOSS])
def test_where_an_average_is_over_other_members_the_answers_are_scaled_and_the_gap_is_said(settings, loss):
    moved, matrix = 0, 1 - np.eye(2) if loss is None else LOSS
    for seed in range(40):
        table, y = random_table(seed)
        model = AODE(**settings).fit(table, y)
        known = {name: table[name][0] for name in ("x0", "x1")}
        found = value_of_information(model, known, loss)
        now = model.predict_proba({**{name: [None] for name in table}, **{k: [v] for k, v in known.items()}})[0]
        for question in found:
            # By enumeration: the mean posterior over the answers, each as probable as the model says.
            answers = np.unique(table[question.feature]).astype(object)
            rows = {name: np.array([known.get(name)] * len(answers), dtype=object) for name in table}
            rows[question.feature] = answers
            joint = np.exp(model.predict_joint_log_proba(rows))
            mean = joint.sum(axis=0) / joint.sum()
            assert question.incoherence == pytest.approx(np.abs(mean - now).sum() / 2, abs=ROUNDING)
            assert question.exact == (question.incoherence <= 1e-9)
            assert question.value == question.risk_before - question.risk_after
            assert question.value >= -ROUNDING
            # Where the gap is, the nearest table with both margins: found by a general optimiser.
            if question.incoherence > 1e-3:
                nearest = with_margins(joint / joint.sum(), now)
                risk = (nearest @ matrix).min(axis=1).sum()
                assert question.risk_after == pytest.approx(risk, abs=1e-5)
                moved += 1
        worst = max(question.incoherence for question in found)
        assert ("no exact joint distribution" in str(found)) == (worst > 1e-9)
        assert f"by up to {worst:.1g}" in str(found) or worst <= 1e-9
    assert moved


def test_questions_print_as_a_table_and_names_are_escaped():
    model = NaiveBayes().fit({"<b>": ["u", "v", "u", "v"], "z": ["p", "p", "q", "q"]}, [0, 0, 1, 1])
    asked = value_of_information(model, {})
    assert str(asked).splitlines()[0].split() == ["observe", "value", "risk", "after", "approximate"]
    for found in (asked, feature_relevance(model)):
        assert "<th>&lt;b&gt;</th>" in found._repr_html_()
    assert str(value_of_information(model, {"<b>": "u", "z": "p"})).startswith("no feature is missing")


def test_what_cannot_be_asked_is_refused():
    other = SklearnGaussianNB().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BayeskitError, match=r"value_of_information needs a model that gives P\(x, c\)"):
        value_of_information(other, [None])
    with pytest.raises(BayeskitError, match="feature_relevance needs a model"):
        feature_relevance(other)
    with pytest.raises(BayeskitError, match="is about one row"):
        value_of_information(MODEL, {}, np.zeros((3, 2, 2)))
    without = NaiveBayes(smoothing=0).fit({"x": ["a", "b"], "z": ["u", "v"]}, ["A", "B"])
    with pytest.raises(BayeskitError, match="this row has probability 0 under every class"):
        value_of_information(
            without.fit({"x": ["a", "b"], "z": ["u", "v"], "w": [1.0, 2.0]}, ["A", "B"]), {"x": "a", "z": "v"}
        )
