"""Files in object stores, behind http and in memory are read as those of a disk; who may read them, they say."""

import http.server
import threading
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from bayeskit import NaiveBayes, scan
from bayeskit.errors import TableError

fsspec = pytest.importorskip("fsspec")

RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "wind": RNG.choice(["weak", "strong"], 600),
        "heat": RNG.normal(size=600).round(1),
        "play": RNG.choice(["yes", "no"], 600),
    }
)
COUNTS = NaiveBayes().fit(TABLE, target="play").counts_


def assert_counts_of_table(source, **options):
    found = NaiveBayes().fit(scan(source, columns=TABLE.column_names, **options), target="play").counts_
    np.testing.assert_array_equal(found.values.n_value, COUNTS.values.n_value)
    np.testing.assert_allclose(found.moments.mean, COUNTS.moments.mean, rtol=1e-14)


@pytest.fixture(scope="module")
def memory():
    store = fsspec.filesystem("memory")
    for k in range(3):
        part = TABLE.slice(200 * k, 200)
        with store.open(f"/lake/parquet/year={2020 + k}/rows.parquet", "wb") as file:
            pq.write_table(part, file)
        with store.open(f"/lake/csv/{k}.csv", "wb") as file:
            pa.csv.write_csv(part, file)
    with store.open("/lake/parquet/_SUCCESS", "wb"):
        pass
    yield store
    store.rm("/lake", recursive=True)


@pytest.mark.parametrize(
    "url",
    [
        "memory://lake/parquet",
        "memory://lake/parquet/",
        "memory://lake/parquet/*/rows.parquet",
        "memory://lake/**/*.parquet",
        ["memory://lake/parquet/year=2020", "memory://lake/parquet/year=202[12]/*"],
        "memory://lake/csv",
        "memory://lake/csv/?.csv",
    ],
)
def test_a_folder_a_glob_and_a_list_of_urls_are_tables(memory, url):
    assert_counts_of_table(url)


def test_folders_between_a_url_and_its_files_are_columns(memory):
    years = scan("memory://lake/parquet")
    assert years.schema.field("year").type == pa.int64()
    assert sorted({value for batch in years.batches() for value in batch["year"].to_pylist()}) == [2020, 2021, 2022]
    assert "year" not in scan("memory://lake/parquet/year=2020").names


def test_a_filesystem_may_be_given(memory, tmp_path):
    assert_counts_of_table("/lake/parquet", filesystem=memory)
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    assert_counts_of_table(str(tmp_path), filesystem=pa.fs.LocalFileSystem())
    with pytest.raises(TableError, match=r"filesystem must be a filesystem of pyarrow.fs or of fsspec; got str"):
        scan("/lake", filesystem="s3")


def test_what_is_not_there_is_said_with_its_url(memory):
    with pytest.raises(TableError, match=r"there is no file 'memory:///lake/none'"):
        scan("memory://lake/none")
    with pytest.raises(TableError, match=r"no file matches 'memory:///lake/csv/\*\.parquet'"):
        scan("memory://lake/csv/*.parquet")
    with pytest.raises(TableError, match=r"'nowhere://x' cannot be read: Protocol not known: nowhere"):
        scan("nowhere://x")


def test_a_file_url_is_a_path(tmp_path):
    (tmp_path / "a b").mkdir()
    pq.write_table(TABLE, tmp_path / "a b" / "rows.parquet")
    assert_counts_of_table((tmp_path / "a b" / "rows.parquet").as_uri())


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """A server of files that gives ranges of bytes, as object stores do."""

    def do_GET(self):
        data = (self.directory_of_files / self.path.lstrip("/")).read_bytes()
        first, last = 0, len(data) - 1
        asked = self.headers.get("Range")
        if asked:
            first, last = (int(n) for n in asked.removeprefix("bytes=").split("-"))
            last = min(last, len(data) - 1)
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.wfile.write(data[first : last + 1])

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str((self.directory_of_files / self.path.lstrip("/")).stat().st_size))
        self.end_headers()

    def log_message(self, *_):
        pass


def test_files_behind_http_are_read_by_ranges(tmp_path):
    pytest.importorskip("aiohttp", reason="fsspec reads http by aiohttp")
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    pa.csv.write_csv(TABLE, tmp_path / "rows.csv")
    handler = type("Handler", (RangeHandler,), {"directory_of_files": tmp_path})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        for name in ("rows.parquet", "rows.csv"):
            assert_counts_of_table(f"http://127.0.0.1:{server.server_port}/{name}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def bucket():
    """A store that speaks S3, on this machine."""
    moto = pytest.importorskip("moto.server", reason="moto[s3] and flask give a store of objects")
    patch = pytest.MonkeyPatch()
    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    settings = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in settings.items():
        patch.setenv(name, value)
    store = pa.fs.S3FileSystem(endpoint_override=f"127.0.0.1:{port}", scheme="http", allow_bucket_creation=True)
    store.create_dir("lake")
    for k in range(3):
        with store.open_output_stream(f"lake/days/wet={'true' if k else 'false'}/{k}.parquet") as file:
            pq.write_table(TABLE.slice(200 * k, 200), file)
    yield f"endpoint_override=127.0.0.1%3A{port}&scheme=http"
    server.stop()
    patch.undo()


@pytest.mark.xdist_group("moto")
def test_a_bucket_is_a_table_and_its_partitions_are_columns(bucket):
    for path in ("days", "days/*/*.parquet"):
        url = f"s3://lake/{path}?{bucket}"
        assert_counts_of_table(url)
        assert scan(url).schema.field("wet").type == pa.bool_()


@pytest.mark.xdist_group("moto")
def test_a_bucket_that_is_not_there_is_said_in_the_stores_words_and_with_the_path(bucket):
    with pytest.raises(TableError, match=r"there is no file 's3://nothing/here'|'s3://nothing/here.*' cannot be read"):
        scan(f"s3://nothing/here?{bucket}")


@pytest.mark.xdist_group("moto")
def test_missing_credentials_are_said_in_the_filesystems_own_words(bucket, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    store = pa.fs.S3FileSystem(endpoint_override="127.0.0.1:9", scheme="http", connect_timeout=1, request_timeout=1)
    with pytest.raises(TableError, match=r"'lake/days' cannot be read: .*AWS Error"):
        scan("lake/days", filesystem=store)
