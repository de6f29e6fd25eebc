"""Tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence

# Rows of a printed table; the rest is counted.
SHOWN = 20


def text_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], n_rows: int, note: str = "") -> str:
    """Return aligned columns under a header; rows beyond those given are counted, and a note comes last.

    Examples
    --------
    >>> print(text_table(("state", "P"), [("yes", "0.1")], 3))
    state  P
    yes    0.1
    and 2 more
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    if n_rows > len(rows):
        lines.append(f"and {n_rows - len(rows)} more")
    return "\n".join([*lines, note] if note else lines)
