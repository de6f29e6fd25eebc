"""The developer pages that say "one file" are true: their code, put into a package elsewhere, is all that it takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_pages import ROOT, blocks

PAGES = ["new_score", "new_format"]


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_the_page_is_a_package_that_works_once_it_is_imported(page, tmp_path):
    (_, package), *rest = blocks(ROOT / f"docs/developer/{page}.md")
    folder = tmp_path / f"temporary_{page}"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import extension\n", encoding="utf-8")
    (folder / "extension.py").write_text(package, encoding="utf-8")
    use = "\n".join([f"import {folder.name}", *(code for _, code in rest), "print('it works')"])
    assert _run(use, tmp_path) == "it works"


@pytest.mark.parametrize(
    ("page", "code", "message"),
    [
        ("new_score", "learn_structure({'A': list('xy')}, score='hannan-quinn')", "score must be one of"),
        ("new_format", "BayesianNetwork.read('x.bnjson')", "'.bnjson' is not a network format"),
    ],
)
def test_without_the_package_the_word_is_not_known(page, code, message, tmp_path):
    use = (
        f"from bayeskit import BayesianNetwork, learn_structure\ntry:\n    {code}\nexcept Exception as e:\n    print(e)"
    )
    assert message in _run(use, tmp_path)


def _run(code, folder):
    path = os.pathsep.join([str(folder), str(Path(sys.modules["bayeskit"].__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
