"""A column of a file becomes what its cells say, unless a person says otherwise."""

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa

from bayeskit.errors import TableError
from bayeskit.kinds.registry import number_words
from bayeskit.kinds.written import read_columns

TABLE = pa.table({"price": ["2,5", "13,75"], "sold": ["16.02.2019", "1.3.2019"], "ok": ["01", "02"]})


def test_a_category_is_what_is_written():
    found = read_columns(TABLE, "ok", kinds={"price": "categorical", "sold": "categorical"}).table
    assert found.to_pydict() == TABLE.to_pydict()


def test_numbers_and_dates_are_read():
    found = read_columns(TABLE, "ok").table.to_pydict()
    assert found["price"] == [2.5, 13.75]
    assert found["sold (year)"] == [2019, 2019]
    assert found["ok"] == ["01", "02"]  # labels are what is written


def test_a_column_that_is_left_out_stays_as_it_is():
    found = read_columns(TABLE, "ok", ignore=["price", "sold"]).table
    assert found.to_pydict() == TABLE.to_pydict()


def test_the_first_cell_that_is_no_number_is_named():
    table = pa.table({"price": ["2.5", "much", None, "more"], "ok": ["a", "b", "a", "b"]})
    with pytest.raises(TableError, match="column 'price' cannot be gaussian, since this cell is 'much'; in all 2 of 4"):
        read_columns(table, "ok", kinds={"price": "gaussian"})


def test_words_for_numeric_columns_are_densities_and_ways_of_binning():
    words = set(number_words())
    assert {"gaussian", "kde", "lognormal", "poisson", "equal-width", "equal-frequency", "mdl"} <= words
    assert not {"categorical", "binned"} & words
