"""Chapter 7, hypotheses, MAP and version spaces."""

from __future__ import annotations

from itertools import product

import numpy as np

from bayeskit.concept.brute_force import BruteForceMAP
from bayeskit.concept.candidate_elimination import CandidateElimination
from bayeskit.concept.least_squares import LeastSquares
from bayeskit.datasets.textbook import load_enjoy_sport


def size_of_space() -> int:
    """Return the number of conjunctions over attributes of 4, 3 and 2 values."""
    rows = list(product("abcd", "abc", "ab"))
    table = {f"x{k}": [row[k] for row in rows] for k in range(3)}
    labels = ["yes"] * (len(rows) - 1) + ["no"]
    return BruteForceMAP(noise=0.1).fit(table, labels).n_hypotheses_


def beliefs() -> BruteForceMAP:
    """Return the posterior over the 973 hypotheses."""
    return BruteForceMAP().fit(load_enjoy_sport(declared=True), target="enjoy", record=True)


def vote(air_temp: str = "cold") -> float:
    """Return the share of the version space that covers a day with cool water and a change ahead."""
    space = CandidateElimination().fit(load_enjoy_sport(declared=True), target="enjoy")
    day = {"sky": ["sunny"], "air_temp": [air_temp], "humidity": ["normal"], "wind": ["strong"]}
    return float(space.vote({**day, "water": ["cool"], "forecast": ["change"]})[0])


def odds_of_one_error() -> float:
    """Return the posterior of a consistent hypothesis over that of one with one error."""
    learner = BruteForceMAP(noise=0.1).fit(load_enjoy_sport(declared=True), target="enjoy")
    posterior = np.exp(learner.log_posterior_)
    return float(posterior[learner.errors_ == 0][0] / posterior[learner.errors_ == 1][0])


def survivors_are_map() -> bool:
    """Return whether all that is left has the greatest posterior."""
    learner = beliefs()
    return bool(len(learner.most_probable(ties=True)) == learner.steps_[-1].n_left)


def least_error() -> float:
    """Return the sum of squared errors of the best line."""
    x, d = {"x": [0.0, 1.0, 2.0]}, np.array([1.0, 3.0, 4.0])
    away = d - LeastSquares().fit(x, d).predict(x)
    return float(away @ away)


ANSWERS = {
    "7.1": size_of_space,
    "7.2": lambda: np.exp(beliefs().log_evidence_),
    "7.3": lambda: beliefs().steps_[2].n_left,
    "7.4": vote,
    "7.5": odds_of_one_error,
    "7.6": lambda: LeastSquares().fit({"x": [0.0, 1.0, 2.0]}, [1.0, 3.0, 4.0]).coef_[0],
    "7.7": survivors_are_map,
    "7.8": lambda: beliefs().steps_[2].n_left / beliefs().n_hypotheses_,
    "7.9": lambda: vote("warm"),
    "7.10": least_error,
}
