"""The members of AutoBayes that read columns of free text, one per column: the pool of AutoText over its words.

To all other members a column of text is one level, or a missing cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.levels import HIDDEN, Columns
from bayeskit.classify.auto.text_columns import known_texts
from bayeskit.classify.auto.training_rows import TrainingRows, log_prior_left_out
from bayeskit.counts.tokens import TokenCounts
from bayeskit.table.schema import Schema
from bayeskit.table.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bayeskit.classify.auto_text.beliefs import AutoTextBeliefs
    from bayeskit.classify.auto_text.counts import AutoTextCounts
    from bayeskit.classify.auto_text.plan import TextPlan

# Words and pairs of words, as AutoText reads them.
TOKENS = Tokenizer(ngram_range=(1, 2), ideographs="characters")
# Weights and correction are chosen on so many rows at the most.
MOST_ROWS = 1 << 15


@dataclass(frozen=True)
class TextMember:
    """A column of text and what was chosen for its words; later rows do not change it."""

    column: int  # of the schema
    plan: TextPlan

    def with_counts(self, words: TokenCounts) -> AutoTextCounts:
        """Return counts of words under the plan of the member."""
        from bayeskit.classify.auto_text.counts import AutoTextCounts  # which needs scipy.sparse

        return AutoTextCounts(words, self.plan)


def count_words(rows: TrainingRows, column: int, classes: NDArray[Any]) -> TokenCounts:
    """Count the words of a column of text, whose rows number the classes; a missing cell is no document."""
    texts = rows.columns[column][rows.order]
    known = known_texts(texts)
    counts = TokenCounts.of(texts[known].tolist(), rows.y[known], classes, TOKENS, rows.weight[known])
    return counts.under(classes)


def whole_words(counts: TokenCounts) -> TokenCounts:
    """Return counts of whole rows as integers; sums of whole weights are whole."""
    whole = {name: getattr(counts, name).astype(np.int64) for name in ("n_class", "n_token", "n_document")}
    return replace(counts, **whole)


def learn_texts(
    schema: Schema, rows: TrainingRows, n_sample: int, classes: NDArray[Any]
) -> list[tuple[TextMember, TokenCounts, NDArray[np.float64]]]:
    """Return a member per column of text where rows left out gain by it: its plan, its counts, and log P(c | x).

    ``rows`` number the classes as ``classes`` does. log P(c | x) is that of the first ``MOST_ROWS`` rows, each left
    out.
    """
    from bayeskit.classify.auto_text.beliefs import Vocabulary
    from bayeskit.classify.auto_text.members import N_MEMBERS
    from bayeskit.classify.auto_text.plan import learn_plan, log_posterior_left_out

    members = []
    n_class = np.bincount(rows.y, weights=rows.weight, minlength=len(classes))
    some = rows.first(max(MOST_ROWS, n_sample))
    for column in schema.texts:
        tokens = count_words(rows, column, classes)
        texts = some.columns[column][some.order]
        known = known_texts(texts)
        if not tokens.n_words or len(known) < 2:
            continue
        written, y, weight = texts[known].tolist(), some.y[known].astype(np.int64), some.weight[known]
        documents = Vocabulary(TOKENS, tokens.bytes, tokens.offsets).documents(written)
        plan = learn_plan(tokens, documents, written, y, weight, correct=True)
        log_posterior = log_prior_left_out(n_class, some)
        shares = log_posterior[known, y]
        left_out = log_posterior_left_out(tokens, plan, documents, written, y, np.minimum(weight, 1.0))
        # Each number that was fitted to rows left out takes a nat back of what they gain over the class shares.
        if weight @ (left_out[np.arange(len(y)), y] - shares) <= N_MEMBERS + len(classes):
            continue
        log_posterior[known] = left_out
        members.append((TextMember(column, plan), tokens, log_posterior))
    return members


class TextScores:
    """A member with its counts, ready to score texts."""

    def __init__(self, member: TextMember, counts: TokenCounts, log_shares: NDArray[np.float64]) -> None:
        self.member, self.counts, self._log_shares = member, counts, log_shares

    @cached_property
    def beliefs(self) -> AutoTextBeliefs:
        """The probabilities of words."""
        from bayeskit.classify.auto_text.beliefs import AutoTextBeliefs

        return AutoTextBeliefs(self.member.with_counts(self.counts))

    def score(self, columns: Columns, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return log P(c | text), of shape (n_rows, n_classes); the class shares where it is hidden or missing."""
        out = np.repeat(self._log_shares[None, :], codes.shape[1], axis=0)
        texts = columns[self.member.column]
        known = np.intersect1d(known_texts(texts), np.flatnonzero(codes[self.member.column] != HIDDEN))
        if len(known):
            posterior = self.beliefs.posterior(texts[known].tolist())
            out[known] = np.log(np.maximum(posterior, 1e-300))
        return out
