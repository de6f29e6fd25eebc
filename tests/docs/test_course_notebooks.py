"""Every chapter is a notebook too, whose cells run from top to bottom."""

import json
import re
import runpy
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[2] / "docs/course"
NOTEBOOKS = runpy.run_path(str(COURSE / "notebooks.py"))


@pytest.mark.parametrize("page", sorted((COURSE / "zh").glob("[0-9]*.md")), ids=lambda page: page.stem)
def test_the_cells_of_a_chapter_run_and_every_answer_is_right(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    every = NOTEBOOKS["cells"](page.read_text(encoding="utf-8"))
    for cell in every:
        if cell["cell_type"] == "code":
            # What a cell shows is asserted where it is an answer.
            asked = re.sub(r"^(course\.check\(.*\))$", r"assert \1", cell["source"], flags=re.MULTILINE)
            exec(compile(asked, page.name, "exec"), names)
    assert len([cell for cell in every if cell["metadata"]]) >= 10  # the solutions, which are folded
    assert len({cell["id"] for cell in every}) == len(every)


def test_a_notebook_has_what_its_format_asks_for(tmp_path):
    NOTEBOOKS["write_notebook"](COURSE / "en/05_semi_naive.md", tmp_path / "chapter.ipynb")
    text = (tmp_path / "chapter.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    # The keys of the notebook format, version 4.5.
    keys = {"markdown": {"id", "cell_type", "metadata", "source"}}
    keys["code"] = keys["markdown"] | {"execution_count", "outputs"}
    assert all(set(cell) == keys[cell["cell_type"]] for cell in notebook["cells"])
    assert "details>" not in text
    assert ">>>" not in text


def test_a_cell_ends_where_something_is_printed():
    block = ">>> a = 1\n>>> a\n1\n>>> for k in range(2):\n...     print(k)\n0\n1\n"
    assert list(NOTEBOOKS["statements"](block)) == ["a = 1\na", "for k in range(2):\n    print(k)"]
