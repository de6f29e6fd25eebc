"""effort="thorough": boosted trees learn what the pool leaves, where rows left out gain by them."""

import copy
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AutoBayes, load
from bayeskit.classify.auto import boosting
from bayeskit.classify.auto.explanation_parts import MemberPart
from bayeskit.errors import ModelFileError


def board(n, seed, n_classes=8):
    """Two squares of a board, and how many moves of a king are between them: no three columns hold it."""
    rng = np.random.default_rng(seed)
    at = rng.integers(0, 8, (n, 4))
    moves = np.maximum(abs(at[:, 0] - at[:, 2]), abs(at[:, 1] - at[:, 3]))
    X = {f"x{j}": np.array(list("abcdefgh"), dtype=object)[at[:, j]] for j in range(4)}
    return X | {"z": rng.normal(size=n)}, np.minimum(moves, n_classes - 1)


def log_loss(model, X, y):
    return -np.log(model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


@pytest.fixture(scope="module")
def thorough():
    return AutoBayes("thorough").fit(*board(1500, 1))


def test_rows_that_the_pool_cannot_tell_apart_gain_on_new_rows(thorough):
    X, y = board(2000, 2)
    balanced = AutoBayes().fit(*board(1500, 1))
    assert log_loss(thorough, X, y) < log_loss(balanced, X, y) - 0.03
    assert (thorough.predict(X) != y).mean() < (balanced.predict(X) != y).mean()
    assert thorough.members_["boosted trees"] == 1.0
    gain = thorough.counts_.plan.boosting[0].gain
    assert_allclose(
        balanced.left_out_loss_["pool"] - thorough.left_out_loss_["pool"], gain, rtol=1e-6
    )  # scores have 4 bytes
    assert f"of which {gain:.4f} less by boosted trees" in str(thorough.summary())


def test_where_nothing_is_left_there_are_no_boosted_trees_and_the_answer_is_that_of_balanced():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 4)) + y[:, None]  # two Gaussians: the pool has the best classifier there is
    balanced, thorough = (AutoBayes(effort).fit(X, y) for effort in ("balanced", "thorough"))
    assert thorough.counts_.plan.boosting == ()
    assert_array_equal(thorough.predict_proba(X), balanced.predict_proba(X))


@pytest.mark.filterwarnings("ignore")
def test_noise_and_few_rows_are_not_boosted():
    rng = np.random.default_rng(1)
    for n in (boosting.FEWEST_ROWS - 1, 1000):
        model = AutoBayes("thorough").fit(rng.integers(0, 3, (n, 5)).astype(float), rng.integers(0, 3, n))
        assert model.counts_.plan.boosting == ()


def test_what_the_trees_add_is_the_sum_of_their_leaves(thorough):
    beliefs, plan = thorough._now()._beliefs, thorough.counts_.plan.boosting[0]
    columns = thorough._now()._encode(board(5, 3)[0])
    codes = beliefs.codes(columns)
    for row in range(5):
        total = np.zeros(8)
        for tree in range(plan.n_trees):
            node = int(plan.tree_at[tree])
            while plan.feature[node] >= 0:
                level = codes[plan.feature[node], row]
                first = level < plan.value[node] if plan.test[node] == 0 else level == plan.value[node]
                node = int(plan.tree_at[tree] + plan.next[node] + (0 if first else 1))
            total += plan.steps[plan.next[node]]
        assert_allclose(beliefs.boosted(codes)[row], total, rtol=1e-9, atol=1e-9)


def test_with_nothing_known_the_answer_is_the_class_shares(thorough):
    X, _ = board(3, 4)
    log_posterior = thorough.log_posterior_hiding(X, np.ones((3, 5), dtype=bool), floor=False)
    shares = thorough.counts_.n_class / thorough.counts_.n_class.sum()
    assert_allclose(np.exp(log_posterior), np.tile(shares, (3, 1)), rtol=1e-12)


