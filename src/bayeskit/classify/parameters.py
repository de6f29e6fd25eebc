"""Parameters of an estimator: refused in one form, and written to a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayeskit.errors import BayeskitError

Rules = Mapping[str, tuple[str, Callable[[Any], bool]]]


def refuse_parameters(model: Any, rules: Rules) -> None:
    """Raise for the first parameter that breaks its rule, saying what it must be and what came."""
    for name, (must_be, holds) in rules.items():
        value = getattr(model, name)
        if not holds(value):
            raise BayeskitError(
                f"The '{name}' parameter of {type(model).__name__} must be {must_be}. Got {value!r} instead."
            )


def one_of(*options: str) -> tuple[str, Callable[[Any], bool]]:
    """Return the rule that a parameter is one of some words.

    >>> one_of("ml", "unbiased")[0]
    "one of 'ml' or 'unbiased'"
    """
    words = ", ".join(map(repr, options[:-1])) + f" or {options[-1]!r}"
    return f"one of {words}", lambda value: isinstance(value, str) and value in options


def at_least(least: float, *, whole: bool = False) -> tuple[str, Callable[[Any], bool]]:
    """Return the rule that a parameter is a finite number, not below the least one."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)

    def holds(value: Any) -> bool:
        return isinstance(value, kinds) and not isinstance(value, bool) and bool(np.isfinite(value) and value >= least)

    return f"a {'whole' if whole else 'finite'} number of at least {least:g}", holds


def to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON values; a dict becomes a list of pairs, since its keys need not be text."""
    return {name: _plain(value) for name, value in parameters.items()}


def from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read what :func:`to_json` wrote.

    >>> from_json(to_json({"prior": {0: 0.5, 1: 0.5}, "smoothing": 1.0}))
    {'prior': {0: 0.5, 1: 0.5}, 'smoothing': 1.0}
    """
    return {
        name: dict(map(tuple, value["pairs"])) if isinstance(value, dict) else value for name, value in data.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in np.asarray(value).tolist()]
    return value.item() if isinstance(value, np.generic) else value
