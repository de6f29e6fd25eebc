"""The report is one page that a browser opens without a word of complaint, and nothing in it can act."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the report's pictures need matplotlib")
from bayeskit.cli.app import run
from bayeskit.workflow.report.thresholds import SCRIPT

EVIL = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def evil_report(tmp_path_factory):
    """A report of a table whose names and cells try to be HTML, SVG, CSS and mathematics."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    rows = ['"<b>name</b> & co",amount,$x_1$,"</style>"']
    script = EVIL.replace('"', '""')
    for i in range(120):
        c = i % 2
        cell = script if rng.random() < 0.3 + 0.4 * c else "$\\frac{1}$ ]]>"
        word = "" if i % 9 == 0 else "]]>" if i % 3 else "--"
        rows.append(f'"{cell}",{rng.normal() + c:.3f},{word},"{"no" if c else script}"')
    (folder / "evil.csv").write_text("\n".join(rows))
    options = ["-t", "</style>", "-o", str(folder / "evil.bayes"), "-m", "NaiveBayes", "-m", "TAN"]
    assert run(["train", str(folder / "evil.csv"), *options]) == 0
    return folder / "evil.html"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)


def only_script(text):
    """Return the one script of a page, which its policy allows by its hash."""
    from base64 import b64encode
    from hashlib import sha256

    assert Tags(text).names.count("script") == 1
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    allowed = f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    assert allowed in text.replace("&#39;", "'").replace("&#x27;", "'")
    return script


def test_what_stands_in_a_cell_is_shown_as_text(evil_report):
    text = evil_report.read_text(encoding="utf-8")
    assert only_script(text) == SCRIPT
    assert text.count("<style>") == text.count("</style>") == 1
    assert "&lt;script&gt;alert(" in text
    assert "&lt;b&gt;name&lt;/b&gt; &amp; co" in text


def test_nothing_is_loaded_from_elsewhere(evil_report):
    text = evil_report.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert re.findall(r"""(?:src|href)=["'](?!#)""", text) == []
    assert "url(" not in re.sub(r"url\(#\w+\)", "", text)
    assert "@import" not in text


def test_every_id_of_the_page_stands_once(evil_report):
    ids = re.findall(r'\bid="([^"]+)"', evil_report.read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))


def test_every_section_is_there(evil_report):
    text = evil_report.read_text(encoding="utf-8")
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == [
        "Data problems",
        "The table",
        "Class balance",
        "Leaderboard",
        "Are the probabilities calibrated?",
        "Ranking rows",
        "Thresholds, costs and gains",
        "Confusion matrix",
        "Learning curve",
        "Importance of columns",
        "Effect of each column",
        "Values by class",
        "Structure",
        "Explained rows",
        "Model card",
    ]
    links = re.findall(r'<a href="#([\w-]+)">', text)
    assert links == re.findall(r'<section id="([\w-]+)">', text)
    assert "random_state 0" in text
    assert "NumPy" in text


@pytest.mark.parametrize(("size", "dark"), [((1100, 1400), False), ((1100, 1400), True), ((500, 900), False)])
def test_a_browser_opens_the_report_without_a_word_in_its_console(evil_report, tmp_path, size, dark):
    from tests.unit.cli.browser import open_page, require_chromium

    require_chromium()
    dom, console, picture = open_page(evil_report, tmp_path, size=size, dark=dark)
    assert console == []
    assert only_script(dom) == SCRIPT
    assert dom.count("<section id=") == 15
    # The slider shows itself, and says what the table says of the best threshold.
    assert 'class="card slider" hidden' not in dom
    (threshold,) = re.findall(r"<output>([\d.]+)</output>", dom)
    (best,) = re.findall(r'<tr class="best"><td class="n">([\d.]+)</td><td class="n">([\d,]+)</td>', dom)
    assert (threshold, *re.findall(r'data-shown="chosen">([\d,]+)<', dom)) == best
    assert picture.stat().st_size > 10_000
    ground = _corner(picture)
    assert (ground.mean() < 60) == dark


def _corner(path):
    from matplotlib.image import imread

    return (imread(path)[2:10, 2:10, :3] * 255).astype(int)
