"""The class labels of counts: read from a file, and the union of two lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_field


def read_classes(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Return the class labels of a model file: text from the JSON part, numbers from an array."""
    if meta["classes"] is None:
        classes = arrays["classes"]
        if classes.ndim != 1 or classes.dtype.kind not in "iufb":
            raise ModelFileError("the classes are not a list of numbers.")
    else:
        dtype = np.dtype(expect_field(meta, "text_dtype", str))
        labels = expect_field(meta, "classes", list)
        if dtype.kind not in "OU" or not all(isinstance(label, str) for label in labels):
            raise ModelFileError("the classes are not a list of texts.")
        classes = np.array(labels, dtype=object if dtype.kind == "O" else np.str_)
    if not len(classes) or len(set(classes.tolist())) < len(classes) or classes.tolist() != sorted(classes.tolist()):
        raise ModelFileError("the classes are not in increasing order, each once.")
    return classes


def union_classes(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of both, in increasing order; labels of two types are an error."""
    if np.array_equal(a, b):
        return a
    text = [classes.dtype.kind in "OU" for classes in (a, b)]
    if text[0] != text[1]:
        raise MergeError(
            f"classes are {a.tolist()} on one side and {b.tolist()} on the other: text and numbers do not mix."
        )
    return np.union1d(a, b) if a.dtype.kind != "O" else np.array(sorted({*a, *b}), dtype=object)
