"""Token counts per class: sparse, over a vocabulary that grows, as one value that adds and subtracts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import TokenCounter, count_classes
from bayeskit.counts.class_labels import read_classes, union_classes
from bayeskit.counts.document_sample import DocumentSample
from bayeskit.errors import MergeError, ModelFileError, TooLargeError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema, Variable
from bayeskit.table.tokenizer import UNITS, Tokenizer

# Words that many classes have keep a number for every class.
MOST_CLASSES = 1 << 16

Weight = NDArray[np.float64] | None
# Texts, their class codes, the classes, and weights.
Batch = tuple[Sequence[str], NDArray[Any], NDArray[Any], Weight]


@dataclass(frozen=True, eq=False)
class FrozenIdf:
    """Inverse document frequencies of a vocabulary, as they were when they were frozen."""

    bytes: NDArray[np.uint8]
    offsets: NDArray[np.int64]  # (n_words + 1,)
    idf: NDArray[np.float64]  # (n_words,)
    later: float  # of words that came after

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenIdf) and all(
            np.array_equal(ours, theirs) for ours, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Transform:
    r"""The transform of a document's counts :math:`d_i` before they are added, in the order of Rennie et al. (2003).

    .. math:: t_i = \log(1 + d_i), \quad u_i = t_i \log\frac{N}{n_i}, \quad
              v_i = u_i \big/ \sqrt{\textstyle\sum_k u_k^2}

    Each step is optional. The inverse document frequency needs all documents: it is applied at estimation where no
    length follows, and is frozen here where one does.
    """

    tf: bool = False
    length: bool = False
    frozen: FrozenIdf | None = None

    @property
    def is_plain(self) -> bool:
        """Whether counts stay whole numbers."""
        return not (self.tf or self.length or self.frozen is not None)


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """How often each token occurs in the documents of each class, and in how many of them.

    Tokens are numbered in order of first appearance and kept as one array of bytes; the counts are kept in compressed
    rows: word w owns the cells ``indptr[w]:indptr[w + 1]``. ``a + b`` is what one pass over both corpora gives,
    ``a - b`` subtracts documents; integer counts do so exactly. All words are kept: a vocabulary is pruned when
    counts become probabilities.

    Examples
    --------
    >>> a = TokenCounts.of(["to be or not to be"], np.array([0]), np.array(["hamlet"]), Tokenizer())
    >>> a.words, a.n_token, a.n_document
    (['to', 'be', 'or', 'not'], array([2, 2, 1, 1]), array([1, 1, 1, 1]))
    """

    tokenizer: Tokenizer
    transform: Transform
    classes: NDArray[Any]  # (n_classes,), rising
    n_class: NDArray[Any]  # (n_classes,) documents, or their weight
    bytes: NDArray[np.uint8]  # the words in UTF-8, one after the other
    offsets: NDArray[np.int64]  # (n_words + 1,)
    indptr: NDArray[np.int64]  # (n_words + 1,)
    codes: NDArray[np.int64]  # (n_cells,) classes
    n_token: NDArray[Any]  # (n_cells,)
    n_document: NDArray[Any]  # (n_cells,)
    declared_classes: bool = False
    # Some of the documents, by which a classifier learns how sure it may be; None where none are kept.
    sample: DocumentSample | None = None

    @property
    def schema(self) -> Schema:
        """One column of text."""
        return Schema((Variable("text", "text"),), named=False)

    @property
    def n_words(self) -> int:
        """The number of distinct tokens."""
        return len(self.offsets) - 1

    @cached_property
    def words(self) -> list[str]:
        """The tokens in order of first appearance; with hashing, the buckets that are not empty."""
        data, ends = self.bytes.tobytes(), self.offsets.tolist()
        pieces = [data[ends[k] : ends[k + 1]] for k in range(self.n_words)]
        if self.tokenizer.hashing:
            return [f"bucket {int.from_bytes(piece, 'little')}" for piece in pieces]
        return [piece.decode("utf-8", "surrogatepass") for piece in pieces]

    def bytes_of(self, words: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return some of the words as the counts keep them: their bytes, and where each begins."""
        if len(words) == self.n_words:
            return self.bytes, self.offsets
        sizes = np.diff(self.offsets)[words]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return self.bytes[np.repeat(self.offsets[words] - offsets[:-1], sizes) + np.arange(offsets[-1])], offsets

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        y: NDArray[Any],
        classes: NDArray[Any],
        tokenizer: Tokenizer,
        weight: Weight = None,
        transform: Transform | None = None,
    ) -> TokenCounts:
        """Count documents; ``y`` holds each one's position among the classes."""
        return cls.of_batches([(texts, y, classes, weight)], tokenizer, transform, weighted=weight is not None)

    @classmethod
    def of_batches(
        cls,
        batches: Iterable[Batch],
        tokenizer: Tokenizer,
        transform: Transform | None = None,
        *,
        weighted: bool = False,
        sampled: bool = False,
    ) -> TokenCounts:
        """Count batch after batch of (texts, class codes, classes, weights); no batch is kept, and classes may grow.

        With ``sampled``, a sample of the documents is kept.
        """
        tally = TokenTally(tokenizer, transform, weighted=weighted, sampled=sampled)
        for batch in batches:
            tally.add(*batch)
        return tally.counts()

    # -- adding and taking away -------------------------------------------------------------------------------------

    def __add__(self, other: TokenCounts) -> TokenCounts:
        self._refuse_other(other)
        classes = union_classes(self.classes, other.classes)
        a, b = self._as(classes, other), other._as(classes, self)
        counter = TokenCounter(self.tokenizer.reader, a.n_token.dtype.kind == "f", len(classes))
        for part in (a, b):
            counter.absorb(*part._arrays(), len(classes), 1)
        declared = self.declared_classes or other.declared_classes
        arrays = counter.arrays(list(range(len(classes))))
        sample = None if a.sample is None or b.sample is None else a.sample + b.sample
        return TokenCounts(self.tokenizer, self.transform, classes, a.n_class + b.n_class, *arrays, declared, sample)

    def __sub__(self, other: TokenCounts) -> TokenCounts:
        self._refuse_other(other)
        strange = sorted(set(other.classes.tolist()) - set(self.classes.tolist()))
        if strange:
            raise MergeError(f"class {strange[0]!r} was never counted, so no such document can be subtracted.")
        a, b = self._as(self.classes, other), other._as(self.classes, self)
        n_class = a.n_class - b.n_class
        slack = 1e-9 * a.n_class if n_class.dtype.kind == "f" else 0
        if (n_class < -slack).any():
            raise MergeError(
                "cannot subtract documents that were never counted: the count of a class would become negative."
            )
        n_class = np.where(n_class <= slack, 0, n_class)
        counter = TokenCounter(self.tokenizer.reader, a.n_token.dtype.kind == "f", len(self.classes))
        counter.absorb(*a._arrays(), len(self.classes), 1)
        wrong = counter.absorb(*b._arrays(), len(self.classes), -1)
        if wrong >= 0:
            raise MergeError(
                f"cannot take away documents that were never counted: {other.words[wrong]!r} was not counted so often."
            )
        arrays = counter.arrays(list(range(len(self.classes))))
        sample = None if a.sample is None or b.sample is None else a.sample - b.sample
        declared = self.declared_classes
        return TokenCounts(self.tokenizer, self.transform, self.classes, n_class, *arrays, declared, sample).narrow()

    def weighted(self, factor: NDArray[Any]) -> TokenCounts:
        """Return the counts in which each document of class c counts ``factor[c]`` times as much."""
        by_cell = factor[self.codes]
        return replace(
            self,
            n_class=self.n_class * factor,
            n_token=self.n_token * by_cell,
            n_document=self.n_document * by_cell,
        )

    def under(self, classes: NDArray[Any]) -> TokenCounts:
        """Return the same counts under classes that cover these, which stay though they may have no document."""
        return replace(self._as(classes, self), declared_classes=True)

    def keep_classes(self, kept: NDArray[Any]) -> TokenCounts:
        """Return the counts of some of the classes; the others have no document."""
        place = np.zeros(len(self.classes), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        return self._relabelled(place, classes=self.classes[kept], n_class=self.n_class[kept])

    def declare(self, classes: NDArray[Any]) -> TokenCounts:
        """Return the counts with declared classes, which may have no document yet."""
        union = union_classes(self.classes, classes)
        return replace(self._as(union, self), declared_classes=True)

    def narrow(self) -> TokenCounts:
        """Return the counts without classes that have no document and were not declared."""
        if self.declared_classes or self.n_class.all():
            return self
        kept = np.flatnonzero(self.n_class)
        place = np.cumsum(self.n_class > 0) - 1
        return self._relabelled(place, classes=self.classes[kept], n_class=self.n_class[kept])

    def _relabelled(self, place: NDArray[Any], **others: Any) -> TokenCounts:
        """Return the counts with class c at ``place[c]``."""
        sample = None if self.sample is None else self.sample.relabelled(place)
        return replace(self, codes=place[self.codes].astype(np.int64), sample=sample, **others)

    def _as(self, classes: NDArray[Any], other: TokenCounts) -> TokenCounts:
        # Under more classes, and as sums of weights where the other side has such.
        place = np.searchsorted(classes, self.classes)
        n_class = np.zeros(len(classes), dtype=np.result_type(self.n_class, other.n_class))
        n_class[place] = self.n_class
        kind = np.result_type(self.n_token, other.n_token)
        n_token, n_document = self.n_token.astype(kind), self.n_document.astype(kind)
        return self._relabelled(place, classes=classes, n_class=n_class, n_token=n_token, n_document=n_document)

    def _arrays(
        self,
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.bytes, self.offsets, self.indptr, self.codes, self.n_token, self.n_document

    def _refuse_other(self, other: TokenCounts) -> None:
        if self.tokenizer != other.tokenizer:
            ours, theirs = vars(self.tokenizer), vars(other.tokenizer)
            name = next(name for name in ours if ours[name] != theirs[name])
            raise MergeError(
                f"tokens were made with {name}={ours[name]!r} on one side and {name}={theirs[name]!r} on the other; "
                "counts add only where texts are read in the same way."
            )
        if self.transform != other.transform:
            raise MergeError(
                "the counts were transformed in different ways (tf, length, or inverse document frequencies frozen on "
                "different documents), so they do not add; fit both without idf, or on one corpus."
            )

    # -- files ------------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        if not isinstance(self.tokenizer.tokens, str):
            raise ModelFileError(
                "the tokenizer is a Python function, and a model file never holds code; save such a model with pickle."
            )
        text = self.classes.dtype.kind in "OU"
        meta = {
            "tokenizer": {**vars(self.tokenizer), "ngram_range": list(self.tokenizer.ngram_range)},
            "transform": [self.transform.tf, self.transform.length],
            "classes": self.classes.tolist() if text else None,
            "text_dtype": self.classes.dtype.str if text else None,
            "declared_classes": self.declared_classes,
        }
        names = ("bytes", "offsets", "indptr", "codes", "n_token", "n_document")
        arrays = {"n_class": self.n_class, **dict(zip(names, self._arrays(), strict=True))}
        if self.sample is not None:
            arrays |= self.sample.to_parts()
        if self.transform.frozen is not None:
            frozen = self.transform.frozen
            arrays |= {"idf_bytes": frozen.bytes, "idf_offsets": frozen.offsets}
            arrays["idf"] = np.append(frozen.idf, frozen.later)
        return meta, arrays if text else {**arrays, "classes": self.classes}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> TokenCounts:
        """Read what :meth:`to_parts` gave; every size is checked."""
        tokenizer = _tokenizer(expect_field(meta, "tokenizer", dict))
        classes = read_classes(meta, arrays)
        kind = np.float64 if arrays["n_token"].dtype.kind == "f" else np.int64
        weighted = np.float64 if arrays["n_class"].dtype.kind == "f" else np.int64
        data, offsets = _words(arrays, "bytes", "offsets")
        n_words, n_cells = len(offsets) - 1, len(arrays["codes"])
        n_class = expect_array(arrays, "n_class", weighted, (len(classes),))
        indptr = _rising(expect_array(arrays, "indptr", np.int64, (n_words + 1,)), n_cells)
        codes = expect_array(arrays, "codes", np.int64, (n_cells,))
        n_token, n_document = (expect_array(arrays, name, kind, (n_cells,)) for name in ("n_token", "n_document"))
        if n_cells and not 0 <= codes.min() <= codes.max() < len(classes):
            raise ModelFileError("a count belongs to no class.")
        for numbers in (n_class, n_token, n_document):
            if not np.isfinite(numbers).all() or (numbers < 0).any():
                raise ModelFileError("a count is negative or not a number.")
        tf, length = meta["transform"]
        transform = Transform(bool(tf), bool(length), _frozen(arrays) if "idf" in arrays else None)
        declared = expect_field(meta, "declared_classes", bool)
        parts = (data, offsets, indptr, codes, n_token, n_document)
        return cls(
            tokenizer, transform, classes, n_class, *parts, declared, DocumentSample.from_parts(arrays, len(classes))
        )


class TokenTally:
    """Counts that grow in place, batch by batch."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        transform: Transform | None = None,
        *,
        weighted: bool = False,
        sampled: bool = False,
    ) -> None:
        self._sample = DocumentSample.none() if sampled else None
        self._tokenizer, self._how = tokenizer, transform or Transform()
        self._counter = TokenCounter(tokenizer.reader, weighted or not self._how.is_plain, 1)
        self._idf: tuple[NDArray[np.float64] | None, float] = (None, 0.0)
        if self._how.frozen is not None:
            frozen = self._how.frozen
            self._idf = (frozen.idf, frozen.later)
            pointer, none, zero = np.zeros(len(frozen.idf) + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0)
            self._counter.absorb(frozen.bytes, frozen.offsets, pointer, none, zero, zero, 1, 1)
        self._classes: NDArray[Any] = np.empty(0)
        self._code_of: dict[Any, int] = {}  # in order of appearance
        self._n_class: NDArray[Any] = np.empty(0, dtype=np.float64 if weighted else np.int64)

    def add(self, texts: Sequence[str], y: NDArray[Any], classes: NDArray[Any], weight: Weight = None) -> None:
        """Count documents; ``y`` holds each one's position among the classes."""
        code_of = self._code_of
        if len(code_of) + len(classes) > MOST_CLASSES and len(code_of.keys() | set(classes.tolist())) > MOST_CLASSES:
            raise TooLargeError(
                f"texts have more than {MOST_CLASSES:,} classes, and counts of words are kept for each; if the labels "
                "number the documents they are no classes, and otherwise group them."
            )
        self._classes = union_classes(self._classes, classes) if code_of else classes
        codes = np.array([code_of.setdefault(label, len(code_of)) for label in classes.tolist()])[y]
        new = np.zeros(len(code_of) - len(self._n_class), dtype=self._n_class.dtype)
        self._n_class = np.concatenate([self._n_class, new]) + count_classes(codes, weight, len(code_of))
        if self._sample is not None:
            self._sample += DocumentSample.of(texts, codes, weight, self._tokenizer)
        (idf, later), how = self._idf, self._how
        for part, documents in self._tokenizer.batches(texts):
            row_weight = None if weight is None else weight[part]
            self._counter.count(documents, codes[part], row_weight, len(code_of), how.tf, idf, later, how.length)

    def counts(self) -> TokenCounts:
        """Return the counts so far."""
        order = np.array([self._code_of[label] for label in self._classes.tolist()], dtype=np.int64)
        arrays = self._counter.arrays(np.argsort(order).tolist() or [0])
        sample = None if self._sample is None else self._sample.relabelled(np.argsort(order))
        return TokenCounts(self._tokenizer, self._how, self._classes, self._n_class[order], *arrays, sample=sample)


def _words(arrays: dict[str, NDArray[Any]], data: str, offsets: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    text = expect_array(arrays, data, np.uint8, (arrays[data].size,))
    return text, _rising(expect_array(arrays, offsets, np.int64, (arrays[offsets].size,)), len(text))


def _rising(ends: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    if not len(ends) or ends[0] != 0 or ends[-1] != last or (np.diff(ends) < 0).any():
        raise ModelFileError("the offsets of words or counts do not increase from 0 to their end.")
    return ends


def _frozen(arrays: dict[str, NDArray[Any]]) -> FrozenIdf:
    data, offsets = _words(arrays, "idf_bytes", "idf_offsets")
    idf = expect_array(arrays, "idf", np.float64, (len(offsets),))
    if not np.isfinite(idf).all() or (idf < 0).any():
        raise ModelFileError("an inverse document frequency is negative or not a number.")
    return FrozenIdf(data, offsets, idf[:-1], float(idf[-1]))


def _tokenizer(fields: dict[str, Any]) -> Tokenizer:
    low, high = (int(n) for n in fields["ngram_range"])
    tokenizer = Tokenizer(**{**fields, "ngram_range": (low, high)})
    if tokenizer.tokens not in UNITS or not 1 <= low <= high:
        raise ModelFileError("the tokenizer is unknown to this version of bayeskit.")
    return tokenizer
