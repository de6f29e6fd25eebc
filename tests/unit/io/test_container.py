import io
import json
import math
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from bayeskit.errors import ModelFileError
from bayeskit.io import container

ARRAYS = {
    "matrix": np.arange(6.0).reshape(2, 3),
    "scalar": np.array(5),
    "labels": np.array(["蜷缩", "稍蜷", ""]),
    "empty": np.zeros((0, 3)),
    "flags": np.array([True, False]),
    "strided": np.arange(8, dtype=np.uint8)[::2],
    "fortran": np.asfortranarray(np.ones((3, 2), np.float32)),
    "big_endian": np.array([1.5, -0.0], dtype=">f8"),
}

DTYPES = [np.float64, np.float32, np.int64, np.uint8, np.bool_]
KEYS = st.text().filter(lambda key: not key.startswith("$"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.bayes"
    container.write(path, "NaiveBayes", {"smoothing": 1.0, "names": ["色泽"]}, ARRAYS)
    return path


def same_bits(left, right):
    return left.shape == right.shape and left.dtype == right.dtype and left.tobytes() == right.tobytes()


def rebuilt(path, change=None, *, fields=None, extra=(), compression=zipfile.ZIP_STORED, drop=()):
    """Write a hostile file at ``path``: the same archive with its fields changed, entries added or dropped."""
    with zipfile.ZipFile(path) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist() if name not in drop]
    if change or fields is not None:
        head = json.loads(entries[0][1]) if fields is None else fields
        if change:
            change(head)
        entries[0] = ("model.json", head if isinstance(head, bytes) else json.dumps(head).encode())
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in [*entries, *extra]:
            archive.writestr(name, data)
    return path


def test_arrays_of_numbers_booleans_and_strings_come_back(path):
    contents = container.read(path)
    assert contents.model == "NaiveBayes"
    assert contents.meta == {"smoothing": 1.0, "names": ["色泽"]}
    for name, array in ARRAYS.items():
        assert_array_equal(contents.arrays[name], array, strict=name != "big_endian")


@given(JSON)
@settings(max_examples=50)
def test_fields_come_back_equal(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("fields") / "m"
    container.write(path, "M", {"value": value}, {})
    assert container.read(path).meta == {"value": value}


@given(st.floats(allow_nan=False))
def test_a_float_field_comes_back_to_the_last_bit(tmp_path_factory, number):
    path = tmp_path_factory.mktemp("float") / "m"
    container.write(path, "M", {"number": number}, {})
    assert struct.pack("<d", container.read(path).meta["number"]) == struct.pack("<d", number)


def test_nan_and_infinities_in_fields_come_back(tmp_path):
    container.write(tmp_path / "m", "M", {"values": [math.nan, math.inf, -math.inf]}, {})
    nan, plus, minus = container.read(tmp_path / "m").meta["values"]
    assert math.isnan(nan)
    assert (plus, minus) == (math.inf, -math.inf)


@given(hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, min_side=0)))
def test_an_array_comes_back_to_the_last_bit(tmp_path_factory, array):
    path = tmp_path_factory.mktemp("array") / "m"
    container.write(path, "M", {}, {"a": array})
    assert same_bits(container.read(path).arrays["a"], array)


def test_numpy_itself_reads_each_array_of_the_archive(path):
    with zipfile.ZipFile(path) as archive:
        for name, array in ARRAYS.items():
            assert_array_equal(np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False), array)


