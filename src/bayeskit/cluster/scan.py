"""Anything that holds a table → a scan, frames of a cluster among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeskit.table.scan import Scan
from bayeskit.table.scan.open import scan as scan_here


def scan(
    source: Any, query: str | None = None, *, columns: Sequence[str] | None = None, encoding: str | None = None
) -> Scan:
    """Describe a table of any size, to be read piece by piece: ``fit`` takes the result as it takes a frame.

    Parameters
    ----------
    source
        A path; a glob such as ``"days/*.parquet"``; a folder of Parquet, CSV or JSON Lines files (folders named
        like ``year=2024`` above Parquet files become columns); a list of these; a pyarrow Table, Dataset or
        RecordBatchReader; a polars frame or LazyFrame; a pandas frame; a DuckDB relation; a Dask or Spark frame, which
        is counted by its own workers; or an ADBC connection with ``query``.
    query : str, optional
        For a database: the name of a table, or a SELECT.
    columns : sequence of str, optional
        The columns to read; by default all.
    encoding : str, optional
        The encoding of text files, if it is not UTF-8.

    Returns
    -------
    Scan
        Only names, types and sizes have been read.

    Examples
    --------
    >>> import tempfile, pathlib, bayeskit
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for day, wind in enumerate(["weak", "strong"]):
    ...     _ = (folder / f"{day}.csv").write_text(f"wind,play\\n{wind},no\\nweak,yes\\n")
    >>> model = bayeskit.NaiveBayes().fit(bayeskit.scan(folder), target="play")
    >>> model.class_count_
    array([2, 2])
    """
    package = type(source).__module__.split(".")[0]
    frame: Scan | None = None
    if package == "pyspark":
        from bayeskit.cluster import spark

        frame = spark.open_scan(source)
    elif package in ("dask", "dask_expr"):
        from bayeskit.cluster import dask

        frame = dask.open_scan(source)
    if frame is None:
        return scan_here(source, query, columns=columns, encoding=encoding)
    return frame if columns is None else frame.select(columns)
