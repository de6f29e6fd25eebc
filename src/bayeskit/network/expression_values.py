"""What formulas compute with: numbers, truth values, text, states of variables, and real variables with noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

_MANY = 100_000
# Function → the fewest and the most arguments; "normal" has a mean and a standard deviation.
FUNCTIONS: dict[str, tuple[int, int]] = {
    "if": (3, 3), "min": (1, _MANY), "max": (1, _MANY), "sum": (1, _MANY), "abs": (1, 1), "sqrt": (1, 1), "exp": (1, 1),
    "ln": (1, 1), "log": (1, 1), "log10": (1, 1), "round": (1, 1), "floor": (1, 1), "ceil": (1, 1), "sign": (1, 1),
    "pow": (2, 2), "mod": (2, 2), "and": (1, _MANY), "or": (1, _MANY), "xor": (2, _MANY), "not": (1, 1),
    "negative": (1, 1), "normal": (2, 2), "normaldist": (3, 3), "distribution": (1, _MANY), "choose": (2, _MANY),
}  # fmt: skip
_PLAIN: dict[str, Callable[[float], float]] = {
    "abs": abs, "sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log": math.log, "log10": math.log10,
    "floor": math.floor, "ceil": math.ceil, "round": lambda x: math.floor(x + 0.5), "sign": lambda x: (x > 0) - (x < 0),
}  # fmt: skip


class UnfitValueError(Exception):
    """An operation that a formula asks for and that its values do not have."""


@dataclass(frozen=True)
class State:
    """A state of a discrete variable: its name, and the number that it counts as; None where it is no number."""

    text: str
    number: float | None = None


@dataclass(frozen=True)
class Linear:
    """A real variable as far as it is known: constant + Σ slope · variable + normal noise of a standard deviation."""

    constant: float = 0.0
    slopes: Mapping[str, float] = field(default_factory=dict)
    sd: float = 0.0

    def scaled(self, factor: float) -> Linear:
        """Return it times a number."""
        slopes = {name: slope * factor for name, slope in self.slopes.items()}
        return Linear(self.constant * factor, slopes, self.sd * abs(factor))

    def plus(self, other: Linear) -> Linear:
        """Return the sum; noises are independent."""
        slopes = dict(self.slopes)
        for name, slope in other.slopes.items():
            slopes[name] = slopes.get(name, 0.0) + slope
        return Linear(self.constant + other.constant, slopes, math.hypot(self.sd, other.sd))


def as_linear(value: Any) -> Linear:
    """Return a value as a real variable; a number has no slopes and no noise."""
    return value if isinstance(value, Linear) else Linear(number(value))


def number(value: Any) -> float:
    """Return a value as a number; yes is 1 and no is 0."""
    if isinstance(value, State):
        if value.number is None:
            raise UnfitValueError(f"the state {value.text!r} is not a number; compare it, as in x == {value.text!r}.")
        return value.number
    if isinstance(value, Linear):
        raise UnfitValueError("this depends on a real variable, so only + and − and factors are possible here.")
    if isinstance(value, bool | int | float):
        return float(value)
    raise UnfitValueError(f"{value!r} is not a number.")


def truth(value: Any) -> bool:
    """Return a value as a truth value: 0 and 1 count as no and yes."""
    if isinstance(value, bool):
        return value
    known = number(value)
    if known not in (0.0, 1.0):
        raise UnfitValueError(f"{known:g} is neither true nor false; compare it, as in x > 0.")
    return known == 1.0


def apply(sign: str, a: Any, b: Any) -> Any:
    """Return what an operator gives."""
    if sign in ("=", "!="):
        return _same(a, b) == (sign == "=")
    if sign in ("and", "or"):
        return truth(a) and truth(b) if sign == "and" else truth(a) or truth(b)
    if isinstance(a, Linear) or isinstance(b, Linear):
        return _linear(sign, a, b)
    x, y = number(a), number(b)
    if sign in _COMPARE:
        return _COMPARE[sign](x, y)
    if sign == "^" and x < 0 and y != int(y):
        raise UnfitValueError("a negative number has no such power.")
    if sign in ("/", "%") and y == 0:
        raise UnfitValueError("division by 0.")
    return _finite(_ARITHMETIC[sign](x, y))


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "%": math.fmod, "^": lambda x, y: x**y,
}  # fmt: skip


def _finite(x: float) -> float:
    if not math.isfinite(x):
        raise OverflowError
    return x


def _same(a: Any, b: Any) -> bool:
    texts = [value.text if isinstance(value, State) else value for value in (a, b)]
    both_states = isinstance(a, State) and isinstance(b, State)
    if both_states or any(isinstance(value, str) for value in (a, b)):
        if not all(isinstance(text, str) for text in texts):
            raise UnfitValueError(f"{texts[0]!r} and {texts[1]!r} cannot be compared.")
        return bool(texts[0] == texts[1])
    return number(a) == number(b)


def _linear(sign: str, a: Any, b: Any) -> Linear:
    if sign in ("+", "-"):
        return as_linear(a).plus(as_linear(b).scaled(1.0 if sign == "+" else -1.0))
    if sign == "*" and not (isinstance(a, Linear) and isinstance(b, Linear)):
        return as_linear(a).scaled(number(b)) if isinstance(a, Linear) else as_linear(b).scaled(number(a))
    if sign == "/" and not isinstance(b, Linear):
        if number(b) == 0:
            raise UnfitValueError("division by 0.")
        return as_linear(a).scaled(1.0 / number(b))
    raise UnfitValueError(
        f"{sign!r} of a real variable is not linear; only linear formulas of real variables are answered."
    )


def call(name: str, values: Sequence[Any]) -> Any:
    """Return what a function gives."""
    if name == "negative":
        return values[0].scaled(-1.0) if isinstance(values[0], Linear) else -number(values[0])
    if name in ("normal", "normaldist"):
        mean, sd = values[-2], number(values[-1])
        if not sd >= 0:
            raise UnfitValueError(f"a standard deviation is 0 or more; got {sd:g}.")
        return as_linear(mean).plus(Linear(sd=sd))
    if name == "choose":  # choose(k, value 0, value 1, …)
        place = number(values[0])
        if place not in range(len(values) - 1):
            raise UnfitValueError(f"choose has the values 0 to {len(values) - 2}; got {place:g}.")
        return values[1 + int(place)]
    if name == "distribution":
        return [number(value) for value in values]
    if name == "not":
        return not truth(values[0])
    if name in ("and", "or", "xor"):
        truths = [truth(value) for value in values]
        return all(truths) if name == "and" else any(truths) if name == "or" else sum(truths) % 2 == 1
    if name == "sum":
        return reduce(lambda a, b: apply("+", a, b), values)
    if name in ("pow", "mod"):
        return apply("^" if name == "pow" else "%", *values)
    numbers = [number(value) for value in values]
    if name in ("min", "max"):
        return min(numbers) if name == "min" else max(numbers)
    return _finite(float(_PLAIN[name](numbers[0])))
