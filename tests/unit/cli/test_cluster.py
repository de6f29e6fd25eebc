"""``bayeskit cluster`` on the command line."""

import csv
import json

import pytest

import bayeskit
from bayeskit import datasets
from bayeskit.cli.app import run


@pytest.fixture
def birds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = datasets.load_penguins()
    with (tmp_path / "birds.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(["" if cell is None else cell for cell in row] for row in zip(*table.values(), strict=True))
    return tmp_path


def test_clusters_are_written_shown_and_saved(birds, capsys):
    arguments = ["birds.csv", "--ignore", "species", "--ignore", "year", "-o", "out.csv", "--save", "m.bayes"]
    assert run(["cluster", *arguments]) == 0
    said = capsys.readouterr().out
    assert "6 clusters by BIC" in said
    assert "sex = female" in said
    with (birds / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 344
    assert {row["cluster"] for row in rows} == set("012345")
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    model = bayeskit.load(birds / "m.bayes")
    assert model.n_components_ == 6
    assert run(["show", "m.bayes"]) == 0
    assert capsys.readouterr().out.startswith("LatentClass: 6 features, 6 clusters")


@pytest.mark.parametrize("model", ["gaussian", "k-means"])
def test_numbers_are_clustered_by_gaussians(birds, capsys, model):
    assert run(["cluster", "birds.csv", "-k", "3", "-m", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    assert [each["cluster"] for each in found["clusters"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "many"], 2, "'auto' or a whole number of at least 1"),
        (["-m", "magic"], 1, "must be one of latent-class, gaussian, k-means"),
        (["-m", "k-means"], 1, "k-means needs a number of clusters"),
        (["-o", "birds.csv"], 1, "is the input"),
        (["-o", "rows.csv", "--save", "./rows.csv"], 2, "'rows.csv' is where the rows go (--output)"),
        (["--ignore", "wings"], 1, "wings"),
        (["-k", "400"], 1, "n_components is 400, but there are only 344 rows"),
        (["-o", "rows.doc"], 1, "doc"),
    ],
)
def test_what_cannot_be_is_one_sentence(birds, capsys, arguments, code, message):
    assert run(["cluster", "birds.csv", *arguments]) == code
    assert message in " ".join(capsys.readouterr().err.split())
