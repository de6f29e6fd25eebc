"""Fit and train on a folder of Parquet that is larger than memory should be; their memory as time goes by."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.scale_parts.tables import N_ROWS, make_table, repeat_files
from benchmarks.timing import write_section

GIGABYTES = float(os.environ.get("SCALE_GIGABYTES", "10"))
FIT = """
import sys
from bayeskit import NaiveBayes, scan
model = NaiveBayes().fit(scan(sys.argv[1]), target="y")
print(int(model.class_count_.sum()))
"""


def run(base: Path) -> None:
    once = base / "once"
    once.mkdir()
    table = make_table(N_ROWS).select([*(f"c{j}" for j in range(10)), "y"])
    rng = np.random.default_rng(1)
    for j in range(10):  # doubles hardly compress, so that a file of two million rows has 160 MB
        table = table.append_column(f"x{j}", pa.array(rng.normal(size=N_ROWS)))
    pq.write_table(table, once / "0.parquet", row_group_size=200_000)
    size = (once / "0.parquet").stat().st_size
    n_files = max(1, round(GIGABYTES * 1e9 / size))
    folder, n_rows = repeat_files(once, n_files), n_files * N_ROWS
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
        print(lines[-1], flush=True)
    write_section("Scale: memory", "python -m benchmarks.scale memory", "\n".join(lines))


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
