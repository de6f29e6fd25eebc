"""Delta and Iceberg tables are read by their logs: removed rows are not counted, and old versions are there."""

import json
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeskit import NaiveBayes, scan
from bayeskit.errors import TableError

deltalake = pytest.importorskip("deltalake")
pyiceberg_sql = pytest.importorskip("pyiceberg.catalog.sql")


def days(n, seed):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "wind": rng.choice(["weak", "strong", "calm"], n),
            "heat": rng.normal(size=n).round(1),
            "place": rng.choice(["a/b", "c d", "50%"], n),
            "play": rng.choice(["yes", "no"], n),
        }
    )


OLD, NEW = days(300, 0), days(200, 1)


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    """A table of three versions: written, added to with one more column, and rows removed."""
    folder = tmp_path_factory.mktemp("lake") / "delta"
    deltalake.write_deltalake(folder, OLD, partition_by=["place"])
    wet = pa.array(np.random.default_rng(2).choice([True, False], 200))
    deltalake.write_deltalake(folder, NEW.append_column("wet", wet), mode="append", schema_mode="merge")
    deltalake.DeltaTable(folder).delete("wind = 'calm' and place = 'c d'")
    return folder


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory):
    """A table of three snapshots: written, added to after a column was renamed, and rows removed."""
    folder = tmp_path_factory.mktemp("lake")
    catalog = pyiceberg_sql.SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.days", schema=OLD.schema)
    table.append(OLD)
    with table.update_schema() as update:
        update.rename_column("wind", "air")
    table.append(NEW.rename_columns(["air", "heat", "place", "play"]))
    table.delete("air == 'calm'")
    yield table
    catalog.close()


def assert_same_counts(scanned, table):
    found, expected = (NaiveBayes().fit(rows, target="play") for rows in (scanned, table))
    assert found.schema_ == expected.schema_
    np.testing.assert_array_equal(found.counts_.values.n_value, expected.counts_.values.n_value)
    np.testing.assert_array_equal(found.counts_.moments.weight, expected.counts_.moments.weight)
    np.testing.assert_allclose(found.counts_.moments.mean, expected.counts_.moments.mean, rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore:the files of this table differ")
def test_a_delta_table_is_counted_as_its_own_reader_reads_it(delta):
    expected = deltalake.DeltaTable(delta).to_pyarrow_table()
    for source in (delta, str(delta), f"file://{delta}", deltalake.DeltaTable(delta)):
        found = scan(source)
        assert found.n_rows == expected.num_rows < 500
        assert_same_counts(found, expected.select(found.names))


@pytest.mark.filterwarnings("ignore:the files of this table differ")
def test_the_pieces_of_a_delta_table_can_be_sent_to_another_process(delta):
    pieces = pickle.loads(pickle.dumps(scan(delta).pieces))
    assert sum(batch.num_rows for piece in pieces for batch in piece.batches(["wind", "place"])) == scan(delta).n_rows


def test_an_old_version_of_a_delta_table_is_read_by_number_and_by_time(delta):
    assert_same_counts(scan(delta, version=0, columns=OLD.column_names), OLD)
    times = [entry["timestamp"] for entry in deltalake.DeltaTable(delta).history()]
    first = datetime.fromtimestamp(min(times) / 1000, UTC) + timedelta(milliseconds=1)
    for when in (first, first.isoformat()):
        assert scan(delta, version=when).n_rows == 300
    with pytest.raises(TableError, match=r"Delta table '.*' at version 77 cannot be read: .*77"):
        scan(delta, version=77)
    with pytest.raises(TableError, match=r"version must be a whole number or a time such as '2024-05-01T12:00:00"):
        scan(delta, version="yesterday")


def test_columns_that_old_files_of_a_delta_table_lack_are_missing_and_said_once(delta):
    with pytest.warns(UserWarning, match="have no column 'wet', which is missing there") as said:
        added = scan(delta, version=1)
    assert len(said) == 1
    n_missing = sum(batch.column(0).null_count for batch in added.select(["wet"]).batches())
    assert n_missing == 300


def test_a_delta_table_of_an_unknown_version_of_the_format_is_refused_in_the_readers_words(tmp_path):
    deltalake.write_deltalake(tmp_path, OLD)
    log = tmp_path / "_delta_log" / "00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = {"minReaderVersion": 99, "minWriterVersion": 99}
    log.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(TableError, match=r"cannot be read.*(99|version|feature|support)"):
        scan(tmp_path)


def test_an_iceberg_table_is_counted_as_its_own_reader_reads_it(iceberg):
    expected = iceberg.scan().to_arrow()
    for source in (iceberg, iceberg.location(), iceberg.location().removeprefix("file://")):
        assert_same_counts(scan(source), expected)
    assert sum(batch.num_rows for batch in scan(iceberg).batches()) == expected.num_rows < 500


def test_an_old_snapshot_of_an_iceberg_table_is_read_by_number_and_by_time(iceberg):
    first = iceberg.snapshots()[0]
    when = datetime.fromtimestamp(first.timestamp_ms / 1000, UTC)
    for version in (first.snapshot_id, when, when.isoformat()):
        assert_same_counts(scan(iceberg, version=version), OLD)
    with pytest.raises(TableError, match=r"has no snapshot 7; the last of \d is \d+"):
        scan(iceberg, version=7)
    with pytest.raises(TableError, match="has no snapshot as old as 1999"):
        scan(iceberg, version="1999-01-01")


def test_the_pieces_of_an_iceberg_table_can_be_sent_to_another_process(iceberg):
    pieces = pickle.loads(pickle.dumps(scan(iceberg).pieces))
    n_rows = sum(batch.num_rows for piece in pieces for batch in piece.batches(["air"]))
    assert n_rows == iceberg.scan().to_arrow().num_rows


def test_a_version_of_something_else_is_refused(tmp_path):
    pq.write_table(OLD, tmp_path / "a.parquet")
    for source in (tmp_path, OLD):
        with pytest.raises(TableError, match="version is only for tables in Delta or Iceberg format"):
            scan(source, version=1)
