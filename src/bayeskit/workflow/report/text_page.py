"""The report of a training on texts: how good the classifier is, its words, and its surest mistakes."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayeskit.decide.scores import MEASURES
from bayeskit.workflow.report import judged, overview
from bayeskit.workflow.report.html import bar, e, grid, not_shown, section, short
from bayeskit.workflow.report.page import whole_page
from bayeskit.workflow.report.pictures import can_plot
from bayeskit.workflow.wording import count, percent

if TYPE_CHECKING:
    from bayeskit.workflow.text_training import TextTraining

# Classes whose words are shown, and words of each.
MOST_CLASSES, MOST_WORDS = 24, 12
# Characters of a document that are shown.
MOST_CHARACTERS = 800
# Groups of documents of similar length.
N_LENGTHS = 5


def write_text_report(path: Path, result: TextTraining, command: str = "") -> bool:
    """Write the report to a file and say whether it has its plots, which need matplotlib."""
    from bayeskit.io.container import atomic_write

    with atomic_write(path.absolute()) as file:
        file.write(text_report(result, command).encode("utf-8", "replace"))
    return can_plot()


def text_report(result: TextTraining, command: str = "") -> str:
    """Return the report of a training on texts as one HTML page; ``command`` is how it can be made again."""
    held = result.held_out
    classes = result.model.classes_
    parts = [
        overview.balance_of(classes, result.model.counts_.n_class, result.target, "documents"),
        _leaderboard(result),
        judged.reliability_of(held.right, np.clip(held.confidence, 0.0, 1.0), rows="documents"),
    ]
    if held.second is not None and 0 < held.is_second.sum() < len(held.is_second):
        parts.append(judged.curves_of(held.second, held.is_second, held.scores.classes[1], "documents"))
    parts += [
        judged.confusion_of(held.scores, unit="documents"),
        _words(result),
        _lengths(result),
        _mistakes(result),
        _card(result, command),
    ]
    return whole_page(result.target, _header(result), "".join(parts))


def _header(result: TextTraining) -> str:
    held, n_class = result.held_out, result.model.counts_.n_class
    scores, labels = held.scores, result.model.classes_.tolist()
    # The largest class of all documents, judged on those that were held out, as the classifier is.
    largest = scores.classes.index(labels[int(n_class.argmax())])
    by_largest = 1.0 - float(scores.confusion[largest].sum()) / scores.n_rows
    figures = [
        (_share(scores.error.value), f"of documents are predicted wrong (± {100 * scores.error.se:.1f} %)"),
        (
            _share(by_largest),
            "would be wrong if the largest class were always predicted",
        ),
        (f"{scores.log_loss.value:.3f}", f"log-loss (± {scores.log_loss.se:.3f})"),
        (_share(scores.calibration_error.value), "calibration error: how far confidence is from accuracy"),
    ]
    cards = "".join(f'<div class="figure"><b>{e(value)}</b><span>{e(words)}</span></div>' for value, words in figures)
    return (
        f"<header><h1>Predicting {e(result.target)} from texts</h1>"
        f'<p class="lead">{e(result.scores[0].model)} learned from {count(result.n_documents, "document")} of '
        f"{e(result.source.path.name)}. All numbers come from {count(scores.n_rows, 'document')}, every fifth, that "
        "were held out: a model that had not seen them predicted them. The saved model has learned from all.</p>"
        f'{_repeated(result)}<div class="figures">{cards}</div></header>'
    )


def _share(value: float) -> str:
    return percent(value) if value else "0 %"


def _repeated(result: TextTraining) -> str:
    """Say how many documents were no test, since the model had seen the same words under another number."""
    held = result.held_out
    n = int(held.repeated.sum())
    if not n:
        return ""
    rest = held.right[~held.repeated]
    without = f"; without them {percent(1 - float(rest.mean()))} of documents are predicted wrong" if len(rest) else ""
    stand = "stands" if n == 1 else "stand"
    return (
        f'<p class="alarm">{count(n, "held-out document")} ({percent(n / len(held.repeated))}) {stand} word for word '
        f"among the documents to learn from, which flatters the scores{without}.</p>"
    )


def _leaderboard(result: TextTraining) -> str:
    rows = [
        ("best" if k == 0 else "", [e(s.model), *(f"{x:.4f}" for x in (1 - s.accuracy, s.macro_f1, s.log_loss)),
                                   f"{s.calibration_error:.4f}"])
        for k, s in enumerate(result.scores)
    ]  # fmt: skip
    return section(
        "leaderboard",
        "Leaderboard",
        f"The best {e(MEASURES[result.by])} first, on the held-out documents. Macro-F1 is the mean over classes of "
        "2 × right / (documents of the class + documents predicted so): larger is better; in the other columns smaller "
        "is.",
        grid(["classifier", "error", "macro-F1", "log-loss", "calibration"], rows, numbers=range(1, 5)),
    )


def _words(result: TextTraining) -> str:
    model = result.model
    n_class = np.asarray(model.counts_.n_class)
    order = np.argsort(-n_class, kind="stable")[:MOST_CLASSES]
    cards = []
    for k in order.tolist():
        label = model.classes_[k]
        words = model.top_words(label, MOST_WORDS)
        top = max((weight for _, weight in words), default=0.0) or 1.0
        rows = [("", [e(short(word, 28)), f"{weight:+.2f}{bar(weight / top)}"]) for word, weight in words if weight > 0]
        cards.append(
            f'<div class="card"><h3>{e(short(label, 40))}</h3>{grid(("word", "weight"), rows, numbers=(1,))}</div>'
        )
    return section(
        "words",
        "The most telling words",
        "How much one more occurrence of a word raises the score of its class over the mean of all classes, in natural "
        "logarithms: +0.7 doubles the odds.",
        f'<div class="cards">{"".join(cards)}</div>',
        not_shown(len(n_class) - len(order), "class"),
    )


def _lengths(result: TextTraining) -> str:
    """Compare short and long documents."""
    held = result.held_out
    edges = np.unique(np.quantile(held.length, np.linspace(0, 1, N_LENGTHS + 1)).astype(np.int64))
    group = np.clip(np.searchsorted(edges, held.length, side="right") - 1, 0, max(len(edges) - 2, 0))
    rows = []
    for g in np.unique(group).tolist():
        here = group == g
        low, high = int(held.length[here].min()), int(held.length[here].max())
        wrong, sure = 1 - float(held.right[here].mean()), float(held.confidence[here].mean())
        cells = [f"{low:,}–{high:,}" if low < high else f"{low:,}", f"{int(here.sum()):,}"]
        rows.append(("", [*cells, f"{percent(wrong)}{bar(wrong)}", percent(1 - sure)]))
    return section(
        "length",
        "Length and error",
        "The share of errors among documents of similar length, and the share that the probabilities predict.",
        grid(("characters", "documents", "predicted wrong", "expected"), rows, numbers=(1, 2, 3)),
    )


def _mistakes(result: TextTraining) -> str:
    mistakes = result.held_out.mistakes
    if not mistakes:
        return section("mistakes", "The surest mistakes", "No held-out document was predicted wrong.")
    cards = []
    for mistake in mistakes:
        why = mistake.explanation
        guess = e(short(why.classes[0], 32))
        cards.append(
            f'<figure class="card"><figcaption>held-out document {mistake.number}: P({guess}) = '
            f"{mistake.probability:.3f}, but it is labelled <b>{e(short(mistake.truth, 32))}</b></figcaption>"
            f'<p class="text">{why.coloured_html(MOST_CHARACTERS)}</p></figure>'
        )
    return section(
        "mistakes",
        "The surest mistakes",
        "Held-out documents that were predicted wrong with the highest probability: wrong labels are often among them. "
        "Blue words speak for the predicted class against the true one, orange words against it.",
        *cards,
    )


def _card(result: TextTraining, command: str) -> str:
    from bayeskit import __version__

    model = result.model
    settings = ", ".join(f"{k}={v!r}" for k, v in model.get_params(deep=False).items())
    versions = {"bayeskit": __version__, "Python": platform.python_version(), "NumPy": np.__version__}
    facts = {
        "data": f"{e(result.source.shown)}: {count(result.n_documents, 'document')}, "
        f"{model.counts_.n_words:,} different words",
        "predicts": f"{e(result.target)}, {count(len(model.classes_), 'class')}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"<code>{e(command)}</code>",
        "model": f"<code>{e(type(model).__name__)}({e(settings)})</code>",
        "versions": e(", ".join(f"{name} {version}" for name, version in versions.items())),
        "limits": "The scores hold for documents from the same source as these; for others they may be wrong. The best "
        "of several classifiers was chosen by these scores, so its own are slightly too good.",
    }
    return section(
        "card", "Model card", "", "<dl>" + "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items()) + "</dl>"
    )
