"""Bayes optimal and Gibbs classifiers over classifiers, conjunctions and functions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bayeskit
from bayeskit import (
    AODE,
    TAN,
    BayesOptimalClassifier,
    BruteForceMAP,
    GibbsClassifier,
    Hypotheses,
    NaiveBayes,
    datasets,
)
from bayeskit.concept import ConjunctionSpace, Values
from bayeskit.concept.folds import stratified_folds
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, ModelFileError


class Says:
    """A fitted classifier that gives every row the same probabilities."""

    def __init__(self, **proba):
        self.classes_ = np.array(sorted(proba))
        self.proba = [proba[label] for label in sorted(proba)]

    def predict_proba(self, X):
        return np.tile(self.proba, (len(X), 1))


def numbers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    return X, np.where(X[:, 0] + rng.normal(size=80) > 0, "b", "a")


def test_optimal_answers_minus_where_the_map_says_plus():
    # Mitchell (1997), section 6.7: posteriors .4, .3, .3; h1 says +, the others −. One held-out label that all three
    # allow alike leaves the prior as it is.
    says = [Says(minus=0.0, plus=1.0), Says(minus=1.0, plus=0.0), Says(minus=1.0, plus=0.0)]
    model = BayesOptimalClassifier(says, prior=[0.4, 0.3, 0.3], prefit=True, noise=0.999999999)
    model.fit([[0.0]], ["plus"])
    assert_allclose(model.posterior_, [0.4, 0.3, 0.3], rtol=1e-6)
    model._state.set.noise = 0.0
    assert_allclose(model.predict_proba([[0.0]]), [[0.6, 0.4]], rtol=1e-6)
    assert model.predict([[0.0]]).tolist() == ["minus"]
    by_functions = Hypotheses({"h1": lambda x: "+", "h2": lambda x: "-", "h3": lambda x: "-"}, prior=[0.4, 0.3, 0.3])
    assert by_functions.map() == "h1"
    assert by_functions.predict({}) == "-"


def test_posteriors_are_prior_times_held_out_likelihood():
    X, y = numbers()
    held = slice(40, 80)
    models = [LogisticRegression().fit(X[:40], y[:40]), NaiveBayes().fit(X[:40], y[:40])]
    model = BayesOptimalClassifier(models, prior=[0.7, 0.3], prefit=True).fit(X[held], y[held])
    columns = np.searchsorted(["a", "b"], y[held])
    log_p = [m.predict_log_proba(X[held])[np.arange(40), columns].sum() for m in models]
    assert_allclose(model.log_likelihood_, log_p, rtol=1e-12)
    joint = np.array([0.7, 0.3]) * np.exp(np.array(log_p) - max(log_p))
    assert_allclose(model.posterior_, joint / joint.sum(), rtol=1e-12)
    mixed = sum(p * m.predict_proba(X) for p, m in zip(model.posterior_, models, strict=True))
    assert_allclose(model.predict_proba(X), mixed, rtol=1e-12)
    assert model.hypothesis_names_ == ("LogisticRegression", "NaiveBayes")


def test_classifiers_that_are_not_fitted_are_weighed_in_folds():
    X, y = numbers()
    models = [LogisticRegression(), NaiveBayes()]
    model = BayesOptimalClassifier(models, cv=4).fit(X, y)
    codes = np.searchsorted(["a", "b"], y)
    expected = np.zeros(2)
    for train, test in stratified_folds(codes, 4, None):
        for k, m in enumerate([LogisticRegression(), NaiveBayes()]):
            m.fit(X[train], y[train])
            expected[k] += m.predict_log_proba(X[test])[np.arange(len(test)), codes[test]].sum()
    assert_allclose(model.log_likelihood_, expected, rtol=1e-12)
    assert not hasattr(models[0], "classes_")


def test_folds_hold_out_every_row_of_a_class_once_and_never_all_of_it():
    y = np.array([0, 1, 1, 2, 2, 2, 2, 2, 2, 2])
    for rng in (None, np.random.RandomState(0)):
        held = []
        for train, test in stratified_folds(y, 3, rng):
            assert set(y[train]) == {0, 1, 2}
            assert set(train).isdisjoint(test)
            held.extend(test.tolist())
        assert sorted(held) == list(range(1, 10))


def test_over_all_conjunctions_it_is_the_sum_over_the_list():
    days = datasets.load_enjoy_sport()
    for positive in ("yes", "no"):
        learner = BruteForceMAP(noise=0.1, positive=positive)
        model = BayesOptimalClassifier(learner).fit(days, target="enjoy")
        assert model.classes_.tolist() == ["no", "yes"]
        brute = BruteForceMAP(noise=0.1, positive=positive).fit(days, target="enjoy")
        concept = brute.optimal_proba(days)[:, 1]
        column = model.classes_.tolist().index(positive)
        assert_allclose(model.predict_proba(days)[:, column], concept, rtol=1e-12)
        assert "⟨" in repr(model.votes({name: column[0] for name, column in days.items()}))


def test_the_gibbs_classifier_answers_as_the_hypothesis_it_drew():
    X, y = numbers()
    models = [LogisticRegression().fit(X[:40], y[:40]), NaiveBayes().fit(X[:40], y[:40])]
    drawn = []
    for seed in range(200):
        model = GibbsClassifier(models, prefit=True, random_state=seed).fit(X[40:], y[40:])
        drawn.append(model.sampled_)
        assert_array_equal(model.predict(X), models[model.sampled_].predict(X))
    p = model.posterior_[1]
    assert abs(np.mean(drawn) - p) <= 4 * np.sqrt(p * (1 - p) / 200)


def test_the_gibbs_error_is_at_most_twice_the_optimal_when_targets_come_from_the_prior():
    # Haussler, Kearns & Schapire (1994). Targets are drawn from the prior, examples at random; errors over all rows.
    attributes = {name: Values(["0", "1"]) for name in "abcd"}
    space = ConjunctionSpace(attributes)
    cells = np.array(np.meshgrid(*[["0", "1"]] * 4)).reshape(4, -1).T
    every = {name: cells[:, j].tolist() for j, name in enumerate(attributes)}
    rng = np.random.default_rng(0)
    optimal, gibbs = [], []
    for trial in range(400):
        target = space.conjunction(int(rng.integers(space.size)))
        truth = np.array([target.covers(row) for row in cells])
        rows = rng.integers(0, 16, 4)
        some = {name: [column[i] for i in rows] for name, column in every.items()}
        learner = BruteForceMAP(attributes=attributes, positive=True).fit(some, truth[rows])
        for kind, errors in ((BayesOptimalClassifier, optimal), (GibbsClassifier, gibbs)):
            model = kind(learner, prefit=True, random_state=trial).fit(some, truth[rows])
            said = model.predict_proba(every)[:, model.classes_.tolist().index(True)] > 0.5
            errors.append(np.mean(said != truth))
    slack = 2 * np.array(optimal) - np.array(gibbs)
    standard_error = slack.std(ddof=1) / np.sqrt(len(slack))
    assert slack.mean() > -2 * standard_error
    assert np.mean(gibbs) > np.mean(optimal) > 0.05


def test_a_held_out_part_may_lack_classes_that_the_classifiers_know():
    known = Says(absent=0.25, b=0.75)
    model = BayesOptimalClassifier([known], prefit=True).fit([[0.0], [1.0]], ["b", "b"])
    assert model.classes_.tolist() == ["absent", "b"]
    assert_allclose(model.predict_proba([[0.0]]), [[0.25, 0.75]], rtol=1e-12)
    noisy = BayesOptimalClassifier([known], prefit=True, noise=0.1).fit([[0.0]], ["b"])
    assert_allclose(noisy.log_likelihood_, [np.log(0.9 * 0.75 + 0.05)], rtol=1e-12)


def test_tags_are_those_that_all_hypotheses_have():
    from sklearn.utils import get_tags

    assert get_tags(BayesOptimalClassifier([NaiveBayes(), TAN()])).input_tags.allow_nan
    assert not get_tags(BayesOptimalClassifier([NaiveBayes(), ("line", LogisticRegression())])).input_tags.allow_nan


def test_votes_show_each_hypothesis():
    tennis = datasets.load_tennis()
    model = BayesOptimalClassifier([("naive", NaiveBayes()), ("tree", TAN())]).fit(tennis, target="play")
    row = {name: column[0] for name, column in tennis.items() if name != "play"}
    votes = model.votes(row)
    assert sorted(votes.names) == ["naive", "tree"]
    assert_allclose(votes.total, model.predict_proba({n: [v] for n, v in row.items()})[0], rtol=1e-12)
    assert "together" in repr(votes)


def test_functions_of_a_row_are_hypotheses_too():
    says = {"warm": lambda row: "yes" if row["air_temp"] == "warm" else "no", "always": lambda row: "yes"}
    noisy = {
        name: (lambda row, f=f: {label: 0.9 if label == f(row) else 0.1 for label in ("yes", "no")})
        for name, f in says.items()
    }
    days = datasets.load_enjoy_sport()
    model = BayesOptimalClassifier(Hypotheses(noisy)).fit(days, target="enjoy")
    assert_allclose(model.posterior_, [0.9, 0.1], rtol=1e-12)
    assert model.predict(days).tolist() == days["enjoy"]
    assert GibbsClassifier(Hypotheses(noisy), random_state=1).fit(days, target="enjoy").sampled_ in (0, 1)


def test_a_classifier_that_rules_out_a_label_is_ruled_out():
    X, y = [[0.0], [1.0]], ["a", "b"]
    sure, unsure = Says(a=1.0, b=0.0), Says(a=0.5, b=0.5)
    assert_array_equal(BayesOptimalClassifier([sure, unsure], prefit=True).fit(X, y).posterior_, [0.0, 1.0])
    with pytest.raises(ImpossibleEvidenceError, match="no hypothesis is left: each of 'Says'"):
        BayesOptimalClassifier([sure], prefit=True).fit(X, y)
    assert BayesOptimalClassifier([sure], prefit=True, noise=0.1).fit(X, y).posterior_ == [1.0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hypotheses": []}, "give at least one classifier"),
        ({"hypotheses": [LinearSVC()]}, "a classifier with predict_proba; 'LinearSVC'"),
        ({"hypotheses": [("a", TAN()), ("a", AODE())]}, "the name 'a' appears twice"),
        ({"hypotheses": [TAN(), AODE()], "prior": [0.5, 0.4]}, "the prior sums to 0.9"),
        ({"cv": 1}, "'cv' parameter of BayesOptimalClassifier must be"),
        ({"noise": 1.0}, "'noise' parameter of BayesOptimalClassifier must be"),
        ({"prefit": "yes"}, "'prefit' parameter of BayesOptimalClassifier must be"),
    ],
)
def test_bad_input_is_refused(parameters, message):
    with pytest.raises(BayeskitError, match=message):
        BayesOptimalClassifier(**parameters).fit(*numbers())


def test_only_models_with_a_safe_file_are_saved(tmp_path):
    X, y = numbers()
    model = BayesOptimalClassifier([NaiveBayes(), DecisionTreeClassifier(max_depth=2)], noise=0.01).fit(X, y)
    with pytest.raises(ModelFileError, match="DecisionTreeClassifier, which cannot be saved in a model file"):
        model.save(tmp_path / "model.bayes")
    conjunctions = BayesOptimalClassifier(BruteForceMAP()).fit(datasets.load_enjoy_sport(), target="enjoy")
    with pytest.raises(ModelFileError, match="conjunctions and functions cannot be saved"):
        conjunctions.save(tmp_path / "model.bayes")


def test_a_file_of_hypotheses_that_make_no_sense_is_refused(tmp_path):
    from bayeskit.io import container

    X, y = numbers()
    meta, arrays = GibbsClassifier([NaiveBayes(), TAN()], random_state=0).fit(X, y)._to_parts()
    for change, message in [
        (lambda m, a: m.update(sampled=7), "sampled hypothesis must have a number below 2"),
        (lambda m, a: a.update(posterior=np.array([0.5, 0.6])), "the posterior is not a distribution"),
        (lambda m, a: m["members"][0].update(model="os.system"), "is not a model that this bayeskit knows"),
        (lambda m, a: m.update(members=[]), "classifiers with unique names"),
    ]:
        bad_meta = {**meta, "members": [dict(item) for item in meta["members"]]}
        bad_arrays = dict(arrays)
        change(bad_meta, bad_arrays)
        container.write(tmp_path / "bad.bayes", "GibbsClassifier", bad_meta, bad_arrays)
        with pytest.raises(ModelFileError, match=message):
            bayeskit.load(tmp_path / "bad.bayes")


def test_posteriors_of_classifiers_and_conjunctions_are_drawn():
    X, y = numbers()
    model = BayesOptimalClassifier([("line", LogisticRegression()), ("bayes", NaiveBayes())]).fit(X, y)
    order = np.argsort(-model.posterior_)
    ax = model.plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == [model.hypothesis_names_[k] for k in order]
    assert_allclose([bar.get_height() for bar in ax.patches], model.posterior_[order], rtol=1e-12)
    brute = BruteForceMAP(noise=0.1).fit(datasets.load_enjoy_sport(), target="enjoy")
    best = brute.most_probable(4)
    ax = brute.plot(4)
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(h) for h, _, _ in best] * 2
    heights = [1 / brute.n_hypotheses_] * 4 + [posterior for _, posterior, _ in best]
    assert_allclose([bar.get_height() for bar in ax.patches], heights, rtol=1e-9)
