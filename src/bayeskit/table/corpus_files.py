"""Texts with labels from JSON Lines, CSV, Parquet, mailboxes, or a folder tree: read in batches, in constant memory."""

from __future__ import annotations

import codecs
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError
from bayeskit.progress import Progress, report_step
from bayeskit.table.files import TableFile
from bayeskit.table.formats.csv import CsvReader
from bayeskit.table.formats.encodings import check_encoding
from bayeskit.table.formats.jsonl import JsonRows
from bayeskit.table.labels import without_unlabeled
from bayeskit.table.mail import COLUMNS as MAIL
from bayeskit.table.mail import is_mailbox, messages
from bayeskit.table.names import not_found
from bayeskit.table.raw_file import STDIN, RawFile, open_raw
from bayeskit.table.scan.files import list_files

# Characters of text in a batch.
_BATCH = 1 << 22
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# What a column of texts, and one of labels, is usually called.
_TEXT, _TARGET = ("text", "document", "body", "content", "sentence"), ("label", "target", "class", "category")

Batch = tuple[list[str], list[Any] | None]


@dataclass(frozen=True)
class TextSource:
    """Texts, and labels where they are known, that can be iterated several times, batch by batch.

    Parameters
    ----------
    path : Path
        A ``.jsonl``, CSV or Parquet file, or a folder with one folder per class; of several files, the first.
    text, target : str, optional
        The columns of the texts and of the labels, for a file.
    encoding : str
        The encoding of the bytes.
    errors : {"strict", "replace"}
        What to do with bytes that are not valid in this encoding.
    """

    path: Path
    text: str | None
    target: str | None
    encoding: str = "utf-8"
    errors: str = "strict"
    # Called after each batch with how much has been read: bytes of JSON Lines, files of a folder, else characters.
    progress: Progress | None = None
    more: tuple[Path, ...] = ()  # further files, which are read after the first
    labeled_only: bool = False  # whether documents without a label are left out; otherwise they are an error

    @property
    def size(self) -> int | None:
        """Bytes of the files, where they are known."""
        return sum(path.stat().st_size for path in (self.path, *self.more)) if self.path.is_file() else None

    @property
    def shown(self) -> str:
        """The source as messages show it."""
        return f"{1 + len(self.more):,} files" if self.more else repr(str(self.path))

    def following(self, progress: Progress | None) -> TextSource:
        """Return the same source with a progress callback."""
        return replace(self, progress=progress)

    def labeled(self) -> TextSource:
        """Return the same source without the documents that have no label."""
        if self.target is None:
            raise TableError(f"{self.shown} has no labels; say which column holds them: read_texts(…, target=…).")
        return replace(self, labeled_only=True)

    def __iter__(self) -> Iterator[Batch]:
        """Yield (texts, labels), a batch at a time; the labels are None where there is no target."""
        for texts, labels, _ in self.batches():
            if texts:
                yield texts, labels if self.target is not None else None

    def batches(self) -> Iterator[tuple[list[str], list[Any], int]]:
        """Yield texts, labels, and how many documents between them were left out."""
        texts: list[str] = []
        labels: list[Any] = []
        size = left_out = done = 0
        for text, label, done in self._rows():
            if label is None and self.target is not None:
                left_out += 1
                continue
            texts.append(text)
            labels.append(label)
            size += len(text)
            if size >= _BATCH:
                yield texts, labels, left_out
                report_step(self.progress, self.shown, done, self.size)
                texts, labels, size, left_out = [], [], 0, 0
        if texts or left_out:
            yield texts, labels, left_out
            report_step(self.progress, self.shown, done, self.size)

    def _refuse_unlabeled(self, where: str) -> None:
        if not self.labeled_only:
            raise TableError(
                f"{where}: a label is missing in {self.target!r}. {without_unlabeled('drop_unlabeled(read_texts(…))')}"
            )

    def _rows(self) -> Iterator[tuple[str, Any, int]]:
        before = 0
        for path in (self.path, *self.more):
            done, one = before, replace(self, path=path, more=())
            for text, label, in_file in one._folder() if path.is_dir() else one._file():
                done = before + in_file
                yield text, label, done
            before = done

    def _file(self) -> Iterator[tuple[str, Any, int]]:
        if is_mailbox(self.path):
            return (
                (message[self.text or "text"], message.get(self.target or ""), done)
                for message, done in messages(self.path)
            )
        return self._json_lines() if _is_json(self.path) else self._table()

    def _json_lines(self) -> Iterator[tuple[str, Any, int]]:
        raw = open_raw(self.path)
        for number, row, done in json_lines(raw, self.encoding, self.errors):
            where = f"{raw.shown}, line {number}"
            text = row.get(self.text or "")
            if not isinstance(text, str):
                if self.text not in row:
                    raise TableError(f"{where}: {not_found('key', str(self.text), tuple(row))}")
                raise TableError(f"{where}: the key {self.text!r} must hold text; got {text!r:.60}.")
            label = None
            if self.target is not None:
                label = row.get(self.target)
                if isinstance(label, list | dict):
                    raise TableError(f"{where}: the key {self.target!r} must hold a label; got {label!r:.60}.")
                if label is None:
                    self._refuse_unlabeled(where)
            yield text, label, done

    def _table(self) -> Iterator[tuple[str, Any, int]]:
        import pyarrow as pa

        file = TableFile.open(self.path, self.encoding, detect=False)
        wanted = [name for name in (self.text, self.target) if name is not None]
        file.refuse_absent(tuple(wanted), "texts")
        row = done = 0
        reader = file.reader
        if isinstance(reader, CsvReader):  # a document may be the word NA, and an empty cell is an empty document
            reader = replace(reader, missing=("",), errors=self.errors)
        for batch in reader.batches({name: pa.string() for name in wanted}):
            texts = batch.column(0).to_pylist()
            labels = batch.column(1).to_pylist() if self.target is not None else [None] * len(texts)
            for text, label in zip(texts, labels, strict=True):
                row += 1
                if self.target is not None and label is None:
                    self._refuse_unlabeled(f"{self.path.name!r}, row {row}")
                done += len(text or "")
                yield text or "", label, done  # an empty cell is an empty document

    def _folder(self) -> Iterator[tuple[str, Any, int]]:
        classes = sorted(entry for entry in self.path.iterdir() if entry.is_dir())
        done = 0
        for folder in classes or [self.path]:
            for file in sorted(entry for entry in folder.rglob("*") if entry.is_file()):
                done += 1
                yield decode(file.read_bytes(), self.encoding, self.errors, str(file)), folder.name, done


