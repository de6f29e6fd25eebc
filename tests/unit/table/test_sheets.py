"""Workbooks as people make them: titles, sheets, merged cells, totals, formulas; and archives that are traps."""

import io
import time
import tracemalloc
import zipfile

import pytest

pytest.importorskip("openpyxl", reason="workbooks need openpyxl")
pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import openpyxl

import bayeskit
from bayeskit.errors import TableError
from bayeskit.table.files import TableFile

DAYS = [["day", "wind", "play"], [1, 3.5, "no"], [2, 1.0, "yes"], [3, 2.0, "yes"]]


def workbook(path, sheets, merge=None):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if merge is not None:
            sheet.merge_cells(merge)
    book.save(path)
    return path


def said(table):
    return " ".join(map(str, table.said))


def test_the_first_sheet_is_read_and_the_others_are_named(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"days": DAYS, "notes": [["who"], ["me"]]})
    table = bayeskit.read(path)
    assert table["wind"].to_pylist() == [3.5, 1.0, 2.0]
    assert "the sheet 'days' is read; there are others: 'notes'" in said(table)


@pytest.mark.parametrize("sheet", ["days", 2, "2"])
def test_a_sheet_is_chosen_by_name_or_number(tmp_path, sheet):
    path = workbook(tmp_path / "a.xlsx", {"notes": [["who"], ["me"]], "days": DAYS})
    assert bayeskit.read(path, sheet=sheet)["wind"].to_pylist() == [3.5, 1.0, 2.0]


def test_a_sheet_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"days": DAYS})
    with pytest.raises(TableError, match="there is no sheet 'dayz'; did you mean 'days'"):
        bayeskit.read(path, sheet="dayz")


def test_title_rows_are_recognised_and_said(tmp_path):
    rows = [["Weather of the week"], [], ["as of Monday"], *DAYS]
    table = bayeskit.read(workbook(tmp_path / "a.xlsx", {"s": rows}), "play")
    assert table["wind"].to_pylist() == [3.5, 1.0, 2.0]
    assert "the rows before row 4 are titles, such as 'Weather of the week' in row 1" in said(table)


def test_skip_says_where_the_names_are(tmp_path):
    rows = [["a", "b"], ["c", "d"], *DAYS]
    table = bayeskit.read(workbook(tmp_path / "a.xlsx", {"s": rows}), skip=2)
    assert table["wind"].to_pylist() == [3.5, 1.0, 2.0]


def test_rows_have_the_numbers_that_excel_shows(tmp_path):
    file = TableFile.open(workbook(tmp_path / "a.xlsx", {"s": [["Title"], [], DAYS[0], DAYS[1], [], DAYS[2]]}))
    assert [file.place(row) for row in range(2)] == ["'a.xlsx', line 4", "'a.xlsx', line 6"]


@pytest.mark.parametrize("word", ["Total", "Grand total", "Summe", "合计"])
def test_a_totals_row_is_left_out_and_said(tmp_path, word):
    table = bayeskit.read(workbook(tmp_path / "a.xlsx", {"s": [*DAYS, [word, 6.5, None]]}))
    assert table["wind"].to_pylist() == [3.5, 1.0, 2.0]
    assert f"row 5 ({word!r}) holds totals and is left out" in said(table)


def test_merged_cells_of_a_column_all_have_the_value(tmp_path):
    rows = [["town", "n"], ["Bern", 1], [None, 2], ["Chur", 3]]
    table = bayeskit.read(workbook(tmp_path / "a.xlsx", {"s": rows}, merge="A2:A3"))
    assert table["town"].to_pylist() == ["Bern", "Bern", "Chur"]
    assert "1 block of merged cells is read" in said(table)


def test_a_formula_without_a_stored_value_is_named_by_its_cell(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"s": [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]]})
    with pytest.raises(TableError, match=r"'a.xlsx', cell B2: a formula whose value is not stored \(2 cells in all\)"):
        bayeskit.read(path)


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"s": DAYS})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet9.xml", bytes(200 << 20))
    with pytest.raises(TableError, match=r"unpacks to 0\.2 GiB, too much for a workbook"):
        bayeskit.read(path)


