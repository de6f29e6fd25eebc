"""Numbers and dates are read as a column writes them; what could mean two things stays text and says so."""

import datetime

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa

from bayeskit.errors import TableError
from bayeskit.kinds.written import read_columns
from bayeskit.table.conventions import Convention, read_written
from bayeskit.table.dates import parts_of_dates
from bayeskit.table.number_cells import numbers_of

MANY = [f"{i}.25" for i in range(40)]


def read(cells, **options):
    return read_written(pa.chunked_array([pa.array(cells, pa.string())]), **options)


@pytest.mark.parametrize(
    ("cells", "values", "said"),
    [
        (["2230,37", "15,2", None], [2230.37, 15.2, None], "decimal comma"),
        (["0,123", "0,5"], [0.123, 0.5], "decimal comma"),
        (["2,230.37", "1.5"], [2230.37, 1.5], "thousands separated"),
        (["1,234,567", "1,234"], [1234567, 1234], "thousands separated"),
        (["1.234.567", "1.234"], [1234567, 1234], "decimal comma, thousands separated"),
        (["1 234,5", "7"], [1234.5, 7.0], "decimal comma, thousands separated"),
        (["1'234.5", "7"], [1234.5, 7.0], "thousands separated"),
        (["1", "2", "-", "."], [1, 2, None, None], "2 cells such as '-' read as missing"),
        ([*MANY, "None"], [*map(float, MANY), None], "1 cell such as 'None' read as missing"),
        ([*MANY, "about 7"], [*map(float, MANY), None], "1 cell such as 'about 7' read as missing"),
        ([" 3", "+4", "-5"], [3, 4, -5], ""),
        (["1e5", ".5", "2."], [100000.0, 0.5, 2.0], ""),
        (["TRUE", "false"], [True, False], ""),
        (["43K", "377", "1.2M"], [43000, 377, 1200000], "multiplied by the K, M or 万 of a cell"),
        (["25万", "5870", "(3万)"], [250000, 5870, -30000], "multiplied by the K, M or 万 of a cell"),
        (["300 K", "290 K"], [300, 290], "in K"),
        (["1.2 kWh", "3 KWH"], [1.2, 3.0], "in kWh"),
        (["12 KG", "3 kgs", "7"], [12, 3, 7], "in KG"),
        (["￥12", "￥1,250.5"], [12.0, 1250.5], "thousands separated, in ¥"),
        (["57.7％", "5％"], [0.577, 0.05], "percentages"),
        (["57.7%", "0.1%"], [0.577, 0.001], "percentages"),
    ],
)
def test_the_convention_is_decided_from_all_cells_of_a_column(cells, values, said):
    found = read(cells)
    assert found.column.to_pylist() == values
    assert found.said == said


@pytest.mark.parametrize(
    ("cells", "said", "settled_by"),
    [
        (["1,234", "5,678"], "text: 1,234 could be 1.234 or 1234", "decimal"),
        (["2/3/2019", "4/5/2019"], "text: 2/3/2019 could be in February or in March", "date_order"),
        (["007", "012", "123"], "digits with leading zeros", "kinds"),
        (["12345678901234567890", "22345678901234567890"], "digits too long for a number", ""),
        (["1", "2", "A"] * 4, "", ""),  # codes, of which none may be lost
        (["1,5", "2.5"], "", ""),
        (["76 m", "12 ms", "3 m"], "", ""),  # metres and milliseconds
        (["76 MW", "12 mW", "3 MW"], "", ""),
        (["300 K", "290", "280"], "", ""),  # kelvin or thousands
        (["43K", "5m"], "", ""),
    ],
)
def test_what_could_mean_two_things_stays_text_and_names_what_settles_it(cells, said, settled_by):
    found = read(cells)
    assert found.column.to_pylist() == cells
    assert (found.said, found.settled_by) == (said, settled_by)


def test_the_user_settles_what_the_cells_do_not():
    assert read(["1,234", "5,678"], decimal=",").column.to_pylist() == [1.234, 5.678]
    assert read(["1,234", "5,678"], decimal=".").column.to_pylist() == [1234, 5678]
    days = [datetime.datetime(2019, 3, 2), datetime.datetime(2019, 5, 4)]
    assert read(["2/3/2019", "4/5/2019"], order="dmy").column.to_pylist() == days
    assert read(["007", "012"], number=True).column.to_pylist() == [7, 12]


