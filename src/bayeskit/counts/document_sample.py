"""A sample of the documents that were counted, as bags of words: it adds and subtracts with their counts.

It holds the documents with the smallest hashes. So it is the same for any order and any split of the documents, and
that of two corpora follows from the samples of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array
from bayeskit.table.tokenizer import Tokenizer

# Documents that are kept: enough for two or three numbers that are fitted to them.
MOST_DOCUMENTS = 500
# A longer document is a book, and would be most of the sample.
MOST_CHARACTERS = 1 << 18

Bag = tuple[tuple[str, int], ...]  # a document: each of its words with how often it comes, in the order of letters


@dataclass(frozen=True, eq=False)
class DocumentSample:
    """The different documents with the smallest hashes, each with its class and how often it was counted.

    Examples
    --------
    >>> sample = DocumentSample.of(["to be or not to be"], np.array([0]), None, Tokenizer())
    >>> sample.bags
    ((('be', 2), ('not', 1), ('or', 1), ('to', 2)),)
    """

    keys: NDArray[np.uint64]  # (n_documents,) rising
    y: NDArray[np.int64]  # (n_documents,) positions among the classes
    weight: NDArray[np.float64]  # (n_documents,)
    bags: tuple[Bag, ...]

    @classmethod
    def none(cls) -> DocumentSample:
        """Return the sample of no document."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0), ())

    @classmethod
    def of(
        cls, texts: Sequence[str], y: NDArray[Any], weight: NDArray[np.float64] | None, tokenizer: Tokenizer
    ) -> DocumentSample:
        """Return the sample of some documents; only those that it keeps are cut into words here."""
        short = np.array([i for i, text in enumerate(texts) if len(text) <= MOST_CHARACTERS], dtype=np.intp)
        keys = np.zeros(len(texts), dtype=np.uint64)
        keys[short] = [_hash(texts[i]) for i in short.tolist()]
        kept = short
        if len(short) > MOST_DOCUMENTS:
            limit = np.partition(keys[short], MOST_DOCUMENTS)[MOST_DOCUMENTS]
            kept = short[keys[short] <= limit]  # and all copies of the last one
        bags = tuple(tuple(sorted(Counter(tokenizer.split(texts[i])).items())) for i in kept.tolist())
        counted = np.ones(len(kept)) if weight is None else np.asarray(weight, dtype=np.float64)[kept]
        return cls(keys[kept], np.asarray(y, dtype=np.int64)[kept], counted, bags).merged()

    def merged(self) -> DocumentSample:
        """Return it with equal documents of one class as one, in the order of hashes, cut to its largest size."""
        order = np.lexsort([self.y, self.keys])
        keys, y = self.keys[order], self.y[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (keys[1:] != keys[:-1]) | (y[1:] != y[:-1])
        first = order[new]
        weight = np.bincount(np.cumsum(new) - 1, self.weight[order], len(first)).astype(np.float64)
        first, weight = first[:MOST_DOCUMENTS], weight[:MOST_DOCUMENTS]
        return DocumentSample(self.keys[first], self.y[first], weight, tuple(self.bags[i] for i in first.tolist()))

    def __add__(self, other: DocumentSample) -> DocumentSample:
        keys, y, weight = (np.concatenate([getattr(s, n) for s in (self, other)]) for n in ("keys", "y", "weight"))
        return DocumentSample(keys, y, weight, self.bags + other.bags).merged()

    def __sub__(self, other: DocumentSample) -> DocumentSample:
        # Documents that the sample does not hold are no part of it; that they were counted, the counts have checked.
        theirs = zip(other.keys.tolist(), other.y.tolist(), strict=True)
        taken = dict(zip(theirs, other.weight.tolist(), strict=True))
        here = zip(self.keys.tolist(), self.y.tolist(), strict=True)
        rest = self.weight - np.array([taken.get(pair, 0.0) for pair in here])
        return self._take(np.flatnonzero(rest > 1e-9), rest)

    def _take(self, rows: NDArray[np.intp], weight: NDArray[np.float64]) -> DocumentSample:
        return DocumentSample(self.keys[rows], self.y[rows], weight[rows], tuple(self.bags[i] for i in rows.tolist()))

    def relabelled(self, place: NDArray[np.int64]) -> DocumentSample:
        """Return it with class c at ``place[c]``."""
        return replace(self, y=place[self.y].astype(np.int64)) if len(self.y) else self

    # -- files ------------------------------------------------------------------------------------------------------

    def to_parts(self) -> dict[str, NDArray[Any]]:
        """Return its arrays for a file: words are written once."""
        words = sorted({word for bag in self.bags for word, _ in bag})
        place = {word: k for k, word in enumerate(words)}
        written = [word.encode("utf-8", "surrogatepass") for word in words]
        ends = np.cumsum([0, *map(len, written)])
        return {
            "sample_keys": self.keys,
            "sample_y": self.y,
            "sample_weight": self.weight,
            "sample_at": np.cumsum([0, *map(len, self.bags)]).astype(np.int64),
            "sample_word": np.array([place[word] for bag in self.bags for word, _ in bag], dtype=np.int64),
            "sample_times": np.array([times for bag in self.bags for _, times in bag], dtype=np.int64),
            "sample_bytes": np.frombuffer(b"".join(written), dtype=np.uint8),
            "sample_offsets": ends.astype(np.int64),
        }

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], n_classes: int) -> DocumentSample | None:
        """Read what :meth:`to_parts` gave; None where a file has no sample."""
        if "sample_keys" not in arrays:
            return None
        n = arrays["sample_keys"].size
        keys = expect_array(arrays, "sample_keys", np.uint64, (n,))
        y = expect_array(arrays, "sample_y", np.int64, (n,))
        weight = expect_array(arrays, "sample_weight", np.float64, (n,))
        at = expect_array(arrays, "sample_at", np.int64, (n + 1,))
        n_cells, n_words = arrays["sample_word"].size, arrays["sample_offsets"].size - 1
        word = expect_array(arrays, "sample_word", np.int64, (n_cells,))
        times = expect_array(arrays, "sample_times", np.int64, (n_cells,))
        offsets = expect_array(arrays, "sample_offsets", np.int64, (n_words + 1,))
        data = expect_array(arrays, "sample_bytes", np.uint8, (arrays["sample_bytes"].size,)).tobytes()
        rising = all(
            ends[0] == 0 and ends[-1] == last and not (np.diff(ends) < 0).any()
            for ends, last in ((at, n_cells), (offsets, len(data)))
        )
        fits = not n or (y.min() >= 0 and y.max() < n_classes and np.isfinite(weight).all() and (weight > 0).all())
        held = not n_cells or (word.min() >= 0 and word.max() < n_words and times.min() > 0)
        if n > MOST_DOCUMENTS or not (rising and fits and held) or (np.diff(keys.astype(object)) < 0).any():
            raise ModelFileError("the sample of documents does not fit its counts.")
        words = [data[offsets[k] : offsets[k + 1]].decode("utf-8", "surrogatepass") for k in range(n_words)]
        cells = [(words[w], t) for w, t in zip(word.tolist(), times.tolist(), strict=True)]
        return cls(keys, y, weight, tuple(tuple(cells[at[i] : at[i + 1]]) for i in range(n)))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
