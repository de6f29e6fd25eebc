"""The probabilities of an AutoText: members by its counts, weights and correction by its plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit._kernels import TokenScorer
from bayeskit.classify.auto_text.counts import AutoTextCounts
from bayeskit.classify.auto_text.members import POWERS, Floats, Matrix, Members, some_at_once
from bayeskit.classify.auto_text.plan import features_of, members_of
from bayeskit.classify.auto_text.pool import corrected, doubted
from bayeskit.explain.explanation import Word
from bayeskit.table.tokenizer import Tokenizer


class Vocabulary:
    """Numbered words, and documents as sparse counts of them."""

    def __init__(self, tokenizer: Tokenizer, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.tokenizer, self.n = tokenizer, len(offsets) - 1
        # The kernel's scorer finds words; what it would score is one class of zeros.
        row, pointer, none = np.zeros(self.n), np.zeros(self.n + 1, dtype=np.int64), np.empty(0, dtype=np.int64)
        one = np.zeros(1)
        self._words = TokenScorer(
            tokenizer.reader, data, offsets, row, one, one, pointer, none, np.empty(0), one, None, False
        )

    def documents(self, texts: list[str]) -> Matrix:
        """Return how often each word comes in each text, of shape (n_texts, n_words)."""
        indptr, word, value, _ = self._words.vectors([self.tokenizer.prepare(text) for text in texts])
        return sparse.csr_array((value, word.astype(np.int32), indptr), shape=(len(texts), self.n))

    def find(self, tokens: list[str]) -> NDArray[np.int64]:
        """Return the number of each token, or −1."""
        return np.asarray(self._words.find(tokens))


@dataclass(frozen=True)
class AutoTextBeliefs:
    """Counts under a plan, ready to score documents."""

    counts: AutoTextCounts

    @cached_property
    def members(self) -> Members:
        """The two models of words, and of pairs of words."""
        return members_of(self.counts.tokens)

    @cached_property
    def words(self) -> Vocabulary:
        """All words that were counted."""
        tokens = self.counts.tokens
        return Vocabulary(tokens.tokenizer, tokens.bytes, tokens.offsets)

    @cached_property
    def corrected_words(self) -> Vocabulary:
        """The words of the correction."""
        plan = self.counts.plan
        return Vocabulary(self.counts.tokens.tokenizer, plan.bytes, plan.offsets)

    @cached_property
    def shares(self) -> Floats:
        """P(c)."""
        return np.asarray(self.counts.n_class / self.counts.n_class.sum())

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """The column of each class of the plan; classes that came later have neither bias nor correction."""
        return np.searchsorted(self.counts.classes, self.counts.plan.classes).astype(np.int64)

    @cached_property
    def bias(self) -> Floats:
        """The bias of each class."""
        bias = np.zeros(len(self.counts.classes))
        bias[self._place] = self.counts.plan.bias
        return bias

    def scores(self, texts: list[str]) -> Floats:
        """Return T times the pool with its correction, of shape (n_texts, n_classes).

        A text of which no word is known says nothing: its scores are log P(c).
        """
        plan = self.counts.plan
        parts = []
        for some in some_at_once(len(texts)):
            documents = self.words.documents(texts[some])
            score = self.members.scores(documents) @ plan.member_weight + self.bias
            if len(plan.idf):
                features = features_of(self.corrected_words.documents(texts[some]), plan.idf)
                score[:, self._place] += corrected(features, plan.correction)
            score *= plan.temperature
            score[np.diff(documents.indptr) == 0] = np.log(np.maximum(self.shares, 1e-300))
            parts.append(score)
        return np.concatenate(parts)

    def posterior(self, texts: list[str]) -> Floats:
        """Return P(c | d), of shape (n_texts, n_classes)."""
        return doubted(self.scores(texts), 1.0, self.counts.plan.doubt, self.shares)

    # -- word by word -----------------------------------------------------------------------------------------------

    def lead(self, tokens: list[str], lengths: tuple[float, float], norm: float, times: Floats) -> Floats:
        """Return what each token adds to the score of each class, of shape (n_tokens, n_classes).

        ``lengths`` are those of the document in words and in pairs, ``norm`` the length of its vector of features, and
        ``times`` how often each token comes in it: its part is divided among these.
        """
        plan, k = self.counts.plan, len(self.counts.classes)
        at = self.words.find(tokens)
        known = np.flatnonzero(at >= 0)
        parts = np.zeros((len(tokens), k))
        one = sparse.csr_array((np.ones(len(known)), (known, at[known])), shape=(len(tokens), self.words.n))
        for j, (kind, length) in enumerate(zip(self.members.kinds, lengths, strict=True)):
            s, t, _ = kind.scores(one)
            for m, score in enumerate((s, t)):
                weight = plan.member_weight[j * 4 + m * 2 : j * 4 + m * 2 + 2]
                factor = sum(w / max(length, 1.0) ** power for w, power in zip(weight.tolist(), POWERS, strict=True))
                parts += factor * (score - score.mean(axis=1, keepdims=True))
        if len(plan.idf):
            at = self.corrected_words.find(tokens)
            here = np.flatnonzero(at >= 0)
            value = (1.0 + np.log(times[here])) * plan.idf[at[here]] / max(norm, 1e-12)
            u = plan.correction[at[here]]
            parts[np.ix_(here, self._place)] += value[:, None] * (np.hstack([u, -u]) if u.shape[1] == 1 else u)
        return plan.temperature * parts / times[:, None]

    def words_of(self, text: str, a: int, b: int) -> tuple[Word, ...]:
        """Return the tokens of a text with the part of each in the log-odds of class a over class b."""
        spans = self.counts.tokens.tokenizer.spans(text)
        tokens = [token for token, _, _ in spans]
        if not tokens:
            return ()
        counted = self.words.documents([text])
        lengths = tuple(float((kind.of_word[counted.indices] > 0).sum()) for kind in self.members.kinds)
        norm, plan = 1.0, self.counts.plan
        if len(plan.idf):
            document = self.corrected_words.documents([text])
            norm = float(np.sqrt((((1.0 + np.log(document.data)) * plan.idf[document.indices]) ** 2).sum()))
        different, place, times = np.unique(tokens, return_inverse=True, return_counts=True)
        parts = self.lead(different.tolist(), (lengths[0], lengths[1]), norm, times.astype(np.float64))
        known = self.words.find(different.tolist()) >= 0
        weight = (parts[:, a] - parts[:, b])[place]
        return tuple(
            Word(token, begin, end, float(part), bool(use))
            for (token, begin, end), part, use in zip(spans, weight.tolist(), known[place].tolist(), strict=True)
        )

    def typical(self) -> Any:
        """Return what each word adds to each class in a document of mean length, (n_words, n_classes)."""
        tokens = self.counts.tokens
        n = max(float(tokens.n_class.sum()), 1.0)
        lengths = tuple(max(kind.of_word.sum() / n, 1.0) for kind in self.members.kinds)
        norm = float(np.sqrt(sum(lengths)))
        return self.lead(tokens.words, (lengths[0], lengths[1]), norm, np.ones(tokens.n_words))
