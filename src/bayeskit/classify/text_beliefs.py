"""The probabilities of a text model: a table of words and classes, and the scores of documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score, n_threads
from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.estimate.word_table import WordTable
from bayeskit.explain.explanation import Word


@dataclass(frozen=True)
class TextBeliefs(WordTable):
    """A table of words and classes, ready to score documents."""

    log_prior: NDArray[np.float64]
    # What is made of them when it is first asked for.
    made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def score(self, texts: list[str], wanted: Score) -> NDArray[Any]:
        """Score documents; one with probability 0 under every class is an error that names it."""
        parts = [self._part(documents, wanted, where.start) for where, documents in self.batches(texts)]
        return np.concatenate(parts)

    def _part(self, documents: list[str], wanted: Score, first: int) -> NDArray[Any]:
        threads = n_threads(sum(map(len, documents)))
        scores, impossible = self._scorer.score(documents, wanted, False, [], threads)
        if impossible >= 0:
            raise ImpossibleEvidenceError(
                f"document {first + impossible}: it has probability 0 under every class; smoothing > 0 gives "
                "every word a probability above 0."
            )
        return np.asarray(scores)

    def words_of(self, text: str, a: int, b: int) -> tuple[Word, ...]:
        """Return the tokens of a text with the term of each in the log-odds of class a over class b."""
        return tuple(Word(*found) for found in self.word_terms(text, a, b))
