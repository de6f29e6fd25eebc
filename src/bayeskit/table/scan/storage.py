"""Where files are stored besides this machine's disks: what an Arrow or fsspec filesystem reads, named by a URL."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from bayeskit.errors import TableError

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# Options of a filesystem at the end of a URL, as in ?region=us-east-1&scheme=http.
_OPTIONS = re.compile(r"\?[A-Za-z_]+=[^/]*$")
MAGIC = re.compile(r"[*?[]")


@dataclass(frozen=True, eq=False)  # a filesystem has no hash
class Storage:
    """A filesystem and what stands before its paths in messages; credentials are the filesystem's affair."""

    filesystem: Any  # pyarrow.fs.FileSystem, which can be sent to workers
    prefix: str

    def shown(self, path: str) -> str:
        """Return the path as the user wrote it."""
        return f"{self.prefix}{path}"

    def open(self, path: str) -> Any:
        """Open a file for reading at any place."""
        return self.filesystem.open_input_file(path)

    def stream(self, path: str) -> IO[bytes]:
        """Open a file for reading from its beginning."""
        opened: IO[bytes] = self.filesystem.open_input_file(path)
        return opened

    def files(self, folder: str) -> list[str]:
        """Return all files below a folder."""
        from pyarrow.fs import FileSelector, FileType

        below = self.filesystem.get_file_info(FileSelector(folder, recursive=True))
        return sorted(info.path for info in below if info.type == FileType.File)

    def is_folder(self, path: str) -> bool:
        """Return whether a folder of this name is there."""
        from pyarrow.fs import FileType

        return bool(self.filesystem.get_file_info(path).type == FileType.Directory)

    def is_file(self, path: str) -> bool:
        """Return whether a file of this name is there."""
        from pyarrow.fs import FileType

        return bool(self.filesystem.get_file_info(path).type == FileType.File)


def is_url(source: Any) -> bool:
    """Return whether this is text such as ``s3://bucket/days``.

    >>> is_url("s3://bucket/days"), is_url("C://days"), is_url("days/a.csv")
    (True, False, False)
    """
    return isinstance(source, str) and _URL.match(source) is not None


def local_path(source: Any) -> Any:
    """Return the path of a ``file://`` URL; anything else as it is.

    >>> local_path("file:///tmp/a%20b.csv")
    '/tmp/a b.csv'
    """
    if not (isinstance(source, str) and source.lower().startswith("file://")):
        return source
    return unquote(urlsplit(source).path)


def resolve(url: str) -> tuple[Storage, str]:
    """Return the storage of a URL and the path there; the signs of a glob stay in the path."""
    scheme = _URL.match(url)
    assert scheme is not None
    if scheme[1].lower() in ("http", "https"):
        plain, magic = url, ""
    else:
        # A filesystem is asked for the part without signs of a glob, some of which no URL may hold; its options stay.
        options = _OPTIONS.search(url)
        place, query = (url, "") if options is None else (url[: options.start()], options[0])
        sign = MAGIC.search(place)
        cut = len(place) if sign is None else place.rindex("/", 0, sign.start()) + 1
        plain, magic = place[:cut] + query, place[cut:]
    filesystem, path = _filesystem(plain, scheme[1].lower())
    prefix = "" if path.startswith(f"{scheme[1]}://") else f"{scheme[1]}://"
    return Storage(filesystem, prefix), f"{path.rstrip('/')}/{magic}" if magic else path.rstrip("/")


def given(filesystem: Any) -> Storage:
    """Return the storage of a filesystem that the user made: pyarrow's or fsspec's."""
    import pyarrow.fs as pafs

    if isinstance(filesystem, pafs.FileSystem):
        return Storage(filesystem, "")
    if hasattr(filesystem, "protocol") and hasattr(filesystem, "open"):
        return Storage(pafs.PyFileSystem(pafs.FSSpecHandler(filesystem)), "")
    raise TableError(f"filesystem must be a filesystem of pyarrow.fs or of fsspec; got {type(filesystem).__name__}.")


def _filesystem(url: str, scheme: str) -> tuple[Any, str]:
    """Return Arrow's filesystem for a URL where Arrow has one, and otherwise fsspec's."""
    import pyarrow as pa
    import pyarrow.fs as pafs

    try:
        return pafs.FileSystem.from_uri(url)  # type: ignore[no-any-return]
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem type" not in str(error):
            raise TableError(f"'{url}' is no URL that Arrow can read: {first_line(error)}") from error
    except (OSError, pa.ArrowException) as error:
        raise unreadable(url, error) from error
    try:
        import fsspec.core
    except ImportError:
        raise TableError(f"'{url}': a table at {scheme}:// is read by fsspec: pip install fsspec.") from None
    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except (ValueError, ImportError) as error:  # no such scheme, or a package that it needs
        raise TableError(f"'{url}' cannot be read: {first_line(error)}") from error
    return pafs.PyFileSystem(pafs.FSSpecHandler(filesystem)), str(path)


@contextmanager
def in_words(where: str) -> Iterator[None]:
    """Raise what a filesystem says as an error that names the place."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise unreadable(where, error) from error


def unreadable(where: str, error: Exception) -> TableError:
    """Return the error for a place that cannot be read, in the filesystem's own words."""
    return TableError(f"'{where}' cannot be read: {first_line(error)}")


def first_line(error: BaseException) -> str:
    """Return what an error says, without what follows in further lines."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True)
class FileAt:
    """A file of a table: where it is stored, and the folders between what was scanned and the file."""

    path: str
    storage: Storage | None = None
    folders: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The file as the user wrote it."""
        return self.path if self.storage is None else self.storage.shown(self.path)

    def open(self) -> Any:
        """Open the file for reading at any place."""
        import pyarrow as pa

        return pa.OSFile(self.path) if self.storage is None else self.storage.open(self.path)

    def start(self) -> bytes:
        """Return the first bytes."""
        if self.storage is None:
            with Path(self.path).open("rb") as file:
                return file.read(8)
        with self.storage.open(self.path) as file:
            return bytes(file.read(8))

    def size(self) -> int:
        """Return the number of bytes; 0 where the storage does not know it."""
        if self.storage is None:
            return os.path.getsize(self.path)
        return int(self.storage.filesystem.get_file_info(self.path).size or 0)
