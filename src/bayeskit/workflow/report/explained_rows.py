"""Rows to explain in a report: typical ones of the largest classes, and the least certain ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.result import Result
from bayeskit.workflow.report.html import short

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# Rows among which they are chosen.
MOST_LOOKED_AT = 50_000
MOST_TYPICAL = 2
MOST_UNCERTAIN = 2
# Lines of one waterfall; weaker evidence is summed up in one more.
MOST_LINES = 12
# Places of a label, so that it fits in the picture.
MOST_PLACES = 38


@dataclass(frozen=True, repr=False)
class ExplainedRow(Result):
    """A row with the evidence that the model finds in it."""

    number: int  # the first row is 1
    truth: Any
    title: str
    explanation: Any


def explained_rows(result: Training) -> tuple[list[ExplainedRow], list[ExplainedRow]]:
    """Return typical rows of the largest classes, and the rows that the saved model is least certain of.

    One model both chooses and explains the rows, so that an uncertain row is never surer than a typical one.
    """
    source, y = result.table.features.source, result.table.labels.y
    rows = np.arange(len(y))
    if len(rows) > MOST_LOOKED_AT:
        rows = np.sort(np.random.default_rng(0).choice(len(y), MOST_LOOKED_AT, replace=False))
        source, y = source.take(rows), y[rows]
    posterior = result.trained.predict_proba(source)
    p_true = posterior[np.arange(len(y)), y]
    typical = []
    for c in np.argsort(-np.bincount(y), kind="stable")[:MOST_TYPICAL]:
        mine = np.flatnonzero(y == c)
        typical.append(int(mine[np.argsort(p_true[mine], kind="stable")[len(mine) // 2]]))
    uncertain = np.argsort(posterior.max(axis=1), kind="stable")[:MOST_UNCERTAIN].tolist()
    return [_explained(result, int(rows[i]), "a typical") for i in typical], [
        _explained(result, int(rows[i]), "an uncertain") for i in uncertain
    ]


def _explained(result: Training, row: int, what: str) -> ExplainedRow:
    model, target = result.trained, result.table.labels
    cells = target.table.slice(row, 1).select(list(model.schema_.names)).to_pylist()[0]
    truth = target.classes[target.y[row]]
    where = " of the sample" if result.table.n_sampled else ""
    return ExplainedRow(row + 1, truth, f"Row {row + 1}{where}, {what} {truth}", model.explain(cells))


def waterfall_lines(explanation: Any) -> tuple[list[str], list[float], list[bool]]:
    """Return labels, terms and use of the strongest evidence, and what all the rest adds."""
    strong = explanation.strongest()
    labels, terms, used = strong.labels(), strong.terms.tolist(), strong.used.tolist()
    labels = [short(label, MOST_PLACES) for label in labels]
    if len(labels) > MOST_LINES + 1:
        others = f"{len(labels) - MOST_LINES} other columns"
        labels, used = [*labels[:MOST_LINES], others], [*used[:MOST_LINES], True]
        terms = [*terms[:MOST_LINES], sum(terms[MOST_LINES:])]
    if strong.floor:
        labels, terms, used = [*labels, "floor"], [*terms, strong.floor], [*used, True]
    return labels, terms, used
