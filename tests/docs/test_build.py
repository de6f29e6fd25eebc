"""The documentation is built without a warning: every formula is drawn, every link and every name is found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("documentation")  # built once, by one process of the tests

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("sphinx", reason="Sphinx builds the documentation")
    pytest.importorskip("dask", reason="the reference reads the docstrings of modules that need Dask")
    folder = tmp_path_factory.mktemp("build")
    # A copy, since the build writes the gallery's pages beside their sources.
    ignored = shutil.ignore_patterns("_build", "auto_gallery", "sg_execution_times.rst")
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
