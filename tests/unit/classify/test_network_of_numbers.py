"""`NetworkClassifier(numeric="gaussian")`: a conditional Gaussian network with the class, learned and asked exactly."""

import pickle
from itertools import product

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

import bayeskit
from bayeskit import GaussianBayes, NetworkClassifier, learn_structure, value_of_information
from bayeskit.datasets import load_penguins
from bayeskit.errors import BayeskitError, MergeError, ModelFileError, NetworkError, TableError


def people(n_rows=400, seed=0, hidden=0.0):
    """Sex and work, which both move height; weight follows height; the class is made from sex."""
    rng = np.random.default_rng(seed)
    sex, work = rng.integers(0, 2, n_rows), rng.integers(0, 3, n_rows)
    y = np.where(rng.random(n_rows) < 0.8, sex, rng.integers(0, 3, n_rows))
    height = 165 + 10 * y + 2.0 * work + rng.normal(0, 5, n_rows)
    weight = -90 + 0.9 * height + np.array([3.0, 6.0, 9.0])[y] * rng.normal(0, 1, n_rows)
    columns = {
        "sex": np.array(["f", "m"], dtype=object)[sex], "work": np.array(["a", "b", "c"], dtype=object)[work],
        "height": height, "weight": weight,
    }  # fmt: skip
    for name, column in columns.items():
        gone = rng.random(n_rows) < hidden
        columns[name] = np.where(gone, np.nan, column) if column.dtype.kind == "f" else np.where(gone, None, column)
    return columns, np.array(["low", "middle", "top"])[y]


def part(table, rows):
    return {name: column[rows] for name, column in table.items()}


def by_brute_force(net, row, states_of_class):
    """log P(x, c) of one row: a sum over the states of missing categories, an integral over missing numbers.

    Given all categories, the numbers are jointly normal; mean and covariance are built arc by arc.
    """
    discrete = [v for v in range(len(net.names)) if net.cards[v]]
    real = [v for v in range(len(net.names)) if not net.cards[v]]
    out = []
    for label in states_of_class:
        known = {**row, net.target: label}
        choices = [[s for s in net.states[v] if known.get(net.names[v]) in (None, s)] for v in discrete]
        total = 0.0
        for states in product(*choices):
            at = {net.names[v]: s for v, s in zip(discrete, states, strict=True)}
            code = {v: net.states[v].index(state) for v, state in zip(discrete, states, strict=True)}
            p = np.prod([net.cpds[v].values[tuple(code[u] for u in (*net.parents[v], v))] for v in discrete])
            total += p * density(net, real, at, known)
        out.append(np.log(total))
    return out


def density(net, real, at, known):
    linear, mean, done = {}, {}, []
    while len(done) < len(real):
        for v in real:
            if v in done or any(p in real and p not in done for p in net.parents[v]):
                continue
            cpd, above = net.cpds[v], net.parents[v]
            place = tuple(net.states[above[k]].index(at[net.names[above[k]]]) for k in cpd.discrete)
            d = int(np.ravel_multi_index(place, [cpd.cards[k] for k in cpd.discrete])) if place else 0
            row = np.zeros(len(real))
            row[real.index(v)] = cpd.sd[d]
            mean[v] = cpd.intercept[d]
            for k, b in zip(cpd.real, cpd.slope[d], strict=True):
                row = row + b * linear[above[k]]
                mean[v] += b * mean[above[k]]
            linear[v] = row
            done.append(v)
    seen = [v for v in real if known.get(net.names[v]) is not None]
    if not seen:
        return 1.0
    a = np.array([linear[v] for v in seen])
    return multivariate_normal([mean[v] for v in seen], a @ a.T).pdf([known[net.names[v]] for v in seen])


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_scores_are_those_of_brute_force_whatever_is_missing(hidden):
    table, y = people()
    model = NetworkClassifier(numeric="gaussian").fit(table, y)
    asked, _ = people(12, seed=1, hidden=hidden)
    rows = [
        {name: None if v is None or v != v else v for name, v in zip(asked, cells, strict=True)}
        for cells in zip(*asked.values(), strict=True)
    ]
    expected = np.array([by_brute_force(model.network_, row, model.classes_) for row in rows])
    assert_allclose(model.predict_joint_log_proba(asked), expected, rtol=1e-10)
    assert_allclose(model.score_samples(asked), np.logaddexp.reduce(expected, axis=1), rtol=1e-10)
    posterior = np.exp(expected - np.logaddexp.reduce(expected, axis=1, keepdims=True))
    assert_allclose(model.predict_proba(asked), posterior, rtol=1e-9)
    assert (model.predict(asked) == model.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.parametrize("hidden", [0.0, 0.1])
@pytest.mark.parametrize("method", ["exact", "hill-climb", "pc"])
@pytest.mark.filterwarnings("ignore:.*missing cell:bayeskit.errors.BayeskitWarning")
def test_it_learns_what_learn_structure_learns(method, hidden):
    table, y = people(hidden=hidden)
    model = NetworkClassifier(method, numeric="gaussian", smoothing=0.5).fit({**table, "wage": y}, target="wage")
    found = learn_structure({**table, "wage": y}, method, numeric="gaussian", smoothing=0.5).network
    assert set(model.network_.arcs) == set(found.arcs)
    assert model.network_.target == "wage"
    assert model.n_parameters_ == found.n_parameters
    assert_allclose(model.predict_proba(table), found.predict_proba(table, "wage"), rtol=1e-9, atol=1e-14)
    assert_allclose(np.log(model.class_prior_), np.log(found.posterior("wage").array), rtol=1e-12)


def test_with_arcs_among_all_numbers_it_is_the_quadratic_discriminant():
    table = load_penguins()
    rows = np.flatnonzero([v is not None for v in table["bill_depth_mm"]])
    x = {name: np.array(table[name], dtype=float)[rows] for name in ("bill_length_mm", "bill_depth_mm", "body_mass_g")}
    y = np.array(table["species"])[rows]
    names = ["class", *x]
    arcs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    model = NetworkClassifier("exact", numeric="gaussian", smoothing=0, options={"whitelist": arcs}).fit(x, y)
    discriminant = GaussianBayes().fit(x, y)
    assert_allclose(model.predict_joint_log_proba(x), discriminant.predict_joint_log_proba(x), rtol=1e-9)
    half = {**x, "bill_length_mm": [np.nan] * len(y)}
    assert_allclose(model.predict_proba(half), discriminant.predict_proba(half), rtol=1e-9, atol=1e-12)


def test_class_weights_move_the_probabilities_and_not_the_structure():
    table, y = people()
    plain = NetworkClassifier(numeric="gaussian", smoothing=0).fit(table, y)
    model = NetworkClassifier(numeric="gaussian", smoothing=0, class_weight="balanced").fit(table, y)
    assert set(plain.network_.arcs) == set(model.network_.arcs)
    n_class = np.bincount(np.searchsorted(plain.classes_, y))
    weight = (len(y) / 3 / n_class)[np.searchsorted(plain.classes_, y)]
    expected = plain.network_.fitted({**table, "class": y}, weight, smoothing=0)
    assert_allclose(model.predict_proba(table), expected.predict_proba(table, "class"), rtol=1e-9)


def test_arrays_weights_and_labels_that_are_numbers():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=300) > 0, 20, 10)
    weight = rng.integers(0, 3, 300)
    model = NetworkClassifier(numeric="gaussian").fit(x, y, sample_weight=weight)
    again = NetworkClassifier(numeric="gaussian").fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
    assert model.classes_.tolist() == [10, 20]
    assert_allclose(model.predict_proba(x), again.predict_proba(x), rtol=1e-9)
    assert model.score(x, y) > 0.8


