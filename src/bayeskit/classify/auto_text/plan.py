"""What AutoText chooses on the documents of a fit: weights of the pool, the correction, and how much to doubt."""

from __future__ import annotations

from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit.classify.auto.text_columns import digests
from bayeskit.classify.auto_text.members import Floats, Matrix, Members, Presence, some_at_once
from bayeskit.classify.auto_text.pool import corrected, doubted, fit_correction, fit_doubt, fit_pool, log_loss
from bayeskit.counts.tokens import TokenCounts

# The variances of the correction that are tried, from the smallest on, while the log-loss falls by this share.
_VARIANCES, _LEAST_GAIN = (0.25, 1.0, 6.0, 36.0), 0.005
# Steps while a variance is judged, and of the last fit.
_STEPS_JUDGED, _STEPS = 12, 30
# Parts of the documents that are left out of a correction in turn.
_FOLDS = 4
# Numbers that the scores of the documents to which the pool is fitted may hold: 160 MB.
_POOLED = 20_000_000
# Numbers of a correction; of more words the most frequent take part.
_CORRECTED = 40_000_000
_SPACE = ord(" ")


@dataclass(frozen=True, eq=False)
class TextPlan:
    """Everything that is chosen rather than counted. Later documents do not change it."""

    classes: NDArray[Any]  # (n_classes,) those of the biases and the correction
    member_weight: Floats  # (n_members,)
    bias: Floats  # (n_classes,)
    bytes: NDArray[np.uint8]  # the words of the correction in UTF-8, one after the other
    offsets: NDArray[np.int64]  # (n_corrected + 1,)
    idf: Floats  # (n_corrected,)
    correction: Floats  # (n_corrected, n_classes), or (n_corrected, 1) of two classes
    temperature: float
    doubt: float
    variance: float  # of the correction; 0 where none helps
    left_out_loss: Floats  # (3,): mean log-loss of the class shares, of the pool, and of all, on documents left out

    @property
    def digest(self) -> str:
        """A hash that is equal only for equal plans."""
        sha = sha256()
        for field in fields(self):
            value = np.asarray(getattr(self, field.name))
            sha.update(
                repr(value.tolist()).encode() if value.dtype.kind == "O" else np.ascontiguousarray(value).tobytes()
            )
        return sha.hexdigest()


def members_of(counts: TokenCounts) -> Members:
    """Return the members: words, and pairs of words, each with its own sums."""
    shape = counts.n_words, len(counts.classes)
    cells = sparse.csr_array((counts.n_document.astype(np.float64), counts.codes, counts.indptr), shape=shape)
    pair = is_pair(counts)
    return Members(tuple(Presence(_cells_of(cells, which)) for which in (~pair, pair)))


def is_pair(counts: TokenCounts) -> NDArray[np.bool_]:
    """Return which tokens are two words: they hold a space, which no word does."""
    spaces = np.concatenate([[0], np.cumsum(counts.bytes == _SPACE)])
    return np.asarray(np.diff(spaces[counts.offsets]) > 0)


def _cells_of(cells: Matrix, which: NDArray[np.bool_]) -> Matrix:
    keep = np.repeat(which, np.diff(cells.indptr))
    indptr = np.concatenate([[0], np.cumsum(np.diff(cells.indptr) * which)])
    return sparse.csr_array((cells.data[keep], cells.indices[keep], indptr), shape=cells.shape)


def features_of(documents: Matrix, idf: Floats) -> Matrix:
    """Return (1 + log tf) √idf of the words of a document, as a vector of length 1."""
    values = (1.0 + np.log(documents.data)) * idf[documents.indices]
    row = np.repeat(np.arange(documents.shape[0]), np.diff(documents.indptr))
    length = np.sqrt(np.bincount(row, values**2, documents.shape[0]))
    values = values / np.maximum(length, 1e-12)[row]
    return sparse.csr_array((values, documents.indices, documents.indptr), shape=documents.shape)


