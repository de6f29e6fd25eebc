"""AutoBayes with a prior of its own, and with weights of classes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AutoBayes, datasets, load, scan
from bayeskit.errors import BayeskitError


def heart() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.DataFrame(datasets.load_heart())
    return table.drop(columns="disease"), table["disease"].to_numpy(dtype=object)


def weights(y, *numbers):
    return dict(zip(np.unique(y).tolist(), numbers, strict=True))


def shifted(posterior, factor):
    odds = posterior * factor
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_a_prior_and_a_weight_multiply_the_odds(effort):
    X, y = heart()
    hide = np.zeros((len(X), X.shape[1]), dtype=bool)
    plain = AutoBayes(effort).fit(X, y)
    before = np.exp(plain.log_posterior_hiding(X, hide, floor=False))
    shares = plain.counts_.n_class / len(y)
    given = AutoBayes(effort, prior=weights(y, 0.9, 0.1)).fit(X, y)
    found = np.exp(given.log_posterior_hiding(X, hide, floor=False))
    assert_allclose(found, shifted(before, [0.9, 0.1] / shares), rtol=1e-2)  # the learned shares are smoothed
    weighted = AutoBayes(effort, class_weight=weights(y, 3.0, 0.5)).fit(X, y)
    found = np.exp(weighted.log_posterior_hiding(X, hide, floor=False))
    assert_allclose(found, shifted(before, [3.0, 0.5]), rtol=1e-9)
    assert weighted.members_ == plain.members_  # the pool is that of the rows as they are
    assert_array_equal(weighted.counts_.n_class, plain.counts_.n_class)
    assert (weighted.predict_proba(X)[:, 0] > plain.predict_proba(X)[:, 0]).all()


def test_weights_do_not_make_the_pool_too_sure():
    # A row of weight 3 given as sample_weight loses one of three copies, and its copies tell its class.
    X, y = heart()
    weight = weights(y, 3.0, 3.0)
    plain, weighted = AutoBayes("fast").fit(X, y), AutoBayes("fast", class_weight=weight).fit(X, y)
    assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_nothing_known_gives_the_prior_and_the_parts_still_sum_up():
    X, y = heart()
    model = AutoBayes("fast", prior=[0.9, 0.1]).fit(X, y)
    assert_allclose(np.exp(model._beliefs.log_prior), [0.9, 0.1], rtol=1e-12)
    row = X.iloc[0].to_dict()
    parts = model.explain_members(row, tuple(model.classes_))
    posterior = model.predict_proba(X.iloc[[0]])[0]
    assert_allclose(sum(part.log_odds for part in parts), np.log(posterior[0] / posterior[1]), rtol=1e-9)
    uniform = AutoBayes("fast", prior="uniform").fit(X, y)
    balanced = AutoBayes("fast", class_weight="balanced").fit(X, y)
    assert_allclose(balanced.predict_proba(X), uniform.predict_proba(X), rtol=1e-2)


def test_a_class_of_weight_zero_is_never_predicted():
    X, y = heart()
    model = AutoBayes("fast", class_weight=weights(y, 1.0, 0.0)).fit(X, y)
    assert set(model.predict(X)) == {model.classes_[0]}
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_later_rows_and_files_keep_the_weights(tmp_path):
    X, y = heart()
    weight = weights(y, 3.0, 0.5)
    with pytest.warns(match="plan of the model"):
        model = AutoBayes("fast", class_weight=weight).partial_fit(X.iloc[:200], y[:200])
    model.partial_fit(X.iloc[200:], y[200:]).unlearn(X.iloc[200:], y[200:])
    first = AutoBayes("fast", class_weight=weight).fit(X.iloc[:200], y[:200])
    assert_allclose(model.predict_proba(X), first.predict_proba(X), rtol=1e-9)
    model.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(X), model.predict_proba(X))


def test_a_scan_gives_the_model_of_the_table(tmp_path):
    X, y = heart()
    X.assign(disease=y).to_parquet(tmp_path / "heart.parquet")
    ours = AutoBayes("fast", class_weight="balanced").fit(scan(tmp_path / "heart.parquet"), target="disease")
    table = pd.read_parquet(tmp_path / "heart.parquet")
    whole = AutoBayes("fast", class_weight="balanced").fit(table, target="disease")
    assert_allclose(ours.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": {"z": 1.0}}, "class_weight names the class 'z'"),
        ({"class_weight": "even"}, "'class_weight' parameter of AutoBayes must be"),
        ({"prior": "smoothed"}, "'prior' parameter of AutoBayes must be"),
        ({"prior": [1.0]}, "Number of priors must match"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message):
    X, y = heart()
    with pytest.raises(BayeskitError, match=message):
        AutoBayes("fast", **settings).fit(X, y)
