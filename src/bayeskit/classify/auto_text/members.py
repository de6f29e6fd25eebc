"""The members of AutoText: multinomial and complement naive Bayes over which words, and which pairs, a document has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix = Any  # scipy.sparse.csr_array, which has no types
Floats = NDArray[np.float64]

# A score is divided by the length L of the document to these powers: √L and L.
POWERS = (0.5, 1.0)
# Two scores of words and two of pairs, each over both lengths.
N_MEMBERS = 4 * len(POWERS)
# Documents whose scores are computed at once: with 1,000 classes and 8 scores each this is 130 MB.
AT_ONCE = 2048


@dataclass(frozen=True)
class Presence:
    r"""Which words of one kind each class's documents have, and the two scores of a document that follow.

    With n_wc the documents of class c that have w, N_c their sum over words and V the number of words,

    .. math:: s_c = \sum_{w \in d} \log \frac{n_{wc} + 1}{N_c + V}, \qquad
              t_c = - \sum_{w \in d} \log \frac{n_w - n_{wc} + 1}{N - N_c + V}

    Only cells of words that were seen in a class are kept: the others follow from their word or class alone.
    """

    n: Matrix  # (n_words, n_classes), documents; words of other kinds have no cell

    @cached_property
    def of_word(self) -> Floats:
        """Documents that have each word, of shape (n_words,)."""
        return np.asarray(self.n.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def of_class(self) -> Floats:
        """Words of all documents of each class, of shape (n_classes,)."""
        return np.asarray(self.n.sum(axis=0), dtype=np.float64).ravel()

    @cached_property
    def n_seen(self) -> int:
        """How many words were seen."""
        return int(np.count_nonzero(self.of_word))

    def terms(self, less: float = 0.0) -> tuple[Matrix, Matrix]:
        """Return log(n_wc + 1) and log((n_w − n_wc + 1) / (n_w + 1)) at the cells, n_w less what a document adds."""
        word = np.repeat(np.arange(self.n.shape[0]), np.diff(self.n.indptr))
        total = np.maximum(self.of_word[word] - less, 0.0)
        rest = np.maximum(total - self.n.data, 0.0)
        return self._with(np.log1p(self.n.data)), self._with(np.log1p(rest) - np.log1p(total))

    def _with(self, values: Floats) -> Matrix:
        return sparse.csr_array((values, self.n.indices, self.n.indptr), shape=self.n.shape)

    @cached_property
    def _terms(self) -> tuple[Matrix, Matrix]:
        return self.terms()

    def scores(self, documents: Matrix) -> tuple[Floats, Floats, Floats]:
        """Return s and t of each document, of shape (n, n_classes) each, and its length; t up to a constant."""
        kept = _only(documents, self.of_word[documents.indices] > 0)
        size = np.diff(kept.indptr).astype(np.float64)
        logs, rest = (_dense(kept @ term) for term in self._terms)
        words = max(self.n_seen, 1)  # a kind of which nothing was seen has no word to score
        log_class = np.log(self.of_class + words)
        log_other = np.log(self.of_class.sum() - self.of_class + words)
        return logs - size[:, None] * log_class, size[:, None] * log_other - rest, size

    def scores_left_out(self, documents: Matrix, y: NDArray[Any], weight: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the same of documents that were counted, each by the counts of all the others.

        A word that only this document has is unknown without it, and is skipped as such words are in new documents.
        """
        s, t = (np.zeros((len(y), self.n.shape[1])) for _ in range(2))
        size = np.zeros(len(y))
        for less in np.unique(weight).tolist():
            rows = np.flatnonzero(weight == less)
            s[rows], t[rows], size[rows] = self._left_out(documents[rows], y[rows], less)
        return s, t, size

    def _left_out(self, documents: Matrix, y: NDArray[Any], less: float) -> tuple[Floats, Floats, Floats]:
        seen = _only(documents, self.of_word[documents.indices] > 0)
        kept = _only(seen, self.of_word[seen.indices] > less * (1 + 1e-9))
        length, size = np.diff(seen.indptr).astype(np.float64), np.diff(kept.indptr).astype(np.float64)
        row = np.repeat(np.arange(len(y)), np.diff(kept.indptr))
        same_class = self._of_class_of(kept, y)
        logs, rest = self.terms(less)
        s, t = _dense(kept @ logs), _dense(kept @ rest)
        t += np.bincount(row, np.log1p(np.maximum(self.of_word[kept.indices] - less, 0.0)), len(y))[:, None]
        here = np.arange(len(y)), y
        # The document's class has it no more; to every other class it was one of the others.
        s[here] = np.bincount(row, np.log1p(np.maximum(same_class - less, 0.0)), len(y))
        t[here] = np.bincount(row, np.log1p(np.maximum(self.of_word[kept.indices] - same_class, 0.0)), len(y))
        words = np.maximum(self.n_seen - (length - size), 1.0)[:, None]
        taken = (less * length)[:, None]
        is_class = np.arange(self.n.shape[1]) == y[:, None]
        in_class = self.of_class - taken * is_class
        in_others = self.of_class.sum() - self.of_class - taken * ~is_class
        s -= size[:, None] * np.log(np.maximum(in_class, 0.0) + words)
        return s, size[:, None] * np.log(np.maximum(in_others, 0.0) + words) - t, size

    def _of_class_of(self, documents: Matrix, y: NDArray[Any]) -> Floats:
        """Return n_wc of each word of each document, c the document's class."""
        by_class = self.n.tocsc()
        row_class = np.repeat(y, np.diff(documents.indptr))
        values, column = np.zeros(len(row_class)), np.zeros(self.n.shape[0])
        for c in np.unique(y).tolist():
            part = slice(by_class.indptr[c], by_class.indptr[c + 1])
            column[by_class.indices[part]] = by_class.data[part]
            at = row_class == c
            values[at] = column[documents.indices[at]]
            column[by_class.indices[part]] = 0.0
        return values


