"""The numbers of a report: thresholds, effects, learning curve, groups, and what changed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import bayeskit
from bayeskit import KDB, datasets
from bayeskit.decide.loss import read_loss
from bayeskit.table.files import TableFile
from bayeskit.workflow import learning_curve as curves
from bayeskit.workflow.effects import column_effects
from bayeskit.workflow.learning_curve import learning_curve
from bayeskit.workflow.report.by_group import by_group, groups_of
from bayeskit.workflow.report.page import report, write_report
from bayeskit.workflow.report.since_last import ReportNumbers
from bayeskit.workflow.report.thresholds import _counted, thresholds
from bayeskit.workflow.training import train
from bayeskit.workflow.training_table import read_training_table


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv

    place = tmp_path_factory.mktemp("report") / "heart.csv"
    csv.write_csv(pa.table(datasets.load_heart()), place)
    return place


def trained(file, *models, **options):
    table = read_training_table(TableFile.open(file, keep=True), "disease", **options)
    return train(table, models)


@pytest.fixture(scope="module")
def naive(file):
    return trained(file, "NaiveBayes", "TAN")


def test_a_threshold_counts_the_rows_at_or_above_it():
    rng = np.random.default_rng(0)
    p, positive = rng.random(500).round(2), rng.random(500) < 0.4
    chosen, right = _counted(p, positive)
    for k in range(101):
        at_least = np.round(100 * p) >= k
        assert chosen[k] == at_least.sum()
        assert right[k] == (at_least & positive).sum()


def test_the_costs_of_thresholds_are_those_of_the_loss_by_brute_force(file):
    costly = read_loss({"no": {"no": 0, "yes": 1}, "yes": {"no": 5, "yes": 0.5}}, ["no", "yes"])
    result = trained(file, "NaiveBayes", loss=lambda classes: costly)
    y, p = result.table.labels.y, result.board.best.held_out[1][:, 1]
    matrix = np.array([[0, 1], [5, 0.5]])
    by_hand = [matrix[y, (p >= k / 100).astype(int)].mean() for k in range(101)]
    (best,) = re.findall(
        r'<tr class="best"><td class="n">([\d.]+)</td>.*?<td class="n">([\d.]+)</td></tr>', thresholds(result)
    )
    assert float(best[0]) == np.argmin(by_hand) / 100
    assert float(best[1]) == pytest.approx(min(by_hand), abs=5e-5)


def test_the_slider_holds_numbers_only(naive):
    box = re.search(r'<div class="card slider".*?</div></div></div>', thresholds(naive), re.DOTALL)[0]
    assert all(
        re.fullmatch(r"[\d. ]+", text) for text in re.findall(r'data-(?:chosen|right|rows|positive)="(.*?)"', box)
    )


@pytest.mark.parametrize("model", ["NaiveBayes", "TAN", "AODE"])
def test_the_effect_of_a_column_is_the_posterior_given_that_column_alone(file, model):
    result = trained(file, model)
    (effect,) = column_effects(result, ["chest_pain"])
    assert not effect.averaged
    for value, row in zip(effect.values, effect.posterior, strict=True):
        columns = {name: [None] for name in result.model.schema_.names} | {"chest_pain": [value]}
        np.testing.assert_allclose(row, result.model.predict_proba(columns)[0], rtol=1e-12)


def test_the_effect_in_naive_bayes_is_bayes_rule_on_its_tables(naive):
    model = bayeskit.NaiveBayes().fit(datasets.load_heart(), target="disease")
    summary = {feature.name: feature for feature in model.summary().features}["sex"]
    prior = model.summary().n_class / model.summary().n_class.sum()
    by_hand = summary.table * prior
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    training = replace(naive, model=model)
    (effect,) = column_effects(training, ["sex"])
    order = [summary.values.index(value) for value in effect.values]
    np.testing.assert_allclose(effect.posterior, by_hand[order], atol=0.01)  # P(c) is smoothed, shares are not


def test_effects_are_there_for_autobayes_and_for_a_model_that_needs_all_columns(file):
    names = ["age", "sex"]
    pooled = column_effects(trained(file, "AutoBayes"), names)
    assert [effect.name for effect in pooled] == names
    assert pooled[0].numeric
    assert not pooled[1].numeric
    for effect in pooled:
        np.testing.assert_allclose(effect.posterior.sum(axis=1), 1.0, rtol=1e-9)
    men = pooled[1].values.index("male")
    assert pooled[1].posterior[men, 1] > pooled[1].posterior[1 - men, 1]


def test_a_model_that_fills_in_missing_cells_is_averaged_over_rows_by_brute_force(file):
    result = trained(file, "LogisticRegression")
    (effect,) = column_effects(result, ["sex"])
    assert effect.averaged
    heart = {name: result.table.labels.table[name].to_pylist() for name in result.model.schema_.names}
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(303, 100, replace=False))
    for value, row in zip(effect.values, effect.posterior, strict=True):
        changed = {name: [cells[i] for i in rows] for name, cells in heart.items()} | {"sex": [value] * 100}
        np.testing.assert_allclose(row, result.model.predict_proba(changed).mean(axis=0), rtol=1e-9)


def test_the_learning_curve_ends_with_the_scores_of_the_cross_validation(naive):
    points = learning_curve(naive)
    sizes = [point.n_rows for point in points]
    assert sizes == sorted(sizes)
    assert len(points) == 4
    board = naive.board
    last = board.part == board.part.max()
    posterior, y = board.best.held_out[1][last], naive.table.labels.y[last]
    assert points[-1].error.value == pytest.approx((posterior.argmax(axis=1) != y).mean())
    assert points[0].log_loss.value > points[-1].log_loss.value


NUMBERS = ("age", "rest_bp", "cholesterol", "max_hr", "st_depression")


@pytest.mark.parametrize(
    ("model", "ignore"),
    [("NaiveBayes", ()), ("NaiveBayes", NUMBERS), ("TAN", NUMBERS), ("AODE", NUMBERS), (KDB(k=1), NUMBERS)],
)
def test_a_learning_curve_by_adding_counts_is_that_of_refitting(file, monkeypatch, model, ignore):
    result = trained(file, model, ignore=ignore)
    assert curves.counts_add(result)
    others = np.random.default_rng(0).permutation(np.flatnonzero(result.board.part != 4))
    here = np.flatnonzero(result.board.part == 4)
    shares = [others[:n] for n in (30, 60, 120)]
    for rows, posterior in zip(shares, curves.added(result, shares, here), strict=True):
        np.testing.assert_allclose(posterior, curves.refitted(result, rows, here), rtol=1e-10, atol=1e-14)
    with monkeypatch.context() as patch:
        patch.setattr(curves, "refitted", None)
        by_adding = learning_curve(result)
    monkeypatch.setattr(curves, "counts_add", lambda result: False)
    for one, other in zip(by_adding, learning_curve(result), strict=True):
        assert (one.n_rows, one.error) == (other.n_rows, other.error)
        assert one.log_loss.value == pytest.approx(other.log_loss.value, rel=1e-10)


@pytest.mark.parametrize("model", ["TAN", "AutoBayes", "LogisticRegression"])
def test_a_learning_curve_of_a_model_with_bins_or_without_counts_is_refitted(file, monkeypatch, model):
    result = trained(file, model)  # each fit cuts bins of its own rows
    assert not curves.counts_add(result)
    monkeypatch.setattr(curves, "added", None)
    assert len(learning_curve(result)) == 4


def test_scores_of_groups_are_those_of_their_rows(naive):
    text = by_group(replace(naive, scores_by=("sex",)))
    sex = np.array(naive.table.labels.table["sex"].to_pylist())
    wrong = naive.board.best.held_out[1].argmax(axis=1) != naive.table.labels.y
    for group in ("female", "male"):
        rows = re.search(rf"<td>{group}</td><td[^>]*>([\d,]+)</td><td[^>]*>([\d.]+) ", text)
        assert int(rows[1]) == (sex == group).sum()
        assert float(rows[2]) == pytest.approx(wrong[sex == group].mean(), abs=5e-5)


def test_many_numbers_are_grouped_in_quarters_and_missing_cells_are_a_group():
    pa = pytest.importorskip("pyarrow")
    groups, names = groups_of(pa.chunked_array([[*range(100), None]]))
    assert np.bincount(groups).tolist() == [25, 25, 25, 25, 1]
    assert names[0] == "below 24.8"
    assert names[-1] == "missing"


def test_a_second_report_says_what_changed_and_one_of_another_target_does_not(naive, file, tmp_path):
    page = tmp_path / "heart.html"
    write_report(page, naive)
    assert "What changed" not in page.read_text("utf-8")
    fewer = trained(file, "NaiveBayes", ignore=["age"])
    write_report(page, fewer)
    text = page.read_text("utf-8")
    assert "<h2>What changed</h2>" in text
    assert "only before: age" in text
    assert ReportNumbers.read(page, "age") is None
    assert ReportNumbers.read(page, "disease").columns == fewer.table.features.source.names


@pytest.mark.parametrize(
    "content", ["", "<html>", '<meta name="bayeskit-report" content="{&quot;rows&quot;: []}">', "\0"]
)
def test_a_page_that_is_no_report_is_no_earlier_one(tmp_path, content):
    place = tmp_path / "other.html"
    place.write_text(content)
    assert ReportNumbers.read(place, "disease") is None


def test_the_report_begins_with_the_problems_and_what_settles_them(file, tmp_path):
    from pyarrow import csv

    table = csv.read_csv(file)
    place = tmp_path / "leak.csv"
    import pyarrow.compute as pc

    csv.write_csv(table.append_column("code <b>", pc.if_else(pc.equal(table["disease"], "yes"), "A", "B")), place)
    text = report(trained(place, "NaiveBayes"))
    assert re.findall(r"<h2>(.*?)</h2>", text)[0] == "Data problems"
    assert "code &lt;b&gt;<br><small>leakage</small>" in text
    assert "ignore=[&#x27;code &lt;b&gt;&#x27;]" in text
