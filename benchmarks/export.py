"""Sizes and rates of exported models on the heart table: C compiled by cc, and SQL in DuckDB.

Run with ``python -m benchmarks.export``; it needs duckdb, pandas and a C compiler.
"""

import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import pandas as pd

from bayeskit import AODE, AutoBayes, LogisticRegression, MDLTree, datasets, to_c, to_sql

COPIES, CALLS = 700, 100


class Cell(ctypes.Structure):
    """A cell of a row as the C file reads it."""

    _fields_ = (("text", ctypes.c_char_p), ("number", ctypes.c_double))


def cell(value):
    """Return a value of a frame as a cell."""
    return Cell(value.encode(), 0.0) if isinstance(value, str) else Cell(None, float(value))


def c_rate(source, rows):
    """Return rows per CPU second, each by a call from Python."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.c"
        path.write_text(source)
        library = path.with_suffix(".so")
        subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", path, "-o", library, "-lm"], check=True)
        predict = ctypes.CDLL(str(library)).bayeskit_predict
        cells = [(Cell * len(row))(*map(cell, row)) for row in rows.itertuples(index=False)]
        answer = (ctypes.c_double * 16)()
        start = time.process_time()
        for _ in range(CALLS):
            for row in cells:
                predict(row, answer)
        return CALLS * len(cells) / (time.process_time() - start)


def duckdb_seconds(query, rows):
    """Return the CPU seconds of a query, planning included."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("rows", rows)
        start = time.process_time()
        connection.execute(query).fetchall()
        return time.process_time() - start


def main():
    """Print the table."""
    heart = pd.DataFrame(datasets.load_heart())
    rows = heart.dropna().drop(columns="disease")
    many = pd.concat([rows] * COPIES, ignore_index=True)
    print(f"| model | C, MB | C, rows per CPU second | SQL, MB | DuckDB: 10 rows, s | DuckDB: {len(many):,} rows, s |")
    print("|---|--:|--:|--:|--:|--:|")
    for model in (AutoBayes(), AutoBayes("fast"), AODE(), LogisticRegression(), MDLTree()):
        model.fit(heart, target="disease")
        source, query = to_c(model), to_sql(model, "duckdb", table="rows", keep=[])
        rate = c_rate(source, rows[list(model.schema_.names)])
        few, all_rows = duckdb_seconds(query, rows.head(10)), duckdb_seconds(query, many)
        sizes = f"{len(source) / 1e6:.2f} | {rate:,.0f} | {len(query) / 1e6:.2f}"
        print(f"| {model!r} | {sizes} | {few:.2f} | {all_rows:.2f} |", flush=True)


if __name__ == "__main__":
    main()
