"""What the verbs do with texts: train, predict and explain."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.options import model_name, places_of_model

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.explain.text_explanation import TextExplanation
    from bayeskit.progress import Progress
    from bayeskit.table.corpus_files import TextSource
    from bayeskit.table.formats.interface import TableWriter
    from bayeskit.workflow.evaluation import Evaluation
    from bayeskit.workflow.text_training import TextTraining
    from bayeskit.workflow.trained import TrainedModel


def is_text_model(model: Any) -> bool:
    """Return whether a model reads texts rather than a table."""
    return hasattr(model, "top_words")


def are_texts(data: Sequence[str], text: str | None, target: str | None) -> bool:
    """Return whether files are texts rather than a table: a column is named, or they are folders or mailboxes."""
    from bayeskit.table.mail import is_mailbox

    if text is not None or all(is_mailbox(Path(name)) for name in data):
        return True
    return target is None and len(data) == 1 and Path(data[0]).is_dir()


def refuse_options_of_tables(given: Mapping[str, Any]) -> None:
    """Refuse options that say nothing about texts."""
    for name, value in given.items():
        if value:
            raise typer.BadParameter("this is for tables; the model reads texts.", param_hint=name)


def train(
    data: Sequence[str],
    text: str | None,
    target: str | None,
    output: Path | None,
    models: Sequence[str] | None,
    encoding: str,
    by: str,
    *,
    report: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Learn a text classifier, and save it and a report."""
    from bayeskit.table.corpus_files import read_texts
    from bayeskit.workflow.report.text_page import write_text_report
    from bayeskit.workflow.text_training import train_text
    from bayeskit.workflow.trained import TrainedModel

    if text is not None and text == target:
        raise typer.BadParameter(f"--text and --target both name {text!r}; the texts and the labels are two columns.")
    source = read_texts(data, text=text, target=target, encoding=encoding)
    place, page = places_of_model(output or model_name(data, source.target), report, (source.path, *source.more), force)
    if source.target is not None:
        source = source.labeled()
    with screen.progress(not as_json) as progress:
        result = train_text(source.following(progress), models or None, by)
    TrainedModel(result.model, text_columns=(source.text, source.target)).save(place, force=force)
    pictures = True
    if page is not None:
        pictures = write_text_report(page, result, join(["bayeskit", *sys.argv[1:]]))
    (_say_json if as_json else _show)(result, place, page)
    if not pictures and not as_json:
        screen.note(screen.NO_PLOTS)


def _say_json(result: TextTraining, place: Path, page: Path | None) -> None:
    facts: dict[str, Any] = {"model": str(place), "report": None if page is None else str(page)}
    facts |= {"documents": result.n_documents, "held_out": result.n_held_out}
    facts |= {"unlabelled_documents": result.n_unlabelled, "repeated": int(result.held_out.repeated.sum())}
    facts |= {"scores": [vars(s) for s in result.scores], "classes": result.model.classes_}
    screen.say_json({**facts, "words": result.model.counts_.n_words})


def _show(result: TextTraining, place: Path, page: Path | None) -> None:
    from bayeskit.workflow.wording import count

    source, n_classes, n_words = result.source, len(result.model.classes_), result.model.counts_.n_words
    name = source.path.name if not source.more else source.shown
    screen.say(f"{name}: {result.n_documents:,} documents, {n_classes} classes, {n_words:,} different words")
    if result.n_unlabelled:
        screen.say(f"{count(result.n_unlabelled, 'document')} without a value of {source.target!r} left out.")
    screen.say(f"Compared on {result.n_held_out:,} documents that were held out:")
    rows = [
        (s.model, f"{s.accuracy:.4f}", f"{s.macro_f1:.4f}", f"{s.log_loss:.3f}", f"{s.calibration_error:.3f}")
        for s in result.scores
    ]
    screen.table(("model", "accuracy", "macro-F1", "log-loss", "calibration"), rows, right=(1, 2, 3, 4), bold=0)
    screen.say(f"model   {place}: {_named(result.model)}, learned from all documents")
    if page is not None:
        screen.say(f"report  {page}")
    repeated = int(result.held_out.repeated.sum())
    if repeated:
        screen.warn(
            f"{count(repeated, 'held-out document')} {'stands' if repeated == 1 else 'stand'} word for word among the "
            "documents to learn from, which flatters the scores."
        )


