"""Rows that come as they are asked for: generators, Arrow streams of other packages, DuckDB and SQLite connections."""

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayeskit import TAN, NaiveBayes, scan
from bayeskit.errors import TableError

RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "wind": pa.array(RNG.choice(["weak", "strong", None], 500)),
        "heat": RNG.normal(size=500).round(1),
        "age": RNG.integers(0, 9, 500),
        "play": RNG.choice(["yes", "no"], 500),
    }
)


def assert_counts_of_table(source, *query, model=NaiveBayes):
    found = model().fit(scan(source, *query), target="play").counts_.to_parts()[1]
    expected = model().fit(TABLE, target="play").counts_.to_parts()[1]
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=0 if array.dtype.kind == "i" else 1e-12, atol=1e-12)


def parts():
    return (TABLE.slice(100 * k, 100) for k in range(5))


@pytest.mark.parametrize("form", [lambda t: t, pa.Table.to_pandas, pa.Table.to_pydict, lambda t: t.to_batches()[0]])
def test_a_generator_of_batches_of_any_form_is_a_table_that_is_read_once(form):
    assert_counts_of_table(form(part) for part in parts())
    once = scan(form(part) for part in parts())
    with pytest.raises(TableError, match="can be read only once, and bins need a separate pass"):
        TAN().fit(once, target="play")


def test_a_function_that_returns_batches_is_called_for_each_pass():
    assert_counts_of_table(parts, model=TAN)


def test_generators_that_give_nothing_or_other_columns_are_refused():
    with pytest.raises(TableError, match="the generator of batches gave no batch"):
        scan(iter(()))
    with pytest.raises(TableError, match=r"scan takes a path.* got int 3"):
        scan(iter([3]))
    mixed = iter([TABLE, TABLE.drop_columns(["heat"])])
    with pytest.raises(
        TableError, match="batch 2 has the columns 'wind', 'age', 'play', and the first has 'wind', 'heat'"
    ):
        NaiveBayes().fit(scan(mixed), target="play")


class Exported:
    """What another package has: an Arrow stream, new for each call or the same one."""

    def __init__(self, new):
        self.new, self.reader = new, TABLE.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return (TABLE.to_reader() if self.new else self.reader).__arrow_c_stream__(requested_schema)


def test_what_exports_an_arrow_stream_is_a_table():
    assert_counts_of_table(Exported(new=True))
    assert_counts_of_table(Exported(new=True), model=TAN)
    assert_counts_of_table(Exported(new=False))
    with pytest.raises(TableError, match=r"the Arrow stream of .*Exported can be read only once"):
        TAN().fit(scan(Exported(new=False)), target="play")


def test_a_duckdb_connection_takes_a_table_or_a_query():
    with duckdb.connect() as connection:
        connection.register("days", TABLE)
        for query in ("days", "SELECT * FROM days;"):
            assert_counts_of_table(connection, query)
        with pytest.raises(TableError, match="the table 'nights': the database says: Catalog Error"):
            scan(connection, "nights")
        with pytest.raises(TableError, match="needs the name of a table or a query"):
            scan(connection)


@pytest.fixture
def sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE days (wind, heat, age, play, "odd ""name""")')
    rows = [(*row.values(), None) for row in TABLE.to_pylist()]
    connection.executemany("INSERT INTO days VALUES (?, ?, ?, ?, ?)", rows)
    yield connection
    connection.close()


@pytest.mark.parametrize("model", [NaiveBayes, TAN])
def test_a_sqlite_connection_takes_a_query(sqlite, model):
    assert_counts_of_table(sqlite, "SELECT wind, heat, age, play FROM days", model=model)
    assert scan(sqlite, "days").schema.field("age").type == pa.int64()


def test_text_beside_numbers_in_a_column_of_sqlite_is_refused_with_what_would_do(sqlite):
    sqlite.execute("UPDATE days SET age = 'old' WHERE rowid = 400")
    with pytest.raises(TableError, match=r"column 'age' of SQLite holds cells of the types integer, text.*CAST"):
        scan(sqlite, "days")
    with pytest.raises(TableError, match="SQLite says: no such table: nights"):
        scan(sqlite, "nights")


