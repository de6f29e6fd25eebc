"""Bad input gives one paragraph, the right exit code, and loses nothing."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bayeskit.cli.app import run


def refused(capsys, *arguments):
    assert run(list(arguments)) == 1
    told = capsys.readouterr()
    assert told.err.startswith("Error: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("a,play\n1,no\n", "paly", "there is no column 'paly'; did you mean 'play'?"),
        ("a,play\n1,\n2,\n", "play", "the target 'play' has no value in any of 2 rows"),
        ("a,id\n1,p1\n2,p2\n3,p3\n", "id", "as many values as rows, 3: it is an id"),
        ("a,play\n1,no\n2,no\n", "play", "the target has one class, 'no'; a classifier"),
        ("a,play\n1,7\n2,7\n", "play", "the target has one class, 7; a classifier"),
        ("a,play\n", "play", "'a.csv' has a header and no rows"),
        ("a,play\nx,no\ny,yes\nx,no\n", "play", "number of rows, 3; got 5. (option --folds)"),
        ("play\nno\nyes\nno\n", "play", "has the target and no other column"),
        ("a,play\n1,no\n2\n", "play", "line 3: it has 1 cell and the header has 2"),
        ("a,a,play\n1,2,no\n", "play", "2 columns named 'a'"),
        ("", "play", "is empty"),
    ],
)
def test_train_refuses_a_bad_table(tmp_path, monkeypatch, capsys, text, target, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text)
    assert message in refused(capsys, "train", "a.csv", "-t", target)
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("verb", ["cluster", "learn"])
def test_a_header_without_rows_is_refused_by_the_name_of_its_file(tmp_path, monkeypatch, capsys, verb):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n")
    output = {"cluster": "out.csv", "learn": "out.bif"}[verb]
    assert "'a.csv' has a header and no rows" in refused(capsys, verb, "a.csv", "-o", output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nothing.csv", "-t", "y"], "there is no file 'nothing.csv'"),
        (["train", ".", "-t", "y"], "there is no column 'y'"),  # a folder is a table: that of its files
        (["train", "heart.csv", "-t", "disease", "--encoding", "klingon"], "there is no encoding 'klingon'"),
        (["train", "heart.csv", "-t", "disease", "-m", "TANN"], "there is no classifier 'TANN'; did you mean 'TAN'?"),
        (["train", "heart.csv", "-t", "disease", "--ignore", "ag"], "there is no column 'ag'; did you mean 'age'?"),
        (["train", "heart.csv", "-t", "disease", "--kind", "age=old"], "is one of categorical"),
        (["train", "heart.csv", "-t", "disease", "-o", "no/where.bayes"], "there is no folder 'no'"),
        (["predict", "heart.csv", "heart.csv"], "'heart.csv' is not a model file"),
        (["predict", "no.bayes", "heart.csv"], "no.bayes: No such file or directory"),
        (["show", "heart.csv"], "heart.csv"),
        (
            ["predict", "heart-disease.bayes", "heart-disease.bayes"],
            "it looks like a zip archive or a model file",
        ),
        (
            ["predict", "heart-disease.bayes", "heart.csv", "--keep", "agee"],
            "there is no column 'agee'; did you mean 'age'",
        ),
        (["predict", "heart-disease.bayes", "heart.csv", "--loss", "heart.csv"], "loss"),
        (["explain", "heart-disease.bayes", "heart.csv", "--row", "999"], "has 303 rows"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(trained, capsys, arguments, message):
    capsys.readouterr()
    before = sorted(os.listdir(trained))
    assert message in refused(capsys, *arguments)
    assert sorted(os.listdir(trained)) == before


def test_a_file_that_lacks_a_column_of_the_model_is_refused_under_strict_with_the_nearest(trained, capsys):
    capsys.readouterr()
    text = (trained / "heart.csv").read_text()
    (trained / "new.csv").write_text(text.replace("cholesterol", "cholestrol", 1))
    told = refused(capsys, "predict", "heart-disease.bayes", "new.csv", "--strict")
    assert "does not fit the model: there is no column 'cholesterol'; did you mean 'cholestrol'" in told


@pytest.mark.parametrize(
    ("data", "option"),
    [
        (b"a,play\n\xff\xfe\x81,no\n", "(option --encoding)"),
        (b"a:play\n1:no\n", "(option --delimiter)"),
        (b"note,play\n" + b"".join(b"n%d,%d\n" % (i, i % 2) for i in range(30)), "(option --kind NAME=KIND)"),
    ],
)
def test_the_command_names_the_option_that_would_help(tmp_path, monkeypatch, capsys, data, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_bytes(data)
    target = "a:play" if b":" in data else "play"
    assert refused(capsys, "train", "a.csv", "-t", target).endswith(f"{option}\n")


def test_no_message_of_the_library_names_an_option_of_the_command():
    import bayeskit

    library = [path for path in Path(bayeskit.__file__).parent.rglob("*.py") if "cli" not in path.parts]
    assert library
    flags = re.compile(r"""["' ]--[a-z][a-z-]*(?![a-z-]*:)""")  # with a colon it is a variable of CSS
    assert [str(path) for path in library if flags.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "heart.csv"],
        ["train", "heart.csv", "-t", "disease", "--folds", "1"],
        ["train", "heart.csv", "-t", "disease", "--kind", "age"],
        ["explain", "heart-disease.bayes", "heart.csv", "--row", "0"],
        ["explain", "heart-disease.bayes", "heart.csv", "--row", "1", "--doubtful", "2"],
        ["predict", "heart-disease.bayes"],
        ["divine", "heart.csv"],
    ],
)
def test_wrong_usage_exits_with_two(heart, capsys, arguments):
    assert run(arguments) == 2
    assert "Usage" in capsys.readouterr().err