@pytest.mark.parametrize(
    "cells",
    [
        ["1234.56", "7.5"],
        ["2.030e+03", "1.5e3"],
        ["1,234,567.5", "2"],
        ["12345678901234567890", "22345678901234567890"],
        ["007", "012", "123"],
        ["2019-02-16", "2019-03-01"],
        ["2/16/2019", "3/1/2019"],
    ],
)
def test_an_option_settles_no_column_whose_cells_are_clear(cells):
    told, alone = read(cells, decimal=",", order="dmy"), read(cells)
    assert told.column.to_pylist() == alone.column.to_pylist()
    assert told.settled_by == alone.settled_by


def test_a_number_with_an_exponent_has_no_thousands_separator():
    assert numbers_of(pa.array(["2.030e+03", "2,03e3", "2.030,5"]), ",").to_pylist() == [None, 2030.0, 2030.5]
    assert numbers_of(pa.array(["2,030e+03", "2.03e3"]), ".").to_pylist() == [None, 2030.0]


def test_markers_among_dates_are_missing():
    cells = ["16.02.2019", "1.3.2019", "-", "n/k", None]
    found = read(cells)
    assert found.convention.order == "dmy"
    assert [day and day.month for day in found.column.to_pylist()] == [2, 3, None, None, None]
    assert found.said == "2 cells such as '-' read as missing"
    assert read(["-", "n/k", "16.02.2019"]).convention is not None
    assert read(["-", "."]).convention is None


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["16.02.2019", "1.3.2019"], "dmy"),
        (["1.2.2019", "3.4.2019"], "dmy"),  # dots are written day first
        (["2/16/2019", "3/1/2019"], "mdy"),
        (["16/2/2019", "3/1/2019"], "dmy"),
        (["2019-02-16 12:30", "2019-03-01T00:00:01Z"], "ymd"),
    ],
)
def test_dates_are_read_in_the_order_that_fits(cells, order):
    found = read(cells)
    assert found.convention.order == order
    assert [day.month for day in found.column.to_pylist()] in ([2, 3], [2, 4], [2, 1])


def test_parts_of_dates_agree_with_the_calendar_of_python():
    days = [datetime.datetime(1969, 12, 31) + datetime.timedelta(days=37 * i, hours=i % 24) for i in range(400)]
    parts = parts_of_dates(pa.array(days, pa.timestamp("s")), "1969-12-31")
    assert parts["year"].to_pylist() == [day.year for day in days]
    assert parts["month"].to_pylist() == [day.month for day in days]
    assert parts["weekday"].to_pylist() == [f"{day:%a}" for day in days]
    assert parts["days"].to_pylist() == [(day - days[0]).days for day in days]
    assert parts["hour"].to_pylist() == [day.hour for day in days]


def test_a_convention_comes_back_from_json_and_a_strange_one_is_refused():
    convention = Convention("date", lenient=True, order="dmy", origin="2019-01-01", parts=("year", "days"))
    assert Convention.from_json(convention.to_json()) == convention
    for change in ({"what": "colour"}, {"decimal": ";"}, {"order": "dym"}, {"origin": "soon"}, {"more": 1}):
        with pytest.raises(ValueError):
            Convention.from_json({**convention.to_json(), **change})


@pytest.mark.parametrize(
    ("kind", "cells", "message"),
    [
        ("numeric", ["1", "two", "3"], "row 1: column 'x' cannot be numeric, since this cell is 'two'; in all 1 of 3"),
        ("gaussian", ["a", "b", "c"], "row 0: column 'x' cannot be gaussian, since this cell is 'a'"),
        ("mdl", ["1", "b", "c"], "row 1: column 'x' cannot be mdl, since this cell is 'b'"),
        (
            "numeric",
            ["1,234", "2,345", "3,456"],
            "column 'x' cannot be numeric yet: text: 1,234 could be 1.234 or 1234",
        ),
        (None, ["1.5", "inf", "2.5"], "row 1: column 'x' holds inf"),
    ],
)
def test_a_kind_that_does_not_fit_is_refused_with_the_first_cell(kind, cells, message):
    with pytest.raises(TableError) as caught:
        read_columns(pa.table({"x": cells, "y": ["a", "b", "a"]}), "y", {"x": kind} if kind else {})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (["01", "02"], ["01", "02"]),
        (["true", "false"], ["true", "false"]),
        (["+1", "-1"], ["+1", "-1"]),
        (["0", "1"], [0, 1]),
        (["-1", "1"], [-1, 1]),
        (["1.0", "2.0"], [1.0, 2.0]),
        (["1.00", "2.00"], ["1.00", "2.00"]),
    ],
)
def test_labels_come_back_as_they_were_written(labels, values):
    assert read_columns(pa.table({"x": ["a", "b"], "y": labels}), "y").table["y"].to_pylist() == values