def test_columns_that_some_files_lack_are_missing_there_and_whole_numbers_widen(tmp_path):
    old = TABLE.slice(0, 300).drop_columns(["wind"])
    new = TABLE.slice(300).set_column(2, "age", TABLE["age"].slice(300).cast(pa.float64()))
    pq.write_table(old, tmp_path / "a.parquet")
    pq.write_table(new, tmp_path / "b.parquet")
    words = (
        r"1 of 2 have no column 'wind'.* column 'age' is int64 in 1 of 2 and is read as double|column 'age' is int64"
    )
    with pytest.warns(UserWarning, match=words) as said:
        days = scan(tmp_path)
    assert len(said) == 1
    assert days.schema.field("age").type == pa.float64()
    found = NaiveBayes().fit(days.select(TABLE.column_names), target="play")
    blank = pa.concat_tables(
        [old.append_column("wind", pa.nulls(300, pa.string())).select(TABLE.column_names), TABLE.slice(300)]
    )
    expected = NaiveBayes().fit(blank, target="play")
    np.testing.assert_array_equal(found.counts_.values.n_value, expected.counts_.values.n_value)
    np.testing.assert_array_equal(found.counts_.moments.mean, expected.counts_.moments.mean)


def test_columns_that_some_text_files_lack_are_missing_there(tmp_path):
    (tmp_path / "a.csv").write_text("wind,play\nweak,yes\nstrong,no\n")
    (tmp_path / "b.csv").write_text("heat,play\n3.5,yes\n")
    with pytest.warns(UserWarning, match="1 of 2 have no column 'wind'"):
        days = scan(tmp_path)
    rows = [row for batch in days.batches() for row in batch.to_pylist()]
    assert rows == [
        {"wind": "weak", "play": "yes", "heat": None},
        {"wind": "strong", "play": "no", "heat": None},
        {"wind": None, "play": "yes", "heat": 3.5},
    ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["-3", "12"], pa.int64()),
        (["0.5", "2"], pa.float64()),
        (["true", "false"], pa.bool_()),
        (["01", "12"], pa.string()),
        (["2024-05-01", "2024-05-02"], pa.string()),
        (["3", "__HIVE_DEFAULT_PARTITION__"], pa.int64()),
    ],
)
def test_the_values_of_folders_have_types(tmp_path, values, kind):
    for value in values:
        (tmp_path / f"key={value}").mkdir()
        pq.write_table(TABLE.slice(0, 10), tmp_path / f"key={value}" / "a.parquet")
    days = scan(tmp_path)
    assert days.schema.field("key").type == kind
    read = [value for batch in days.batches() for value in set(batch["key"].to_pylist())]
    expected = [None if value.startswith("__") else pa.scalar(value).cast(kind).as_py() for value in sorted(values)]
    assert sorted(read, key=str) == sorted(expected, key=str)


@pytest.mark.parametrize("model", [NaiveBayes, TAN])
def test_rows_of_a_scan_are_learned_in_addition_and_unlearned(model):
    TABLES = {"first": TABLE.slice(0, 300), "more": TABLE.slice(300)}
    kinds = {"kinds": {"heat": "categorical", "age": "categorical"}}  # bins would be those of the first rows
    expected = model(**kinds).fit(TABLES["first"], target="play").counts_.to_parts()
    found = model(**kinds).partial_fit(scan(TABLES["first"]), target="play")
    both = found.partial_fit(scan(TABLES["more"])).counts_.to_parts()[1]
    for name, array in model(**kinds).fit(TABLE, target="play").counts_.to_parts()[1].items():
        np.testing.assert_array_equal(both[name], array)
    found.unlearn(scan(TABLES["more"].select(["play", "age", "heat", "wind"])))
    rest = model(**kinds).from_counts(found.counts_.narrow(), target="play", **kinds).counts_.to_parts()
    assert rest[0] == expected[0]
    for name, array in expected[1].items():
        np.testing.assert_array_equal(rest[1][name], array)
    with pytest.raises(TableError, match="a scan takes target="):
        found.unlearn(scan(TABLES["first"]), TABLES["first"]["play"])
