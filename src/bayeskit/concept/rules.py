r"""The basic rules of probability as small checked functions, on events (numbers) and on tables.

A distribution over hypotheses is a mapping of name to probability, or an array. A conditional table P(d | h) has one
entry per hypothesis: a number, the probability of one observation, or a mapping of observation to probability. As an
array its first axis is the hypothesis.

The textbook's cancer test:

>>> prior = {"cancer": 0.008, "no cancer": 0.992}
>>> positive = {"cancer": 0.98, "no cancer": 0.03}  # P(+ | h)
>>> {h: round(p, 5) for h, p in product_rule(positive, prior).items()}  # P(+, h)
{'cancer': 0.00784, 'no cancer': 0.02976}
>>> round(total_probability(positive, prior), 4)  # P(+)
0.0376
>>> {h: round(p, 5) for h, p in bayes_rule(positive, prior).items()}  # P(h | +)
{'cancer': 0.20851, 'no cancer': 0.79149}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.probabilities import SUM_TOLERANCE, as_numbers, check_probabilities, read_prior
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError


def product_rule(conditional: Any, marginal: Any) -> Any:
    r"""Return P(A ∧ B) = P(A | B) P(B), for two events or for a table.

    Parameters
    ----------
    conditional : number, mapping or array
        P(A | B); a table has one entry per value of B.
    marginal : number, mapping or array
        P(B).

    Examples
    --------
    >>> product_rule(0.5, 0.25)
    0.125
    """
    if _is_event(conditional) and _is_event(marginal):
        return _event(conditional, "P(A | B)") * _event(marginal, "P(B)")
    table = _Table.read(conditional, marginal)
    return table.named(table.joint)


def sum_rule(p_a: float, p_b: float, p_both: float) -> float:
    """Return P(A ∨ B) = P(A) + P(B) − P(A ∧ B).

    Examples
    --------
    >>> round(sum_rule(0.5, 0.4, 0.2), 12)
    0.7
    >>> sum_rule(0.5, 0.4, 0.45)
    Traceback (most recent call last):
    ...
    bayeskit.errors.BayeskitError: P(A ∧ B) must lie between 0 and 0.4 when P(A) = 0.5 and P(B) = 0.4; got 0.45.
    """
    a, b, both = _event(p_a, "P(A)"), _event(p_b, "P(B)"), _event(p_both, "P(A ∧ B)")
    least, most = max(0.0, a + b - 1.0), min(a, b)
    if not least - SUM_TOLERANCE <= both <= most + SUM_TOLERANCE:
        raise BayeskitError(
            f"P(A ∧ B) must lie between {least:g} and {most:g} when P(A) = {a:g} and P(B) = {b:g}; got {both:g}."
        )
    return a + b - both


def total_probability(conditional: Any, prior: Any) -> Any:
    r"""Return P(B) = Σ_i P(B | A_i) P(A_i), where exactly one of the A_i holds.

    Parameters
    ----------
    conditional : mapping or array
        P(B | A_i), or a table with all values of B for each A_i.
    prior : mapping or array
        P(A_i); must sum to 1.

    Returns
    -------
    float, or the distribution of B where a table was given

    Examples
    --------
    >>> total_probability([0.9, 0.2], [0.25, 0.75])
    0.375
    >>> total_probability(
    ...     {"rain": {"wet": 0.75, "dry": 0.25}, "sun": {"wet": 0.0, "dry": 1.0}}, {"rain": 0.5, "sun": 0.5}
    ... )
    {'wet': 0.375, 'dry': 0.625}
    """
    table = _Table.read(conditional, prior)
    total = table.joint.sum(axis=0)
    if table.outcomes is not None:
        return dict(zip(table.outcomes, total.tolist(), strict=True))
    return float(total) if total.ndim == 0 else total


def bayes_rule(likelihood: Any, prior: Any, evidence: float | None = None) -> Any:
    r"""Return the posterior P(h | D) = P(D | h) P(h) / P(D).

    Parameters
    ----------
    likelihood : number, mapping or array
        P(D | h): of one hypothesis, of each, or a table with all observations for each.
    prior : number, mapping or array
        P(h).
    evidence : float, optional
        P(D), needed for a single hypothesis; otherwise it is the total probability.

    Returns
    -------
    float, mapping or array
        Of the type of the prior; for a table, one posterior for each observation: a mapping of observation to
        posterior, or an array whose columns sum to 1.

    Examples
    --------
    >>> round(bayes_rule(0.98, 0.008, 0.0376), 4)
    0.2085
    >>> bayes_rule([0.5, 0.25], [0.5, 0.5]).round(4)
    array([0.6667, 0.3333])
    """
    if _is_event(likelihood) and _is_event(prior):
        return _bayes_of_events(likelihood, prior, evidence)
    if evidence is not None:
        raise BayeskitError("evidence is the total probability when all hypotheses are given: leave it out.")
    table = _Table.read(likelihood, prior)
    total = table.joint.sum(axis=0)
    if not (total > 0.0).all():
        which = "" if table.outcomes is None else f" {table.outcomes[int(np.argmin(total))]!r}"
        raise ImpossibleEvidenceError(
            f"every hypothesis gives the observation{which} probability 0, so it has no posterior; "
            "some hypothesis must allow it."
        )
    posterior = table.joint / total
    if table.outcomes is not None:
        rows = posterior.T.tolist()
        return {d: dict(zip(table.names, row, strict=True)) for d, row in zip(table.outcomes, rows, strict=True)}
    return table.named(posterior)


def _bayes_of_events(likelihood: Any, prior: Any, evidence: float | None) -> float:
    if evidence is None:
        raise BayeskitError(
            "one hypothesis alone needs evidence = P(D), or give likelihood and prior of all hypotheses; got numbers."
        )
    joint = _event(likelihood, "P(D | h)") * _event(prior, "P(h)")
    total = _event(evidence, "P(D)")
    if total == 0.0:
        raise ImpossibleEvidenceError("P(D) is 0, and impossible evidence has no posterior.")
    if joint > total * (1.0 + SUM_TOLERANCE):
        raise BayeskitError(f"P(D) must be at least P(D ∧ h) = P(D | h) P(h) = {joint:g}; got {total:g}.")
    return min(joint / total, 1.0)


def _is_event(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _event(value: Any, what: str) -> float:
    if not _is_event(value):
        raise BayeskitError(f"{what} must be a number; got {value!r}.")
    return float(check_probabilities(np.asarray(value, dtype=np.float64), what))


@dataclass(frozen=True)
class _Table:
    """P(d | h) and P(h), read and checked; names and outcomes are None where arrays came."""

    conditional: NDArray[np.float64]  # (n_hypotheses,) or (n_hypotheses, n_outcomes)
    prior: NDArray[np.float64]  # (n_hypotheses,)
    names: tuple[Any, ...]
    outcomes: tuple[Any, ...] | None
    from_mapping: bool

    @classmethod
    def read(cls, conditional: Any, prior: Any) -> _Table:
        if isinstance(prior, Mapping) != isinstance(conditional, Mapping):
            raise BayeskitError("give both the conditional and the prior as mappings of names, or both as arrays.")
        outcomes: tuple[Any, ...] | None = None
        if isinstance(prior, Mapping):
            names = tuple(prior)
            if set(conditional) != set(names):
                raise BayeskitError(
                    f"the conditional has the entries {sorted(map(str, conditional))} and the prior has "
                    f"{sorted(map(str, names))}; both must have the same."
                )
            entries = [conditional[name] for name in names]
            if all(isinstance(entry, Mapping) for entry in entries):
                outcomes = tuple(dict.fromkeys(d for entry in entries for d in entry))
                entries = [[entry.get(d, 0.0) for d in outcomes] for entry in entries]
            values = as_numbers(entries, "P(d | h)")
        else:
            values = as_numbers(conditional, "P(d | h)")
            if values.ndim not in (1, 2):
                raise BayeskitError(f"the conditional must have one entry per hypothesis; got shape {values.shape}.")
            names = tuple(range(len(values)))
        check_probabilities(values, "P(d | h)", names)
        if values.ndim == 2 and (values.sum(axis=1) > 1.0 + SUM_TOLERANCE).any():
            row = int(values.sum(axis=1).argmax())
            raise BayeskitError(
                f"P(d | h) of {names[row]!r} sums to {values[row].sum():g} over the observations; it must not exceed 1."
            )
        return cls(values, read_prior(prior, names), names, outcomes, isinstance(prior, Mapping))

    @property
    def joint(self) -> NDArray[np.float64]:
        weights = self.prior if self.conditional.ndim == 1 else self.prior[:, None]
        return np.asarray(self.conditional * weights)

    def named(self, values: NDArray[np.float64]) -> Any:
        """Return values per hypothesis in the type of the prior."""
        if not self.from_mapping:
            return values
        if self.outcomes is not None:
            rows = [dict(zip(self.outcomes, row, strict=True)) for row in values.tolist()]
            return dict(zip(self.names, rows, strict=True))
        return dict(zip(self.names, values.tolist(), strict=True))
