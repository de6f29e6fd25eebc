"""The header of a model file: JSON in which every float comes back to the last bit."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from bayeskit.errors import ModelFileError

FORMAT = "bayeskit model"
_FIELDS = {"format", "version", "bayeskit", "model", "arrays", "meta"}

# JSON has no infinity and no NaN; they are written {"$float": "inf"}. So no other key may begin with "$".
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_bytes(fields: dict[str, Any]) -> bytes:
    """Write the fields as JSON; what JSON cannot hold is refused with its place."""
    text = json.dumps(_plain(fields, "header"), ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode("utf-8", "surrogatepass")


def from_bytes(data: bytes, readable: int) -> dict[str, Any]:
    """Read the fields; ``readable`` is the version of the format that can be read."""
    try:
        fields = json.loads(
            data.decode("utf-8", "surrogatepass"),
            object_pairs_hook=_object,
            parse_float=_finite,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"model.json cannot be read: {error}.") from error
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise ModelFileError(f"model.json does not say that its format is {FORMAT!r}.")
    version = fields.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError("model.json has no version of the format.")
    if version > readable:
        raise ModelFileError(
            f"it has version {version} of the format and this bayeskit reads {readable}; a newer bayeskit reads it."
        )
    if version < readable:
        raise ModelFileError(
            f"it has version {version} of the format and this bayeskit reads {readable}; train the model again with "
            "this bayeskit."
        )
    if set(fields) != _FIELDS:
        raise ModelFileError(f"model.json does not have exactly the fields {', '.join(sorted(_FIELDS))}.")
    for name, kind in (("bayeskit", str), ("model", str), ("arrays", list), ("meta", dict)):
        if not isinstance(fields[name], kind):
            raise ModelFileError(f"model.json: {name!r} is not a {kind.__name__}.")
    return fields


def _plain(value: Any, place: str) -> Any:
    """Return the value in terms of JSON, or say where it has no such terms."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str) or key.startswith("$"):
                raise ModelFileError(f"{place}: key {key!r} is not text or begins with '$', which the format keeps.")
        return {key: _plain(item, f"{place}.{key}") for key, item in value.items()}
    raise ModelFileError(f"{place}: a {type(value).__name__} cannot be written to JSON.")


def _object(pairs: list[tuple[str, Any]]) -> Any:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is there twice")
    if not any(key.startswith("$") for key in fields):
        return fields
    name = fields.get("$float")
    if len(fields) > 1 or not isinstance(name, str) or name not in _SPECIAL:
        raise ValueError("a key begins with '$' and is no number")
    return _SPECIAL[name]


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
