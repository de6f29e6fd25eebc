"""Models scored on a table file that holds the true classes, batch by batch, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import ROW_MEASURES, Measure, Scores, measure_of, row_scores
from bayeskit.errors import BayeskitError, TableError
from bayeskit.progress import Progress, report_step
from bayeskit.result import Result
from bayeskit.workflow.model_columns import ModelColumns, batch_labels, target_type

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.table.files import Rows
    from bayeskit.workflow.drift import ColumnDrift


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """The scores of a model on a file."""

    scores: Scores
    target: str
    n_unlabelled: int  # rows without a true class, which were left out
    # Columns that differ from those of the training table; none where the model does not know it.
    drifts: tuple[ColumnDrift, ...] = ()


@dataclass(frozen=True, repr=False)
class PairedComparison(Result):
    """Two models on the same rows."""

    n_rows: int
    # Measure → that of the first model, of the second, and of the difference second − first, taken row by row.
    measures: dict[str, tuple[Measure, Measure, Measure]]
    only_first_right: int
    only_second_right: int
    p_value: float  # of McNemar's exact test


def evaluate(
    model: Any,
    file: Rows,
    target: str | None = None,
    loss: Loss | None = None,
    progress: Progress | None = None,
    *,
    strict: bool = False,
    decimal: str | None = None,
) -> Evaluation:
    """Score a classifier on a file that holds the true classes.

    Parameters
    ----------
    model : classifier
        A fitted classifier.
    file : TableFile or ScannedRows
        The rows; the file may be larger than memory.
    target : str, optional
        The column that holds the true classes; by default the one that the model was fitted with.
    loss : Loss, optional
        Makes the decisions of least expected loss, and scores them.
    progress : callable, optional
        Called before each batch of rows; ``total`` is 0 where the number of batches is not known.
    strict, decimal
        As in :class:`bayeskit.workflow.model_columns.ModelColumns`; warnings say what did not fit.
    """
    target = _target_of(model, target, file)
    total: Scores | None = None
    unlabelled = 0
    columns = [ModelColumns(model, file, strict=strict, decimal=decimal)]
    for done, ((posterior,), y, left_out) in enumerate(_scored_batches(columns, file, target)):
        report_step(progress, file.name, done, file.n_batches())
        scores = Scores.of(posterior, y, model.classes_.tolist(), loss)
        total = scores if total is None else total + scores
        unlabelled += left_out
    if total is None:
        raise TableError(f"{file.shown} has no row with a value of {target!r}.")
    columns[0].warn(drift=False)
    drift = columns[0].drift
    return Evaluation(total, target, unlabelled, () if drift is None else tuple(drift.drifts))


def compare_models(
    first: Any,
    second: Any,
    file: Rows,
    target: str | None = None,
    *,
    strict: bool = False,
    decimal: str | None = None,
) -> PairedComparison:
    """Compare two classifiers on the rows of one file that holds the true classes.

    The p-value is that of McNemar's exact test: the probability of a split at least as uneven among the rows that one
    model alone gets right, if both were equally good.
    """
    refuse_other_classes(first, second)
    target = _target_of(first, target, file)
    columns = [ModelColumns(model, file, strict=strict, decimal=decimal) for model in (first, second)]
    comparison = paired((posteriors, y) for posteriors, y, _ in _scored_batches(columns, file, target))
    if comparison is None:
        raise TableError(f"{file.shown} has no row with a value of {target!r}.")
    for each in columns:
        each.warn()
    return comparison


def refuse_other_classes(first: Any, second: Any) -> None:
    """Refuse two models that do not have the same classes."""
    labels = [model.classes_.tolist() for model in (first, second)]
    if labels[0] != labels[1]:
        raise BayeskitError(f"the models do not have the same classes: {labels[0]} and {labels[1]}.")


def paired(batches: Iterable[tuple[Sequence[NDArray[np.float64]], NDArray[np.intp]]]) -> PairedComparison | None:
    """Compare the posteriors of two models, batch by batch, with the true classes; None where there is no row."""
    from scipy.stats import binomtest

    sums: Any = 0
    only = [0, 0]
    n_rows = 0
    for posteriors, y in batches:
        a, b = (row_scores(posterior, y) for posterior in posteriors)  # (n_measures, n_rows)
        right = (a[0] == 0, b[0] == 0)
        only[0] += int((right[0] & ~right[1]).sum())
        only[1] += int((right[1] & ~right[0]).sum())
        rows = np.stack([a, b, b - a], axis=1)  # (n_measures, first / second / difference, n_rows)
        sums = sums + np.stack([rows.sum(axis=2), (rows**2).sum(axis=2)], axis=-1)
        n_rows += len(y)
    if not n_rows:
        return None
    measures = {
        name: (measure_of(each[0], n_rows), measure_of(each[1], n_rows), measure_of(each[2], n_rows))
        for name, each in zip(ROW_MEASURES, sums, strict=True)
    }
    split = sum(only)
    p_value = float(binomtest(only[0], split).pvalue) if split else 1.0
    return PairedComparison(n_rows, measures, only[0], only[1], p_value)


def _target_of(model: Any, named: str | None, file: Rows) -> str:
    target = named or model.target_
    if target is None:
        raise TableError(
            "the model was fitted without a target name; name the column that holds the true class.", "target"
        )
    file.refuse_absent((target,), "the model")
    return str(target)


def _scored_batches(
    columns: list[ModelColumns], file: Rows, target: str
) -> Iterator[tuple[list[NDArray[np.float64]], NDArray[np.intp], int]]:
    """Yield each model's posteriors of a batch, the true classes, and how many rows had none and were left out.

    All models must have the same classes. Each reads its own columns; two models read the file twice, in step.
    """
    import pyarrow as pa

    model = columns[0].model
    labels = {target: target_type(model)}
    done = 0
    for batches in zip(*(each.batches(labels) for each in columns), strict=True):
        column = model.conversions.respelled(batches[0][1][target], target)
        if columns[0].drift is not None:
            columns[0].drift.add(pa.table({target: column}))
        y, known = batch_labels(model, column, done, file.place)
        done += len(column)
        if known.any():
            rows = pa.array(known)
            posteriors = [each.posterior(table.filter(rows)) for each, (table, _) in zip(columns, batches, strict=True)]
            yield posteriors, y[known], int((~known).sum())
