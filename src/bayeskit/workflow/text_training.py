"""Training on texts from a file or a folder: event models compared on every fifth document, in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.text import TextClassifier
from bayeskit.counts.tokens import TokenCounts, TokenTally
from bayeskit.errors import TableError
from bayeskit.result import Result
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.labels import read_labels

EVENT_MODELS = ("multinomial", "bernoulli", "complement")
# One document in this many is held out.
HELD_OUT = 5


@dataclass(frozen=True, repr=False)
class TextScore(Result):
    """The accuracy of an event model on the held-out documents."""

    model: str
    accuracy: float
    macro_f1: float
    log_loss: float


@dataclass(frozen=True, repr=False)
class TextTraining(Result):
    """The result of training on texts."""

    model: TextClassifier  # the best one, of all documents
    scores: tuple[TextScore, ...]  # the best first
    n_documents: int
    n_held_out: int


def train_text(source: TextSource, models: Sequence[str] | None = None, **parameters: Any) -> TextTraining:
    """Compare event models on every fifth document, and return the most accurate one, learned from all documents.

    The file is read twice: once to count, once to predict the documents that were held out. Since counts add, the model
    of all documents needs no third pass.

    Parameters
    ----------
    source : TextSource
        From `read_texts`.
    models : list of str, optional
        "multinomial", "bernoulli", "complement"; all of them by default.
    **parameters
        Other parameters of `TextClassifier`, the same for all.
    """
    tried = tuple(models or EVENT_MODELS)
    strange = [name for name in tried if name not in EVENT_MODELS]
    if strange:
        raise TableError(
            f"{strange[0]!r} is not an event model of text; there are {', '.join(EVENT_MODELS)}.", "models"
        )
    template = TextClassifier(**parameters)
    learned, held_out = _count(source, template)
    candidates = [TextClassifier.from_counts(learned, model=name, **parameters) for name in tried]
    scores = sorted(_score(source, candidates), key=lambda score: (-score.accuracy, score.log_loss))
    best = TextClassifier.from_counts(learned + held_out, model=scores[0].model, **parameters)
    total = int(learned.n_class.sum()) + int(held_out.n_class.sum())
    return TextTraining(best, tuple(scores), total, int(held_out.n_class.sum()))


def _count(source: TextSource, template: TextClassifier) -> tuple[TokenCounts, TokenCounts]:
    if source.target is None:
        if source.path.is_dir():
            raise TableError(
                f"{str(source.path)!r} is a directory; to learn texts it needs one folder of files per class."
            )
        raise TableError(f"{source.shown} has no column of labels; name it with target=.", "target")
    tokenizer = template._tokenizer()
    tallies = (TokenTally(tokenizer), TokenTally(tokenizer))
    for texts, labels, held in _parts(source):
        for tally, rows in zip(tallies, (np.flatnonzero(~held), np.flatnonzero(held)), strict=True):
            if len(rows):
                classes, codes = read_labels([labels[i] for i in rows.tolist()])
                tally.add([texts[i] for i in rows.tolist()], codes, classes)
    learned, held_out = (tally.counts() for tally in tallies)
    if not held_out.n_class.sum():
        raise TableError(f"{source.shown} has fewer than {HELD_OUT} documents, too few to hold some out.")
    return learned, held_out


def _parts(source: TextSource) -> Iterator[tuple[list[str], list[Any], NDArray[np.bool_]]]:
    seen = 0
    for texts, labels in source:
        held = (np.arange(seen, seen + len(texts)) + 1) % HELD_OUT == 0
        seen += len(texts)
        yield texts, labels or [None] * len(texts), held


def _score(source: TextSource, candidates: Sequence[TextClassifier]) -> list[TextScore]:
    truth: list[Any] = []
    predicted: list[list[Any]] = [[] for _ in candidates]
    logs = np.zeros(len(candidates))
    for texts, labels, held in _parts(source):
        rows = np.flatnonzero(held).tolist()
        if not rows:
            continue
        documents, classes = [texts[i] for i in rows], [labels[i] for i in rows]
        truth += classes
        for k, model in enumerate(candidates):
            log_proba = model.predict_log_proba(documents)
            names = model.classes_.tolist()
            predicted[k] += [names[c] for c in log_proba.argmax(axis=1).tolist()]
            # A class that no document to learn from had is given the smallest number.
            log_p = [
                row[names.index(label)] if label in names else -745.0
                for row, label in zip(log_proba, classes, strict=True)
            ]
            logs[k] -= float(np.sum(log_p))
    return [
        TextScore(model.model, *_quality(truth, predicted[k]), logs[k] / len(truth))
        for k, model in enumerate(candidates)
    ]


def _quality(truth: list[Any], predicted: list[Any]) -> tuple[float, float]:
    """Return the accuracy, and the mean of F1 over the true classes."""
    n_true, n_predicted = Counter(truth), Counter(predicted)
    hits = Counter(a for a, b in zip(truth, predicted, strict=True) if a == b)
    f1 = [2 * hits[label] / (n + n_predicted[label]) for label, n in n_true.items()]
    return hits.total() / len(truth), float(np.mean(f1))
