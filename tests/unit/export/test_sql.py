"""The exported query says in DuckDB and in SQLite what the library says."""

import re
import sqlite3
import warnings

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from bayeskit import KDB, TAN, AutoBayes, CategoricalNB, KNeighbors, NaiveBayes, datasets, load, to_sql
from bayeskit.errors import BayeskitError, BayeskitWarning, TooLargeError
from bayeskit.export.sql.dialect import DIALECTS
from bayeskit.export.sql.tables import LOG_ZERO, Table, merge
from bayeskit.export.target import targets
from export_cases import export_cases
from sql_cases import CASES, NO_TEXTS, assert_scores, numbered, tempered, text_model, typed_models

by_case = pytest.mark.parametrize("case", CASES)


def in_duckdb(query, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("data", rows)
        return connection.execute(query).fetchall()


def in_sqlite(query, rows):
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows.column_names)
    connection.execute(f"CREATE TABLE data ({names})")
    cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
    connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * rows.num_columns)})", cells)
    answers = connection.execute(query).fetchall()
    connection.close()
    return answers


@by_case
def test_duckdb_scores_as_the_library_does(case):
    model, rows = CASES[case]
    assert_scores(in_duckdb(to_sql(model, "duckdb", keep=["id"]), numbered(rows)), model, rows)


@by_case
def test_sqlite_scores_as_the_library_does(case):
    model, rows = CASES[case]
    assert_scores(in_sqlite(to_sql(model, "sqlite", keep=["id"]), numbered(rows)), model, rows)


@pytest.mark.parametrize("case", export_cases())
def test_duckdb_scores_every_model_as_the_library_does(case):
    model, rows = export_cases()[case]
    assert_scores(in_duckdb(to_sql(model, "duckdb", keep=["id"]), numbered(rows)), model, rows)


# A query of many trees takes SQLite half a minute, most of it to read the query: one has them here.
SLOW_IN_SQLITE = {
    "auto",
    "auto, boosted",
    "auto of text",
    "auto, nothing missing in fit",
    "auto, more columns than rows",
}


@pytest.mark.parametrize("case", [name for name in export_cases() if name not in SLOW_IN_SQLITE])
def test_sqlite_scores_every_model_as_the_library_does(case):
    model, rows = export_cases()[case]
    assert_scores(in_sqlite(to_sql(model, "sqlite", keep=["id"]), numbered(rows)), model, rows)


def test_a_query_that_may_end_duckdbs_process_is_said(monkeypatch):
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    monkeypatch.setattr(DIALECTS["duckdb"], "longest_query", 1000)
    with pytest.warns(
        BayeskitWarning, match=r"the query has .* MB\. DuckDB's optimizer .* PRAGMA disable_optimizer first"
    ):
        to_sql(model, "duckdb")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_sql(model, "sqlite")


def test_duckdb_reads_typed_columns_as_the_library_does():
    rows, models = typed_models()
    with pytest.importorskip("duckdb").connect() as connection:
        connection.register("source", numbered(rows))
        connection.execute("CREATE TYPE sizes AS ENUM ('small', 'large', 'middle')")
        connection.execute("CREATE TABLE data AS SELECT * REPLACE (CAST(size AS sizes) AS size) FROM source")
        for model in models:
            assert_scores(connection.execute(to_sql(model, "duckdb", keep=["id"])).fetchall(), model, rows)


def test_sqlite_reads_typed_columns_as_the_library_does():
    rows, models = typed_models()
    plain = rows.set_column(1, "price", rows["price"].cast(pa.float64()))
    for model in models:
        assert_scores(in_sqlite(to_sql(model, "sqlite", keep=["id"]), numbered(plain)), model, rows)


@pytest.mark.parametrize("kind", NO_TEXTS)
def test_a_text_column_of_another_type_is_refused_by_duckdb(kind):
    with pytest.importorskip("duckdb").connect() as connection:
        connection.execute(f"CREATE TABLE data (word {kind})")
        connection.execute(f"INSERT INTO data VALUES ({NO_TEXTS[kind]}), (NULL)")
        answers = connection.execute(to_sql(text_model(), "duckdb", keep=[])).fetchall()
    assert answers[0] == (None, None, None)
    assert answers[1][1:] == (0.5, 0.5)


