"""Class weights: how many times a row of each class counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError


def class_factors(
    n_class: NDArray[Any], classes: NDArray[Any], class_weight: Mapping[Any, float] | str | None
) -> NDArray[Any]:
    """Return how many times a row of each class counts; "balanced" gives all classes the same total weight."""
    if class_weight is None:
        return np.ones(len(n_class), dtype=np.int64)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise BayeskitError(
                f"class_weight must be 'balanced', a dict of class to weight, or None; got {class_weight!r}."
            )
        even = n_class.sum() / len(n_class)
        return np.asarray(np.divide(even, n_class, out=np.ones(len(n_class)), where=n_class > 0))
    names = classes.tolist()
    strange = [name for name in class_weight if name not in names]
    if strange:
        raise BayeskitError(
            f"class_weight names the class {strange[0]!r}, which is not a class; the classes are {names}."
        )
    factor = np.array([float(class_weight.get(name, 1.0)) for name in names])
    if (factor < 0).any() or not factor.any() or not np.isfinite(factor).all():
        raise BayeskitError(f"class weights must be finite, not negative and not all zero; got {dict(class_weight)}.")
    return factor
