"""`bayeskit.read` in Python and the command learn the same model from one file, to the last bit."""

import json

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command's extra is not installed")
pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit.cli.app import run
from bayeskit.cluster.scan import scan


def heart(rng):
    return pd.DataFrame(bayeskit.datasets.load_heart()), "disease", ","


def sales(rng):
    """Dates, decimal commas, markers for missing cells, an id, small whole numbers, rows without a label."""
    n = 160
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    table = pd.DataFrame(
        {
            "id": [f"c{i}" for i in range(n)],
            "sold": day.strftime("%d.%m.%Y"),
            "price": [f"{x:.2f}".replace(".", ",") for x in rng.gamma(2.0, 30.0, n)],
            "rooms": rng.integers(1, 6, n).astype(str),
            "area": [f"{x:.1f}".replace(".", ",") for x in rng.normal(70, 20, n)],
            "returned": rng.choice(["no", "yes"], n),
        }
    )
    table.loc[::17, "area"] = "n/k"
    table.loc[::13, "rooms"] = ""
    table.loc[5::40, "returned"] = ""
    return table, "returned", ";"


def codes(rng):
    """Labels that are numbers, leading zeros, true and false, a column of one value."""
    n = 120
    table = pd.DataFrame(
        {
            "plz": [f"0{x}" for x in rng.integers(100, 130, n)],
            "ok": rng.choice(["true", "false"], n),
            "same": ["x"] * n,
            "size": rng.normal(size=n).round(3),
            "grade": rng.integers(0, 3, n),
        }
    )
    return table, "grade", ","