def test_a_number_where_text_was_is_refused_by_sqlite():
    answers = in_sqlite(to_sql(text_model(), "sqlite", keep=[]), pa.table({"word": [1, None]}))
    assert answers[0] == (None, None, None)
    assert answers[1][1:] == (0.5, 0.5)


@pytest.mark.parametrize("name", ["rows.json", "rows.ndjson.gz", "rows.csv.bz2"])
def test_duckdb_is_not_given_files_whose_types_it_would_choose(name):
    with pytest.raises(BayeskitError, match="DuckDB would choose the types of 'rows"):
        to_sql(text_model(), "duckdb", table=name)


def answers_of(model, rows, dialect="duckdb", **options):
    run = in_duckdb if dialect == "duckdb" else in_sqlite
    return run(to_sql(model, dialect, keep=[], **options), pa.table(rows))


both = pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])


@both
def test_texts_that_differ_in_case_are_told_apart_in_a_column_that_ignores_it(dialect):
    model = NaiveBayes().fit({"name": ["a", "A", "b", "b"], "play": ["no", "yes", "no", "yes"]}, target="play")
    query = to_sql(model, dialect, keep=["id"])
    connect = pytest.importorskip("duckdb").connect if dialect == "duckdb" else sqlite3.connect
    connection = connect(":memory:")
    connection.execute("CREATE TABLE data (id INTEGER, name VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO data VALUES (0, 'a'), (1, 'A'), (2, 'B')")
    assert_scores(connection.execute(query).fetchall(), model, pa.table({"name": ["a", "A", "B"]}))
    connection.close()


@both
def test_rows_that_the_model_refuses_get_null(dialect):
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "n": [0, 1, 2, 3], "w": ["a", "b", "a", "b"]}
    strict = NaiveBayes(unseen="error", kinds={"x": "lognormal", "n": "poisson"}).fit(rows, ["no", "yes", "no", "yes"])
    asked = {"x": [1.0, -1.0, 1.0, 1.0, np.inf, None], "n": [0.0, 0.0, -1.0, 0.5, 0.0, 2.0], "w": ["a"] * 6}
    found = answers_of(strict, asked, dialect)
    assert [row[0] is None for row in found] == [False, True, True, True, True, False]
    assert found[1] == (None, None, None)
    assert answers_of(strict, {"x": [1.0], "n": [1], "w": ["c"]}, dialect) == [(None, None, None)]


@both
def test_a_row_that_no_class_can_give_gets_null_or_the_prior(dialect):
    rows = {"a": ["x", "x", "y"], "b": ["u", "u", "v"]}
    asked = {"a": ["x", "x"], "b": ["u", "v"]}
    model = NaiveBayes(smoothing=0).fit(rows, [True, True, False])
    assert answers_of(model, asked, dialect) == [(True, 0.0, 1.0), (None, None, None)]
    lenient = NaiveBayes(smoothing=0, impossible="prior").fit(rows, [True, True, False])
    assert_allclose(answers_of(lenient, asked, dialect)[1], [True, 1 / 3, 2 / 3], rtol=1e-12)


def test_numbers_that_are_far_out_do_not_overflow():
    model = NaiveBayes().fit({"x": [0.0, 1.0, 5.0, 6.0]}, ["no", "no", "yes", "yes"])
    found = answers_of(model, {"x": [1e140, 1e300, -0.0, np.nan]})
    assert [row[0] for row in found] == [*model.predict({"x": [1e140]}), None, *model.predict({"x": [0.0, np.nan]})]


def test_sqlite_refuses_text_in_a_column_of_numbers():
    model = NaiveBayes().fit({"x": [0.0, 1.0, 5.0, 6.0]}, ["no", "no", "yes", "yes"])
    assert answers_of(model, {"x": ["tall", "5.5"]}, "sqlite") == [(None, None, None)] * 2


@both
def test_missing_parents_can_be_answered_with_null(dialect):
    model, rows = CASES["tan bins"]
    query = to_sql(model, dialect, keep=["id"], missing_parents="null")
    answers = (in_duckdb if dialect == "duckdb" else in_sqlite)(query, numbered(rows))
    parents = {parent for parent, _ in model.structure_.arcs}
    hidden = np.any([rows[name].is_null().to_numpy() for name in parents], axis=0)
    posterior = model.predict_proba(rows)
    assert 0 < hidden.sum() < len(hidden)
    for number, label, *probabilities in answers:
        if hidden[number]:
            assert (label, *probabilities) == (None, None, None, None)
        else:
            assert_allclose(probabilities, posterior[number], rtol=0, atol=1e-12)


