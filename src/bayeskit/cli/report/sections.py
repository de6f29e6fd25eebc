"""The sections of a report, each a piece of HTML in which every value is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.cli.report.pictures import network_picture, picture
from bayeskit.cli.report.rows import ExplainedRow, explained_rows, waterfall_lines
from bayeskit.cli.report.waterfall import waterfall_svg
from bayeskit.cli.screen import percent, seconds

if TYPE_CHECKING:
    from bayeskit.cli.training import Training

# More columns or values than this are counted instead of shown.
MOST_COLUMNS = 60
MOST_VALUES = 12
MOST_DRAWN = 40


def e(value: Any) -> str:
    """Return a value as text that HTML shows as it is."""
    return escape(str(value), quote=True)


def section(title: str, lead: str, *parts: str) -> str:
    """Return a heading, a sentence about it, and what follows."""
    lead = f'<p class="lead">{lead}</p>' if lead else ""
    return f"<section><h2>{e(title)}</h2>{lead}{''.join(parts)}</section>"


def grid(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], numbers: Iterable[int] = ()) -> str:
    """Return a table; rows are (class, cells of HTML), and the columns ``numbers`` stand to the right."""
    right = set(numbers)
    kind = [' class="n"' if j in right else "" for j in range(len(head))]
    cells = "".join(f"<th{k}>{e(name)}</th>" for k, name in zip(kind, head, strict=True))
    body = "".join(
        f'<tr class="{style}">' + "".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) + "</tr>"
        for style, row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def header(result: Training) -> str:
    """Say what was learned, and the numbers that matter most."""
    plan, best = result.plan, result.board.best
    majority = next(trial for trial in result.board if trial.model is None)
    assert best.scores is not None
    assert majority.scores is not None
    used = len(plan.features.source.names)
    figures = [
        (percent(best.scores.error.value), f"of rows get the wrong class (± {100 * best.scores.error.se:.1f} %)"),
        (percent(majority.scores.error.value), "are wrong when the largest class is always taken"),
        (f"{best.scores.log_loss.value:.3f}", f"log-loss (± {best.scores.log_loss.se:.3f})"),
        (percent(best.scores.calibration_error.value), "is how far confidence is from the truth"),
    ]
    cards = "".join(f'<div class="figure"><b>{e(value)}</b><span>{e(words)}</span></div>' for value, words in figures)
    return (
        f"<header><h1>Predicting {e(plan.name)}</h1>"
        f'<p class="lead">{e(best.name)} learned from {len(plan.target.y)} rows and {used} columns of '
        f"{e(plan.file.name)}. All numbers come from {result.folds}-fold cross-validation: each row was predicted by a "
        f'model that had not seen it.</p><div class="figures">{cards}</div></header>'
    )


def columns(result: Training) -> str:
    """Say what each column is taken for, and how much of it is missing."""
    notes = result.plan.features.notes
    rows = []
    for note in notes[: MOST_COLUMNS * 4]:
        bar = f'<span class="bar"><i style="width:{100 * note.missing:.1f}%"></i></span>' if note.missing else ""
        style = "out" if note.kind == "left out" else ""
        rows.append(
            (
                style,
                [
                    e(note.name),
                    e(note.kind),
                    e(note.why),
                    f"{e(percent(note.missing))}{bar}",
                    f"<small>{e(note.example)}</small>",
                ],
            )
        )
    more = f"<p class='note'>{len(notes) - len(rows)} more columns are not shown.</p>" if len(notes) > len(rows) else ""
    unlabelled = result.plan.target.n_unlabelled
    dropped = f" {unlabelled} rows have no value of {e(result.plan.name)} and are left out." if unlabelled else ""
    return section(
        "The table",
        "What each column is taken for, and why; say otherwise with <code>--kind</code> or <code>--ignore</code>."
        + dropped,
        grid(("column", "kind", "because", "missing", "such as"), rows, numbers=(3,)),
        more,
    )


def balance(result: Training) -> str:
    """Show how many rows each class has."""
    from bayeskit.plot.balance import class_balance

    target = result.plan.target
    counts = np.bincount(target.y, minlength=len(target.classes))
    order = np.argsort(-counts, kind="stable")[:30]
    labels = [_short(target.classes[k]) for k in order]
    size = (7.2, 0.8 + 0.36 * len(order))
    left = 0.3 + 0.11 * max(map(len, labels))
    svg = picture(lambda ax: class_balance(counts[order], labels, ax=ax), size, "balance", left)
    more = len(counts) - len(order)
    words = f" The {more} smallest classes are not drawn." if more else ""
    return section("Class balance", f"Rows of each class of {e(result.plan.name)}.{words}", _figure(svg))


def leaderboard(result: Training) -> str:
    """Compare the classifiers."""
    head = ["classifier", *result.measures.values(), "fit", "predict"]
    rows = []
    for trial in result.board:
        if trial.scores is None:
            rows.append(("out", [e(trial.name), f"<small>{e(trial.refused)}</small>", *[""] * (len(head) - 2)]))
            continue
        measures = [getattr(trial.scores, name) for name in result.measures]
        cells = [f"{m.value:.4f} <small>± {m.se:.4f}</small>" for m in measures]
        times = [e(seconds(t)) if trial.model else "" for t in (trial.fit_seconds, trial.predict_seconds)]
        style = "best" if trial is result.board.best else "out" if trial.model is None else ""
        rows.append((style, [e(trial.name), *cells, *times]))
    return section(
        "Leaderboard",
        "The best log-loss first; ± is the standard error. Smaller is better everywhere. Two classifiers whose numbers "
        "differ by less than their standard errors are as good as each other.",
        grid(head, rows, numbers=range(1, len(head))),
    )


def reliability(result: Training) -> str:
    """Show whether the probabilities can be believed."""
    from bayeskit.plot.reliability import reliability_curve

    best = result.board.best
    assert best.posterior is not None
    confidence = np.clip(best.posterior.max(axis=1), 0.0, 1.0)
    right = best.posterior.argmax(axis=1) == result.plan.target.y
    svg = picture(lambda ax: reliability_curve(right, confidence, ax=ax), (5.2, 5.0), "reliability")
    return section(
        "Can the probabilities be believed?",
        "Of the rows that get a class with probability .8, eight in ten should have it: points on the dashed line. "
        "Bars at the foot count rows.",
        _figure(svg),
    )


def confusion(result: Training) -> str:
    """Show which classes are taken for which, beside what it costs."""
    scores = result.board.best.scores
    assert scores is not None
    loss = result.board.loss
    matrix = (1.0 - np.eye(len(scores.classes))) if loss is None else loss.matrix
    if len(scores.classes) > 20:
        return section("Errors", f"{len(scores.classes)} classes are too many for a table of errors.")
    share = scores.decided / np.maximum(scores.decided.sum(axis=1, keepdims=True), 1)
    top = float(np.abs(matrix).max()) or 1.0
    errors = [
        [(f"{n}", s, i == j) for j, (n, s) in enumerate(zip(*row, strict=True))]
        for i, row in enumerate(zip(scores.decided.tolist(), share.tolist(), strict=True))
    ]
    costs = [[(f"{x:g}", abs(x) / top, False) for x in row] for row in matrix.tolist()]
    mean = scores.mean_loss
    said = "every error costs 1" if loss is None else "what each action costs"
    return section(
        "Errors, and what they cost",
        f"Rows by true class and decision, beside the loss. The mean loss is {mean.value:.4f} ± {mean.se:.4f}.",
        '<div class="pair">',
        _matrix("rows", scores.classes, scores.actions, errors),
        _matrix(f"loss: {said}", scores.classes, scores.actions, costs),
        "</div>",
    )


def _matrix(
    title: str, classes: Sequence[Any], actions: Sequence[Any], cells: list[list[tuple[str, float, bool]]]
) -> str:
    head = "".join(f'<th class="cell">{e(_short(action))}</th>' for action in actions)
    rows = ""
    for label, row in zip(classes, cells, strict=True):
        shaded = "".join(f'<td style="background:{_shade(share, right)}">{e(text)}</td>' for text, share, right in row)
        rows += f"<tr><th>{e(_short(label))}</th>{shaded}</tr>"
    return (
        f'<figure class="card"><figcaption>{e(title)}</figcaption><div style="overflow-x:auto"><table class="matrix">'
        f"<thead><tr><th>truth</th>{head}</tr></thead><tbody>{rows}</tbody></table></div></figure>"
    )


def _shade(share: float, right: bool) -> str:
    return f"color-mix(in srgb,var(--{'hit' if right else 'miss'}) {70 * share:.0f}%,transparent)"


def structure(result: Training) -> str:
    """Draw what the chosen model takes to depend on what."""
    model, target = result.model, result.plan.name
    names = [target, *model.schema_.names]
    if len(names) > MOST_DRAWN:
        return section("Structure", f"{len(names) - 1} columns are too many to draw.")
    found = getattr(model, "structure_", None)
    members = getattr(found, "members", None)
    parents = (members[0] if members else found).parents if found is not None else [()] * len(model.schema_)
    arcs = [(0, j + 1) for j, above in enumerate(parents) if above is not None]
    arcs += [(i + 1, j + 1) for j, above in enumerate(parents) for i in above or ()]
    words = "An arrow goes from what is known first to what depends on it; every column depends on the class."
    if members:
        words += f" {e(result.board.best.name)} averages {len(members)} such structures; this is the first of them."
    elif found is None or not found.edges:
        words += " Given the class, the columns are taken to be independent of each other."
    svg = network_picture([_short(name, 24) for name in names], arcs, [_short(target, 24)])
    return section("Structure", words, f'<figure class="card wide network">{svg}</figure>')


def evidence(result: Training) -> str:
    """Explain a few rows."""
    typical, doubtful = explained_rows(result)
    return section(
        "Why?",
        "What each column adds to the log-odds of the likelier class over the runner-up: +0.7 doubles the odds, to the "
        "right speaks for it. Typical rows have the median probability of their class, doubtful ones the least sure.",
        '<div class="waterfalls">',
        *(_waterfall(row) for row in (*typical, *doubtful)),
        "</div>",
    )


def _waterfall(row: ExplainedRow) -> str:
    found = row.explanation
    labels, terms, used = waterfall_lines(found)
    a, b = found.classes
    caption = f"{e(row.title)}: P({e(a)}) = {found.probability:.3f}, {e(a)} against {e(b)}"
    if not (np.isfinite(terms).all() and np.isfinite(found.prior)):
        return f'<figure class="card"><figcaption>{caption}; a value rules a class out.</figcaption></figure>'
    svg = waterfall_svg(labels, terms, used, found.prior)
    return f'<figure class="card waterfall"><figcaption>{caption}</figcaption>{svg}</figure>'


def value_tables(result: Training) -> str:
    """Show P(value | class) of every column."""
    summary = result.model.summary()
    shown = summary.features[:MOST_COLUMNS]
    more = len(summary.features) - len(shown)
    words = f" {more} more columns are not shown." if more else ""
    if len(summary.classes) > 8:
        words += " The eight largest classes are shown."
    order = np.argsort(-summary.n_class, kind="stable")[:8]
    order.sort()
    cards = "".join(_value_card(feature, summary.classes, order) for feature in shown)
    return section(
        "What each column says",
        f"How probable each value is within each class of {e(result.plan.name)}; for amounts, their mean ± standard "
        f"deviation.{words}",
        f'<div class="cards">{cards}</div>',
    )


def _value_card(feature: Any, classes: Sequence[Any], order: Any) -> str:
    head = "".join(f"<th>{e(_short(classes[k]))}</th>" for k in order)
    if feature.table is not None and len(feature.values) == 1:
        words = "No cut of its numbers tells the classes apart." if feature.kind == "binned" else "It has one value."
        return f'<div class="card"><h3>{e(feature.name)}</h3><p class="note">{words}</p></div>'
    if feature.table is None:
        cells = ""
        if "mean" in feature.parameters:
            mean, deviation = feature.parameters["mean"], feature.parameters["deviation"]
            cells = "".join(f"<td>{mean[k]:.4g} ± {deviation[k]:.3g}</td>" for k in order)
        elif feature.parameters:
            cells = "".join(f"<td>{next(iter(feature.parameters.values()))[k]:.4g}</td>" for k in order)
        body = f"<tr><td></td>{cells}</tr>"
    else:
        rank = np.arange(len(feature.values))
        if len(rank) > MOST_VALUES:
            rank = np.sort(np.argsort(-feature.table.sum(axis=1), kind="stable")[:MOST_VALUES])
        body = ""
        for v in rank:
            bars = "".join(
                f'<td>{p:.3f}<span class="bar"><i style="width:{100 * min(p, 1.0):.1f}%"></i></span></td>'
                for p in feature.table[v, order]
            )
            body += f'<tr><td class="name">{e(_short(feature.values[v]))}</td>{bars}</tr>'
        if len(rank) < len(feature.values):
            more = f"<small>{len(feature.values) - len(rank)} more values</small>"
            body += f'<tr><td colspan="{len(order) + 1}">{more}</td></tr>'
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="card"><h3>{e(feature.name)}</h3><div style="overflow-x:auto">{table}</div></div>'


def how(result: Training, command: str) -> str:
    """Say how the report was made, so that it can be made again."""
    import platform

    from bayeskit import __version__

    versions = {"bayeskit": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    best = result.board.best
    settings = ", ".join(f"{k}={v!r}" for k, v in result.model.get_params(deep=False).items())
    facts = {
        "command": f"<code>{e(command)}</code>",
        "model": f"<code>{e(type(result.model).__name__)}({e(settings)})</code>",
        "cross-validation": f"{result.folds} folds, stratified, seed {result.seed}; "
        + ("the counts of the folds were added" if best.added else "bins and structure were learned anew in each fold"),
        "versions": e(", ".join(f"{name} {version}" for name, version in versions.items())),
    }
    return section(
        "How it was made", "", "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items()) + "</dl>"
    )


def _figure(svg: str) -> str:
    return f'<figure class="card plot">{svg}</figure>'


def _short(value: Any, most: int = 32) -> str:
    text = str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
