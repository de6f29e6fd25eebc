"""Chapter 1, probability and Bayes' rule."""

from __future__ import annotations

from bayeskit.concept.hypotheses import Hypotheses
from bayeskit.network.network import BayesianNetwork

_POSITIVE = {"cancer": 0.98, "healthy": 0.03}


def patient(*results: str) -> Hypotheses:
    """Return the beliefs about the patient after some tests."""
    said = Hypotheses(
        list(_POSITIVE),
        prior=[0.008, 0.992],
        likelihood=lambda h, d: _POSITIVE[h] if d == "+" else 1.0 - _POSITIVE[h],
    )
    return said.update(*results)


def least_prior() -> float:
    """Return the prior at which a positive test leaves both explanations equally probable, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        prior = (low + high) / 2
        net = BayesianNetwork("a->b", tables={"a": [1 - prior, prior], "b": [[0.97, 0.03], [0.02, 0.98]]})
        below = net.posterior("a", given={"b": "yes"})["yes"] < 0.5
        low, high = (prior, high) if below else (low, prior)
    return low


def a_six() -> float:
    """Return P(at least one six) of two dice."""
    die = [1 / 6] * 6
    net = BayesianNetwork(["a", "b"], states={"a": list("123456"), "b": list("123456")}, tables={"a": die, "b": die})
    return 1.0 - float(net.joint(["a", "b"]).array[:5, :5].sum())


def fair_coin() -> float:
    """Return P(fair) after three heads."""
    coins = Hypotheses(["fair", "two heads"], likelihood=lambda h, d: 0.5 if h == "fair" else float(d == "heads"))
    return coins.update("heads", "heads", "heads").posterior()["fair"]


ANSWERS = {
    "1.1": lambda: patient("+").posterior()["cancer"],
    "1.2": lambda: patient("+", "+").posterior()["cancer"],
    "1.3": lambda: patient("-").posterior()["cancer"],
    "1.4": least_prior,
    "1.5": a_six,
    "1.6": fair_coin,
    "1.7": lambda: patient("+", "+").map(),
    "1.8": lambda: next(n for n in range(1, 9) if patient(*"+" * n).posterior()["cancer"] > 0.99),
    "1.9": lambda: patient("+", "-").posterior()["cancer"],
    "1.10": lambda: abs(patient("+", "-").posterior()["cancer"] - patient("-", "+").posterior()["cancer"]) > 1e-12,
}
