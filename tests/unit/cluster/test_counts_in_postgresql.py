"""PostgreSQL counts the values of single columns itself; the counts are those of the stream, bit for bit."""

import string

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import AODE, NaiveBayes, drop_unlabeled, scan
from bayeskit.errors import TableError, TooLargeError
from bayeskit.table.scan.database import QueryPiece

pytestmark = pytest.mark.xdist_group("engines")


@pytest.fixture(scope="module")
def connection(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection:
        yield connection


@pytest.fixture
def grouped(monkeypatch):
    """What the database grouped, and what was streamed, of the fits of a test."""
    said, group_counts, batches = {"grouped": [], "streamed": []}, QueryPiece.group_counts, QueryPiece.batches

    def watched(self, columns, target):
        found = group_counts(self, columns, target)
        said["grouped"] += found
        return found

    def streamed(self, columns):
        said["streamed"] += columns
        return batches(self, columns)

    monkeypatch.setattr(QueryPiece, "group_counts", watched)
    monkeypatch.setattr(QueryPiece, "batches", streamed)
    return said


def store(connection, table, name="stored"):
    with connection.cursor() as cursor:
        cursor.adbc_ingest(name, table, mode="replace")
    connection.commit()


def by_stream(model, connection, what="stored", target="y"):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QueryPiece, "group_counts", lambda *_: {})
        return model.fit(drop_unlabeled(scan(connection, what), target=target), target=target)


def assert_equal_to_the_bit(found, expected):
    (meta, arrays), (other, others) = found.counts_.to_parts(), expected.counts_.to_parts()
    assert meta == other
    assert arrays.keys() == others.keys()
    for name, array in others.items():
        assert arrays[name].dtype == array.dtype
        assert_array_equal(arrays[name], array)


WORDS = st.one_of(st.none(), st.sampled_from(["", " ", "a", "A", "a ", "ä", "a\u0308", "NULL", "'", '"', "\\", "天"]))
FLOATS = st.sampled_from([0.0, -0.0, 1.5, float("nan"), -2.0, None])
NAMES = st.text(string.ascii_letters + " \"'%;\\$?.-é天", min_size=1, max_size=12)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 30))
    names = draw(st.lists(NAMES, min_size=5, max_size=5, unique=True))
    types = [(WORDS, pa.string()), (WORDS, pa.string()), (st.sampled_from([True, False, None]), pa.bool_())]
    types += [(FLOATS, pa.float64()), (st.sampled_from(["no", "yes", "No", None]), pa.string())]
    columns = [pa.array(draw(st.lists(cell, min_size=n, max_size=n)), kind) for cell, kind in types]
    columns[4] = pa.array(["no", *columns[4].to_pylist()[1:]])  # some row has a label
    return pa.table(dict(zip(names, columns, strict=True)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables(), as_category=st.booleans())
def test_counts_made_by_the_database_are_those_of_the_stream(table, as_category, connection):
    store(connection, table)
    target, number = table.column_names[4], table.column_names[3]
    model = NaiveBayes(kinds={number: "categorical"} if as_category else None)
    found = model.fit(drop_unlabeled(scan(connection, "stored"), target=target), target=target)
    assert_equal_to_the_bit(found, by_stream(NaiveBayes(kinds=model.kinds), connection, target=target))


def test_categories_are_grouped_and_numbers_streamed(connection, grouped):
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "x": rng.normal(size=300),
            "sky": rng.choice(["grey", "blue"], 300),
            "z": rng.integers(0, 5, 300),
            "open": rng.random(300) < 0.5,
            "y": rng.integers(0, 3, 300),
        }
    )
    store(connection, table)
    found = NaiveBayes().fit(scan(connection, "stored"), target="y")
    assert grouped == {"grouped": ["sky", "open"], "streamed": ["x", "z", "y"]}
    assert_equal_to_the_bit(found, NaiveBayes().fit(table, target="y"))


def test_pairs_and_weighted_rows_are_streamed(connection, grouped):
    store(connection, pa.table({"a": ["u", "v"], "b": ["u", "u"], "w": [1.0, 2.0], "y": ["no", "yes"]}))
    AODE().fit(scan(connection, "stored", columns=["a", "b", "y"]), target="y")
    NaiveBayes().fit(scan(connection, "stored"), target="y", sample_weight="w")
    assert grouped["grouped"] == []


