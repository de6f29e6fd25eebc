"""A tree as text: one line per branch, and the tests that lead to a node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.coding import Coding
from bayeskit.concept.mdl.tree import Test, Tree


def branch_text(tree: Tree, coding: Coding, node: int, child: int) -> str:
    """Return the condition under which a row goes from a node to one of its children."""
    j = int(tree.feature[node])
    name = coding.schema.names[j]
    first = child == tree.first_child[node]
    if tree.test[node] == Test.EVERY_VALUE:
        return f"{name} = {coding.value(j, int(tree.branch[child]))}"
    if tree.test[node] == Test.GROUP:
        bits = int(tree.branch[child])
        values = [coding.value(j, code) for code in range(int(coding.sizes[j]) + 1) if bits >> code & 1]
        return f"{name} = {' or '.join(values)}"
    if tree.test[node] == Test.ONE_VALUE:
        value = int(tree.value[node])
        others = tree.missing_first[node] == 0 and value != coding.sizes[j] and not first
        return f"{name} {'=' if first else '≠'} {coding.value(j, value)}{' or missing' if others else ''}"
    lost = " or missing" if tree.missing_first[node] == int(first) else ""
    return f"{name} {'<' if first else '≥'} {coding.threshold(j, int(tree.value[node])):.6g}{lost}"


def steps_to(tree: Tree, coding: Coding, node: int) -> list[str]:
    """Return the tests on the way from the root to a node."""
    steps: list[str] = []
    while node:
        # The parent is the last test whose children start at or before the node.
        tests = np.flatnonzero((tree.test != Test.LEAF) & (tree.first_child <= node))
        inside = tests[tree.first_child[tests] + tree.n_children[tests] > node]
        parent = int(inside[0])
        steps.append(branch_text(tree, coding, parent, node))
        node = parent
    return steps[::-1]


def render(tree: Tree, coding: Coding, classes: NDArray[Any]) -> str:
    """Return the whole tree, one line per branch, a leaf with its class and the rows of each class."""
    lines: list[str] = []

    def describe(node: int) -> str:
        counts = tree.counts[node]
        told = ", ".join(f"{n:g}" for n in counts)
        return f"{classes[int(counts.argmax())]} ({told})"

    open_nodes = [(0, -1, 0)]
    while open_nodes:
        node, parent, depth = open_nodes.pop()
        text = "" if parent < 0 else branch_text(tree, coding, parent, node)
        if tree.test[node] == Test.LEAF:
            lines.append("│  " * max(depth - 1, 0) + f"{text}{': ' if text else ''}{describe(node)}")
            continue
        if text:
            lines.append("│  " * (depth - 1) + text)
        children = range(tree.n_nodes)[tree.children(node)]
        open_nodes.extend((child, node, depth + 1) for child in reversed(children))
    return "\n".join(lines)
