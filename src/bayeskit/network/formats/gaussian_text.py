"""Normals of real variables as text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.expression import Expression, ExpressionError
from bayeskit.network.expression_values import Linear, as_linear
from bayeskit.network.formats.network_parts import FileText, table_size

_NORMAL = re.compile(r"\bnormal\s*\(", re.IGNORECASE)
_BRACKET = re.compile(r"[()]")


def line_text(cpd: GaussianCPD, k: int, parents: Sequence[str]) -> str:
    """Return the mean of configuration k: ``1.5 + 2.0 * x - 0.5 * y``."""
    terms = [repr(float(cpd.intercept[k]))]
    for slope, place in zip(cpd.slope[k].tolist(), cpd.real, strict=True):
        terms.append(f"{'-' if slope < 0 else '+'} {abs(slope)!r} * {parents[place]}")
    return " ".join(terms)


def equation_text(cpd: GaussianCPD, parents: Sequence[str]) -> str:
    """Return the formula of a real variable, with a choice by the place of the state of each discrete parent."""
    normals = [f"Normal({line_text(cpd, k, parents)}, {float(sd)!r})" for k, sd in enumerate(cpd.sd)]
    for place in reversed(cpd.discrete):
        card = cpd.cards[place]
        groups = (normals[at : at + card] for at in range(0, len(normals), card))
        normals = [f"Choose({parents[place]}, {', '.join(group)})" for group in groups]
    return normals[0]


def hugin_text(cpd: GaussianCPD, parents: Sequence[str]) -> str:
    """Return the normals of a real variable in Hugin's brackets, each with its variance."""
    # The root of a rounded square is the same number again, in doubles.
    normals = [f"normal ( {line_text(cpd, k, parents)}, {float(sd) ** 2!r} )" for k, sd in enumerate(cpd.sd)]
    for place in reversed(cpd.discrete):
        card = cpd.cards[place]
        normals = [f"({' '.join(normals[at : at + card])})" for at in range(0, len(normals), card)]
    return normals[0] if cpd.discrete else f"({normals[0]})"


def read_normals(
    source: FileText,
    at: int,
    name: str,
    text: str,
    cards: Sequence[int],
    shape: Sequence[int],
    aliases: Mapping[str, str],
    real: set[str],
) -> GaussianCPD:
    """Read ``((normal(1 + 2 * x, 4) normal(0, 1)))``: a mean and a variance for each configuration."""
    pieces, end = [], 0
    while start := _NORMAL.search(text, end):
        inner, end = _in_brackets(text, start.end())
        if end < 0:
            source.fault(at + start.start(), f"the brackets of the data of {name!r} do not match.")
        pieces.append((at + start.end(), inner))
    total = table_size(tuple(shape))
    if len(pieces) != total:
        source.fault(
            at, f"{name!r} needs {total} normals, one for each state of its discrete parents; got {len(pieces)}."
        )
    columns = [alias for alias in aliases if alias in real]
    values = {column: Linear(slopes={column: 1.0}) for column in columns}
    intercept, slope, sd = np.zeros(total), np.zeros((total, len(columns))), np.zeros(total)
    for k, (place, inner) in enumerate(pieces):
        try:
            line = as_linear(Expression(f"Normal({inner})").value(values))
        except ExpressionError as error:
            source.fault(place, f"the normal of {name!r}: {error.message}")
        if not line.sd > 0:
            source.fault(place, f"a normal of {name!r} has a mean, a comma and a variance above 0.")
        # The second number is a variance in Hugin's files; `Normal` reads it as a standard deviation.
        intercept[k], sd[k] = line.constant, math.sqrt(line.sd)
        slope[k] = [line.slopes.get(column, 0.0) for column in columns]
    return GaussianCPD(tuple(cards), intercept, slope, sd)


def _in_brackets(text: str, start: int) -> tuple[str, int]:
    """Return the text up to the bracket that closes, and its place; −1 where none does."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket.group() == "(" else -1
        if not depth:
            return text[start : bracket.start()], bracket.start()
    return text[start:], -1
