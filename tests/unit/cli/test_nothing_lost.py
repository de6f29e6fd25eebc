"""No input is overwritten, no column or value is dropped in silence, and cells are read alike in training and use."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bayeskit import NaiveBayes, load, scan
from bayeskit.cli.app import run
from bayeskit.datasets import load_asia, load_heart
from bayeskit.errors import TableError


def refused(capsys, *arguments):
    capsys.readouterr()
    assert run(list(arguments)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def told(capsys, *arguments):
    capsys.readouterr()
    assert run(list(arguments)) == 0
    return capsys.readouterr()


@pytest.mark.parametrize("link", ["name", "symlink", "hard link"])
@pytest.mark.parametrize(
    ("arguments", "victim"),
    [
        (["train", "heart.csv", "-t", "disease", "-o", "{}"], "heart.csv"),
        (["predict", "heart-disease.bayes", "heart.csv", "-o", "{}"], "heart.csv"),
        (["predict", "heart-disease.bayes", "heart.csv", "-o", "{}"], "heart-disease.bayes"),
        (["predict", "heart-disease.bayes", "heart.csv", "--loss", "costs.csv", "-o", "{}"], "costs.csv"),
    ],
)
def test_an_output_that_is_an_input_is_refused_under_any_name(trained, capsys, arguments, victim, link):
    (trained / "costs.csv").write_text("truth,no,yes\nno,0,1\nyes,1,0\n")
    before = (trained / victim).read_bytes()
    name = victim if link == "name" else "other.csv"
    if link == "symlink":
        (trained / name).symlink_to(trained / victim)
    elif link == "hard link":
        os.link(trained / victim, trained / name)
    if link == "name" and not victim.endswith(".csv") and arguments[0] == "predict":
        name = "copy.csv"  # a name that says a format
        (trained / name).symlink_to(trained / victim)
    said = refused(capsys, *(each.replace("{}", name) for each in arguments))
    assert f"the output {name!r} is the input {victim!r}" in said
    assert (trained / victim).read_bytes() == before


def test_the_report_does_not_overwrite_the_data_either(heart, capsys):
    os.rename("heart.csv", "disease.html")
    before = (heart / "disease.html").read_bytes()
    assert "'disease.html' is the input" in refused(
        capsys, "train", "disease.html", "-t", "disease", "-o", "disease.bayes"
    )
    assert (heart / "disease.html").read_bytes() == before


def test_standard_input_is_an_input_too(trained, capsys, monkeypatch):
    with open("heart.csv", "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert "is the input '-'" in refused(capsys, "predict", "heart-disease.bayes", "-", "-o", "heart.csv")


def test_an_appended_standard_output_is_an_output_too(trained):
    before = (trained / "heart.csv").read_bytes()
    with open("heart.csv", "ab") as file:
        done = subprocess.run(
            [sys.executable, "-m", "bayeskit.cli", "predict", "heart-disease.bayes", "heart.csv"],
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert "standard output is the input 'heart.csv'" in done.stderr
    assert (trained / "heart.csv").read_bytes() == before


def test_a_dash_is_standard_output(trained, capsysbinary):
    assert run(["predict", "heart-disease.bayes", "heart.csv", "-o", "-"]) == 0
    dash = capsysbinary.readouterr().out
    assert run(["predict", "heart-disease.bayes", "heart.csv"]) == 0
    assert dash == capsysbinary.readouterr().out
    assert not (trained / "-").exists()


@pytest.mark.parametrize("arguments", [["predict", "heart-disease.bayes", "heart.csv"], ["sample", "asia.bif"]])
def test_json_and_an_extension_that_names_another_format_are_not_both_obeyed(trained, capsys, arguments):
    assert run([*arguments, "--json", "-o", "out.csv"]) == 2
    assert "--json writes JSON Lines, but 'out.csv' names another format" in " ".join(capsys.readouterr().err.split())
    assert not (trained / "out.csv").exists()


def test_a_network_is_not_converted_onto_itself(tmp_path, monkeypatch, capsys):
    from bayeskit.datasets import load_asia

    monkeypatch.chdir(tmp_path)
    load_asia().save("asia.bayes")
    assert "is the input" in refused(capsys, "convert", "asia.bayes", "asia.bayes")


@pytest.mark.parametrize(
    ("kind", "cell", "holds"), [("poisson", "2.5", "counts 0, 1, 2, …"), ("lognormal", "-1", "numbers above zero")]
)
def test_a_number_that_its_kind_cannot_take_is_refused_with_its_line_in_training_and_in_use(
    tmp_path, monkeypatch, capsys, kind, cell, holds
):
    monkeypatch.chdir(tmp_path)
    rows = [f"{1 + i % 3},{'ab'[i % 2]}\n" for i in range(12)]
    (tmp_path / "good.csv").write_text("x,y\n" + "".join(rows))
    (tmp_path / "bad.csv").write_text("x,y\n" + "".join([*rows[:2], f"{cell},a\n", *rows[2:]]))
    training = ["-t", "y", "-m", "NaiveBayes", "--no-report", "-o", "y.bayes", "--kind", f"x={kind}"]
    told(capsys, "train", "good.csv", *training)
    for arguments in (["train", "bad.csv", *training], ["predict", "y.bayes", "bad.csv"]):
        said = refused(capsys, *arguments)
        assert f"'bad.csv', line 4: column 'x' is {kind} and must hold {holds}; got {cell}" in said


def test_a_kind_that_does_not_fit_is_refused_with_the_first_cell_and_its_line(heart, capsys):
    said = refused(capsys, "train", "heart.csv", "-t", "disease", "--kind", "thal=numeric")
    assert "'heart.csv', line 2: column 'thal' cannot be numeric, since this cell is 'fixed defect'" in said
    assert said.endswith("(option --kind NAME=KIND)\n")
    said = refused(capsys, "train", "heart.csv", "-t", "disease", "--kind", "st_depression=poisson")
    assert "st_depression" in said


@pytest.fixture
def prices(tmp_path, monkeypatch):
    """Numbers with a decimal comma and odd markers, dates day first, ids with zeros, labels 01 and 02."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = []
    for i in range(200):
        y = i % 2
        price = f"{1000 + 400 * y + rng.normal() * 100:.2f}".replace(".", ",")
        price = "n/k" if i % 40 == 7 else price
        day = f"{1 + i % 28:02}.{1 + i % 12:02}.{2018 + i % 3}"
        rows.append([price, day, f"{i % 60:05}", f"{rng.integers(1, 9)},{rng.integers(100, 999)}", f"0{y + 1}"])
    with open("prices.csv", "w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["price", "sold", "zip", "area", "class"])
        writer.writerows(rows)
    return tmp_path


def test_a_marker_that_training_read_as_missing_is_no_news_in_predict(prices, capsys):
    told(capsys, "train", "prices.csv", "-t", "class", "--no-report", "-m", "NaiveBayes", "-o", "m.bayes")
    assert "read as missing" not in told(capsys, "predict", "m.bayes", "prices.csv", "-o", "out.csv").err
    text = (prices / "prices.csv").read_text().replace("n/k", "on request")
    (prices / "other.csv").write_text(text)
    said = told(capsys, "predict", "m.bayes", "other.csv", "-o", "out2.csv").err
    assert "column 'price': 5 cells such as 'on request' read as missing" in " ".join(said.split())


def test_the_table_of_columns_says_how_each_was_read(prices, capsys):
    said = told(capsys, "train", "prices.csv", "-t", "class", "--no-report", "-m", "NaiveBayes").out
    assert "decimal comma, 5 cells such as 'n/k' read as missing" in " ".join(said.split())
    assert "dates (day.month.year) as year, month, weekday, days" in " ".join(said.split())
    assert "digits with leading zeros (--kind NAME=KIND)" in " ".join(said.split())
    # 3,456 is open, and the prices of the file say how it is meant.
    assert sum("decimal comma" in line for line in said.splitlines()) == 2


def test_a_model_reads_new_files_as_it_read_its_own(prices, capsys):
    told(capsys, "train", "prices.csv", "-t", "class", "--no-report", "-m", "NaiveBayes", "-o", "m.bayes")
    told(capsys, "predict", "m.bayes", "prices.csv", "-o", "out.csv", "--keep", "price", "--keep", "class")
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["prediction"] for row in rows} == {"01", "02"}  # labels as they were written
    assert rows[0]["price"] == (prices / "prices.csv").read_text().splitlines()[1].split(";")[0]
    assert sum(row["prediction"] == row["class"] for row in rows) > 180
    # The same table as a Parquet file needs no convention.
    import pyarrow as pa
    import pyarrow.parquet as pq

    from bayeskit.kinds.written import read_columns
    from bayeskit.table.files import TableFile

    typed = read_columns(TableFile.open("prices.csv").read_written(), "class").table
    pq.write_table(typed.select(["price", "sold", "zip", "area"]).cast(
        pa.schema([("price", pa.float64()), ("sold", pa.timestamp("s")), ("zip", pa.string()), ("area", pa.float64())])
    ), "prices.parquet")  # fmt: skip
    told(capsys, "predict", "m.bayes", "prices.parquet", "-o", "again.csv")
    with open("again.csv", newline="") as file:
        assert [row["P(01)"] for row in csv.DictReader(file)] == [row["P(01)"] for row in rows]


