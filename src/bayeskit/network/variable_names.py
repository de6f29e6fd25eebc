"""Names of variables and states: checked to be unique, with suggestions for typing errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayeskit.errors import NetworkError
from bayeskit.table.names import first_duplicate, nearest


def unique_names(names: Iterable[object], what: str) -> tuple[str, ...]:
    """Return names as a tuple of strings; refuse an empty or a repeated one."""
    unique = tuple(name if type(name) is str else str(name) for name in names)
    twice = first_duplicate(unique)
    if twice is not None:
        raise NetworkError(f"{what} {twice!r} appears twice; names must differ.")
    if "" in unique:
        raise NetworkError(f"{what} at position {unique.index('')} has an empty name; give it one.")
    return unique


def did_you_mean(name: object, names: Sequence[str]) -> str:
    """Return a suggestion of similar names, as the end of an error message.

    Examples
    --------
    >>> did_you_mean("smoker", ["asia", "smoke", "lung"])
    "did you mean 'smoke'?"
    >>> did_you_mean("x", ["yes", "no"])
    "known: 'yes', 'no'."
    """
    close = nearest(str(name), dict.fromkeys(names))
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, names[:8]))
    return f"known: {shown}{f' and {len(names) - 8} more' if len(names) > 8 else ''}."
