"""What a model expects of its file: fields and arrays are taken by name, kind and shape, or refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError

T = TypeVar("T")


def expect_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, shape: Sequence[int | None]
) -> NDArray[Any]:
    """Return an array of exactly this dtype and shape; a ``None`` in the shape stands for any length.

    Examples
    --------
    >>> expect_array({"n_class": np.array([3.0, 4.0])}, "n_class", np.float64, (2,))
    array([3., 4.])
    >>> expect_array({"n_class": np.array([3.0, 4.0])}, "n_class", np.float64, (3,))
    Traceback (most recent call last):
    ...
    bayeskit.errors.ModelFileError: array 'n_class' is float64 of shape (2,); float64 of shape (3,) is needed.
    """
    if name not in arrays:
        raise ModelFileError(f"array {name!r} is not there.")
    array, wanted = arrays[name], np.dtype(dtype)
    fits = len(array.shape) == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if array.dtype != wanted or not fits:
        sizes = tuple("any" if want is None else want for want in shape)
        raise ModelFileError(
            f"array {name!r} is {array.dtype} of shape {array.shape}; {wanted} of shape {sizes} is needed."
        )
    return array


def expect_field(meta: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """Return a field of exactly this kind; a whole number does where a float is needed.

    Examples
    --------
    >>> expect_field({"smoothing": 1.0}, "smoothing", float)
    1.0
    """
    if name not in meta:
        raise ModelFileError(f"field {name!r} is not there.")
    value = meta[name]
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ModelFileError(f"field {name!r} is a {type(value).__name__}; a {kind.__name__} is needed.")
    return value