def json_lines(raw: RawFile, encoding: str, errors: str) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Yield the objects of a JSON Lines file, each with its line and how many bytes have been read."""
    if raw.head.startswith((b"\xff\xfe", b"\xfe\xff")) and not encoding.lower().replace("_", "-").startswith("utf-16"):
        raise TableError(f"{raw.shown} begins with the byte order mark of UTF-16: give encoding='utf-16'.", "encoding")
    rows = JsonRows(raw, encoding)
    if codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):  # where a line's end is more than one byte
        for number, row in rows:
            yield number, row, 0
        return
    done = 0
    with raw.open() as file:
        for number, line in enumerate(file, 1):
            text = decode(line, encoding, errors, raw.name, f", line {number}", done)
            done += len(line)
            if not text.isspace():
                yield number, rows.parse(text.rstrip(), number), done


def decode(data: bytes, encoding: str, errors: str, name: str, line: str = "", before: int = 0) -> str:
    """Return bytes as text; a byte order mark overrides the given encoding.

    >>> decode("né".encode("latin-1"), "utf-8", "strict", "note.txt")
    Traceback (most recent call last):
    ...
    bayeskit.errors.TableError: 'note.txt', byte 1: 0xe9 is not utf-8 text. Give the encoding, such as gb18030 ...
    """
    mark = next((mark for mark in _MARKS if data.startswith(mark)), None)
    if mark is not None:
        encoding = _MARKS[mark]
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise TableError(
            f"{name!r}{line}, byte {before + error.start}: 0x{data[error.start]:02x} is not {encoding} text. Give the "
            "encoding, such as gb18030 for Chinese or cp1252 for Western Windows files, or errors='replace' to read "
            "such bytes as �.",
            "encoding",
        ) from None


def read_texts(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    text: str | None = None,
    target: str | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> TextSource:
    """Open texts in files or a folder tree, to fit or predict in constant memory.

    Parameters
    ----------
    path : str, path or list of them
        A JSON Lines (``.jsonl``, ``.ndjson``), CSV, Parquet or ``.mbox`` file, plain or ``.gz``; a glob that names
        several, a list of them, or, where ``text`` is given, a folder of them; or a folder with one folder of text
        files per class, or, to predict, a folder of text files.
    text, target : str, optional
        The column of the texts and the one of the labels. By default a column called text, document, body, content or
        sentence, and one called label, target, class or category. In a folder tree the label is the folder's name;
        of several ``.mbox`` files it is the name of the mailbox. A message has the columns text (its subject and body),
        subject, from and mailbox.
    encoding : str, default "utf-8"
        The encoding; a byte order mark at the beginning of a file overrides it.
    errors : {"strict", "replace"}, default "strict"
        Whether invalid bytes are an error, or read as �.

    Returns
    -------
    TextSource
        It can be given to ``fit``, ``partial_fit``, ``predict`` and ``score`` in the place of a list of texts.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.jsonl"
    >>> _ = path.write_text('{"text": "cheap pills", "label": "spam"}\\n{"text": "see you", "label": "ham"}\\n')
    >>> list(read_texts(path))
    [(['cheap pills', 'see you'], ['spam', 'ham'])]
    """
    return open_texts(path, text, target, encoding, errors)


def open_texts(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    text: str | None,
    target: str | None,
    encoding: str = "utf-8",
    errors: str = "strict",
    remembered: tuple[str | None, str | None] = (None, None),
) -> TextSource:
    """Open texts as :func:`read_texts` does; columns called as in training are taken before those of usual names."""
    check_encoding(encoding)
    if errors not in ("strict", "replace"):
        raise TableError(f"errors must be 'strict' or 'replace'; got {errors!r}.")
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not given:
        raise TableError("name at least one file of texts; got an empty list.")
    if any(os.fspath(each) == STDIN for each in given):
        raise TableError("texts are read from a file or a folder that can be read again, not from standard input.")
    if len(given) == 1 and text is None and Path(given[0]).is_dir():
        folder = Path(given[0])
        _refuse_empty(folder)
        labelled = any(entry.is_dir() for entry in folder.iterdir())
        return TextSource(folder, None, "folder" if labelled else None, encoding, errors)
    return _text_files(_files_of(given), text, target, encoding, errors, remembered)


def _files_of(given: list[str | os.PathLike[str]]) -> list[Path]:
    one = Path(given[0]) if len(given) == 1 else None
    # One name that is no glob goes to the reader though there is no such file, which suggests similar names.
    if one is not None and not one.is_dir() and (one.exists() or not glob.has_magic(str(one))):
        return [one]
    return list_files(given)


def _text_files(
    paths: list[Path],
    text: str | None,
    target: str | None,
    encoding: str,
    errors: str,
    remembered: tuple[str | None, str | None],
) -> TextSource:
    """Return the texts of files that all have the columns of the first."""
    first, *more = paths
    names, shown = _names(first, encoding, errors)
    if target is None and more and all(map(is_mailbox, paths)):
        target = "mailbox"
    columns = [
        _column(name, (before, *usual), names, shown)
        for name, before, usual in zip((text, target), remembered, (_TEXT, _TARGET), strict=True)
    ]
    if columns[0] is None:
        raise TableError(
            f"{shown} has the columns {', '.join(map(repr, names))}; name the one that holds the texts.", "text"
        )
    for other in more:
        theirs, shown = _names(other, encoding, errors)
        for name in columns:
            if name is not None and name not in theirs:
                raise TableError(f"{shown}, unlike {str(first)!r}: {not_found('column', name, theirs)}")
    return TextSource(first, columns[0], columns[1], encoding, errors, more=tuple(more))


def _names(path: Path, encoding: str, errors: str) -> tuple[tuple[str, ...], str]:
    """Return the columns of a file, or the keys of its first JSON object, and the file as messages show it."""
    raw = open_raw(path)
    if is_mailbox(path):
        return MAIL, raw.shown
    if _is_json(path):
        names = tuple(next(json_lines(raw, encoding, errors), (0, {}, 0))[1])
    else:
        names = TableFile.open(path, encoding, detect=False).names
    if not names:
        raise TableError(f"{raw.shown} has no text: it is empty, or its JSON objects are.")
    return names, raw.shown


def _is_json(path: Path) -> bool:
    return os.fspath(path).removesuffix(".gz").endswith((".jsonl", ".ndjson"))


def _column(name: str | None, usual: tuple[str | None, ...], names: tuple[str, ...], shown: str) -> str | None:
    if name is None:
        return next((each for each in usual if each in names), None)
    if name not in names:
        raise TableError(f"{shown}: {not_found('column', name, names)}")
    return name


def _refuse_empty(folder: Path) -> None:
    if not any(entry.is_file() for entry in folder.rglob("*")):
        raise TableError(f"{str(folder)!r} is a directory without a file; texts need one folder of files per class.")
