"""Answers as tables: plain text, and frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from bayeskit.errors import NetworkError
from bayeskit.result import text_table as in_columns

FrameOf = Literal["pandas", "polars"]
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


def frame_of(columns: Mapping[str, Any], output: str) -> Any:
    """Return columns as a frame of the library asked for.

    Examples
    --------
    >>> frame_of({"state": ["no", "yes"], "P": [0.1, 0.9]}, "pandas").shape
    (2, 2)
    """
    if output == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(columns))
    if output == "polars":
        import polars as pl

        return pl.DataFrame(dict(columns))
    raise NetworkError(f"output must be 'pandas' or 'polars'; got {output!r}.")
