"""Latent classes: against brute force, against the EM of networks, and on penguins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork, LatentClass, datasets
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError


def survey(n=300, seed=0):
    rng = np.random.default_rng(seed)
    z = (rng.random(n) < 0.6).astype(int)
    yes = np.array([[0.2, 0.3, 0.1], [0.8, 0.7, 0.9]])
    answers = np.where(rng.random((n, 3)) < yes[z], "yes", "no").astype(object)
    answers[rng.random((n, 3)) < 0.1] = None
    return {f"q{j}": answers[:, j].tolist() for j in range(3)}, z


def test_the_end_is_a_maximum_by_brute_force():
    """log P of the known cells, summed over the classes in plain loops, falls wherever a probability is moved."""
    table, _ = survey(120)
    model = LatentClass(2, smoothing=0, tol=1e-13, max_iter=20_000, n_init=2).fit(table)
    names = list(table)

    def log_likelihood(weights, yes):
        total = 0.0
        for i in range(120):
            p = weights.copy()
            for j, name in enumerate(names):
                if table[name][i] is not None:
                    p = p * (yes[j] if table[name][i] == "yes" else 1 - yes[j])
            total += np.log(p.sum())
        return total

    yes = np.array([model.tables_[name][1] for name in names])
    best = log_likelihood(model.weights_, yes)
    assert_allclose(best, model.log_likelihood_, rtol=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(20):
        shift = rng.normal() * 0.01
        weights = model.weights_ + np.array([shift, -shift])
        assert log_likelihood(weights, np.clip(yes + 0.01 * rng.normal(size=yes.shape), 1e-9, 1 - 1e-9)) < best


def test_the_em_of_networks_ends_at_the_same_likelihood():
    table, _ = survey(300)
    model = LatentClass(2, smoothing=1.0, tol=1e-12, max_iter=20_000).fit(table)
    net = BayesianNetwork("z{a|b}->q0{no|yes};z->q1{no|yes};z->q2{no|yes}")
    hidden = {"z": [None] * 300, **table}
    found = net.fitted(hidden, missing="em", smoothing=1.0, n_init=5, tol=1e-12, max_iter=20_000, random_state=0)
    assert_allclose(model.history_.objective[-1], found.history.objective[-1], rtol=1e-9)
    weights = found.tables[found.names.index("z")]
    assert_allclose(np.sort(weights.ravel()), np.sort(model.weights_), atol=1e-4)


def test_species_and_sex_of_penguins_are_found():
    birds = datasets.load_penguins()
    species, _ = birds.pop("species"), birds.pop("year")
    model = LatentClass().fit(birds)
    assert model.n_components_ == 6
    pairs = {}
    for kind, sex, label in zip(species, birds["sex"], model.labels_.tolist(), strict=True):
        if sex is not None:
            pairs.setdefault(label, []).append((kind, sex))
    right = sum(max(own.count(pair) for pair in set(own)) for own in pairs.values())
    assert right >= 325  # of 333 birds whose sex is known
    assert "sex = " in str(model.summary())


def test_drawn_rows_have_the_shares_of_the_model():
    table, _ = survey()
    table["age"] = np.random.default_rng(1).normal(40, 5, 300)
    model = LatentClass(2).fit(table)
    drawn, labels = model.sample(20_000, random_state=0)
    assert set(drawn) == {"q0", "q1", "q2", "age"}
    for c in range(2):
        own = labels == c
        n, weight, yes = own.sum(), model.weights_[c], model.tables_["q1"][1, c]
        mean, deviation = model.tables_["age"][:, c]
        # Four standard errors of a share and of a mean.
        assert abs(own.mean() - weight) < 4 * np.sqrt(weight * (1 - weight) / 20_000)
        assert abs((np.array(drawn["q1"])[own] == "yes").mean() - yes) < 4 * np.sqrt(yes * (1 - yes) / n)
        assert abs(drawn["age"][own].mean() - mean) < 4 * deviation / np.sqrt(n)


def test_an_unseen_value_counts_as_missing():
    table, _ = survey()
    model = LatentClass(2).fit(table)
    asked = {"q0": ["yes"], "q1": ["perhaps"], "q2": ["no"]}
    hidden = {"q0": ["yes"], "q1": [None], "q2": ["no"]}
    assert_allclose(model.predict_proba(asked), model.predict_proba(hidden), rtol=1e-15)


def test_an_explanation_adds_up():
    table, _ = survey()
    model = LatentClass(2).fit(table)
    found = model.explain({"q0": "yes", "q1": "no"})
    log = model.predict_log_proba({"q0": ["yes"], "q1": ["no"], "q2": [None]})[0]
    a, b = found.classes
    assert_allclose(found.log_odds, log[a] - log[b], rtol=1e-9)


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(TableError, match="every column is constant or empty"):
        LatentClass(2).fit({"a": ["x", "x"], "b": [1.0, 1.0]})
    with pytest.raises(TableError, match="column 'n' is poisson; latent classes take"):
        LatentClass(2, kinds={"n": "poisson"}).fit({"n": [1, 2, 3], "a": ["x", "y", "x"]})
    with pytest.raises(BayeskitError, match="only 2 distinct rows"):
        LatentClass(3).fit({"a": ["x", "y", "x", "y"]})
    with pytest.raises(TableError, match="sample_weight is zero in every row"):
        LatentClass(2).fit({"a": ["x", "y"]}, sample_weight=[0, 0])
    with pytest.warns(BayeskitWarning, match="left out: 'b'"):
        LatentClass(1).fit({"a": ["x", "y"], "b": [None, None]})


def test_a_column_with_few_numbers_is_said():
    rng = np.random.default_rng(0)
    table = {"year": rng.integers(2007, 2010, 90).astype(float), "x": rng.normal(size=90)}
    with pytest.warns(BayeskitWarning, match=r"one value of column 'year' throughout.*categorical \(kinds\)"):
        LatentClass(3).fit(table)
    assert LatentClass(2, kinds={"year": "categorical"}).fit(table).tables_["year"].shape == (3, 2)
