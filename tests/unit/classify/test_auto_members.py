"""The members of AutoBayes beside each other: what each can learn, and how they are weighed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AutoBayes
from bayeskit._kernels import pool_loss
from bayeskit.classify.auto.member_weights import (
    FEWEST_CLASSES,
    MOST_SHARPENED,
    PENALTY,
    _as_scores,
    _believed,
    _best_power,
    _n_fitted,
    _sharpness,
    _shift_to_shares,
    weigh_members,
)
from bayeskit.classify.auto.pool import pool_of_members
from bayeskit.classify.auto.training_rows import TrainingRows, log_softmax


def rows_of(y, k):
    n = len(y)
    return TrainingRows([], np.arange(n), np.zeros((1, n), np.uint8), y.astype(np.uint32), np.ones(n), k)


def drawn(rng, log_posterior):
    return np.array([rng.choice(log_posterior.shape[1], p=np.exp(line)) for line in log_posterior])


def test_indicators_learn_a_rule_that_no_column_and_no_pair_tells_anything_about():
    # The rule of the second MONK's problem (Thrun et al. 1991): exactly two of six columns have their first value.
    sizes = (3, 3, 2, 3, 4, 2)
    cells = np.array(np.meshgrid(*[np.arange(size) for size in sizes])).reshape(6, -1).T
    y = (cells == 0).sum(axis=1) == 2
    train = np.random.default_rng(0).permutation(len(y)) < 300
    model = AutoBayes().fit(cells[train].astype(str), y[train])
    assert (model.predict(cells[~train].astype(str)) != y[~train]).mean() < 0.08
    assert max(model.members_, key=model.members_.get) == "Gaussians"


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_indicators_are_levels_but_the_most_frequent_and_those_of_next_to_no_rows():
    rng = np.random.default_rng(0)
    colour = np.repeat(["red", "green", "blue", "rare"], [60, 30, 28, 2])
    X = {"colour": colour.tolist(), "width": rng.normal(size=120).tolist(), "size": rng.normal(size=120).tolist()}
    plan = AutoBayes("fast").fit(X, rng.integers(0, 2, 120)).counts_.plan
    raw, scores = plan.gaussians
    value_of = dict(zip(plan.levels.places[0].tolist(), plan.schema[0].values, strict=True))
    values = [value_of[level] for level in raw.level[raw.n_numbers :]]
    assert sorted(values) == ["blue", "green"]
    assert_array_equal(np.sort(raw.features[:2]), [1, 2])
    assert_array_equal(raw.features[2:], [0, 0])
    assert_array_equal(scores.features, raw.features[:2])
    share = np.array([{"blue": 28, "green": 30}[value] for value in values]) / 120
    assert_allclose(raw.center[2:], share)
    assert_allclose(raw.scale[2:], np.sqrt(share * (1 - share)))


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_few_rows_have_few_indicators():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (30, 40)).astype(str), rng.integers(0, 2, 30)
    assert [len(each.features) for each in AutoBayes("fast").fit(X, y).counts_.plan.gaussians] == [10]


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_a_hidden_categorical_cell_is_summed_out_of_the_indicators():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 4)).astype(str), rng.integers(0, 3, 300)
    model = AutoBayes("fast").fit(X, y)
    hidden = np.zeros((5, 4), dtype=bool)
    hidden[:, 2] = True
    other = X[:5].copy()
    other[:, 2] = np.roll(other[:, 2], 1)
    found = model.log_posterior_hiding(X[:5], hidden)
    assert_array_equal(found, model.log_posterior_hiding(other, hidden))
    beliefs, columns = model._beliefs, model._encode(X[:5])
    gaussians = beliefs.members(beliefs.codes(columns, hidden), columns)[1]
    plan, density = beliefs.plan.gaussians[0], beliefs._gaussians[0]
    z = plan.transform(columns, beliefs.codes(columns), 1)
    alone = density.log_densities(z, 1, plan.features != 2) + beliefs._shares
    assert_allclose(gaussians, log_softmax(alone), rtol=1e-12)


def test_the_pool_is_sharpened_where_more_trees_make_it_less_noisy():
    rng, n = np.random.default_rng(0), 2000
    truth = log_softmax(rng.normal(0, 2, (n, 3)))
    sample = rows_of(drawn(rng, truth), 3)
    noise, more = rng.normal(0, 1, (2, n, 3))
    by_all = _best_power(_as_scores([log_softmax(truth + 0.5 * noise)]), sample)
    by_half = _best_power(_as_scores([log_softmax(truth + 0.5 * noise + 0.5 * more)]), sample)
    assert 1.0 < _sharpness(by_all, by_half) < np.exp(MOST_SHARPENED)
    assert _sharpness(by_all, by_all) == 1.0
    assert _sharpness(by_half, by_all) == 1.0  # never flattened


@pytest.mark.parametrize("power", [0.4, 1.0, 2.5])
def test_a_member_that_is_too_sure_or_not_sure_enough_is_put_right(power):
    rng = np.random.default_rng(0)
    truth = log_softmax(rng.normal(0, 2, (3000, 2)))
    sample, member = rows_of(drawn(rng, truth), 2), log_softmax(truth * power)
    found = weigh_members([member], [member], sample, np.bincount(sample.y, sample.weight))
    assert_allclose(found.weight * power, 1.0, atol=0.1)
    assert_array_equal(found.class_matrix[:, :-1], np.eye(FEWEST_CLASSES - 1))
    assert_allclose(found.class_matrix[:, -1], 0.0, atol=0.02)  # the shift to the shares of the classes


def test_numbers_count_as_fitted_by_the_second_derivative_of_the_loss_beside_the_penalties():
    rng = np.random.default_rng(0)
    y, weight, k = rng.integers(0, 3, 50).astype(np.uint32), rng.integers(1, 3, 50).astype(float), 3
    scores = rng.normal(size=(2, k, 50)).astype(np.float32)
    found, power, step = np.array([0.7, 0.2, 0.1, -0.3, 0.2]), 1.3, 1e-3
    n_class = np.bincount(y, weights=weight)

    def bends(tables, at):
        def loss(move):
            return pool_loss(tables, y, weight, at + move, 1)[0]

        n = len(at)
        steps = step * np.eye(n)
        return np.array(
            [[(loss(a + b) - loss(a - b) - loss(b - a) + loss(-a - b)) / (4 * step**2) for b in steps] for a in steps]
        )

    tempered = (power * scores).astype(np.float32)
    posterior = np.exp(log_softmax(np.einsum("m,mkr->rk", found[:2], tempered) + found[2:]))
    whole = bends(tempered, found)
    nothing = np.zeros((1, k, 50), np.float32)  # biases alone, at the class shares
    shares = bends(nothing, np.append(0.0, np.log(n_class / n_class.sum())))[1:, 1:]
    expected = np.trace(whole @ np.linalg.inv(whole + np.diag([PENALTY, PENALTY, 1, 1, 1])))
    expected -= np.trace(shares @ np.linalg.inv(shares + np.eye(k)))
    assert_allclose(_n_fitted(scores, posterior, power, n_class, weight), expected, rtol=1e-5)


def test_the_more_numbers_were_fitted_the_less_of_a_gain_is_believed():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    sample, gains = rows_of(y, 2), rng.normal(0.1, 0.5, 100)
    gains += 0.1 - gains.mean()  # ten nats in all
    log_p = np.log(np.bincount(y)[y] / 100) + gains
    for n_fitted, believed in ((9.0, 0.5), (0.0, 1 / (1 + np.exp(-9))), (20.0, 1 / (1 + np.exp(11)))):
        assert_allclose(_believed(log_p, np.bincount(y), n_fitted, sample), believed, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_bins_of_few_rows_have_seven_rows_on_average():
    rng = np.random.default_rng(0)
    for n, most in ((20, 2), (40, 5), (80, 11), (400, 12)):
        X = rng.normal(size=(n, 5))
        sizes = AutoBayes("fast").fit(X, rng.integers(0, 2, n)).counts_.plan.networks.sizes
        assert sizes.max() - 2 <= most  # beside a level for missing cells, an offset adds a bin


def test_members_that_know_nothing_leave_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.3).astype(int)
    sample = rows_of(y, 2)
    members = [log_softmax(rng.normal(0, 1, (60, 2))) for _ in range(3)]
    found = weigh_members(members, members, sample, np.bincount(sample.y, sample.weight))
    pooled = log_softmax(sum(w * m for w, m in zip(found.weight, members, strict=True)) + found.bias)
    shares = np.array([1 - y.mean(), y.mean()])
    assert_allclose(np.exp(pooled), np.broadcast_to(shares, (60, 2)), atol=0.08)


def test_the_matrix_of_classes_takes_back_a_confusion_that_no_weight_can():
    rng, n = np.random.default_rng(0), 4000
    truth = log_softmax(rng.normal(0, 2, (n, 3)))
    y = drawn(rng, truth)
    # The member takes half of what speaks for the third class for a sign of the second.
    confused = truth.copy()
    confused[:, 1] += 0.5 * truth[:, 2]
    member, sample = log_softmax(confused), rows_of(y, 3)
    found = weigh_members([member], [member], sample, np.bincount(sample.y, sample.weight))
    of_true = np.arange(n), y
    best = -truth[of_true].mean()
    assert -member[of_true].mean() > best + 0.05
    assert found.losses[-1] < best + 0.01
    again = pool_of_members([member], found.weight, found.bias, found.class_matrix, np.ones(3, dtype=bool))
    assert -again[of_true].mean() < best + 0.01


def test_parts_of_the_members_sum_to_the_log_odds_with_a_matrix_of_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.5, 900) > 0) * 1 + (X[:, 2] > 1)
    model = AutoBayes("fast").fit(X, y)
    assert not np.allclose(model.counts_.plan.class_matrix, np.eye(3, 4))
    row = {f"x{j}": value for j, value in enumerate(X[0])}
    parts = model.explain_members(row, classes=(2, 0))
    log_posterior = np.log(model.predict_proba(X[:1])[0])
    assert_allclose(sum(each.log_odds for each in parts), log_posterior[2] - log_posterior[0], rtol=1e-9)
    assert_allclose(parts[0].terms.sum() + parts[0].rest, parts[0].log_odds, rtol=1e-9)


def test_the_sum_of_the_posteriors_of_rows_left_out_is_the_number_of_rows_in_each_class():
    rng = np.random.default_rng(3)
    score = rng.normal(size=(4000, 2)) + np.array([2.5, 0.0])
    y = (rng.random(4000) > 1 / (1 + np.exp(0.4 * (score[:, 1] - score[:, 0])))).astype(int)
    log_posterior, n_class = log_softmax(2.0 * score), np.bincount(y).astype(np.float64)
    shift = _shift_to_shares(log_posterior, n_class, np.ones(4000))
    assert_allclose(np.exp(log_softmax(log_posterior + shift)).sum(axis=0), n_class, rtol=5e-3)


def test_a_rare_class_has_its_share_of_the_whole_table_though_the_sample_has_another(monkeypatch):
    from bayeskit.classify.auto import fitting

    monkeypatch.setattr(fitting, "MOST_ROWS_LEFT_OUT", 300)  # a sample of 300 rows has some 13 of the rare class
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(14_000, 4))
        y = (X[:, 0] + X[:, 1] + rng.logistic(size=14_000) > 4.2).astype(int)
        model = AutoBayes("fast").fit(X[:4000], y[:4000])
        gaps.append(model.predict_proba(X[4000:])[:, 1].mean() - y[4000:].mean())
    # The share of 4,000 rows has a standard error of .0035; that of 300 has .012.
    assert np.sqrt(np.mean(np.square(gaps))) < 0.006
