"""What the report says of columns and rows is true: one model for all rows, columns in the order of what they tell."""

import re
from importlib.resources import as_file, files
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import mutual_info_score, precision_score, recall_score

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
from bayeskit.decide.scores import row_scores
from bayeskit.table.column import Coded, Numbers
from bayeskit.table.files import TableFile
from bayeskit.workflow.importance import column_importance, information
from bayeskit.workflow.report import by_class, judged, sections
from bayeskit.workflow.report.explained_rows import explained_rows, waterfall_lines
from bayeskit.workflow.report.judged import _per_class
from bayeskit.workflow.report.pictures import network_picture
from bayeskit.workflow.report.waterfall_svg import waterfall_svg
from bayeskit.workflow.training import train
from bayeskit.workflow.training_table import read_training_table
from bayeskit.workflow.wording import number, percent


@pytest.fixture(scope="module", params=["NaiveBayes", "KDB"])
def result(request):
    with as_file(files("bayeskit.datasets").joinpath("data", "heart.csv")) as path:
        return train(read_training_table(TableFile.open(path), "disease"), [request.param])


@pytest.fixture(scope="module")
def pooled():
    with as_file(files("bayeskit.datasets").joinpath("data", "heart.csv")) as path:
        return train(read_training_table(TableFile.open(path), "disease"), ["AutoBayes"], folds=2)


def test_a_pool_is_shown_by_its_members_and_not_as_independent_columns(pooled):
    text = sections.structure(pooled)
    assert "independent" not in text
    for name, weight in pooled.model.members_.items():
        assert name in text
        assert f"{weight:.2f}" in text
    assert f"{pooled.model.left_out_loss_['pool']:.4f}" in text


def test_the_floor_is_a_line_of_its_own_and_the_lines_sum_to_the_log_odds(pooled):
    for row in explained_rows(pooled)[0]:
        labels, terms, used = waterfall_lines(row.explanation)
        assert labels[-1] == "floor"
        assert len(labels) == len(terms) == len(used)
        assert_allclose(row.explanation.prior + sum(terms), row.explanation.log_odds, rtol=0, atol=1e-9)


def test_a_waterfall_fits_a_card_on_a_phone_without_shrinking_its_letters(pooled):
    for row in explained_rows(pooled)[0]:
        picture = waterfall_svg(*waterfall_lines(row.explanation), row.explanation.prior)
        assert float(re.search(r'viewBox="0 0 (\d+)', picture)[1]) <= 327  # 390 pixels less margins and padding
        bars = re.findall(r'<rect class="\w+" x="([\d.-]+)" y="[\d.]+" width="([\d.]+)"', picture)
        assert all(float(x) >= 0 and float(x) + float(width) <= 321 for x, width in bars)


def test_a_column_is_hidden_from_a_pool_and_not_recorded_as_missing(pooled):
    told = {each.name: each.rise.value for each in column_importance(pooled)}
    source, y, part = pooled.table.features.source, pooled.table.labels.y, pooled.board.part
    here, others = np.flatnonzero(part == part.max()), np.flatnonzero(part != part.max())
    model = pooled.board.best.model.fit(source.take(others), y[others])
    rows = source.take(here)
    hidden = np.tile(np.array([name == "vessels" for name in rows.names]), (len(here), 1))
    before = row_scores(model.predict_proba(rows), y[here])[1].mean()
    after = row_scores(np.exp(model.log_posterior_hiding(rows, hidden)), y[here])[1].mean()
    assert_allclose(told["vessels"], after - before, rtol=1e-9, atol=1e-12)


def test_an_uncertain_row_is_never_surer_than_a_typical_one(result):
    typical, uncertain = explained_rows(result)
    sure = result.model.predict_proba(result.table.features.source).max(axis=1)
    assert max(row.explanation.probability for row in uncertain) <= min(row.explanation.probability for row in typical)
    for row in (*typical, *uncertain):
        assert_allclose(row.explanation.probability, sure[row.number - 1], rtol=1e-9)


def test_information_is_that_of_scikit_learn_less_what_chance_gives():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    codes = ((y + rng.integers(0, 2, 600)) % 4).astype(np.uint8)
    known = mutual_info_score(codes, y) / np.log(2) - (4 - 1) * (3 - 1) / (2 * 600 * np.log(2))
    assert_allclose(information(Coded(codes, ("a", "b", "c", "d")), y, 3), known, rtol=1e-12)
    assert information(Numbers(rng.normal(size=600)), y, 3) < 0.02
    assert information(Numbers(np.full(600, np.nan)), y, 3) == 0


