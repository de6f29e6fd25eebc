"""All checks of this folder, run on a table."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import CHECKS
from bayeskit.table.problems.examined import Examined

# What may make a model worthless comes first, then what makes it worse, then what is good to know.
ORDER = (
    *("leakage", "groups", "contradictions", "duplicates", "label variants", "rare classes", "few rows"),
    *("mixed", "sentinels", "outliers", "informative missing", "same columns", "constant", "nearly constant", "ids"),
    *("seen once", "texts", "dates"),
)


@cache
def _import_checks() -> None:
    # Defining a check lists it.
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__":
            import_module(f"bayeskit.table.problems.{path.stem}")


def find_problems(table: Examined) -> list[Problem]:
    """Return the problems of a table, the gravest first.

    Examples
    --------
    >>> import numpy as np
    >>> from bayeskit.table.column import Numbers
    >>> table = Examined({"unit": Numbers(np.ones(40)), "km": Numbers(np.arange(40.0) % 7)})
    >>> [problem.code for problem in find_problems(table)]
    ['constant']
    """
    _import_checks()
    place = {name: rank for rank, name in enumerate(ORDER)}
    names = sorted(CHECKS, key=lambda name: place.get(name, len(ORDER)))
    small = table.sampled()
    return [problem for name in names for problem in CHECKS[name](small)]
