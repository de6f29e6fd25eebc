"""Columns of free text in a table: the words of their cells, counted within each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import ModelFileError
from bayeskit.table.tokenizer import Tokenizer

# How the cells of a column of text become words.
TEXT_TOKENS = Tokenizer()


def text_classes(classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes under which words are counted; without a class all documents are of one."""
    return np.zeros(1, dtype=np.int64) if classes is None else classes


def count_texts(
    texts: NDArray[Any], y: NDArray[Any], classes: NDArray[Any] | None, weight: NDArray[np.float64] | None
) -> TokenCounts:
    """Count the words of a column of strings; a missing cell (None) is no document.

    Examples
    --------
    >>> cells = np.array(["cheap pills", None, "cheap"], dtype=object)
    >>> words = count_texts(cells, np.array([1, 0, 1]), np.array(["ham", "spam"]), None)
    >>> words.n_class, words.words, words.n_token
    (array([0, 2]), ['cheap', 'pills'], array([2, 1]))
    """
    known = np.flatnonzero(np.array([text is not None for text in texts], dtype=bool))
    labels = text_classes(classes)
    of_rows = None if weight is None else weight[known]
    counts = TokenCounts.of(texts[known].tolist(), np.asarray(y)[known], labels, TEXT_TOKENS, of_rows)
    return counts.under(labels)


def no_texts(classes: NDArray[Any] | None) -> TokenCounts:
    """Return the counts of a column of text of which no cell is known."""
    return count_texts(np.empty(0, dtype=object), np.empty(0, dtype=np.int64), classes, None)


def texts_from_parts(
    fields: Sequence[dict[str, Any]], arrays: dict[str, NDArray[Any]], n_columns: int, classes: NDArray[Any] | None
) -> tuple[TokenCounts, ...]:
    """Read the words of the columns of text from a model file; their classes must be those of the table."""
    if len(fields) != n_columns:
        raise ModelFileError(f"there are {n_columns} columns of text and the words of {len(fields)}.")
    texts = []
    for k, each in enumerate(fields):
        start = f"text{k}_"
        parts = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
        words = TokenCounts.from_parts(each, parts)
        if not np.array_equal(words.classes, text_classes(classes)) or words.tokenizer != TEXT_TOKENS:
            raise ModelFileError("the words of a column of text are of other classes than the table, or cut otherwise.")
        texts.append(words)
    return tuple(texts)
