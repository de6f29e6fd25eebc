"""Columns of free text: a multinomial distribution of words in each class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.tokens import TokenCounts, Transform
from bayeskit.estimate import tokens
from bayeskit.estimate.event_models import Multinomial
from bayeskit.estimate.smoothing import as_smoothing
from bayeskit.estimate.word_table import WordTable, word_sums
from bayeskit.kinds.kind import Cells, Estimation, FitContext, Grid, Kind, Statistics
from bayeskit.table.column import Column
from bayeskit.table.encode import as_texts
from bayeskit.table.schema import Variable


class Text(Kind):
    r"""Free text: a cell is a document, of which the order of words says nothing.

    .. math:: \log P(d \mid c) = \sum_{w \in d} \log \frac{n_{w,c} + λ}{n_c + λ |V|}

    The parameters are a table of words and classes. A missing cell is summed out; a cell without a known word says
    nothing. Words that were not seen in fit are left out, or with ``unseen="smooth"`` have one slot together. The
    length of a text is taken as given, so that a column of text has no finite list of values.

    References
    ----------
    Mitchell (1997), Machine Learning, table 6.2 (Learn_Naive_Bayes_Text).
    """

    name = "text"
    coded = False
    words = ("text",)
    description = "a multinomial distribution of words, for free text"
    takes_text = True
    holds = "text"
    maximizes = True
    one_value = "All of its texts are the same."

    @property
    def plain(self) -> bool:
        """Whether the cells are categories or numbers: they are neither."""
        return False

    def learn(self, columns: Sequence[Column], names: Sequence[str], word: str, training: FitContext) -> list[Variable]:
        """Check that every cell is text; words are counted, not listed."""
        for column, name in zip(columns, names, strict=True):
            as_texts(column, name)
        return [Variable(name, self.name) for name in names]

    def unfit(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return that no number is a text."""
        return np.asarray(~np.isnan(numbers))

    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[WordTable]:
        """Smooth the counts of each word by λ."""
        return [_word_table(counts, settings) for counts in statistics.texts]

    def log_prior(self, statistics: Statistics, parameters: Sequence[Any], settings: Estimation) -> float:
        """Return Σ λ log P(w | c), the log-density of a Dirichlet distribution: λ more of each word."""
        total = 0.0
        for table in parameters:
            pseudo = _pseudo_count(table.counts, settings)
            total += pseudo * float(table.table.dense().sum()) if pseudo else 0.0
            if pseudo and settings.unseen == "smooth":
                total += pseudo * float(table.table.others.sum())
        return total

    def log_density(self, variable: Variable, parameters: WordTable, column: NDArray[Any]) -> NDArray[np.float64]:
        """Return Σ log P(w | c) over the words of each text."""
        result = np.zeros((len(column), len(parameters.table.bias)))
        known = _known(column)
        if len(known) and parameters.counts.n_words:
            result[known] = parameters.log_joint(column[known].tolist())
        return result

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Subtract the words of each text from its own class; the vocabulary stays that of all rows."""
        result = np.zeros((len(column), len(statistics.n_class)))
        known, counts = _known(column), statistics.texts[0]
        if not len(known) or not counts.n_words:
            return result
        table = self.estimate(statistics, settings)[0]
        rest = LeftOut(left.y[known], None if left.weight is None else left.weight[known])
        cells = _cells(counts, settings)
        sums = word_sums(cells, counts.n_class, _pseudo_count(counts, settings))
        rows = table.rows_left_out(
            table.bags(column[known].tolist()), Transform(), rest, np.zeros((len(known), result.shape[1]))
        )
        result[known] = Multinomial().log_joint_left_out(sums, rows)
        return result

    def n_parameters(self, variable: Variable, parameters: WordTable) -> int:
        """All probabilities of words in a class but one are free."""
        return len(parameters.table.bias) * max(parameters.counts.n_words - 1, 0)

    def grid(self, variable: Variable, parameters: WordTable) -> Grid:
        """Return no values, which is not exact: texts cannot be listed, so that no question asks for one."""
        return Grid((), np.ones(0), False)

    def sample(
        self, variable: Variable, parameters: WordTable, c: int, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Draw words of the class; as many as a text has on average, whatever the class."""
        counts = parameters.counts
        texts = np.full(size, "", dtype=object)
        if not counts.n_words:
            return texts
        share = np.exp(parameters.table.dense()[:, c])
        lengths = rng.poisson(counts.n_token.sum() / counts.n_class.sum(), size)
        drawn = rng.choice(np.array(counts.words, dtype=object), size=lengths.sum(), p=share / share.sum())
        for row, words in enumerate(np.split(drawn, np.cumsum(lengths)[:-1])):
            texts[row] = " ".join(words)
        return texts

    def table(self, variable: Variable, parameters: WordTable) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return P(w | c), one row per word, those first that tell most about the class."""
        words, _ = tokens.telling_words(parameters.counts, parameters.counts.n_words)
        place = {word: k for k, word in enumerate(parameters.counts.words)}
        return words, np.exp(parameters.table.dense())[[place[word] for word in words]]

    def title(self, variable: Variable, target: str) -> str:
        """Return the title: the probabilities are those of words."""
        return f"P(word of {variable.name} | {target})"

    def cells(self, variable: Variable) -> Cells:
        """Return text."""
        return "text"


def _known(column: NDArray[Any]) -> NDArray[np.intp]:
    return np.flatnonzero(np.array([cell is not None for cell in column], dtype=bool))


def _pseudo_count(counts: TokenCounts, settings: Estimation) -> float:
    return as_smoothing(settings.smoothing).pseudo_count(counts.n_words + (settings.unseen == "smooth"))


def _cells(counts: TokenCounts, settings: Estimation) -> tokens.TokenCells:
    cells = tokens.cells_of(counts, np.arange(counts.n_words), counts.n_token)
    return replace(cells, size=cells.size + (settings.unseen == "smooth"))


def _word_table(counts: TokenCounts, settings: Estimation) -> WordTable:
    even = np.zeros(len(counts.classes))  # the prior of the classes is not the column's
    cells = _cells(counts, settings)
    table = tokens.multinomial(cells, _pseudo_count(counts, settings), even, settings.unseen == "smooth")
    return WordTable(counts, table)
