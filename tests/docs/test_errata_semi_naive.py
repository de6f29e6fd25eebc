"""The right form of each formula that docs/theory/semi_naive.md lists as often printed wrong; the wrong form fails."""

import numpy as np
from numpy.testing import assert_allclose

from bayeskit import AODE, SPODE, TAN
from bayeskit.datasets import load_tennis
from bayeskit.estimate.information import conditional_mutual_information, mutual_information
from bayeskit.table.discretize import learn_mdl_edges

EXACT = 1e-12


def days():
    table = load_tennis()
    return {name: values for name, values in table.items() if name != "play"}, table["play"]


def test_copies_of_the_class_share_information_but_none_given_the_class():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 5000)
    a, b = (np.where(rng.random(5000) < 0.95, y, 1 - y) for _ in range(2))
    u = rng.integers(0, 2, 5000)
    v = np.where(rng.random(5000) < 0.7, u, 1 - u)  # depends on u, whatever the class
    X = np.column_stack([a, b, u, v])
    tree = TAN(kinds="categorical").fit(X, y)
    given, plain = tree.information_, np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            plain[i, j] = mutual_information(tree.counts_.table((i, j)).sum(axis=2))
    assert given[2, 3] > 10 * given[0, 1]
    assert plain[1, 0] > plain[3, 2]  # the wrong weight prefers the copies
    assert frozenset(("x2", "x3")) in {frozenset(edge) for edge in tree.structure_.arcs}


def test_information_weighs_a_class_by_its_rows():
    rare, common = np.array([[1, 0], [0, 1]]), np.array([[49, 49], [49, 49]])
    counts = np.stack([rare, common], axis=2)
    assert_allclose(conditional_mutual_information(counts), 2 / 198 * np.log(2), rtol=EXACT)
    unweighted = mutual_information(rare) + mutual_information(common)
    assert unweighted > 90 * conditional_mutual_information(counts)


def test_a_super_parent_qualifies_by_its_value_alone():
    X, y = days()  # overcast: 4 rows, all of class yes
    row = {name: ["overcast" if name == "outlook" else values[0]] for name, values in X.items()}
    model = AODE(min_rows=4, smoothing=1).fit(X, y)
    enough = [name for name in X if X[name].count(row[name][0]) >= 4]
    spodes = [SPODE(name, smoothing=1).fit(X, y) for name in enough]
    terms = [np.exp(spode.predict_joint_log_proba(row)[0]) for spode in spodes]
    assert_allclose(np.exp(model.predict_joint_log_proba(row)[0]), np.mean(terms, axis=0), rtol=1e-10)
    assert len(terms) == 4  # though class no has no overcast day


def test_the_childs_values_stand_in_the_denominator():
    X, y = days()  # outlook has 3 values, wind has 2
    network = SPODE("outlook", smoothing=1).fit(X, y).to_network()
    table = network.tables[network.index("wind")]
    assert_allclose(table.sum(axis=-1), 1.0, rtol=EXACT)
    n = SPODE("outlook").fit(X, y).counts_.table((0, 3)).astype(float)  # outlook, wind, class
    right = (n + 1) / (n.sum(axis=1, keepdims=True) + 2)
    wrong = (n + 1) / (n.sum(axis=1, keepdims=True) + 3)
    assert_allclose(np.moveaxis(table, 0, -1), right, rtol=EXACT)
    assert (np.abs(wrong.sum(axis=1) - 1) > 0.05).all()


def test_only_the_classes_that_are_present_are_paid_for():
    # Two classes part in the middle; fifteen others exist elsewhere and do not show here.
    x = np.arange(24.0)
    y = np.array([0] * 12 + [1] * 12)
    assert learn_mdl_edges([x], y, 17) == learn_mdl_edges([x], y, 2) == [(11.5,)]
    with_all = (np.log2(23) + np.log2(3.0**17 - 2) - 17 * 1.0) / 24
    assert with_all > 1 / 3 + (np.log2(23) + np.log2(3.0**2 - 2) - 2 * 1.0) / 24
