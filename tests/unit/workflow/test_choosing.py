"""Which classifier is chosen, by which score and on which folds, and what calibration does to it."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar

import bayeskit
from bayeskit.counts.memory import readable
from bayeskit.datasets import load_heart
from bayeskit.decide.scores import row_scores
from bayeskit.errors import BayeskitError
from bayeskit.table.files import TableFile
from bayeskit.table.read import read_table
from bayeskit.workflow import training, training_table
from bayeskit.workflow.calibration import fit_temperature, out_of_fold, tempered
from bayeskit.workflow.candidates import candidates, too_large
from bayeskit.workflow.compare import cross_validate
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.folds import group_parts, time_parts
from bayeskit.workflow.held_rows import HeldRows


def noise(n=300):
    rng = np.random.default_rng(0)
    return {"x": rng.integers(0, 4, n).astype(str), "z": rng.normal(size=n), "y": rng.integers(0, 2, n).astype(str)}


@pytest.mark.parametrize("by", ["error", "log_loss", "brier"])
def test_the_leaderboard_is_ordered_by_the_score_that_was_asked_for(by):
    board = bayeskit.compare(load_heart(), target="disease", folds=3, by=by)
    values = [getattr(trial.scores, by).value for trial in board]
    assert values == sorted(values)
    assert board.by == by
    assert board.beats_majority


def test_a_loss_decides_by_its_mean():
    loss = {"no": {"no": 0, "yes": 1}, "yes": {"no": 50, "yes": 0}}
    board = bayeskit.compare(load_heart(), target="disease", folds=3, loss=loss)
    values = [trial.scores.mean_loss.value for trial in board]
    assert board.by == "mean_loss"
    assert values == sorted(values)


@pytest.mark.parametrize("by", ["accuracy", "mean_loss"])
def test_a_score_that_cannot_decide_is_refused(by):
    with pytest.raises(BayeskitError, match="by must be one of error, log_loss, brier"):
        bayeskit.compare(load_heart(), target="disease", by=by)


def test_noise_does_not_beat_the_majority_class():
    assert not bayeskit.compare(noise(), target="y", models=["NaiveBayes", "TAN"]).beats_majority


def test_what_is_too_large_is_left_out_with_its_size_unless_it_is_asked_for():
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.integers(0, 60, 80).astype(str) for j in range(30)} | {"y": np.arange(80) % 2}
    board = bayeskit.compare(table, target="y", folds=2)
    assert list(board.left_out) == ["A2DE"]
    sizes = [len(np.unique(table[f"x{j}"])) for j in range(30)]
    cells = sum(a * b for a, b in combinations(sizes, 2)) + sum(a * b * c for a, b, c in combinations(sizes, 3))
    need = readable(4 * 2 * cells)  # two classes, 4 bytes each
    assert board.left_out["A2DE"].startswith(f"its counts of all triples of columns would take {need}; above 128.0 MiB")
    source = read_table({f"x{j}": ["a", "b"] for j in range(501)})
    assert sorted(too_large(candidates(), HeldRows(source, np.array([0, 1]), np.array([0, 1])))) == [
        "A2DE",
        "AODE",
        "KDB",
        "SPODE",
        "TAN",
    ]


def test_groups_are_never_split_and_folds_are_even():
    groups = np.random.default_rng(0).integers(0, 40, 1000)
    part = group_parts(groups, 5)
    assert all(len(set(part[groups == g])) == 1 for g in range(40))
    sizes = np.bincount(part)
    assert sizes.max() - sizes.min() < 1000 / 40
    with pytest.raises(BayeskitError, match="3 folds need at least as many groups; got 2"):
        group_parts(np.array(["a", "b"]), 3)


def test_folds_in_time_learn_from_earlier_rows_only():
    rng = np.random.default_rng(0)
    n = 240
    times, y = rng.permutation(n), np.arange(n) % 2
    source = read_table({"x": rng.integers(0, 3, n).astype(str), "z": rng.normal(size=n)})
    part = time_parts(times, 3)
    assert_array_equal(np.bincount(part), [60, 60, 60, 60])
    assert all(times[part < k].max() < times[part == k].min() for k in range(1, 4))
    for name in ("NaiveBayes", "NaiveBayes-MDL"):  # counts added, and bins cut in each fold
        rows, plan = HeldRows(source, y, np.array([0, 1])), FoldPlan(3, "time")
        board = cross_validate(rows, candidates([name]), plan, part=part).board
        assert_array_equal(board.scored_rows, part > 0)
        late, early = np.flatnonzero(part == 3), np.flatnonzero(part < 3)
        model = candidates([name])[name].fit(source.take(early), y[early])
        assert_allclose(board.best.posterior[late], model.predict_proba(source.take(late)), rtol=1e-12)
        assert board.best.scores.n_rows == 180


def test_rows_of_one_moment_stay_together():
    part = time_parts(np.repeat(np.arange(10), 7), 3)
    assert all(len(set(part[7 * i : 7 * i + 7])) == 1 for i in range(10))
    with pytest.raises(BayeskitError, match="3 folds in time need at least 4 different times; got 2"):
        time_parts(np.array([1, 1, 2, 2]), 3)


def test_the_temperature_is_the_one_with_the_least_log_loss():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet([0.1, 0.1, 0.1], size=400)
    y = np.array([rng.choice(3, p=tempered(row[None], 3.0)[0]) for row in posterior])

    def loss(log_t):
        return row_scores(tempered(np.clip(posterior, 2**-52, 1), np.exp(log_t)), y)[1].mean()

    found = minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-9})
    assert_allclose(fit_temperature(posterior, y), np.exp(found.x), rtol=1e-4)
    assert 2 < fit_temperature(posterior, y) < 5
    assert_array_equal(tempered(posterior, 3.0).argmax(axis=1), posterior.argmax(axis=1))


def test_the_temperature_of_a_fold_does_not_see_the_fold():
    rng = np.random.default_rng(0)
    posterior, part = rng.dirichlet([0.2, 0.2], size=900), np.arange(900) % 3
    y = (rng.random(900) < tempered(posterior, 2.0)[:, 1]).astype(int)
    changed = np.where((part == 0) & (rng.random(900) < 0.1), 1 - y, y)
    before, after = out_of_fold(posterior, y, part), out_of_fold(posterior, changed, part)
    assert_array_equal(before[part == 0], after[part == 0])
    assert (before[part == 1] != after[part == 1]).any()


def test_the_temperature_of_a_fold_does_not_see_rows_that_no_fold_predicted():
    rng = np.random.default_rng(0)
    posterior, part = rng.dirichlet([0.2, 0.2], size=900), np.arange(900) % 3 - 1
    y = (rng.random(900) < tempered(posterior, 2.0)[:, 1]).astype(int)
    changed = np.where(part < 0, 1 - y, y)
    before, after = out_of_fold(posterior, y, part), out_of_fold(posterior, changed, part)
    assert_array_equal(before[part >= 0], after[part >= 0])


def test_the_temperature_of_the_model_is_fitted_on_the_rows_that_were_predicted(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="files are read through Arrow")
    rng = np.random.default_rng(0)
    y, day = rng.integers(0, 2, 300), np.arange(300)
    lines = [
        f"{d},{a},{b},{c}" for d, a, b, c in zip(day, y ^ (rng.random(300) < 0.2), rng.random(300), y, strict=True)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["day,a,b,c", *lines]) + "\n", encoding="utf-8")
    given = []

    def noted(posterior, truth):
        given.append((posterior, truth))
        return fit_temperature(posterior, truth)

    monkeypatch.setattr(training, "fit_temperature", noted)
    table = training_table.read_training_table(TableFile.open(tmp_path / "rows.csv"), "c")
    found = training.train(table, ["NaiveBayes"], FoldPlan(4, "time", "day"), calibrate=True)
    ((posterior, truth),) = given
    assert 0 < len(truth) == len(posterior) == found.board.scored_rows.sum() < 300  # no fold predicts the first days
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(truth, table.labels.y[found.board.scored_rows])
    assert found.temperature == fit_temperature(posterior, truth)