def test_the_options_settle_what_the_cells_leave_open(prices, capsys):
    lines = [line.split(";") for line in Path("prices.csv").read_text().splitlines()]
    Path("areas.csv").write_text("\n".join(";".join((line[3], line[4])) for line in lines))
    options = ["train", "areas.csv", "-t", "class", "--no-report", "-m", "NaiveBayes", "--json"]
    columns = json.loads(told(capsys, "read", "areas.csv", "-t", "class", "--json").out)["columns"]
    notes = {note["name"]: note for note in columns}
    assert notes["area"]["kind"] != "numeric"
    assert "could be" in notes["area"]["why"]
    notes = {note["name"]: note for note in json.loads(told(capsys, *options, "--decimal", ",").out)["columns"]}
    assert notes["area"]["kind"] == "numeric"
    options[1] = "prices.csv"
    found = json.loads(told(capsys, *options, "--missing", "n/k").out)
    assert "n/k" not in next(note["why"] for note in found["columns"] if note["name"] == "price")


def test_a_column_that_is_absent_is_summed_out_with_a_warning(trained, capsys):
    with open("heart.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open("new.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [name for name in rows[0] if name != "thal"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    said = told(capsys, "predict", "heart-disease.bayes", "new.csv", "-o", "out.csv").err
    assert "Warning: 'new.csv': there is no column 'thal'" in said
    assert "summed out" in said
    row = {name: None if name == "thal" else cells[0] for name, cells in load_heart().items() if name != "disease"}
    expected = load("heart-disease.bayes").predict_proba(row)
    with open("out.csv", newline="") as file:
        assert float(next(csv.DictReader(file))["P(no)"]) == float(expected[0, 0])
    assert "'new.csv' does not fit the model" in refused(
        capsys, "predict", "heart-disease.bayes", "new.csv", "--strict"
    )


def test_an_absent_column_is_summed_out_too_where_a_missing_cell_is_a_value(tmp_path, monkeypatch, capsys):
    """In class a, and there alone, every second cell of ``told`` is missing; a file without it says nothing of that."""
    monkeypatch.chdir(tmp_path)
    rows = [("pqr"[i % 3], ("" if i % 4 == 0 else "uv"[i // 4 % 2]), "ab"[i % 2]) for i in range(400)]
    for name, width in (("all.csv", 2), ("less.csv", 1)):
        head = [*("seen", "told")[:width], "class"]
        lines = [",".join([*row[:width], row[2]]) for row in rows]
        (tmp_path / name).write_text("\n".join([",".join(head), *lines]) + "\n")
    told(capsys, "train", "all.csv", "-t", "class", "-m", "AutoBayes", "--no-report", "-o", "m.bayes")
    told(capsys, "predict", "m.bayes", "less.csv", "-o", "out.csv")
    with open("out.csv", newline="") as file:
        assert all(0.4 < float(row["P(a)"]) < 0.6 for row in csv.DictReader(file))
    assert "told (not used)" in told(capsys, "explain", "m.bayes", "less.csv", "--row", "1").out
    scores = json.loads(told(capsys, "evaluate", "m.bayes", "less.csv", "--json").out)
    assert 0.6 < scores["log_loss"]["value"] < 0.8


def test_a_decimal_comma_where_the_model_has_points_names_the_option_that_reads_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, sign in (("points.csv", "."), ("commas.csv", ",")):
        rows = "".join(f"{i}{sign}5;{'ab'[i > 20]}\n" for i in range(40))
        (tmp_path / name).write_text("v;class\n" + rows)
    told(capsys, "train", "points.csv", "-t", "class", "-m", "NaiveBayes", "--no-report", "-o", "m.bayes")
    said = refused(capsys, "predict", "m.bayes", "commas.csv", "-o", "out.csv")
    assert "column 'v' must hold a number; got '0,5'" in said
    assert "(option --decimal)" in said
    told(capsys, "predict", "m.bayes", "commas.csv", "--decimal", ",", "-o", "out.csv")


def test_values_that_were_not_seen_are_counted(trained, capsys):
    text = (trained / "heart.csv").read_text()
    (trained / "new.csv").write_text(text.replace(",male,", ",Mann,").replace(",female,", ",Frau,"))
    said = told(capsys, "predict", "heart-disease.bayes", "new.csv", "-o", "out.csv").err
    assert "column 'sex': all 303 rows have a value that was not seen in training, such as 'Mann'" in said
    said = refused(capsys, "predict", "heart-disease.bayes", "new.csv", "--strict", "-o", "out2.csv")
    assert (
        "'new.csv', line 2: column 'sex' holds 'Mann', which was not seen in training; seen: 'female', 'male'" in said
    )
    assert not (trained / "out2.csv").exists()


def test_an_infinite_number_is_refused_with_its_line(trained, capsys):
    text = (trained / "heart.csv").read_text().replace("\n63,", "\ninf,", 1)
    (trained / "new.csv").write_text(text)
    assert "'new.csv', line 2: column 'age' holds inf" in refused(capsys, "predict", "heart-disease.bayes", "new.csv")
    assert "'new.csv', line 2: column 'age' holds inf" in refused(capsys, "train", "new.csv", "-t", "disease")


@pytest.mark.parametrize("name", ["out.csv.gz", "out.jsonl", "out.jsonl.gz", "out.parquet", "out.xlsx", "out.xlsx.gz"])
def test_the_extension_names_the_format(trained, capsys, name):
    if "xlsx" in name:
        pytest.importorskip("openpyxl", reason="workbooks need openpyxl (the extra excel)")
    from bayeskit.table.files import TableFile

    told(capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", name)
    told(capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", "out.csv")
    found, expected = (TableFile.open(each).read() for each in (name, "out.csv"))
    assert found["prediction"] == expected["prediction"]
    for column in ("P(no)", "P(yes)"):  # Excel holds 15 digits of a number
        tolerance = 1e-14 if "xlsx" in name else 0
        np.testing.assert_allclose(found[column].to_numpy(), expected[column].to_numpy(), rtol=tolerance)
    first = (trained / name).read_bytes()[:4]
    if name.endswith(".gz"):
        assert gzip.decompress((trained / name).read_bytes())[:1] in (b"p", b"{", b"P")
    assert (first[:2] == b"\x1f\x8b") == name.endswith(".gz")


def test_an_extension_of_no_format_is_refused_before_any_work(trained, capsys):
    assert "'out.docx' does not say which format to write" in refused(
        capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", "out.docx"
    )


def test_parquet_is_read_from_standard_input(trained, capsys, monkeypatch):
    told(capsys, "predict", "heart-disease.bayes", "heart.csv", "-o", "expected.csv")
    import pyarrow.csv as pcsv
    import pyarrow.parquet as pq

    pq.write_table(pcsv.read_csv("heart.csv"), "heart.parquet")
    with open("heart.parquet", "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        told(capsys, "predict", "heart-disease.bayes", "-", "-o", "out.csv")
    assert (trained / "out.csv").read_bytes() == (trained / "expected.csv").read_bytes()


def test_a_cell_that_is_neither_0_nor_1_is_refused_by_its_line_where_a_column_is_said_to_be_bernoulli(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,class\n0,x,p\n1,y,q\n2,x,p\n0,y,q\n")
    numbers = refused(capsys, "train", "t.csv", "-t", "class", "--kind", "a=bernoulli", "-o", "m.bayes")
    assert "'t.csv', line 4: column 'a' is bernoulli and must hold 0 and 1, or false and true; got 2" in numbers
    text = refused(capsys, "train", "t.csv", "-t", "class", "--kind", "b=bernoulli", "-o", "m.bayes")
    assert "'t.csv', line 2: column 'b' cannot be bernoulli, since this cell is 'x'" in text


def test_true_and_false_are_read_alike_in_training_and_use_where_a_column_is_bernoulli(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["true,p", "false,q", "TRUE,p", "false,q", ",q", "true,p", "false,q", "true,p"] * 2
    (tmp_path / "words.csv").write_text("a,class\n" + "\n".join(rows) + "\n")
    digits = [row.replace("true", "1").replace("TRUE", "1").replace("false", "0") for row in rows]
    (tmp_path / "digits.csv").write_text("a,class\n" + "\n".join(digits) + "\n")
    for name in ("words", "digits"):
        told(capsys, "train", f"{name}.csv", "-t", "class", "--kind", "a=bernoulli", "-o", name)
    answers = {told(capsys, "predict", m, f"{t}.csv").out for m in ("words", "digits") for t in ("words", "digits")}
    assert len(answers) == 1


def test_words_for_a_missing_cell_that_were_said_in_training_are_missing_in_use_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = ["1.5", "-99", "2.25", "8.5", "unknown", "9.75"] * 5
    rows = [f"{cell},{'p' if cell in ('1.5', '2.25', '-99') else 'q'}" for cell in cells]
    (tmp_path / "t.csv").write_text("a,class\n" + "\n".join(rows) + "\n")
    empty = [row.replace("-99", "").replace("unknown", "") for row in rows]
    (tmp_path / "empty.csv").write_text("a,class\n" + "\n".join(empty) + "\n")
    told(capsys, "train", "t.csv", "-t", "class", "--missing", "-99", "--missing", "unknown", "-o", "m.bayes")
    for verb in (["predict", "m.bayes"], ["explain", "m.bayes"]):
        assert told(capsys, *verb, "t.csv").out == told(capsys, *verb, "empty.csv").out
    scores = [told(capsys, "evaluate", "m.bayes", name, "--json").out for name in ("t.csv", "empty.csv")]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("options", [[], ["--stream"]])
def test_a_quote_that_is_never_closed_is_refused_in_training_and_prediction(trained, capsys, options):
    lines = (trained / "heart.csv").read_text().splitlines()
    lines[99] = lines[99].rsplit(",", 1)[0] + ',"' + lines[99].rsplit(",", 1)[1]
    (trained / "open.csv").write_text("\n".join(lines))
    said = "'open.csv', line 100: a double quote opens a cell here and none closes it"
    assert said in refused(capsys, "train", "open.csv", "-t", "disease", "-o", "x.bayes", "--json", *options)
    assert said in refused(capsys, "predict", "heart-disease.bayes", "open.csv", "-o", "out.csv")
    assert not (trained / "x.bayes").exists()
    assert not (trained / "out.csv").exists()
    with pytest.raises(TableError, match="line 100: a double quote opens"):
        NaiveBayes().fit(scan("open.csv"), target="disease")


@pytest.mark.parametrize("name", ["thesis.docx", "thesis", "report.pdf"])
def test_a_document_is_not_replaced_by_a_model_unless_the_user_says_so(heart, capsys, name):
    with zipfile.ZipFile(name, "w") as document:  # a .docx is a zip file, as a model file is
        document.writestr("word/document.xml", "years of work, about bayeskit model files")
    before = (heart / name).read_bytes()
    command = ["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report", "-o", name]
    said = refused(capsys, *command)
    assert f"{name!r} is there already, and nothing in it says that bayeskit wrote it" in said
    assert "(option --force)" in said
    assert (heart / name).read_bytes() == before
    told(capsys, *command, "--force")
    assert load(name).classes_.tolist() == ["no", "yes"]


def test_the_report_replaces_a_report_and_no_other_page(heart, capsys):
    command = ["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes"]
    (heart / "heart-disease.html").write_text("<html>what I know about heart disease, with bayeskit</html>")
    assert "'heart-disease.html' is there already" in refused(capsys, *command)
    assert not (heart / "heart-disease.bayes").exists()
    told(capsys, *command, "--force")
    told(capsys, *command)  # both are ours now
    assert "bayeskit report" in (heart / "heart-disease.html").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "heart-disease.bayes", "heart.csv", "-o", "mine.csv"],
        ["export", "heart-disease.bayes", "-o", "mine.csv"],
        ["sample", "asia.bif", "-o", "mine.csv"],
        ["cluster", "heart.csv", "-k", "2", "-o", "mine.csv"],
        ["learn", "heart.csv", "-o", "mine.bif"],
        ["learn", "heart.csv", "-o", "x.bif", "--draw", "mine.svg"],
        ["draw", "asia.bif", "-o", "mine.svg"],
        ["convert", "asia.bif", "mine.net"],
    ],
    ids=lambda command: " ".join(command[:1]),
)
def test_no_verb_replaces_what_bayeskit_did_not_write(trained, capsys, command):
    load_asia().write("asia.bif")
    name = next(word for word in command if word.startswith("mine"))
    (trained / name).write_text("mine")
    assert f"{name!r} is there already" in refused(capsys, *command)
    assert (trained / name).read_text() == "mine"


def test_models_of_two_tables_with_the_same_target_have_two_names(heart, capsys):
    (heart / "old.csv").write_text((heart / "heart.csv").read_text())
    for table in ("heart", "old"):
        told(capsys, "train", f"{table}.csv", "-t", "disease", "-m", "NaiveBayes", "--no-report")
    assert {path.name for path in heart.glob("*.bayes")} == {"heart-disease.bayes", "old-disease.bayes"}
