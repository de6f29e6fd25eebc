"""DOT text of a directed graph, for classifiers and networks alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def dot_text(nodes: Mapping[str, Mapping[str, str]], arcs: Iterable[tuple[str, str]]) -> str:
    """Write nodes with their attributes, then arcs as (parent, child), in the order given.

    Examples
    --------
    >>> print(dot_text({"rain": {"shape": "box"}}, [("rain", "wet grass")]))
    digraph {
      "rain" [shape="box"];
      "rain" -> "wet grass";
    }
    """
    lines = []
    for name, attributes in nodes.items():
        shown = ", ".join(f"{key}={quoted(value)}" for key, value in attributes.items())
        lines.append(f"  {quoted(name)} [{shown}];")
    lines += [f"  {quoted(parent)} -> {quoted(child)};" for parent, child in arcs]
    return "\n".join(["digraph {", *lines, "}"])


def quoted(name: str) -> str:
    """Return a name as DOT writes it.

    Examples
    --------
    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
