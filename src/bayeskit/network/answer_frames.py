"""Answers as frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bayeskit.errors import NetworkError

FrameOf = Literal["pandas", "polars"]


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
