"""What goes wrong in an engine is said by name, and a model that was fitted before stays as it was."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from bayeskit import NaiveBayes, scan
from bayeskit.errors import BayeskitError, TableError

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.xdist_group("engines"),
]


@pytest.fixture
def broken(days, tmp_path):
    """A folder of two files; the second row group of the second file holds no page."""
    for k in range(2):
        pq.write_table(days, tmp_path / f"{k}.parquet", row_group_size=1000)
    damaged = bytearray((tmp_path / "1.parquet").read_bytes())
    place = pq.read_metadata(tmp_path / "1.parquet").row_group(1).column(0).data_page_offset
    damaged[place : place + 50] = b"\xff" * 50
    (tmp_path / "1.parquet").write_bytes(damaged)
    return tmp_path


def test_dask_names_the_row_group_that_a_worker_cannot_read(days, broken, client):
    from bayeskit.cluster import dask

    model = NaiveBayes().fit(days, target="play")
    before = model.class_count_.copy()
    with pytest.raises(TableError, match=r"1\.parquet', row group 1 cannot be read"):
        dask.fit(model, scan(broken), target="play", client=client)
    assert_array_equal(model.class_count_, before)


def test_spark_names_the_row_group_that_an_executor_cannot_read(days, broken, spark):
    from bayeskit.cluster import spark as engine

    model = NaiveBayes().fit(days, target="play")
    before = model.class_count_.copy()
    with pytest.raises(TableError, match=r"1\.parquet', row group 1 cannot be read"):
        engine.fit(model, scan(broken), target="play", session=spark)
    assert_array_equal(model.class_count_, before)


# Run by a worker: it forgets bayeskit, as if it had never been installed there.
BARE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "bayeskit":
            raise ModuleNotFoundError("No module named 'bayeskit'", name="bayeskit")

for name in [name for name in sys.modules if name.split(".")[0] == "bayeskit"]:
    del sys.modules[name]
sys.meta_path.insert(0, Absent())
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_dask_worker_without_bayeskit_is_said_plainly(folder):
    distributed = pytest.importorskip("dask.distributed")
    from bayeskit.cluster import dask

    settings = {"n_workers": 1, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        client.run(exec, BARE)
        with pytest.raises(BayeskitError, match="the Dask workers have no bayeskit: install it in the environment"):
            dask.fit(NaiveBayes(), scan(folder), target="play", client=client)


# A session of its own, since the Python of the executors is chosen when they start.
SPARK_JOB = """
import sys
from pyspark.sql import SparkSession
from bayeskit import NaiveBayes, scan
from bayeskit.cluster import spark
from bayeskit.errors import BayeskitError

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
session = builder.getOrCreate()
frame = session.read.parquet(sys.argv[1])
model = NaiveBayes().fit(scan(sys.argv[1]), target="play")
for work in (
    lambda: spark.fit(NaiveBayes(), scan(sys.argv[1]), target="play", session=session),
    lambda: NaiveBayes().fit(scan(frame), target="play"),
    lambda: spark.score(model, frame, target="play"),
):
    try:
        work()
    except BayeskitError as error:
        print(error)
session.stop()
"""


def test_a_spark_executor_without_bayeskit_is_said_plainly(folder, tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java, which Spark needs, is not here")
    (tmp_path / "sitecustomize.py").write_text(BARE)
    (tmp_path / "job.py").write_text(SPARK_JOB)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    bare.chmod(0o755)
    command = [sys.executable, str(tmp_path / "job.py"), str(folder)]
    # The driver has bayeskit; only what Spark starts is without it.
    own = {**os.environ, "PYSPARK_PYTHON": str(bare), "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(command, env=own, cwd="/", capture_output=True, text=True, timeout=180, check=False)
    message = "the Spark workers have no bayeskit: install it in the environment that they run in."
    assert done.stdout.splitlines() == [message] * 3, done.stderr[-3000:]


def test_a_server_that_ends_the_connection_in_mid_stream_is_said_in_its_words(postgres):
    from adbc_driver_postgresql import dbapi

    query = "SELECT random() AS x, random() AS z, i % 2 AS y FROM generate_series(1, 3000000) AS i"
    with dbapi.connect(postgres) as other, dbapi.connect(postgres) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            process = cursor.fetchone()[0]

        def end(step):
            with other.cursor() as cursor:
                cursor.execute(f"SELECT pg_terminate_backend({process})")
                cursor.fetchall()

        model = NaiveBayes().fit({"x": [0.0, 1.0], "z": [1.0, 2.0], "y": [0, 1]}, target="y")
        with pytest.raises(TableError, match=r"the query: the database says: .*|the query cannot be read: .*"):
            model.fit(replace(scan(connection, query), progress=end), target="y")
        assert_array_equal(model.class_count_, [1, 1])


def test_a_query_that_returns_nothing_is_refused(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection:
        nothing = scan(connection, "SELECT 1.5 AS x, 'no' AS y WHERE false")
        with pytest.raises(TableError, match="the target 'y' has no value in any row"):
            NaiveBayes().fit(nothing, target="y")