def test_the_same_model_gives_the_same_bytes(path, tmp_path):
    container.write(tmp_path / "again", "NaiveBayes", {"smoothing": 1.0, "names": ["色泽"]}, ARRAYS)
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize(
    ("meta", "arrays", "message"),
    [
        ({"f": len}, {}, "header.meta.f: a builtin_function_or_method cannot be written"),
        ({"list": [1, {2}]}, {}, r"header.meta.list\[1\]: a set cannot be written"),
        ({1: 2}, {}, "key 1 is not text"),
        ({"$float": 2}, {}, "begins with '\\$'"),
        ({}, {"a": np.array([object()])}, "array 'a': dtype object cannot be stored"),
        ({}, {"a": np.array(["2020"], dtype="datetime64[D]")}, "cannot be stored"),
        ({}, {"../a": np.zeros(1)}, r"array name '\.\./a'"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_before_anything_is_written(tmp_path, meta, arrays, message):
    with pytest.raises(ModelFileError, match=message):
        container.write(tmp_path / "m", "M", meta, arrays)
    assert list(tmp_path.iterdir()) == []


def test_more_than_a_file_may_hold_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "MAX_ARRAYS", 2)
    with pytest.raises(ModelFileError, match="at most 2 arrays; got 3"):
        container.write(tmp_path / "m", "M", {}, {name: np.zeros(1) for name in "abc"})
    monkeypatch.setattr(container, "MAX_HEADER_BYTES", 300)
    with pytest.raises(ModelFileError, match="may take 300 bytes of JSON"):
        container.write(tmp_path / "m", "M", {"long": "x" * 300}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_header_longer_than_is_read_is_refused(path, monkeypatch):
    monkeypatch.setattr(container, "MAX_HEADER_BYTES", 300)
    with pytest.raises(ModelFileError, match="at most 300 are read"):
        container.read(path)


def set_array(**fields):
    return lambda head: head["arrays"][0].update(fields)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(format="other"), "does not say that its format"),
        (lambda h: h.update(version=4), "has version 4 of the format and this bayeskit reads 3; a newer bayeskit"),
        (lambda h: h.update(version=2), "reads 3; train the model again with this bayeskit"),
        (lambda h: h.update(version=True), "no version"),
        (lambda h: h.update(version=-1), "no version"),
        (lambda h: h.pop("meta"), "exactly the fields"),
        (lambda h: h.update(model=3), "'model' is not a str"),
        (lambda h: h.update(arrays={}), "'arrays' is not a list"),
        (lambda h: h["arrays"].append(h["arrays"][0]), "not those in the archive"),
        (lambda h: h["arrays"].pop(), "not those in the archive"),
        (lambda h: h["arrays"].append(5), "without exactly a name"),
        (set_array(name="../../etc/passwd"), "letters, digits and underscores"),
        (set_array(dtype="|O"), "numbers, booleans or strings"),
        (set_array(dtype="|O8"), "numbers, booleans or strings"),
        (set_array(dtype="<U0"), "numbers, booleans or strings"),
        (set_array(dtype="|V8"), "numbers, booleans or strings"),
        (set_array(dtype=["<f8"]), "numbers, booleans or strings"),
        (set_array(dtype="<U90000000"), "larger than the file"),
        (set_array(shape=[10**12]), "sizes that the file could hold"),
        (set_array(shape=[2000, 2000]), "larger than the file"),
        (set_array(shape=[0, 1000, 1000]), "larger than the file"),
        (set_array(shape=[-1]), "sizes that the file could hold"),
        (set_array(shape=[True]), "sizes that the file could hold"),
        (set_array(shape=[1.0]), "sizes that the file could hold"),
        (set_array(shape=[1] * 40), "sizes that the file could hold"),
        (set_array(shape="23"), "sizes that the file could hold"),
        (set_array(shape=[3, 3]), r"array 'matrix' has 176 bytes; float64 of shape \(3, 3\) needs 200"),
        (set_array(shape=[3, 2]), r"does not begin as float64 of shape \(3, 2\) does"),
        (set_array(dtype="<i8"), "does not begin as int64"),
    ],
)
def test_a_header_that_lies_is_refused(path, change, message):
    with pytest.raises(ModelFileError, match=message) as refusal:
        container.read(rebuilt(path, change))
    assert "'model.bayes'" in str(refusal.value)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"a": ' * 100_000, "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b'{"version": 1, "version": 1}', "a key is there twice"),
        (b'{"version": NaN}', "NaN is not JSON"),
        (b'{"version": 1e999}', "a number is too large"),
        (b'{"version": ' + b"9" * 10_000 + b"}", "cannot be read"),
        (b'{"version": {"$float": "sys.exit"}}', "begins with '\\$'"),
        (b'{"version": {"$float": ["inf"]}}', "begins with '\\$'"),
        (b"[]", "does not say that its format"),
    ],
)
def test_a_header_that_is_no_header_is_refused(path, head, message):
    with pytest.raises(ModelFileError, match=message):
        container.read(rebuilt(path, fields=head))


