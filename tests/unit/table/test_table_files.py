"""Files are read as they are, or refused with the place and what would do."""

import gzip
import io
import os
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from bayeskit.errors import TableError
from bayeskit.table.files import TableFile
from bayeskit.table.formats import csv, open_writer


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refusal(path, **options):
    with pytest.raises(TableError) as caught:
        TableFile.open(path, **options).read()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_names_may_hold_spaces_chinese_and_line_breaks(tmp_path):
    file = TableFile.open(written(tmp_path, "a.csv", '色 泽,"two\nlines",b\n青绿,1,x\n'))
    assert file.names == ("色 泽", "two\nlines", "b")
    assert file.read().to_pydict() == {"色 泽": ["青绿"], "two\nlines": [1], "b": ["x"]}


@pytest.mark.parametrize("word", ["", "NA", "?", "NaN", "null", "n/a"])
def test_a_word_for_nothing_is_a_missing_cell(tmp_path, word):
    table = TableFile.open(written(tmp_path, "a.csv", f"a,b\nx,{word}\n{word},1\n")).read()
    assert table.to_pydict() == {"a": ["x", None], "b": [None, 1]}


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, sign):
    path = written(tmp_path, "a.csv", f'"x,y;z"{sign}b\n1{sign}2\n')
    assert TableFile.open(path).read().to_pydict() == {"x,y;z": [1], "b": [2]}


def test_a_quoted_cell_may_hold_line_breaks_and_delimiters(tmp_path):
    path = written(tmp_path, "a.csv", 'a,b\n"one, two\nthree",2\n')
    assert TableFile.open(path).read()["a"].to_pylist() == ["one, two\nthree"]


def test_a_packed_file_is_unpacked_whatever_its_name(tmp_path):
    path = written(tmp_path, "a.data", gzip.compress(b"a,b\n1,2\n"))
    assert TableFile.open(path).read().to_pydict() == {"a": [1], "b": [2]}


def test_parquet_is_told_by_its_bytes(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1, None], "b": ["x", "y"]}), tmp_path / "a.table")
    file = TableFile.open(tmp_path / "a.table")
    assert file.read().to_pydict() == {"a": [1, None], "b": ["x", "y"]}
    assert [batch.to_pydict() for batch in file.batches({"a": pa.float64()})] == [{"a": [1.0, None]}]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("packed", [True, False])
def test_standard_input_is_read_plain_and_packed(monkeypatch, keep, packed):
    data = b"a,b\n1,x\n"
    stream = io.BytesIO(gzip.compress(data) if packed else data)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    file = TableFile.open("-", keep=keep)
    assert [batch.to_pydict() for batch in file.batches({"a": pa.float64()})] == [{"a": [1.0]}]


def test_other_encodings_are_read_when_they_are_named(tmp_path):
    path = written(tmp_path, "a.csv", "颜色,甜\n青绿,1\n".encode("gb18030"))
    assert TableFile.open(path, "gb18030").read().to_pydict() == {"颜色": ["青绿"], "甜": [1]}
    path = written(tmp_path, "b.csv", "a,b\n1,2\n".encode("utf-16"))
    assert TableFile.open(path, "utf-16").read().to_pydict() == {"a": [1], "b": [2]}
    path = written(tmp_path, "c.csv", b"\xef\xbb\xbfa,b\n1,2\n")
    assert TableFile.open(path).names == ("a", "b")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "'a.csv' is empty"),
        (b"\n \n", "'a.csv' is empty"),
        (b"a,b\n1,2\n3\n", "'a.csv', line 3: it has 1 cell and the header has 2"),
        (b'a,b\n"x\ny",2\n1,2,3\n', "'a.csv', line 4: it has 3 cells and the header has 2"),
        (b"a,b,a\n1,2,3\n", "'a.csv' has 2 columns named 'a'"),
        (b"a,b\n1,2\na,b\n3,4\n", "'a.csv', line 3: the header appears a second time"),
        (
            b"\x89PNG\r\n\x1a\n\0",
            "'a.csv' is not a CSV, JSON Lines, Parquet, Feather or Excel file: it looks like a",
        ),
        (b"PK\x03\x04zip", "it looks like a zip archive or a model file"),
        (b"abc\0\0\n", "it holds zero bytes, which no text has"),
        (b"<!doctype html><p>", "it looks like a web page"),
        (b"a,b\nx,1\n\0,2\n", "'a.csv', line 3, byte 8: a zero byte, which no text has; delete it"),
        (b"a\xff,b\nx,1\n", "'a.csv', line 1: this is not utf-8 text; its encoding must be given"),
        (
            b"a,b\n\xc3\xa4,1\n\xff,2\n",
            "'a.csv', line 3, byte 9: this is not utf-8 text; its encoding must be given, such as gb18030",
        ),
        (b"\x1f\x8bnot gzip", "'a.csv' is a damaged gzip file"),
        (b"PAR1 cut", "'a.csv' is a damaged Parquet file"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, data, message):
    assert message in refusal(written(tmp_path, "a.csv", data))


