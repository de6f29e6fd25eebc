"""Every source of a table is described without being read, and read in its own batches."""

import sys
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from bayeskit import KNeighbors, LogisticRegression, MDLTree, NaiveBayes, read_texts, scan
from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.files import TableFile

ROWS = 1000
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "wind": pa.array(RNG.choice(["weak", "strong", None], ROWS)),
        "wet": pa.array(RNG.choice([True, False, None], ROWS)),
        "heat": pa.array(RNG.normal(size=ROWS).round(1), mask=RNG.random(ROWS) < 0.1),
        "play": pa.array(RNG.choice(["yes", "no"], ROWS)),
    }
)


def parquet_folder(tmp_path):
    for k in range(3):
        pq.write_table(TABLE.slice(k * 334, 334), tmp_path / f"part-{k}.parquet", row_group_size=100)
    (tmp_path / "_SUCCESS").touch()
    return tmp_path


def hive_folder(tmp_path):
    for value in ("yes", "no"):
        folder = tmp_path / f"play={value}"
        folder.mkdir()
        part = TABLE.filter(pa.compute.equal(TABLE["play"], value)).drop_columns(["play"])
        pq.write_table(part, folder / "rows.parquet")
    return tmp_path


def csv_folder(tmp_path):
    frame = TABLE.to_pandas()
    for k in range(2):
        frame[k * 500 : (k + 1) * 500].to_csv(tmp_path / f"{k}.csv", index=False)
    return tmp_path


def dictionary_table(_):
    # Each chunk has a dictionary of its own, in the order in which values came.
    parts = [TABLE["wind"].combine_chunks().slice(at, 100).dictionary_encode() for at in range(0, ROWS, 100)]
    return TABLE.set_column(0, "wind", pa.chunked_array(parts))


