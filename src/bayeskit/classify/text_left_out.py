"""Leave-one-out of text models: each document by the counts of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.leave_one_out import LeaveOneOut, codes_under, losses, possible
from bayeskit.counts.tokens import TokenCounts, Transform
from bayeskit.decide.posterior import log_posterior
from bayeskit.errors import BayeskitError
from bayeskit.estimate.features_left_out import (
    FeatureSums,
    LeftRows,
    bernoulli_left_out,
    complement_left_out,
    multinomial_left_out,
)
from bayeskit.learn.labelled_texts import LabelledTexts
from bayeskit.learn.left_out import log_prior_left_out

if TYPE_CHECKING:
    from bayeskit.classify.text import TextClassifier


def documents_left_out(model: TextClassifier, texts: LabelledTexts) -> LeaveOneOut:
    """Predict each document that a fitted model has learned from by the counts without it."""
    settings: Any = model._state.settings
    _refuse_what_cannot_be_subtracted(settings)
    counts: TokenCounts = model.counts_
    words = model._beliefs.table.words
    sums = _sums(settings, counts, words)
    found = [
        _log_posterior(settings, counts, sums, _rows(model, batch, classes, y, weight))
        for batch, y, classes, weight in texts
    ]
    y = np.concatenate([codes for _, codes in found])
    weights = [weight for _, _, _, weight in texts]
    weight = None if weights[0] is None else np.concatenate([each for each in weights if each is not None])
    return losses(np.concatenate([part for part, _ in found]), y, weight)


def _refuse_what_cannot_be_subtracted(settings: Any) -> None:
    if settings.class_weight is not None:
        raise BayeskitError("leave_one_out cannot subtract rows from weighted classes; fit without class_weight.")
    if settings.idf:
        raise BayeskitError(
            "with idf each document changes the weight of every word, so that none can be subtracted; fit without idf, "
            "or use cross-validation."
        )
    if settings.select is not None:
        raise BayeskitError(
            f"the {settings.select} words of select={settings.select} were chosen with each document's label in sight, "
            "so that leaving it out of the counts alone would be optimistic; fit without select, or use "
            "cross-validation, which chooses the words in each fold."
        )
    if settings.hashing is not None and (settings.tf or settings.length):
        raise BayeskitError(
            "tf and length are computed over the words of a document, which hashing mixes; fit without hashing, or use "
            "cross-validation."
        )


def _sums(settings: Any, counts: TokenCounts, words: NDArray[np.int64]) -> FeatureSums:
    cells = settings._cells(counts, words)
    n = np.zeros((cells.n_classes, len(words)))
    n[cells.codes, cells.word_of] = cells.n
    pseudo = np.full(len(words), settings._pseudo_count(counts, words))
    return FeatureSums(n, counts.n_class.astype(np.float64), pseudo, cells.size - len(words))


def _rows(
    model: TextClassifier, texts: Any, classes: NDArray[Any], y: NDArray[Any], weight: NDArray[np.float64] | None
) -> LeftRows:
    settings: Any = model._state.settings
    codes = codes_under(model.classes_, classes[y], weight, len(texts))
    own = np.ones(len(texts)) if weight is None else np.minimum(weight, 1.0)
    binary = settings.model == "bernoulli"
    sizes, features, values, counted, others = [0], [], [], [], []
    transform = Transform() if binary else model.counts_.transform
    for place, value, added, n_unknown in _documents(model, texts, transform):
        features.append(place)
        values.append(np.ones(len(place)) if binary else value)
        counted.append(np.ones(len(place)) if binary else added)
        sizes.append(len(place))
        others.append(n_unknown)
    counted_once = np.concatenate(counted) * np.repeat(own, sizes[1:])
    log_prior = log_prior_left_out(model.counts_, settings.smoothing, settings.prior, codes, own)
    outside = np.array(others) if settings.hashing is not None and not binary else None
    return LeftRows(
        np.cumsum(sizes), np.concatenate(features), np.concatenate(values), counted_once, codes, own, log_prior, outside
    )


def _documents(
    model: TextClassifier, texts: Any, transform: Transform
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float]]:
    """Yield of each text: its known words, how often each occurs, what each added, and how many tokens are unknown."""
    scorer, tokenizer = model._beliefs.scorer, model.counts_.tokenizer
    for text in texts:
        tokens = Counter(tokenizer.split(text))
        place = np.asarray(scorer.find(list(tokens)), dtype=np.int64)
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


def _log_posterior(
    settings: Any, counts: TokenCounts, sums: FeatureSums, rows: LeftRows
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if settings.model == "bernoulli":
        log_joint = bernoulli_left_out(sums, rows)
    elif settings.model == "complement":
        log_joint = complement_left_out(sums, rows, bool(settings.norm))
    else:
        log_joint = multinomial_left_out(sums, rows)
    return log_posterior(possible(log_joint, rows.log_prior)), rows.y