def test_a_full_disk_leaves_the_old_files_whole(trained, capsys, monkeypatch):
    (trained / "out.csv").write_text("old")
    model = (trained / "heart-disease.bayes").read_bytes()
    files = sorted(os.listdir(trained))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert "No space left on device" in refused(
        capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", "out.csv", "--force"
    )
    assert "No space left on device" in refused(capsys, "train", "heart.csv", "-t", "disease", "-m", "TAN", "--json")
    assert (trained / "out.csv").read_text() == "old"
    assert (trained / "heart-disease.bayes").read_bytes() == model
    assert sorted(os.listdir(trained)) == files


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file here is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--version"], ["predict", "heart-disease.bayes", "heart.csv"], ["-h"]])
def test_standard_output_that_is_full_is_named(trained, arguments, unbuffered):
    command = [sys.executable, "-m", "bayeskit.cli", *arguments]
    with open("/dev/full", "w") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=trained, env=environment, text=True)
    assert done.stderr == "Error: standard output: No space left on device.\n"
    assert done.returncode == 1


def test_a_misspelt_kind_gets_the_word_that_was_meant(heart, capsys):
    said = refused(capsys, "train", "heart.csv", "-t", "disease", "--kind", "age=posson")
    assert "column 'age' cannot be of kind 'posson'; did you mean 'poisson'? It is one of categorical" in said


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_exits_with_130_and_leaves_no_half_written_file(trained):
    (trained / "out.csv").write_text("old")
    before = sorted(os.listdir(trained))
    head, _, rows = (trained / "heart.csv").read_bytes().partition(b"\n")
    (trained / "big.csv").write_bytes(head + b"\n" + rows * 6000)
    before.insert(0, "big.csv")
    command = [
        sys.executable,
        "-m",
        "bayeskit.cli",
        "predict",
        "heart-disease.bayes",
        "big.csv",
        "-o",
        "out.csv",
        "--force",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=trained) as process:
        while len(os.listdir(trained)) == len(before) and process.poll() is None:
            time.sleep(0.02)  # until the new file stands beside the old one
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
        assert process.wait(timeout=60) == 130
        assert b"Traceback" not in told
    assert (trained / "out.csv").read_text() == "old"
    assert sorted(os.listdir(trained)) == sorted(before)
