"""Chapter 9, the Bayes optimal classifier and Gibbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeskit import CandidateElimination, Hypotheses, datasets, overall_risk


def beliefs(posterior: Sequence[float], positive: Sequence[float]) -> Any:
    """Return hypotheses with these posteriors, each of which says + with its probability."""
    says = {f"h{k}": {"+": p, "-": 1.0 - p} for k, p in enumerate(positive)}
    return Hypotheses(says, prior=list(posterior))


def gibbs_error(optimal: float) -> float:
    """Return how often an answer drawn from the posterior is wrong, where the best answer is with this probability."""
    posterior = [1 - optimal, optimal]
    return overall_risk([posterior, posterior], None, [0, 1], sample_weight=posterior)  # type: ignore[no-any-return]


def rainy_vote() -> float:
    """Return the share of the version space that covers a rainy and warm day."""
    space = CandidateElimination().fit(datasets.load_enjoy_sport(declared=True), target="enjoy")
    day = {"sky": ["rainy"], "air_temp": ["warm"], "humidity": ["normal"], "wind": ["strong"]}
    return float(space.vote({**day, "water": ["warm"], "forecast": ["same"]})[0])


ANSWERS = {
    "9.1": lambda: beliefs([0.4, 0.25, 0.2, 0.15], [1, 0, 0, 1]).predict(),
    "9.2": lambda: beliefs([0.5, 0.3, 0.2], [0.9, 0.2, 0.1]).predict_proba()["+"],
    "9.3": lambda: gibbs_error(0.1),
    "9.4": lambda: beliefs([0.4, 0.3, 0.3], [1, 0, 0]).predict_proba()["+"],
    "9.5": rainy_vote,
    "9.6": lambda: beliefs([1 / 3, 1 / 3, 1 / 3], [1, 1, 0]).predict_proba()["+"],
    "9.7": lambda: gibbs_error(1 / 3),
    "9.8": lambda: gibbs_error(1 / 3) <= 2 / 3,
    "9.9": lambda: next(r for r in (0.1, 0.2, 0.3, 0.4, 0.5) if abs(gibbs_error(r) - r) < 1e-12),
    "9.10": lambda: beliefs([0.4, 0.3, 0.3], [1, 0, 0]).predict() == "+",
}
