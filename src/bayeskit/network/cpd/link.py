"""Discrete variables with real parents: logistic and probit links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.network.cpd.distribution import Codes, Distribution, Table
from bayeskit.network.cpd.table import TableCPD, check_size

Link = Literal["logistic", "probit"]
# Sums of larger ones over many parents leave the floats.
LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class LinkCPD(Distribution):
    r"""A discrete variable whose scores are linear in its real parents, with a number for each state of the others.

    .. math:: s_y = b_y + \sum_i w_i(x_i, y) + \sum_j v_{jy} x_j, \quad
        P(y) \propto e^{s_y} \text{ (logistic)}, \quad P(\text{second}) = Φ(s_2 - s_1) \text{ (probit, two states)}

    Attributes
    ----------
    link : {"logistic", "probit"}
    cards : tuple of int
        The number of states of each parent, 0 for a real one.
    bias : float64 array of shape (n_states,)
    weights : tuple of float64 arrays of shape (the parent's states, n_states), or (1, n_states) for a real parent
    """

    link: Link
    cards: tuple[int, ...]
    bias: Table
    weights: tuple[Table, ...]

    kind: ClassVar[str] = "link"

    @property
    def shape(self) -> tuple[int, ...]:
        """The parents' states, with 0 for a real one, and the own states."""
        return (*self.cards, len(self.bias))

    @property
    def discrete(self) -> tuple[int, ...]:
        """The places of the discrete parents."""
        return tuple(k for k, card in enumerate(self.cards) if card)

    @property
    def real(self) -> tuple[int, ...]:
        """The places of the real parents."""
        return tuple(k for k, card in enumerate(self.cards) if not card)

    @property
    def n_parameters(self) -> int:
        """One per own state but one: for the bias, each state but one of a parent, and each real parent."""
        return (len(self.bias) - 1) * (1 + sum(max(card - 1, 1) for card in self.cards))

    @property
    def positive(self) -> bool:
        """True: no probability is 0."""
        return True

    @property
    def values(self) -> Table:  # type: ignore[override]
        """Refuse: numbers have no rows."""
        raise NetworkError(f"a {self.link} distribution with real parents has no table; ask rows for given numbers.")

    def __repr__(self) -> str:
        return f"{self.link} distribution of {len(self.real)} real and {len(self.discrete)} discrete parents"

    def rows(self, codes: Codes) -> Table:
        """Refuse: the numbers of the real parents are needed."""
        return self.values

    def rows_given(self, codes: Codes, x: Table) -> Table:
        """Return P(own states | parents) for each row: codes (n, discrete parents) and numbers (n, real parents)."""
        score = np.repeat(self.bias[None, :], len(codes), axis=0)
        for column, k in enumerate(self.discrete):
            score += self.weights[k][codes[:, column]]
        for column, k in enumerate(self.real):
            score += x[:, column, None] * self.weights[k]
        if self.link == "probit":
            from scipy.special import ndtr

            away = score[:, 1] - score[:, 0]
            return np.stack([ndtr(-away), ndtr(away)], axis=1)
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(score / score.sum(axis=1, keepdims=True))

    def given_numbers(self, x: Sequence[float]) -> TableCPD:
        """Return the table over the discrete parents where the numbers of the real ones are known."""
        cards = [self.cards[k] for k in self.discrete]
        check_size("a variable", (*cards, len(self.bias)))
        codes = np.indices(cards).reshape(len(cards), prod(cards)).T
        numbers = np.repeat(np.array([x], dtype=np.float64), len(codes), axis=0)
        return TableCPD(self.rows_given(codes, numbers).reshape(*cards, len(self.bias)))

    def reordered(self, axes: Sequence[int]) -> LinkCPD:
        """Return the same distribution with its parents in another order: parent k is our parent ``axes[k]``."""
        return LinkCPD(self.link, tuple(self.cards[a] for a in axes), self.bias, tuple(self.weights[a] for a in axes))

    def with_parent(self, card: int) -> LinkCPD:
        """Return the distribution with one more parent, the last, that says nothing; a real one has no states."""
        return LinkCPD(
            self.link, (*self.cards, card), self.bias, (*self.weights, np.zeros((max(card, 1), len(self.bias))))
        )

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return fields and numbers."""
        numbers = np.concatenate([self.bias, *(w.ravel() for w in self.weights)])
        return {"link": self.link, "shape": list(self.shape)}, numbers

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> LinkCPD:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        r, link = shape[-1], meta.get("link")
        sizes = [max(card, 1) * r for card in shape[:-1]]
        fits = meta.get("shape") == list(shape) and numbers.shape == (r + sum(sizes),)
        if link not in ("logistic", "probit") or not fits or not (abs(numbers) <= LARGEST).all():
            raise ModelFileError(f"a distribution of shape {shape} with a link needs {r + sum(sizes)} finite numbers.")
        if link == "probit" and r != 2:
            raise ModelFileError("a probit distribution has two states.")
        bias, *weights = np.split(numbers, np.cumsum([r, *sizes])[:-1])
        return cls(link, tuple(shape[:-1]), bias, tuple(w.reshape(-1, r) for w in weights))
