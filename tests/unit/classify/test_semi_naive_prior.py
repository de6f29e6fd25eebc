"""The prior and the weights of the classes in classifiers with a structure."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, KDB, ODE, SPODE, TAN, load
from bayeskit.errors import BayeskitError

RNG = np.random.default_rng(2)
N = 80
Y = RNG.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1])
TABLE = {
    f"f{j}": [None if RNG.random() < 0.1 else "uvw"[(ord(c) + RNG.integers(0, 2)) % 3] for c in Y] for j in range(4)
}
WEIGHT = {"a": 0.5, "b": 2.0, "c": 3.0}
GIVEN = {"a": 0.2, "b": 0.3, "c": 0.5}
PRIORS = {"TAN": TAN, "KDB": KDB, "KDB2": lambda **s: KDB(k=2, **s), "ODE": lambda **s: ODE({"f1": "f0"}, **s)}
PRIORS["SPODE"] = lambda **s: SPODE("f2", **s)


@pytest.mark.parametrize("name", PRIORS)
def test_a_given_prior_takes_the_place_of_the_learned_one(name):
    plain, given = PRIORS[name]().fit(TABLE, Y), PRIORS[name](prior=GIVEN).fit(TABLE, Y)
    assert_allclose(given.class_prior_, [0.2, 0.3, 0.5], rtol=1e-15)
    # By Bayes' rule the posterior is that of the learned prior, times new over old prior.
    odds = plain.predict_proba(TABLE) * [0.2, 0.3, 0.5] / plain.class_prior_
    assert_allclose(given.predict_proba(TABLE), odds / odds.sum(axis=1, keepdims=True), rtol=1e-11)
    assert given.n_parameters_ == plain.n_parameters_ - 2
    uniform, data = PRIORS[name](prior="uniform").fit(TABLE, Y), PRIORS[name](prior="data").fit(TABLE, Y)
    assert_allclose(uniform.class_prior_, np.full(3, 1 / 3), rtol=1e-15)
    if name != "SPODE":  # there the rows are those that know the super-parent
        assert_allclose(data.class_prior_, np.unique(Y, return_counts=True)[1] / N, rtol=1e-15)


AVERAGES = {
    "AODE": lambda **s: AODE(min_rows=0, **s),
    "A2DE": lambda **s: AODE(min_rows=0, n_parents=2, **s),
    "AODE, back-off": lambda **s: AODE(min_rows=0, smoothing="back-off", **s),
}


@pytest.mark.parametrize("prior", [GIVEN, "uniform", "data"])
def test_an_average_is_the_mean_of_its_spodes_with_that_prior(prior):
    model = AODE(min_rows=0, prior=prior).fit(TABLE, Y)
    members = [SPODE(name, prior=prior).fit(TABLE, Y).predict_joint_log_proba(TABLE) for name in TABLE]
    assert_allclose(np.exp(model.predict_joint_log_proba(TABLE)), np.exp(members).mean(axis=0), rtol=1e-11)


@pytest.mark.parametrize("prior", [GIVEN, "uniform", "data"])
@pytest.mark.parametrize("name", AVERAGES)
def test_the_networks_of_an_average_have_its_prior(name, prior):
    model = AVERAGES[name](prior=prior).fit(TABLE, Y)
    rows = [{n: TABLE[n][i] for n in TABLE if TABLE[n][i] is not None} for i in range(5)]
    joint = np.exp(model.predict_joint_log_proba(TABLE)[:5])
    networks = model.to_networks()
    for row, expected in zip(rows, joint, strict=True):
        mean = [np.mean([net.probability({**row, "class": label}) for net in networks]) for label in "abc"]
        assert_allclose(mean, expected, rtol=1e-10)
    if not isinstance(prior, str):
        for net in networks:
            assert_allclose(net.posterior("class"), [0.2, 0.3, 0.5], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_a_prior_of_an_average_is_a_weight_of_the_classes(order):
    # Without missing cells and without smoothing P(x | c) does not depend on the weight of class c.
    table = {name: [value or "u" for value in cells] for name, cells in TABLE.items()}
    settings = {"smoothing": 0, "min_rows": 0, "n_parents": order, "impossible": "prior"}
    shares = np.unique(Y, return_counts=True)[1] / N
    weight = dict(zip("abc", np.array([0.2, 0.3, 0.5]) / shares, strict=True))
    given, weighted = AODE(prior=GIVEN, **settings).fit(table, Y), AODE(class_weight=weight, **settings).fit(table, Y)
    assert_allclose(given.predict_proba(table), weighted.predict_proba(table), rtol=1e-11)
    plain = AODE(**settings).fit(table, Y)
    odds = plain.predict_proba(table) * [0.2, 0.3, 0.5] / shares
    assert_allclose(given.predict_proba(table), odds / odds.sum(axis=1, keepdims=True), rtol=1e-11)
    assert_allclose(given.tables_["f0"].values.sum(axis=0), [0.2, 0.3, 0.5], rtol=1e-12)
    assert given.n_parameters_ < plain.n_parameters_


@pytest.mark.parametrize("prior", [GIVEN, "uniform", "data"])
@pytest.mark.parametrize("name", AVERAGES)
def test_leaving_a_row_out_of_an_average_with_a_prior_is_a_fit_without_it(name, prior):
    model = AVERAGES[name](prior=prior).fit(TABLE, Y)
    found = model.leave_one_out(TABLE, Y).log_posterior
    for i in range(0, N, 9):
        rest = AVERAGES[name](prior=prior).from_counts(
            model.counts_ - model.count({n: [c[i]] for n, c in TABLE.items()}, Y[i : i + 1], schema=model.schema_),
            **model.get_params(),
        )
        if "back-off" not in name:  # whose strengths stay those of all rows
            expected = rest.predict_log_proba({n: [c[i]] for n, c in TABLE.items()})[0]
            assert_allclose(found[i], expected, rtol=1e-9)
        assert_allclose(np.exp(found[i]).sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", ["AODE", "A2DE"])
def test_rows_are_drawn_with_the_given_prior(name):
    model = AVERAGES[name](prior={"a": 0.0, "b": 0.0, "c": 1.0}).fit(TABLE, Y)
    drawn = model.sample_columns(4000, np.random.default_rng(0))
    for name, column in zip(TABLE, drawn, strict=True):
        values = list(model.tables_[name].rows)
        rows = {n: values if n == name else [None] * len(values) for n in TABLE}
        shares = np.exp(model.score_samples(rows))
        assert_allclose([np.mean(column == value) for value in values], shares, atol=0.03)


WEIGHTED = {
    "ODE": lambda **s: ODE({"f1": "f0", "f2": "f1"}, **s),
    "SPODE": lambda **s: SPODE("f2", **s),
    "AODE": lambda **s: AODE(min_rows=0, **s),
    "A2DE": lambda **s: AODE(min_rows=0, n_parents=2, **s),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_the_weight_of_a_class_is_the_weight_of_its_rows(name):
    weighted = WEIGHTED[name](class_weight=WEIGHT).fit(TABLE, Y)
    by_rows = WEIGHTED[name]().fit(TABLE, Y, sample_weight=[WEIGHT[label] for label in Y])
    assert_allclose(weighted.predict_proba(TABLE), by_rows.predict_proba(TABLE), rtol=1e-12)
    assert_allclose(weighted.score_samples(TABLE), by_rows.score_samples(TABLE), rtol=1e-12)
    assert_array_equal(weighted.counts_.n_class, np.unique(Y, return_counts=True)[1])  # counts stay as they are


@pytest.mark.parametrize("model", [TAN, KDB, lambda **s: KDB(k=2, **s)])
def test_the_structure_comes_from_the_counts_and_the_tables_from_the_weights(model):
    plain, weighted = model().fit(TABLE, Y), model(class_weight="balanced").fit(TABLE, Y)
    assert weighted.structure_ == plain.structure_
    assert_allclose(weighted.class_prior_, np.full(3, 1 / 3), rtol=1e-12)
    # Of a column with no parent but the class: (n w + λ) / (n_known w + 3 λ) with w = N / (3 n_c).
    root = plain.structure_.names[[len(p) for p in plain.structure_.parents].index(0)]
    values = weighted.tables_[root].rows
    for c, label in enumerate("abc"):
        cells = [v for v, own in zip(TABLE[root], Y, strict=True) if own == label and v is not None]
        w = N / (3 * np.sum(label == Y))
        expected = [(cells.count(v) * w + 0.25) / (len(cells) * w + 0.75) for v in values]
        assert_allclose(weighted.tables_[root].values[:, c], expected, rtol=1e-12)


def test_leaving_rows_out_keeps_a_given_prior_and_refuses_weighted_classes():
    model = TAN(prior=GIVEN).fit(TABLE, Y)
    plain, old = TAN().fit(TABLE, Y).leave_one_out(TABLE, Y), np.unique(Y, return_counts=True)[1] + 0.25
    found = np.exp(model.leave_one_out(TABLE, Y).log_posterior)
    for i, label in enumerate(Y):
        prior = old - (np.array(list("abc")) == label)  # what the learned prior is without the row
        odds = np.exp(plain.log_posterior[i]) * [0.2, 0.3, 0.5] / prior
        assert_allclose(found[i], odds / odds.sum(), rtol=1e-10)
    with pytest.raises(BayeskitError, match="fit without class_weight"):
        TAN(class_weight=WEIGHT).fit(TABLE, Y).leave_one_out(TABLE, Y)


@pytest.mark.parametrize("settings", [{"prior": GIVEN}, {"prior": [0.2, 0.3, 0.5]}, {"class_weight": WEIGHT}])
def test_they_come_back_from_a_file(settings, tmp_path):
    model = TAN(**settings).fit(TABLE, Y)
    model.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(TABLE), model.predict_proba(TABLE))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": {"a": 1.0}}, "prior must name each class once"),
        ({"prior": [0.5, 0.5]}, "Number of priors must match"),
        ({"prior": "even"}, "'prior' parameter of TAN must be"),
        ({"class_weight": {"z": 1.0}}, "class_weight names the class 'z'"),
        ({"class_weight": "even"}, "'class_weight' parameter of TAN must be"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message):
    with pytest.raises(BayeskitError, match=message):
        TAN(**settings).fit(TABLE, Y)
