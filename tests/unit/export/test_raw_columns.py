"""An exported program reads the raw columns of a file: what the reader converted, it converts too."""

import sqlite3
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import bayeskit
from bayeskit import AutoBayes, MDLTree, NaiveBayes, to_c, to_onnx, to_sql
from bayeskit.errors import BayeskitError
from bayeskit.export.c.patterns import compiled
from bayeskit.export.raw import inputs_in_words
from c_programs import Program, compiler
from raw_cases import ASKED, NAMES, asked, assert_answers, expected, raw_model
from sql_cases import numbered


def in_sqlite(query, rows):
    data = numbered(rows)
    with sqlite3.connect(":memory:") as connection:
        columns = ", ".join(map('"{}"'.format, data.column_names))
        connection.execute(f"CREATE TABLE data ({columns})")
        cells = [tuple(row.values()) for row in data.to_pylist()]
        connection.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(data.column_names))})", cells)
        return connection.execute(query).fetchall()


def in_duckdb(query, rows):
    duckdb = pytest.importorskip("duckdb")
    data = numbered(rows)  # noqa: F841 (DuckDB reads it by its name)
    return duckdb.connect().execute(query).fetchall()


def in_c(program, rows, names, folder):
    model = SimpleNamespace(schema_=SimpleNamespace(names=names), classes_=np.arange(2))
    return Program(program, folder).predict(model, rows)[1]


def test_duckdb_reads_every_cell_as_the_library_does():
    model, rows = raw_model(), asked()
    assert_answers(in_duckdb(to_sql(model, "duckdb", keep=["id"]), rows), expected(model, rows))


def test_sqlite_reads_cells_as_the_library_does_or_refuses_the_row():
    model, rows = raw_model(), asked()
    answers = sorted(in_sqlite(to_sql(model, "sqlite", keep=["id"]), rows))
    probabilities = np.array([row[2:] for row in answers], dtype=float)
    refused = np.isnan(probabilities).any(axis=1)
    truth = expected(model, rows)
    assert refused[np.isnan(truth).any(axis=1)].all()
    assert_allclose(probabilities[~refused], truth[~refused], rtol=0, atol=1e-9)
    cells = [(name, cell) for name in NAMES for cell in ASKED[name]]
    words = [cells[i] for i in np.flatnonzero(refused)]
    # Wide digits, dates in words and durations; and times that have no clock's form.
    assert {name for name, _ in words} == {"price", "sold", "start"}
    assert {("sold", "27 Dec 2019"), ("start", "PT90M"), ("price", "１２,５"), ("price", "inf")} <= set(words)
    assert not {("sold", "16.02.2019 23:59:60"), ("sold", "5/7/71"), ("start", "9:05:30,5")} & set(words)


@pytest.mark.skipif(compiler is None, reason="needs a C compiler")
@pytest.mark.parametrize("kind", [NaiveBayes, MDLTree])
def test_c_reads_every_cell_as_the_library_does(kind, tmp_path):
    model, rows = raw_model(kind), asked()
    assert_allclose(in_c(to_c(model), rows, NAMES, tmp_path), expected(model, rows), rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.skipif(compiler is None, reason="needs a C compiler")
def test_cells_that_are_numbers_or_moments_already_need_no_convention(tmp_path):
    n = 60
    day = np.datetime64("2020-01-01T10:30:00") + np.arange(n) * np.timedelta64(31, "h")
    written = [f"{d.day}.{d.month}.{d.year} {d.hour}:{d.minute:02d}" for d in day.astype(object)]
    price = np.arange(n) * 0.25
    texts = {"day": written, "price": [f"{p:.2f}".replace(".", ",") for p in price]}
    model = NaiveBayes().fit(bayeskit.read({**texts, "y": ["a", "b"] * (n // 2)}, target="y"))
    typed = pa.table({"day": pa.array(day), "price": price})
    truth = model.predict_proba(pa.table(texts))
    assert_allclose(model.predict_proba(typed), truth, rtol=0, atol=1e-12)
    assert_answers(in_duckdb(to_sql(model, "duckdb", keep=["id"]), typed), truth)
    numbers = pa.table({"day": written, "price": price})
    assert_allclose(in_c(to_c(model), numbers, ["day", "price"], tmp_path), truth, rtol=0, atol=1e-9)
    assert_answers(in_sqlite(to_sql(model, "sqlite", keep=["id"]), numbers), truth)


def test_converted_columns_can_be_given_instead():
    model, rows = raw_model(), asked().slice(0, 5)
    made = model.schema_.conversions.apply({name: rows[name] for name in NAMES}, model.schema_.variables)
    made["member"] = made["member"].cast("double")
    table = pa.table(made)
    query = to_sql(model, "duckdb", keep=["id"], converted=True)
    assert_answers(in_duckdb(query, table), expected(model, rows))
    said = inputs_in_words(model.schema_)
    assert said["sold (days)"] == "days from 2019-01-03 to the date 'sold', as a number"
    assert "0.12 for 12 %" in said["rate"]


def test_onnx_refuses_dates_by_name_and_says_what_would_do():
    pytest.importorskip("onnx")
    with pytest.raises(
        BayeskitError, match=r"'price' was converted \(decimal comma\), which ONNX cannot do.*converted=True"
    ):
        to_onnx(raw_model())


def test_onnx_with_converted_inputs_says_what_each_must_hold():
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model, rows = raw_model(), asked().slice(0, 5)
    graph = to_onnx(model, converted=True)
    said = {column.name: column.doc_string for column in graph.graph.input}
    assert said["sold (month)"] == "the month of the date 'sold', 1 to 12"
    made = model.schema_.conversions.apply({name: rows[name] for name in NAMES}, model.schema_.variables)
    given = {}
    for name, column in made.items():
        cells = column.to_pylist()
        texts = any(isinstance(cell, str) for cell in cells)
        values = [("" if texts else np.nan) if cell is None else cell if texts else float(cell) for cell in cells]
        given[name] = np.array(values, dtype=object if texts else np.float64)[:, None]
    answers = runtime.InferenceSession(graph.SerializeToString()).run(None, given)[1]
    assert_allclose(answers, expected(model, rows), rtol=0, atol=1e-9)


def test_onnx_reads_other_spellings_and_missing_words():
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    table = {
        "city": ["Rome", "rome", "Oslo", "Bern", "n.s."] * 8,
        "age": [31, -999, 45, 40, 22] * 8,
        "y": [*"abbaa"] * 8,
    }
    options = {"target": "y", "missing": ["city=n.s.", "age=-999"], "merge_labels": True, "kinds": {"age": "gaussian"}}
    model = AutoBayes(effort="fast").fit(bayeskit.read(table, **options))
    rows = pa.table({"city": ["Rome", "rome", "n.s.", "", "NA", "Oslo", "?"], "age": [31.0, -999, 5, 7, 40, 1e9, 3]})
    given = {
        name: np.array(rows[name].to_pylist(), dtype=kind)[:, None] for name, kind in [("city", object), ("age", float)]
    }
    answers = runtime.InferenceSession(to_onnx(model).SerializeToString()).run(None, given)[1]
    assert_allclose(answers, expected(model, rows), rtol=0, atol=1e-9)


def test_a_pattern_of_the_reader_that_the_c_program_does_not_know_is_an_error():
    with pytest.raises(ValueError, match="not understood"):
        compiled("^a)$")
