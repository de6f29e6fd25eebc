"""One value written in several ways, such as `` Yes``, ``yes``, ``YES`` and ``yess``."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# A spelling counts as an error where it has at most this share of the rows of the right one …
RARE = 0.05
# … and the right one has at least so many rows.
FREQUENT = 10
# A changed letter is an error in words at least so long, a letter too many or too few in these.
LONG, SHORT = 7, 4
# Texts that are compared with each other; a column with more values is one of names or texts.
MOST_VALUES = 300
# One letter apart, and opposites or two persons: macrocytic and microcytic, abduction and adduction, payer and payee.
_OPPOSITE_STARTS = (("ab", "ad"), ("ante", "anti"), ("macro", "micro"), ("pre", "pro"))
_OPPOSITE_ENDS = (("ee", "er"), ("ee", "or"))
_ROMAN = re.compile("[ivxlcdm]+")


@check("label variants")
def label_variants(table: Examined) -> Iterator[Problem]:
    """Find values of the target and of categorical columns that differ only in how they are written."""
    if table.y is not None:
        yield from _of(table.target, table.classes, table.n_class)
    for name in table.used:
        values = table.values(name)
        if not values.numeric:
            yield from _of(name, tuple(values.levels), values.counts)


def _of(name: str, levels: Sequence[Any], counts: NDArray[np.int64]) -> Iterator[Problem]:
    merged = variants(levels, counts)
    if not merged:
        return
    n = int(sum(count for level, count in zip(levels, counts, strict=True) if level in merged))
    shown = ", ".join(f"{a!r} for {b!r}" for a, b in list(merged.items())[:3])
    yield Problem(
        "label variants",
        f"{len(merged)} value{'s' if len(merged) > 1 else ''} in {n:,} row{'s' if n > 1 else ''} may be another way to "
        "write one",
        (name,),
        n,
        f"{shown}{', …' if len(merged) > 3 else ''}",
        "They are counted as values of their own",
        "merge them",
        severity="warning",
        options=(("merge_labels", ""),),
    )


def variants(levels: Sequence[Any], counts: Sequence[int] | NDArray[np.int64]) -> Mapping[str, str]:
    """Return each spelling that should be another one, which is the more frequent.

    >>> dict(variants(["yes", " Yes", "YES", "yess", "no"], [40, 3, 2, 1, 50]))
    {' Yes': 'yes', 'YES': 'yes', 'yess': 'yes'}
    """
    n_of = {level: int(n) for level, n in zip(levels, counts, strict=True) if isinstance(level, str) and n}
    alike: dict[str, list[str]] = defaultdict(list)
    for level in n_of:
        alike[_plain(level)].append(level)
    merged: dict[str, str] = {}
    total: dict[str, tuple[str, int]] = {}
    for plain, group in alike.items():
        best = max(group, key=lambda level: (n_of[level], level.strip() == level, level))
        total[best] = plain, sum(n_of[level] for level in group)
        merged |= {level: best for level in group if level != best}
    if len(total) <= MOST_VALUES:
        merged |= _misspelt(total)
    # A misspelt one may have been the best of its group.
    return {level: merged.get(best, best) for level, best in merged.items()}


def _misspelt(total: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    often = {level: plain for level, (plain, n) in total.items() if n >= FREQUENT and plain.isalpha()}
    errors = {}
    for level, (plain, n) in total.items():
        if len(plain) < SHORT or not plain.isalpha():
            continue
        near = [
            other
            for other, right in often.items()
            if other != level and n <= RARE * total[other][1] and _one_error(plain, right)
        ]
        if len(near) == 1:
            errors[level] = near[0]
    return errors


def _plain(text: str) -> str:
    """Return a text without case, spaces at its ends, doubled spaces and a full stop at the end.

    A hyphen between words is a space; one at an end or before a number is a sign.

    >>> _plain("Self-Employed"), _plain("A-"), _plain("level -1")
    ('self employed', 'a-', 'level -1')
    """
    plain = unicodedata.normalize("NFKC", text).casefold().strip().rstrip(".")
    plain = re.sub(r"(?<=\w)(?:(?!\s-\d)[\s_-])+(?=\w)", " ", plain)
    return re.sub(r"\s+", " ", plain) or text


def _one_error(a: str, b: str) -> bool:
    """Return whether one slip turns b into a: a letter doubled, lost or swapped with its neighbour, or a changed one.

    The first letter is no slip: it may be a prefix, as in typical and atypical.

    >>> _one_error("yess", "yes"), _one_error("malignent", "malignant"), _one_error("mile", "male")
    (True, True, False)
    >>> _one_error("atypical", "typical"), _one_error("macrocytic", "microcytic"), _one_error("viii", "vii")
    (False, False, False)
    """
    if _opposite(a, b) or (_ROMAN.fullmatch(a) and _ROMAN.fullmatch(b)):
        return False
    if len(a) == len(b):
        differ = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        swapped = len(differ) == 2 and differ[1] == differ[0] + 1 and a[differ[0]] == b[differ[1]]
        swapped = swapped and a[differ[1]] == b[differ[0]]
        return swapped or (len(differ) == 1 and differ[0] > 0 and len(b) >= LONG)
    long, short = (a, b) if len(a) > len(b) else (b, a)
    if len(long) != len(short) + 1 or len(long) < SHORT:
        return False
    return any(long[:i] + long[i + 1 :] == short for i in range(1, len(long)))


def _opposite(a: str, b: str) -> bool:
    starts = any({a[: len(x)], b[: len(x)]} == {x, y} for x, y in _OPPOSITE_STARTS)
    return starts or any({a[-2:], b[-2:]} == {x, y} for x, y in _OPPOSITE_ENDS)
