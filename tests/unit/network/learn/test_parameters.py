"""Tables from complete rows: counts that add, every estimate, files."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import BayesianNetwork
from bayeskit.errors import MergeError, NetworkError, TableError, UnseenValueError
from bayeskit.estimate.smoothing import Lidstone, MEstimate
from bayeskit.network.learn.pseudo_counts import BDeu, Dirichlet
from tests.networks import public

ROWS = {
    "rain": ["no", "yes", "yes", "no", "yes"],
    "hot": ["no", "no", "yes", "yes", "no"],
    "wet": ["no", "yes", "no", "no", "yes"],
}


def sprinkler():
    return BayesianNetwork("rain->wet<-hot")


def part(rows, where):
    return {name: [column[i] for i in where] for name, column in rows.items()}


def test_fit_returns_a_new_network_and_leaves_the_old_one():
    net = sprinkler()
    fitted = net.fitted(ROWS, smoothing=0)
    assert_array_equal(net.tables[0], [0.5, 0.5])
    assert_allclose(fitted.tables[0], [0.4, 0.6])
    assert net.counts is None
    assert fitted.counts is not None
    assert_array_equal(fitted.counts.table((0, 2, 1))[1, 0], [0, 2])  # rain, not hot: dry, wet


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        (0, [2 / 5, 3 / 5]),
        (1, [3 / 7, 4 / 7]),
        (Lidstone(0.5), [2.5 / 6, 3.5 / 6]),
        (MEstimate(4.0), [4 / 9, 5 / 9]),
        (BDeu(2.0), [3 / 7, 4 / 7]),
        (Dirichlet({"rain": [3.0, 0.0]}), [5 / 8, 3 / 8]),
    ],
)
def test_each_estimate_is_the_posterior_mean_of_its_prior(smoothing, expected):
    assert_allclose(sprinkler().fitted(ROWS, smoothing=smoothing).tables[0], expected, rtol=1e-12)


def test_bdeu_shares_its_sample_size_over_all_cells():
    table = sprinkler().fitted(ROWS, smoothing=BDeu(8.0)).tables[1]  # wet given rain, hot: one more in each of 8 cells
    assert_allclose(table[1, 0], [1 / 4, 3 / 4], rtol=1e-12)


def test_a_configuration_that_no_row_has_is_uniform_without_smoothing():
    fitted = BayesianNetwork("a->b").fitted({"a": ["no", "no"], "b": ["no", "yes"]}, smoothing=0)
    assert_array_equal(fitted.tables[1][1], [0.5, 0.5])


def test_batches_merged_and_unlearned_parts_give_the_counts_of_one_fit():
    whole = sprinkler().fitted(ROWS)
    first, second = part(ROWS, [0, 1]), part(ROWS, [2, 3, 4])
    batches = sprinkler().fitted(first).updated(second)
    merged = sprinkler().fitted(first).merged(sprinkler().fitted(second))
    without = whole.unlearned(second)
    for other in (batches, merged):
        assert_array_equal(other.counts.cells, whole.counts.cells)
        assert other.equals(whole)
    assert_array_equal(without.counts.cells, sprinkler().fitted(first).counts.cells)


def test_a_whole_weight_is_a_repetition_and_no_weight_a_removal():
    weighted = sprinkler().fitted(ROWS, [2, 0, 1, 1, 1])
    assert weighted.equals(sprinkler().fitted(part(ROWS, [0, 0, 2, 3, 4])), tol=1e-12)


def test_a_family_is_counted_in_the_rows_that_know_it():
    rows = {"a": ["no", None, "yes"], "b": ["no", "yes", "yes"]}
    fitted = BayesianNetwork("a->b").fitted(rows, smoothing=0)
    assert_allclose(fitted.tables[0], [0.5, 0.5])
    assert_allclose(fitted.tables[1], np.eye(2))


def test_counts_survive_the_model_file_and_pickle(tmp_path):
    import pickle

    fitted = sprinkler().fitted(ROWS, smoothing=BDeu(2.0))
    fitted.save(tmp_path / "net.bayes")
    for again in (bayeskit.load(tmp_path / "net.bayes"), pickle.loads(pickle.dumps(fitted))):
        assert again.equals(fitted)
        assert again.updated(ROWS).equals(fitted.updated(ROWS))


def test_a_network_without_counts_says_that_it_has_none():
    with pytest.raises(NetworkError, match="needs a network with counts"):
        sprinkler().updated(ROWS)


def test_networks_of_other_structure_do_not_merge():
    with pytest.raises(MergeError, match="differ in variables, states or parents"):
        sprinkler().fitted(ROWS).merged(BayesianNetwork("rain->wet->hot").fitted(ROWS))


def test_bad_rows_are_refused_by_name():
    with pytest.raises(UnseenValueError, match="'maybe' is not a state"):
        sprinkler().fitted({**ROWS, "wet": ["maybe"] * 5})
    with pytest.raises(TableError, match="no column 'wet'"):
        sprinkler().fitted({"rain": ["no"], "hot": ["no"]})
    with pytest.raises(NetworkError, match="smoothing must be"):
        sprinkler().fitted(ROWS, smoothing="laplace")
    with pytest.raises(NetworkError, match="missing must be one of"):
        sprinkler().fitted(ROWS, missing="drop")


def test_a_large_sample_of_alarm_gives_its_tables_back():
    net = public("alarm")
    fitted = net.fitted(net.sample(200_000, random_state=1), smoothing=0)
    for i, (table, found) in enumerate(zip(net.tables, fitted.tables, strict=True)):
        n = fitted.counts.table((*net.parents[i], i)).sum(axis=-1)
        seen = n > 1000
        error = np.abs(table - found).max(axis=-1)[seen]
        assert (error < 5 * 0.5 / np.sqrt(n[seen])).all()
