"""``bayeskit export``."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from bayeskit import NaiveBayes, datasets
from bayeskit.cli.app import run


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