def _named(model: Any) -> str:
    event = getattr(model, "model", None)
    return type(model).__name__ + (f"(model={event!r})" if event else "()")


def source_of(
    trained: TrainedModel, data: str | Sequence[str], text: str | None, target: str | None, encoding: str
) -> TextSource:
    """Open texts for a model; columns that are not named are called as in training, or as usual."""
    from bayeskit.table.corpus_files import open_texts

    return open_texts(data, text, target, encoding, remembered=trained.text_columns)


def evaluate(
    trained: TrainedModel,
    data: str,
    text: str | None,
    target: str | None,
    costs: Loss | None,
    encoding: str,
    *,
    as_json: bool,
) -> tuple[Evaluation, str]:
    """Score a text model on texts with known labels; return the scores, and how the file is called."""
    from bayeskit.workflow.held_out_texts import evaluate_texts

    source = source_of(trained, data, text, target, encoding)
    with screen.progress(not as_json) as progress:
        return evaluate_texts(trained.model, source.following(progress), costs), source.path.name


class TextPredictions:
    """The classes of texts, on their way to a file."""

    def __init__(
        self,
        trained: TrainedModel,
        data: Sequence[str],
        text: str | None,
        encoding: str,
        keep: Sequence[str],
        costs: Loss | None,
        digits: int | None,
    ) -> None:
        if keep or costs is not None:
            raise typer.BadParameter("--keep, --loss and --reject are for tables; this model reads texts.")
        self._model, self._digits = trained.model, digits
        self._source = source_of(trained, data, text, None, encoding)
        self.files = (self._source.path, *self._source.more)

    def write(self, writer: TableWriter, progress: Progress | None = None) -> int:
        """Write a row for each document: its class, and the probability of each class. Return how many."""
        import pyarrow as pa

        from bayeskit.progress import report_step
        from bayeskit.workflow.prediction import rounded

        n = 0
        for done, (texts, _) in enumerate(self._source):
            report_step(progress, "documents", done, 0)
            proba = self._model.predict_proba(texts)
            names = [str(name) for name in self._model.classes_.tolist()]
            columns: dict[str, Any] = {"class": [names[c] for c in proba.argmax(axis=1).tolist()]}
            columns |= {f"P({name})": rounded(proba[:, c], self._digits) for c, name in enumerate(names)}
            writer.write(pa.table(columns))
            n += len(texts)
        if not n:  # no rows, but the names of the columns
            names = [f"P({name})" for name in self._model.classes_.tolist()]
            writer.write(
                pa.table({"class": pa.array([], pa.string()), **{name: pa.array([], pa.float64()) for name in names}})
            )
        return n


def explained(
    trained: TrainedModel, data: str, text: str | None, encoding: str, row: int | None, doubtful: int
) -> list[tuple[int, TextExplanation]]:
    """Explain a text from standard input, one document of a file, or the least certain ones; with their numbers."""
    from bayeskit.table.corpus_files import decode

    model = trained.model
    if data == "-":
        rows = [(1, decode(sys.stdin.buffer.read(), encoding, "strict", "standard input"))]
    else:
        rows = _chosen(model, source_of(trained, data, text, None, encoding), row, doubtful)
    return [(number, model.explain(document)) for number, document in rows]


def _chosen(model: Any, source: TextSource, row: int | None, doubtful: int) -> list[tuple[int, str]]:
    from bayeskit.errors import TableError

    least: list[tuple[float, int, str]] = []
    number = 0
    for texts, _ in source:
        sure = model.predict_proba(texts).max(axis=1).tolist() if row is None else [0.0] * len(texts)
        for text, certainty in zip(texts, sure, strict=True):
            number += 1
            if row == number:
                return [(number, text)]
            if row is None:
                least = heapq.nsmallest(doubtful, [*least, (certainty, number, text)])
    if row is not None:
        raise TableError(f"there is no document {row}; {source.shown} has {number}.")
    return [(n, text) for _, n, text in least]
