"""Tables as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.result import text_table as in_columns

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
    more = f"and {n_rows - len(rows)} more" if n_rows > len(rows) else ""
    return "\n".join(filter(None, (in_columns(header, rows), more, note)))
