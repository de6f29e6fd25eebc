"""A chapter of the course as a Jupyter notebook: text and code in cells, without what the code prints."""

import json
import re
from pathlib import Path

_BLOCK = re.compile(r"```python\n(.*?)```\n?", re.DOTALL)
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def statements(block):
    """Yield the code of each cell of a block of examples: a cell ends where something is printed.

    >>> list(statements(">>> a = 1\\n>>> a\\n1\\n>>> b = 2\\n"))
    ['a = 1\\na', 'b = 2']
    """
    code = []
    printed = False
    for line in block.splitlines():
        if line.startswith((">>> ", "... ")):
            if printed and line.startswith(">>> "):
                yield "\n".join(code)
                code = []
            printed = False
            code.append(line[4:])
        elif line == "...":
            code.append("")
        else:
            printed = True
    if code:
        yield "\n".join(code)


def cells(page):
    """Return the cells of a page; solutions are hidden until they are asked for."""
    found, end, folded = [], 0, False
    for match in [*_BLOCK.finditer(page), None]:
        text = page[end : match.start() if match else len(page)]
        folded = "<details>" in text if "<details>" in text or "</details>" in text else folded
        text = re.sub(r"<details><summary>(.*?)</summary>", r"*\1*", text).replace("</details>", "").strip()
        if text:
            found.append({"cell_type": "markdown", "metadata": {}, "source": text})
        if match is None:
            break
        end = match.end()
        hidden = {"jupyter": {"source_hidden": True}} if folded else {}
        for code in statements(match[1]):
            cell = {"cell_type": "code", "metadata": hidden, "execution_count": None, "outputs": [], "source": code}
            found.append(cell)
    return [{"id": f"cell-{k}", **cell} for k, cell in enumerate(found)]


def write_notebook(page, path):
    """Write the notebook of a page."""
    notebook = {"cells": cells(Path(page).read_text(encoding="utf-8")), "metadata": _KERNEL}
    Path(path).write_text(
        json.dumps({**notebook, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False, indent=1), encoding="utf-8"
    )
