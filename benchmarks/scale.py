"""Tables larger than memory: rows per CPU second of all processes, memory of a long fit, scoring inside a database.

`python -m benchmarks scale` makes its tables in a folder of its own and deletes it. The folder for memory has
SCALE_GIGABYTES, 10 unless told otherwise; it is one file under many names (hard links), so that the disk holds it once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from bayeskit import AODE, TAN, NaiveBayes, scan, threads, to_sql
from benchmarks.scale_engines import cpu_of_all, dask_client, postgres_server, spark_session
from benchmarks.timing import write_section

N_ROWS, N_COLUMNS, N_LEVELS, N_CLASSES = 2_000_000, 20, 8, 5
N_POSTGRES = 200_000
GIGABYTES = float(os.environ.get("SCALE_GIGABYTES", "10"))

Line = tuple[str, str, float, str]  # way, model, million rows per CPU second, aim


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scale-") as folder, threads(1):
        base = Path(folder)
        table = make_table(N_ROWS)
        for name, form in (("dictionary", as_dictionary(table)), ("text", table)):
            write_files(form, base / name)
        lines = []
        for line in chain(local(base), with_duckdb(base), with_dask(base), with_spark(base), with_postgres(table)):
            print(*line, flush=True)
            lines.append(line)
        scored = scoring(base, table)
        memory = memory_of_fit(base)
    body = ["| way | model | million rows per CPU second | aim |", "|---|---|--:|--:|"]
    body += [f"| {way} | {model} | {rate:.3g} | {aim} |" for way, model, rate, aim in lines]
    note = (
        f"\n{N_ROWS:,} rows × {N_COLUMNS} text columns of {N_LEVELS} levels, {N_CLASSES} classes; PostgreSQL has "
        f"{N_POSTGRES:,} rows. CPU time of all processes of an engine, the least of several runs, start of sessions "
        "left out.\n"
    )
    write_section("Scale", "python -m benchmarks scale", "\n".join([*body, note, *scored, "", *memory]))


def make_table(n_rows: int) -> pa.Table:
    """Columns that depend on the class half of the time."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, N_CLASSES, n_rows, dtype=np.int8)
    levels = pa.array([f"level {v}" for v in range(N_LEVELS)])
    columns = {}
    for j in range(N_COLUMNS):
        own = rng.integers(0, N_LEVELS, n_rows, dtype=np.int8)
        codes = np.where(rng.random(n_rows) < 0.5, own, (label + j) % N_LEVELS)
        columns[f"c{j}"] = levels.take(pa.array(codes))
    columns["y"] = pa.array([f"class {c}" for c in range(N_CLASSES)]).take(pa.array(label))
    return pa.table(columns)


def as_dictionary(table: pa.Table) -> pa.Table:
    return pa.table({name: table[name].combine_chunks().dictionary_encode() for name in table.column_names})


