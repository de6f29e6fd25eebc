"""What a trained model does from the command: predict, explain, evaluate, compare, show."""

import csv
import datetime
import decimal
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.testing import assert_allclose

import bayeskit
from bayeskit.cli.app import run
from bayeskit.datasets import load_asia, load_heart


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_predict_writes_the_posterior_of_each_row(trained):
    assert run(["predict", "heart-disease.bayes", "heart.csv", "-o", "out.csv", "--keep", "age", "--digits", "12"]) == 0
    found = rows_of(trained / "out.csv")
    posterior = bayeskit.load("heart-disease.bayes").predict_proba(load_heart())
    assert list(found[0]) == ["age", "prediction", "P(no)", "P(yes)"]
    assert [int(row["age"]) for row in found] == load_heart()["age"]
    assert_allclose([float(row["P(yes)"]) for row in found], posterior[:, 1], atol=1e-12)
    assert {row["prediction"] for row in found} == {"no", "yes"}


def test_predict_decides_under_a_loss_and_rejects(trained, capsys):
    (trained / "costs.csv").write_text("truth,send home,treat\nno,0,1\nyes,50,0\n")
    assert run(["predict", "heart-disease.bayes", "heart.csv", "--loss", "costs.csv", "--reject", "0.4"]) == 0
    found = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    for row in found:
        risks = {"send home": 50 * float(row["P(yes)"]), "treat": float(row["P(no)"]), "reject": 0.4}
        assert abs(risks[row["decision"]] - min(risks.values())) < 1e-4
        assert abs(float(row["risk"]) - min(risks.values())) < 1e-4


