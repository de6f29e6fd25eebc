"""Engines for the benchmark of scale, started on this machine only, and the CPU time of all their processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil


def cpu_of_all(work: Callable[[], Any], runs: int = 3, more: int | None = None) -> float:
    """Return the least CPU time of this process, its children and the process ``more`` with its children."""
    best = float("inf")
    for _ in range(runs):
        before = _spent(more)
        work()
        best = min(best, _spent(more) - before)
    return best


def _spent(more: int | None) -> float:
    roots = [psutil.Process(), *([psutil.Process(more)] if more else [])]
    total = 0.0
    for process in {p.pid: p for root in roots for p in (root, *root.children(recursive=True))}.values():
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            # Children that ended and were waited for are counted with their parent.
            total += times.user + times.system + times.children_user + times.children_system
    return total


@contextlib.contextmanager
def spark_session() -> Iterator[Any]:
    """Two executors in one JVM, bound to this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("benchmark")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


@contextlib.contextmanager
def dask_client() -> Iterator[Any]:
    """Two workers of one thread each."""
    from dask import distributed

    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@contextlib.contextmanager
def postgres_server() -> Iterator[tuple[str, int]]:
    """A private PostgreSQL: its address and the process to watch."""
    bin_folder = max(Path("/usr/lib/postgresql").glob("*/bin"))
    data = Path(tempfile.mkdtemp(prefix="postgres-"))
    run = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if run:
        shutil.chown(data, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"check": True, "cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*run, bin_folder / "initdb", "-D", data / "db", "-A", "trust", "-U", "postgres"], **quiet)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    control = [*run, bin_folder / "pg_ctl", "-D", data / "db", "-w"]
    subprocess.run([*control, "-o", options, "-l", data / "log", "start"], **quiet)
    try:
        pid = int((data / "db" / "postmaster.pid").read_text().split()[0])
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres", pid
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(data, ignore_errors=True)
