"""A Spark executor that is killed in the middle of a count costs its tasks again, and changes no count."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from bayeskit import AODE, load, scan

pytestmark = pytest.mark.xdist_group("engines")

N_FILES, N_ROWS = 60, 100_000
JOB = """
import sys
import threading
import time
from pyspark.sql import SparkSession
from bayeskit import AODE, scan
from bayeskit.cluster.spark import fit

builder = SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false")
for name in ("spark.driver.bindAddress", "spark.driver.host"):
    builder = builder.config(name, "127.0.0.1")
session = builder.config("spark.executor.memory", "512m").getOrCreate()
session.sparkContext.setLogLevel("ERROR")

def tell():
    tracker = session.sparkContext.statusTracker()
    while True:
        for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
            if stage and stage.numCompletedTasks > 0:
                print("counting", flush=True)
                return
        time.sleep(0.05)

threading.Thread(target=tell, daemon=True).start()
fit(AODE(), scan(sys.argv[2]), target="y", session=session).save(sys.argv[3])
print("finished", flush=True)
session.stop()
"""


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = pa.table({name: rng.integers(0, 8, N_ROWS).astype(str) for name in [*(f"c{j}" for j in range(20)), "y"]})
    pq.write_table(rows, tmp_path / "0.parquet")
    days = tmp_path / "days"
    days.mkdir()
    for k in range(N_FILES):
        (days / f"{k}.parquet").hardlink_to(tmp_path / "0.parquet")
    return days


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers of one core each, on this machine only."""
    pyspark = pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java, which Spark needs, is not here")
    home = Path(pyspark.__path__[0])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    address, servers = f"spark://127.0.0.1:{port}", []

    def start(*command):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        servers.append(subprocess.Popen([home / "bin" / "spark-class", *command], env=own, **quiet))

    here = ("--host", "127.0.0.1", "--webui-port", "0")
    try:
        start("org.apache.spark.deploy.master.Master", *here, "--port", str(port))
        for k in range(2):
            work = ("-c", "1", "-m", "1g", "-d", str(tmp_path / f"worker{k}"))
            start("org.apache.spark.deploy.worker.Worker", *here, *work, address)
        yield address, own
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait(timeout=30)


def executors(job):
    """The processes that run tasks for a job, not those of its driver."""
    driver = {process.pid for process in psutil.Process(job.pid).children(recursive=True)}
    others = [process for process in psutil.Process().children(recursive=True) if process.pid not in driver]
    alive = [process for process in others if process.status() != psutil.STATUS_ZOMBIE]
    return [process for process in alive if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline())]


def test_an_executor_that_is_killed_leaves_the_counts_as_they_are(cluster, folder, tmp_path):
    address, own = cluster
    script, saved = tmp_path / "job.py", tmp_path / "counted.bayes"
    script.write_text(JOB)
    command = [sys.executable, str(script), address, str(folder), str(saved)]
    with subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        try:
            assert job.stdout.readline() == "counting\n"
            first, *_ = running = executors(job)
            assert len(running) == 2
            first.kill()
            first.wait(20)
            time.sleep(0.5)
            assert job.poll() is None  # the work was not over
            said, trouble = job.communicate(timeout=240)
        finally:
            if job.poll() is None:
                job.kill()
    assert said == "finished\n", trouble
    found, expected = load(saved), AODE().fit(scan(folder), target="y")
    (mine, arrays), (other, expected_arrays) = found.counts_.to_parts(), expected.counts_.to_parts()
    assert mine == other
    for name, array in expected_arrays.items():
        assert_array_equal(arrays[name], array)
