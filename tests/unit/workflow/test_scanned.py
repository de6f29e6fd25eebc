"""Tables of any size: counts of all rows, scores of a sample, and the same answers as in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import NaiveBayes, compare, scan
from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.files import TableFile
from bayeskit.table.read import read_table
from bayeskit.table.scan import sample as sampling
from bayeskit.table.scan.pieces import merge_tree
from bayeskit.table.scan.sample import sample_rows
from bayeskit.workflow.fold_plan import FoldPlan, ScanFolds
from bayeskit.workflow.held_rows import HeldRows, hold_rows
from bayeskit.workflow.training import train
from bayeskit.workflow.training_table import read_training_table

ROWS, SAMPLED = 6000, 2500


def days(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    play = rng.choice(["no", "yes"], rows, p=[0.6, 0.4])
    wind = np.where(rng.random(rows) < 0.4, play, rng.choice(["a", "b", "c"], rows))
    rain = np.where(rng.random(rows) < 0.3, wind, rng.choice(["a", "z"], rows))
    heat = (rng.normal(size=rows) + (play == "yes")).round(2)
    return pa.table(
        {
            "wind": pa.array(wind, mask=rng.random(rows) < 0.1),
            "rain": rain,
            "heat": heat,
            "who": rng.integers(0, 300, rows).astype(str),
            "day": np.datetime64("2021-01-01") + rng.integers(0, 500, rows),
            "play": pa.array(play, mask=rng.random(rows) < 0.02),
        }
    )


@pytest.fixture
def few(monkeypatch):
    """Make every table of the tests larger than its sample."""
    monkeypatch.setattr(sampling, "MOST_ROWS", SAMPLED)


@pytest.fixture
def folder(tmp_path):
    table = days()
    for k in range(3):
        pq.write_table(table.slice(k * 2000, 2000), tmp_path / f"{k}.parquet", row_group_size=700)
    return tmp_path


def labelled(table):
    return table.filter(pa.compute.is_valid(table["play"]))


class Split:
    """An engine that gives each piece to a task of its own and merges the parts."""

    def run(self, task, readers, merge, on_rows):
        return merge_tree((task([reader]) for reader in readers), merge)


def test_a_sample_does_not_depend_on_who_reads_the_pieces(folder):
    from dataclasses import replace

    one = sample_rows(scan(folder), "play", 3, most_rows=500)
    other = sample_rows(replace(scan(folder), engine=Split()), "play", 3, most_rows=500)
    assert one.table == other.table
    assert_array_equal(one.fold_keys, other.fold_keys)
    assert (one.n_rows, one.n_unlabelled) == (labelled(days()).num_rows, days()["play"].null_count)


def test_every_row_has_the_same_chance_to_be_in_the_sample(folder):
    table = pa.table({"row": np.arange(400), "play": ["yes", "no"] * 200})
    drawn = np.zeros(400)
    for seed in range(200):
        drawn[sample_rows(scan(table), "play", seed, most_rows=100).table["row"].to_numpy()] += 1
    # 200 draws of probability 1/4: mean 50, standard deviation 6.1; 400 rows stay within 4.5 of them.
    assert drawn.sum() == 200 * 100
    assert np.abs(drawn - 50).max() < 4.5 * np.sqrt(200 * 0.25 * 0.75)


def test_a_sampled_row_is_predicted_from_all_rows_of_the_other_folds(few):
    table = labelled(days()).select(["wind", "rain", "heat", "play"])
    board = compare(scan(table), target="play", models=["NaiveBayes"], folds=4)
    (trial,) = [trial for trial in board if trial.name == "NaiveBayes"]
    folds = ScanFolds(4, 0)
    all_parts = folds.of_batch(table.combine_chunks().to_batches()[0], 0, 0)
    sample = sample_rows(scan(table), "play", 0)
    assert len(board.part) == SAMPLED
    assert_array_equal(board.part, folds.of_rows(hold_rows(scan(table), target="play")))
    for k in range(4):
        model = NaiveBayes().fit(table.filter(pa.array(all_parts != k)), target="play")
        expected = model.predict_proba(sample.table.filter(pa.array(board.part == k)))
        assert_allclose(trial.posterior[board.part == k], expected, rtol=1e-9)


def test_a_scan_that_the_sample_holds_whole_is_compared_as_a_small_table():
    table = labelled(days(500))
    found, expected = (compare(X, target="play", models=["TAN"], kinds={"who": "categorical"})
                       for X in (scan(table.drop_columns("day")), table.drop_columns("day")))  # fmt: skip
    assert found.best.scores.log_loss == expected.best.scores.log_loss


def training_of(source, **options):
    table = read_training_table(scan(source), "play", ignore=["who"], **options)
    return table, train(table, ["NaiveBayes"], folds=3)


def test_the_model_is_that_of_all_rows_in_memory(few, folder, tmp_path):
    whole = tmp_path / "whole.csv"
    pa.csv.write_csv(days(), whole)
    expected = train(read_training_table(TableFile.open(whole), "play", ["who"]), ["NaiveBayes"], folds=3)
    table, result = training_of(str(folder / "*.parquet"))
    assert (table.n_rows, table.n_sampled) == (expected.table.n_rows, SAMPLED)
    assert_array_equal(table.n_class, expected.table.n_class)
    assert result.model.schema_.names == expected.model.schema_.names
    for name in ("wind", "rain", "day (month)"):
        j = result.model.schema_.names.index(name)
        assert_array_equal(result.model.counts_.column(j), expected.model.counts_.column(j))
    kept = result.model.schema_.names.index("heat")
    place = result.model.schema_.place[kept]
    assert_allclose(result.model.counts_.moments.mean[place], expected.model.counts_.moments.mean[place], rtol=1e-12)


def test_numbers_and_dates_of_text_files_are_read_as_the_sample_shows_them(few, tmp_path):
    table = days()
    comma = [str(value).replace(".", ",") for value in table["heat"].to_pylist()]
    table = table.set_column(2, "heat", pa.array(comma))
    for k in range(2):
        pa.csv.write_csv(table.slice(k * 3000, 3000), tmp_path / f"{k}.csv")
    read, result = training_of(tmp_path)
    assert {note.name: note.kind for note in read.features.notes}["heat"] == "numeric"
    expected = NaiveBayes().fit(labelled(days()).select(["heat", "play"]), target="play")
    place = result.model.schema_.place[result.model.schema_.names.index("heat")]
    assert_allclose(result.model.counts_.moments.mean[place], expected.counts_.moments.mean[0], rtol=1e-12)
    assert result.trained.conventions["heat"].decimal == ","
    assert "day (month)" in result.model.schema_.names


def test_a_class_and_a_value_outside_the_sample_are_counted_and_not_lost(few, tmp_path):
    table = labelled(days()).select(["wind", "rain", "play"])
    late = pa.table({"wind": ["storm"], "rain": ["a"], "play": ["late"]})
    pq.write_table(table, tmp_path / "a.parquet")
    for seed in range(20):
        pq.write_table(late, tmp_path / "b.parquet")
        if "late" not in sample_rows(scan(tmp_path), "play", seed).table["play"].to_pylist():
            break
    read = read_training_table(scan(tmp_path), "play", random_state=seed)
    result = train(read, ["NaiveBayes"], folds=2, random_state=seed)
    assert result.model.classes_.tolist() == ["late", "no", "yes"]
    assert "storm" in result.model.schema_["wind"].values
    assert read.n_class.tolist()[0] == 1


def test_models_that_need_the_rows_learn_from_the_sample_and_are_fitted_on_all_rows(few):
    table = labelled(days()).select(["wind", "rain", "play"])
    read = read_training_table(scan(table), "play")
    result = train(read, ["SPODE"], folds=2)
    assert [trial.from_sample for trial in result.board if trial.name == "SPODE"] == [True]
    assert result.model.counts_.n_class.sum() == table.num_rows


def test_groups_stay_in_one_fold_and_time_goes_forward(few):
    table = labelled(days())
    sample = sample_rows(scan(table), "play", 0)
    rows = HeldRows(read_table({"x": [0]}), np.array([0]), np.array(["no"]), "play", sample.table, scan(table), sample)
    folds = ScanFolds.of_plan(FoldPlan(5, "group", "who"), 0, rows)
    part, who = folds.of_rows(rows), np.array(rows.table["who"].to_pylist())
    assert all(len(set(part[who == name])) == 1 for name in set(who))
    assert sorted(set(part)) == [0, 1, 2, 3, 4]
    in_time = ScanFolds.of_plan(FoldPlan(4, "time", "day"), 0, rows)
    parts = in_time.of_batch(table.combine_chunks().to_batches()[0], 0, 0)
    ends = [table["day"].to_numpy()[parts == k] for k in range(5)]
    assert all(ends[k].max() < ends[k + 1].min() for k in range(4))


def test_what_cannot_be_compared_is_refused_before_or_by_name(few):
    table = days().select(["wind", "play"])
    with pytest.raises(TableError, match="can be read only once, and a comparison reads the rows twice"):
        compare(scan(table.to_reader()), target="play")
    with pytest.raises(TableError, match="column 'plya'"):
        compare(scan(table), target="plya")
    with pytest.raises(TableError, match="a scan needs target="):
        compare(scan(table))
    with pytest.raises(TableError, match="the target 'play' has no value in any of 2 rows"):
        compare(scan(pa.table({"wind": ["a", "b"], "play": pa.array([None, None], pa.string())})), target="play")
    with pytest.raises(TableError, match="has no rows, so there is nothing to learn from"):
        compare(scan(table.slice(0, 0)), target="play")
    ids = pa.table({"wind": ["a"] * 70_000, "id": np.arange(70_000)})
    with pytest.raises(TableError, match="'id' has more than 65,536 different values"):
        compare(scan(ids), target="id")


def test_a_cell_outside_the_sample_that_is_no_number_is_refused_with_its_file(few, tmp_path):
    pa.csv.write_csv(days(), tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "b.csv").write_text(f"{text[0]}\n" + text[1].replace(text[1].split(",")[2], "warm") + "\n")
    raw = scan(tmp_path).with_types({"heat": None})
    seed = next(s for s in range(20) if "warm" not in sample_rows(raw, "play", s).table["heat"].to_pylist())
    with pytest.raises(BayeskitError, match=r"'b\.csv', line 2.*warm"):
        training_of(tmp_path, random_state=seed)
