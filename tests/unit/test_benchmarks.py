"""`python -m benchmarks all` finds in every task what it calls."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def tasks():
    """Return the tasks, read from the text: the benchmarks' peers need not be installed."""
    if not FOLDER.is_dir():
        pytest.skip("the source distribution has no benchmarks", allow_module_level=True)
    from benchmarks.__main__ import TASKS

    return TASKS


@pytest.mark.parametrize("task", tasks())
def test_every_task_has_a_main_without_arguments(task):
    (main,) = (
        node
        for node in ast.parse((FOLDER / f"{task}.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    )
    assert len(main.args.args) == len(main.args.defaults)
