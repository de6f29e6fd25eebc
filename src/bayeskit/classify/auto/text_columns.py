"""Columns of free text among others: object arrays of strings, None where a cell is missing."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray


def known_texts(texts: NDArray[Any]) -> NDArray[np.intp]:
    """Return where a column of text is not missing."""
    return np.flatnonzero(np.array([text is not None for text in texts], dtype=bool))


def as_levels(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns in which a text is one value, or a missing cell: what it says is left to members that read it.

    >>> as_levels([np.array(["cheap pills", None], dtype=object)])
    [array([  0, 255], dtype=uint8)]
    """
    return [_present(column) if column.dtype.kind == "O" else column for column in columns]


def _present(texts: NDArray[Any]) -> NDArray[np.uint8]:
    return np.array([255 if text is None else 0 for text in texts], dtype=np.uint8)


def as_keys(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns by which rows are told apart and sorted: texts are numbered in the order of their hashes.

    So the order of rows that differ by their texts alone is random, and the same for any order in which they came.
    """
    return [_numbered(column) if column.dtype.kind == "O" else column for column in columns]


def _numbered(texts: NDArray[Any]) -> NDArray[np.uint32]:
    known = known_texts(texts)
    numbers = np.zeros(len(texts), dtype=np.uint32)
    numbers[known] = np.unique(digests(texts[known].tolist()), return_inverse=True)[1] + 1
    return numbers


def digests(texts: list[str]) -> NDArray[np.uint64]:
    """Return a hash of each text: what is chosen by it does not depend on the order of the texts."""
    written = (text.encode("utf-8", "surrogatepass") for text in texts)
    return np.array([int.from_bytes(blake2b(each, digest_size=8).digest()) for each in written], dtype=np.uint64)
