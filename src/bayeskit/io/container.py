"""The container of model files: a zip of ``model.json`` and plain ``.npy`` arrays, checked before memory is taken.

Entries are stored, never compressed, so nothing in a file can be larger than the file. The header in ``model.json``
names every array with its dtype and shape; the head of each ``.npy`` must be byte for byte the one that belongs to
them, so no Python literal from a file is ever parsed. ``numpy.load`` reads the arrays of an unpacked file.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import __version__
from bayeskit.errors import ModelFileError
from bayeskit.io import header

FORMAT_VERSION = 3
MAX_ARRAYS = 10_000
MAX_DIRECTORY_BYTES = 4 << 20  # 10 000 entries of a few hundred bytes
MAX_HEADER_BYTES = 256 << 20
CHUNK = 1 << 20

_NAME = re.compile(r"[A-Za-z0-9_]{1,100}")
_DTYPE = re.compile(r"\|[bui]1|<[ui][248]|<f[248]|<c(8|16)|<U[1-9][0-9]{0,7}")
_MAX_DIMENSIONS = 32
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    struct.error,
    ValueError,
    OverflowError,
)


@dataclass(frozen=True)
class Contents:
    """What a model file holds: the name of a model, its fields and its arrays."""

    model: str
    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


@dataclass(frozen=True)
class _Array:
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def head(self) -> bytes:
        """The head of version 1.0 of the .npy format, padded to 64 bytes as NumPy does."""
        shape = f"({self.shape[0]},)" if len(self.shape) == 1 else str(self.shape)
        text = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
        padded = text + " " * (-(10 + len(text) + 1) % 64) + "\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode("ascii")

    @property
    def n_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


def shown(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as messages show it."""
    return repr(Path(path).name)


