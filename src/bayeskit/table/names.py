"""Column names and other names: suggestions for typing errors, and checks for duplicates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

# Below this ratio two names look different to most readers.
_ALIKE = 0.5
_NUMBER = re.compile(r"^\s*[+-]?\d+([.,]\d+)?\s*$")


def nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the most similar names, the nearest first; case is ignored.

    >>> nearest("Outlok", ["wind", "outlook", "humidity"])
    ['outlook']
    """
    wanted = name.casefold()
    scored = [(SequenceMatcher(None, wanted, other.casefold()).ratio(), other) for other in names]
    return [other for ratio, other in sorted(scored, key=lambda pair: -pair[0]) if ratio >= _ALIKE][:most]


def one_of(name: str, names: Iterable[str]) -> str:
    """Return the end of a message for a word that is none of a few: the nearest one where there is one, and all.

    >>> one_of("posson", ["gaussian", "poisson"])
    "did you mean 'poisson'? It is one of gaussian, poisson."
    >>> one_of("weekly", ["gaussian", "poisson"])
    'it is one of gaussian, poisson.'
    """
    known = list(names)
    like = nearest(name, known, most=1)
    return (
        f"did you mean {like[0]!r}? It is one of {', '.join(known)}." if like else f"it is one of {', '.join(known)}."
    )


def not_found(what: str, name: str, names: Iterable[str]) -> str:
    """Return the message for an unknown name, with similar names or, if there are none, all names.

    >>> not_found("column", "wnd", ["wind", "outlook"])
    "there is no column 'wnd'; did you mean 'wind'?"
    """
    known = list(names)
    like = nearest(name, known)
    if like:
        hint = f"did you mean {' or '.join(map(repr, like))}?"
    else:
        hint = f"there is {', '.join(map(repr, known[:20]))}{', …' if len(known) > 20 else ''}."
    return f"there is no {what} {name!r}; {hint}"


def first_duplicate(names: Iterable[str]) -> str | None:
    """Return the first name that comes a second time, or None.

    >>> first_duplicate(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def numbers_as_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence where all names of a file are numbers, but not 0, 1, 2, …, which programs write as names.

    >>> numbers_as_names(["5.1", "3.5"])[0][:56], numbers_as_names(["0", "1"]), numbers_as_names(["a", "1"])
    ("the names of all columns are numbers, such as '5.1' and ", (), ())
    """
    counted = [list(map(str, range(start, start + len(names)))) for start in (0, 1)]
    if len(names) < 2 or list(names) in counted or not all(_NUMBER.match(name) for name in names):
        return ()
    return (
        f"the names of all columns are numbers, such as {names[0]!r} and {names[1]!r}: where the file has no line of "
        "names, put one before the first row, which is lost as it is",
    )
