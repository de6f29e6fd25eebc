"""The exported query says in PostgreSQL and in Spark what the library says."""

import pyarrow as pa
import pytest

from bayeskit import NaiveBayes, to_sql
from sql_cases import CASES, assert_scores, numbered

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
