"""The exported query on a million rows in DuckDB: its rate, and whether it says what the library says."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from bayeskit import KDB, TAN, NaiveBayes, to_sql
from benchmarks.scale_parts.engines import cpu_of_all
from benchmarks.scale_parts.tables import make_table
from benchmarks.timing import write_section

N_SCORED = 1_000_000


def run(base: Path) -> None:
    import duckdb

    rows = make_table(N_SCORED)
    lines = ["| scoring 1e6 rows in DuckDB | million rows per CPU second | a second, two threads | aim | labels | P |"]
    lines.append("|---|--:|--:|--:|--:|--:|")
    pq.write_table(rows, base / "score.parquet")
    with duckdb.connect() as connection:
        connection.register("arrow", rows)
        connection.execute("CREATE TABLE memory AS SELECT row_number() OVER () AS id, * FROM arrow")
        numbered = f"SELECT file_row_number AS id, * FROM read_parquet('{base}/score.parquet', file_row_number = true)"
        connection.execute(f"CREATE VIEW file AS {numbered}")
        # Summing over two missing parents of KDB has too many cells for a query, which says so.
        for model, options in ((NaiveBayes(), {}), (TAN(edges="all"), {}), (KDB(k=2), {"missing_parents": "null"})):
            model.fit(rows, target="y")
            for source, words in (("file", "from Parquet"), ("memory", "from a table in memory")):
                query = to_sql(model, "duckdb", table=source, keep=["id"], **options)
                found = _score(connection, model, query, rows)
                lines.append(f"| {type(model).__name__}, {words} | {found} |")
                print(lines[-1], flush=True)
    write_section("Scale: scoring by SQL", "python -m benchmarks.scale scoring", "\n".join(lines))


def _score(connection: Any, model: Any, query: str, rows: Any) -> str:
    query = f"CREATE OR REPLACE TABLE scored AS {query}"
    connection.execute("SET threads = 1")
    alone = N_SCORED / cpu_of_all(lambda: connection.execute(query), runs=7) / 1e6
    connection.execute("SET threads = 2")
    wall = min(_wall(lambda: connection.execute(query)) for _ in range(4))
    answers = connection.sql("SELECT * EXCLUDE (id) FROM scored ORDER BY id").to_arrow_table()
    same = np.array(answers["prediction"].to_pylist()) == model.predict(rows)
    posterior = np.stack([column.to_numpy() for column in answers.columns[1:]], axis=1)
    off = np.abs(posterior - model.predict_proba(rows)).max()
    return f"{alone:.3g} | {N_SCORED / wall / 1e6:.3g} | 1 | {same.sum():,} of {len(same):,} equal | within {off:.0e}"


def _wall(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