def write_files(table: pa.Table, folder: Path, n_files: int = 4) -> None:
    folder.mkdir()
    size = -(-table.num_rows // n_files)
    for part in range(n_files):
        pq.write_table(table.slice(part * size, size), folder / f"{part}.parquet", row_group_size=size // 4 + 1)


def rate(work: Callable[[], Any], n_rows: int = N_ROWS, more: int | None = None, runs: int = 3) -> float:
    return n_rows / cpu_of_all(work, runs, more) / 1e6


def local(base: Path) -> Iterator[Line]:
    for form in ("dictionary", "text"):
        for model, aim in ((NaiveBayes(), "8"), (AODE(), "4")):
            found = rate(lambda m=model, f=form: m.fit(scan(base / f), target="y"), runs=5)
            yield f"ours, from {form} Parquet", type(model).__name__, found, aim
    paths = sorted((base / "dictionary").iterdir())
    names = pq.read_schema(paths[0]).names
    decode = rate(lambda: [pq.read_table(path, read_dictionary=names, use_threads=False) for path in paths])
    yield "decoding Parquet alone", "none", decode, ""


def with_duckdb(base: Path) -> Iterator[Line]:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        files = f"'{base / 'text'}/*.parquet'"
        singles = [f"SELECT c{j}, y, count(*) FROM {files} GROUP BY ALL" for j in range(N_COLUMNS)]
        found = rate(lambda: [connection.execute(query).fetchall() for query in singles])
        yield f"DuckDB, {N_COLUMNS} GROUP BYs", "counts of naive Bayes", found, ""
        pairs = list(combinations(range(N_COLUMNS), 2))
        queries = [f"SELECT c{i}, c{j}, y, count(*) FROM {files} GROUP BY ALL" for i, j in pairs]
        found = rate(lambda: [connection.execute(query).fetchall() for query in queries], runs=1)
        yield f"DuckDB, {len(pairs)} GROUP BYs", "counts of AODE", found, ""


def with_dask(base: Path) -> Iterator[Line]:
    from bayeskit.cluster import dask

    with dask_client() as client:
        for model in (NaiveBayes(), AODE()):
            work = lambda m=model: dask.fit(m, scan(base / "dictionary"), target="y", client=client)  # noqa: E731
            yield "Dask workers, file tasks", type(model).__name__, rate(work, runs=4), "70 % of ours"


def with_spark(base: Path) -> Iterator[Line]:
    from bayeskit.cluster import spark

    with spark_session() as session:
        for model in (NaiveBayes(), AODE()):
            work = lambda m=model: spark.fit(m, scan(base / "dictionary"), target="y", session=session)  # noqa: E731
            yield "Spark executors, file tasks", type(model).__name__, rate(work, runs=4), "70 % of ours"
        yield "Spark MLlib: index, one-hot, assemble, fit", "NaiveBayes", rate(lambda: mllib(session, base), runs=2), ""


def mllib(session: Any, base: Path) -> None:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes as SparkNaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    frame = session.read.parquet(str(base / "text"))
    names = [f"c{j}" for j in range(N_COLUMNS)]
    indexed, hot = [f"i_{name}" for name in names], [f"h_{name}" for name in names]
    steps = [
        StringIndexer(inputCols=[*names, "y"], outputCols=[*indexed, "label"]),
        OneHotEncoder(inputCols=indexed, outputCols=hot, dropLast=False),
        VectorAssembler(inputCols=hot, outputCol="features"),
        SparkNaiveBayes(),
    ]
    Pipeline(stages=steps).fit(frame)


def with_postgres(table: pa.Table) -> Iterator[Line]:
    from adbc_driver_postgresql import dbapi

    with postgres_server() as (address, pid), dbapi.connect(address) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("rows", table.slice(0, N_POSTGRES))
        connection.commit()
        for model in (NaiveBayes(), AODE()):
            work = lambda m=model: m.fit(scan(connection, "rows"), target="y")  # noqa: E731
            yield "PostgreSQL table", type(model).__name__, rate(work, N_POSTGRES, pid), ""


def scoring(base: Path, table: pa.Table) -> list[str]:
    """The exported query on a million rows: its rate, and whether it says what the library says."""
    import duckdb

    rows = table.slice(0, 1_000_000)
    lines = ["| scoring 1e6 rows in DuckDB | million rows per CPU second | in a second, two threads | labels | P |"]
    lines.append("|---|--:|--:|--:|--:|")
    pq.write_table(rows, base / "score.parquet")
    with duckdb.connect() as connection:
        connection.register("arrow", rows)
        connection.execute("CREATE TABLE memory AS SELECT row_number() OVER () AS id, * FROM arrow")
        numbered = f"SELECT file_row_number AS id, * FROM read_parquet('{base}/score.parquet', file_row_number = true)"
        connection.execute(f"CREATE VIEW file AS {numbered}")
        for model in (NaiveBayes(), TAN()):
            model.fit(rows, target="y")
            for source, words in (("file", "from Parquet"), ("memory", "from a table in memory")):
                query = f"CREATE OR REPLACE TABLE scored AS {to_sql(model, 'duckdb', table=source, keep=['id'])}"
                connection.execute("SET threads = 1")
                alone = rate(lambda q=query: connection.execute(q), 1_000_000)
                connection.execute("SET threads = 2")
                wall = min(_wall(lambda q=query: connection.execute(q)) for _ in range(4))
                answers = connection.execute("SELECT * EXCLUDE (id) FROM scored ORDER BY id").to_arrow_table()
                same = np.array(answers["prediction"].to_pylist()) == model.predict(rows)
                posterior = np.stack([column.to_numpy() for column in answers.columns[1:]], axis=1)
                off = np.abs(posterior - model.predict_proba(rows)).max()
                lines.append(
                    f"| {type(model).__name__}, {words} | {alone:.3g} | {1 / wall:.3g} "
                    f"| {same.sum():,} of {len(same):,} equal | within {off:.0e} |"
                )
    return lines


def _wall(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


FIT = """
import sys
from bayeskit import NaiveBayes, scan
model = NaiveBayes().fit(scan(sys.argv[1]), target="y")
print(int(model.class_count_.sum()))
"""


def memory_of_fit(base: Path) -> list[str]:
    """Fit and train on a folder of Parquet that is larger than memory should be; their memory as time goes by."""
    folder = base / "large"
    folder.mkdir()
    table = make_table(N_ROWS).select([*(f"c{j}" for j in range(10)), "y"])
    rng = np.random.default_rng(1)
    for j in range(10):  # doubles hardly compress, so that a file of two million rows has 160 MB
        table = table.append_column(f"x{j}", pa.array(rng.normal(size=N_ROWS)))
    pq.write_table(table, folder / "0000.parquet", row_group_size=200_000)
    size = (folder / "0000.parquet").stat().st_size
    n_files = max(1, round(GIGABYTES * 1e9 / size))
    for k in range(1, n_files):
        (folder / f"{k:04}.parquet").hardlink_to(folder / "0000.parquet")
    n_rows = n_files * N_ROWS
    lines = [
        f"A folder of {n_files} Parquet files, {n_files * size / 1e9:.1f} GB, {n_rows:,} rows of 10 text columns and "
        "10 of doubles (one file under many names):\n",
        "| | million rows per CPU second | seconds | resident memory in MB at tenths of the time | most | aim |",
        "|---|--:|--:|---|--:|--:|",
    ]
    train = ["-m", "bayeskit.cli", "train", str(folder), "-t", "y", "-m", "NaiveBayes", "--no-report"]
    train += ["-o", str(base / "y.bayes")]
    for what, command in (("`NaiveBayes().fit(scan(folder))`", ["-c", FIT, str(folder)]), ("`bayeskit train`", train)):
        seconds, cpu, curve = watched([sys.executable, *command])
        shown = ", ".join(f"{curve[int(i * (len(curve) - 1) / 10)]:.0f}" for i in range(11))
        lines.append(f"| {what} | {n_rows / cpu / 1e6:.3g} | {seconds:.0f} | {shown} | {max(curve):.0f} | 1000 |")
    return lines


def watched(command: list[str]) -> tuple[float, float, list[float]]:
    """Run a command; return its seconds, its CPU seconds and its resident memory in MB, four times a second."""
    start, curve, cpu = time.perf_counter(), [], 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "BAYESKIT_NUM_THREADS": "1"}) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            try:
                tree = [process, *process.children(recursive=True)]
                curve.append(sum(p.memory_info().rss for p in tree) / 1e6)
                cpu = max(cpu, sum(p.cpu_times().user + p.cpu_times().system for p in tree))
            except psutil.NoSuchProcess:
                break
            time.sleep(0.25)
    if child.returncode:
        raise SystemExit(f"{' '.join(command[:4])} … ended with {child.returncode}.")
    return time.perf_counter() - start, cpu, curve


if __name__ == "__main__":
    main()