@pytest.mark.parametrize("name", ["../evil.npy", "/etc/passwd", "a/b.npy", "evil.py", "C:\\x.npy", "x.npy/", ".npy"])
def test_an_entry_with_any_other_name_is_refused(path, name):
    with pytest.raises(ModelFileError, match="is not allowed in a model file"):
        container.read(rebuilt(path, extra=[(name, b"x")]))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_that_is_there_twice_is_refused(path):
    with pytest.raises(ModelFileError, match=r"'matrix.npy' appears twice"):
        container.read(rebuilt(path, extra=[("matrix.npy", b"x")]))


def test_an_archive_without_a_header_is_refused(path):
    with pytest.raises(ModelFileError, match=r"no model.json"):
        container.read(rebuilt(path, drop=("model.json",)))


def test_booleans_and_characters_that_do_not_exist_are_refused(tmp_path):
    for array, old, new, message in [
        (np.array([True]), b"\x01", b"\x07", "neither true nor false"),
        (np.array(["a"]), struct.pack("<I", 97), struct.pack("<I", 0x110000), "character that does not exist"),
    ]:
        container.write(tmp_path / "m", "M", {}, {"a": array})
        with zipfile.ZipFile(tmp_path / "m") as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        entries["a.npy"] = entries["a.npy"].removesuffix(old) + new
        with zipfile.ZipFile(tmp_path / "m", "w") as archive:
            for name, data in entries.items():
                archive.writestr(name, data)
        with pytest.raises(ModelFileError, match=message):
            container.read(tmp_path / "m")


def peak_bytes(path):
    """Return the most memory that refusing the file took."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            container.read(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_is_refused_without_unpacking_it(path):
    bomb = rebuilt(path, extra=[("bomb.npy", bytes(50_000_000))], compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    assert peak_bytes(bomb) < 1_000_000


def test_entries_that_share_their_bytes_are_refused(tmp_path):
    # Each of the 40 directory lines claims the same 1 MB of the file.
    path = tmp_path / "overlap"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a0.npy", bytes(1_000_000))
        for k in range(1, 40):
            twin = zipfile.ZipInfo(f"a{k}.npy")
            first = archive.filelist[0]
            twin.header_offset, twin.CRC = first.header_offset, first.CRC
            twin.file_size = twin.compress_size = first.file_size
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
    with pytest.raises(ModelFileError, match="claim more bytes than the file has"):
        container.read(path)
    assert peak_bytes(path) < 1_000_000


def test_a_directory_of_a_million_entries_is_refused_before_it_is_read(tmp_path):
    line = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    directory = line * 1_000_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), 0, 0)
    (tmp_path / "m").write_bytes(directory + end)
    with pytest.raises(ModelFileError, match="its directory lists"):
        container.read(tmp_path / "m")
    assert peak_bytes(tmp_path / "m") < 1_000_000


def test_a_header_of_empty_lists_takes_memory_in_proportion_to_the_file(path):
    rebuilt(path, fields=b"[" + b"[]," * 100_000 + b"[]]")
    assert peak_bytes(path) < 40 * path.stat().st_size


def test_every_cut_of_a_file_is_refused(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            container.read(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_folder_a_pipe_and_an_absent_file_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        container.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not an ordinary file"):
        container.read(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        container.read(tmp_path / "absent")
