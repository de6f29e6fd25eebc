"""Texts to learn from, each with its class and its weight, from any kind of source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.counts.tokens import Batch
from bayeskit.errors import TableError
from bayeskit.learn.checks import rows_and_labels
from bayeskit.learn.plan import labelled_batches
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.tokenizer import read_documents


class LabelledTexts:
    """Texts with labels, from any kind of source, as batches that can be iterated again."""

    def __init__(self, X: Any, y: Any, sample_weight: Any, target: str | None, who: str) -> None:
        self.target = target
        self.weighted = sample_weight is not None
        self._source = X if isinstance(X, TextSource) else None
        if self._source is not None:
            if y is not None or sample_weight is not None:
                raise TableError("a TextSource has its own labels; leave y and sample_weight out.")
            if self._source.target is None:
                raise TableError(
                    f"{str(self._source.path)!r} has no labels; say which column holds them: read_texts(…, target=…)."
                )
            return
        X, y = rows_and_labels(X, y, target, who, split_text)
        texts = read_documents(X)
        if not texts:
            raise TableError("Found array with 0 sample(s) while a minimum of 1 is required: there is no document.")
        weight = read_weight(sample_weight, len(texts))
        classes, codes = read_labels(y, len(texts))
        if weight is not None and not weight.all():  # documents of zero weight are as if they were not there
            rows = np.flatnonzero(weight)
            texts, weight = [texts[i] for i in rows.tolist()], np.ascontiguousarray(weight[rows])
            kept, codes = np.unique(codes[rows], return_inverse=True)
            classes = classes[kept]
        self._batch: Batch = (texts, codes, classes, weight)

    def __iter__(self) -> Iterator[Batch]:
        if self._source is None:
            yield self._batch
            return
        for texts, labels in self._source:
            classes, codes = read_labels(labels)
            yield texts, codes, classes, None


# Characters of text that are made strings at once.
_AT_ONCE = 1 << 22


@dataclass
class TextBatches:
    """Texts of the batches of some pieces of a scan, with their labels; a few megabytes are strings at a time."""

    readers: Iterable[Iterable[Any]]
    text: str
    target: str
    weight: str | None
    n_rows: int = 0  # that were read

    def __iter__(self) -> Iterator[Batch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        for batches in self.readers:
            for batch in labelled_batches(batches, self.target):
                table = pa.Table.from_batches([batch])
                if self.weight is not None:
                    table = table.filter(pc.not_equal(table[self.weight], 0))
                if table.num_rows:
                    yield from self._strings(table)

    def _strings(self, table: Any) -> Iterator[Batch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = table[self.text]
        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(texts.type.value_type)
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type) or pa.types.is_null(texts.type)):
            raise TableError(f"column {self.text!r} must hold texts; it holds {texts.type}.")
        texts = pc.fill_null(texts.cast(pa.large_string()), "")  # an empty cell is an empty document
        ends = np.cumsum(np.asarray(pc.binary_length(texts), dtype=np.int64))
        first = 0
        while first < len(texts):
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
            some = slice(first, last)
            weight = None if self.weight is None else np.asarray(table[self.weight][some], dtype=np.float64)
            classes, codes = read_labels(table[self.target][some])
            self.n_rows += last - first
            yield texts[some].to_pylist(), codes, classes, read_weight(weight, last - first)
            first = last


def split_text(X: Any, target: str) -> tuple[Any, Any]:
    """Return the texts and the labels of a table of two columns."""
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "columns", ()))
    if target not in names or len(names) != 2:
        raise TableError(
            f"with target={target!r}, X is a table of two columns, the texts and {target!r}; got "
            f"{', '.join(map(repr, names)) if names else type(X).__name__}."
        )
    return X[next(name for name in names if name != target)], X[target]
