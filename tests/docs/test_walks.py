"""The page of walks is what the tracer records, and files that call each other back and forth have a reason."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="one of the walks is the command's")
pytest.importorskip("pyarrow", reason="the command reads files through Arrow")

ROOT = Path(__file__).parents[2]
# In a process of its own, since caches that other tests filled would hide a part of the walk.
PROGRAM = """
from docs.developer.walks import REASONS, page, recorded
walks = recorded()
pairs = {pair for walk in walks.values() for pair in walk.back_and_forth}
print(sorted(pairs - set(REASONS)))
print(sorted(set(REASONS) - pairs))
print(page(walks), end="")
"""


@pytest.fixture(scope="module")
def recorded():
    found = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.split("\n", 2)


def test_files_that_call_each_other_back_and_forth_have_a_reason(recorded):
    assert recorded[0] == "[]"


def test_every_reason_is_for_a_pair_of_files_that_call_each_other(recorded):
    assert recorded[1] == "[]"


def test_the_page_is_up_to_date(recorded):
    page = (ROOT / "docs/developer/walks.md").read_text(encoding="utf-8")
    assert page == recorded[2], "make it with: python -m docs.developer.walks"
