"""The scores of the best model in each group of rows, such as women and men."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import Scores
from bayeskit.workflow.report.html import e, grid, not_shown, section, short
from bayeskit.workflow.wording import number, percent

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# More groups than this are counted instead of shown.
MOST_GROUPS = 20
# Numbers with more values than this are cut into quarters.
FEW_VALUES = 12


def by_group(result: Training) -> str:
    """Score the held-out predictions of each group of the columns that were asked for."""
    return "".join(_column(result, name) for name in result.scores_by)


def _column(result: Training, name: str) -> str:
    board, labels = result.board, result.table.labels
    scored = board.scored_rows
    y, posterior = labels.y[scored], board.best.held_out[1][scored]
    groups, titles = groups_of(labels.table[name].filter(_mask(scored)))
    # The largest groups, in the order of their names or numbers.
    order = np.sort(np.argsort(-np.bincount(groups, minlength=len(titles)), kind="stable")[:MOST_GROUPS])
    two = len(labels.classes) == 2
    head = ["group", "rows", "error", "log-loss"]
    head += [f"P({short(labels.classes[1], 16)})", "predicted", "recall", "false alarms"] if two else ["calibration"]
    rows = []
    for k in order:
        mine = groups == k
        if not mine.any():
            continue
        scores = Scores.of(posterior[mine], y[mine], labels.classes.tolist(), board.loss)
        cells = [
            e(short(titles[k], 40)),
            f"{int(mine.sum()):,}",
            _with_error(scores.error),
            _with_error(scores.log_loss),
        ]
        cells += _two_classes(posterior[mine, 1], y[mine]) if two else [_with_error(scores.calibration_error)]
        rows.append(("", cells))
    return section(
        f"group-{result.scores_by.index(name)}",
        f"Scores by {short(name, 40)}",
        "The held-out rows of each group, scored by themselves; ± is the standard error. A difference of less than two "
        "standard errors may be chance."
        + (" Predicted is the mean of the probabilities, which should equal the share beside it." if two else ""),
        grid(head, rows, numbers=range(1, len(head))),
        not_shown(len(titles) - min(len(titles), MOST_GROUPS), "group"),
    )


def groups_of(column: Any) -> tuple[NDArray[np.intp], list[str]]:
    """Return the group of each row, and the groups' names; many numbers are cut into quarters.

    >>> import pyarrow as pa
    >>> groups, names = groups_of(pa.chunked_array([["f", "m", None, "f"]]))
    >>> groups.tolist(), names
    ([0, 1, 2, 0], ['f', 'm', 'missing'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    many = len(pc.unique(column.drop_null())) > FEW_VALUES
    if many and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        values = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
        known = ~np.isnan(values)
        edges = np.unique(np.quantile(values[known], [0.25, 0.5, 0.75]))
        groups = np.searchsorted(edges, values, side="right")
        ends = [number(float(edge), 3) for edge in edges]
        names = [f"below {ends[0]}", *(f"{a} to {b}" for a, b in pairwise(ends)), f"from {ends[-1]}"]
    else:
        text = pc.cast(column, pa.string())
        names = sorted(pc.unique(text.drop_null()).to_pylist())
        known = np.asarray(pc.is_valid(text))
        groups = np.searchsorted(np.array(names, dtype=object), [word or "" for word in text.to_pylist()])
    if not known.all():
        names = [*names, "missing"]
        groups = np.where(known, groups, len(names) - 1)
    return groups.astype(np.intp), names


def _mask(scored: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(scored)


def _with_error(measure: Any) -> str:
    return f"{measure.value:.4f} <small>± {measure.se:.4f}</small>"


def _two_classes(p: NDArray[np.float64], y: NDArray[Any]) -> list[str]:
    positive, called = y == 1, p > 0.5
    recall = percent(float(called[positive].mean())) if positive.any() else "–"
    alarms = percent(float(called[~positive].mean())) if not positive.all() else "–"
    return [percent(float(positive.mean())), percent(float(p.mean())), recall, alarms]
