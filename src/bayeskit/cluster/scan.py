"""Anything that holds a table → a scan, frames of a cluster among them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bayeskit.errors import TableError
from bayeskit.table.scan import Scan
from bayeskit.table.scan.open import scan as scan_here


def scan(
    source: Any,
    query: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    version: int | str | datetime | None = None,
    filesystem: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_broken: bool = False,
) -> Scan:
    """Describe a table of any size, to be read piece by piece: ``fit`` takes the result as it takes a frame.

    Parameters
    ----------
    source
        A path or a URL (``s3://``, ``gs://``, ``abfs://``, ``https://`` and others that Arrow or fsspec read); a glob
        such as ``"days/*.parquet"``; a folder of Parquet, CSV or JSON Lines files (folders named like ``year=2024``
        above Parquet files become columns); a list of these; the folder or URL of a Delta or Iceberg table, or such a
        table of deltalake or pyiceberg; a pyarrow Table, Dataset or RecordBatchReader; a polars frame or LazyFrame; a
        pandas frame; anything that exports an Arrow stream; a generator of batches, or a function that returns one;
        a DuckDB relation; a Dask or Spark frame, which is counted by its own workers; or a connection of ADBC, DuckDB
        or sqlite3 with ``query``.
    query : str, optional
        For a database: the name of a table, or a SELECT.
    columns : sequence of str, optional
        The columns to read; by default all.
    encoding : str, optional
        The encoding of text files, if it is not UTF-8.
    version : int, str or datetime, optional
        For Delta and Iceberg: the number of a version or snapshot, or the time at which the table was so; by default
        the newest.
    filesystem : filesystem of pyarrow.fs or fsspec, optional
        The filesystem of the paths, where the environment and the URL do not say enough to make one.
    n_jobs : int, optional
        Threads that read files in this process; by default as many as there are cores (`bayeskit.threads` limits them).
        The result does not depend on it.
    checkpoint : path, optional
        A folder for the sums of what was counted so far. After an interruption the same call goes on from there, unless
        names, sizes or footers of the files have changed. It can be deleted once the model is saved.
    skip_broken : bool, default False
        Leave out files, and row groups, that cannot be read; their names are in ``skipped`` of the scan.

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
        return scan_here(
            source,
            query,
            columns=columns,
            encoding=encoding,
            version=version,
            filesystem=filesystem,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            skip_broken=skip_broken,
        )
    of_files = {"query": query, "encoding": encoding, "version": version, "filesystem": filesystem}
    of_files |= {"n_jobs": n_jobs, "checkpoint": checkpoint, "skip_broken": skip_broken or None}
    for name, value in of_files.items():
        if value is not None:
            raise TableError(f"{name} is not for a frame of a cluster, which is read by its own workers.")
    return frame if columns is None else frame.select(columns)
