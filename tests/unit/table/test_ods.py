"""OpenDocument sheets, written by hand as LibreOffice writes them, and sheets that are traps."""

import io
import zipfile

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")

import bayeskit
from bayeskit.errors import TableError
from bayeskit.table.formats import ods

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><office:document-content '
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
)
FOOT = "</office:spreadsheet></office:body></office:document-content>"


def text(cell, **more):
    said = " ".join(f'table:{name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<table:table-cell office:value-type="string" {said}><text:p>{cell}</text:p></table:table-cell>'


def number(cell, kind="float", **more):
    said = " ".join(f'table:{name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<table:table-cell office:value-type="{kind}" office:value="{cell}" {said}/>'


def row(*cells, times=1):
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'


def sheet(name, *rows):
    return f'<table:table table:name="{name}"><table:table-column/>{"".join(rows)}</table:table>'


def write(path, *sheets, head=HEAD):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        kind = zipfile.ZipInfo("mimetype")
        archive.writestr(kind, "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("content.xml", head + "".join(sheets) + FOOT)
    return path


EMPTY = '<table:table-cell table:number-columns-repeated="16380"/>'


def test_cells_of_every_type_are_read(tmp_path):
    when = '<table:table-cell office:value-type="date" office:date-value="2020-02-29"/>'
    clock = '<table:table-cell office:value-type="time" office:time-value="PT13H45M00S"/>'
    truth = '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>'
    note = "<office:annotation><text:p>a note</text:p></office:annotation>"
    noted = (
        f'<table:table-cell office:value-type="string">{note}<text:p>a<text:s text:c="2"/>b</text:p></table:table-cell>'
    )
    names = row(*map(text, ["n", "share", "day", "at", "ok", "word"]), EMPTY)
    data = row(number(3), number(0.25, "percentage"), when, clock, truth, noted, EMPTY)
    path = write(tmp_path / "all.ods", sheet("S", names, data, data, row(EMPTY, times=1048573)))
    table = bayeskit.read(path)
    assert table.raw.column_names == ["n", "share", "day", "at", "ok", "word"]
    assert table["n"].to_pylist() == [3, 3]
    assert table["share"].to_pylist() == [0.25, 0.25]
    assert table["day (month)"].to_pylist() == [2, 2]
    assert table["at"].to_pylist() == [13.75, 13.75]
    assert table["ok"].to_pylist() == [True, True]
    assert table["word"].to_pylist() == ["a  b", "a  b"]


def test_sheets_titles_merged_cells_and_totals_are_read_as_in_excel(tmp_path):
    first = sheet("notes", row(text("nothing here")))
    title = row(text("Sales of 2020"))
    merged = text("north", number_rows_spanned=2)
    covered = "<table:covered-table-cell/>"
    data = [row(merged, number(1)), row(covered, number(2)), row(text("south"), number(3, number_columns_repeated=1))]
    rows = [title, row(), row(text("side"), text("sold")), *data, row(text("Total"), number(6))]
    path = write(tmp_path / "sales.ods", first, sheet("sales", *rows))
    table = bayeskit.read(path, sheet="sales")
    assert table["side"].to_pylist() == ["north", "north", "south"]
    assert table["sold"].to_pylist() == [1, 2, 3]
    assert table.place(0) == "'sales.ods', line 4"
    said = " ".join(str(problem) for problem in table.said)
    for words in ("there are others: 'notes'", "titles", "merged cells", "totals"):
        assert words in said
    with pytest.raises(TableError, match="sheet"):
        bayeskit.read(path, sheet="sale")


def test_words_for_a_missing_cell_are_those_of_a_csv_file(tmp_path):
    cells = ["NA", "n/a", "?", " ", "Rome", "None"]
    path = write(
        tmp_path / "na.ods", sheet("S", row(text("city"), text("n")), *(row(text(c), number(1)) for c in cells))
    )
    assert bayeskit.read(path)["city"].to_pylist() == [None, None, None, None, "Rome", "None"]


def test_a_formula_without_a_value_is_named(tmp_path):
    formula = '<table:table-cell table:formula="of:=[.A1]"/>'
    path = write(tmp_path / "f.ods", sheet("S", row(text("a"), text("b")), row(number(1), formula)))
    with pytest.raises(TableError, match="row 2: a formula whose value is not stored"):
        bayeskit.read(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ((row(text("a"), times=1), row(number(1), times=10**9)), "more than 50,000,000 cells"),
        ((row(text("a"), number(1, number_columns_repeated=10**9)),), "more than 131,072 cells"),
        ((row(text("a")), row(EMPTY, times=10**9), row(number(1))), "more than 50,000,000 cells"),
    ],
)
def test_a_cell_that_says_it_is_there_a_billion_times_is_refused_at_once(tmp_path, rows, words):
    with pytest.raises(TableError, match=words):
        bayeskit.read(write(tmp_path / "trap.ods", sheet("S", *rows)))


def test_an_archive_that_would_fill_the_memory_and_one_with_entities_are_refused(tmp_path):
    large = write(tmp_path / "bomb.ods", sheet("S", row(text("a" * (80 << 20)))))
    assert large.stat().st_size < 1 << 20
    with pytest.raises(TableError, match="too much for a workbook"):
        bayeskit.read(large)
    doctype = HEAD.replace("?>", '?><!DOCTYPE x [<!ENTITY a "aaaa">]>', 1)
    with pytest.raises(TableError, match="document type"):
        bayeskit.read(write(tmp_path / "entity.ods", sheet("S", row(text("&a;"))), head=doctype))


def test_what_is_cut_off_is_damaged_and_sheets_are_not_written(tmp_path):
    whole = write(tmp_path / "x.ods", sheet("S", row(text("a")), row(number(1))))
    (tmp_path / "cut.ods").write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(TableError, match="damaged OpenDocument sheet"):
        bayeskit.read(tmp_path / "cut.ods")
    with pytest.raises(TableError, match="not written"):
        ods.open_writer(io.BytesIO())
