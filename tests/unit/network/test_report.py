"""The report of a network is one offline page that says what the network says."""

import re

import pytest

from bayeskit import BayesianNetwork, datasets
from bayeskit.errors import NetworkError, TableError, TooLargeError
from bayeskit.network import LinearGaussian

ASIA = datasets.load_asia()


def test_the_page_holds_drawing_tables_posteriors_explanation_numbers_and_questions(tmp_path):
    page = ASIA.report(tmp_path / "asia.html", given={"smoke": "yes", "xray": "yes"}, target="lung").read_text()
    for title in (
        "The network",
        "Probabilities",
        "Why: lung",
        "Which numbers matter",
        "What to observe next",
        "Tables",
    ):
        assert title in page
    assert f"yes {ASIA.posterior('lung', given={'smoke': 'yes', 'xray': 'yes'})['yes']:.4g}" in page
    assert page.count("<h3>") == len(ASIA)
    assert not re.search(r"(?:src|href)=[\"']https?:", page)


def test_names_are_escaped(tmp_path):
    net = BayesianNetwork([("<b>", "x")])
    page = net.report(tmp_path / "net.html", title="<i>").read_text()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_mixed_network_has_one_too(tmp_path):
    net = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(x=1.0)})
    assert "mean 1, sd" in net.report(tmp_path / "net.html", given={"y": 2.0}).read_text()


def test_a_strange_file_is_not_replaced(tmp_path):
    (tmp_path / "mine.html").write_text("<p>mine</p>")
    with pytest.raises(TableError, match="nothing in it says that bayeskit wrote it"):
        ASIA.report(tmp_path / "mine.html")
    ASIA.report(tmp_path / "mine.html", force=True)
    ASIA.report(tmp_path / "mine.html")
    with pytest.raises(NetworkError, match="part of the evidence"):
        ASIA.report(tmp_path / "mine.html", given={"lung": "yes"}, target="lung")


def test_a_drawing_shows_the_tables_that_are_asked_for():
    net = datasets.load_campfire()
    svg = net.draw(tables=["Campfire"]).svg
    for cell in ("Storm", "BusTourGroup", "0.4", "0.6", "0.1", "0.9", "0.8", "0.2"):
        assert f">{cell}</text>" in svg
    plain = net.draw().svg
    assert len(svg) > len(plain)
    assert ">0.4</text>" not in plain
    wide = BayesianNetwork({"y": [f"x{k}" for k in range(6)]}).draw(tables="y").svg
    assert "… 48 more" in wide
    real = BayesianNetwork("x->y", tables={"x": LinearGaussian(), "y": LinearGaussian(x=1.0)})
    with pytest.raises(NetworkError, match="'x' is real, so it has no table"):
        real.draw(tables="x")


def test_a_section_that_takes_too_much_says_so_and_the_rest_is_written(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise TooLargeError("it needs 3 <GiB>.")

    monkeypatch.setattr(BayesianNetwork, "questions", refuse)
    page = ASIA.report(tmp_path / "asia.html", given={"smoke": "yes"}, target="lung").read_text()
    assert "<p>it needs 3 &lt;GiB&gt;.</p>" in page
    assert "<h2>Tables</h2>" in page
