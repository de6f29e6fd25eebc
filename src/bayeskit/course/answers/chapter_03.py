"""Chapter 3, likelihood and λ."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from bayeskit.classify.gaussian_nb import GaussianNB
from bayeskit.classify.naive_bayes import NaiveBayes
from bayeskit.datasets.textbook import load_fifteen, load_watermelon
from bayeskit.estimate.smoothing import Lidstone
from bayeskit.network.network import BayesianNetwork


def melon_share(column: str, value: str, smoothing: float = 1) -> float:
    """Return P(value | 是) with λ, from the network of naive Bayes."""
    table = load_watermelon()
    kept = {name: table[name] for name in (column, "好瓜")}
    net = NaiveBayes(smoothing=smoothing).fit(kept, target="好瓜").to_network()
    return net.posterior(column, given={"好瓜": "是"})[value]


def variance(divide_by_less: int) -> float:
    """Return the variance of four numbers, divided by n or by n − 1."""
    x = np.array([[1.0], [2.0], [3.0], [6.0]])
    model = GaussianNB(var_smoothing=0.0).fit(x, [0] * 4)
    return float(model.var_[0, 0]) * 4 / (4 - divide_by_less)


def joint_of_example() -> float:
    """Return P(2, S, Y = −1) of 例 4.1 with λ = 1."""
    table = load_fifteen()
    table["X1"] = [str(x) for x in table["X1"]]
    model = NaiveBayes(smoothing=1).fit(table, target="Y")
    return float(np.exp(model.predict_joint_log_proba({"X1": ["2"], "X2": ["S"]})[0, 0]))


def heads(smoothing: float) -> float:
    """Return P(heads) of 7 heads and 3 tails."""
    net = BayesianNetwork(["coin"], states={"coin": ["tails", "heads"]})
    table = {"coin": ["heads"] * 7 + ["tails"] * 3}
    return net.fitted(table, smoothing=Lidstone(smoothing)).posterior("coin")["heads"]


def log_likelihood_of_throws() -> float:
    """Return the log-likelihood of the throws at its maximum."""
    net = BayesianNetwork(["coin"], states={"coin": ["tails", "heads"]})
    table = {"coin": ["heads"] * 7 + ["tails"] * 3}
    return net.fitted(table, smoothing=0).log_likelihood(table)


ANSWERS = {
    "3.1": lambda: melon_share("色泽", "青绿"),
    "3.2": lambda: melon_share("敲声", "清脆"),
    "3.3": lambda: variance(0),
    "3.4": lambda: variance(1),
    "3.5": joint_of_example,
    "3.6": lambda: brentq(lambda smoothing: heads(smoothing) - 0.6, 0.1, 100.0),
    "3.7": log_likelihood_of_throws,
    "3.8": lambda: melon_share("色泽", "青绿", 1000),
    "3.9": lambda: sum(melon_share("色泽", value) for value in ("青绿", "乌黑", "浅白")),
    "3.10": lambda: GaussianNB().fit(np.array([[1.0], [2.0], [3.0], [6.0]]), [0] * 4).theta_[0, 0],
}
