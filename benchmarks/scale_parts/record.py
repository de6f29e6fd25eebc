"""A thousand million rows in days: all counted, one day unlearned, and compared with the count without that day.

SCALE_RECORD_ROWS says how many rows, 100 million unless told otherwise; 1e9 rows take 6 GB of disk.
"""

from __future__ import annotations

import os
import resource
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bayeskit import NaiveBayes, scan, threads
from benchmarks.timing import write_section

N_ROWS = int(float(os.environ.get("SCALE_RECORD_ROWS", "1e8")))
N_DAYS, N_TEXTS, N_NUMBERS, N_LEVELS, N_CLASSES = 50, 7, 2, 8, 4
ROWS_AT_ONCE = 1 << 20


def write_day(path: Path, day: int, n_rows: int) -> int:
    """Write a day of rows, group by group: seven columns of text, two of numbers and the class."""
    rng = np.random.default_rng(day)
    levels = pa.array([f"level {v}" for v in range(N_LEVELS)])
    grades = pa.array(np.arange(-500, 500) / 100)
    labels = pa.array([f"class {c}" for c in range(N_CLASSES)])
    writer = None
    for first in range(0, n_rows, ROWS_AT_ONCE):
        n = min(ROWS_AT_ONCE, n_rows - first)
        label = rng.integers(0, N_CLASSES, n, dtype=np.uint8)
        columns = {}
        for j in range(N_TEXTS):
            code = rng.integers(0, N_LEVELS, n, dtype=np.uint8)
            code = np.where(rng.integers(0, 2, n, dtype=np.uint8) == 0, code, (label + j) % N_LEVELS)
            columns[f"c{j}"] = pa.DictionaryArray.from_arrays(code.astype(np.int8), levels).cast(
                pa.dictionary(pa.int32(), pa.string())
            )
        for j in range(N_NUMBERS):
            columns[f"x{j}"] = grades.take(pa.array(rng.integers(0, 700, n, dtype=np.int16) + 100 * label.astype(int)))
        columns["y"] = pa.DictionaryArray.from_arrays(pa.array(label, pa.int32()), labels)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=ROWS_AT_ONCE)
    if writer is not None:
        writer.close()
    return path.stat().st_size


def run(base: Path) -> None:
    folder = base / "days"
    folder.mkdir()
    begun = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        paths = [folder / f"{day:02}.parquet" for day in range(N_DAYS)]
        sizes = list(pool.map(write_day, paths, range(N_DAYS), [N_ROWS // N_DAYS] * N_DAYS))
    written = time.perf_counter() - begun
    day = paths[N_DAYS // 3]
    with threads(os.cpu_count() or 1):
        counted, seconds, cpu = timed(scan(folder))
        start = time.perf_counter()
        rest = counted.unlearn(scan(day), target="y").counts_
        unlearned = time.perf_counter() - start
        expected = NaiveBayes().fit(scan([path for path in paths if path != day]), target="y").counts_
    (_, found), (_, wanted) = rest.to_parts(), expected.to_parts()
    whole = [name for name, array in wanted.items() if array.dtype.kind in "iu"]
    for name in whole:
        np.testing.assert_array_equal(found[name], wanted[name])
    moments = [(rest.moments.mean, expected.moments.mean), (rest.moments.scatter, expected.moments.scatter)]
    off = max(float(np.abs(a / b - 1).max()) for a, b in moments)
    equal = "equal bit for bit" if all((a == b).all() for a, b in moments) else f"equal to {off:.1e}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    n_cells = N_ROWS * (N_TEXTS + N_NUMBERS + 1)
    n_columns = N_TEXTS + N_NUMBERS + 1
    body = f"""{N_ROWS:,} rows × {n_columns} columns ({N_TEXTS} of text, {N_NUMBERS} of numbers, the class) \
in {N_DAYS} Parquet files, {sum(sizes) / 1e9:.1f} GB, {os.cpu_count()} cores:

| | seconds | CPU seconds |
|---|--:|--:|
| written, in pieces | {written:.0f} | |
| `NaiveBayes().fit(scan(folder))` | {seconds:.1f} | {cpu:.1f} |
| `unlearn(scan(day))`, {N_ROWS // N_DAYS:,} rows | {unlearned:.1f} | |

{N_ROWS / seconds / 1e6:.1f} million rows, {n_cells / seconds / 1e6:.0f} million cells per second; \
{N_ROWS / cpu / 1e6:.1f} million rows per CPU second. Most resident memory: {memory:.0f} MB.

The counts after `unlearn` are those of a fit on the other {N_DAYS - 1} days: whole numbers bit for bit, means and
scatters {equal}."""
    write_section("Scale: record", f"SCALE_RECORD_ROWS={N_ROWS} python -m benchmarks.scale record", body)
    shutil.rmtree(folder)


def timed(table: object) -> tuple[NaiveBayes, float, float]:
    start, before = time.perf_counter(), os.times()
    model = NaiveBayes().fit(table, target="y")
    after = os.times()
    cpu = after.user + after.system - before.user - before.system
    return model, time.perf_counter() - start, cpu
