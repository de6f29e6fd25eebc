"""Checks of probabilities that the user gives: each number, and a prior as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError

# Decimal fractions such as 0.1 sum to 1 within a few roundings; anything beyond this was mistyped or not normalised.
SUM_TOLERANCE = 1e-9


def as_numbers(values: Any, what: str) -> NDArray[np.float64]:
    """Return an array of numbers; anything else is an error."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BayeskitError(f"{what} must hold numbers; got {values!r:.80}.") from None


def check_probabilities(values: NDArray[np.float64], what: str, names: Sequence[Any] = ()) -> NDArray[np.float64]:
    """Return the numbers if each is a probability; otherwise the error names the first that is not."""
    bad = ~((values >= 0.0) & (values <= 1.0 + SUM_TOLERANCE))  # NaN fails both comparisons
    if bad.any():
        place = np.argwhere(bad)[0]
        where = f" of {names[place[0]]!r}" if len(names) and len(place) else ""
        raise BayeskitError(
            f"{what}{where} must be a probability between 0 and 1; got {float(values[tuple(place)]):g}."
        )
    return values


def read_prior(prior: Any, names: Sequence[Any], *, normalize: bool | None = None) -> NDArray[np.float64]:
    """Return P(h) of each name; uniform without a prior.

    Parameters
    ----------
    prior : mapping of name to probability, array of shape (n_names,), or None
        Probabilities that sum to 1.
    names : sequence
        What the prior is over.
    normalize : bool
        Divide by the sum instead of raising an error when it is not 1; any non-negative numbers are then accepted.

    Examples
    --------
    >>> read_prior({"cancer": 0.008, "healthy": 0.992}, ["cancer", "healthy"])
    array([0.008, 0.992])
    >>> read_prior([1, 3], ["a", "b"], normalize=True)
    array([0.25, 0.75])
    """
    if not len(names):
        raise BayeskitError("there is no hypothesis; give at least one.")
    if prior is None:
        return np.full(len(names), 1.0 / len(names))
    values = as_numbers(_in_order(prior, names) if isinstance(prior, Mapping) else prior, "prior")
    if values.shape != (len(names),):
        raise BayeskitError(
            f"prior must have one number for each of {len(names)} hypotheses; got an array of shape {values.shape}."
        )
    total = float(values.sum())
    if normalize:
        if not (np.isfinite(values).all() and (values >= 0.0).all() and total > 0.0):
            raise BayeskitError(
                f"prior must hold finite numbers of at least 0, and one above 0; got {values.tolist()}."
            )
        return values / total
    check_probabilities(values, "the prior", names)
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise BayeskitError(
            f"the prior sums to {total:.12g} and must sum to 1."
            + ("" if normalize is None else " Pass normalize=True to divide them by their sum.")
        )
    return values


def _in_order(prior: Mapping[Any, Any], names: Sequence[Any]) -> list[Any]:
    absent = [name for name in names if name not in prior]
    strange = [name for name in prior if name not in names]
    if absent or strange:
        wrong = f"{absent[0]!r} has no prior" if absent else f"{strange[0]!r} is not a hypothesis"
        known = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        raise BayeskitError(f"prior must name every hypothesis once: {wrong}; the hypotheses are {known}.")
    return [prior[name] for name in names]
