"""Exported models on a million rows with missing and unseen cells: labels, probabilities, rates and sizes.

Run with ``python -m benchmarks.export_rows [engine …]``; it needs duckdb, onnxruntime, PostgreSQL and a C compiler.
"""

from __future__ import annotations

import ctypes
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayeskit import AODE, TAN, AutoBayes, LogisticRegression, MDLTree, distill, to_c, to_onnx, to_sql
from benchmarks.timing import write_section

N_FIT, N_ROWS = 1000, 1_000_000
# Rows that each engine scores: those that walk slowly are given fewer, and so are models of many hidden sums or trees.
ROWS = {"C": N_ROWS, "DuckDB": N_ROWS, "ONNX": 20_000, "PostgreSQL": 5000, "SQLite": 2000}
FEWER = {("DuckDB", "AODE"): 50_000, ("DuckDB", "AutoBayes, fast"): 50_000}
Answer = tuple[np.ndarray, np.ndarray, float, float]  # labels, probabilities, CPU seconds, megabytes


def table(n: int, seed: int, *, asked: bool, many_values: bool = False) -> tuple[pa.Table, np.ndarray]:
    """Return numbers and texts that depend on three classes; rows that are asked lack more cells than those of fit."""
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.5, 0.3, 0.2])

    def hidden(in_fit: float) -> np.ndarray:
        return rng.random(n) < in_fit + 0.02 * asked

    columns: dict[str, Any] = {}
    for j in range(4):
        numbers = rng.normal(k * (j < 2) + 0.0, 1.0)
        columns[f"x{j}"] = pa.array(np.exp(numbers) if j == 3 else numbers, mask=hidden(0.05 * (j % 2)))
    for j, size in enumerate((3, 5, 8, 600 if many_values else 12)):
        code = (rng.integers(0, size, n) // (1 + (rng.random(n) < 0.3)) + k * (j % 2)) % size
        words = np.array([f"v{v}" for v in range(size)] + ["never seen"])
        code = np.where(asked & (rng.random(n) < 0.01), size, code)
        columns[f"s{j}"] = pa.array(words[code], mask=hidden(0.05 * (j % 2)))
    return pa.table(columns), np.array(["ash", "beech", "cedar"])[k]


# -- engines ----------------------------------------------------------------------------------------------------------

LOOP = """
void bayeskit_predict_all(const bayeskit_cell *cells, long n, int *labels, double *probabilities)
{
    long i;
    for (i = 0; i < n; ++i) labels[i] = bayeskit_predict(cells + i * N_COLUMNS, probabilities + i * N_CLASSES);
}
"""


def by_c(model: Any, rows: pa.Table) -> Answer:
    """Compile the file with a loop over rows behind it."""
    source = to_c(model)
    cells = np.zeros((rows.num_rows, rows.num_columns), dtype=[("text", np.uintp), ("number", np.float64)])
    kept = []
    for j, name in enumerate(rows.column_names):
        column = rows[name].combine_chunks()
        if pa.types.is_string(column.type):
            coded = column.dictionary_encode()
            texts = [ctypes.create_string_buffer(word.encode()) for word in coded.dictionary.to_pylist()]
            kept.append(texts)
            pointers = np.array([*map(ctypes.addressof, texts), 0], dtype=np.uintp)
            cells["text"][:, j] = pointers[coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)]
        else:
            cells["number"][:, j] = column.to_numpy(zero_copy_only=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.c"
        path.write_text(source + LOOP)
        library = path.with_suffix(".so")
        subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", path, "-o", library, "-lm"], check=True)
        run = ctypes.CDLL(str(library)).bayeskit_predict_all
    labels = np.empty(rows.num_rows, dtype=np.int32)
    answer = np.empty((rows.num_rows, len(model.classes_)))
    start = time.process_time()
    run(cells.ctypes, ctypes.c_long(rows.num_rows), labels.ctypes, answer.ctypes)
    return model.classes_[labels], answer, time.process_time() - start, len(source) / 1e6


def by_duckdb(model: Any, rows: pa.Table) -> Answer:
    """Score a table in memory, in one thread."""
    import duckdb

    query = to_sql(model, "duckdb", table="rows", keep=["id"])
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("arrow", rows.append_column("id", pa.array(range(rows.num_rows))))
        connection.execute("CREATE TABLE rows AS SELECT * FROM arrow")
        start = time.process_time()
        connection.execute(f"CREATE TABLE scored AS {query}")
        spent = time.process_time() - start
        answers = connection.execute("SELECT * FROM scored ORDER BY id").to_arrow_table()
    return *_in_order(answers), spent, len(query) / 1e6


def by_onnx(model: Any, rows: pa.Table) -> Answer:
    """Run the graph on batches of 10,000 rows, in one thread."""
    import onnxruntime as runtime

    graph = to_onnx(model).SerializeToString()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    feeds = []
    for batch in rows.to_batches(max_chunksize=10_000):
        feed = {}
        for column in session.get_inputs():
            cells = batch.column(column.name)
            text = column.type == "tensor(string)"
            cells = cells.fill_null("") if text else cells.to_numpy(zero_copy_only=False)
            feed[column.name] = np.asarray(cells.to_pylist() if text else cells, dtype=object if text else float)[
                :, None
            ]
        feeds.append(feed)
    start = time.process_time()
    labels, answers = zip(*(session.run(None, feed) for feed in feeds), strict=True)
    return np.concatenate(labels), np.concatenate(answers), time.process_time() - start, len(graph) / 1e6


def by_sqlite(model: Any, rows: pa.Table) -> Answer:
    """Score a table in memory."""
    query = to_sql(model, "sqlite", table="rows", keep=["id"])
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE rows (id, {', '.join(rows.column_names)})")
    cells = zip(range(rows.num_rows), *(column.to_pylist() for column in rows.columns), strict=True)
    connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * (rows.num_columns + 1))})", cells)
    start = time.process_time()
    answers = sorted(connection.execute(query).fetchall())
    spent = time.process_time() - start
    connection.close()
    return np.array([row[1] for row in answers]), np.array([row[2:] for row in answers]), spent, len(query) / 1e6


