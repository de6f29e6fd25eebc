"""No test returns before its last assertion: what does not apply is not drawn (``assume``), or is a test of its own."""

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]


def returns(node):
    """Yield the return statements of a function, without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from returns(child)


def test_no_test_returns():
    found = [
        f"{path.relative_to(TESTS)}:{each.lineno} {node.name}"
        for path in sorted(TESTS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for each in returns(node)
    ]
    assert not found