def test_columns_come_in_the_order_of_what_they_tell_and_hiding_one_costs_what_is_said(result):
    told = column_importance(result)
    assert [each.information for each in told] == sorted((each.information for each in told), reverse=True)
    source, y, part = result.table.features.source, result.table.labels.y, result.board.part
    here, others = np.flatnonzero(part == 4), np.flatnonzero(part != 4)
    model = result.board.best.model.fit(source.take(others), y[others])
    rows = source.take(here)
    columns = {name: rows.column(j) for j, name in enumerate(rows.names)}
    columns["thal"] = Numbers(np.full(len(here), np.nan))
    hidden = type(rows)(rows.names, True, rows.n_rows, tuple(columns.values()))
    before, after = (row_scores(model.predict_proba(table), y[here])[1].mean() for table in (rows, hidden))
    rise = next(each.rise.value for each in told if each.name == "thal")
    assert_allclose(rise, after - before, rtol=1e-9, atol=1e-12)


def test_precision_and_recall_are_those_of_scikit_learn(result):
    y, guess = result.table.labels.y, result.board.best.posterior.argmax(axis=1)
    text = judged.confusion(result)
    for c in (0, 1):
        assert percent(precision_score(y, guess, pos_label=c)) in text
        assert percent(recall_score(y, guess, pos_label=c)) in text
    assert "loss, as given" not in text  # losses of 0 and 1 say nothing


@pytest.fixture(scope="module")
def of_five_classes(tmp_path_factory):
    """Columns of text and of numbers, and classes whose names begin alike."""
    path = tmp_path_factory.mktemp("five") / "five.csv"
    lines = [f"{'uvw'[i * i % 3]},{i % 7 + i % 5 / 10},group of rows number {i % 5}" for i in range(200)]
    path.write_text("\n".join(["text,number,class", *lines]) + "\n")
    return train(read_training_table(TableFile.open(path), "class"), ["NaiveBayes"], folds=2)


def test_many_or_long_classes_stand_by_their_numbers_which_the_key_explains(of_five_classes):
    page = by_class.value_tables(of_five_classes, column_importance(of_five_classes))
    assert re.findall(r'class="key c\d">([^<]*)<', page) == [f"{k + 1} group of rows number {k}" for k in range(5)]
    text, numbers = (page.split(f"<h3>{name}</h3>")[1].split("</table>")[0] for name in ("text", "number"))
    assert re.findall(r"<th>([^<]*)<", text) == ["", "1", "2", "3", "4", "5"]
    assert re.findall(r'class="name">([^<]*)<', text) == ["u", "v"]
    # A line per class, so that the digits of means and deviations have room.
    assert re.findall(r"<th>([^<]*)<", numbers) == ["", "mean", "deviation"]
    assert re.findall(r'class="name">([^<]*)<', numbers) == ["1", "2", "3", "4", "5"]


def test_curves_are_drawn_for_two_classes(result):
    assert re.findall(r"<figcaption>(\w+)", judged.two_class_curves(result)) == ["ROC", "Precision", "Lift"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(10580.4, "10,580"), (1234567.0, "1,234,567"), (0.01234567, "0.01235"), (3.0, "3"), (-2.5, "-2.5"), (0.0, "0")],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert number(value) == text


def test_a_recall_of_zero_is_a_number_and_a_precision_without_predictions_is_a_dash():
    scores = SimpleNamespace(confusion=np.array([[3, 0], [2, 0]]), classes=("a", "b"))
    shown = _per_class(scores)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown.split(">b<")[1])
    assert [re.sub("<.*", "", cell) for cell in cells] == ["2", "0", "–", "0 %"]


def test_a_drawing_shrinks_to_the_page_as_long_as_it_can_be_read():
    names = ["class", *(f"column {j}" for j in range(12))]
    svg = network_picture(names, [(0, j) for j in range(1, 13)], ["class"])
    width = float(re.search(r' width="([\d.]+)', svg)[1])
    assert width > 1000
    assert f"min-width:{0.75 * width:.0f}px" in svg  # text of 12 px has 9 at the least
