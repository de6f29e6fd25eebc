"""Ctrl-C ends a job on Dask or Spark: the caller gets KeyboardInterrupt, and no process is left behind."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.xdist_group("engines")

DASK = """
from dask import distributed
from bayeskit.cluster.dask import fit

def start():
    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    cluster = distributed.LocalCluster(**settings)
    return cluster, {"client": distributed.Client(cluster)}

def end(cluster):
    cluster.close()
"""

SPARK = """
from pyspark.sql import SparkSession
from bayeskit.cluster.spark import fit

def start():
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    session = builder.getOrCreate()
    session.range(2).collect()
    return session, {"session": session}

def end(session):
    session.stop()
"""

JOB = """
import sys
from bayeskit import AODE, scan

def main():
    engine, workers = start()
    print("started", flush=True)
    try:
        fit(AODE(), scan(sys.argv[1]), target="y", **workers)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        end(engine)

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def large_folder(tmp_path_factory):
    """Files that take two workers much longer to count than a test waits; the disk holds one of them."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    names = [*(f"c{j}" for j in range(30)), "y"]
    rows = pa.table({name: pa.array(rng.integers(0, 8, 200_000).astype(str)) for name in names})
    pq.write_table(rows, folder / "0.parquet")
    for k in range(1, 500):
        (folder / f"{k}.parquet").hardlink_to(folder / "0.parquet")
    return folder


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_an_interrupted_job_leaves_no_process_behind(engine, large_folder, tmp_path):
    if engine == "dask":
        pytest.importorskip("dask.distributed")
    else:
        pytest.importorskip("pyspark")
        if shutil.which("java") is None:
            pytest.skip("Java, which Spark needs, is not here")
    script = tmp_path / "job.py"
    script.write_text((DASK if engine == "dask" else SPARK) + JOB)
    command = [sys.executable, str(script), str(large_folder)]
    own = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    # A group of its own, so that the signal reaches the job's processes, as Ctrl-C in a terminal does, and not ours.
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, env=own, **settings) as job:
        try:
            assert job.stdout.readline() == "started\n"
            time.sleep(3)
            family = psutil.Process(job.pid).children(recursive=True)
            assert family
            os.killpg(job.pid, signal.SIGINT)
            said, trouble = job.communicate(timeout=60)
        finally:
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
    assert said == "interrupted\n", trouble
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive
