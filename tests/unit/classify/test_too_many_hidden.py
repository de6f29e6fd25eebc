"""A row whose missing cells are too many to be summed out is named, and the others are answered as ever."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.classify.network_classifier import NetworkClassifier
from bayeskit.errors import BayeskitWarning

# Seven columns of 16 values, and a child of each two of them: without the seven, all of them meet in one table.
WIDE = [f"w{j}" for j in range(7)]
PAIRS = {f"c{i}{j}": (f"w{i}", f"w{j}") for i, j in combinations(range(7), 2)}
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def model():
    arcs = [("y", "w0"), ("y", "alone"), *((parent, child) for child, both in PAIRS.items() for parent in both)]
    states = {"y": ["a", "b"], "alone": ["0", "1"], **{w: [str(v) for v in range(16)] for w in WIDE}}
    states |= {child: ["0", "1"] for child in PAIRS}
    net = BayesianNetwork(arcs, states=states, random_tables=3)
    return NetworkClassifier.from_network(net, "y")


@pytest.fixture(scope="module")
def rows(model):
    table = {
        name: RNG.choice([str(v) for v in range(16 if name in WIDE else 2)], 5).astype(object)
        for name in model.schema_.names
    }
    for name in WIDE:
        table[name][[1, 3]] = None
    table["w0"][2] = None
    return table


def picked(rows, which):
    return {name: column[which] for name, column in rows.items()}


def test_the_other_rows_have_the_answers_that_they_have_alone(model, rows):
    good = [0, 2, 4]
    with pytest.warns(BayeskitWarning, match="rows 1, 3: summing out the missing cells needs too large a table"):
        posterior = model.predict_proba(rows)
    assert_array_equal(posterior[good], model.predict_proba(picked(rows, good)))


def test_such_a_row_is_answered_from_the_features_whose_parents_are_known(model, rows):
    with pytest.warns(BayeskitWarning, match="row 0: "):
        found = model.predict_proba(picked(rows, [1]))
    only = {name: np.array([rows[name][1] if name == "alone" else None], dtype=object) for name in rows}
    assert_allclose(found, model.predict_proba(only), rtol=1e-12)


def test_the_probability_of_such_a_row_is_not_a_number(model, rows):
    with pytest.warns(BayeskitWarning, match="NaN"):
        log_evidence = model.score_samples(rows)
    assert np.isnan(log_evidence).tolist() == [False, True, False, True, False]