def test_a_hidden_cell_is_averaged_over_both_ways(thorough):
    beliefs, plan = thorough._now()._beliefs, thorough.counts_.plan.boosting[0]
    hidden = np.array([[False, True, False, False, False]])
    codes = beliefs.codes(thorough._now()._encode(board(1, 5)[0]), hidden)

    def weight_of(node, tree):
        at = plan.tree_at[tree] + node
        if plan.feature[at] < 0:
            return plan.leaf_weight[plan.next[at]]
        return weight_of(plan.next[at], tree) + weight_of(plan.next[at] + 1, tree)

    def mean_of(node, tree):
        at = plan.tree_at[tree] + node
        if plan.feature[at] < 0:
            return plan.steps[plan.next[at]].astype(float)
        level, below = codes[plan.feature[at], 0], int(plan.next[at])
        if level == 255:
            weights = [weight_of(below + side, tree) for side in (0, 1)]
            return np.average([mean_of(below + side, tree) for side in (0, 1)], axis=0, weights=weights)
        first = level < plan.value[at] if plan.test[at] == 0 else level == plan.value[at]
        return mean_of(below + (0 if first else 1), tree)

    expected = sum(mean_of(0, tree) for tree in range(plan.n_trees))
    assert_allclose(beliefs.boosted(codes)[0], expected, rtol=1e-6, atol=1e-6)


def test_parts_of_members_sum_to_the_log_odds(thorough):
    X, _ = board(4, 6)
    log_proba = thorough.predict_log_proba(X)
    for row in range(4):
        parts = thorough.explain_members({name: column[row] for name, column in X.items()}, (2, 3))
        assert isinstance(next(part for part in parts if part.member == "boosted trees"), MemberPart)
        assert_allclose(sum(part.log_odds for part in parts), log_proba[row, 2] - log_proba[row, 3], atol=1e-9)
    known = {"x0": X["x0"][0], "x2": X["x2"][0]}
    asked = thorough.explain(known, classes=(2, 3))
    assert_allclose(asked.prior + asked.terms.sum() + asked.floor, asked.log_odds, atol=1e-9)


def test_a_saved_model_answers_the_same(thorough, tmp_path):
    X, _ = board(50, 7)
    thorough.save(tmp_path / "model.bayes")
    assert_array_equal(load(tmp_path / "model.bayes").predict_proba(X), thorough.predict_proba(X))


def test_a_file_whose_steps_do_not_fit_is_refused(thorough):
    meta, arrays = thorough.counts_.to_parts()
    for name, changed in (
        ("boosting0_steps", arrays["boosting0_steps"][:-1]),
        ("boosting0_steps", np.full_like(arrays["boosting0_steps"], np.nan)),
        ("boosting0_leaf_weight", -arrays["boosting0_leaf_weight"]),
    ):
        with pytest.raises(ModelFileError):
            type(thorough.counts_).from_parts(meta, arrays | {name: changed})


def test_later_rows_leave_the_boosted_trees_as_they_are(thorough):
    more = board(300, 8)
    later = copy.deepcopy(thorough)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        later.partial_fit(*more)
    assert later.counts_.plan is thorough.counts_.plan or later.counts_.plan.digest == thorough.counts_.plan.digest
    X, _ = board(20, 9)
    assert_allclose(later.unlearn(*more).predict_proba(X), thorough.predict_proba(X), rtol=1e-9)


def test_a_class_that_came_later_has_no_steps(thorough):
    later = copy.deepcopy(thorough)
    X, _ = board(30, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        later.partial_fit(X, np.full(30, 99))
    beliefs = later._now()._beliefs
    assert_array_equal(beliefs.boosted(beliefs.codes(later._now()._encode(X)))[:, -1], np.zeros(30))


def test_rows_and_columns_in_another_order_change_nothing_but_rounding(thorough):
    X, y = board(1500, 1)
    order = np.random.default_rng(0).permutation(1500)
    turned = {name: X[name][order] for name in ("z", "x3", "x0", "x2", "x1")}
    other = AutoBayes("thorough").fit(turned, y[order])
    new, _ = board(100, 11)
    assert_allclose(other.predict_proba({name: new[name] for name in turned}), thorough.predict_proba(new), atol=1e-6)


def test_rows_behind_the_sample_are_left_out_too(monkeypatch):
    from bayeskit.classify.auto import fitting

    monkeypatch.setattr(fitting, "MOST_ROWS_LEFT_OUT", 600)
    X, y = board(2500, 12)
    model = AutoBayes("thorough").fit(X, y)
    assert model.counts_.plan.boosting
    new, truth = board(2000, 13)
    balanced = AutoBayes().fit(X, y)
    assert log_loss(model, new, truth) < log_loss(balanced, new, truth)


def test_the_time_limit_and_the_number_of_nodes_hold():
    X, y = board(1500, 1)
    with pytest.warns(UserWarning, match="max_seconds"):
        assert AutoBayes("thorough", max_seconds=1e-6).fit(X, y).counts_.plan.boosting == ()
    assert AutoBayes("thorough", max_nodes=5000).fit(X, y).n_nodes_ <= 5000
