"""Names of variables and states: unique, and near misses found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from bayeskit.errors import NetworkError


def unique_names(names: Iterable[object], what: str) -> tuple[str, ...]:
    """Return names as a tuple of strings; refuse an empty or a repeated one."""
    unique = tuple(name if type(name) is str else str(name) for name in names)
    if len(set(unique)) < len(unique):
        twice = next(name for i, name in enumerate(unique) if name in unique[:i])
        raise NetworkError(f"{what} {twice!r} is there twice; names must differ.")
    if "" in unique:
        raise NetworkError(f"{what} at position {unique.index('')} has an empty name; give it one.")
    return unique


def find_state(value: object, places: Mapping[str, int]) -> int | None:
    """Return the place of the state that a value means, or None: 1 and 1.0 are "1", True is "True", "true" or "TRUE".

    Examples
    --------
    >>> find_state(True, {"FALSE": 0, "TRUE": 1})
    1
    """
    if isinstance(value, str):
        return places.get(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    if text not in places and text in ("True", "False"):
        return places.get(text.lower(), places.get(text.upper()))
    return places.get(text)


def nearest(name: object, names: Sequence[str]) -> str:
    """Say which names come nearest to a wrong one, as the end of an error's sentence.

    Examples
    --------
    >>> nearest("smoker", ["asia", "smoke", "lung"])
    "did you mean 'smoke'?"
    >>> nearest("x", ["yes", "no"])
    "known: 'yes', 'no'."
    """
    wanted = str(name)
    folded: dict[str, str] = {}
    for known in names:
        folded.setdefault(known.casefold(), known)
    close = [folded[match] for match in get_close_matches(wanted.casefold(), list(folded), n=3, cutoff=0.6)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:8]))
    return f"known: {shown}{f' and {len(names) - 8} more' if len(names) > 8 else ''}."