def by_postgresql(model: Any, rows: pa.Table) -> Answer:
    """Score a table of a server of our own; its CPU time is not seen from here, so that seconds are by the clock."""
    from adbc_driver_postgresql import dbapi

    from benchmarks.scale_parts.engines import postgres_server

    query = to_sql(model, "postgres", table="rows", keep=["id"])
    with postgres_server() as (address, _), dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("rows", rows.append_column("id", pa.array(range(rows.num_rows))), mode="replace")
        cursor.execute("SET jit = off")
        start = time.perf_counter()
        cursor.execute(query)
        answers = cursor.fetch_arrow_table()
        spent = time.perf_counter() - start
    return *_in_order(answers.sort_by("id")), spent, len(query) / 1e6


def _in_order(answers: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    labels = np.asarray(answers["prediction"].to_pylist())
    return labels, np.stack([answers[name].to_numpy() for name in answers.column_names[2:]], axis=1)


ENGINES: dict[str, Callable[[Any, pa.Table], Answer]] = {
    "C": by_c,
    "DuckDB": by_duckdb,
    "ONNX": by_onnx,
    "PostgreSQL": by_postgresql,
    "SQLite": by_sqlite,
}


# -- the table --------------------------------------------------------------------------------------------------------


def models() -> Iterator[tuple[str, Any, pa.Table, tuple[str, ...]]]:
    """Yield name, fitted model, rows to score, and the engines for it."""
    fitted, label = table(N_FIT, 0, asked=False)
    asked, _ = table(N_ROWS, 1, asked=True)
    auto = AutoBayes().fit(fitted, label)
    small = distill(auto, fitted, max_nodes=50)
    yield f"tree of {small.n_nodes} nodes, distilled from AutoBayes", small.model, asked, tuple(ENGINES)
    for model in (LogisticRegression(l2=0.1), MDLTree(), TAN(), AODE()):
        yield type(model).__name__, model.fit(fitted, label), asked, tuple(ENGINES)
    yield "AutoBayes, fast", AutoBayes(effort="fast").fit(fitted, label), asked, tuple(ENGINES)
    # A query of ten thousand nodes takes a database minutes to plan, whatever the rows; tests run it on hundreds.
    yield "AutoBayes", auto, asked, ("C",)
    many, many_label = table(20 * N_FIT, 2, asked=False, many_values=True)
    rare = AutoBayes(effort="fast").fit(many, many_label)
    yield "AutoBayes, fast, a text of 600 values", rare, table(N_ROWS, 3, asked=True, many_values=True)[0], ("C",)


def main(chosen: list[str] | None = None) -> None:
    """Score, compare and write the table."""
    lines = [
        "| model | engine | rows | labels that differ | P within | rows per second | MB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for name, model, rows, engines in models():
        expected = model.predict_proba(rows)
        guessed = np.asarray(model.classes_)[expected.argmax(axis=1)]
        for engine in engines:
            if chosen and engine not in chosen:
                continue
            n = FEWER.get((engine, name), ROWS[engine])
            labels, found, spent, size = ENGINES[engine](model, rows.slice(0, n))
            wrong = int((labels != guessed[:n]).sum())
            off = float(np.abs(found - expected[:n]).max())
            lines.append(f"| {name} | {engine} | {n:,} | {wrong} | {off:.0e} | {n / spent:,.0f} | {size:.2f} |")
            print(lines[-1], flush=True)
    said = (
        f"Fitted to {N_FIT:,} rows (that of 600 values to {20 * N_FIT:,}) of four numbers and four texts in three "
        "classes. Two cells of a hundred are missing in every column, also in those that never missed one in fit, and "
        "one text of a hundred was never seen. Rates are rows per CPU second of one thread, planning included; "
        "PostgreSQL's are by the clock."
    )
    write_section("Exported models: a million rows", "python -m benchmarks.export_rows", "\n".join([*lines, "", said]))


if __name__ == "__main__":
    main(sys.argv[1:])
