from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from bayeskit import AODE, KDB, TAN, NaiveBayes, bayes_risk, datasets
from bayeskit.decide.protocol import as_column
from bayeskit.errors import BayeskitError, BayeskitWarning, TooLargeError

TENNIS = datasets.load_tennis()
LOSS = {"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}}


def brute_force(model, loss):
    """Sum over all x by hand, from the readable tables."""
    names = list(model.tables_)
    risk = right = 0.0
    for values in product(*(model.tables_[name].rows for name in names)):
        joint = np.array(model.class_prior_)
        for name, value in zip(names, values, strict=True):
            joint = joint * [model.tables_[name][value, c] for c in model.classes_]
        risk += (joint @ loss).min()
        right += joint.max()
    return risk, right


@pytest.mark.parametrize("smoothing", [0.5, 1.0])
def test_the_exact_sum_is_the_sum_over_all_x(smoothing):
    model = NaiveBayes(smoothing=smoothing).fit(TENNIS, target="play")
    found = bayes_risk(model, LOSS)
    risk, right = brute_force(model, np.array([[0, 5], [1, 0]]))
    assert found.risk == pytest.approx(risk, rel=1e-12)
    assert found.best_accuracy == pytest.approx(right, rel=1e-12)
    assert (found.method, found.n_rows, found.standard_error) == ("exact", 36, 0.0)


def test_under_0_1_loss_it_is_one_minus_the_best_accuracy():
    found = bayes_risk(NaiveBayes().fit(TENNIS, target="play"))
    assert found.risk == pytest.approx(1 - found.best_accuracy, rel=1e-12)
    assert "best possible accuracy" in str(found)


def test_drawn_rows_agree_with_the_exact_sum_within_their_error():
    model = NaiveBayes().fit(TENNIS, target="play")
    exact, drawn = bayes_risk(model, LOSS), bayes_risk(model, LOSS, method="monte carlo", n_samples=20_000)
    assert abs(drawn.risk - exact.risk) < 4 * drawn.standard_error
    assert 0 < drawn.standard_error < 0.01
    assert drawn == bayes_risk(model, LOSS, method="monte carlo", n_samples=20_000)


def test_two_gaussians_have_the_bayes_error_of_the_textbook():
    # Equal priors and deviations: the error is Φ(−|μ1 − μ2| / 2σ).
    x = np.concatenate([np.linspace(-1, 1, 201), np.linspace(1, 3, 201)])
    model = NaiveBayes(variance="ml").fit(x[:, None], np.repeat([0, 1], 201))
    deviation = x[:201].std()
    found = bayes_risk(model, n_samples=50_000)
    assert found.method == "monte carlo"
    assert abs(found.risk - norm.cdf(-1 / deviation)) < 4 * found.standard_error


def test_every_kind_of_column_can_be_drawn():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.poisson(3, 80), "x": rng.normal(size=80), "b": rng.random(80), "c": ["u", "v"] * 40})
    model = NaiveBayes(kinds={"n": "poisson", "b": "equal-width"}, bins=4).fit(frame, rng.integers(0, 2, 80))
    n_rows = 40_000
    columns = model.sample_columns(n_rows, np.random.default_rng(0))
    hidden = [as_column([None]) for _ in columns]
    for j, (domain, drawn) in enumerate(zip(model.domains(), columns, strict=True)):
        asked = [as_column([None] * len(domain.values)) for _ in columns]
        asked[j] = as_column(domain.values)
        p = np.exp(model.log_joint(asked)).sum(axis=1) * domain.weights / np.exp(model.log_joint(hidden)).sum()
        assert p.sum() == pytest.approx(1, abs=1e-6)
        if domain.exact:
            for value, expected in zip(domain.values, p, strict=True):
                share = np.mean(drawn == value)
                assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / n_rows) + 1e-9
        else:  # a density: its mean and its second moment
            for power in (1, 2):
                moment = np.array(domain.values) ** power
                error = np.sqrt((p @ moment**2 - (p @ moment) ** 2) / n_rows)
                assert abs(np.mean(drawn.astype(float) ** power) - p @ moment) < 4.5 * error
    assert bayes_risk(model, n_samples=200).n_rows == 200


def test_rows_that_are_given_are_averaged_over():
    x, y = np.array([[0.0], [1.0], [4.0], [5.0]]), [0, 0, 1, 1]
    model = SklearnGaussianNB().fit(x, y)
    found = bayes_risk(model, [[0, 1], [9, 0]], x)
    posterior = model.predict_proba(x)
    assert found.risk == pytest.approx((posterior @ [[0, 1], [9, 0]]).min(axis=1).mean(), rel=1e-12)
    assert found.method == "data"


def test_the_size_of_the_sum_is_said_before_it_starts():
    table = np.random.default_rng(0).integers(0, 8, (100, 30))
    model = NaiveBayes(kinds="categorical").fit(table, table[:, 0] % 2)
    with pytest.raises(TooLargeError, match=rf"x takes {8**30} values"):
        bayes_risk(model, method="exact")
    assert bayes_risk(model, n_samples=100).method == "monte carlo"


def test_a_continuous_feature_has_no_exact_sum():
    model = NaiveBayes().fit(np.array([[0.0], [1.0], [2.0]]), [0, 1, 1])
    with pytest.raises(TooLargeError, match="feature 'x0' is continuous"):
        bayes_risk(model, method="exact")


def test_what_cannot_be_asked_is_refused():
    model = SklearnGaussianNB().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BayeskitError, match=r"needs a model that gives P\(x, c\), such as NaiveBayes"):
        bayes_risk(model)
    with pytest.raises(BayeskitError, match="needs a fitted model"):
        bayes_risk(NaiveBayes())
    with pytest.raises(BayeskitError, match="method must be"):
        bayes_risk(model, method="guess")
    with pytest.raises(BayeskitError, match="needs a classifier with predict_proba"):
        bayes_risk(object())


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), AODE(), KDB()])
def test_a_column_that_is_missing_throughout_leaves_the_risk_as_it_is(model):
    y = [0, 0, 1, 1]
    with pytest.warns(BayeskitWarning):
        model.fit({"empty": [None] * 4, "b": ["u", "v", "u", "u"]}, y)
    found = bayes_risk(model)
    without = bayes_risk(type(model)().fit({"b": ["u", "v", "u", "u"]}, y))
    assert (found.method, found.n_rows) == ("exact", 2)
    assert found.risk == pytest.approx(without.risk, rel=1e-12)


@pytest.mark.parametrize("n_samples", [0, -3, 1.5, True])
def test_at_least_one_row_is_drawn(n_samples):
    with pytest.raises(BayeskitError, match="n_samples must be a whole number of at least 1"):
        bayes_risk(NaiveBayes().fit([[0.0], [1.0]], [0, 1]), n_samples=n_samples)


def test_one_sample_is_a_number_of_samples():
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    assert 0.0 <= bayes_risk(model, method="monte carlo", n_samples=1).risk <= 1.0
