"""Numbers z of a row on scales of their own: cells x_j, or levels v_j that they indicate."""

from __future__ import annotations

import numpy as np

from bayeskit.export.scorer import Floats, Scales
from bayeskit.export.sql.dialect import Dialect


def z_of(part: Scales, k: int, dialect: Dialect) -> str:
    """Return a number on its scale, or the indicator of a level."""
    number, j = dialect.number, int(part.feature[k])
    if k >= len(part.curve_at) - 1:
        off, on = -part.center[k] / part.scale[k], (1.0 - part.center[k]) / part.scale[k]
        return f"CASE WHEN v{j} = {int(part.level[k]) + 1} THEN {number(on)} ELSE {number(off)} END"
    if np.isinf(part.farthest):
        return f"x{j}"
    cell = f"coalesce(x{j}, {number(part.median[k])})"
    points = slice(int(part.curve_at[k]), int(part.curve_at[k + 1]))
    if points.stop > points.start:
        return _curve(cell, part.curve_x[points], part.curve_z[points], dialect)
    z = f"({cell} / {number(part.unit[k])} - {number(part.center[k])}) / {number(part.scale[k])}"
    return dialect.greatest([f"{dialect.least}({z}, {number(part.farthest)})", number(-part.farthest)])


def _curve(cell: str, x: Floats, z: Floats, dialect: Dialect) -> str:
    """A piecewise linear curve, by halving; level outside of it."""
    number = dialect.number
    if len(x) == 1:
        return number(z[0])

    def between(first: int, last: int) -> str:
        if last - first == 1:
            share = f"({cell} / 2 - {number(x[first] / 2)}) / {number(x[last] / 2 - x[first] / 2)}"
            return f"({share} * {number(z[last] - z[first])} + {number(z[first])})"
        middle = (first + last) // 2
        below, above = between(first, middle), between(middle, last)
        return f"CASE WHEN {cell} < {number(x[middle])} THEN {below} ELSE {above} END"

    ends = f"WHEN {cell} <= {number(x[0])} THEN {number(z[0])} WHEN {cell} >= {number(x[-1])} THEN {number(z[-1])}"
    return f"CASE {ends} ELSE {between(0, len(x) - 1)} END"
