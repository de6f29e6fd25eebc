"""The exported query says in PostgreSQL and in Spark what the library says."""

import pyarrow as pa
import pytest

from bayeskit import NaiveBayes, to_sql
from export_cases import export_cases
from raw_cases import asked, assert_answers, expected, raw_model
from sql_cases import CASES, NO_TEXTS, assert_scores, numbered, text_model, typed_models

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.xdist_group("engines"),
]


@pytest.mark.parametrize("case", CASES)
def test_postgresql_scores_as_the_library_does(case, postgres):
    from adbc_driver_postgresql import dbapi

    model, rows = CASES[case]
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("scored", numbered(rows), mode="replace")
        cursor.execute(to_sql(model, "postgres", table="scored", keep=["id"]))
        assert_scores(cursor.fetchall(), model, rows)


# Spark takes seconds to plan a query, so that it is asked for the cases that differ most.
@pytest.mark.parametrize("case", ["naive text", "naive mixed", "tan text, unseen smoothed", "kdb 2"])
def test_spark_scores_as_the_library_does(case, spark):
    model, rows = CASES[case]
    spark.createDataFrame(numbered(rows)).createOrReplaceTempView("scored")
    answers = spark.sql(to_sql(model, "spark", table="scored", keep=["id"])).collect()
    assert_scores([tuple(row) for row in answers], model, rows)


def test_postgresql_tells_texts_apart_under_a_collation_that_does_not(postgres):
    from adbc_driver_postgresql import dbapi

    model = NaiveBayes().fit({"name": ["a", "A", "b", "b"], "play": ["no", "yes", "no", "yes"]}, target="play")
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        cursor.execute("CREATE TABLE named (id int, name text COLLATE nocase)")
        cursor.execute("INSERT INTO named VALUES (0, 'a'), (1, 'A'), (2, 'B')")
        cursor.execute(to_sql(model, "postgres", table="named", keep=["id"]))
        assert_scores(cursor.fetchall(), model, pa.table({"name": ["a", "A", "B"]}))


# A query of many trees takes PostgreSQL half a minute; what is particular to it is in the other models too.
@pytest.mark.parametrize(
    "case", [name for name in export_cases() if "auto" not in name or "fast" in name or "codes" in name]
)
def test_postgresql_scores_every_model_as_the_library_does(case, postgres):
    from adbc_driver_postgresql import dbapi

    model, rows = export_cases()[case]
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("every", numbered(rows), mode="replace")
        cursor.execute("SET jit = off")
        cursor.execute(to_sql(model, "postgres", table="every", keep=["id"]))
        assert_scores(cursor.fetchall(), model, rows)


# Spark plans a query of many stages for tens of seconds.
@pytest.mark.parametrize("case", ["logistic", "gaussian", "mdl tree", "aode", "auto of two classes, fast"])
def test_spark_scores_every_model_as_the_library_does(case, spark):
    model, rows = export_cases()[case]
    spark.createDataFrame(numbered(rows)).createOrReplaceTempView("every")
    answers = spark.sql(to_sql(model, "spark", table="every", keep=["id"])).collect()
    assert_scores([tuple(row) for row in answers], model, rows)


def test_postgresql_reads_typed_columns_as_the_library_does(postgres):
    from adbc_driver_postgresql import dbapi

    rows, models = typed_models()
    plain = rows.set_column(1, "price", rows["price"].cast(pa.float64()))
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("plain", numbered(plain), mode="replace")
        cursor.execute("CREATE TYPE sizes AS ENUM ('small', 'large', 'middle')")
        columns = "id, flag, CAST(price AS numeric(8, 2)) AS price, CAST(size AS sizes) AS size, digits"
        cursor.execute(f"CREATE TABLE typed AS SELECT {columns} FROM plain")
        for model in models:
            cursor.execute(to_sql(model, "postgres", table="typed", keep=["id"]))
            assert_scores(cursor.fetchall(), model, rows)
        for kind, value in NO_TEXTS.items():
            cursor.execute("DROP TABLE IF EXISTS words")
            cursor.execute(f"CREATE TABLE words (word {kind})")
            cursor.execute(f"INSERT INTO words VALUES ({value})")
            cursor.execute(to_sql(text_model(), "postgres", table="words", keep=[]))
            assert cursor.fetchall() == [(None, None, None)]


def test_spark_reads_typed_columns_as_the_library_does(spark):
    rows, models = typed_models()
    spark.createDataFrame(numbered(rows)).createOrReplaceTempView("typed")
    for model in models:
        answers = spark.sql(to_sql(model, "spark", table="typed", keep=["id"])).collect()
        assert_scores([tuple(row) for row in answers], model, rows)
    values = {kind: value for kind, value in NO_TEXTS.items() if kind != "DOUBLE PRECISION"}
    for kind, value in values.items():
        spark.sql(f"SELECT CAST({value} AS {kind}) AS word").createOrReplaceTempView("words")
        answers = spark.sql(to_sql(text_model(), "spark", table="words", keep=[])).collect()
        assert tuple(answers[0]) == (None, None, None)


def test_postgresql_reads_raw_cells_as_the_library_does(postgres):
    from adbc_driver_postgresql import dbapi

    model, rows = raw_model(), asked()
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("raw", numbered(rows), mode="replace")
        cursor.execute(to_sql(model, "postgres", table="raw", keep=["id"]))
        assert_answers(cursor.fetchall(), expected(model, rows))


def test_spark_reads_raw_cells_as_the_library_does(spark):
    model, rows = raw_model(), asked()
    spark.createDataFrame(numbered(rows)).createOrReplaceTempView("raw")
    answers = spark.sql(to_sql(model, "spark", table="raw", keep=["id"])).collect()
    assert_answers([tuple(row) for row in answers], expected(model, rows))
