"""``bayeskit export``."""

import sqlite3
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from bayeskit import AutoBayes, NaiveBayes, datasets, distill, to_c
from bayeskit.cli.app import run
from bayeskit.workflow.trained import TrainedModel


@pytest.fixture
def play(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = NaiveBayes().fit(datasets.load_tennis(), target="play")
    model.save("play.bayes")
    return model


def test_the_query_of_a_model_file_scores_a_table(play, tmp_path):
    assert run(["export", "play.bayes", "--to", "sql", "--dialect", "sqlite", "--table", "days", "--keep", "day",
                "-o", "score.sql"]) == 0  # fmt: skip
    days = sqlite3.connect(":memory:")
    days.execute("CREATE TABLE days (day, outlook, temperature, humidity, wind)")
    days.execute("INSERT INTO days VALUES (1, 'sunny', 'cool', 'high', 'strong'), (2, 'overcast', NULL, NULL, NULL)")
    found = days.execute(Path("score.sql").read_text()).fetchall()
    rows = {"outlook": ["sunny", "overcast"], "temperature": ["cool", None], "humidity": ["high", None],
            "wind": ["strong", None]}  # fmt: skip
    assert [row[:2] for row in found] == list(zip([1, 2], play.predict(rows), strict=True))
    days.close()


def test_the_query_goes_to_standard_output(play, capsys):
    assert run(["export", "play.bayes", "--dialect", "postgres", "--schema", "public", "--table", "a b"]) == 0
    assert 'FROM "public"."a b" AS source OFFSET 0' in capsys.readouterr().out


def test_the_model_is_never_overwritten(play, capsys):
    before = Path("play.bayes").read_bytes()
    assert run(["export", "play.bayes", "-o", "play.bayes"]) == 1
    assert "give the output another name" in capsys.readouterr().err
    assert Path("play.bayes").read_bytes() == before


def test_a_model_file_becomes_an_onnx_model(play, capsys):
    runtime = pytest.importorskip("onnxruntime")
    assert run(["export", "play.bayes", "--to", "onnx", "-o", "play.onnx"]) == 0
    session = runtime.InferenceSession("play.onnx", providers=["CPUExecutionProvider"])
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    labels, _ = session.run(None, {name: np.array([[value]], dtype=object) for name, value in day.items()})
    assert list(labels) == list(play.predict({name: [value] for name, value in day.items()}))
    assert run(["export", "play.bayes", "--to", "onnx"]) == 2
    assert "name the file to write" in " ".join(capsys.readouterr().err.split())


def test_what_cannot_be_written_leaves_no_file(play, capsys):
    NaiveBayes(numeric="kde").fit({"x": [1.0, 2.0]}, [0, 1]).save("kde.bayes")
    assert run(["export", "kde.bayes", "-o", "kde.sql"]) == 1
    assert "column 'x' is of kind 'kde'" in capsys.readouterr().err
    assert not Path("kde.sql").exists()


@pytest.fixture
def days(tmp_path, monkeypatch):
    """A file with dates, and a model of it."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{k},1{k % 7}.{1 + k % 9}.2020,{k % 3},{'no' if k % 2 else 'yes'}" for k in range(60)]
    Path("days.csv").write_text("\n".join(["id,when,wind,play", *lines]))
    options = ["--target", "play", "-m", "NaiveBayes", "--ignore", "id", "-o", "days.bayes"]
    assert run(["train", "days.csv", *options]) == 0


def test_duckdb_reads_the_dates_of_a_file_as_the_command_does(days):
    duckdb = pytest.importorskip("duckdb")
    assert run(["predict", "days.bayes", "days.csv", "--keep", "id", "-o", "answers.csv"]) == 0
    assert run(["export", "days.bayes", "--table", "days.csv", "--keep", "id", "-o", "score.sql"]) == 0
    scored = duckdb.sql(Path("score.sql").read_text()).df().astype({"id": int}).set_index("id")
    expected = duckdb.sql("SELECT * FROM 'answers.csv'").df().set_index("id")
    assert np.abs(scored.loc[expected.index, "P(yes)"] - expected["P(yes)"]).max() < 1e-9


def test_onnx_takes_converted_columns_and_the_command_says_what_they_must_hold(days, capsys):
    pytest.importorskip("onnx")
    capsys.readouterr()
    assert run(["export", "days.bayes", "--to", "onnx", "-o", "days.onnx"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "column 'when' was converted (dates (day.month.year) as" in said
    assert "--converted" in said
    assert not Path("days.onnx").exists()
    assert run(["export", "days.bayes", "--to", "onnx", "--converted", "-o", "days.onnx"]) == 0
    assert "when (month): the month of the date 'when', 1 to 12" in capsys.readouterr().err
    assert Path("days.onnx").exists()


def test_a_distilled_model_reads_converted_columns(days, capsys):
    options = ["--to", "c", "--distill", "tree", "--rows", "days.csv", "-o", "days.c"]
    assert run(["export", "days.bayes", *options]) == 1
    assert "which a distilled model cannot do" in " ".join(capsys.readouterr().err.split())
    assert run(["export", "days.bayes", *options, "--converted"]) == 0
    assert "when (month)" in Path("days.c").read_text()


@pytest.mark.parametrize(
    "words", [("yes", "no"), ("true", "false"), ("t", "f"), ("2020-01-01", "2020-01-02"), ("01", "1")]
)
def test_a_csv_file_scored_by_duckdb_is_read_as_the_command_reads_it(words, tmp_path, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    word, label = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    word = np.where(rng.random(200) < 0.7, label, word)
    cells = [rng.choice(["NA", "?", ""]) if rng.random() < 0.1 else words[k] for k in word]
    cells = zip(range(200), cells, rng.normal(label), label, strict=True)
    lines = [f"{k},{cell},{x:.3f},{'ab'[y]}" for k, cell, x, y in cells]
    Path("rows.csv").write_text("\n".join(["id,word,x,play", *lines]))
    kind = ["--kind", "word=categorical"]
    assert (
        run(["train", "rows.csv", "--target", "play", "-m", "NaiveBayes", "--ignore", "id", *kind, "-o", "m.bayes"])
        == 0
    )
    assert run(["predict", "m.bayes", "rows.csv", "--keep", "id", "-o", "answers.csv"]) == 0
    assert run(["export", "m.bayes", "--table", "rows.csv", "--keep", "id", "-o", "score.sql"]) == 0
    scored = duckdb.sql(Path("score.sql").read_text()).df().set_index("id")
    expected = duckdb.sql("SELECT * FROM 'answers.csv'").df().set_index("id")
    scored.index = scored.index.astype(int)
    assert np.abs(scored.loc[expected.index, "P(a)"] - expected["P(a)"]).max() < 1e-9


def test_a_c_file_goes_to_standard_output(play, capsys):
    assert run(["export", "play.bayes", "--to", "c"]) == 0
    assert "int bayeskit_predict(const bayeskit_cell *cells, double *probabilities)" in capsys.readouterr().out


def test_a_distilled_tree_is_written_and_its_loss_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    heart = datasets.load_heart()
    pa_csv.write_csv(pa.table(heart), "heart.csv")
    assert run(["train", "heart.csv", "--target", "disease", "--model", "AutoBayes", "-o", "heart.bayes"]) == 0
    capsys.readouterr()
    command = ["export", "heart.bayes", "--to", "c", "--distill", "tree", "--max-nodes", "9", "--rows", "heart.csv"]
    assert run([*command, "-o", "heart.c"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    small = distill(TrainedModel.load("heart.bayes"), pa.table(heart), max_nodes=9)
    assert f"a tree of {small.n_nodes} nodes. On 60 rows left out: {small.agreement:.1%} of the labels" in said
    assert f"log-loss {small.log_loss:.4f} (before {small.log_loss_before:.4f})" in said
    assert to_c(small.model) == Path("heart.c").read_text()


def test_the_size_of_a_long_query_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    heart = datasets.load_heart()
    pa_csv.write_csv(pa.table(heart), "heart.csv")
    AutoBayes().fit(heart, target="disease").save("heart.bayes")
    assert run(["export", "heart.bayes", "--to", "sql", "-o", "long.sql"]) == 0
    size = Path("long.sql").stat().st_size
    assert size > 1_000_000
    said = " ".join(capsys.readouterr().err.split())
    assert f"The query has {size / 1e6:.1f} MB." in said
    assert "--distill tree --rows TABLE" in said
    assert run(["export", "heart.bayes", "--distill", "tree", "--rows", "heart.csv", "-o", "short.sql"]) == 0
    assert "The query has" not in capsys.readouterr().err


def test_options_of_distilling_are_refused_where_they_do_nothing(play, capsys):
    for options, said in (
        (["--distill", "tree"], "name a table to imitate the model on"),
        (["--max-nodes", "5"], "it is used with --distill only"),
        (["--rows", "days.csv"], "it is used with --distill only"),
        (["--distill", "tan", "--rows", "days.csv", "--max-nodes", "5"], "a TAN has no nodes to cut"),
    ):
        assert run(["export", "play.bayes", *options]) == 2
        assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
