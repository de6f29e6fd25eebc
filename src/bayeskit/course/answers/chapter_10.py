"""Chapter 10, text."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit import NaiveBayes, TextClassifier


def model() -> Any:
    """Return the classifier of the three documents; its classes are dislike, like."""
    texts, labels = ["good good film", "good plot", "bad plot"], ["like", "like", "dislike"]
    return TextClassifier(smoothing=1).fit(texts, labels)


def word(name: str, k: int) -> float:
    """Return P(word | class)."""
    fitted = model()
    return float(np.exp(fitted.feature_log_prob_[k, fitted.vocabulary_[name]]))


def like(text: str) -> float:
    """Return P(like | text)."""
    return float(model().predict_proba([text])[0, 1])


def prior() -> float:
    """Return P(like) of 300 documents among 1000."""
    labels = ["like"] * 300 + ["dislike"] * 700
    return float(TextClassifier().fit(["a"] * 1000, labels).class_prior_[1])


def cells_by_position() -> float:
    """Return the cells of one table per position: counted for two small vocabularies, which tells the rest."""
    sizes = []
    for words in ("ab", "abcd"):
        table = {f"position {k}": list(words) * 2 for k in range(3)}
        tables = NaiveBayes().fit(table, ["no"] * len(words) + ["yes"] * len(words)).tables_
        sizes.append(sum(each.values.size for each in tables.values()))
    per_word_and_position = (sizes[1] - sizes[0]) / (2 * 3)
    return float(per_word_and_position * 111 * 50_000)


ANSWERS = {
    "10.1": lambda: word("plot", 0),
    "10.2": lambda: like("good plot"),
    "10.3": lambda: like("plot"),
    "10.4": lambda: like("nothing known"),
    "10.5": prior,
    "10.6": cells_by_position,
    "10.7": lambda: word("film", 0),
    "10.8": lambda: like("good good") > like("good"),
    "10.9": lambda: like("bad"),
    "10.10": lambda: np.exp(model().feature_log_prob_[0]).sum(),
}
