"""Importance of columns: mutual information with the class, and the increase of the loss when they are hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.text_columns import count_texts
from bayeskit.decide.scores import Measure, measure_of, row_scores
from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import mutual_information
from bayeskit.estimate.tokens import occurrence_information
from bayeskit.learn.labelled import Labelled
from bayeskit.result import Result
from bayeskit.table.column import Coded, Column, Numbers
from bayeskit.table.encode import as_texts
from bayeskit.workflow.candidates import fit_candidate

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# Numbers are cut into this many bins of equal frequency to be counted.
BINS = 10
# Columns that are hidden one by one, rows on which that is done, and rows from which the model for it is learned.
MOST_HIDDEN = 40
MOST_ROWS = 2000
MOST_LEARNED = 50_000


@dataclass(frozen=True, repr=False)
class ColumnImportance(Result):
    """The importance of one column."""

    name: str
    information: float  # mutual information with the class, in bits
    rise: Measure | None = None  # of the log-loss of rows not seen when the column is hidden from the model


def column_importance(result: Training) -> list[ColumnImportance]:
    r"""Return the columns of a training, the most informative first.

    .. math:: I(X; C) = \sum_{v, c} \frac{n_{vc}}{n} \log_2 \frac{n \, n_{vc}}{n_v n_c}
              - \frac{(S - 1)(K - 1)}{2 n \ln 2}

    The second term is the bias of S values and K classes (Miller 1955); numbers are put into ten bins of equal
    frequency, and of a text it is that of its most telling word. The increase of the log-loss is measured on the rows
    of one fold, by a model that was not fitted on them but on at most 50,000 others.
    """
    source, labels = result.table.features.source, result.table.labels
    n_classes = len(labels.classes)
    texts = {note.name for note in result.table.features.notes if note.kind == "text"}
    told = []
    for j, name in enumerate(source.names):
        measure = word_information if name in texts else information
        told.append(ColumnImportance(name, measure(source.column(j), labels.y, n_classes)))
    told.sort(key=lambda each: -each.information)
    rises = _rises(result, [each.name for each in told[:MOST_HIDDEN]])
    return [ColumnImportance(each.name, each.information, rises.get(each.name)) for each in told]


def information(column: Column, y: NDArray[Any], n_classes: int) -> float:
    """Return the mutual information of a column and the class in bits, minus its bias.

    >>> column = Numbers(np.arange(1000) % 2)
    >>> round(information(column, np.arange(1000) % 2, 2), 2)
    1.0
    """
    codes, known = _codes(column)
    n_values = int(codes.max(initial=-1)) + 1
    n = int(known.sum())
    if n_values < 2 or not n:
        return 0.0
    table = np.bincount(codes[known] * n_classes + y[known], minlength=n_values * n_classes).reshape(n_values, -1)
    bits = mutual_information(table) / np.log(2)
    chance = ((table.sum(axis=1) > 0).sum() - 1) * ((table.sum(axis=0) > 0).sum() - 1) / (2 * n * np.log(2))
    return max(float(bits - chance), 0.0)


def word_information(column: Column, y: NDArray[Any], n_classes: int) -> float:
    """Return the mutual information of the class and whether a text has its most telling word, in bits, minus its bias.

    >>> texts = Coded(np.array([0, 1] * 500, dtype=np.uint16), ("cheap pills", "lunch at noon"))
    >>> round(word_information(texts, np.arange(1000) % 2, 2), 2)
    1.0
    """
    words = count_texts(as_texts(column, ""), y, np.arange(n_classes), None)
    if not words.n_words:
        return 0.0
    bits = float(occurrence_information(words).max()) / np.log(2)
    return max(float(bits - ((words.n_class > 0).sum() - 1) / (2 * float(words.n_class.sum()) * np.log(2))), 0.0)


def _codes(column: Column) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return a column as small codes, and which of its cells hold a value."""
    known = ~column.missing()
    if isinstance(column, Coded):
        return np.where(known, column.codes, 0).astype(np.intp), known
    values = column.values.astype(np.float64)
    different = np.unique(values[known])
    if len(different) > 2 * BINS:
        different = np.unique(np.quantile(values[known], np.arange(1, BINS) / BINS))
        return np.searchsorted(different, values, side="right").astype(np.intp), known
    return np.minimum(np.searchsorted(different, values), len(different) - 1).astype(np.intp), known


def _rises(result: Training, names: list[str]) -> dict[str, Measure]:
    """Return the increase of the log-loss on held-out rows when a column is hidden from the model."""
    source, labels, board = result.table.features.source, result.table.labels, result.board
    last = int(board.part.max())
    here, others = np.flatnonzero(board.part == last)[:MOST_ROWS], np.flatnonzero(board.part != last)
    if len(others) > MOST_LEARNED:
        others = np.sort(np.random.default_rng(0).choice(others, MOST_LEARNED, replace=False))
    present, y = np.unique(labels.y[others], return_inverse=True)
    if len(present) < 2:
        return {}
    try:
        rows = Labelled(source.take(others), y.astype(np.uint32), present, None, result.table.target)
        model = fit_candidate(board.best.model, rows)
        held_out = source.take(here[np.isin(labels.y[here], present)])
        truth = np.searchsorted(present, labels.y[here[np.isin(labels.y[here], present)]])
        usual = row_scores(model.predict_proba(held_out), truth)[1]
        rises = {}
        for name in names:
            columns = tuple(
                _hidden(held_out.column(j)) if other == name else held_out.column(j)
                for j, other in enumerate(held_out.names)
            )
            hidden = type(held_out)(held_out.names, held_out.named, held_out.n_rows, columns)
            change = row_scores(_answered(model, hidden, name), truth)[1] - usual
            rises[name] = measure_of(np.array([change.sum(), (change**2).sum()]), len(change))
        return rises
    except BayeskitError:
        return {}  # a fold with an impossible row is not measured


def _answered(model: Any, rows: Any, name: str) -> NDArray[np.float64]:
    """Return P(c | x) with one column hidden, which is not the same as missing where a missing cell is a level."""
    if not hasattr(model, "log_posterior_hiding"):
        return np.asarray(model.predict_proba(rows))
    hidden = np.zeros((rows.n_rows, len(rows.names)), dtype=bool)
    hidden[:, rows.names.index(name)] = True
    return np.asarray(np.exp(model.log_posterior_hiding(rows, hidden)))


def _hidden(column: Column) -> Column:
    return Numbers(np.full(len(column), np.nan))
