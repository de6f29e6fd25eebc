"""Workbooks are read and written through openpyxl, and refused by name where it is not installed."""

import datetime
import sys

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.files import TableFile
from bayeskit.table.formats import open_writer

ROWS = {"name": ["a", None, "c"], "size": [1.5, 2.0, None], "old": [True, False, True]}


@pytest.fixture
def openpyxl():
    return pytest.importorskip("openpyxl", reason="workbooks need openpyxl (the extra excel)")


def test_what_is_written_is_read_again(openpyxl, tmp_path):
    path = tmp_path / "rows.xlsx"
    with open(path, "wb") as file, open_writer(path, file) as writer:
        writer.write(pa.table(ROWS))
        writer.write(pa.table(ROWS))
    read = TableFile.open(path)
    assert read.read().to_pydict() == {name: 2 * cells for name, cells in ROWS.items()}
    types = {"size": pa.float64(), "name": pa.string()}
    (batch,) = read.batches(types)
    assert batch.to_pydict() == {name: 2 * ROWS[name] for name in types}


def test_numbers_with_a_marker_among_them_are_text_until_they_are_read_as_numbers(openpyxl, tmp_path):
    book = openpyxl.Workbook()
    for row in (["x", "day", None], [1, datetime.date(2019, 2, 16)], ["n/k", None], [2.5, datetime.date(2019, 3, 1)]):
        book.active.append(row)
    book.save(tmp_path / "odd.xlsx")
    table = TableFile.open(tmp_path / "odd.xlsx", missing=["n/k"]).read_written()
    assert table["x"].to_pylist() == ["1", None, "2.5"]
    assert [None if day is None else day.month for day in table["day"].to_pylist()] == [2, None, 3]
    with pytest.raises(TableError, match="column 'x' must hold a number; got 'n/k'"):
        list(TableFile.open(tmp_path / "odd.xlsx").batches({"x": pa.float64()}))


def test_a_damaged_workbook_is_refused(openpyxl, tmp_path):
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04....[Content_Types].xml....")
    with pytest.raises(TableError, match=r"'bad.xlsx' is a damaged Excel workbook"):
        TableFile.open(tmp_path / "bad.xlsx")


def test_without_openpyxl_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04....[Content_Types].xml....")
    with pytest.raises(BayeskitError, match=r"Excel workbooks need openpyxl: pip install 'bayeskit\[excel\]'"):
        TableFile.open(tmp_path / "a.xlsx")