SOURCES = {
    "parquet folder": parquet_folder,
    "glob": lambda tmp_path: str(parquet_folder(tmp_path) / "part-*.parquet"),
    "list of paths": lambda tmp_path: sorted(parquet_folder(tmp_path).glob("*.parquet")),
    "hive folder": hive_folder,
    "dataset": lambda tmp_path: ds.dataset([str(path) for path in sorted(parquet_folder(tmp_path).glob("*.parquet"))]),
    "reader": lambda _: TABLE.to_reader(100),
    "arrow table": lambda _: TABLE,
    "dictionaries that differ by batch": dictionary_table,
    "polars frame": lambda _: pl.from_arrow(TABLE),
    "polars LazyFrame": lambda _: pl.from_arrow(TABLE).lazy(),
    "pandas frame": lambda _: TABLE.to_pandas(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_model_fitted_on_a_scan_is_the_model_fitted_on_the_table(source, tmp_path):
    found = NaiveBayes().fit(scan(source(tmp_path)), target="play")
    expected = NaiveBayes().fit(TABLE, target="play")
    assert found.schema_ == expected.schema_
    assert list(found.classes_) == list(expected.classes_)
    np.testing.assert_array_equal(found.counts_.values.n_value, expected.counts_.values.n_value)
    np.testing.assert_allclose(found.counts_.moments.mean, expected.counts_.moments.mean, rtol=1e-12, atol=1e-15)


def test_text_files_are_read_batch_by_batch(tmp_path):
    found = NaiveBayes(kinds={"wet": "categorical"}).fit(scan(csv_folder(tmp_path)), target="play")
    expected = NaiveBayes().fit(TABLE, target="play")
    np.testing.assert_array_equal(found.counts_.column(0), expected.counts_.column(0))
    np.testing.assert_allclose(found.counts_.moments.mean, expected.counts_.moments.mean, rtol=1e-12, atol=1e-15)


def test_real_categoricals_declare_their_values_and_dictionaries_of_text_do_not():
    words = ["weak", "strong", "calm"]
    declared = pd.DataFrame({"wind": pd.Categorical(["weak", "weak"], words), "play": ["yes", "no"]})
    assert NaiveBayes().fit(scan(declared), target="play").schema_["wind"].values == tuple(words)
    enum = pl.DataFrame({"wind": pl.Series(["weak", "weak"], dtype=pl.Enum(words)), "play": ["yes", "no"]})
    for source in (enum, enum.lazy()):
        assert NaiveBayes().fit(scan(source), target="play").schema_["wind"].values == tuple(words)
    stored = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(words))
    table = pa.table({"wind": stored, "play": ["yes", "no"]})
    for source in (table, scan(table)):
        assert NaiveBayes().fit(source, target="play").schema_["wind"].values == ("weak",)


def test_a_scan_says_what_it_is_without_reading_rows(tmp_path):
    days = scan(parquet_folder(tmp_path))
    assert (days.n_rows, days.names, len(days.pieces)) == (ROWS, ("wind", "wet", "heat", "play"), 3)
    assert repr(days).splitlines()[:2] == ["Scan of 3 files: 1,000 rows, 3 pieces", "  wind  string"]
    assert scan(days, columns=["heat", "play"]).names == ("heat", "play")


def test_bad_sources_are_refused_by_name(tmp_path):
    with pytest.raises(TableError, match=r"there is no file 'nowhere/\*.parquet', and no file matches it"):
        scan("nowhere/*.parquet")
    with pytest.raises(TableError, match="holds no file that ends in"):
        scan(tmp_path)
    with pytest.raises(TableError, match=r"scan takes a path.* got int 3"):
        scan(3)
    with pytest.raises(TableError, match=r"column 'wnd'.*wind"):
        scan(TABLE, columns=["wnd"])
    with pytest.raises(TableError, match="query is only for database connections"):
        scan(TABLE, "SELECT 1")


def test_a_column_that_is_text_in_one_file_and_a_truth_value_in_the_next_is_refused_by_file_and_column(tmp_path):
    pq.write_table(pa.table({"wind": ["weak"], "play": ["no"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"wind": [True], "play": ["no"]}), tmp_path / "b.parquet")
    with pytest.raises(TableError, match=r"column 'wind' is bool in '.*b.parquet' and string in '.*a.parquet'"):
        scan(tmp_path)


def test_a_broken_row_group_is_named_and_nothing_is_learned(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path, row_group_size=400, compression="none")
    data = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).dictionary_page_offset
    data[start : start + 60] = b"\xff" * 60
    path.write_bytes(data)
    model = NaiveBayes().fit({"wind": ["weak"]}, ["yes"])
    with pytest.raises(TableError, match=r"'.*a.parquet', row group 1 cannot be read"):
        model.fit(scan(path), target="play")
    assert model.class_count_.tolist() == [1]


def test_a_file_that_is_cut_is_refused_at_once(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(TABLE, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TableError, match=r"a.parquet' is not a complete Parquet file"):
        scan(path)


class LostConnection:
    """An ADBC connection whose server goes away after the first batch."""

    def __init__(self, error=None):
        self.error = error or ConnectionError("server closed the connection unexpectedly\nsecond line")

    def adbc_get_info(self):
        return {}

    def cursor(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def execute(self, query):
        self.query = query

    def fetch_record_batch(self):
        empty = TABLE.select(["wind", "play"]).slice(0, 0)
        return empty.to_reader() if "LIMIT 0" in self.query else self._some()

    def _some(self):
        yield TABLE.select(["wind", "play"]).to_batches()[0]
        raise self.error


def test_a_database_that_goes_away_is_said_in_its_words_and_nothing_is_learned():
    model = NaiveBayes().fit({"wind": ["weak"]}, ["yes"])
    with pytest.raises(TableError, match=r"the table 'days'.*server closed the connection unexpectedly"):
        model.fit(scan(LostConnection(), "days"), target="play")
    with pytest.raises(TableError, match="the table 'days': the database says: RuntimeError"):
        model.fit(scan(LostConnection(RuntimeError()), "days"), target="play")
    assert model.class_count_.tolist() == [1]


@pytest.mark.parametrize("model", [LogisticRegression(), KNeighbors(), MDLTree()], ids=str)
def test_a_model_that_needs_all_rows_at_once_says_so_of_a_scan(model):
    days = scan(pa.table({"wind": ["weak", "strong"], "play": ["yes", "no"]}))
    with pytest.raises(TypeError, match="a pyarrow table is a scan, and this needs all rows at once"):
        model.fit(days, target="play")


def test_an_interrupt_leaves_the_model_as_it_was():
    from dataclasses import replace

    def stop(step):
        raise KeyboardInterrupt

    model = NaiveBayes().fit({"wind": ["weak"]}, ["yes"])
    with pytest.raises(KeyboardInterrupt):
        model.fit(replace(scan(TABLE), progress=stop), target="play")
    assert model.class_count_.tolist() == [1]


def test_a_stream_that_was_read_is_refused_and_not_taken_for_an_empty_table():
    table = pa.table({"a": ["u", "v"], "y": ["no", "yes"]})
    stream = scan(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    NaiveBayes().fit(stream, target="y")
    with pytest.raises(TableError, match="was read already, and it can be read once"):
        NaiveBayes().fit(stream, target="y")


def replaced(folder, table, as_dataset, **options):
    """Write a file, scan it, and write another table over it."""
    path = folder / "rows.parquet"
    pq.write_table(TABLE, path, row_group_size=250)
    described = scan(ds.dataset(path) if as_dataset else path)
    pq.write_table(table, path, **options)
    return described


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (TABLE, {"row_group_size": 400}, "row groups that held 1,000 rows hold 1,000|row groups or the types"),
        (TABLE, {"row_group_size": 200}, "row groups that held 1,000 rows hold 800"),
        (TABLE.slice(0, 400), {"row_group_size": 250}, "row groups that held 1,000 rows hold 400"),
        (pa.concat_tables([TABLE, TABLE]), {"row_group_size": 250}, "its row groups or the types of its columns"),
        (TABLE.drop_columns(["wet"]), {"row_group_size": 250}, "it has no column 'wet' now"),
        (TABLE.set_column(2, "heat", TABLE["heat"].cast(pa.string())), {"row_group_size": 250}, "the types of its"),
    ],
)
@pytest.mark.parametrize("as_dataset", [False, True])
def test_a_parquet_file_that_was_written_again_after_the_scan_is_refused_by_name(
    tmp_path, table, options, said, as_dataset
):
    described = replaced(tmp_path, table, as_dataset, **options)
    with pytest.raises(TableError, match=rf"rows\.parquet' was changed after it was scanned: .*({said})"):
        NaiveBayes().fit(described, target="play")


def test_a_dataset_knows_its_rows_and_may_be_of_some_row_groups(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(TABLE, path, row_group_size=250)
    (whole,) = ds.dataset(path).get_fragments()
    some = ds.FileSystemDataset([whole.subset(row_group_ids=[1, 3])], TABLE.schema, whole.format, whole.filesystem)
    assert scan(some).n_rows == 500
    rows = pa.Table.from_batches(list(scan(some).batches()))
    assert rows.equals(pa.concat_tables([TABLE.slice(250, 250), TABLE.slice(750)]).combine_chunks())
    with pytest.raises(TableError, match=r"filtered pyarrow dataset .* scan\(dataset\.scanner\(\)\.to_reader\(\)\)"):
        scan(ds.dataset(path).filter(ds.field("play") == "yes"))


def test_rows_that_a_parquet_file_gives_are_compared_with_its_footer(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=250)
    described = scan(tmp_path / "rows.parquet")
    lying = replace(described, pieces=(replace(described.pieces[0], row_groups=(0, 1)),))
    with pytest.raises(TableError, match=r"rows\.parquet' was changed .* that held 1,000 rows gave 500"):
        NaiveBayes().fit(lying, target="play")


def test_a_parquet_file_that_is_replaced_while_it_is_read_is_read_to_its_own_end(tmp_path):
    path, other = tmp_path / "rows.parquet", tmp_path / "other.parquet"
    pq.write_table(TABLE, path, row_group_size=100)
    pq.write_table(TABLE.slice(0, 10), other)
    batches = scan(path).batches()
    first = next(batches)
    other.replace(path)
    assert pa.Table.from_batches([first, *batches]).num_rows == ROWS


def test_a_feather_file_is_scanned_with_the_types_it_holds(tmp_path):
    table = TABLE.append_column("code", pa.array(["1", "2"] * (ROWS // 2)))
    feather.write_feather(table, tmp_path / "rows.feather", chunksize=300)
    pq.write_table(table, tmp_path / "rows.parquet")
    models = [NaiveBayes().fit(scan(tmp_path / f"rows.{kind}"), target="play") for kind in ("feather", "parquet")]
    assert models[0].schema_ == models[1].schema_
    assert np.array_equal(models[0].predict_proba(table.drop_columns(["play"])), models[1].predict_proba(table))


def test_without_pyarrow_a_scan_says_what_to_install(monkeypatch, tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\ngood,yes\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for read in (scan, TableFile.open, read_texts):
        with pytest.raises(BayeskitError, match="needs pyarrow: pip install pyarrow"):
            read(tmp_path / "rows.csv")


class DuckConnection:
    """A connection as ADBC drivers give them, over DuckDB."""

    def __init__(self, table):
        self.duck = duckdb.connect()
        self.duck.register("days", table)

    def adbc_get_info(self):
        return {"vendor_name": "DuckDB"}

    @contextmanager
    def cursor(self):
        yield SimpleNamespace(execute=self.execute, fetch_record_batch=lambda: self.result.to_arrow_reader())

    def execute(self, query):
        self.result = self.duck.sql(query)


@pytest.mark.parametrize(
    "query",
    [
        "days",
        "SELECT * FROM days",
        "(SELECT * FROM days) UNION ALL (SELECT * FROM days LIMIT 0);",
        "-- all days\nSELECT * FROM days -- of last year",
        "/* all\ndays */ with d AS (SELECT * FROM days) SELECT * FROM d;\n",
        "  \n select*from days",
        "((table days))",
    ],
)
def test_a_query_may_begin_with_a_bracket_or_a_comment(query):
    assert sum(batch.num_rows for batch in scan(DuckConnection(TABLE), query).batches()) == ROWS


def test_a_table_whose_name_begins_as_a_query_does_is_a_table():
    connection = DuckConnection(TABLE)
    for name in ("select", "tables", "values_2024", "with-dash"):
        connection.duck.register(name, TABLE)
        assert sum(batch.num_rows for batch in scan(connection, name).batches()) == ROWS


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Delta", "_delta_log/0.json"), ("Iceberg", "metadata/v1.metadata.json"), ("Hudi", ".hoodie/hoodie.properties")],
)
def test_a_folder_whose_log_says_which_files_count_is_refused_by_its_format(tmp_path, name, mark):
    (tmp_path / mark).parent.mkdir()
    (tmp_path / mark).touch()
    inside = tmp_path / "data" / "year=2024"
    inside.mkdir(parents=True)
    pq.write_table(TABLE, inside / "a.parquet")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    pq.write_table(TABLE, tmp_path / "deep" / "er" / "b.parquet")
    for source in (inside, inside / "a.parquet", str(inside / "*.parquet"), [tmp_path]):
        with pytest.raises(TableError, match=f"'{tmp_path}' is a table in {name} format"):
            scan(source)


def test_folder_values_are_decoded_and_folders_above_what_is_scanned_are_no_columns(tmp_path):
    top = tmp_path / "team=a" / "table"
    for place in ("New%20York%3A1", "50%25"):
        (top / f"the%20place={place}").mkdir(parents=True)
        pq.write_table(TABLE.select(["play"]), top / f"the%20place={place}" / "a.parquet")
    assert scan(top).names == ("play", "the place")
    places = {value for batch in scan(top).batches() for value in batch["the place"].to_pylist()}
    assert places == {"New York:1", "50%"}
    assert scan(str(top / "*" / "a.parquet")).names == ("play", "the place")
    assert scan(sorted(top.glob("*/a.parquet"))).names == ("play", "the place")
    assert scan(top / "the%20place=50%25").names == ("play",)
    assert scan(top / "the%20place=50%25" / "a.parquet").names == ("play",)


def test_a_file_that_is_named_several_times_is_read_once(tmp_path):
    folder = parquet_folder(tmp_path)
    sources = [str(folder / "*.parquet"), str(folder / "part-1*"), folder / "part-0.parquet", folder]
    assert scan(sources).n_rows == ROWS
    (tmp_path / "link.parquet").symlink_to(folder / "part-0.parquet")
    assert scan(sources).n_rows == ROWS


def test_a_text_file_without_rows_is_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("wind,play\n")
    with pytest.raises(TableError, match=r"'a\.csv' has a header and no rows"):
        scan(tmp_path / "a.csv")


def test_batches_with_many_levels_are_read_together_and_counted_as_in_memory(monkeypatch):
    from bayeskit.learn.plan import Plan
    from bayeskit.table import arrow
    from bayeskit.table.scan.arrow import TablePiece

    monkeypatch.setattr(arrow, "_MANY_LEVELS", 50)
    added = []
    add = Plan.add
    monkeypatch.setattr(Plan, "add", lambda *arguments: added.append(1) or add(*arguments))
    rng = np.random.default_rng(0)
    table = pa.table({"id": rng.integers(0, 900, 4000).astype(str), "play": rng.choice(["yes", "no"], 4000)})
    for form in (table, table.set_column(0, "id", table["id"].dictionary_encode())):
        parts = [form.slice(first, 100) for first in range(0, 4000, 100)]  # each with levels that others lack
        joined = pa.concat_tables([part.combine_chunks() for part in parts])
        monkeypatch.setattr(TablePiece, "batches", lambda self, columns: iter(self.table.select(columns).to_batches()))
        added.clear()
        found = NaiveBayes().fit(scan(joined), target="play")
        # A dictionary is seen to be long before it is read; the levels of text only after the first batch.
        assert len(added) == (2 if form is table else 1)
        assert found.schema_ == NaiveBayes().fit(table, target="play").schema_
        np.testing.assert_array_equal(
            found.counts_.values.n_value, NaiveBayes().fit(table, target="play").counts_.values.n_value
        )
