"""The shape of what a request brings: checked before any work, and shown in the OpenAPI document."""

from __future__ import annotations

from math import isfinite
from typing import Any

from bayeskit.errors import BayeskitError

Shape = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}

LARGEST = 1e300
TEXT: Shape = {"type": "string", "maxLength": 10_000}
NAMES: Shape = {"type": "array", "items": TEXT, "maxItems": 100_000}
NUMBER: Shape = {"type": "number"}
ARC: Shape = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}
WEIGHTS: Shape = {"type": "object", "additionalProperties": NUMBER}
EVIDENCE: Shape = {
    "type": "object",
    "description": "Variable → a state; a list of states; {likelihood: {state: number}}; {marginal: {state: number}}. "
    "Real variable → a number; {mean, sd} of a reading with an error.",
    "additionalProperties": {
        "anyOf": [
            TEXT,
            NUMBER,
            NAMES,
            {"type": "object", "properties": {"mean": NUMBER, "sd": NUMBER}, "required": ["mean", "sd"]},
            {"type": "object", "properties": {"likelihood": WEIGHTS}, "required": ["likelihood"]},
            {"type": "object", "properties": {"marginal": WEIGHTS}, "required": ["marginal"]},
        ]
    },
}
DO: Shape = {
    "type": "object",
    "description": "Variable → the state (or number) that it is set to, or a distribution over its states.",
    "additionalProperties": {"anyOf": [TEXT, NUMBER, WEIGHTS]},
}
MATRIX: Shape = {"type": "array", "items": {"type": "array", "items": NUMBER}}
CELL: Shape = {"anyOf": [TEXT, NUMBER, {"type": "boolean"}, {"type": "null"}]}
ROW: Shape = {
    "type": "object",
    "description": "Column → value; what is left out is unknown.",
    "additionalProperties": CELL,
}
PLACE: Shape = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
PLACES: Shape = {"type": "object", "description": "Variable → x, y of its middle.", "additionalProperties": PLACE}
LOOK: Shape = {
    "type": "object",
    "description": "Variable → how it is drawn.",
    "additionalProperties": {
        "type": "object",
        "properties": {"at": PLACE, "note": TEXT, "colour": TEXT, "group": TEXT},
    },
}


class ShapeError(BayeskitError):
    """A request whose body does not have the shape that the API describes."""


def fields(required: dict[str, Shape] | None = None, **optional: Shape) -> Shape:
    """Return the shape of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": {**(required or {}), **optional},
        "required": list(required or {}),
        "additionalProperties": False,
    }


def check(value: Any, shape: Shape, where: str = "body") -> None:
    """Refuse a value that does not have a shape.

    Examples
    --------
    >>> check({"target": "lung"}, fields({"target": TEXT}))
    >>> check({"target": 3}, fields({"target": TEXT}))
    Traceback (most recent call last):
    ...
    bayeskit.studio.shapes.ShapeError: body.target must be a string; got 3.
    """
    if "anyOf" in shape:
        for each in shape["anyOf"]:
            try:
                return check(value, each, where)
            except ShapeError:
                continue
        raise ShapeError(f"{where} has none of the forms that the API describes; got {_shown(value)}.")
    wanted = shape["type"]
    if type(value) not in _TYPES[wanted]:  # so that True is no number
        raise ShapeError(f"{where} must be {'an' if wanted[0] in 'aoi' else 'a'} {wanted}; got {_shown(value)}.")
    if wanted in ("number", "integer"):
        _check_number(value, where)
    if "enum" in shape and value not in shape["enum"]:
        raise ShapeError(f"{where} must be one of {', '.join(map(repr, shape['enum']))}; got {_shown(value)}.")
    if wanted == "string":
        _check_text(value, where, shape.get("maxLength", 1 << 30))
    if wanted == "array":
        if not shape.get("minItems", 0) <= len(value) <= shape.get("maxItems", 1 << 30):
            raise ShapeError(f"{where} has {len(value)} items, which is too few or too many.")
        for k, item in enumerate(value):
            check(item, shape["items"], f"{where}[{k}]")
    if wanted == "object":
        _check_object(value, shape, where)
    return None


def _check_number(value: float, where: str) -> None:
    try:
        fits = isfinite(value) and abs(value) < LARGEST
    except OverflowError:  # a whole number of hundreds of digits
        fits = False
    if not fits:
        raise ShapeError(f"{where} must be a number between -1e300 and 1e300; got {_shown(value)}.")


def _check_text(value: str, where: str, most: int) -> None:
    if len(value) > most:
        raise ShapeError(f"{where} has {len(value)} characters; at most {most} are taken.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ShapeError(
            f"{where} has half a character (U+{ord(value[error.start]):04X}), which no text has."
        ) from None


def _check_object(value: dict[str, Any], shape: Shape, where: str) -> None:
    known, rest = shape.get("properties", {}), shape.get("additionalProperties", False)
    for name in shape.get("required", ()):
        if name not in value:
            raise ShapeError(f"{where} needs {name!r}.")
    for name, item in value.items():
        _check_text(name, f"a name in {where}", 1 << 30)
        if name in known:
            check(item, known[name], f"{where}.{name}")
        elif rest is False:
            raise ShapeError(f"{where} has no {name[:60]!r}; it takes {', '.join(map(repr, known)) or 'nothing'}.")
        else:
            check(item, rest, f"{where}[{name[:60]!r}]")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
