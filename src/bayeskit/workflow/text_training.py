"""Training on texts from a file or a folder: classifiers compared on every fifth document, which are held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.text_columns import digests
from bayeskit.classify.auto_text.model import AutoText
from bayeskit.classify.text import TextClassifier
from bayeskit.counts.tokens import Batch, TokenCounts, TokenTally
from bayeskit.decide.scores import ROW_MEASURES, Scores
from bayeskit.errors import TableError
from bayeskit.result import Result
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.labels import read_labels
from bayeskit.workflow.held_out_texts import HeldOut, Judge

EVENT_MODELS = ("multinomial", "bernoulli", "complement")
AUTO = "AutoText"
# One document in this many is held out.
HELD_OUT = 5


@dataclass(frozen=True, repr=False)
class TextScore(Result):
    """How good a classifier is on the held-out documents."""

    model: str
    accuracy: float
    macro_f1: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True, repr=False)
class TextTraining(Result):
    """The result of training on texts."""

    model: AutoText | TextClassifier  # the best one, of all documents
    scores: tuple[TextScore, ...]  # the best first
    by: str  # the measure that decided
    n_documents: int
    held_out: HeldOut  # what the best one, learned from the other documents, said of these
    source: TextSource
    n_unlabelled: int = 0  # documents without a label, which were left out

    @property
    def target(self) -> str:
        """The column of the labels."""
        return self.source.target or ""

    @property
    def n_held_out(self) -> int:
        """How many documents were held out."""
        return self.held_out.scores.n_rows


def train_text(
    source: TextSource, models: Sequence[str] | None = None, by: str = "log_loss", **parameters: Any
) -> TextTraining:
    """Compare text classifiers on every fifth document, and return the best one, learned from all documents.

    Since counts add, an event model of all documents needs no further pass over the file; `AutoText`, which chooses
    weights on documents, is fitted again.

    Parameters
    ----------
    source : TextSource
        From `read_texts`.
    models : list of str, optional
        "AutoText", and the event models "multinomial", "bernoulli" and "complement" of `TextClassifier`; all of them by
        default.
    by : {"log_loss", "error", "brier"}, default "log_loss"
        The measure that decides which is best.
    **parameters
        Other parameters of `TextClassifier`, the same for all event models.
    """
    tried = tuple(models or (AUTO, *EVENT_MODELS))
    strange = [name for name in tried if name not in (AUTO, *EVENT_MODELS)]
    if strange:
        raise TableError(
            f"{strange[0]!r} is not a classifier of text; there are {AUTO} and the event models "
            f"{', '.join(EVENT_MODELS)}.",
            "models",
        )
    if by not in ROW_MEASURES:
        raise TableError(f"texts are compared by {', '.join(ROW_MEASURES)}; got {by!r}.", "by")
    template = TextClassifier(**parameters)
    learned, held_out, repeated, n_unlabelled = _count(source, template)
    if len(learned.classes) < 2:
        raise TableError(
            f"{source.shown} has one class among the documents to learn from, {learned.classes.tolist()[0]!r}; a "
            "classifier needs at least two.",
            "target",
        )
    candidates = {
        name: AutoText.from_counts(AutoText()._count(_NotHeldOut(source), None))
        if name == AUTO
        else TextClassifier.from_counts(learned, model=name, **parameters)
        for name in tried
    }
    classes, _ = read_labels([*learned.classes.tolist(), *held_out.classes.tolist()])
    judges = {name: Judge(model, classes) for name, model in candidates.items()}
    for texts, labels, held in _parts(source):
        rows = np.flatnonzero(held).tolist()
        for judge in judges.values() if rows else ():
            judge.add([texts[i] for i in rows], [labels[i] for i in rows])
    names = sorted(judges, key=lambda name: (getattr(judges[name].scores, by).value, judges[name].scores.error.value))
    scores = tuple(_score(name, judges[name].scores) for name in names)
    best: AutoText | TextClassifier
    if scores[0].model == AUTO:
        best = AutoText().fit(source)
    else:
        best = TextClassifier.from_counts(learned + held_out, model=scores[0].model, **parameters)
    total = int(learned.n_class.sum()) + int(held_out.n_class.sum())
    return TextTraining(best, scores, by, total, judges[names[0]].held_out(repeated), source, n_unlabelled)


def _score(name: str, scores: Scores) -> TextScore:
    hits, truth, guess = np.diag(scores.confusion), scores.confusion.sum(axis=1), scores.confusion.sum(axis=0)
    f1 = 2 * hits[truth > 0] / (truth + guess)[truth > 0]
    error, log_loss, calibration = (m.value for m in (scores.error, scores.log_loss, scores.calibration_error))
    return TextScore(name, 1.0 - error, float(f1.mean()), log_loss, calibration)


@dataclass(frozen=True)
class _NotHeldOut:
    """The documents to learn from, batch by batch, as `LabelledTexts` gives them."""

    source: TextSource
    weighted: bool = False

    def __iter__(self) -> Iterator[Batch]:
        for texts, labels, held in _parts(self.source):
            rows = np.flatnonzero(~held).tolist()
            if rows:
                classes, codes = read_labels([labels[i] for i in rows])
                yield [texts[i] for i in rows], codes, classes, None


def _count(source: TextSource, template: TextClassifier) -> tuple[TokenCounts, TokenCounts, NDArray[np.bool_], int]:
    """Return the counts of the documents to learn from and of those held out; which of these stand among the former,
    and how many were left out.
    """
    if source.target is None:
        if source.path.is_dir():
            raise TableError(
                f"{str(source.path)!r} is a directory; to learn texts it needs one folder of files per class."
            )
        raise TableError(f"{source.shown} has no column of labels; name it with target=.", "target")
    tokenizer = template._tokenizer()
    tallies, n_unlabelled = (TokenTally(tokenizer), TokenTally(tokenizer)), 0
    written: tuple[list[NDArray[np.uint64]], list[NDArray[np.uint64]]] = ([], [])
    for texts, labels, held, left_out in _counted_parts(source):
        n_unlabelled += left_out
        digest = digests([" ".join(text.casefold().split()) for text in texts])
        written[0].append(digest[~held])
        written[1].append(digest[held])
        for tally, rows in zip(tallies, (np.flatnonzero(~held), np.flatnonzero(held)), strict=True):
            if len(rows):
                classes, codes = read_labels([labels[i] for i in rows.tolist()])
                tally.add([texts[i] for i in rows.tolist()], codes, classes)
    learned, held_out = (tally.counts() for tally in tallies)
    if not held_out.n_class.sum():
        raise TableError(f"{source.shown} has fewer than {HELD_OUT} documents, too few to hold some out.")
    return learned, held_out, np.isin(np.concatenate(written[1]), np.concatenate(written[0])), n_unlabelled


def _parts(source: TextSource) -> Iterator[tuple[list[str], list[Any], NDArray[np.bool_]]]:
    for texts, labels, held, _ in _counted_parts(source):
        if texts:
            yield texts, labels, held


def _counted_parts(source: TextSource) -> Iterator[tuple[list[str], list[Any], NDArray[np.bool_], int]]:
    seen = 0
    for texts, labels, left_out in source.batches():
        held = (np.arange(seen, seen + len(texts)) + 1) % HELD_OUT == 0
        seen += len(texts)
        yield texts, labels, held, left_out