def test_a_csv_file_has_no_sheets_and_skips_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("made by hand\n\nx,k\n1,a\n2,b\n")
    assert bayeskit.read(path, skip=2)["x"].to_pylist() == [1, 2]
    assert TableFile.open(path, skip=2).place(1) == "'a.csv', line 5"
    with pytest.raises(TableError, match="is a file without sheets: leave sheet out"):
        bayeskit.read(path, sheet="s")


def test_a_workbook_from_a_stream_is_read_too(tmp_path, monkeypatch):
    data = workbook(tmp_path / "a.xlsx", {"s": DAYS}).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert bayeskit.read("-")["wind"].to_pylist() == [3.5, 1.0, 2.0]


def sheet_of(path, rows, after=""):
    """Write a workbook whose only sheet has this XML inside."""
    workbook(path, {"s": DAYS})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    names = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>'
    parts["xl/worksheets/sheet1.xml"] = f"{head}{names}{rows}</sheetData>{after}</worksheet>".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def peak_memory(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_cells_far_to_the_right_do_not_fill_the_memory(tmp_path):
    # Each row of the file holds one cell, and before it 16,383 empty ones: 70,000 rows would be a billion cells.
    rows = "".join(f'<row r="{k}"><c r="XFD{k}"><v>1</v></c></row>' for k in range(2, 70_000))
    path = sheet_of(tmp_path / "far.xlsx", rows)

    def read():
        with pytest.raises(TableError, match=r"the sheet has more than .* rows or 50,000,000 cells; save it as CSV"):
            bayeskit.read(path)

    assert peak_memory(read) < 600 << 20


def test_blocks_of_merged_cells_do_not_fill_the_memory(tmp_path):
    rows = "".join(f'<row r="{k}"><c r="A{k}"><v>1</v></c></row>' for k in range(2, 5000))
    blocks = "".join(f'<mergeCell ref="A{k}:XFD1048576"/>' for k in range(2, 2000))
    path = sheet_of(tmp_path / "merged.xlsx", rows, f"<mergeCells>{blocks}</mergeCells>")
    with pytest.raises(TableError, match="merged cells of the sheet have more than 50,000,000 cells"):
        bayeskit.read(path)


@pytest.mark.parametrize("dimension", ["", '<dimension ref="A1:A3"/>'])
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_a_sheet_of_millions_of_rows_is_refused_before_its_cells_are_parsed(tmp_path, dimension, prefix):
    path = workbook(tmp_path / "small.xlsx", {"days": DAYS})
    row = f'<{prefix}row r="%d"><{prefix}c><{prefix}v>%d</{prefix}v></{prefix}c></{prefix}row>'
    with zipfile.ZipFile(path) as small, zipfile.ZipFile(tmp_path / "long.xlsx", "w", zipfile.ZIP_DEFLATED) as long:
        for name in small.namelist():
            if name != "xl/worksheets/sheet1.xml":
                long.writestr(name, small.read(name))
        with long.open("xl/worksheets/sheet1.xml", "w") as sheet:
            space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            kind = f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
            sheet.write(f'<{prefix}worksheet {kind}="{space}">{dimension}<{prefix}sheetData>'.encode())
            for start in range(1, 3_000_001, 100_000):
                sheet.write("".join(row % (i, i * 7919 % 1_000_003) for i in range(start, start + 100_000)).encode())
            sheet.write(f"</{prefix}sheetData></{prefix}worksheet>".encode())
    start = time.process_time()
    with pytest.raises(TableError, match=r"'long.xlsx': the sheet has more than 1,048,576 rows or .* save it as CSV"):
        bayeskit.read(tmp_path / "long.xlsx")
    assert time.process_time() - start < 5
