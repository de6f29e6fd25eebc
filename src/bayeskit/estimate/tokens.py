"""Token counts → log tables: the multinomial, Bernoulli and complement models of text, and pruned vocabularies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.tokens import TokenCounts
from bayeskit.errors import BayeskitError


@dataclass(frozen=True)
class TokenTable:
    """A linear model of a document: log P(d, c) = bias(c) + Σ_w value(w) · table(w, c).

    Most cells of the table follow from their word and class alone: they are ``scale[c] · (row[w] + column[c])``, and
    only the cells of words that were seen in a class are kept one by one, in compressed rows.
    """

    words: NDArray[np.int64]  # (n_kept,) which words of the counts
    row: NDArray[np.float64]  # (n_kept,)
    column: NDArray[np.float64]  # (n_classes,)
    scale: NDArray[np.float64]  # (n_classes,)
    indptr: NDArray[np.int64]  # (n_kept + 1,)
    codes: NDArray[np.int64]  # (n_cells,)
    cells: NDArray[np.float64]  # (n_cells,)
    bias: NDArray[np.float64]  # (n_classes,)
    # What a token outside the vocabulary adds; None where it is skipped.
    others: NDArray[np.float64] | None = None
    # Whether a word counts once per document.
    binary: bool = False

    def dense(self) -> NDArray[np.float64]:
        """Return the table, of shape (n_kept, n_classes)."""
        with np.errstate(invalid="ignore"):
            table = self.scale * (self.row[:, None] + self.column)
        table[np.repeat(np.arange(len(self.row)), np.diff(self.indptr)), self.codes] = self.cells
        return table


@dataclass(frozen=True)
class TokenCells:
    """The counts of the words that are kept."""

    words: NDArray[np.int64]
    indptr: NDArray[np.int64]
    codes: NDArray[np.int64]
    n: NDArray[np.float64]
    n_classes: int
    # Words that the model knows of: those kept, or all buckets of a hashed vocabulary.
    size: int

    @property
    def word_of(self) -> NDArray[np.int64]:
        """The position of each cell's word."""
        return np.repeat(np.arange(len(self.words)), np.diff(self.indptr))

    def by_class(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of a number per cell, class by class."""
        return np.bincount(self.codes, values, self.n_classes).astype(np.float64)

    def by_word(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of a number per cell, word by word."""
        return np.bincount(self.word_of, values, len(self.words)).astype(np.float64)


def kept_words(counts: TokenCounts, drop_frequent: int, min_count: float, select: int | None) -> NDArray[np.int64]:
    """Return the words of the vocabulary: without the most frequent ones and those seen fewer than ``min_count`` times.

    With ``select``, of the rest those with the highest mutual information between class and occurrence in a document.
    Ties of frequency or information are broken by alphabetical order, not by the order of the documents, so that
    counts may be added in any order.
    """
    # Where documents were transformed, sums of values are no counts: a word is as frequent as its documents are.
    n = counts.n_token if counts.transform.is_plain else counts.n_document
    total = np.add.reduceat(n, counts.indptr[:-1]) if counts.n_words else np.empty(0)
    # The shares of a document that counts for several classes sum to 1 up to rounding.
    keep = np.asarray(total >= min_count * (1 - 1e-9))
    if drop_frequent:
        keep[_highest(total, drop_frequent, counts, np.arange(counts.n_words))] = False
    words = np.flatnonzero(keep)
    if select is not None and select < len(words):
        # Sums over classes are rounded in the order of the classes' cells; what differs by less is equal.
        information = np.round(occurrence_information(counts)[words], 12)
        words = np.sort(words[_highest(information, select, counts, words)])
    if not len(words):
        raise BayeskitError(
            f"no word is left of {counts.n_words}: drop_frequent={drop_frequent} and min_count={min_count:g} remove "
            "all of them; use lower numbers."
        )
    return words


def _highest(values: NDArray[Any], n: int, counts: TokenCounts, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the n highest values; of equal ones, those whose words come first by their letters."""
    if n >= len(values):
        return np.arange(len(values))
    cut = np.partition(values, len(values) - n)[len(values) - n]
    above, equal = np.flatnonzero(values > cut), np.flatnonzero(values == cut)
    data, begins = counts.bytes.tobytes(), counts.offsets
    first = sorted(equal.tolist(), key=lambda k: data[begins[words[k]] : begins[words[k] + 1]])
    return np.concatenate([above, np.array(first[: n - len(above)], dtype=np.int64)])


def occurrence_information(counts: TokenCounts) -> NDArray[np.float64]:
    r"""Return the mutual information, in nats, between the class and whether each word occurs in a document.

    .. math:: I(C; W) = \sum_c \sum_{w \in \{0, 1\}} P(c, w) \log \frac{P(c, w)}{P(c) P(w)}

    References
    ----------
    McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification, eq. 9.
    """
    n, total = counts.n_class.astype(np.float64), float(counts.n_class.sum())
    # Absent in class c: every class takes part, also those without a cell.
    document = counts.n_document.astype(np.float64)
    word = np.repeat(np.arange(counts.n_words), np.diff(counts.indptr))
    present = np.bincount(word, document, counts.n_words).astype(np.float64)  # documents with the word
    absent = total - present

    def term(joint: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = joint / total * np.log(joint * total / (a * b))
        return np.where(joint > 0, value, 0.0)

    inside = np.bincount(word, term(document, present[word], n[counts.codes]), counts.n_words)
    missing = np.bincount(word, term(n[counts.codes] - document, absent[word], n[counts.codes]), counts.n_words)
    # In classes without a cell all documents lack the word: n_c / N · log(N / absent).
    others = total - np.bincount(word, n[counts.codes], counts.n_words)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(others > 0, others / total * np.log(total / absent), 0.0)
    return np.asarray(inside + missing + rest)


def telling_words(counts: TokenCounts, most: int) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the words that tell most about the class, and how many documents of each class have them.

    Words that tell as much are in the order of their letters.
    """
    told = occurrence_information(counts) if counts.n_words else np.empty(0)
    words = counts.words
    order = np.lexsort((np.array(words, dtype=object), -np.round(told, 12)))[:most]
    n = np.zeros((len(order), len(counts.classes)))
    for row, word in enumerate(order.tolist()):
        cells = slice(counts.indptr[word], counts.indptr[word + 1])
        n[row, counts.codes[cells]] = counts.n_document[cells]
    return tuple(words[word] for word in order.tolist()), n


def inverse_frequency(counts: TokenCounts) -> NDArray[np.float64]:
    """Return log(N / n_w) of each word, n_w the documents that hold it."""
    present = np.add.reduceat(counts.n_document, counts.indptr[:-1]) if counts.n_words else np.empty(0)
    return np.asarray(np.log(counts.n_class.sum() / present))


def cells_of(counts: TokenCounts, words: NDArray[np.int64], values: NDArray[Any]) -> TokenCells:
    """Return the cells of some words, with one number each."""
    sizes = np.diff(counts.indptr)[words]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(words) == counts.n_words:
        chosen: Any = slice(None)
    else:
        chosen = np.repeat(counts.indptr[words] - indptr[:-1], sizes) + np.arange(indptr[-1])
    size = counts.tokenizer.hashing or len(words)
    numbers = values[chosen].astype(np.float64)
    return TokenCells(words, indptr, counts.codes[chosen], numbers, len(counts.classes), size)


def multinomial(cells: TokenCells, smoothing: float, log_prior: NDArray[np.float64], hashed: bool) -> TokenTable:
    r"""Estimate P(w | c) = (n_wc + λ) / (n_c + λ |V|).

    References
    ----------
    Mitchell (1997), Machine Learning, table 6.2 (Learn_Naive_Bayes_Text).
    """
    with np.errstate(divide="ignore"):
        log_size = np.log(cells.by_class(cells.n) + smoothing * cells.size)
        empty = np.log(smoothing) - log_size
        logs = np.log(cells.n + smoothing)
    even = np.isneginf(log_size)  # a class without a token says nothing about words
    column = np.where(even, -np.log(max(cells.size, 1)), empty)
    return TokenTable(
        cells.words,
        np.zeros(len(cells.words)),
        column,
        np.ones(cells.n_classes),
        cells.indptr,
        cells.codes,
        logs - log_size[cells.codes],
        log_prior,
        others=column if hashed else None,
    )


def bernoulli(cells: TokenCells, smoothing: float, log_prior: NDArray[np.float64], n_class: NDArray[Any]) -> TokenTable:
    r"""Estimate P(w in d | c) = (N_wc + λ) / (N_c + 2λ); words that a document does not contain count too.

    .. math:: \log P(d, c) = \log P(c) + \sum_w \log(1 - p_{wc}) + \sum_{w \in d} \log \frac{p_{wc}}{1 - p_{wc}}

    References
    ----------
    McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
    """
    n_class = n_class.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_all = np.log(n_class + 2 * smoothing)
        empty_in, empty_out = np.log(smoothing) - log_all, np.log(n_class + smoothing) - log_all
        cell_in = np.log(cells.n + smoothing) - log_all[cells.codes]
        cell_out = np.log(n_class[cells.codes] - cells.n + smoothing) - log_all[cells.codes]
        seen = np.bincount(cells.codes, minlength=cells.n_classes)
        bias = log_prior + (len(cells.words) - seen) * empty_out + cells.by_class(cell_out)
    return TokenTable(
        cells.words,
        np.zeros(len(cells.words)),
        empty_in - empty_out,
        np.ones(cells.n_classes),
        cells.indptr,
        cells.codes,
        cell_in - cell_out,
        bias,
        binary=True,
    )


def complement(
    cells: TokenCells, smoothing: float, norm: bool, log_prior: NDArray[np.float64], hashed: bool
) -> TokenTable:
    r"""Weight words by how rare they are in all the other classes.

    .. math:: w_{wc} = -\log \frac{λ + \sum_{c' \ne c} n_{wc'}}{λ |V| + \sum_{c' \ne c} \sum_{w'} n_{w'c'}}

    With ``norm``, weights of a class are divided by the sum of their absolute values. As in scikit-learn the prior is
    not used, unless there is only one class.

    References
    ----------
    Rennie, Shih, Teevan and Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers, table 4.
    """
    total = cells.by_word(cells.n)
    with np.errstate(divide="ignore"):
        row = np.log(total + smoothing)
        # Rounding of weighted sums must not leave less than nothing.
        rest = np.log(np.maximum(total[cells.word_of] - cells.n, 0.0) + smoothing)
        size = np.log(np.maximum(total.sum() - cells.by_class(cells.n), 0.0) + smoothing * cells.size)
        others = np.log(smoothing) - size
    scale = np.full(cells.n_classes, -1.0)
    if norm:
        # Σ_w log θ_wc over all words: those without a cell in c have the sum of all classes.
        inside = cells.by_class(row[cells.word_of])
        logs = row.sum() - inside + cells.by_class(rest) - len(cells.words) * size
        if hashed:
            logs = logs + (cells.size - len(cells.words)) * others
        scale = 1.0 / logs
    values = scale[cells.codes] * (rest - size[cells.codes])
    bias = log_prior if cells.n_classes == 1 else np.zeros(cells.n_classes)
    unknown = scale * others if hashed else None
    return TokenTable(cells.words, row, -size, scale, cells.indptr, cells.codes, values, bias, unknown)
