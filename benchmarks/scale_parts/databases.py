"""Rows per CPU second from databases, those of the server counted: counts made there, and rows streamed from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bayeskit import AODE, NaiveBayes, scan
from bayeskit.table.scan.database import QueryPiece
from benchmarks.scale_parts.engines import cpu_of_all, postgres_server
from benchmarks.scale_parts.tables import N_COLUMNS, N_ROWS, make_table, write_files
from benchmarks.timing import write_section

N_POSTGRES = 400_000


def run(base: Path) -> None:
    body = ["| way | model | million rows per CPU second |", "|---|---|--:|"]
    for way, model, rate in (*_duckdb(base), *_postgres()):
        print(way, model, rate, flush=True)
        body.append(f"| {way} | {model} | {rate:.3g} |")
    body.append(
        f"\nThe table of the part above: {N_ROWS:,} rows in DuckDB, {N_POSTGRES:,} in PostgreSQL. CPU time of this "
        "process and of the server together, the least of several runs. Where PostgreSQL counts, it sends some "
        "hundred rows; where rows are streamed, it sends them all."
    )
    write_section("Scale: databases", "python -m benchmarks.scale databases", "\n".join(body))


def _rate(work: Callable[[], Any], n_rows: int, more: int | None = None, runs: int = 3) -> float:
    return n_rows / cpu_of_all(work, runs, more) / 1e6


def _duckdb(base: Path) -> Iterator[tuple[str, str, float]]:
    import duckdb

    write_files(make_table(N_ROWS), base / "text")
    files = f"'{base / 'text'}/*.parquet'"
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for model in (NaiveBayes(), AODE()):
            relation = connection.sql(f"SELECT * FROM {files}")
            found = _rate(lambda m=model, r=relation: m.fit(scan(r), target="y"), N_ROWS)
            yield "DuckDB relation on Parquet, its Arrow reader", type(model).__name__, found
        singles = [f"SELECT c{j}, y, count(*) FROM {files} GROUP BY ALL" for j in range(N_COLUMNS)]
        found = _rate(lambda: [connection.execute(query).fetchall() for query in singles], N_ROWS)
        yield f"DuckDB alone, {N_COLUMNS} GROUP BYs", "counts of NaiveBayes", found
        pairs = list(combinations(range(N_COLUMNS), 2))
        queries = [f"SELECT c{i}, c{j}, y, count(*) FROM {files} GROUP BY ALL" for i, j in pairs]
        found = _rate(lambda: [connection.execute(query).fetchall() for query in queries], N_ROWS, runs=1)
        yield f"DuckDB alone, {len(pairs)} GROUP BYs", "counts of AODE", found


def _postgres() -> Iterator[tuple[str, str, float]]:
    from adbc_driver_postgresql import dbapi

    with postgres_server() as (address, pid), dbapi.connect(address) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("rows", make_table(N_POSTGRES))
        connection.commit()

        def fit(model: Any) -> Any:
            return model.fit(scan(connection, "rows"), target="y")

        yield "PostgreSQL counts, GROUPING SETS", "NaiveBayes", _rate(lambda: fit(NaiveBayes()), N_POSTGRES, pid)
        with patch.object(QueryPiece, "group_counts", lambda *_: {}):
            yield "PostgreSQL streamed by ADBC", "NaiveBayes", _rate(lambda: fit(NaiveBayes()), N_POSTGRES, pid)
        yield "PostgreSQL streamed by ADBC", "AODE", _rate(lambda: fit(AODE()), N_POSTGRES, pid)