def test_the_same_model_gives_the_same_text_after_it_was_saved(tmp_path):
    for name in ("naive mixed", "tan text"):
        model, _ = CASES[name]
        model.save(tmp_path / "m.bayes")
        for dialect in ("duckdb", "postgres", "spark", "sqlite"):
            assert to_sql(load(tmp_path / "m.bayes"), dialect) == to_sql(model, dialect)


def test_sums_in_duckdb_are_those_of_the_library_to_the_last_bit():
    rng = np.random.default_rng(3)
    X = pa.table({f"c{j}": rng.integers(0, 5, 3000).astype(str) for j in range(11)})
    model = NaiveBayes().fit(X, rng.integers(0, 3, 3000))
    query = to_sql(model, "duckdb", keep=["id"])
    # What the last stage but three calls t0, t1, t2 is log P(x, c).
    sums = query[: query.index(", stage4 AS")] + "\nSELECT k0, t0, t1, t2 FROM stage3 ORDER BY k0"
    found = np.array(in_duckdb(sums, numbered(X)))[:, 1:]
    assert_array_equal(found, model.predict_joint_log_proba(X))


@pytest.mark.parametrize("name", ["tables", "stage0", "stage1", "source", "x0"])
def test_a_table_may_have_any_name(name):
    model, rows = CASES["tan of many columns"]
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("arrow", numbered(rows))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
        answers = connection.execute(to_sql(model, "duckdb", table=name, keep=["id"])).fetchall()
    assert_scores(answers, model, rows)


@both
@pytest.mark.parametrize("n_rows", [0, 1])
def test_a_table_of_no_row_or_one_is_scored(dialect, n_rows):
    model, rows = CASES["tan of many columns"]
    found = answers_of(model, {name: rows[name].slice(0, n_rows) for name in rows.column_names}, dialect)
    assert [row[0] for row in found] == model.predict(rows)[:n_rows].tolist()


def test_merged_tables_add_what_the_tables_add():
    rng = np.random.default_rng(0)
    families = [(0,), (0, 1), (0, 2), (2, 3), (1, 3, 4), (5,)]
    sizes = [3, 2, 4, 3, 2, 5]
    tables = [Table(family, rng.normal(size=(*(sizes[j] for j in family), 2))) for family in families]
    codes = rng.integers(0, sizes, (50, len(sizes)))

    def total(some):
        return sum(table.numbers[tuple(codes[:, j] for j in table.columns)] for table in some)

    for most, n_left in ((0, 6), (60, 4), (10_000, 1)):
        merged = merge(tables, most)
        assert len(merged) == n_left
        assert all(table.numbers.size <= most for table in merged if table.columns not in families)
        assert_allclose(total(merged), total(tables), rtol=0, atol=1e-13)


def test_log_zero_stays_finite_where_tables_are_merged():
    a = Table.of_values((0,), np.log([[0.5, 1.0]]))
    never = Table.of_values((1,), np.array([[-np.inf, 0.0]]))
    (both_tables,) = merge([a, never, Table((2,), never.numbers)], 100)
    assert_array_equal(both_tables.numbers[1, 1, 1], [LOG_ZERO, 0.0])


def test_names_of_the_result_are_never_confused():
    rows = {"a": ["x", "y", "x"]}
    query = to_sql(NaiveBayes().fit(rows, ["no", "NO", "o" * 70]), "duckdb", keep=[])
    assert [line.split(" AS ")[-1] for line in query.splitlines()[-5:-1]] == [
        '"prediction",',
        '"P(NO)",',
        '"P(class 2)",',
        f'"P({"o" * 70})"',
    ]
    query = to_sql(NaiveBayes().fit(rows, ["no", "NO", "o" * 70]), "postgres", keep=[])
    assert '"P(no)"' in query
    assert '"P(class 3)"' in query