def test_a_file_and_a_pickle_give_the_same_numbers_to_the_last_bit(tmp_path):
    table, y = people()
    model = NetworkClassifier(numeric="gaussian").fit(table, y)
    model.save(tmp_path / "m.bayes")
    for again in (bayeskit.load(tmp_path / "m.bayes"), pickle.loads(pickle.dumps(model))):
        assert (again.predict_proba(table) == model.predict_proba(table)).all()
        assert set(again.network_.arcs) == set(model.network_.arcs)
    meta, arrays = model.counts_.to_parts()
    other = GaussianBayes().fit({"z": [1.0, 2.0, 3.0]}, [0, 1, 1]).schema_.to_json()
    with pytest.raises(ModelFileError, match="one over its columns"):
        type(model.counts_).from_parts({**meta, "schema": other}, {**arrays, "missing": np.zeros(1)})


def test_tables_explanations_and_questions():
    table, y = people()
    model = NetworkClassifier(numeric="gaussian").fit(table, y)
    net = model.network_
    found = model.tables_["weight"]
    assert found.rows[0] == "mean"
    assert found.rows[-1] == "sd"
    assert_allclose(found.values[-1], net.cpds[net.index("weight")].sd)
    row = {"height": 190.0, "sex": "m"}
    told = model.explain(row)
    ours = model.predict_proba({name: [row.get(name)] for name in table})[0]
    a, b = (model.classes_.tolist().index(label) for label in told.classes)
    assert told.prior + told.terms.sum() == pytest.approx(np.log(ours[a] / ours[b]), rel=1e-10)
    assert told.used[list(told.features).index("height")]
    assert "height" in str(model.summary())
    gains = {gain.feature: gain for gain in value_of_information(model, {"sex": "m"})}
    assert gains.keys() >= {"height", "weight", "work"}


def test_what_it_does_not_do_is_said():
    table, y = people(60)
    model = NetworkClassifier(numeric="gaussian").fit(table, y)
    for call in (model.partial_fit, model.unlearn, model.leave_one_out):
        with pytest.raises(BayeskitError, match="in one fit"):
            call(table, y)
    with pytest.raises(MergeError, match="in one fit"):
        model.merge(model)
    with pytest.raises(NetworkError, match="with real variables use"):
        NetworkClassifier("ges", numeric="gaussian").fit(table, y)
    with pytest.raises(BayeskitError, match="in memory"):
        NetworkClassifier(numeric="gaussian").fit(bayeskit.scan(pandas.DataFrame({**table, "y": y})), target="y")
    with pytest.raises(NetworkError, match="'height' is real"):
        NetworkClassifier(model.network_, "class").fit(table, y)
    with pytest.raises(TableError, match="infinity"):
        model.predict({**part(table, [0]), "height": [np.inf]})
