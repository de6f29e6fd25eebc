"""A beam search through conjunctions, for spaces too large to enumerate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import ANY, EMPTY, Codes
from bayeskit.concept.coverage import Coverage


@dataclass(frozen=True)
class ScoredHypotheses:
    """The hypotheses that a search evaluated: constraints, errors and log-priors."""

    constraints: Codes  # (n_hypotheses, d)
    errors: NDArray[np.int64]  # (n_hypotheses,)
    log_prior: NDArray[np.float64]  # (n_hypotheses,)


def beam_search(
    coverage: Coverage, weights: list[NDArray[np.float64]], log_empty: float, log_odds: float, width: int
) -> ScoredHypotheses:
    """Search from ⟨?, …, ?⟩ down, one more constraint at a time, keeping the best ``width`` hypotheses of each level.

    A hypothesis whose specialisations cannot beat the best one found is dropped: a specialisation covers fewer rows, so
    the positive rows that are not covered stay so. ``log_odds`` is log((1 − η) / η), the weight of each correct label.
    """
    d = len(coverage.tables)
    beam = np.full((1, d), ANY, dtype=np.int64)
    bits = np.full((1, coverage.n_words), ~np.uint64(0))
    for table in coverage.tables:
        bits &= table[ANY]
    prior = np.array([sum(w[ANY] for w in weights)])
    # What the constraints still to come can add to a log-prior at the most.
    hopes = np.array([max(0.0, float(w.max() - w[ANY])) for w in weights])
    left_out, wrong = coverage.errors(bits)
    empty = np.full((1, d), EMPTY, dtype=np.int64)
    rows, errors, priors = (
        [empty, beam],
        [np.array([coverage.n_positive]), left_out + wrong],
        [np.array([log_empty]), prior],
    )
    best = max(log_empty - log_odds * coverage.n_positive, float((prior - log_odds * errors[-1]).max()))
    while len(beam):
        longer = _specialise(coverage, beam, bits, prior, weights)
        if longer is None:
            break
        beam, bits, prior = longer
        left_out, wrong = coverage.errors(bits)
        scores = prior - log_odds * (left_out + wrong)
        rows.append(beam)
        errors.append(left_out + wrong)
        priors.append(prior)
        best = max(best, float(scores.max()))
        bound = prior + (beam == ANY) @ hopes - log_odds * left_out
        keep = np.flatnonzero(bound > best)
        keep = keep[np.argsort(-scores[keep], kind="stable")[:width]]
        beam, bits, prior = beam[keep], bits[keep], prior[keep]
    return ScoredHypotheses(np.concatenate(rows), np.concatenate(errors), np.concatenate(priors))


def _specialise(
    coverage: Coverage,
    beam: Codes,
    bits: NDArray[np.uint64],
    prior: NDArray[np.float64],
    weights: list[NDArray[np.float64]],
) -> tuple[Codes, NDArray[np.uint64], NDArray[np.float64]] | None:
    """Return every hypothesis with one more constraint, each once."""
    rows, words, priors = [], [], []
    for j, table in enumerate(coverage.tables):
        free = np.flatnonzero(beam[:, j] == ANY)
        n = len(table) - 1
        if not n or not len(free):
            continue
        new = np.repeat(beam[free], n, axis=0)
        new[:, j] = np.tile(np.arange(1, n + 1), len(free))
        rows.append(new)
        words.append((bits[free, None, :] & table[None, 1:, :]).reshape(-1, bits.shape[1]))
        priors.append((prior[free, None] - weights[j][ANY] + weights[j][None, 1:]).ravel())
    if not rows:
        return None
    constraints, first = np.unique(np.concatenate(rows), axis=0, return_index=True)
    return constraints, np.concatenate(words)[first], np.concatenate(priors)[first]