def test_sqlite_refuses_matrices_that_its_lists_cannot_hold():
    with pytest.raises(
        TooLargeError, match="integrating out missing cells takes 2352 numbers per row, more than the 2"
    ):
        to_sql(export_cases()["auto of text"][0], "sqlite")


@both
def test_a_temperature_divides_the_log_posteriors(dialect):
    for model, rows in (CASES["tan bins"], CASES["naive text without smoothing"], export_cases()["logistic"]):
        query = targets()["sql"].write(model, dialect=dialect, keep=["id"], temperature=1.7).decode()
        answers = (in_duckdb if dialect == "duckdb" else in_sqlite)(query, numbered(rows))
        found = np.array([row[2:] for row in sorted(answers)], dtype=float)
        assert_allclose(found, tempered(model, rows, 1.7), rtol=0, atol=1e-9)
        assert [row[1] for row in sorted(answers)] == model.predict(rows).tolist()


REFUSALS = [
    ("duckdb", NaiveBayes(numeric="kde").fit({"x": [1.0, 2.0]}, [0, 1]), {}, r"column 'x' is of kind 'kde', which has"),
    (
        "oracle",
        NaiveBayes().fit({"x": [1.0, 2.0]}, [0, 1]),
        {},
        "dialect must be one of duckdb, postgres, spark",
    ),
    (
        "duckdb",
        KNeighbors().fit({"x": [1.0, 2.0]}, [0, 1]),
        {},
        "KNeighbors cannot be written as SQL; AutoBayes",
    ),
    ("duckdb", CategoricalNB().fit([[0], [1]], [0, 1]), {}, "CategoricalNB cannot be written as SQL"),
    ("duckdb", NaiveBayes().fit({"x": ["a"], "X": ["b"]}, [0]), {}, "columns 'x' and 'X' are one column to duckdb"),
    ("spark", NaiveBayes().fit({"${x}": ["a"]}, [0]), {}, r"the name '\$\{x\}' holds '\$\{', which Spark would"),
    ("duckdb", NaiveBayes().fit({"x": ["a\0"]}, [0]), {}, "holds the character U"),
    ("duckdb", NaiveBayes().fit({"x": ["a"]}, [0]), {"keep": ["Prediction"]}, "the kept column 'Prediction' has"),
    ("duckdb", TAN().fit({"x": ["a"]}, [0]), {"missing_parents": "zero"}, "missing_parents must be 'sum' or 'null'"),
    ("duckdb", NaiveBayes(kinds="categorical").fit({"x": [2**60, 1]}, [0, 1]), {}, "which double precision cannot"),
]


@pytest.mark.parametrize(("dialect", "model", "options", "message"), REFUSALS)
def test_what_cannot_be_written_is_refused_by_name(dialect, model, options, message):
    with pytest.raises(BayeskitError, match=message):
        to_sql(model, dialect, **options)


def test_sums_that_are_too_large_are_refused_by_column():
    rng = np.random.default_rng(0)
    X = {f"c{j}": rng.integers(0, 9, 500).astype(str) for j in range(7)}
    model = KDB(k=3).fit(X, rng.integers(0, 2, 500))
    with pytest.raises(TooLargeError, match="cells per row, more than the 2000 of sqlite; the largest sum is over 'c"):
        to_sql(model, "sqlite")
    assert "FROM stage" in to_sql(model, "sqlite", missing_parents="null")


def test_trees_over_many_values_list_few_of_them_in_a_condition():
    # DuckDB makes a join of each long IN list: of the titanic table's trees 182, which took 9 of 10 seconds.
    rng = np.random.default_rng(0)
    word, other = rng.integers(24, size=300), rng.integers(3, size=300)
    texts = {"word": [f"w{v}" for v in word], "other": [f"o{v}" for v in other]}
    model = AutoBayes(max_nodes=3000).fit({**texts, "class": ((word * 7 + other) % 3 == 0).tolist()}, target="class")
    query = to_sql(model, "duckdb", keep=["id"])
    assert max(listed.count(",") for listed in re.findall(r" IN \(([\d, ]+)\)", query)) < 8
    asked = pa.table({name: [*values[:60], None, "new"] for name, values in texts.items()})
    assert_scores(in_duckdb(query, numbered(asked)), model, asked)


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        to_sql(NaiveBayes(), "duckdb")
