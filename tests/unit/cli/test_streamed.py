"""The command on tables of any size: several files, globs and folders, read piece by piece."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import bayeskit
from bayeskit.cli import tables
from bayeskit.cli.app import run
from bayeskit.table.scan import sample as sampling


@pytest.fixture
def days(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    play = rng.choice(["no", "yes"], 9000)
    wind = np.where(rng.random(9000) < 0.5, play, rng.choice(["a", "b"], 9000))
    table = pa.table({"wind": wind, "heat": rng.normal(size=9000) + (play == "yes"), "play": play})
    (tmp_path / "days").mkdir()
    for k in range(3):
        pq.write_table(table.slice(3000 * k, 3000), tmp_path / "days" / f"{k}.parquet")
    pa.csv.write_csv(table, tmp_path / "days.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sampling, "MOST_ROWS", 2500)
    return table


@pytest.mark.parametrize("data", [["days"], ["days/*.parquet"], [f"days/{k}.parquet" for k in range(3)]])
def test_a_folder_a_glob_and_a_list_of_files_are_one_table(days, capsys, data):
    assert run(["train", *data, "-t", "play", "-m", "NaiveBayes", "--no-report"]) == 0
    said = capsys.readouterr().out
    assert "Reading 3 files piece by piece." in said
    assert "A random sample of 2500 rows" in said
    assert "scored on a random sample of 2,500 rows" in said
    assert "fitted on all 9000 rows" in said
    found, expected = bayeskit.load("days-play.bayes"), bayeskit.NaiveBayes().fit(days, target="play")
    assert found.class_count_.tolist() == expected.class_count_.tolist()
    assert_allclose(found.predict_proba(days), expected.predict_proba(days), rtol=1e-9)


def test_the_report_of_a_large_table_is_whole_and_says_what_was_sampled(days):
    assert run(["train", "days", "-t", "play", "-m", "NaiveBayes", "-m", "TAN", "--calibrate"]) == 0
    page = Path("days-play.html").read_text(encoding="utf-8")
    for title in ("Leaderboard", "Class balance", "Importance of columns", "Values by class", "Explained rows"):
        assert title in page
    assert "scored on a random sample of 2,500 rows" in page
    assert "of the sample, a typical" in page


def test_one_file_is_streamed_when_it_is_large_or_when_asked(days, capsys, monkeypatch):
    options = ["-t", "play", "-m", "NaiveBayes", "--no-report", "--json"]
    assert run(["train", "days.csv", *options]) == 0
    assert json.loads(capsys.readouterr().out)["sampled_rows"] is None
    assert run(["train", "days.csv", "--stream", *options]) == 0
    assert json.loads(capsys.readouterr().out)["sampled_rows"] == 2500
    monkeypatch.setattr(tables, "MOST_BYTES", 1000)
    assert run(["train", "days.csv", *options]) == 0
    assert json.loads(capsys.readouterr().out)["sampled_rows"] == 2500
    assert run(["train", "days.csv", "--no-stream", *options]) == 0
    assert json.loads(capsys.readouterr().out)["sampled_rows"] is None
    monkeypatch.undo()


@pytest.mark.parametrize("output", ["out.parquet", "out.csv", "out.jsonl"])
def test_predictions_of_many_files_are_those_of_one_table(days, output):
    model = bayeskit.NaiveBayes().fit(days, target="play")
    model.save("play.bayes")
    assert run(["predict", "play.bayes", "days/*.parquet", "-o", output, "--digits", "17"]) == 0
    read = bayeskit.scan(output)
    found = pa.Table.from_batches(list(read.batches()))
    posterior = model.predict_proba(days)
    assert found["prediction"].to_pylist() == model.predict(days).tolist()
    assert_allclose(found["P(yes)"].to_numpy(), posterior[:, 1], rtol=1e-12)


def test_what_several_files_cannot_do_is_refused_and_no_input_is_overwritten(days, capsys):
    assert run(["train", "days", "-t", "play", "--no-stream"]) == 2
    assert "several files are one table" in capsys.readouterr().err
    assert run(["train", "days/0.parquet", "-", "-t", "play"]) == 2
    assert run(["train", "nothing/*.parquet", "-t", "play"]) == 1
    assert "no file matches it" in capsys.readouterr().err
    bayeskit.NaiveBayes().fit(days, target="play").save("play.bayes")
    before = Path("days/1.parquet").read_bytes()
    assert run(["predict", "play.bayes", "days", "-o", "days/1.parquet"]) == 1
    assert "is the input" in capsys.readouterr().err
    assert Path("days/1.parquet").read_bytes() == before


def test_a_cell_that_does_not_fit_is_named_with_its_file(days, capsys):
    bayeskit.NaiveBayes().fit(days, target="play").save("play.bayes")
    pq.write_table(pa.table({"wind": ["a"], "heat": [float("inf")]}), "days/3.parquet")
    for k in range(3):
        pq.write_table(days.drop_columns("play").slice(3000 * k, 3000), f"days/{k}.parquet")
    assert run(["predict", "play.bayes", "days", "-o", "out.csv"]) == 1
    assert "'days/3.parquet', row group 0, row 1: column 'heat' holds inf" in capsys.readouterr().err


TRAIN = ["-t", "play", "-m", "NaiveBayes", "-o", "play.bayes"]


def test_the_same_command_goes_on_after_an_interruption_and_removes_what_it_kept(days, capsys, monkeypatch):
    from bayeskit.learn.plan import Plan
    from bayeskit.table.scan import local

    monkeypatch.setattr(local, "_ROWS_OF_A_UNIT", 3000)
    monkeypatch.setenv("BAYESKIT_NUM_THREADS", "1")
    assert run(["train", "days", *TRAIN, "--no-report", "--no-checkpoint"]) == 0
    undisturbed = Path("play.bayes").read_bytes()
    read, n_left = Plan.labelled, [3]

    def interrupted(self, *arguments):
        n_left[0] -= 1
        if not n_left[0]:
            raise KeyboardInterrupt
        return read(self, *arguments)

    monkeypatch.setattr(Plan, "labelled", interrupted)
    assert run(["train", "days", *TRAIN, "--no-report", "--checkpoint", "--force"]) == 130
    assert list(Path("play.bayes.checkpoint").glob("*.sums"))
    monkeypatch.setattr(Plan, "labelled", read)
    capsys.readouterr()
    assert run(["train", "days", *TRAIN, "--no-report", "--checkpoint", "--force"]) == 0
    said = capsys.readouterr().err.replace("\n", " ")
    assert "going on after 'days/2.parquet', row group 0: 3 of 3 parts were counted" in said  # the sample
    assert "going on after 'days/1.parquet', row group 0: 2 of 3 parts were counted" in said
    assert not Path("play.bayes.checkpoint").exists()
    models = []
    for data in (undisturbed, Path("play.bayes").read_bytes()):
        Path("compared.bayes").write_bytes(data)
        models.append(bayeskit.load("compared.bayes").counts_.to_parts()[1])
    assert all(models[0][name].tobytes() == array.tobytes() for name, array in models[1].items())


def test_broken_files_are_left_out_where_that_is_asked_for_and_stand_in_the_model_card(days, capsys):
    Path("days/1.parquet").write_bytes(b"PAR1 nothing")
    assert run(["train", "days", *TRAIN]) == 1
    assert "'days/1.parquet' is not a complete Parquet file" in capsys.readouterr().err
    assert run(["train", "days", *TRAIN, "--skip-broken", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == 6000
    assert len(said["skipped"]) == 1
    card = Path("play.html").read_text(encoding="utf-8").partition("Model card")[2]
    assert "1.parquet&#x27; is not a complete Parquet file" in card or "1.parquet&#39; is not a complete" in card


def test_a_version_of_a_delta_table_is_trained_on_and_predicted(days, capsys):
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake("lake", days.slice(0, 4000))
    deltalake.write_deltalake("lake", days.slice(4000), mode="append")
    for more, n_rows in ((["--snapshot", "0"], 4000), ([], 9000)):
        assert run(["train", "lake", *TRAIN, "--no-report", "--json", "--force", *more]) == 0
        assert json.loads(capsys.readouterr().out)["rows"] == n_rows
        assert run(["predict", "play.bayes", "lake", "-o", "out.csv", "--force", *more]) == 0
        assert pa.csv.read_csv("out.csv").num_rows == n_rows
    assert run(["train", "days", *TRAIN, "--snapshot", "0", "--force"]) == 1
    assert "version is only for tables in Delta or Iceberg format" in capsys.readouterr().err


def test_a_url_is_trained_on(days, capsys):
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for path in sorted(Path("days").iterdir()):
        store.pipe_file(f"/trained/days/{path.name}", path.read_bytes())
    assert run(["train", "memory://trained/days", *TRAIN, "--no-report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 9000
    assert run(["train", "nowhere://trained", *TRAIN, "--force"]) == 1
    assert "'nowhere://trained' cannot be read: Protocol not known" in capsys.readouterr().err


def test_options_of_scans_are_refused_for_a_file_in_memory(days, capsys):
    for more in (["--checkpoint"], ["--skip-broken"], ["--snapshot", "3"]):
        assert run(["train", "days.csv", *TRAIN, *more]) == 2
        assert "read into memory" in capsys.readouterr().err