@pytest.mark.parametrize("name", ["cut.csv.gz", "cut.jsonl.gz"])
def test_a_packed_file_that_ends_early_is_refused_by_name_wherever_it_breaks(tmp_path, name):
    line = b"1,2\n" if "csv" in name else b'{"a": 1}\n'
    data = gzip.compress(b"a,b\n" * ("csv" in name) + line * 500_000)[:-50]
    assert refusal(written(tmp_path, name, data)).startswith(f"'{name}' is a damaged gzip file: ")


def test_a_number_beyond_the_largest_is_refused_with_its_text_its_line_and_its_column(tmp_path):
    path = written(tmp_path, "a.csv", b'a,b\n1,x\n"-1e400",y\ninf,z\n')
    assert "'a.csv', line 3: column 'a' holds -1e400, which is beyond the largest number" in refusal(path)
    with pytest.raises(TableError, match="line 3: column 'a' holds -1e400"):
        list(TableFile.open(path).batches({"a": pa.float64()}))
    infinite = TableFile.open(written(tmp_path, "b.csv", b"a,b\n1,x\ninf,z\n"))
    assert infinite.read()["a"].to_pylist() == [1.0, float("inf")]


@pytest.mark.parametrize("packed", [False, True])
def test_feather_is_told_by_its_bytes_and_keeps_its_types(tmp_path, packed):
    table = pa.table({"a": pa.array([1, None, 3], pa.int16()), "b": ["x", "NA", None]})
    feather.write_feather(table, tmp_path / "t.feather")
    data = (tmp_path / "t.feather").read_bytes()
    path = written(tmp_path, "t.csv", gzip.compress(data) if packed else data)
    file = TableFile.open(path, missing=["NA"])
    assert file.read()["b"].to_pylist() == ["x", None, None]
    assert file.read()["a"].type == pa.int16()
    batches = pa.Table.from_batches(file.batches({"b": None, "a": pa.float64()}))
    assert batches.to_pydict() == {"b": ["x", None, None], "a": [1.0, None, 3.0]}
    assert "is a damaged Feather file" in refusal(written(tmp_path, "cut.feather", data[:-20]))


@pytest.mark.parametrize("name", ["t.feather", "t.parquet", "t.arrow.gz"])
def test_a_table_is_written_part_by_part_and_read_again(tmp_path, name):
    parts = [pa.table({"a": [1, 2], "b": ["x", None]}), pa.table({"a": pa.array([3], pa.int8()), "b": ["y"]})]
    with open(tmp_path / name, "wb") as stream, open_writer(tmp_path / name, stream) as writer:
        for part in parts:
            writer.write(part)
    assert TableFile.open(tmp_path / name).read().to_pydict() == {"a": [1, 2, 3], "b": ["x", None, "y"]}


def test_a_column_that_went_away_after_the_file_was_opened_is_refused_with_the_files_name(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1], "b": [2]}), path)
    file = TableFile.open(path)
    pq.write_table(pa.table({"b": [2]}), path)
    for read in (file.read, lambda: list(file.batches({"a": None}))):
        with pytest.raises(TableError, match=r"'t\.parquet' cannot be read as Parquet: .*a"):
            read()


def test_an_unknown_encoding_is_refused_with_common_ones(tmp_path):
    assert "there is no encoding 'utf-9'; common ones are utf-8" in refusal(
        written(tmp_path, "a", "a"), encoding="utf-9"
    )


def test_a_delimiter_of_two_characters_is_refused(tmp_path):
    assert "must be one character" in refusal(written(tmp_path, "a", "a"), delimiter="::")


