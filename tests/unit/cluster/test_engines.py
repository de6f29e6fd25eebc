"""Every engine gives the counts of one machine, bit for bit where they are integers."""

import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bayeskit import AODE, KDB, HiddenMarkov, NaiveBayes, compare, learn_structure, scan
from bayeskit.errors import TableError
from bayeskit.table.scan.pieces import PieceReader
from raw_cases import asked, expected, raw_model

# What PySpark says of the pandas that is installed is not ours to mend.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.xdist_group("engines"),  # each engine is started once, by one process of the tests
]

MODELS = [NaiveBayes(), AODE(), KDB(2)]
by_model = pytest.mark.parametrize("model", MODELS, ids=str)


def assert_same_counts(found, expected):
    (mine, arrays), (other, expected_arrays) = found.counts_.to_parts(), expected.counts_.to_parts()
    assert mine == other
    for name, array in expected_arrays.items():
        if array.dtype.kind == "i":
            assert_array_equal(arrays[name], array)
        else:
            assert_allclose(arrays[name], array, rtol=1e-12, atol=1e-12)


@by_model
def test_dask_workers_count_files(model, days, folder, client):
    from bayeskit.cluster import dask

    found = dask.fit(clone(model), scan(folder), target="play", client=client)
    assert_same_counts(found, clone(model).fit(days, target="play"))


@by_model
def test_dask_frames_are_counted_by_partition(model, days, client):
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(days.to_pandas(), npartitions=3)
    assert_same_counts(clone(model).fit(scan(frame), target="play"), clone(model).fit(days, target="play"))


def test_a_frame_whose_rows_are_elsewhere_points_to_scan(days):
    frames = pytest.importorskip("dask.dataframe")
    duckdb = pytest.importorskip("duckdb")
    pandas = days.to_pandas()
    frame, model = frames.from_pandas(pandas, npartitions=3), NaiveBayes().fit(pandas, target="play")
    calls = [
        lambda: NaiveBayes().fit(frame),
        lambda: NaiveBayes().fit(frame, target="play"),
        lambda: NaiveBayes().fit(frame.drop(columns="play"), pandas["play"]),
        lambda: NaiveBayes(kinds="infer").fit(frame, target="play"),
        lambda: model.predict(frame.drop(columns="play")),
        lambda: compare(frame, target="play"),
        lambda: learn_structure(frame),
    ]
    for call in calls:
        with pytest.raises(
            TypeError, match=r"^a Dask frame holds no rows here: to fit, pass bayeskit\.scan\(frame\) .*dask\.predict"
        ):
            call()
    with pytest.raises(
        TypeError, match=r"^a DuckDB relation holds no rows here: .* bayeskit\.scan\(frame\) .* pass frame\.df\(\)"
    ):
        NaiveBayes().fit(duckdb.sql("SELECT 1 AS a, 'no' AS play"), target="play")


def test_dask_workers_answer_and_score(days, folder, client):
    from bayeskit.cluster import dask

    model = NaiveBayes().fit(days, target="play")
    answers = pa.concat_tables(dask.predict(model, scan(folder), probabilities=True, client=client))
    assert answers["play_predicted"].to_pylist() == model.predict(days).tolist()
    assert_allclose(answers["P(late)"].to_numpy(), model.predict_proba(days)[:, 0], rtol=1e-12)
    found = dask.score(model, scan(folder), target="play", client=client)
    assert found == pytest.approx(model.score(days, target="play"), rel=1e-12)


def test_a_dask_frame_is_predicted_as_a_frame_that_is_computed_later(days, client):
    frames = pytest.importorskip("dask.dataframe")
    from bayeskit.cluster import dask

    rows = days.to_pandas()
    rows.index = range(100, 100 + len(rows))
    frame = frames.from_pandas(rows, npartitions=3)
    model = dask.fit(NaiveBayes(), frame, target="play")
    found = dask.predict(model, frame, probabilities=True)
    assert list(found.columns) == [*rows.columns, "play_predicted", *(f"P({c})" for c in model.classes_)]
    answers = found.compute()
    assert answers.index.tolist() == rows.index.tolist()
    assert answers["play_predicted"].tolist() == model.predict(days).tolist()
    assert_allclose(answers["P(late)"].to_numpy(), model.predict_proba(days)[:, 0], rtol=1e-12)
    assert dask.score(model, frame, target="play") == pytest.approx(model.score(days, target="play"), rel=1e-12)
    with pytest.raises(TableError, match="a Dask frame is computed by the client that computes it"):
        dask.predict(model, frame, client=client)