def test_predict_reads_columns_in_any_order_and_needs_no_target(trained, capsys):
    rows = list(csv.reader((trained / "heart.csv").read_text().splitlines()))
    shuffled = "\n".join(",".join(row[:-1][::-1]) for row in rows)
    (trained / "new.csv").write_text(shuffled)
    for name in ("heart.csv", "new.csv"):
        assert run(["predict", "heart-disease.bayes", name]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_predict_writes_parquet_and_lines_of_json(trained, capsys):
    import pyarrow.parquet as pq

    assert run(["predict", "heart-disease.bayes", "heart.csv", "-o", "out.parquet"]) == 0
    assert pq.read_table("out.parquet").column_names == ["prediction", "P(no)", "P(yes)"]
    capsys.readouterr()
    assert run(["predict", "heart-disease.bayes", "heart.csv", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 303
    assert set(json.loads(lines[0])) == {"prediction", "P(no)", "P(yes)"}


def test_json_lines_are_read_and_written_as_csv_is(trained, capsys):
    names = list(load_heart())
    with (trained / "heart.jsonl").open("w") as file:
        for row in zip(*load_heart().values(), strict=True):
            known = {name: cell for name, cell in zip(names, row, strict=True) if cell == cell and cell is not None}
            file.write(json.dumps(known) + "\n")
    for name in ("heart.csv", "heart.jsonl"):
        assert run(["predict", "heart-disease.bayes", name, "-o", "out.jsonl", "--force"]) == 0
        lines = (trained / "out.jsonl").read_text().splitlines()
        assert len(lines) == 303
        assert set(json.loads(lines[0])) == {"prediction", "P(no)", "P(yes)"}
        assert run(["predict", "heart-disease.bayes", name]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_predict_of_no_rows_writes_the_names_only(trained, capsys):
    (trained / "none.csv").write_text((trained / "heart.csv").read_text().splitlines()[0] + "\n")
    assert run(["predict", "heart-disease.bayes", "none.csv"]) == 0
    assert capsys.readouterr().out == "prediction,P(no),P(yes)\n"


def test_explain_tells_the_evidence_of_one_row(trained, capsys):
    assert run(["explain", "heart-disease.bayes", "heart.csv", "--row", "2", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    model = bayeskit.load("heart-disease.bayes")
    row = {name: column[1] for name, column in load_heart().items() if name != "disease"}
    expected = model.explain(row)
    assert told["row"] == 2
    assert_allclose([term["log_odds"] for term in told["evidence"]], expected.terms, atol=1e-12)
    assert_allclose(told["log_odds"], expected.log_odds, rtol=1e-12)


def test_explain_finds_the_most_doubtful_rows(trained, capsys):
    assert run(["explain", "heart-disease.bayes", "heart.csv", "-k", "4", "--json"]) == 0
    rows = [told["row"] for told in json.loads(capsys.readouterr().out)]
    sure = bayeskit.load("heart-disease.bayes").predict_proba(load_heart()).max(axis=1)
    assert rows == (np.argsort(sure, kind="stable")[:4] + 1).tolist()
    assert run(["explain", "heart-disease.bayes", "heart.csv"]) == 0
    assert capsys.readouterr().out.count("posterior") == 3


def test_evaluate_scores_rows_with_a_label_and_counts_the_others(trained, capsys):
    lines = (trained / "heart.csv").read_text().splitlines()
    lines[5] = lines[5].rpartition(",")[0] + ","
    (trained / "new.csv").write_text("\n".join(lines))
    assert run(["evaluate", "heart-disease.bayes", "new.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["unlabelled_rows"]) == (302, 1)
    assert np.sum(told["confusion"]) == 302
    assert run(["evaluate", "heart-disease.bayes", "heart.csv"]) == 0
    assert "log-loss" in capsys.readouterr().out


def test_compare_takes_differences_row_by_row(trained, capsys):
    assert run(["train", "heart.csv", "-t", "disease", "-m", "NaiveBayes", "-o", "nb.bayes", "--no-report"]) == 0
    capsys.readouterr()
    assert run(["compare", "heart-disease.bayes", "nb.bayes", "heart.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    table, y = load_heart(), np.array(load_heart()["disease"])
    surprise = []
    for name in ("heart-disease.bayes", "nb.bayes"):
        p = bayeskit.load(name).predict_proba(table)
        surprise.append(-np.log(p[np.arange(303), (y == "yes").astype(int)]))
    difference = surprise[1] - surprise[0]
    assert_allclose(
        told["log_loss"]["difference"], [difference.mean(), difference.std(ddof=1) / np.sqrt(303)], rtol=1e-9
    )
    assert run(["compare", "heart-disease.bayes", "nb.bayes", "heart.csv"]) == 0
    assert "McNemar" in capsys.readouterr().out


def test_show_tells_what_is_in_a_model_and_in_a_network(trained, capsys):
    load_asia().write("asia.bif")
    for path, words in (
        ("heart-disease.bayes", "303 rows, 13 features, 2 classes"),
        ("asia.bif", "8 variables, 8 arcs"),
    ):
        assert run(["show", path]) == 0
        assert words in capsys.readouterr().out
        assert run(["show", path, "--json"]) == 0
        json.loads(capsys.readouterr().out)


def test_kept_columns_keep_their_types_and_probabilities_are_written_whole(trained):
    table = pa.table(
        {
            **load_heart(),
            "id": pa.array([2**53 + 1 + i for i in range(303)]),
            "price": pa.array([decimal.Decimal(f"{i}.50") for i in range(303)]),
            "day": pa.array([datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(303)]),
        }
    )
    pq.write_table(table, "new.parquet")
    kept = ["id", "price", "day", "age"]
    options = [option for name in kept for option in ("--keep", name)]
    expected = bayeskit.load("heart-disease.bayes").predict_proba(table.select(list(load_heart())).drop(["disease"]))
    assert run(["predict", "heart-disease.bayes", "new.parquet", "-o", "out.parquet", *options]) == 0
    out = pq.read_table("out.parquet")
    assert out.select(kept).equals(table.select(kept))
    np.testing.assert_array_equal(out["P(yes)"].to_numpy(), expected[:, 1])
    assert run(["predict", "heart-disease.bayes", "new.parquet", "-o", "out.csv", *options]) == 0
    again = pyarrow.csv.read_csv("out.csv")
    np.testing.assert_array_equal(again["P(yes)"].to_numpy(), expected[:, 1])
    assert again["id"].to_pylist() == table["id"].to_pylist()
    assert again["day"].to_pylist() == table["day"].to_pylist()
    assert run(["predict", "heart-disease.bayes", "new.parquet", "-o", "out.jsonl", *options]) == 0
    first = json.loads(Path("out.jsonl").read_text().splitlines()[0])
    assert (first["id"], first["price"], first["day"]) == (2**53 + 1, "0.50", "2024-01-01")
    assert first["P(yes)"] == expected[0, 1]


def test_text_of_a_csv_file_is_kept_as_it_was_written(trained):
    lines = (trained / "heart.csv").read_text().splitlines()
    (trained / "new.csv").write_text(
        "\n".join([f"id,{lines[0]}", *(f"00{i},{line}" for i, line in enumerate(lines[1:]))])
    )
    assert run(["predict", "heart-disease.bayes", "new.csv", "-o", "out.csv", "--keep", "id", "--digits", "3"]) == 0
    rows = (trained / "out.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[:3]] == ["id", "000", "001"]
    assert all(len(cell) <= 5 for row in rows[1:] for cell in row.split(",")[2:])


def test_explain_tells_the_words_of_a_column_of_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    notes = {"note": ["good film", "bad film", "good cast", "bad end"], "stars": [4.0, 1.0, 5.0, 2.0]}
    model = bayeskit.NaiveBayes(kinds={"note": "text"}).fit(
        {**notes, "liked": ["yes", "no", "yes", "no"]}, target="liked"
    )
    model.save("liked.bayes")
    (tmp_path / "new.csv").write_text("note,stars\ngood end,4\n")
    assert run(["explain", "liked.bayes", "new.csv", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    note, stars = told["evidence"]
    assert [word["token"] for word in note["words"]] == ["good", "end"]
    assert_allclose(sum(word["weight"] for word in note["words"]), note["log_odds"], rtol=1e-12)
    assert "words" not in stars
