"""A table of words and classes, ready to score documents word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score, TokenScorer, n_threads
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.tokens import TokenCounts, Transform
from bayeskit.estimate.event_models import FeatureRows, FeatureSums
from bayeskit.estimate.tokens import TokenCells, TokenTable


@dataclass(frozen=True)
class WordTable:
    """A table of words and classes, with the counts whose words they are."""

    counts: TokenCounts
    table: TokenTable
    _scorer: TokenScorer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        data, offsets = self.counts.bytes_of(self.table.words)
        t = self.table
        scorer = TokenScorer(
            self.counts.tokenizer.reader,
            *(data, offsets, t.row, t.column, t.scale, t.indptr, t.codes, t.cells, t.bias, t.others, t.binary),
        )
        object.__setattr__(self, "_scorer", scorer)

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled scorer is made anew from the table, wherever it is unpickled.
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)

    def log_joint(self, texts: list[str]) -> NDArray[np.float64]:
        """Return bias(c) + Σ_w value(w) · table(w, c) of documents, of shape (n_documents, n_classes)."""
        scores = np.empty((len(texts), len(self.table.bias)))
        for part, documents in self.batches(texts):
            threads = n_threads(sum(map(len, documents)))
            scores[part] = self._scorer.score(documents, Score.LOG_JOINT, False, [], threads)[0]
        return scores

    def batches(self, texts: list[str]) -> Iterator[tuple[slice, list[str]]]:
        """Yield prepared documents, some at a time, with where they stand."""
        tokenizer = self.counts.tokenizer
        together = 512 if n_threads() == 1 else 8192  # few documents keep few copies, many keep the threads busy
        for begin in range(0, len(texts), together):
            part = slice(begin, min(begin + together, len(texts)))
            yield part, [tokenizer.prepare(text) for text in texts[part]]

    def bags(self, texts: list[str]) -> Iterator[Mapping[str, int]]:
        """Yield texts as words with their counts."""
        return (Counter(self.counts.tokenizer.split(text)) for text in texts)

    def lengths(self, texts: list[str]) -> NDArray[np.float64]:
        """Return how many words of each text the table knows; where others have a slot, all of them."""
        parts = []
        for _, documents in self.batches(texts):
            indptr, _, value, unknown = self._scorer.vectors(documents)
            row = np.repeat(np.arange(len(documents)), np.diff(indptr))
            known = np.bincount(row, value, len(documents)).astype(np.float64)
            parts.append(known if self.table.others is None else known + unknown)
        return np.concatenate(parts)

    def word_terms(self, text: str, a: int, b: int) -> list[tuple[str, int, int, float, bool]]:
        """Return the tokens of a text: begin, end, term in the log-odds of class a over b, and whether it is known."""
        spans = self.counts.tokenizer.spans(text)
        place = self._scorer.find([token for token, _, _ in spans])
        rows = self._scorer.rows(place)
        with np.errstate(invalid="ignore"):
            terms = rows[:, a] - rows[:, b] if len(rows) else np.empty(0)
        known = (place >= 0) | (self.table.others is not None)
        seen: set[str] = set()
        words = []
        for (token, begin, end), term, use in zip(spans, terms.tolist(), known.tolist(), strict=True):
            counted = use and not (self.table.binary and token in seen)
            seen.add(token)
            words.append((token, begin, end, term if counted else 0.0, bool(use)))
        return words

    def known_tokens(
        self, bags: Iterable[Mapping[str, int]], transform: Transform
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float]]:
        """Yield of each document its known words, how often each occurs, what each added, and its unknown tokens."""
        for tokens in bags:
            place = np.asarray(self._scorer.find(list(tokens)), dtype=np.int64)
            times = np.array(list(tokens.values()), dtype=np.float64)
            added = np.log1p(times) if transform.tf else times
            if transform.length and len(added):
                added = added / np.sqrt((added**2).sum())
            known = place >= 0
            # Two tokens may have one bucket.
            words, first = np.unique(place[known], return_inverse=True)
            yield (
                words,
                np.bincount(first, times[known], len(words)).astype(np.float64),
                np.bincount(first, added[known], len(words)).astype(np.float64),
                float(times[~known].sum()),
            )

    def rows_left_out(
        self,
        bags: Iterable[Mapping[str, int]],
        transform: Transform,
        left: LeftOut,
        log_prior: NDArray[np.float64],
        *,
        binary: bool = False,
        others: bool = False,
    ) -> FeatureRows:
        """Return documents, as words with their counts, as rows that are left out one after the other.

        ``binary`` counts a word once per document; with ``others`` words outside the vocabulary count too.
        """
        documents = list(self.known_tokens(bags, transform))
        place, value, added, unknown = (list(part) for part in zip(*documents, strict=True))
        sizes, feature = np.array([len(part) for part in place]), np.concatenate(place)
        values, counted = (np.ones(len(feature)) if binary else np.concatenate(part) for part in (value, added))
        counted = counted * np.repeat(left.taken_out, sizes)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        return FeatureRows(indptr, feature, values, counted, left, log_prior, np.array(unknown) if others else None)


def word_sums(cells: TokenCells, n_class: NDArray[Any], pseudo: float) -> FeatureSums:
    """Return the counts of words as a dense table of sums, with the same pseudo-count for each word."""
    n = np.zeros((cells.n_classes, len(cells.words)))
    n[cells.codes, cells.word_of] = cells.n
    n_empty = cells.size - len(cells.words)
    return FeatureSums(n, n_class.astype(np.float64), np.full(len(cells.words), pseudo), n_empty)