@pytest.mark.parametrize(("engine", "package"), [("dask", "dask.dataframe"), ("spark", "pyspark")])
def test_what_is_neither_a_scan_nor_a_frame_is_named(engine, package, days):
    pytest.importorskip(package)
    module = import_module(f"bayeskit.cluster.{engine}")
    with pytest.raises(TableError, match=r"or what bayeskit\.scan returns; got dict"):
        module.fit(NaiveBayes(), {"play": ["late"]}, target="play")
    model = NaiveBayes().fit(days, target="play")
    with pytest.raises(TableError, match=r"expected a (Dask|Spark) frame.*got dict"):
        module.predict(model, {"play": ["late"]})


def test_a_worker_that_has_loaded_nothing_else_scores_rows():
    # In a test run other modules have imported pyarrow.compute long since.
    words = """
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bayeskit import NaiveBayes
from bayeskit.cluster.groups import hits
model = NaiveBayes().fit({"wind": ["weak", "strong", "weak"], "play": ["yes", "no", "yes"]}, target="play")
batch = pa.record_batch({"wind": ["weak", "strong", "weak"], "play": ["yes", "no", None]})
print(hits(model, "play")(batch))
"""
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert found.stdout == "(2, 2)\n"


@by_model
def test_spark_executors_count_files(model, days, folder, spark):
    from bayeskit.cluster import spark as engine

    found = engine.fit(clone(model), scan(folder), target="play", session=spark)
    assert_same_counts(found, clone(model).fit(days, target="play"))


def test_spark_frames_are_counted_where_they_are(days, folder, spark):
    frame = spark.read.parquet(str(folder)).repartition(3)
    for model in MODELS:
        assert_same_counts(clone(model).fit(scan(frame), target="play"), clone(model).fit(days, target="play"))


def test_spark_executors_answer_and_score(days, folder, spark):
    from bayeskit.cluster import spark as engine

    model = NaiveBayes().fit(days, target="play")
    frame = spark.read.parquet(str(folder))
    answers = engine.predict(model, frame, probabilities=True).toArrow()
    table = answers.select(days.column_names)
    assert answers["play_predicted"].to_pylist() == model.predict(table).tolist()
    assert_allclose(answers["P(yes)"].to_numpy(), model.predict_proba(table)[:, 2], rtol=1e-12)
    assert engine.score(model, frame, target="play") == pytest.approx(model.score(days, target="play"), rel=1e-12)


def test_files_need_a_session_and_that_is_said(folder):
    pytest.importorskip("pyspark")
    from bayeskit.cluster import spark as engine

    with pytest.raises(TableError, match="pass session=spark"):
        engine.fit(NaiveBayes(), scan(folder), target="play")


