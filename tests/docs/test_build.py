"""The documentation is built without a warning: every formula is drawn, every link and every name is found."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayeskit

pytestmark = pytest.mark.xdist_group("documentation")  # built once, by one process of the tests

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("sphinx", reason="Sphinx builds the documentation")
    pytest.importorskip("dask", reason="the reference reads the docstrings of modules that need Dask")
    folder = tmp_path_factory.mktemp("build")
    # A copy, since the build writes the gallery's pages beside their sources.
    ignored = shutil.ignore_patterns("_build", "auto_gallery", "classes", "films", "sg_execution_times.rst")
    shutil.copytree(DOCS, folder / "docs", ignore=ignored)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "-D", "plot_gallery=0"]
    run = subprocess.run(
        [*command, "-b", "html", str(folder / "docs"), str(folder / "html")], capture_output=True, text=True
    )
    return folder / "html", run


def test_the_build_has_no_warning(built):
    _, run = built
    assert run.returncode == 0, run.stderr


def test_one_half_is_drawn_as_a_fraction(built):
    pages, _ = built
    page = (pages / "theory" / "naive_bayes.html").read_text(encoding="utf-8")
    start = page.index("BIC</mtext>")
    fraction = page[page.index("<mfrac", start) : page.index("</mfrac>", start)]
    assert "<mn>1</mn>" in fraction
    assert "<mn>2</mn>" in fraction


@pytest.mark.parametrize("query", ["西瓜", "拉普拉斯修正", "独依赖估计"])
def test_the_search_finds_chinese_words_in_the_chinese_course(built, query):
    pages, _ = built
    text = (pages / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    # As the page searches: the word itself, or with more than two characters any word that holds it.
    words = [term for term in index["terms"] if term == query or (len(query) > 2 and query in term)]
    places = [index["terms"][term] for term in words]
    numbers = {n for place in places for n in (place if isinstance(place, list) else [place])}
    assert any(index["docnames"][n].startswith("course/zh/") for n in numbers)


def test_every_chapter_of_the_course_shows_its_film_and_links_its_notebook(built):
    pages, _ = built
    for chapter in sorted((DOCS / "course").glob("*/[0-9]*.md")):
        page = pages / chapter.relative_to(DOCS).with_suffix(".html")
        assert f'href="{chapter.stem}.ipynb"' in page.read_text(encoding="utf-8")
        (film,) = (pages / "course/films").glob(f"{chapter.name[:2]}.gif")
        assert f'src="../../_images/{film.name}"' in page.read_text(encoding="utf-8")
        assert json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))["nbformat"] == 4


@pytest.mark.parametrize("name", [name for name in bayeskit.__all__ if isinstance(getattr(bayeskit, name), type)])
def test_every_public_class_has_a_page_that_says_since_when(built, name):
    pages, _ = built
    text = (pages / "reference" / "classes" / f"{name}.html").read_text(encoding="utf-8")
    assert f"<title>{name} &#8212; bayeskit" in text
    assert re.search(r"Added in version\s+0\.\d+\.\d+", re.sub(r"<[^>]+>", "", text))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_course_is_printed_as_one_pdf(built, language, tmp_path):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))):
        pytest.skip("Chromium prints the course")
    pages, _ = built
    target = tmp_path / "course.pdf"
    printed = [sys.executable, DOCS / "course/printed.py", pages, target, language]
    assert subprocess.run(printed, capture_output=True, text=True).returncode == 0
    assert len(re.findall(rb"/Type\s*/Page\b", target.read_bytes())) >= 60  # fifteen chapters of four sheets and more
