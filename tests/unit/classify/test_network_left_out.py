"""Networks and neighbours: each row predicted without itself, and classes with weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from bayeskit import TAN, BayesianNetwork, KNeighbors, MEstimate, NetworkClassifier, load
from bayeskit.datasets import load_asia, load_heart
from bayeskit.errors import BayeskitError, TableError


def cases(missing=0.0, n=40):
    rng = np.random.default_rng(1)
    table = load_asia().sample(n, random_state=0)
    return {
        name: [None if name not in ("lung", "either") and rng.random() < missing else cell for cell in cells]
        for name, cells in table.items()
    }


def without(table, i):
    return {name: [cell for k, cell in enumerate(cells) if k != i] for name, cells in table.items()}


@pytest.mark.parametrize("smoothing", [1.0, MEstimate(2), 0.1])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("target", ["lung", "either", "dysp"])
def test_leaving_a_row_out_of_a_given_network_is_a_fit_without_it(target, missing, smoothing):
    table = cases(0.0 if target == "dysp" else missing)
    model = NetworkClassifier(load_asia(), target, smoothing=smoothing).fit(table)
    found = np.exp(model.leave_one_out(table).log_posterior)
    for i in range(0, 40, 3):
        rest = NetworkClassifier(load_asia(), target, smoothing=smoothing).fit(without(table, i))
        row = {name: [cells[i]] for name, cells in table.items() if name != target}
        assert_allclose(found[i], rest.predict_proba(row)[0], rtol=1e-9)


def test_a_tree_with_a_class_leaves_rows_out_as_tan_does():
    heart = load_heart()
    tan = TAN(smoothing=0.5).fit(heart, target="disease")
    net = NetworkClassifier(tan.to_network(), smoothing=0.5).fit(heart)
    assert_allclose(
        net.leave_one_out(heart).log_posterior,
        tan.leave_one_out(heart, target="disease").log_posterior,
        rtol=1e-9,
        atol=1e-12,
    )


def test_rows_with_weights_lose_one_copy_and_the_labels_may_come_apart():
    table, weight = cases(0.1), np.tile([1.0, 2.0, 0.5, 3.0], 10)
    X = {name: cells for name, cells in table.items() if name != "lung"}
    model = NetworkClassifier(load_asia(), "lung").fit(X, table["lung"], sample_weight=weight)
    found = np.exp(model.leave_one_out(X, table["lung"], weight).log_posterior)
    for i in (0, 1, 2, 3):
        rest = weight.copy()
        rest[i] -= min(1.0, rest[i])
        again = NetworkClassifier(load_asia(), "lung").fit(X, table["lung"], sample_weight=rest)
        assert_allclose(found[i], again.predict_proba({n: [c[i]] for n, c in X.items()})[0], rtol=1e-9)


def test_the_weight_of_a_class_is_the_weight_of_its_rows(tmp_path):
    table, weight = cases(0.1, 200), {"yes": 4.0, "no": 0.5}
    weighted = NetworkClassifier(load_asia(), "lung", class_weight=weight).fit(table)
    by_rows = NetworkClassifier(load_asia(), "lung").fit(table, sample_weight=[weight[c] for c in table["lung"]])
    X = {name: cells for name, cells in table.items() if name != "lung"}
    assert_allclose(weighted.predict_proba(X), by_rows.predict_proba(X), rtol=1e-12)
    weighted.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(X), weighted.predict_proba(X))
    with pytest.raises(BayeskitError, match="fit without class_weight"):
        weighted.leave_one_out(table)
    with pytest.raises(BayeskitError, match="class_weight names the class 'z'"):
        NetworkClassifier(load_asia(), "lung", class_weight={"z": 1.0}).fit(table)


def test_given_tables_and_labels_that_are_not_there_are_refused():
    net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
    with pytest.raises(BayeskitError, match="no row to leave out"):
        NetworkClassifier.from_network(net, "rain").leave_one_out({"wet": ["yes"], "rain": ["yes"]})
    X = {"wet": ["yes", "no"]}
    with pytest.raises(TableError, match="pass y, or target"):
        NetworkClassifier("tabu").fit(X, ["a", "b"]).leave_one_out(X)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_leave_each_row_out_as_scikit_learn_does(weights):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)), rng.integers(0, 3, 60)
    X[:2] = [[0.0] * 3, [1.0] * 3]  # so that all ranges are 1, with or without a row
    peer = KNeighborsClassifier(weights=weights)
    expected = cross_val_predict(peer, X, y, cv=LeaveOneOut(), method="predict_proba")
    found = KNeighbors(weights=weights).fit(X, y).leave_one_out()
    assert_allclose(np.exp(found.log_posterior), expected, rtol=1e-9, atol=1e-12)
