"""The columns: their importance, and how each differs between the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.explain.model_summary import ModelSummary
from bayeskit.kinds import kinds
from bayeskit.language import label
from bayeskit.result import text_width as width
from bayeskit.table.column import Numbers
from bayeskit.workflow.importance import ColumnImportance
from bayeskit.workflow.report.curve_svg import histogram_svg
from bayeskit.workflow.report.html import bar, e, grid, not_shown, section, short
from bayeskit.workflow.wording import count, number

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# More columns, values or classes than this are counted instead of shown.
MOST_COLUMNS = 40
MOST_VALUES = 12
MOST_CLASSES = 8
# Classes stand side by side by their names, where they have at most so many places; others by their numbers.
FEW_CLASSES = 3
SHORT_NAME, SHORT_NAME_OF_MANY = 8, 4
BINS = 24


def importance(result: Training, told: Sequence[ColumnImportance]) -> str:
    """List the columns, the most informative first."""
    top = max((each.information for each in told), default=0.0) or 1.0
    kinds = {note.name: note.kind for note in result.table.features.notes}
    rows = []
    for each in told[:MOST_COLUMNS]:
        rise = "" if each.rise is None else f"{each.rise.value:+.4f} <small>± {each.rise.se:.4f}</small>"
        shared = f"{each.information:.3f}{bar(each.information / top)}"
        rows.append(("", [e(each.name), e(label(kinds.get(each.name, ""))), shared, rise]))
    return section(
        "importance",
        "Importance of columns",
        f"The mutual information of each column alone with {e(result.table.target)}, minus the part "
        "expected by chance (of a text, that of its most telling word); and the increase of the log-loss on held-out "
        "rows when the column is hidden from the model. A column can have much information and a small increase, where "
        "other columns hold the same information.",
        grid(("column", "kind", "information in bits", "increase of log-loss"), rows, numbers=(2, 3)),
        not_shown(len(told) - len(rows), "column"),
    )


def value_tables(result: Training, told: Sequence[ColumnImportance]) -> str:
    """Show P(value | class) of every column, and a histogram by class of its numbers."""
    summary = result.model.summary()
    if isinstance(summary, ModelSummary):  # of a model that is fitted whole and has no P(value | class)
        return section("values", "What the model learned", "Its summary:", f"<pre>{e(summary.body)}</pre>")
    features = {feature.name: feature for feature in summary.features}
    names = [each.name for each in told if each.name in features]
    shown = names[:MOST_COLUMNS]
    more = len(names) - len(shown)
    words = f" {count(more, 'column')} more not shown." if more else ""
    if len(summary.classes) > MOST_CLASSES:
        words += f" The {MOST_CLASSES} largest classes are shown."
    order = np.sort(np.argsort(-summary.n_class, kind="stable")[:MOST_CLASSES])
    labels = [short(summary.classes[c]) for c in order]
    many = len(order) > FEW_CLASSES
    heads = labels
    if max(map(width, labels)) > (SHORT_NAME_OF_MANY if many else SHORT_NAME):
        heads = [str(k + 1) for k in range(len(order))]
        labels = [f"{head} {label}" for head, label in zip(heads, labels, strict=True)]
    key = "".join(f'<span class="key c{k}">{e(label)}</span>' for k, label in enumerate(labels))
    cards = "".join(_card(result, features[name], heads, order) for name in shown)
    return section(
        "values",
        "Values by class",
        f"P(value | class) for each class of {e(result.table.target)}, the most informative columns first; for "
        f"numbers a histogram of each class, all on one scale.{words}",
        f'<p class="keys">{key}</p><div class="cards{" many" if many else ""}">{cards}</div>',
    )


def _card(result: Training, feature: Any, heads: Sequence[str], order: NDArray[np.intp]) -> str:
    body = _histogram(result, feature.name, order)
    if feature.table is not None and len(feature.values) == 1:
        body += f'<p class="note">{kinds()[feature.kind].one_value}</p>'
    elif feature.table is not None:
        body += _values(feature, heads, order)
    elif feature.parameters:
        names, values = list(feature.parameters), np.array([each[order] for each in feature.parameters.values()])
        if len(order) > FEW_CLASSES:  # a line per class has room for the digits
            names, heads, values = list(heads), names, values.T
        rows = "".join(
            f'<tr><td class="name">{e(name)}</td>' + "".join(f"<td>{number(value)}</td>" for value in line) + "</tr>"
            for name, line in zip(names, values, strict=True)
        )
        body += _table(heads, rows)
    return f'<div class="card"><h3>{e(feature.name)}</h3>{body}</div>'


def _values(feature: Any, heads: Sequence[str], order: NDArray[np.intp]) -> str:
    rank = np.arange(len(feature.values))
    if len(rank) > MOST_VALUES:
        rank = np.sort(np.argsort(-feature.table.sum(axis=1), kind="stable")[:MOST_VALUES])
    # One scale for the whole table, so that bars can be compared along rows and columns.
    top = float(feature.table[np.ix_(rank, order)].max()) or 1.0
    rows, digits = "", 3 if len(order) <= FEW_CLASSES else 2
    for v in rank:
        cells = "".join(f"<td>{p:.{digits}f}{bar(p / top)}</td>" for p in feature.table[v, order])
        rows += f'<tr><td class="name">{e(short(feature.values[v]))}</td>{cells}</tr>'
    if len(rank) < len(feature.values):
        more = count(len(feature.values) - len(rank), "value")
        rows += f'<tr><td colspan="{len(order) + 1}"><small>{more} more</small></td></tr>'
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: str) -> str:
    top = "".join(f"<th>{e(head)}</th>" for head in ("", *heads))
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>'


def _histogram(result: Training, name: str, order: NDArray[np.intp]) -> str:
    source, y = result.table.features.source, result.table.labels.y
    column = source.named_column(name)
    if not isinstance(column, Numbers) or column.values.dtype.kind == "b" or result.table.features.kinds.get(name):
        return ""
    values = column.values.astype(np.float64)
    known = np.isfinite(values)
    if not known.any():
        return ""
    # A few far numbers do not squeeze all others into one bin: they are counted in the outermost.
    low, high = np.quantile(values[known], [0.005, 0.995])
    if not low < high:
        low, high = float(values[known].min()), float(values[known].max())
    if not low < high:
        return ""
    edges = np.linspace(low, high, BINS + 1)
    inside = np.clip(values, low, high)
    shares = np.zeros((len(order), BINS))
    for k, c in enumerate(order):
        mine = inside[known & (y == c)]
        shares[k] = np.histogram(mine, edges)[0] / max(len(mine), 1)
    return histogram_svg(shares, e(number(float(low), 3)), e(number(float(high), 3)))