def test_columns_of_many_values_are_streamed(connection, grouped):
    table = pa.table({"key": [f"k{i}" for i in range(3000)], "few": ["a", "b"] * 1500, "y": ["no"] * 2999 + ["yes"]})
    store(connection, table)
    found = NaiveBayes().fit(scan(connection, "stored"), target="y")
    assert grouped == {"grouped": ["few"], "streamed": ["key", "y"]}
    assert_equal_to_the_bit(found, NaiveBayes().fit(table, target="y"))


def test_more_columns_than_grouping_takes(connection, grouped):
    rng = np.random.default_rng(1)
    table = pa.table({**{f"c{j}": rng.choice(["u", "v", "w"], 50) for j in range(70)}, "y": rng.choice(["a", "b"], 50)})
    store(connection, table)
    found = NaiveBayes().fit(scan(connection, "stored"), target="y")
    assert len(grouped["grouped"]) == 70
    assert_equal_to_the_bit(found, NaiveBayes().fit(table, target="y"))


def test_a_collation_that_ignores_case_and_types_of_their_own_make_no_difference(connection, grouped):
    with connection.cursor() as cursor:
        cursor.execute("CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        cursor.execute("CREATE TABLE cased (a text COLLATE any_case, b varchar(9), c char(4), y text COLLATE any_case)")
        cursor.execute("INSERT INTO cased VALUES ('a', 'x', 'p', 'no'), ('A', 'x ', 'p ', 'No'), ('a', 'x', 'q', 'no')")
    found = NaiveBayes().fit(scan(connection, "cased"), target="y")
    assert grouped["grouped"] == ["a", "b"]
    assert list(found.classes_) == ["No", "no"]
    assert found.schema_[0].values == ("A", "a")
    assert_equal_to_the_bit(found, by_stream(NaiveBayes(), connection, "cased"))


def test_what_is_refused_of_a_stream_is_refused_of_groups(connection):
    store(connection, pa.table({"a": ["u", "v"], "y": pa.array([None, None], pa.string())}))
    with pytest.raises(TableError, match="the target 'y' has no value in any row"):
        NaiveBayes().fit(drop_unlabeled(scan(connection, "stored"), target="y"), target="y")
    store(connection, pa.table({"a": ["u", "v"], "y": ["no", None]}))
    with pytest.raises(
        TableError, match=r"1 of 2 rows of .* have no value in the target 'y'\. bayeskit\.drop_unlabeled"
    ):
        NaiveBayes().fit(scan(connection, "stored"), target="y")
    store(connection, pa.table({"a": [str(i) for i in range(500)], "y": ["no", "yes"] * 250}))
    with pytest.raises(TooLargeError, match="'a' with 500"):
        NaiveBayes(max_memory="10 kB").fit(scan(connection, "stored"), target="y")


def test_rows_that_change_between_two_queries_are_refused(connection, monkeypatch):
    store(connection, pa.table({"a": ["u", "v"], "x": [1.0, 2.5], "y": ["no", "yes"]}))
    batches = QueryPiece.batches

    def changed(self, columns):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO stored VALUES ('u', 3.5, 'no')")
        return batches(self, columns)

    monkeypatch.setattr(QueryPiece, "batches", changed)
    with pytest.raises(TableError, match="changed while they were counted"):
        NaiveBayes().fit(scan(connection, "stored"), target="y")


def test_numeric_columns_are_read_as_numbers(postgres):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE prices (price numeric(8, 2), paid text)")
        cursor.execute("INSERT INTO prices VALUES (1.25, 'no'), (2.5, 'no'), (NULL, 'yes'), (7.75, 'yes'), (9, 'yes')")
        model = NaiveBayes().fit(scan(connection, "prices"), target="paid")
    rows = {"price": [1.25, 2.5, None, 7.75, 9.0]}
    expected = NaiveBayes().fit(rows, ["no", "no", "yes", "yes", "yes"])
    assert model.schema_[0].is_numeric
    assert_allclose(model.predict_proba(rows), expected.predict_proba(rows), rtol=1e-12)
