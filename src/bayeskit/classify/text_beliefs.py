"""The probabilities of a text model: a table of words and classes, and the scores of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score, TokenScorer, n_threads
from bayeskit.counts.tokens import TokenCounts, Transform
from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.estimate.tokens import TokenTable
from bayeskit.explain.text_explanation import Word


@dataclass(frozen=True)
class TextBeliefs:
    """A table of words and classes, ready to score documents."""

    counts: TokenCounts
    table: TokenTable
    log_prior: NDArray[np.float64]

    def __post_init__(self) -> None:
        data, offsets = self.counts.bytes_of(self.table.words)
        t = self.table
        scorer = TokenScorer(
            self.counts.tokenizer.reader,
            *(data, offsets, t.row, t.column, t.scale, t.indptr, t.codes, t.cells, t.bias, t.others, t.binary),
        )
        object.__setattr__(self, "scorer", scorer)

    def score(self, texts: list[str], wanted: Score) -> NDArray[Any]:
        """Score documents; one with probability 0 under every class is an error that names it."""
        parts = [self._part(documents, wanted, where.start) for where, documents in self._batches(texts)]
        return np.concatenate(parts)

    def _batches(self, texts: list[str]) -> Iterator[tuple[slice, list[str]]]:
        tokenizer = self.counts.tokenizer
        together = 512 if n_threads() == 1 else 8192  # few documents keep few copies, many keep the threads busy
        for begin in range(0, len(texts), together):
            part = slice(begin, min(begin + together, len(texts)))
            yield part, [tokenizer.prepare(text) for text in texts[part]]

    def _part(self, documents: list[str], wanted: Score, first: int) -> NDArray[Any]:
        threads = n_threads(sum(map(len, documents)))
        scores, impossible = self.scorer.score(documents, wanted, False, [], threads)  # type: ignore[attr-defined]
        if impossible >= 0:
            raise ImpossibleEvidenceError(
                f"document {first + impossible}: it has probability 0 under every class; smoothing > 0 gives "
                "every word a probability above 0."
            )
        return np.asarray(scores)

    def words_of(self, text: str, a: int, b: int) -> tuple[Word, ...]:
        """Return the tokens of a text with the term of each in the log-odds of class a over class b."""
        spans = self.counts.tokenizer.spans(text)
        words = self.scorer.find([token for token, _, _ in spans])  # type: ignore[attr-defined]
        rows = self.scorer.rows(words)  # type: ignore[attr-defined]
        with np.errstate(invalid="ignore"):
            terms = rows[:, a] - rows[:, b] if len(rows) else np.empty(0)
        known = (words >= 0) | (self.table.others is not None)
        seen: set[str] = set()
        words = []
        for (token, begin, end), term, use in zip(spans, terms.tolist(), known.tolist(), strict=True):
            counted = use and not (self.table.binary and token in seen)
            seen.add(token)
            words.append(Word(token, begin, end, term if counted else 0.0, bool(use)))
        return tuple(words)

    def known_words(
        self, texts: list[str], transform: Transform
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float]]:
        """Yield of each text: its known words, how often each occurs, what each added, how many tokens are unknown."""
        for text in texts:
            tokens = Counter(self.counts.tokenizer.split(text))
            place = np.asarray(self.scorer.find(list(tokens)), dtype=np.int64)  # type: ignore[attr-defined]
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
