"""What AutoBayes learned from full rows fades as cells are hidden."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AutoBayes, datasets


@pytest.fixture(scope="module")
def penguins():
    table = datasets.load_penguins()
    model = AutoBayes().fit(table, target="species")
    rows = {name: column for name, column in table.items() if name != "species"}
    return model, rows, np.asarray(table["species"])


def test_with_nothing_known_the_answer_is_the_shares_of_the_classes(penguins):
    model, rows, y = penguins
    one = {name: column[:1] for name, column in rows.items()}
    hidden = model.log_posterior_hiding(one, np.ones((1, 7), dtype=bool))
    assert_allclose(np.exp(hidden[0]), [np.mean(y == label) for label in model.classes_], rtol=1e-12)
    explained = model.explain({}, classes=("Adelie", "Gentoo"))
    assert_allclose(explained.prior, np.log(np.sum(y == "Adelie") / np.sum(y == "Gentoo")), rtol=1e-12)


def test_a_prior_of_ones_own_takes_their_place(penguins):
    _, rows, y = penguins
    model = AutoBayes("fast", prior=[0.2, 0.3, 0.5]).fit(rows, y)
    one = {name: column[:1] for name, column in rows.items()}
    hidden = model.log_posterior_hiding(one, np.ones((1, 7), dtype=bool))
    assert_allclose(np.exp(hidden[0]), [0.2, 0.3, 0.5], rtol=1e-12)


def test_hiding_a_column_that_says_nothing_changes_nothing(penguins):
    _, rows, y = penguins
    model = AutoBayes("fast").fit({**rows, "planet": ["Earth"] * len(y)}, y)
    some = {**{name: column[:40] for name, column in rows.items()}, "planet": ["Earth"] * 40}
    seen, hidden = (model.log_posterior_hiding(some, np.tile(np.arange(8) == j, (40, 1))) for j in (-1, 7))
    assert_allclose(hidden, seen, rtol=1e-12, atol=1e-12)


def test_full_rows_are_those_of_the_pool_alone(penguins):
    model, rows, _ = penguins
    complete = np.flatnonzero(
        [all(cell == cell and cell is not None for cell in row) for row in zip(*rows.values(), strict=True)]
    )
    some = {name: [column[i] for i in complete[:50]] for name, column in rows.items()}
    beliefs, columns = model._beliefs, model._encode(some)
    codes = beliefs.codes(columns)
    assert_array_equal(beliefs.known(codes), np.ones(50))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_hidden_cells_never_make_it_worse_than_the_class_shares(share):
    # One table with rules, one with mixed columns: with today's weights for full rows, both were far above the shares.
    for load, target in ((datasets.load_penguins, "species"), (datasets.load_heart, "disease")):
        table = load()
        y = np.asarray(table[target])
        rows = {name: np.asarray(column, dtype=object) for name, column in table.items() if name != target}
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: len(y) * 2 // 3], order[len(y) * 2 // 3 :]
        model = AutoBayes("fast").fit({name: column[train].tolist() for name, column in rows.items()}, y[train])
        hidden = np.random.default_rng(1).random((len(test), len(rows))) < share
        log_p = model.log_posterior_hiding({name: column[test].tolist() for name, column in rows.items()}, hidden)
        place = np.searchsorted(model.classes_, y[test])
        shares = np.array([np.mean(y[train] == label) for label in model.classes_])
        assert -log_p[np.arange(len(test)), place].mean() < -np.log(shares[place]).mean() + 0.005


def test_the_parts_of_members_sum_to_the_log_odds_with_hidden_cells(penguins):
    model, _, _ = penguins
    known = {"island": "Biscoe", "bill_length_mm": 46.0, "sex": "male"}
    parts = model.explain_members(known, classes=("Gentoo", "Adelie"))
    log_p = np.log(model.explain(known, classes=("Gentoo", "Adelie")).probability)
    other = np.log(model.explain(known, classes=("Adelie", "Gentoo")).probability)
    assert_allclose(sum(part.log_odds for part in parts), log_p - other, rtol=1e-9)
    networks = parts[0]
    assert_allclose(networks.terms.sum() + networks.rest, networks.log_odds, rtol=1e-9)
    assert (networks.terms[[2, 3, 4, 6]] == 0).all()
