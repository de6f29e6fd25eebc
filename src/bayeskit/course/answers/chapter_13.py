"""Chapter 13, hidden variables: EM, k-means, mixtures."""

from __future__ import annotations

from typing import Any

from bayeskit import GaussianMixture, KMeans

_ROWS = [[0.0], [1.0], [9.0], [10.0]]
_START = [[0.0], [1.0]]


def em_steps() -> list[Any]:
    """Return EM step by step."""
    model = GaussianMixture(2, covariance="fixed", sigma=1, init=_START).fit(_ROWS, record=True)
    steps: list[Any] = model.steps(_ROWS)
    return steps


def k_means() -> Any:
    """Return k-means with its steps recorded."""
    return KMeans(2, init=_START).fit(_ROWS, record=True)


ANSWERS = {
    "13.1": lambda: em_steps()[0].responsibilities[0, 0],
    "13.2": lambda: em_steps()[1].parameters["means"][0, 0],
    "13.3": lambda: em_steps()[1].parameters["means"][1, 0],
    "13.4": lambda: k_means().steps(_ROWS)[1].parameters["means"][1, 0],
    "13.5": lambda: k_means().inertia_,
    "13.6": lambda: em_steps()[-1].log_likelihood,
    "13.7": lambda: any(step.q > step.log_likelihood + 1e-9 for step in em_steps()[1:]),
    "13.8": lambda: em_steps()[0].responsibilities[1].sum(),
    "13.9": lambda: em_steps()[0].responsibilities[:, 1].sum(),
    "13.10": lambda: em_steps()[1].q,
}
