"""The end of a report: the structure of the model, explained rows, and a model card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.workflow.report.explained_rows import ExplainedRow, explained_rows, waterfall_lines
from bayeskit.workflow.report.html import bar, e, grid, section, short
from bayeskit.workflow.report.pictures import network_picture
from bayeskit.workflow.report.waterfall_svg import waterfall_svg
from bayeskit.workflow.wording import count

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# More columns than this are counted instead of drawn.
MOST_DRAWN = 40
# A class with fewer rows than this is named among the limits.
FEW_ROWS = 30


def structure(result: Training) -> str:
    """Draw the dependencies of the columns in the chosen model, or list the members of a pool."""
    model, target = result.model, result.table.target
    if hasattr(model, "members_"):
        return _members(model)
    names = [target, *model.schema_.names]
    if len(names) > MOST_DRAWN:
        return section("structure", "Structure", f"{len(names) - 1} columns are too many to draw.")
    if model._dependence:
        return section("structure", "Structure", e(model._dependence))
    structure = getattr(model, "structure_", None)
    members = getattr(structure, "members", None)
    parents = (members[0] if members else structure).parents if structure is not None else [()] * len(model.schema_)
    arcs = [(0, j + 1) for j, above in enumerate(parents) if above is not None]
    arcs += [(i + 1, j + 1) for j, above in enumerate(parents) for i in above or ()]
    words = "An arrow goes from a parent to a column that depends on it; every column depends on the class."
    if members:
        words += f" {e(result.board.best.name)} averages {len(members)} such structures; this is the first of them."
    elif structure is None or not structure.arcs:
        words += " Given the class, the columns are assumed to be independent of each other."
    svg = network_picture([short(name, 24) for name in names], arcs, [short(target, 24)])
    return section("structure", "Structure", words, f'<figure class="card wide network">{svg}</figure>')


def _members(model: Any) -> str:
    """List the members of a pool with their weights."""
    weights, losses = model.members_, model.left_out_loss_
    most = max(*weights.values(), 1e-9)
    rows = [("", [e(name), f"{w:.2f}{bar(w / most)}", f"{losses[name]:.4f}"]) for name, w in weights.items()]
    return section(
        "structure",
        "Members of the model",
        "Each member gives a probability of every class, from counts alone. The log of the answer is the sum of their "
        "logs by these weights, which have the least log-loss on rows left out; a member of weight 0 adds nothing.",
        grid(
            ["member", "weight", "log-loss on rows left out"],
            [*rows, ("best", ["all together", "", f"{losses['pool']:.4f}"])],
            numbers=(1, 2),
        ),
    )


def evidence(result: Training) -> str:
    """Explain a few rows."""
    typical, uncertain = explained_rows(result)
    floor = any(row.explanation.floor for row in (*typical, *uncertain))
    return section(
        "rows",
        "Explained rows",
        "What each column adds to the log-odds of the most probable class over the second: +0.7 doubles the odds, and "
        "a bar to the right is evidence for it. Typical rows have the median probability of their class; uncertain "
        "rows have the lowest probability of the predicted class. All probabilities here are those of the saved model, "
        "which has learned from these rows."
        + " The floor is what two rows with the shares of the classes, mixed in at the end, take back."
        * floor,
        '<div class="waterfalls">',
        *(_waterfall(row) for row in (*typical, *uncertain)),
        "</div>",
    )


def _waterfall(row: ExplainedRow) -> str:
    explanation = row.explanation
    labels, terms, used = waterfall_lines(explanation)
    a, b = explanation.classes
    caption = f"{e(row.title)}: P({e(a)}) = {explanation.probability:.3f}, {e(a)} against {e(b)}"
    if not (np.isfinite(terms).all() and np.isfinite(explanation.prior)):
        return f'<figure class="card"><figcaption>{caption}; one value makes a class impossible.</figcaption></figure>'
    svg = waterfall_svg(labels, terms, used, explanation.prior)
    return f'<figure class="card waterfall"><figcaption>{caption}</figcaption>{svg}</figure>'


def model_card(result: Training, command: str) -> str:
    """Describe the model: its data, when and how it was made, and its limits."""
    import platform

    from bayeskit import __version__

    table, best = result.table, result.board.best
    versions = {"bayeskit": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    settings = ", ".join(f"{k}={v!r}" for k, v in result.model.get_params(deep=False).items())
    used = len(table.features.source.names)
    facts = {
        "data": f"{e(table.file.name)}: {count(table.n_rows, 'row')} with a value of {e(table.target)}, "
        f"{count(used, 'column')} used of {len(table.features.notes) - 1}",
        "predicts": f"{e(table.target)}, {count(len(table.labels.classes), 'class')}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"<code>{e(command)}</code>",
        "model": f"<code>{e(type(result.model).__name__)}({e(settings)})</code>",
        "validation": f"{e(result.folds.described)}, random_state {result.random_state}; "
        + ("the counts of the folds were added" if best.added else "bins or structure were learned in each fold"),
        "calibration": f"temperature {result.temperature:.4g}" if result.temperature != 1.0 else "none",
        "versions": e(", ".join(f"{name} {version}" for name, version in versions.items())),
        **({"left out": "<br>".join(e(words) for words in table.skipped)} if table.skipped else {}),
        "limits": " ".join(e(limit) for limit in limits(result)),
    }
    return section(
        "card", "Model card", "", "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items()) + "</dl>"
    )


def limits(result: Training) -> list[str]:
    """Return the limits of the model."""
    table, board = result.table, result.board
    said = ["The scores hold for rows from the same source as these; for other rows they may be wrong."]
    if not board.beats_majority:
        said.append("No classifier beats the majority class.")
    n_class = table.n_class
    rare = [short(label, 24) for label, n in zip(table.labels.classes, n_class, strict=True) if n < FEW_ROWS]
    if rare:
        names = ", ".join(rare[:5]) + (" and others" if len(rare) > 5 else "")
        said.append(f"Fewer than {FEW_ROWS} rows: {names}; their probabilities are uncertain.")
    sample_only = [trial.name for trial in board if trial.from_sample and trial.scores is not None]
    if sample_only:
        said.append(f"Compared as learned from the sample alone, since they need the rows: {', '.join(sample_only)}.")
    out = [note.name for note in table.features.notes if note.kind == "left out"]
    if out:
        names = ": " + short(out[0], 24) if len(out) == 1 else f", such as {short(out[0], 24)}"
        said.append(f"{count(len(out), 'column')} left out{names}.")
    if len(board) > 2:
        said.append("The best of several classifiers was chosen by these scores, so its own are slightly too good.")
    return said
