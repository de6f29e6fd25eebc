"""Parameters of an estimator: checked with one form of error, and written to a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayeskit.counts.memory import read_memory
from bayeskit.errors import BayeskitError
from bayeskit.estimate.smoothing import BackOff, Lidstone, MEstimate, Smoothing, SymmetricSmoothing

Rules = Mapping[str, tuple[str, Callable[[Any], bool]]]


def refuse_parameters(model: Any, rules: Rules) -> None:
    """Raise an error for the first invalid parameter, with the allowed values and the value given."""
    for name, (must_be, holds) in rules.items():
        value = getattr(model, name)
        if not holds(value):
            raise BayeskitError(
                f"The '{name}' parameter of {type(model).__name__} must be {must_be}. Got {value!r} instead."
            )
    # A model may have parameters that do not go together.
    if hasattr(model, "_refuse_together"):
        model._refuse_together()


def one_of(*options: str) -> tuple[str, Callable[[Any], bool]]:
    """Return the rule that a parameter is one of some words.

    >>> one_of("ml", "unbiased")[0]
    "one of 'ml' or 'unbiased'"
    """
    words = ", ".join(map(repr, options[:-1])) + f" or {options[-1]!r}"
    return f"one of {words}", lambda value: isinstance(value, str) and value in options


def require_whole(name: str, value: Any) -> None:
    """Refuse an argument that is no whole number of at least 1."""
    words, holds = at_least(1, whole=True)
    if not holds(value):
        raise BayeskitError(f"{name} must be {words}; got {value!r}.")


def at_least(least: float, *, whole: bool = False, most: float = np.inf) -> tuple[str, Callable[[Any], bool]]:
    """Return the rule that a parameter is a finite number, not below the least one nor above the most."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)

    def holds(value: Any) -> bool:
        if not isinstance(value, kinds) or isinstance(value, bool):
            return False
        return bool(np.isfinite(value) and least <= value <= most)

    bounds = f"of at least {least:g}" + ("" if np.isinf(most) else f" and at most {most:g}")
    return f"a {'whole' if whole else 'finite'} number {bounds}", holds


# A pseudo-count above this is a mistake, and its sum over a large table could overflow.
LARGEST_PSEUDO_COUNT = 1e100


def _is_memory(value: Any) -> bool:
    try:
        read_memory(value)
    except BayeskitError:
        return False
    return True


# The rule that a parameter is an amount of memory.
an_amount_of_memory: tuple[str, Callable[[Any], bool]] = ("a number of bytes or text such as '4 GiB'", _is_memory)


# The rule that a parameter is a smoothing: λ, or an object.
a_smoothing: tuple[str, Callable[[Any], bool]] = (
    "a finite number of at least 0 (λ), or a smoothing such as MEstimate(2)",
    lambda value: isinstance(value, SymmetricSmoothing) or at_least(0)[1](value),
)

# The same, where tables with fewer parents can stand behind a table.
a_table_smoothing: tuple[str, Callable[[Any], bool]] = (
    "a finite number of at least 0 (λ), 'back-off', or a smoothing such as MEstimate(2) or BackOff(5)",
    lambda value: (
        value == "back-off" if isinstance(value, str) else isinstance(value, BackOff) or a_smoothing[1](value)
    ),
)

# The rule that a parameter says how P(c) comes about.
a_prior: tuple[str, Callable[[Any], bool]] = (
    "'smoothed', 'data', 'uniform', an array of probabilities or a dict of class to probability",
    lambda prior: prior in ("smoothed", "data", "uniform") if isinstance(prior, str) else is_prior(prior),
)

# The same for models without a λ.
a_plain_prior: tuple[str, Callable[[Any], bool]] = (
    "'data', 'uniform', an array of probabilities or a dict of class to probability",
    lambda prior: prior in ("data", "uniform") if isinstance(prior, str) else is_prior(prior),
)

# The rule that a parameter says how often a row of each class counts.
a_class_weight: tuple[str, Callable[[Any], bool]] = (
    "a dict of class to weight, 'balanced' or None",
    lambda weight: weight is None or isinstance(weight, Mapping) or (isinstance(weight, str) and weight == "balanced"),
)


def is_prior(prior: Any) -> bool:
    """Return whether a value could be the prior of some classes: a dict, or a list of numbers."""
    if isinstance(prior, Mapping):
        return True
    try:
        return np.asarray(prior, dtype=np.float64).ndim == 1
    except (TypeError, ValueError):
        return False


# Smoothings that a model file may hold, with the name of their number.
_SMOOTHINGS: dict[str, tuple[Callable[..., Smoothing], str]] = {
    "BackOff": (BackOff, "m"),
    "Lidstone": (Lidstone, "smoothing"),
    "MEstimate": (MEstimate, "m"),
}


# Objects of later stages that a parameter may be: the class, how one is written as JSON, and how it is read.
_OBJECTS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {}


def may_be_saved(word: str, base: type, write: Callable[[Any], Any], read: Callable[[Any], Any]) -> None:
    """Let a model file hold parameters that are objects of a class."""
    _OBJECTS[word] = base, write, read


def to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON values; a dict becomes a list of pairs, since its keys need not be text."""
    return {name: _plain(value) for name, value in parameters.items()}


def from_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Read what :func:`to_json` wrote.

    >>> from_json(to_json({"prior": {0: 0.5, 1: 0.5}, "smoothing": 1.0}))
    {'prior': {0: 0.5, 1: 0.5}, 'smoothing': 1.0}
    >>> from_json(to_json({"smoothing": MEstimate(2.0)}))
    {'smoothing': MEstimate(m=2.0)}
    """
    return {name: _read(value) if isinstance(value, dict) else value for name, value in data.items()}


def _read(value: dict[str, Any]) -> Any:
    if "pairs" in value:
        return {key: _read(item) if isinstance(item, dict) else item for key, item in value["pairs"]}
    if value.get("object") in _OBJECTS:
        return _OBJECTS[value["object"]][2](value["value"])
    name, number = value.get("smoothing"), value.get("number")
    if name == "BackOff" and number is None:
        return BackOff()
    if name not in _SMOOTHINGS or not isinstance(number, int | float):
        raise BayeskitError(f"a smoothing of the file is unknown: {name!r} of {number!r}.")
    return _SMOOTHINGS[name][0](float(number))


def _plain(value: Any) -> Any:
    if isinstance(value, Smoothing):
        name = type(value).__name__
        number = getattr(value, _SMOOTHINGS[name][1])
        return {"smoothing": name, "number": None if number is None else float(number)}
    for word, (base, write, _) in _OBJECTS.items():
        if isinstance(value, base):
            return {"object": word, "value": write(value)}
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in np.asarray(value).tolist()]
    return value.item() if isinstance(value, np.generic) else value


def hashable(kinds: Any) -> Any:
    """Return the value of ``kinds`` in a form that can be compared and looked up.

    >>> hashable({"age": "gaussian"})
    (('age', 'gaussian'),)
    """
    return tuple(sorted((str(key), kind) for key, kind in kinds.items())) if isinstance(kinds, Mapping) else kinds
