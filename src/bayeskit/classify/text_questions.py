"""Explanations of a text model, rankings of texts, and the words of a class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.classify.text_beliefs import TextBeliefs
from bayeskit.errors import BayeskitError, TableError
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.explain.ranking import Ranking
from bayeskit.explain.text_explanation import TextExplanation
from bayeskit.learn.learner import Learner


class TextQuestions(Learner):
    """A model over `TextBeliefs` that explains a text, ranks texts, and lists the words of a class."""

    @abstractmethod
    def _class_scores(self, texts: Any) -> NDArray[np.float64]:
        """Return log P(c | d) up to a number of each document, of shape (n_documents, n_classes)."""

    def explain(self, text: str, classes: tuple[Any, Any] | None = None) -> TextExplanation:
        """Explain one text: the prior log-odds of two classes, and the change by each of its words.

        Parameters
        ----------
        text : str
            What to explain.
        classes : (a, b), optional
            The classes to compare; by default the most probable one and the runner-up.

        Examples
        --------
        >>> from bayeskit import TextClassifier
        >>> model = TextClassifier().fit(
        ...     ["cheap pills", "lunch at noon", "cheap cheap watches"], ["spam", "ham", "spam"]
        ... )
        >>> model.explain("Cheap lunch!")
        log-odds of spam over ham
        prior                      +0.693          │
        cheap                      +1.186          ├████████
        lunch                      -0.894    ██████┤
        posterior                  +0.985  P(spam) = 0.728
        Cheap⁺ lunch⁻!
        """
        if not isinstance(text, str):
            raise TableError(f"explain takes one text; got {type(text).__name__}.")
        self._refuse_unfitted()
        beliefs: TextBeliefs = self._beliefs
        text = beliefs.counts.tokenizer.normal(text)
        sure = self._sureness(text)
        log_joint = beliefs.score([text], Score.LOG_JOINT)[0]
        a, b = self._pair(log_joint, classes)
        shifted = np.exp(sure * (log_joint - log_joint.max()))
        pair = (_plain(self.classes_[a]), _plain(self.classes_[b]))
        prior = sure * float(beliefs.table.bias[a] - beliefs.table.bias[b])
        words = tuple(word._replace(weight=sure * word.weight) for word in beliefs.words_of(text, a, b))
        return TextExplanation(text, pair, prior, words, float(shifted[a] / shifted.sum()))

    def _sureness(self, text: str) -> float:
        """Return what log P(d, c) of a text is multiplied by."""
        return 1.0

    def _pair(self, log_joint: NDArray[np.float64], classes: Any) -> tuple[int, int]:
        names = self.classes_.tolist()
        if classes is None:
            if len(names) < 2:
                raise BayeskitError(f"an explanation compares two classes; the model has {names[0]!r} only.")
            first, second = np.argsort(-log_joint, kind="stable")[:2].tolist()
            return first, second
        if len(classes) != 2 or any(name not in names for name in classes):
            raise BayeskitError(f"classes must be two of {names}; got {classes!r}.")
        return names.index(classes[0]), names.index(classes[1])

    def rank(self, texts: Any, cls: Any) -> Ranking:
        """Return documents with the most interesting ones first: by log P(cls | d) − log P(not cls | d).

        Parameters
        ----------
        texts : list of str, or column of texts
            The documents.
        cls : label
            The class that is interesting.

        Returns
        -------
        Ranking
            ``order`` holds the documents' numbers, ``log_odds`` their log-odds; ``enrichment(y)`` gives the share of
            interesting documents in the top tenth, and among all.

        Examples
        --------
        >>> from bayeskit import TextClassifier
        >>> model = TextClassifier().fit(
        ...     ["cheap pills", "lunch at noon", "cheap cheap watches"], ["spam", "ham", "spam"]
        ... )
        >>> model.rank(["lunch", "cheap pills", "pills at noon"], "spam").order
        array([1, 0, 2])
        """
        c = self._place(cls)
        log_joint = self._class_scores(texts)
        # Not from the posterior, which rounds to 0 or 1 for long texts and would tie them.
        rest = np.delete(log_joint, c, axis=1)
        log_odds = log_joint[:, c] - np.logaddexp.reduce(rest, axis=1) if rest.shape[1] else log_joint[:, c]
        return Ranking(cls, np.argsort(-log_odds, kind="stable"), log_odds)

    def summary(self) -> ModelSummary:
        """Return a printable summary: the classes with their documents, and the words that tell most for each."""
        model: Any = self._now()
        return self._summary_of_words(
            "hashed words" if model.hashing is not None else f"{len(model.vocabulary_):,} words"
        )

    def _summary_of_words(self, what: str) -> ModelSummary:
        model: Any = self._now()
        labels, counts = model.classes_.tolist(), model.class_count_.tolist()
        classes = [str(label) for label in labels]
        hashed = getattr(model, "hashing", None) is not None
        best = [[] if hashed else [word for word, _ in model.top_words(label, 10)] for label in labels]
        words = dict(zip(classes, best, strict=True))
        lines = [f"{name} ({n:g} documents): {', '.join(words[name])}" for name, n in zip(classes, counts, strict=True)]
        facts = {"classes": classes, "documents": dict(zip(classes, counts, strict=True)), "words": words}
        return ModelSummary(f"{type(self).__name__}: {what}, {len(classes)} classes", facts, "\n".join(lines))

    def top_words(self, cls: Any, n: int = 20) -> list[tuple[str, float]]:
        """Return the strongest words for a class: by log P(w | c) minus its mean over all classes."""
        c = self._place(cls)
        table = self._beliefs.table.dense().T  # (n_classes, n_words)
        with np.errstate(invalid="ignore"):
            lead = table[c] - table.mean(axis=0)
        order = np.argsort(-lead, kind="stable")[:n]
        words = self.counts_.words
        return [(words[self._beliefs.table.words[k]], float(lead[k])) for k in order]

    def _place(self, cls: Any) -> int:
        self._refuse_unfitted()
        names = self.classes_.tolist()
        if cls not in names:
            raise BayeskitError(f"cls must be one of the classes {names}; got {cls!r}.")
        return int(names.index(cls))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