@by_model
def test_duckdb_relations_are_streamed(model, days, folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT * FROM '{folder}/*.parquet'")
        assert_same_counts(clone(model).fit(scan(relation), target="play"), clone(model).fit(days, target="play"))


@pytest.fixture
def connection(postgres, days):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("days", days, mode="replace")
        connection.commit()
        yield connection


@by_model
def test_postgresql_tables_are_streamed(model, days, connection):
    found = clone(model).fit(scan(connection, "days"), target="play")
    assert_same_counts(found, clone(model).fit(days, target="play"))


def test_queries_are_streamed_and_refused_in_the_words_of_the_database(days, connection):
    found = NaiveBayes().fit(scan(connection, "SELECT c0, play FROM days WHERE play <> 'late'"), target="play")
    assert list(found.classes_) == ["no", "yes"]
    with pytest.raises(TableError, match="the database says"):
        scan(connection, "no such table")
    connection.rollback()
    with pytest.raises(TableError, match="the target 'play' has no value in any row"):
        NaiveBayes().fit(scan(connection, "SELECT * FROM days WHERE play = 'never'"), target="play")
    with pytest.raises(TableError, match="needs the name of a table or a query"):
        scan(connection)


def test_duckdb_enum_columns_come_as_dictionaries_and_count_as_text(days):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("days", days)
        connection.execute("CREATE TYPE word AS ENUM ('yes', 'x', 'no', 'late')")
        relation = connection.sql('SELECT c0::word AS c0, c1, c2, "odd ""name""", play::word AS play FROM days')
        read = scan(relation)
        assert pa.types.is_dictionary(read.schema.field("c0").type)
        for model in (NaiveBayes(), AODE()):
            found, expected = clone(model).fit(read, target="play"), clone(model).fit(days, target="play")
            assert list(found.classes_) == list(expected.classes_)
            for j in range(3):
                values = found.schema_[j].values
                order = [values.index(value) for value in expected.schema_[j].values]
                assert_array_equal(found.counts_.column(j)[order], expected.counts_.column(j))


def with_id(table):
    """A column that the model does not know, of a type that it could not read."""
    return table.append_column("id", pa.array([[k, k] for k in range(table.num_rows)]))


def test_dask_carries_columns_that_the_model_does_not_know(days, client, tmp_path):
    frames = pytest.importorskip("dask.dataframe")
    from bayeskit.cluster import dask

    model = NaiveBayes().fit(days, target="play")
    pandas = days.to_pandas().assign(id=range(days.num_rows))
    answers = dask.predict(model, frames.from_pandas(pandas, npartitions=3), probabilities=True).compute()
    assert answers["id"].tolist() == list(range(days.num_rows))
    assert answers["play_predicted"].tolist() == model.predict(days).tolist()
    pq.write_table(with_id(days), tmp_path / "days.parquet")
    table = pa.concat_tables(dask.predict(model, scan(tmp_path), client=client))
    assert table["id"].to_pylist()[:2] == [[0, 0], [1, 1]]
    expected = pytest.approx(model.score(days, target="play"), rel=1e-12)
    assert dask.score(model, scan(tmp_path), target="play", client=client) == expected
    assert dask.score(model, frames.from_pandas(pandas, npartitions=3), target="play") == expected


def test_dask_predicts_a_scan_piece_by_piece(days, folder, client, monkeypatch):
    from bayeskit.cluster import dask

    model = NaiveBayes().fit(days, target="play")
    gathered, gather = [], type(client).gather

    def counted(self, futures, *args, **options):
        gathered.append(futures)
        return gather(self, futures, *args, **options)

    monkeypatch.setattr(type(client), "gather", counted)
    answers = dask.predict(model, scan(folder), client=client)
    first = next(answers)
    assert len(gathered) == 1
    assert first.num_rows + sum(table.num_rows for table in answers) == days.num_rows


def test_a_duckdb_relation_sent_to_dask_keeps_its_sentence(days, client):
    duckdb = pytest.importorskip("duckdb")
    from bayeskit.cluster import dask

    with duckdb.connect() as connection, pytest.raises(TableError, match="a DuckDB relation cannot be sent to another"):
        dask.fit(NaiveBayes(), scan(connection.from_arrow(days)), target="play", client=client)


def test_spark_carries_columns_that_the_model_does_not_know(days, spark):
    from bayeskit.cluster import spark as engine

    model = NaiveBayes().fit(days, target="play")
    frame = spark.createDataFrame(with_id(days))
    answers = engine.predict(model, frame, probabilities=True).toArrow()
    assert answers["id"].to_pylist() == with_id(days)["id"].to_pylist()
    assert answers["play_predicted"].to_pylist() == model.predict(days).tolist()
    assert engine.score(model, frame, target="play") == pytest.approx(model.score(days, target="play"), rel=1e-12)


def test_spark_predicts_a_stream(days, folder, spark, tmp_path):
    from bayeskit.cluster import spark as engine

    model = NaiveBayes().fit(days, target="play")
    schema = spark.read.parquet(str(folder)).schema
    stream = engine.predict(model, spark.readStream.schema(schema).parquet(str(folder)))
    query = stream.writeStream.format("memory").queryName("answers").trigger(availableNow=True)
    running = query.option("checkpointLocation", str(tmp_path)).start()
    running.awaitTermination(120)
    answers = spark.table("answers").toArrow()["play_predicted"].to_pylist()
    assert Counter(answers) == Counter(model.predict(days).tolist())


def test_spark_reads_files_of_a_relative_path(days, folder, spark, monkeypatch):
    from bayeskit.cluster import spark as engine

    monkeypatch.chdir(folder)
    source = scan(sorted(path.name for path in Path().glob("*.parquet")))
    reader = PieceReader(0, source.pieces[0], source.names)
    assert engine._absolute(reader).piece.path == str(folder / "0.parquet")
    fitted = engine.fit(NaiveBayes(), source, target="play", session=spark)
    assert_same_counts(fitted, NaiveBayes().fit(days, target="play"))


def raw_rows():
    """Rows in the words of a file that the model reads, and what it says of them."""
    model, rows = raw_model(), asked()
    truth = expected(model, rows)
    known = ~np.isnan(truth).any(axis=1)
    return model, rows.filter(known), truth[known]


@pytest.mark.filterwarnings("ignore:column:bayeskit.errors.BayeskitWarning")
def test_a_dask_frame_of_raw_columns_is_converted_by_the_workers():
    frames = pytest.importorskip("dask.dataframe")
    from bayeskit.cluster import dask

    model, rows, truth = raw_rows()
    answered = dask.predict(model, frames.from_pandas(rows.to_pandas(), npartitions=3), probabilities=True)
    answers = answered.compute(scheduler="synchronous")
    assert_allclose(answers[[f"P({c})" for c in model.classes_]].to_numpy(), truth, rtol=0, atol=1e-12)


def test_a_spark_frame_of_raw_columns_is_converted_by_the_executors(spark):
    from bayeskit.cluster import spark as engine

    model, rows, truth = raw_rows()
    answers = engine.predict(model, spark.createDataFrame(rows).coalesce(1), probabilities=True).toArrow()
    found = np.column_stack([answers[f"P({c})"].to_numpy() for c in model.classes_])
    assert_allclose(found, truth, rtol=0, atol=1e-12)


def wide(n_rows):
    rng = np.random.default_rng(0)
    columns = {f"c{j}": rng.integers(0, 30, n_rows).astype(str) for j in range(12)}
    return pa.table({**columns, "play": rng.choice(["no", "yes", "late"], n_rows)})


def test_spark_adds_the_parts_of_200_partitions_on_its_executors(spark):
    table = wide(3000)
    expected = AODE().fit(table, target="play")
    size = len(pickle.dumps(expected.counts_))
    assert 3 * size < 6 << 20 < 50 * size  # the driver takes results of 6 MB in all
    frame = spark.createDataFrame(table.to_pandas()).repartition(200)
    assert_same_counts(AODE().fit(scan(frame), target="play"), expected)


def test_dask_adds_parts_on_its_workers_and_tells_of_rows_as_they_are_read(folder, days, client, monkeypatch):
    from bayeskit.cluster import dask, groups

    monkeypatch.setattr(groups, "_CELLS_OF_A_TASK", 1000)
    steps, gathered = [], []
    gather = type(client).gather
    monkeypatch.setattr(
        type(client), "gather", lambda self, it, **more: gathered.append(it) or gather(self, it, **more)
    )
    table = replace(dask.on(scan(folder), client), progress=steps.append)
    assert_same_counts(AODE().fit(table, target="play"), AODE().fit(days, target="play"))
    assert [step.done for step in steps if step.name == steps[-1].name][-1] == 4000
    assert len({step.done for step in steps}) > 2
    assert gathered
    assert not any(isinstance(each, list) for each in gathered)  # one sum for each pass


def test_the_frame_of_an_empty_partition_is_counted(days, spark):
    frame = spark.createDataFrame(days.to_pandas().head(3)).repartition(8)
    assert NaiveBayes().fit(scan(frame), target="play").class_count_.sum() == 3


def test_duckdb_counts_text_itself_as_it_would_be_streamed(days, monkeypatch):
    import duckdb

    from bayeskit.table.scan.duckdb import RelationPiece

    with duckdb.connect() as connection:
        connection.register("days", days)
        connection.execute("CREATE TABLE odd AS SELECT *, c0 AS no_case FROM days")
        connection.execute("ALTER TABLE odd ALTER no_case TYPE VARCHAR COLLATE NOCASE")
        connection.execute("UPDATE odd SET no_case = upper(no_case) WHERE c1 = 'x'")
        relation = connection.table("odd")
        asked = []
        groups = RelationPiece.group_counts
        monkeypatch.setattr(RelationPiece, "group_counts", lambda *a: asked.append(groups(*a)) or asked[-1])
        found = NaiveBayes().fit(scan(relation), target="play")
        assert sorted(asked[0]) == ["c0", "c1", "c2", "no_case"]
        monkeypatch.setattr(RelationPiece, "group_counts", lambda *a: {})
        assert_same_counts(found, NaiveBayes().fit(scan(relation), target="play"))


@pytest.fixture(scope="module")
def stays():
    """Stays of 30 patients, sorted by patient: days, the ward, a temperature and the stage."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 40, 30)
    n = int(lengths.sum())
    stage = rng.integers(0, 2, n)
    return pa.table(
        {
            "patient": np.repeat([f"p{k}" for k in rng.permutation(30)], lengths),
            "day": np.concatenate([np.arange(k) for k in lengths]),
            "ward": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
            "heat": 37 + stage + rng.normal(size=n),
            "stage": np.array(["well", "ill"])[stage],
        }
    )


WHERE = {"group": "patient", "time": "day", "target": "stage"}


def assert_same_chain(found, stays):
    expected = HiddenMarkov().fit(stays, **WHERE)
    for name in ("n_start", "n_step", "n_class"):
        assert_array_equal(getattr(found.counts_, name), getattr(expected.counts_, name))
    assert_allclose(found.tables_["ward"].values, expected.tables_["ward"].values, rtol=1e-12)
    assert_allclose(found.tables_["heat"].values, expected.tables_["heat"].values, rtol=1e-9)


def test_dask_workers_count_sequences_that_go_over_partitions(stays, client, tmp_path):
    frames = pytest.importorskip("dask.dataframe")
    from bayeskit.cluster import dask

    frame = frames.from_pandas(stays.to_pandas(), npartitions=5)
    assert_same_chain(HiddenMarkov().fit(scan(frame), **WHERE), stays)
    for k, begin in enumerate(range(0, stays.num_rows, 100)):
        pq.write_table(stays.slice(begin, 100), tmp_path / f"{k:02}.parquet")
    assert_same_chain(dask.fit(HiddenMarkov(), scan(tmp_path), client=client, **WHERE), stays)
    mixed = frames.from_pandas(stays.sort_by("day").to_pandas(), npartitions=5)
    with pytest.raises(TableError, match=r"rows of group 'p\d+' come again after those of others"):
        HiddenMarkov().fit(scan(mixed), **WHERE)
    with pytest.raises(TableError, match=r"DataFrame is not a table in memory; pass bayeskit\.scan"):
        HiddenMarkov().fit(frame, **WHERE)


def test_spark_puts_a_frame_in_order_and_counts_its_sequences(stays, spark, tmp_path):
    from bayeskit.cluster import spark as engine

    frame = spark.createDataFrame(stays.sort_by("day").to_pandas())  # groups are mixed
    assert_same_chain(engine.fit(HiddenMarkov(), frame, **WHERE), stays)
    with pytest.raises(TableError, match=r"have no order, so that a sequence needs the name of its time="):
        engine.fit(HiddenMarkov(), frame, group="patient", target="stage")
    for k, begin in enumerate(range(0, stays.num_rows, 100)):
        pq.write_table(stays.slice(begin, 100), tmp_path / f"{k:02}.parquet")
    assert_same_chain(engine.fit(HiddenMarkov(), scan(tmp_path), session=spark, **WHERE), stays)