def test_a_directory_and_a_name_that_is_not_there_are_refused(tmp_path):
    written(tmp_path, "days.csv", "a\n1\n")
    assert "is a directory" in refusal(tmp_path)
    assert "did you mean 'days.csv'?" in refusal(tmp_path / "dayz.csv")
    assert "there is no folder" in refusal(tmp_path / "nowhere" / "a.csv")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "a.csv", "a\n1\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything, so the refusal of the system is played here

        def refuse(*_args, **_options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("bayeskit.table.raw_file.open", refuse, raising=False)
    assert "permission denied" in refusal(path)


def test_a_cell_of_another_type_is_refused_with_its_line(tmp_path):
    path = written(tmp_path, "a.csv", "a,b\n1,x\nmany,y\n")
    with pytest.raises(TableError, match=r"'a\.csv', line 3: column 'a' must hold a number; got 'many'"):
        list(TableFile.open(path).batches({"a": pa.float64()}))


def test_a_column_that_is_not_there_is_refused_with_the_nearest(tmp_path):
    file = TableFile.open(written(tmp_path, "a.csv", "wind,sky\n1,2\n"))
    with pytest.raises(TableError, match=r"does not fit the model: there is no column 'Wnd'; did you mean 'wind'\?"):
        file.refuse_absent(("Wnd",), "the model")


OPEN = "a double quote opens a cell here and none closes it before the end of the file"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n" + "x,y\n" * 5 + 'x,"y\n' + "x,y\n" * 100, 7),  # the last cell of a line: 100 rows in one cell
        ("a,b\n" + "x,y\n" * 5 + '"x,y\n' + "x,y\n" * 100, 7),
        ('a,b\n1,5" pipe\n"two\nlines","4\n', 4),  # a quote inside a cell is part of it
        ('a\nx\n"y\nz', 3),
        ('a,"b\n1,2\n', 1),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_quote_that_is_never_closed_is_refused_with_the_line_on_which_it_opens(tmp_path, text, line, encoding):
    path = written(tmp_path, "a.csv", text.encode(encoding))
    assert f"'a.csv', line {line}: {OPEN}" in refusal(path, encoding=encoding)
    with pytest.raises(TableError, match=f"line {line}: {OPEN}"):
        list(TableFile.open(path, encoding).batches({"a": None}))


def test_a_reader_that_fails_leaves_nothing_that_arrow_would_call_later(tmp_path, monkeypatch):
    # Arrow let go of the handler of bad rows in a thread of its own, after Python had ended: 1 abort in 50 runs.
    ends = []

    class Watched(csv._End):
        def __init__(self, *args):
            super().__init__(*args)
            ends.append(self)

    monkeypatch.setattr(csv, "_End", Watched)
    path = written(tmp_path, "a.csv", "a,b\n" + "x,y\n" * 50 + 'x,"y\n' + "x,y\n" * 50)
    for _ in range(200):
        with pytest.raises(TableError):
            TableFile.open(path).read()
        with pytest.raises(TableError):
            list(TableFile.open(path).batches({"a": None}))
        assert not any(end.in_use for end in ends)
        ends.clear()


def test_closed_quotes_are_read_to_the_last_line_with_and_without_a_line_break_at_the_end(tmp_path):
    for text in ('a,b\n1,"x\ny"\n3,"4"', 'a,b\n1,"x\ny"\n3,"4"\n', 'a,b\r\n1,"x\ny"\r\n3,"4"\r\n\r\n'):
        table = TableFile.open(written(tmp_path, "a.csv", text)).read()
        assert table.to_pydict() == {"a": [1, 3], "b": ["x\ny", "4"]}


def test_a_header_of_very_many_columns_is_read_whole(tmp_path):
    names = [f"column{j}" for j in range(20_000)]
    file = TableFile.open(written(tmp_path, "a.csv", (",".join(names) + "\n" + ",".join("1" * 20_000) + "\n").encode()))
    assert file.names == tuple(names)
    assert file.read().num_columns == 20_000


def test_a_line_without_end_is_refused(tmp_path):
    data = b"a,b\n1," + b"x" * (5 << 20) + b"\n"
    with pytest.raises(TableError, match="a line is longer than 1 MiB, which no row of a table is"):
        TableFile.open(written(tmp_path, "a.csv", data)).read()
    with pytest.raises(TableError, match="line 1: it is longer than 16 MiB, and holds no column names"):
        TableFile.open(written(tmp_path, "b.csv", b"x" * (17 << 20)))


@pytest.mark.parametrize(("names", "said"), [("5.1,3.5", True), ("0,1", False), ("1,2", False), ("a,3.5", False)])
def test_a_file_without_a_line_of_names_is_told_of(tmp_path, names, said):
    path = tmp_path / "a.csv"
    path.write_text(f"{names}\n4.9,3.0\n4.7,3.2\n")
    assert any("names of all columns are numbers" in each for each in TableFile.open(path).said) == said


def test_a_line_of_excel_that_names_the_delimiter_is_no_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sep=\t\na,b\tc\n1,5\t2\n")
    file = TableFile.open(path)
    assert file.names == ("a,b", "c")
    assert file.place(0) == "'a.csv', line 3"