def write(path: str | os.PathLike[str], model: str, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model file under another name and rename it, so that ``path`` always holds a whole file.

    Parameters
    ----------
    path : str or path
        Where the file goes; its folder must exist.
    model : str
        The name of the model in the registry.
    meta : dict
        Fields of None, bool, int, float, str, and lists and dicts of them. Tuples come back as lists. Floats come back
        to the last bit, infinities and NaN included.
    arrays : dict of str to array
        Arrays of numbers, booleans or strings.
    """
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    members = [_Array(name, array.dtype, array.shape) for name, array in stored.items()]
    if len(members) > MAX_ARRAYS:
        raise ModelFileError(f"a model file holds at most {MAX_ARRAYS} arrays; got {len(members)}.")
    head = header.to_bytes(
        {
            "format": header.FORMAT,
            "version": FORMAT_VERSION,
            "bayeskit": __version__,
            "model": model,
            "arrays": [{"name": m.name, "dtype": m.dtype.str, "shape": list(m.shape)} for m in members],
            "meta": meta,
        }
    )
    if len(head) > MAX_HEADER_BYTES:
        raise ModelFileError(f"the fields of a model may take {MAX_HEADER_BYTES} bytes of JSON; got {len(head)}.")
    with atomic_write(Path(os.path.realpath(path))) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        with archive.open(_entry("model.json"), "w") as entry:
            entry.write(head)
        for member in members:
            with archive.open(_entry(f"{member.name}.npy"), "w", force_zip64=True) as entry:
                entry.write(member.head)
                if member.n_bytes:
                    entry.write(stored[member.name].reshape(-1).view(np.uint8).data)


def read(path: str | os.PathLike[str]) -> Contents:
    """Read a model file, checking every name, size, dtype and version before taking memory for it."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{shown(path)} is not a model file: it is not an ordinary file.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            _check_directory(file, size)
            with zipfile.ZipFile(file) as archive:
                return _read_archive(archive, size)
        except ModelFileError as error:
            raise ModelFileError(f"{shown(path)} is not a model file: {error}") from error.__cause__
        except _BROKEN as error:
            raise ModelFileError(f"{shown(path)} is a damaged model file: {error}.") from error


def _entry(name: str) -> zipfile.ZipInfo:
    # The date is fixed, so that the same model always gives the same bytes.
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the array in C order and little-endian, as it stands in the file."""
    if not _NAME.fullmatch(name):
        raise ModelFileError(f"array name {name!r}: a name is 1 to 100 letters, digits and underscores.")
    dtype = array.dtype.newbyteorder("<")
    if not _DTYPE.fullmatch(dtype.str):
        raise ModelFileError(
            f"array {name!r}: dtype {array.dtype} cannot be stored in a model file; use numbers or strings."
        )
    return np.asarray(array, dtype=dtype, order="C")


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file in the folder of ``path``; rename it to ``path`` when all is written and on the disk."""
    if path.is_dir():
        raise ModelFileError(f"{shown(path)} is a folder; give the name of a file in it.")
    if not path.parent.is_dir():
        raise ModelFileError(f"there is no folder {str(path.parent)!r}; create it first.")
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = str(path)  # such as a full disk, whose error names no file
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened; there the rename is kept by the file system
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse an archive whose directory is larger than a model needs, before ``zipfile`` takes memory for it."""
    tail_size = min(size, 98)  # end record 22 bytes, before it the locator 20 and the end record 56 of large archives
    file.seek(size - tail_size)
    tail = file.read(tail_size).rjust(98, b"\0")
    if tail[76:80] != b"PK\x05\x06" or tail[96:98] != b"\0\0":
        raise ModelFileError("it is not a complete zip archive.")
    n_entries, directory = struct.unpack("<HI", tail[86:92])
    if tail[56:60] == b"PK\x06\x07":
        n_entries, directory = struct.unpack("<QQ", tail[32:48])
    if n_entries > MAX_ARRAYS + 1 or directory > MAX_DIRECTORY_BYTES:
        raise ModelFileError(
            f"its directory lists {n_entries} entries in {directory} bytes; at most {MAX_ARRAYS} arrays do."
        )


def _read_archive(archive: zipfile.ZipFile, size: int) -> Contents:
    entries = _entries(archive, size)
    if "model.json" not in entries:
        raise ModelFileError("it has no model.json.")
    info = entries.pop("model.json")
    if info.file_size > MAX_HEADER_BYTES:
        raise ModelFileError(f"model.json has {info.file_size} bytes; at most {MAX_HEADER_BYTES} are read.")
    fields = header.from_bytes(archive.read(info), FORMAT_VERSION)
    members = [_member(item, size) for item in fields["arrays"]]
    wanted = [f"{member.name}.npy" for member in members]
    if sorted(wanted) != sorted(entries):  # sorted lists, so that an array listed twice is seen as well
        odd = sorted(set(wanted) ^ set(entries)) or wanted
        raise ModelFileError(f"the arrays that model.json lists are not those in the archive; look at {odd[0]!r}.")
    for member in members:
        n_bytes = entries[f"{member.name}.npy"].file_size
        if n_bytes != len(member.head) + member.n_bytes:
            raise ModelFileError(
                f"array {member.name!r} has {n_bytes} bytes; {member.dtype} of shape {member.shape} needs "
                f"{len(member.head) + member.n_bytes}."
            )
    arrays = {m.name: _read_array(archive, entries[f"{m.name}.npy"], m) for m in members}
    return Contents(fields["model"], fields["meta"], arrays)


def _entries(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name; they are plain, stored, named once and together no larger than the file."""
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename
        if name != "model.json" and not (name.endswith(".npy") and _NAME.fullmatch(name[:-4])):
            raise ModelFileError(f"entry {name[:100]!r} is not allowed in a model file.")
        if name in entries:
            raise ModelFileError(f"entry {name!r} appears twice.")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 0x1:
            raise ModelFileError(f"entry {name!r} is compressed or encrypted; entries are stored as they are.")
        if not 0 <= info.header_offset < size:
            raise ModelFileError(f"entry {name!r} is said to begin outside the file.")
        entries[name] = info
    if sum(info.file_size for info in entries.values()) > size:
        raise ModelFileError("its entries claim more bytes than the file has.")
    return entries


def _member(item: Any, size: int) -> _Array:
    """Check one line of the list of arrays; what comes back cannot need more memory than the file has bytes."""
    if not isinstance(item, dict) or set(item) != {"name", "dtype", "shape"}:
        raise ModelFileError("an array is listed without exactly a name, a dtype and a shape.")
    name, dtype, shape = item["name"], item["dtype"], item["shape"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelFileError("an array name is not 1 to 100 letters, digits and underscores.")
    if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
        raise ModelFileError(f"array {name!r}: its dtype is not one of numbers, booleans or strings.")
    if (
        not isinstance(shape, list)
        or len(shape) > _MAX_DIMENSIONS
        or not all(type(length) is int and 0 <= length <= size for length in shape)
    ):
        raise ModelFileError(f"array {name!r}: its shape is not a short list of sizes that the file could hold.")
    member = _Array(name, np.dtype(dtype), tuple(shape))
    # An empty array counts its other sides too: (0, 10**9) would invite whoever loops over them.
    if prod(length or 1 for length in shape) * member.dtype.itemsize > size:
        raise ModelFileError(f"array {name!r}: {dtype} of shape {member.shape} is larger than the file.")
    return member


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, member: _Array) -> NDArray[Any]:
    array = np.empty(member.shape, dtype=member.dtype)
    view = array.reshape(-1).view(np.uint8).data if member.n_bytes else memoryview(bytearray())
    with archive.open(info) as entry:
        if entry.read(len(member.head)) != member.head:
            raise ModelFileError(
                f"array {member.name!r} does not begin as {member.dtype} of shape {member.shape} does."
            )
        done = 0
        while done < len(view):
            piece = entry.read(min(CHUNK, len(view) - done))
            if not piece:
                raise ModelFileError(f"array {member.name!r} ends early.")
            view[done : done + len(piece)] = piece
            done += len(piece)
        entry.read(1)  # at its end zipfile compares the checksum
    kind = member.dtype.kind
    if kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError(f"array {member.name!r} has a boolean that is neither true nor false.")
    if kind == "U" and array.size and array.reshape(-1).view("<u4").max() > 0x10FFFF:
        raise ModelFileError(f"array {member.name!r} has a character that does not exist.")
    return array.astype(member.dtype.newbyteorder("="), copy=False)
