"""Chapter 8, description length."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit import TAN, BayesianNetwork, Hypotheses, MDLTree, NaiveBayes, datasets, description_length


def bits(prior: float, likelihood: float) -> tuple[float, float]:
    """Return L(h) and L(D | h) of one hypothesis among two."""
    beliefs = Hypotheses(["h", "other"], prior=[prior, 1 - prior], likelihood=lambda h, d: likelihood)
    lengths: tuple[float, float] = beliefs.update("the data").description_lengths()["h"]
    return lengths


def expected_length() -> float:
    """Return the entropy of four messages, each a hypothesis of its own."""
    prior = [1 / 2, 1 / 4, 1 / 8, 1 / 8]
    messages = Hypotheses(list("abcd"), prior=prior, likelihood=lambda h, d: 1.0)
    return float(np.dot(prior, [length for length, _ in messages.description_lengths().values()]))


def ratio() -> float:
    """Return the odds of two hypotheses whose lengths are 12 and 15 bits."""
    beliefs = Hypotheses(["a", "b"], likelihood=lambda h, d: 2.0 ** (-12 if h == "a" else -15)).update("the data")
    posterior = beliefs.posterior()
    return float(posterior["a"] / posterior["b"])


def total(model: Any) -> float:
    """Return the description length of a model and the tennis table, in bits."""
    table = datasets.load_tennis()
    return float(description_length(model.fit(table, target="play"), table, target="play").total)


def example() -> Any:
    """Return the three hypotheses of the example after the data."""
    likelihood = {"a": 1 / 64, "b": 1 / 8, "c": 1 / 16}
    three = Hypotheses(list("abc"), prior=[1 / 2, 1 / 4, 1 / 4], likelihood=lambda h, d: likelihood[h])
    return three.update("the data")


def longest() -> str:
    """Return the hypothesis of the longest description."""
    lengths = example().description_lengths()
    return str(max(lengths, key=lambda h: sum(lengths[h])))


def tree_or_leaf() -> str:
    """Return the shorter of two descriptions, as the MAP of two hypotheses."""
    bits = {"tree": (20, 54), "leaf": (2, 78)}
    prior = [2.0 ** -bits[h][0] for h in bits]
    two = Hypotheses(list(bits), prior=prior, likelihood=lambda h, d: 2.0 ** -bits[h][1], normalize=True)
    return str(two.update("the data").map())


def bits_of_labels() -> float:
    """Return the bits of the labels of the tennis table at the share of greatest likelihood."""
    labels = {"play": datasets.load_tennis()["play"]}
    return float(-BayesianNetwork(["play"]).fitted(labels, smoothing=0).log_likelihood(labels) / np.log(2))


ANSWERS = {
    "8.1": lambda: bits(1 / 32, 1.0)[0],
    "8.2": lambda: sum(bits(0.1, 0.001)),
    "8.3": expected_length,
    "8.4": ratio,
    "8.5": lambda: MDLTree().fit(datasets.load_heart(), target="disease").n_leaves_,
    "8.6": lambda: total(TAN()) < total(NaiveBayes()),
    "8.7": longest,
    "8.8": lambda: example().posterior()["b"],
    "8.9": tree_or_leaf,
    "8.10": bits_of_labels,
}
