"""A frame is read as a file of the same cells is, in training and in prediction."""

import datetime

import numpy as np
import pytest

import bayeskit
from bayeskit.errors import BayeskitWarning, TableError

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

N = 60
Y = ["a", "b"] * (N // 2)


def test_dates_of_a_time_zone_are_those_of_its_clock():
    moments = pd.date_range("2019-01-01", periods=N, freq="37h", tz="America/New_York")
    typed = bayeskit.read(pd.DataFrame({"t": moments, "y": Y}), "y")
    text = bayeskit.read({"t": [str(moment) for moment in moments], "y": Y}, "y")
    assert typed["t (hour)"].to_pylist() == [moment.hour for moment in moments]
    for part in ("year", "month", "weekday", "days", "hour"):
        assert typed[f"t ({part})"].to_pylist() == text[f"t ({part})"].to_pylist()
    model = bayeskit.NaiveBayes().fit(typed)
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame({"t": moments})), model.predict_proba({"t": list(map(str, moments))})
    )


def test_a_date_may_be_none_in_prediction():
    moments = pd.date_range("2019-01-01", periods=N, freq="37h")
    model = bayeskit.NaiveBayes().fit(bayeskit.read(pd.DataFrame({"t": moments, "y": Y}), "y"))
    np.testing.assert_allclose(model.predict_proba({"t": [None]}), [[0.5, 0.5]], rtol=1e-12)


def test_durations_and_times_of_day_are_hours():
    minutes = 7 * np.arange(N)
    frame = pd.DataFrame(
        {
            "took": pd.to_timedelta(minutes, unit="min"),
            "at": [datetime.time(int(m) // 60, int(m) % 60) for m in minutes],
            "y": Y,
        }
    )
    table = bayeskit.read(frame, "y")
    np.testing.assert_allclose(table["took"].to_pylist(), minutes / 60, rtol=1e-12)
    np.testing.assert_allclose(table["at"].to_pylist(), minutes / 60, rtol=1e-12)
    model = bayeskit.NaiveBayes().fit(table)
    assert len(model.predict(frame.drop(columns="y"))) == N


def test_cells_of_two_types_are_refused_with_the_name_of_their_column():
    for table in ({"x": [1.5, "2"], "y": ["a", "b"]}, pd.DataFrame({"x": [1.5, "2"], "y": ["a", "b"]})):
        with pytest.raises(TableError, match="column 'x' must hold cells of one type"):
            bayeskit.read(table, "y")


def test_text_that_is_no_number_is_refused_in_prediction_as_in_a_file():
    table = bayeskit.read({"age": np.arange(N) + 0.5, "ok": [True, False] * (N // 2), "y": Y}, "y")
    model = bayeskit.NaiveBayes().fit(table)
    with pytest.raises(TableError, match="row 1: column 'age' must hold a number; got '4o'"):
        model.predict({"age": ["30", "4o"], "ok": [True, True]})
    with pytest.raises(TableError, match="row 0: column 'ok' must hold yes or no; got 'perhaps'"):
        model.predict({"age": [30, 40], "ok": ["perhaps", "true"]})


def test_cells_that_a_converted_column_cannot_hold_are_missing_with_a_warning():
    model = bayeskit.NaiveBayes().fit(bayeskit.read({"price": [f"{k},5" for k in range(N)], "y": Y}, "y"))
    with pytest.warns(BayeskitWarning, match="column 'price': 1 cell such as 'x' read as missing"):
        posterior = model.predict_proba({"price": ["3,5", "x", "-"]})
    np.testing.assert_allclose(posterior[1:], 0.5, rtol=1e-12)


def test_empty_text_of_a_frame_is_missing_as_in_a_file(tmp_path):
    cells = {"age": [str(k + 0.5) for k in range(N)], "sky": ["clear", "rain", "clear"] * (N // 3), "y": list(Y)}
    cells["age"][3], cells["age"][4], cells["sky"][0], cells["sky"][7] = "", "NA", "?", ""
    frame = pd.DataFrame(cells)
    frame.to_csv(tmp_path / "t.csv", index=False)
    ours, files = bayeskit.read(frame, "y"), bayeskit.read(tmp_path / "t.csv", "y")
    assert ours.kinds == files.kinds == {"age": "numeric", "sky": "categorical"}
    for name in cells:
        assert ours[name].to_pylist() == files[name].to_pylist()
    model = bayeskit.NaiveBayes().fit(files)
    missing = model.predict_proba({"age": [None], "sky": [None]})
    for word in ("", "  ", "NA", "?"):
        np.testing.assert_array_equal(model.predict_proba({"age": [word], "sky": [word]}), missing)
