"""Each picture draws what it is given, on Chinese labels too; a missing glyph would be a warning, and so an error."""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose

from bayeskit import NaiveBayes, datasets
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.plot import canvas, class_balance, confusion_matrix, reliability_curve, value_table, waterfall

HAS_CJK = any(family in canvas._font_files() for family in canvas.CJK_FAMILIES)
LANGUAGES = [
    pytest.param(["ill", "well"], id="English"),
    pytest.param(
        ["患病", "健康"], id="Chinese", marks=pytest.mark.skipif(not HAS_CJK, reason="no CJK font is installed")
    ),
]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def grid_of(ax, n_rows, n_columns):
    """The texts of the cells of a picture, row by row."""
    cells = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in ax.texts}
    return [[cells[i, j] for j in range(n_columns)] for i in range(n_rows)]


def drawn(ax):
    """Render the figure, which is when matplotlib looks for glyphs; return its texts."""
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.findobj(matplotlib.text.Text) if text.get_text()]


@pytest.mark.parametrize("names", LANGUAGES)
def test_waterfall_goes_from_the_prior_to_the_posterior(names):
    ax = waterfall(names, [1.5, -0.5], start=-0.25, title=f"log-odds of {names[0]}")
    texts = drawn(ax)
    assert {"-0.25", "+1.50", "-0.50", "+0.75", *names} <= set(texts)
    steps = [(bar.get_x(), bar.get_width()) for bar in ax.patches][2:]
    assert_allclose(steps, [(-0.25, 1.5), (1.25, -0.5)])


@pytest.mark.parametrize("names", LANGUAGES)
def test_confusion_matrix_shows_counts_and_costs(names):
    actions = [*names, "?"]
    ax = confusion_matrix([[3, 1, 0], [2, 9, 5]], names, actions, loss=[[0, 50, 1], [1, 0, 1]], title=names[0])
    texts = drawn(ax)
    assert grid_of(ax, 2, 3) == [
        ["3\ncost 0", "1\ncost 50", "0\ncost 0"],
        ["2\ncost 2", "9\ncost 0", "5\ncost 5"],
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == actions
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert f"{names[0]}, mean loss 2.85" in texts


@pytest.mark.parametrize("names", LANGUAGES)
def test_confusion_matrix_without_a_loss_shows_counts(names):
    ax = confusion_matrix([[3, 1], [2, 9]], names)
    assert set(names) <= set(drawn(ax))
    assert grid_of(ax, 2, 2) == [["3", "1"], ["2", "9"]]


@pytest.mark.parametrize("names", LANGUAGES)
def test_class_balance_shows_rows_and_shares(names):
    assert {"1  (25.0%)", "3  (75.0%)", *names} <= set(drawn(class_balance([1, 3], names, title=names[0])))


@pytest.mark.parametrize("names", LANGUAGES)
def test_value_table_shows_every_probability(names):
    ax = value_table([[0.25, 1.0], [0.75, 0.0]], ["a", "b"], names, title=f"P({names[0]})")
    assert {*names, "a", "b", f"P({names[0]})"} <= set(drawn(ax))
    assert grid_of(ax, 2, 2) == [["0.250", "1.000"], ["0.750", "0.000"]]


@pytest.mark.parametrize("names", LANGUAGES)
def test_reliability_curve_shows_shares_against_probabilities(names):
    happened = np.repeat([0, 1, 0, 1], [60, 40, 10, 90])
    probability = np.repeat([0.4, 0.9], 100)
    ax = reliability_curve(happened, probability, bins=5, label=names[0])
    reliability_curve(happened, np.full(200, 0.5), label=names[1], ax=ax)
    texts = drawn(ax)
    assert f"{names[0]}, calibration error 0.000" in texts
    assert f"{names[1]}, calibration error 0.150" in texts
    curve = next(line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o")
    assert_allclose(np.column_stack(curve.get_data()), [[0.4, 0.4], [0.9, 0.9]])


@pytest.mark.skipif(not HAS_CJK, reason="no CJK font is installed")
def test_an_explanation_draws_itself():
    melon = datasets.load_watermelon()
    model = NaiveBayes().fit(melon, target="好瓜")
    row = {name: column[0] for name, column in melon.items() if name != "好瓜"}
    texts = drawn(waterfall(model.explain({**row, "触感": None})))
    assert {"色泽 = 青绿", "触感 (not used)", "log-odds of 是 over 否"} <= set(texts)


def test_pictures_can_share_a_figure():
    axes = pyplot.subplots(1, 2)[1]
    assert class_balance([1, 2], ["a", "b"], ax=axes[0]) is axes[0]
    assert value_table([[1.0]], ["a"], ["b"], ax=axes[1]) is axes[1]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_characters_that_no_font_has_are_named(monkeypatch):
    monkeypatch.setattr(canvas, "CJK_FAMILIES", ())
    canvas._family_with.cache_clear()
    with pytest.warns(BayeskitWarning, match="no font on this machine has the characters '患病'"):
        class_balance([1], ["患病"])
    canvas._family_with.cache_clear()


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'bayeskit\[plot\]'"):
        class_balance([1], ["a"])


def test_other_texts_keep_the_usual_font():
    ax = class_balance([1, 2], ["a", "b"])
    assert {tuple(text.get_fontfamily()) for text in ax.get_yticklabels()} == {("sans-serif",)}


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (lambda: waterfall(["a"], [1.0, 2.0]), "one label per term"),
        (lambda: waterfall(["a"], [np.inf]), "finite terms"),
        (lambda: confusion_matrix([[1]], ["a", "b"]), r"counts must have shape \(2, 2\)"),
        (lambda: confusion_matrix([[1]], ["a"], loss=[[1, 2]]), "loss must have the shape of counts"),
        (lambda: class_balance([1, 2], ["a"]), "1 numbers, one per class"),
        (lambda: class_balance([0], ["a"]), "with rows in some"),
        (lambda: value_table([[0.5]], ["a", "b"], ["c"]), r"shape \(2, 1\)"),
        (lambda: value_table([[1.5]], ["a"], ["c"]), "between 0 and 1"),
        (lambda: reliability_curve([1, 0], [0.5]), "two columns of one length"),
        (lambda: reliability_curve([1, 2], [0.5, 0.5]), "must be 0 or 1"),
        (lambda: reliability_curve([1, 0], [0.5, 1.5]), "between 0 and 1"),
        (lambda: reliability_curve([1, 0], [0.5, np.nan]), "between 0 and 1"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(picture, message):
    with pytest.raises(BayeskitError, match=message):
        picture()
