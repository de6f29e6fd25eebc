"""Training on texts from a file or a folder: classifiers compared on every fifth document, which are held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto_text.model import AutoText
from bayeskit.classify.text import TextClassifier
from bayeskit.counts.tokens import Batch, TokenCounts, TokenTally
from bayeskit.errors import TableError
from bayeskit.result import Result
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.labels import read_labels

EVENT_MODELS = ("multinomial", "bernoulli", "complement")
AUTO = "AutoText"
# One document in this many is held out.
HELD_OUT = 5


@dataclass(frozen=True, repr=False)
class TextScore(Result):
    """The accuracy of a classifier on the held-out documents."""

    model: str
    accuracy: float
    macro_f1: float
    log_loss: float


@dataclass(frozen=True, repr=False)
class TextTraining(Result):
    """The result of training on texts."""

    model: AutoText | TextClassifier  # the best one, of all documents
    scores: tuple[TextScore, ...]  # the best first
    n_documents: int
    n_held_out: int
    n_unlabelled: int = 0  # documents without a label, which were left out


def train_text(source: TextSource, models: Sequence[str] | None = None, **parameters: Any) -> TextTraining:
    """Compare text classifiers on every fifth document, and return the most accurate one, learned from all documents.

    Since counts add, an event model of all documents needs no further pass over the file; `AutoText`, which chooses
    weights on documents, is fitted again.

    Parameters
    ----------
    source : TextSource
        From `read_texts`.
    models : list of str, optional
        "AutoText", and the event models "multinomial", "bernoulli" and "complement" of `TextClassifier`; all of them by
        default.
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
    template = TextClassifier(**parameters)
    learned, held_out, n_unlabelled = _count(source, template)
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
    scores = sorted(_score(source, candidates), key=lambda score: (-score.accuracy, score.log_loss))
    best: AutoText | TextClassifier
    if scores[0].model == AUTO:
        best = AutoText().fit(source)
    else:
        best = TextClassifier.from_counts(learned + held_out, model=scores[0].model, **parameters)
    total = int(learned.n_class.sum()) + int(held_out.n_class.sum())
    return TextTraining(best, tuple(scores), total, int(held_out.n_class.sum()), n_unlabelled)


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


def _count(source: TextSource, template: TextClassifier) -> tuple[TokenCounts, TokenCounts, int]:
    """Return the counts of the documents to learn from and of those held out, and how many were left out."""
    if source.target is None:
        if source.path.is_dir():
            raise TableError(
                f"{str(source.path)!r} is a directory; to learn texts it needs one folder of files per class."
            )
        raise TableError(f"{source.shown} has no column of labels; name it with target=.", "target")
    tokenizer = template._tokenizer()
    tallies, n_unlabelled = (TokenTally(tokenizer), TokenTally(tokenizer)), 0
    for texts, labels, held, left_out in _counted_parts(source):
        n_unlabelled += left_out
        for tally, rows in zip(tallies, (np.flatnonzero(~held), np.flatnonzero(held)), strict=True):
            if len(rows):
                classes, codes = read_labels([labels[i] for i in rows.tolist()])
                tally.add([texts[i] for i in rows.tolist()], codes, classes)
    learned, held_out = (tally.counts() for tally in tallies)
    if not held_out.n_class.sum():
        raise TableError(f"{source.shown} has fewer than {HELD_OUT} documents, too few to hold some out.")
    return learned, held_out, n_unlabelled


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


def _score(source: TextSource, candidates: Mapping[str, Any]) -> list[TextScore]:
    truth: list[Any] = []
    predicted: list[list[Any]] = [[] for _ in candidates]
    logs = np.zeros(len(candidates))
    for texts, labels, held in _parts(source):
        rows = np.flatnonzero(held).tolist()
        if not rows:
            continue
        documents, classes = [texts[i] for i in rows], [labels[i] for i in rows]
        truth += classes
        for k, model in enumerate(candidates.values()):
            log_proba = model.predict_log_proba(documents)
            names = model.classes_.tolist()
            predicted[k] += [names[c] for c in log_proba.argmax(axis=1).tolist()]
            # A class that no document to learn from had is given the smallest number.
            log_p = [
                row[names.index(label)] if label in names else -745.0
                for row, label in zip(log_proba, classes, strict=True)
            ]
            logs[k] -= float(np.sum(log_p))
    return [TextScore(name, *_quality(truth, predicted[k]), logs[k] / len(truth)) for k, name in enumerate(candidates)]


def _quality(truth: list[Any], predicted: list[Any]) -> tuple[float, float]:
    """Return the accuracy, and the mean of F1 over the true classes."""
    n_true, n_predicted = Counter(truth), Counter(predicted)
    hits = Counter(a for a, b in zip(truth, predicted, strict=True) if a == b)
    f1 = [2 * hits[label] / (n + n_predicted[label]) for label, n in n_true.items()]
    return hits.total() / len(truth), float(np.mean(f1))
