"""The bands of states: heights are probabilities, one step wide per row."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from bayeskit.plot import state_bands  # noqa: E402


def test_bands_fill_the_height_and_reach_over_the_last_row():
    axes = state_bands(np.array([[0.25, 0.75], [1.0, 0.0]]), ["calm", "wild"])
    assert axes.get_xlim() == (0.0, 2.0)
    assert axes.get_ylim() == (0.0, 1.0)
    tops = [band.get_paths()[0].vertices[:, 1].max() for band in axes.collections]
    assert tops == [1.0, 1.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["calm", "wild"]


def test_times_are_the_axis():
    axes = state_bands(np.array([[1.0], [1.0], [1.0]]), ["calm"], np.array([1871.0, 1872.0, 1873.0]))
    assert axes.get_xlim() == (1871.0, 1874.0)
    assert axes.get_xlabel() == "time"
