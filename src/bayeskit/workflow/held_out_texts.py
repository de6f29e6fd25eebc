"""What a text classifier says of documents that it has not seen, gathered batch by batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError, TableError
from bayeskit.result import Result
from bayeskit.workflow.evaluation import Evaluation, PairedComparison, paired, refuse_other_classes

if TYPE_CHECKING:
    from bayeskit.decide.loss import Loss
    from bayeskit.explain.text_explanation import TextExplanation
    from bayeskit.table.corpus_files import TextSource

# Errors that are kept to be shown, those made with the highest probability.
MOST_MISTAKES = 12


@dataclass(frozen=True, repr=False)
class Mistake(Result):
    """A document whose class was predicted wrong, with why."""

    number: int  # among the documents judged, from 1
    truth: Any
    probability: float  # of the class that was predicted
    explanation: TextExplanation  # of the predicted class over the true one


@dataclass(frozen=True, repr=False)
class HeldOut(Result):
    """The documents that a classifier was judged on."""

    scores: Scores
    confidence: NDArray[np.float64]  # (n_documents,) the probability of the predicted class
    right: NDArray[np.bool_]  # (n_documents,)
    length: NDArray[np.int64]  # (n_documents,) characters
    repeated: NDArray[np.bool_]  # (n_documents,) whether a document to learn from has the same words
    second: NDArray[np.float64] | None  # (n_documents,) P(c) of the second of two classes
    is_second: NDArray[np.bool_]  # (n_documents,)
    mistakes: tuple[Mistake, ...]  # the surest first


class Judge:
    """A classifier and the sums of its scores; classes that it does not know have probability 0."""

    def __init__(self, model: Any, classes: NDArray[Any], loss: Loss | None = None) -> None:
        self._model, self._classes, self._loss = model, classes, loss
        self._number = {label: k for k, label in enumerate(classes.tolist())}
        self._place = np.array([self._number[label] for label in model.classes_.tolist()], dtype=np.intp)
        self._scores: Scores | None = None
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._surest: list[tuple[float, int, str, Any, Any]] = []
        self._n = 0

    @property
    def scores(self) -> Scores:
        """The sums of all documents so far."""
        assert self._scores is not None
        return self._scores

    def add(self, texts: list[str], labels: list[Any]) -> None:
        """Judge a batch of documents."""
        y = np.array([self._number[label] for label in labels], dtype=np.intp)
        posterior = np.zeros((len(y), len(self._classes)))
        posterior[:, self._place] = self._model.predict_proba(texts)
        scores = Scores.of(posterior, y, self._classes.tolist(), self._loss)
        self._scores = scores if self._scores is None else self._scores + scores
        guess, confidence = posterior.argmax(axis=1), posterior.max(axis=1)
        length = np.array([len(text) for text in texts], dtype=np.int64)
        self._parts.append((confidence, guess == y, length, posterior[:, -1], y == len(self._classes) - 1))
        for i in np.flatnonzero(guess != y).tolist():
            # A number breaks ties, so that texts are never compared.
            entry = (float(confidence[i]), -(self._n + i + 1), texts[i], labels[i], self._classes[guess[i]])
            (heapq.heappush if len(self._surest) < MOST_MISTAKES else heapq.heappushpop)(self._surest, entry)
        self._n += len(y)

    def held_out(self, repeated: NDArray[np.bool_]) -> HeldOut:
        """Return all documents, with the surest mistakes explained."""
        confidence, right, length, second, is_second = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        known = set(self._model.classes_.tolist())
        mistakes = tuple(
            Mistake(-number, truth, p, self._model.explain(text, (guess, truth) if truth in known else None))
            for p, number, text, truth, guess in sorted(self._surest, reverse=True)
        )
        two = len(self._classes) == 2
        return HeldOut(self.scores, confidence, right, length, repeated, second if two else None, is_second, mistakes)


def evaluate_texts(model: Any, source: TextSource, loss: Loss | None = None) -> Evaluation:
    """Score a text classifier on texts with known labels, batch by batch; documents without one are left out.

    Parameters
    ----------
    model : TextClassifier or AutoText
        A fitted classifier.
    source : TextSource
        From `read_texts`, with labels.
    loss : Loss, optional
        Makes the decisions of least expected loss, and scores them.
    """
    judge = Judge(model, np.asarray(model.classes_, dtype=object), loss)
    n_unlabelled = 0
    for texts, labels, left_out in _labelled(source, model):
        n_unlabelled += left_out
        if texts:
            judge.add(texts, labels)
    return Evaluation(judge.scores, str(source.target), n_unlabelled)


def compare_texts(first: Any, second: Any, source: TextSource) -> PairedComparison:
    """Compare two text classifiers on the same documents, as :func:`bayeskit.workflow.evaluation.compare_models`."""
    refuse_other_classes(first, second)
    number = {label: k for k, label in enumerate(first.classes_.tolist())}
    comparison = paired(
        ([model.predict_proba(texts) for model in (first, second)], np.array([number[label] for label in labels]))
        for texts, labels, _ in _labelled(source, first)
        if texts
    )
    assert comparison is not None
    return comparison


def _labelled(source: TextSource, model: Any) -> Iterator[tuple[list[str], list[Any], int]]:
    """Yield documents with their labels, and how many had none; refuse labels that are not the model's."""
    if source.target is None:
        raise TableError(f"{source.shown} has no column of labels; name it.", "target")
    known, n = {label: label for label in model.classes_.tolist()}, 0
    for texts, given, left_out in source.labeled().batches():
        labels = [_as_class(label, known) for label in given]
        for i, (label, match) in enumerate(zip(given, labels, strict=True)):
            if match is None:
                raise BayeskitError(
                    f"{source.shown}, document {n + i + 1}: {label!r} is not a class of the model, which knows "
                    f"{', '.join(map(repr, list(known)[:8]))}."
                )
        yield texts, labels, left_out
        n += len(texts)
    if not n:
        raise TableError(f"{source.shown} has no document with a label.")


def _as_class(label: Any, known: Mapping[Any, Any]) -> Any:
    """Return the class that a label names, None where there is none: 5 and "5" are one where only one is a class."""
    if label in known:
        return known[label]
    if not isinstance(label, str):
        return known.get(str(label))
    try:
        return known.get(float(label))
    except ValueError:
        return None
