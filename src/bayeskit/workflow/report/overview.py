"""The beginning of a report: what was learned, the list of contents, the columns and the classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.language import label, translated
from bayeskit.workflow.report.html import bar, e, grid, not_shown, section, short
from bayeskit.workflow.wording import clauses, count, percent

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# More columns than this are counted instead of shown.
MOST_COLUMNS = 40
MOST_CLASSES = 30


def header(result: Training) -> str:
    """Return the title, what was learned from what, and the most important numbers."""
    table, board = result.table, result.board
    best, majority = board.best.held_out[0], board.majority.held_out[0]
    used = len(table.features.source.names)
    figures = [
        (percent(best.error.value), f"of rows are predicted wrong (± {100 * best.error.se:.1f} %)"),
        (percent(majority.error.value), "would be wrong if the largest class were always predicted"),
        (f"{best.log_loss.value:.3f}", f"log-loss (± {best.log_loss.se:.3f})"),
        (percent(best.calibration_error.value), "calibration error: how far confidence is from accuracy"),
    ]
    if result.board.loss is not None:
        loss = best.mean_loss
        figures.append((f"{loss.value:.3f}", f"mean loss (± {loss.se:.3f})"))
    if result.test is not None:
        held_out = result.test.scores
        words = f"wrong among {count(held_out.n_rows, 'held-out row')} (± {100 * held_out.error.se:.1f} %)"
        figures.append((percent(held_out.error.value), words))
    cards = "".join(f'<div class="figure"><b>{e(value)}</b><span>{e(words)}</span></div>' for value, words in figures)
    alarm = (
        "" if result.board.beats_majority else f'<p class="alarm">{e(_sentence(result.no_better_than_majority))}</p>'
    )
    title = translated(f"Predicting {e(table.target)}")
    lead = translated(
        f"{e(board.best.name)} learned from {count(table.n_rows, 'row')} and {count(used, 'column')} of "
        f"{e(table.file.name)}. All numbers come from {e(result.folds.described)}: each row was predicted by a model "
        "that had not seen it."
    )
    return f'<header><h1>{title}</h1><p class="lead">{lead}</p>{alarm}<div class="figures">{cards}</div></header>'


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def contents(sections: str) -> str:
    """Return links to the sections of a page."""
    headings = re.findall(r'<section id="([\w-]+)"><h2>(.*?)</h2>', sections)
    items = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in headings)
    return f'<nav aria-label="{label("Contents")}"><ul>{items}</ul></nav>'


def columns(result: Training) -> str:
    """Return the kind of each column, the reason, and how much of it is missing."""
    notes = result.table.features.notes
    rows = []
    for note in notes[:MOST_COLUMNS]:
        style = "out" if note.kind == "left out" else ""
        missing = e(percent(note.missing)) + (bar(note.missing) if note.missing else "")
        rows.append(
            (
                style,
                [e(note.name), e(label(note.kind)), e(clauses(note.why)), missing, f"<small>{e(note.example)}</small>"],
            )
        )
    sampled = result.table.n_sampled
    judged = f" Kinds, bins and missing cells are judged by a random sample of {sampled:,} rows." if sampled else ""
    return section(
        "table",
        "The table",
        "The kind of each column, and the reason. The kind can be given instead, and a column can be left out."
        + judged,
        grid(("column", "kind", "reason", "missing", "example"), rows, numbers=(3,)),
        not_shown(len(notes) - len(rows), "column"),
    )


def balance(result: Training) -> str:
    """Show how many rows of a table each class has."""
    return balance_of(result.table.labels.classes, result.table.n_class, result.table.target)


def balance_of(classes: Sequence[Any] | NDArray[Any], counts: NDArray[Any], target: str, unit: str = "rows") -> str:
    """Show how many rows each class has."""
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    top, total = int(counts.max()), int(counts.sum())
    rows = []
    for k in order:
        share, line = percent(counts[k] / total), bar(counts[k] / top, "long")
        rows.append(("", [e(short(classes[k], 48)), f"{counts[k]:,}", share, line]))
    more = len(counts) - len(order)
    words = f" The {more} smallest classes are not shown." if more else ""
    return section(
        "balance",
        "Class balance",
        f"Number of {unit} of each class of {e(target)}.{words}",
        grid(("class", unit, "share", ""), rows, numbers=(1, 2)),
    )
