"""The pictures of the course show what they are given: every survivor, every hypothesis, every step."""

import pytest

from bayeskit import BruteForceMAP, CandidateElimination, datasets
from bayeskit.errors import BayeskitError

matplotlib = pytest.importorskip("matplotlib", reason="pictures are drawn with matplotlib")
from matplotlib import pyplot  # noqa: E402

from bayeskit import plot  # noqa: E402


@pytest.fixture(autouse=True)
def without_a_screen():
    with matplotlib.rc_context({"backend": "agg"}):
        yield
        pyplot.close("all")


def test_each_of_the_six_survivors_of_973_is_wider_than_two_pixels():
    learner = BruteForceMAP().fit(datasets.load_enjoy_sport(declared=True), target="enjoy", record=True)
    figure = plot.belief_panels([step.posterior for step in learner.steps_], list("abcde"))
    figure.canvas.draw()
    last = figure.axes[-1]
    bars = [bar.get_window_extent() for bar in last.patches]
    assert len(bars) == 6
    assert min(bar.width for bar in bars) > 2
    assert [bar.get_height() for bar in last.patches] == pytest.approx([1 / 6] * 6, rel=1e-12)
    assert len(figure.axes[0].patches) == 973


def test_a_lattice_has_a_line_for_each_pair_of_neighbours():
    space = CandidateElimination().fit(datasets.load_enjoy_sport(declared=True), target="enjoy")
    ax = plot.lattice(space.hypotheses())
    # S is below three, which are below the two of G: 3 + 4 lines (Mitchell, figure 2.3).
    assert (len(ax.texts), len(ax.lines)) == (6, 7)
    with pytest.raises(BayeskitError, match="1 to 60 hypotheses; got 0"):
        plot.lattice([])


def test_a_table_of_a_network_shows_its_numbers():
    net = datasets.load_campfire()
    ax = plot.network_table(net, "Campfire")
    shown = {cell.get_text().get_text() for cell in ax.tables[0].get_celld().values()}
    assert {"0.4", "0.1", "0.8", "0.2", "Campfire = yes", "yes, no"} <= shown


def test_an_animation_is_saved_with_all_its_steps_and_replaces_nothing(tmp_path):
    drawn = []
    plot.animate(lambda ax, k: drawn.append(k), 3, tmp_path / "steps.gif")
    assert {0, 1, 2} <= set(drawn)
    assert (tmp_path / "steps.gif").read_bytes()[:3] == b"GIF"
    plot.animate(lambda ax, k: ax.set_title(str(k)), 2, tmp_path / "steps.html")
    assert (tmp_path / "steps.html").read_text(encoding="utf-8").count("data:image/png") == 2
    with pytest.raises(BayeskitError, match="exists already"):
        plot.animate(lambda ax, k: None, 3, tmp_path / "steps.gif")
    with pytest.raises(BayeskitError, match=r"must end in \.gif or \.html"):
        plot.animate(lambda ax, k: None, 3, tmp_path / "steps.mp4")