@pytest.fixture(params=[heart, sales, codes])
def file(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, target, delimiter = request.param(np.random.default_rng(7))
    table.to_csv("table.csv", index=False, sep=delimiter)
    return "table.csv", target


def learned(model):
    """Return all that a model file holds, besides the parameters that the user gave."""
    meta, arrays = model._to_parts()
    return json.dumps({k: v for k, v in meta.items() if k not in ("parameters", "settings")}, sort_keys=True), arrays


@pytest.mark.parametrize("name", ["NaiveBayes", "TAN", "AODE", "KDB", "AutoBayes"])
def test_python_and_the_command_learn_the_same_model(file, name):
    path, target = file
    assert run(["train", path, "--target", target, "-m", name, "-o", "m.bayes", "--no-report", "--json"]) == 0
    by_command = bayeskit.load("m.bayes")
    by_python = type(by_command)().fit(bayeskit.read(path, target))
    (ours, our_arrays), (theirs, their_arrays) = learned(by_python), learned(by_command)
    assert ours == theirs
    assert list(our_arrays) == list(their_arrays)
    for key, array in our_arrays.items():
        assert_array_equal(array, their_arrays[key], strict=True)


@pytest.mark.parametrize("name", ["NaiveBayes", "TAN", "AutoBayes", "LogisticRegression", "KNeighbors", "MDLTree"])
def test_a_model_predicts_the_raw_rows_that_it_was_trained_on(file, name, tmp_path):
    path, target = file
    table = bayeskit.read(path, target)
    model = getattr(bayeskit, name)(**({"l2": 1.0} if name == "LogisticRegression" else {})).fit(table)
    expected = model.predict_proba(table)
    model.save(tmp_path / "m.bayes")
    for again in (model, bayeskit.load(tmp_path / "m.bayes")):
        as_text = pd.read_csv(path, sep=None, engine="python", dtype=str, keep_default_na=True)
        as_text = as_text[as_text[target].notna()]
        as_pandas_reads = pd.read_csv(path, sep=None, engine="python", dtype={"plz": str})
        as_pandas_reads = as_pandas_reads[as_pandas_reads[target].notna()]
        assert_array_equal(again.predict_proba(as_text), expected)
        # Whole numbers are summed up in another order than floats.
        assert_allclose(again.predict_proba(as_pandas_reads.drop(columns=target)), expected, rtol=1e-11)
        assert_array_equal(again.predict_proba(as_text.to_dict("list")), expected)


def test_the_command_predicts_raw_rows_as_python_does(file):
    path, target = file
    model = bayeskit.NaiveBayes().fit(bayeskit.read(path, target))
    model.save("m.bayes")
    assert run(["predict", "m.bayes", path, "-o", "p.parquet"]) == 0
    rows = pd.read_csv(path, sep=None, engine="python", dtype=str)
    expected = model.predict_proba(rows)
    assert_allclose(pd.read_parquet("p.parquet").filter(like="P(").to_numpy(), expected, rtol=1e-11)


def test_kinds_infer_is_the_reader_on_any_frame(file):
    path, target = file
    frame = pd.read_csv(path, sep=None, engine="python", dtype=str)
    frame = frame[frame[target].notna()]
    inferred = bayeskit.NaiveBayes(kinds="infer").fit(frame, target=target)
    assert learned(inferred)[0] == learned(bayeskit.NaiveBayes().fit(bayeskit.read(frame, target)))[0]


def test_counts_of_a_scan_carry_the_conversions_too(file):
    from bayeskit.workflow.training import train
    from bayeskit.workflow.training_table import read_training_table

    path, target = file
    result = train(read_training_table(scan(path), target), ["NaiveBayes"], folds=2)
    assert result.model.schema_.conversions == bayeskit.read(path, target).source.conversions


LANDS = pd.DataFrame(
    {
        "land": ["NA", "DE", "FR", "DE", "?", "FR", "NA", "DE", "FR", "DE", "", "FR"] * 20,
        "size": [1.5, 2.25, 3.0, 4.5, 5.25, 6.75, 7.0, 8.5, 9.25, 10.5, 11.0, 12.75] * 20,
        "sold": ["no", "yes", "no", "yes", "yes", "no", "no", "yes", "no", "no", "yes", "yes"] * 20,
    }
)


def as_file(extension):
    """Write the table to a file of a format."""
    path = f"lands.{extension}"
    if extension == "jsonl":
        LANDS.to_json(path, orient="records", lines=True)
    elif extension == "xlsx":
        LANDS.to_excel(path, index=False)
    else:
        {"csv": LANDS.to_csv, "parquet": LANDS.to_parquet, "feather": LANDS.to_feather}[extension](
            path, **({"index": False} if extension == "csv" else {})
        )
    return path


@pytest.mark.parametrize("extension", ["parquet", "feather", "jsonl", "xlsx"])
def test_what_is_missing_in_text_does_not_depend_on_what_holds_the_table(extension, tmp_path, monkeypatch):
    if extension == "xlsx":
        pytest.importorskip("openpyxl", reason="Excel workbooks need openpyxl, which is not installed")
    monkeypatch.chdir(tmp_path)
    of_csv = bayeskit.read(as_file("csv"), "sold")
    assert of_csv["land"].null_count == 80
    path = as_file(extension)
    of_file, of_frame = bayeskit.read(path, "sold"), bayeskit.read(LANDS, "sold")
    for table in (of_file, of_frame):
        assert table["land"].to_pylist() == of_csv["land"].to_pylist()
        assert [(n.name, n.kind, n.why, n.missing) for n in table.columns] == [
            (n.name, n.kind, n.why, n.missing) for n in of_csv.columns
        ]
    if extension != "xlsx":  # an empty cell of a sheet is none of text
        assert of_file.said == of_frame.said
        assert "column 'land': 80 cells such as 'NA' read as missing" in str(of_file)
    assert run(["train", path, "-t", "sold", "-m", "NaiveBayes", "-o", "m.bayes", "--no-report", "--json"]) == 0
    ours, theirs = learned(bayeskit.NaiveBayes().fit(of_csv)), learned(bayeskit.load("m.bayes"))
    assert ours[0] == theirs[0]
    for key, array in ours[1].items():
        assert_array_equal(array, theirs[1][key], strict=True)
    if extension == "parquet":
        stream = ["train", path, "-t", "sold", "-m", "NaiveBayes", "-o", "s.bayes", "--no-report", "--json", "--stream"]
        assert run(stream) == 0
        assert_allclose(
            bayeskit.load("s.bayes").predict_proba(LANDS), bayeskit.load("m.bayes").predict_proba(LANDS), rtol=1e-12
        )


def test_a_declared_category_may_be_called_na(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lands = LANDS.assign(land=LANDS["land"].replace({"?": "NA", "": "NA"}).astype("category"))
    lands.to_parquet("c.parquet")
    assert bayeskit.read(lands, "sold")["land"].null_count == 0
    table = bayeskit.read("c.parquet", "sold")
    assert table["land"].null_count == 0
    assert not table.said
    for name, more in (("m", []), ("s", ["--stream"])):
        how = ["-m", "NaiveBayes", "-o", f"{name}.bayes", "--no-report", "--json", *more]
        assert run(["train", "c.parquet", "-t", "sold", *how]) == 0
        assert "NA" in bayeskit.load(f"{name}.bayes").schema_["land"].values
