"""The report of a chain: its states, what they look like and how they follow each other, and how good it is."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.sequence.rows import Layout, read_sequences
from bayeskit.sequence.sequence_classifier import SequenceClassifier
from bayeskit.workflow.report import judged
from bayeskit.workflow.report.html import e, grid, not_shown, section, short
from bayeskit.workflow.report.page import whole_page
from bayeskit.workflow.report.pictures import can_plot, picture
from bayeskit.workflow.wording import count, percent

if TYPE_CHECKING:
    from bayeskit.workflow.sequences import SequenceTraining

# Columns, and values of each, whose tables are shown; rows of the sequence that is drawn.
MOST_COLUMNS, MOST_VALUES, MOST_DRAWN = 30, 20, 400


def write_chain_report(path: Path, result: SequenceTraining, data: str, command: str = "") -> None:
    """Write the report to a file."""
    from bayeskit.io.container import atomic_write

    with atomic_write(path.absolute()) as file:
        file.write(chain_report(result, data, command).encode("utf-8", "replace"))


def chain_report(result: SequenceTraining, data: str, command: str = "") -> str:
    """Return the report of a chain as one HTML page; ``command`` is how it can be made again."""
    model = result.model
    parts = []
    if result.held_out is not None:
        parts.append(judged.confusion_of(result.held_out, unit=f"{result.unit}s"))
    for name, chain in _chains(model):
        of = f" of class {e(short(name))}" if name is not None else ""
        key = f"-{len(parts)}" if name is not None else ""
        parts += [_sizes(chain, of, key), _states(chain, of, key), _steps(chain, of, key), _columns(chain, of, key)]
    if not isinstance(model, SequenceClassifier):
        parts.append(_drawn(result))
    parts.append(_card(result, data, command))
    return whole_page(model.target_ or "hidden states", _header(result, data), "".join(parts))


def _chains(model: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(model, SequenceClassifier):
        yield from model.chains_.items()
    else:
        yield None, model


def _header(result: SequenceTraining, data: str) -> str:
    model, cards = result.model, ""
    if result.held_out is not None:
        scores = result.held_out
        figures = [
            (percent(scores.error.value) if scores.error.value else "0 %",
             f"of {result.unit}s are predicted wrong (± {100 * scores.error.se:.1f} %)"),
            (f"{scores.log_loss.value:.3f}", f"log-loss (± {scores.log_loss.se:.3f})"),
        ]  # fmt: skip
        inside = "".join(
            f'<div class="figure"><b>{e(value)}</b><span>{e(words)}</span></div>' for value, words in figures
        )
        cards = f'<div class="figures">{inside}</div>'
        words = (
            f"The numbers come from {count(scores.n_rows, result.unit)} of every fifth sequence, which a model of the "
            "others had not seen. The saved model has learned from all."
        )
    else:
        words = "There is no score on held-out sequences: states are hidden, or there are fewer than five sequences."
    return (
        f"<header><h1>{e(type(model).__name__)} of {e(data)}</h1>"
        f'<p class="lead">{e(result.why)}. {words}</p>{cards}</header>'
    )


def _sizes(chain: Any, of: str, key: str) -> str:
    tried = chain.selection_
    if len(tried) < 2:
        return ""
    best = min(each.bic for each in tried)
    rows = [
        (
            "best" if c.bic == best else "",
            [f"{c.n_states}", f"{c.log_likelihood:.1f}", f"{c.n_parameters}", f"{c.bic:.1f}"],
        )
        for c in tried
    ]
    return section(
        f"sizes{key}",
        f"Number of states{of}",
        "BIC weighs the likelihood against the number of parameters; the smallest is chosen.",
        grid(("states", "log-likelihood", "parameters", "BIC"), rows, numbers=range(4)),
    )


def _states(chain: Any, of: str, key: str) -> str:
    rows = [
        ("", [e(short(name)), percent(share), f"{stay:.3g}", percent(first)])
        for name, share, stay, first in zip(
            chain.states_.tolist(), chain.stationary_, chain.durations_, chain.start_, strict=True
        )
    ]
    return section(
        f"states{key}",
        f"States{of}",
        "The share of time in the long run, how many rows a stay lasts, and how often a sequence begins there.",
        grid(("state", "share", "rows per stay", "first"), rows, numbers=range(1, 4)),
    )


def _steps(chain: Any, of: str, key: str) -> str:
    names = chain.states_.tolist()
    rows = [
        ("", [e(short(name)), *(f"{p:.4f}" for p in row)]) for name, row in zip(names, chain.transitions_, strict=True)
    ]
    return section(
        f"steps{key}",
        f"What follows what{of}",
        "P(next state | state): a row per state.",
        grid(("state", *(short(name, 16) for name in names)), rows, numbers=range(1, len(names) + 1)),
    )


def _columns(chain: Any, of: str, key: str) -> str:
    names, tables = chain.states_.tolist(), list(chain.tables_.items())
    parts = []
    for name, table in tables[:MOST_COLUMNS]:
        # The values that tell most of the states apart come first where there are many.
        order = list(range(len(table.rows)))
        if len(table.rows) > MOST_VALUES:
            order = np.argsort(-np.ptp(table.values, axis=1), kind="stable")[:MOST_VALUES].tolist()
        rows = [("", [e(short(table.rows[i])), *(f"{x:.4g}" for x in table.values[i])]) for i in order]
        head = (table.title, *(short(each, 16) for each in names))
        parts += [f"<h3>{e(short(name, 60))}</h3>", grid(head, rows, numbers=range(1, len(names) + 1))]
        parts.append(not_shown(len(table.rows) - len(order), "value"))
    parts.append(not_shown(max(len(tables) - MOST_COLUMNS, 0), "column"))
    return section(
        f"columns{key}", f"What each state looks like{of}", "P(value | state), or the parameters of a density.", *parts
    )


def _drawn(result: SequenceTraining) -> str:
    if not can_plot():
        return ""
    model, source = result.model, result.source
    group, time = model._fitted.layout
    read = read_sequences(source, None, Layout(group, time, step="any"), warn=False)
    first = read.rows[: min(int(read.offsets[1]), MOST_DRAWN)]  # in the order of time
    rows = source.take(first).select((*model.schema_.names, *([time] if time is not None else [])))

    def draw(ax: Any) -> None:
        model.plot(rows, ax=ax)
        box = ax.get_position()
        ax.set_position((box.x0, box.y0, 0.95 * box.width, 0.85 * box.height))
        ax.legend(loc=3, bbox_to_anchor=(0.0, 1.0), ncols=6, frameon=False)  # above: the margins are the page's

    shown = picture(draw, (8.0, 3.2), "states")
    return section(
        "first", "The first sequence", "The bands are P(state | all rows shown) over time.", f"<figure>{shown}</figure>"
    )


def _card(result: SequenceTraining, data: str, command: str) -> str:
    from bayeskit import __version__

    model = result.model
    settings = ", ".join(f"{k}={v!r}" for k, v in model.get_params(deep=False).items())
    versions = {"bayeskit": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    facts = {
        "data": f"{e(data)}: {count(result.source.n_rows, 'row')}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"<code>{e(command)}</code>",
        "model": f"<code>{e(type(model).__name__)}({e(settings)})</code>",
        "versions": e(", ".join(f"{name} {version}" for name, version in versions.items())),
        "limits": "A state is judged given all rows of its sequence, also later ones. The scores hold for sequences of "
        "the same source; for others they may be wrong.",
    }
    return section(
        "card", "Model card", "", "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items()) + "</dl>"
    )