def halves(digest: NDArray[np.uint64], y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a half of the documents of each class; equal documents stay together."""
    half = np.zeros(len(y), dtype=bool)
    for c in np.unique(y).tolist():
        rows = np.flatnonzero(y == c)
        half[rows] = np.unique(digest[rows], return_inverse=True)[1] % 2 == 0
    return half


def learn_plan(
    counts: TokenCounts,
    documents: Matrix,
    texts: list[str],
    y: NDArray[Any],
    weight: Floats,
    correct: bool,
) -> TextPlan:
    """Choose everything on some of the documents that were counted.

    ``documents`` holds how often each word of the counts comes in each document; ``y`` numbers the classes of the
    counts.
    """
    digest = digests(texts)
    order = np.lexsort([weight, y, digest])
    documents, y, weight, digest = documents[order], y[order], weight[order], digest[order]
    shares = counts.n_class / counts.n_class.sum()
    k, members = len(counts.classes), members_of(counts)
    sample = slice(0, max(1, min(len(y), _POOLED // (k * members.n))))
    member_weight, bias = fit_pool(
        members.scores_left_out(documents[sample], y[sample], weight[sample]), y[sample], weight[sample]
    )
    pooled = np.concatenate(
        [members.scores_left_out(documents[s], y[s], weight[s]) @ member_weight + bias for s in some_at_once(len(y))]
    )
    words = _corrected_words(counts, documents, k) if correct else np.empty(0, np.int64)
    idf = _root_idf(counts, words)
    features = features_of(documents[:, words], idf)
    judged = _judge(members, documents, features, y, weight, member_weight, bias, halves(digest, y), correct)
    total = weight.sum()
    if judged.variance:
        u = fit_correction(features, y, weight, pooled, judged.variance, judged.start, _STEPS)
    else:
        words, idf, u = words[:0], idf[:0], np.zeros((0, 1 if k == 2 else k))
    temperature, doubt = fit_doubt(judged.scores, judged.y, judged.weight, shares)
    losses = -(weight @ np.log(shares[y])) / total, log_loss(pooled, y, weight) / total, judged.loss
    return TextPlan(
        counts.classes,
        member_weight,
        bias,
        *counts.bytes_of(words),
        idf,
        u,
        temperature,
        doubt,
        judged.variance,
        np.array(losses),
    )


def log_posterior_left_out(
    counts: TokenCounts, plan: TextPlan, documents: Matrix, texts: list[str], y: NDArray[Any], weight: Floats
) -> Floats:
    """Return log P(c | d) of documents that were counted and that the plan was chosen on, each left out.

    The counts are those of all other documents, exactly; the correction that a document gets is learned from those of
    other folds. Equal documents are in one fold. ``weight`` is what each document counts.
    """
    k, members = len(counts.classes), members_of(counts)
    scores = np.concatenate(
        [
            members.scores_left_out(documents[s], y[s], weight[s]) @ plan.member_weight + plan.bias
            for s in some_at_once(len(y))
        ]
    )
    if plan.variance:
        words = _corrected_words(counts, documents, k)
        features = features_of(documents[:, words], _root_idf(counts, words))
        fold = np.unique(digests(texts), return_inverse=True)[1] % _FOLDS
        steps = np.zeros_like(scores)
        for part in range(_FOLDS):
            here, there = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
            if len(here) and len(there):
                start = np.zeros((features.shape[1], 1 if k == 2 else k))
                how = (scores[here], plan.variance, start, _STEPS_JUDGED)
                steps[there] = corrected(features[there], fit_correction(features[here], y[here], weight[here], *how))
        scores += steps
    shares = counts.n_class / counts.n_class.sum()
    return np.asarray(np.log(np.maximum(doubted(scores, plan.temperature, plan.doubt, shares), 1e-300)))


def _root_idf(counts: TokenCounts, words: NDArray[np.int64]) -> Floats:
    """Return √idf of some words."""
    present = np.add.reduceat(counts.n_document, counts.indptr[:-1]).astype(np.float64)[words]
    return np.asarray(np.sqrt(np.log((1.0 + counts.n_class.sum()) / (1.0 + present)) + 1.0))


def _corrected_words(counts: TokenCounts, documents: Matrix, k: int) -> NDArray[np.int64]:
    """Return the words that at least two documents have, as they come; of too many, the most frequent."""
    present = np.add.reduceat(counts.n_document, counts.indptr[:-1])
    least, most = 2, _CORRECTED // k
    if np.count_nonzero(present >= least) > most:
        least = np.partition(present, len(present) - most)[len(present) - most] + 1
    words, first = np.unique(documents.indices, return_index=True)
    words = words[np.argsort(first)]
    return np.asarray(words[present[words] >= least], dtype=np.int64)


@dataclass(frozen=True)
class _Judged:
    """The best variance of the correction, and the scores of the half of the documents that judged it."""

    variance: float
    start: Floats
    scores: Floats
    y: NDArray[Any]
    weight: Floats
    loss: float


def _judge(
    members: Members,
    documents: Matrix,
    features: Matrix,
    y: NDArray[Any],
    weight: Floats,
    member_weight: Floats,
    bias: Floats,
    half: NDArray[np.bool_],
    correct: bool,
) -> _Judged:
    """Learn on one half of the documents, whose counts are the members' less those of the other, and judge there."""
    here, there = np.flatnonzero(half), np.flatnonzero(~half)
    k = members.kinds[0].n.shape[1]
    start = np.zeros((features.shape[1], 1 if k == 2 else k))
    if not len(there) or not len(here):
        here = there = np.arange(len(y))
    less = Members(tuple(_without(kind, documents[there], y[there], weight[there]) for kind in members.kinds))
    if here is there:
        less = members
    scores = np.concatenate([less.scores(documents[there[s]]) @ member_weight + bias for s in some_at_once(len(there))])
    offset = np.concatenate(
        [
            less.scores_left_out(documents[here[s]], y[here[s]], weight[here[s]]) @ member_weight + bias
            for s in some_at_once(len(here))
        ]
    )
    total = weight[there].sum()
    best = _Judged(0.0, start, scores, y[there], weight[there], log_loss(scores, y[there], weight[there]) / total)
    if not correct or here is there:
        return best
    learned, judges, u = features[here], features[there], start
    for variance in _VARIANCES:
        u = fit_correction(learned, y[here], weight[here], offset, variance, u, _STEPS_JUDGED)
        now = scores + corrected(judges, u)
        loss = log_loss(now, y[there], weight[there]) / total
        if loss > best.loss * (1.0 - _LEAST_GAIN):
            break
        best = _Judged(variance, u, now, y[there], weight[there], loss)
    return best


def _without(kind: Presence, documents: Matrix, y: NDArray[Any], weight: Floats) -> Presence:
    """Return the counts of all other documents."""
    row = np.repeat(np.arange(len(y)), np.diff(documents.indptr))
    mine = kind.of_word[documents.indices] > 0
    cells = (weight[row[mine]], (documents.indices[mine], y[row[mine]]))
    rest = (kind.n - sparse.coo_array(cells, shape=kind.n.shape).tocsr()).tocsr()
    rest.data[np.abs(rest.data) < 1e-9] = 0.0
    rest.eliminate_zeros()
    return Presence(rest)
