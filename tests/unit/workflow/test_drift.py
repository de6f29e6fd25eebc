"""Rows that differ from the training table are said, column by column, and equal ones are not."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayeskit.cli.app import run
from bayeskit.table.column import Coded, Numbers
from bayeskit.workflow.drift import ColumnProfile, DriftCounter, Profile
from bayeskit.workflow.trained import TrainedModel
from tests.unit.table.test_problems import clean
from tests.unit.table.test_remedies import written

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drift")
    data = written(folder, clean(1000))
    assert (
        run(["train", str(data), "-t", "play", "-m", "NaiveBayes", "--no-report", "-o", str(folder / "m.bayes")]) == 0
    )
    return folder / "m.bayes"


def test_shares_of_a_profile_are_counted_by_hand():
    numbers = ColumnProfile.of(Numbers(np.array([*range(100), np.nan])), numeric=True)
    assert sum(numbers.shares) == pytest.approx(1)
    assert numbers.shares[-1] == pytest.approx(1 / 101)
    assert numbers.ends == (0, 99)
    np.testing.assert_allclose(numbers.shares[:10], 10 / 101)
    words = ColumnProfile.of(Coded(np.array([0, 0, 1, 255], dtype=np.uint8), ("a", "b")), numeric=False)
    assert (words.levels, words.shares) == (("a", "b"), (0.5, 0.25, 0.0, 0.25))
    assert words.counted(pa.chunked_array([["b", "c", None, "b"]])).tolist() == [0, 2, 1, 1]
    assert numbers.counted(pa.chunked_array([[5.0, 500.0, None]])).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("seed", range(1, 8))
def test_other_rows_of_the_same_kind_have_not_drifted(model, tmp_path, seed, capsys):
    assert run(["evaluate", str(model), str(written(tmp_path, clean(400, seed))), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["drift"] == []


def shifted():
    table = clean(400, 9)
    table["age"] = [age + 60 for age in table["age"]]
    table["wind"] = ["storm" if i % 3 == 0 else wind for i, wind in enumerate(table["wind"])]
    table["height"] = [None if i % 4 == 0 else height for i, height in enumerate(table["height"])]
    return table


def test_each_planted_drift_is_in_the_table_of_evaluate(model, tmp_path, capsys):
    data = written(tmp_path, shifted())
    assert run(["evaluate", str(model), str(data), "--json"]) == 0
    drifts = {drift["name"]: drift for drift in json.loads(capsys.readouterr().out)["drift"]}
    assert set(drifts) == {"age", "wind", "height"}
    assert "outside of" in drifts["age"]["what"]
    assert drifts["wind"]["what"].startswith("other values: 0 % in training, 33")
    assert drifts["height"]["what"].startswith("missing: 0 % in training, 25")
    assert drifts["height"]["distance"] == pytest.approx(0.25, abs=0.08)
    assert run(["evaluate", str(model), str(data)]) == 0
    assert "largest change" in capsys.readouterr().out


def test_predict_warns_of_drift_on_standard_error(model, tmp_path, capsys):
    assert run(["predict", str(model), str(written(tmp_path, shifted())), "-o", str(tmp_path / "out.csv")]) == 0
    said = capsys.readouterr().err
    assert "column 'age' differs from the training table" in " ".join(said.split())


def test_a_profile_travels_with_the_model_and_a_broken_one_is_refused(model):
    profile = TrainedModel.load(model).profile
    assert Profile.from_json(json.loads(json.dumps(profile.to_json()))) == profile
    broken = json.loads(json.dumps(profile.to_json()))
    broken["columns"][0][1]["shares"] = [1.0]
    with pytest.raises(ValueError, match="does not fit"):
        Profile.from_json(broken)


def test_a_column_may_have_any_name(tmp_path):
    table = {("$x" if name == "age" else name): cells for name, cells in clean().items()}
    options = ["-t", "play", "-m", "NaiveBayes", "--no-report", "-o", str(tmp_path / "m.bayes")]
    assert run(["train", str(written(tmp_path, table)), *options]) == 0
    assert "$x" in TrainedModel.load(tmp_path / "m.bayes").profile.columns


def test_few_rows_say_nothing_about_drift():
    profile = Profile(1000, {"x": ColumnProfile((), ("a", "b"), (0.5, 0.5, 0.0, 0.0), None)})
    counter = DriftCounter(profile)
    counter.add(pa.table({"x": ["a"] * 20}))
    assert counter.drifts == []
