"""Every Python block of the pages runs, and every docstring's example prints what it says."""

import doctest
import importlib
import pkgutil
import re
import runpy
import warnings
from pathlib import Path

import pytest

import bayeskit

ROOT = Path(__file__).parents[2]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(r"^(?P<indent> *)```python\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
NOT_WRITTEN_BY_HAND = {"_build", "auto_gallery"}

PAGES = sorted(ROOT.glob("*.md")) + [
    page for page in sorted((ROOT / "docs").rglob("*.md")) if not NOT_WRITTEN_BY_HAND & set(page.parts)
]
# The classes of `bayeskit` itself are those of its modules, with scikit-learn's base classes.
MODULES = [found.name for found in pkgutil.walk_packages(bayeskit.__path__, "bayeskit.")]
MODULES.remove("bayeskit._kernels._native")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """Yield the line that each ```python block starts after, and its code."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        indent = len(match["indent"])
        code = "".join(line[indent:] for line in match["code"].splitlines(keepends=True))
        yield text.count("\n", 0, match.start("code")), code


def run_examples(test, globs):
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    runner.run(test, out=report.append, clear_globs=False)
    globs.update(test.globs)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("page", [page for page in PAGES if any(blocks(page))], ids=name_of)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a page may write files
    names = {"__name__": "__main__"}
    for line, code in blocks(page):
        if ">>>" in code:
            run_examples(doctest.DocTestParser().get_doctest(code, names, name_of(page), str(page), line), names)
        else:
            # The empty lines give an error the line number that it has in the page.
            exec(compile("\n" * line + code, str(page), "exec"), names)


@pytest.mark.parametrize("script", sorted((ROOT / "docs/gallery").glob("plot_*.py")), ids=name_of)
def test_a_gallery_script_runs(script, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="the gallery draws with matplotlib")
    pyplot = importlib.import_module("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context({"backend": "agg"}), warnings.catch_warnings():
        # Without a screen there is nothing to show.
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        runpy.run_path(str(script), run_name="__main__")
        assert pyplot.get_fignums()
        pyplot.close("all")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name):
    if name == "bayeskit.cluster.dask":
        pytest.importorskip("dask", reason="this module is for those who have Dask")
    if name.startswith("bayeskit.export.onnx."):
        pytest.importorskip("onnx", reason="these modules are for those who have onnx")
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        run_examples(test, {})


@pytest.mark.parametrize("name", [name for name in bayeskit.__all__ if name not in bayeskit._STAGES and name[0] != "_"])
def test_a_public_name_has_an_example(name):
    assert ">>>" in (getattr(bayeskit, name).__doc__ or "")


@pytest.mark.parametrize("name", [name for name in bayeskit.__all__ if name[0] != "_"])
def test_a_public_name_stands_in_the_reference(name):
    reference = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/reference").glob("*.md"))
    assert re.search(rf"bayeskit\.{name}\b", reference)