@dataclass(frozen=True)
class Members:
    """The scores of all kinds of words: of each kind s and t, over √L and over L."""

    kinds: tuple[Presence, ...]

    @property
    def n(self) -> int:
        """The number of members."""
        return 2 * len(POWERS) * len(self.kinds)

    def scores(self, documents: Matrix) -> Floats:
        """Return the members' scores of new documents, of shape (n_documents, n_classes, n_members)."""
        return self._stacked([kind.scores(documents) for kind in self.kinds])

    def scores_left_out(self, documents: Matrix, y: NDArray[Any], weight: Floats) -> Floats:
        """Return the same of counted documents, each left out."""
        return self._stacked([kind.scores_left_out(documents, y, weight) for kind in self.kinds])

    @staticmethod
    def _stacked(kinds: list[tuple[Floats, Floats, Floats]]) -> Floats:
        columns = []
        for s, t, size in kinds:
            length = np.maximum(size, 1.0)[:, None]
            for score in (s, t):
                centred = score - score.mean(axis=1, keepdims=True)
                columns += [centred / length**power for power in POWERS]
        return np.stack(columns, axis=2)


def some_at_once(n: int) -> Iterator[slice]:
    """Yield slices of the documents, of a bounded size each."""
    return (slice(begin, min(begin + AT_ONCE, n)) for begin in range(0, n, AT_ONCE))


def _only(documents: Matrix, keep: NDArray[np.bool_]) -> Matrix:
    """Return which of the words of each document are kept, each counting once."""
    row = np.repeat(np.arange(documents.shape[0]), np.diff(documents.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[keep], minlength=documents.shape[0]))])
    indices = documents.indices[keep]
    return sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=documents.shape)


def _dense(product: Matrix) -> Floats:
    return np.asarray(product.toarray(), dtype=np.float64)
