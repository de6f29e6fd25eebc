"""JSON Lines: one object per line, every refusal with its line."""

import gzip
import io
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow", reason="files are read through Arrow, which is not installed")
import pyarrow as pa

from bayeskit.errors import TableError
from bayeskit.table.files import TableFile
from bayeskit.table.formats import format_named


def written(folder, data, name="a.jsonl"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_keys_are_columns_and_null_or_absent_is_missing(tmp_path):
    file = TableFile.open(written(tmp_path, '{"a": 1, "色 泽": "青绿"}\n\n{"a": null, "b": true}\n{"a": 2.5}\n'))
    assert file.names == ("a", "色 泽", "b")
    table = file.read()
    assert table.to_pydict() == {"a": [1.0, None, 2.5], "色 泽": ["青绿", None, None], "b": [None, True, None]}
    assert table.schema.types == [pa.float64(), pa.string(), pa.bool_()]


def test_it_reads_what_a_csv_of_the_same_rows_gives(tmp_path):
    lines = '{"n": 3, "w": "x", "t": true}\n{"n": 4, "w": "y", "t": false}\n'
    ours = TableFile.open(written(tmp_path, lines)).read()
    theirs = TableFile.open(written(tmp_path, "n,w,t\n3,x,true\n4,y,false\n", "a.csv")).read()
    assert ours.equals(theirs)


def test_batches_have_the_types_asked_for_and_hold_every_row(tmp_path):
    n_rows = 40_000
    text = "".join(f'{{"x": {i}, "label": {i % 3}, "more": "z"}}\n' for i in range(n_rows))
    file = TableFile.open(written(tmp_path, text))
    batches = list(file.batches({"label": pa.string(), "x": pa.float64()}))
    assert len(batches) > 1
    whole = pa.Table.from_batches(batches)
    assert whole["x"].to_pylist() == list(range(n_rows))
    assert whole["label"].to_pylist() == [str(i % 3) for i in range(n_rows)]


def test_a_whole_number_stays_one_and_a_column_of_null_has_no_type(tmp_path):
    table = TableFile.open(written(tmp_path, '{"a": 9007199254740993, "b": null}\n')).read()
    assert table["a"].to_pylist() == [9007199254740993]
    assert table.schema.types == [pa.int64(), pa.null()]


@pytest.mark.parametrize("packed", [True, False])
def test_standard_input_is_read_by_the_keys_of_its_first_lines(monkeypatch, packed):
    data = b'{"a": 1}\n{"a": 2, "b": "x"}\n{"a": 3}\n'
    stream = io.BytesIO(gzip.compress(data) if packed else data)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
    file = TableFile.open("-")
    assert file.names == ("a", "b")
    assert [batch.to_pydict() for batch in file.batches({"a": pa.float64()})] == [{"a": [1.0, 2.0, 3.0]}]


def test_other_encodings_are_read_when_they_are_named(tmp_path):
    path = written(tmp_path, '{"颜色": "青绿"}\n'.encode("gb18030"))
    assert TableFile.open(path, "gb18030").read().to_pydict() == {"颜色": ["青绿"]}
    path = written(tmp_path, b'\xef\xbb\xbf{"a": 1}\n')
    assert TableFile.open(path).names == ("a",)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}\n{"a": }\n', "'a.jsonl', line 2: this is not a JSON object (Expecting value, column 7)"),
        (b'{"a": 1}\n[1]\n', "'a.jsonl', line 2: this is a list; each line must hold a JSON object"),
        (b'{"a": 1}\nnull\n', "'a.jsonl', line 2: this is null"),
        (b'{\n  "a": 1\n}\n', "'a.jsonl', line 1: this is not a JSON object"),
        (b'{"a": 1}\n{"a": 1, "a": 2}\n', "'a.jsonl', line 2: the key 'a' appears 2 times in one object"),
        (b'{"a": 1}\n\n{"a": NaN}\n', "'a.jsonl', line 3: NaN is not JSON (write null for a missing cell)"),
        (b'{"a": 1}\n{"a": "x"}\n', "'a.jsonl', line 2: column 'a' mixes types: it holds a number such as 1 before"),
        (b'{"a": true}\n{"a": 1}\n', "'a.jsonl', line 2: column 'a' mixes types: it holds true or false"),
        (b'{"a": [1]}\n', "'a.jsonl', line 1: column 'a' holds a list; a cell is text, a number, true, false or null"),
        (b'{"a": 1}\n{"a": {"b": 1}}\n', "'a.jsonl', line 2: column 'a' holds an object"),
        (b'{"a": 1}\n{"a": 9223372036854775808}\n', "'a.jsonl', line 2: column 'a' holds a whole number that does not"),
        (b'{"a": ' + b"[" * 100_000 + b"\n", "'a.jsonl', line 1: this is not a JSON object"),
        (b'{"a": ' + b"1" * 5000 + b"}\n", "'a.jsonl', line 1: this is not a JSON object"),
        (b"{}\n{}\n", "'a.jsonl' has no column"),
        (b'{"a": "x"}\n{"a": "\xff\xe0"}\n', "'a.jsonl', line 2, byte 18: this is not utf-8 text; its encoding"),
        (b'[{"a": 1}]', "it looks like a JSON array; write one JSON object per line"),
    ],
)
def test_bad_lines_are_refused_by_number_in_one_sentence(tmp_path, data, message):
    with pytest.raises(TableError) as caught:
        TableFile.open(written(tmp_path, data)).read()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cell_of_another_type_than_asked_for_is_refused_with_its_line(tmp_path):
    file = TableFile.open(written(tmp_path, '{"a": 1}\n{"a": "many"}\n'))
    with pytest.raises(TableError, match=r"'a\.jsonl', line 2: column 'a' must hold a number; got 'many'"):
        list(file.batches({"a": pa.float64()}))
    with pytest.raises(TableError, match=r"'a\.jsonl', line 1: column 'a' must hold true or false; got 1"):
        list(file.batches({"a": pa.bool_()}))


def test_what_is_written_is_read_again(tmp_path):
    table = pa.table({"a": ["x", None, '"\n'], "b": [1.5, 2.0, None]})
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        with (tmp_path / name).open("wb") as file:
            writer = format_named(tmp_path / name).open_writer(file)
            writer.write(table)
            writer.close()
        assert TableFile.open(tmp_path / name).read().equals(table)


READ_ELSEWHERE = (
    "import sys; from bayeskit.table.files import TableFile; print(TableFile.open(sys.argv[1]).read().shape)"
)


@pytest.mark.parametrize(("n_rows", "n_keys"), [(80_000, 2), (1, 80_000)])
def test_many_lines_and_many_keys_do_not_hang_the_reader(tmp_path, n_rows, n_keys):
    # Linear work takes a second; the square of either number would take many minutes, and is ended.
    row = ", ".join(f'"k{j}": {j}' for j in range(n_keys))
    path = written(tmp_path, f"{{{row}}}\n" * n_rows)
    done = subprocess.run(
        [sys.executable, "-c", READ_ELSEWHERE, path], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() == str((n_rows, n_keys))


def test_a_line_that_never_ends_is_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": 1}\n{"a": "')
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(TableError, match=r"'long.jsonl', line 2: it is longer than 16 MiB, which no row of a table is"):
        TableFile.open(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20
