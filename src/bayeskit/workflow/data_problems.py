"""The problems of a table in a few words, and the arguments that settle them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayeskit.language import get_language, label, translated
from bayeskit.table.problem import Problem

# Arguments that are written out; many columns are left out one by one.
MOST_OPTIONS = 4
# Arguments that are a list of words, and those that are a dict.
_LISTS, _DICTS = frozenset(["ignore", "missing"]), frozenset(["kinds"])


def as_arguments(problem: Problem) -> str:
    """Return the arguments of :func:`bayeskit.read` or of the training that settle a problem.

    >>> as_arguments(Problem("constant", "1 in all rows", ("a", "b"), options=(("ignore", "a"), ("ignore", "b"))))
    "ignore=['a', 'b']"
    >>> as_arguments(Problem("label variants", "…", options=(("merge_labels", ""),)))
    'merge_labels=True'
    """
    values: dict[str, list[str]] = {}
    for name, value in problem.options:
        values.setdefault(name, []).append(value)
    return ", ".join(f"{name}={_value(name, given)}" for name, given in values.items())


def _value(name: str, given: list[str]) -> str:
    if name in _LISTS:
        more = ", …" if len(given) > MOST_OPTIONS else ""
        return f"[{', '.join(map(repr, given[:MOST_OPTIONS]))}{more}]"
    if name in _DICTS:
        return repr(dict(word.rsplit("=", 1) for word in given))
    return repr(given[0]) if given[0] else "True"


def in_short(problem: Problem) -> str:
    """Return where and what a problem is, without the reason, in the language of the reader.

    The parts are translated one by one: names and cells, which may be any text, then stay as they are.

    >>> in_short(Problem("constant", "1 in all rows", ("a", "b"), example="1 in 'a'"))
    "columns 'a', 'b': 1 in all rows, such as 1 in 'a'"
    """
    names = ", ".join(map(repr, problem.columns[:3])) + (", …" if len(problem.columns) > 3 else "")
    colon, comma = ("：", "，") if get_language() == "zh" else (": ", ", ")
    where = f"{label('columns' if len(problem.columns) > 1 else 'column')} {names}{colon}" if problem.columns else ""
    example = f"{comma}{label('such as')} {problem.example}" if problem.example else ""
    return f"{where}{translated(problem.message)}{example}"


def in_full(problem: Problem) -> str:
    """Return a problem with why it matters and what to do, in the language of the reader."""
    zh = get_language() == "zh"
    said = [in_short(problem), translated(problem.why)]
    if problem.what_to_do:
        said.append(f"{label('What to do')}{'：' if zh else ': '}{translated(problem.what_to_do)}")
    return ("" if zh else " ").join(f"{part}{'。' if zh else '.'}" for part in said if part)


def problems_as_data(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return problems in terms of JSON, the gravest first, for a page or another program.

    ``options`` are the arguments of :func:`bayeskit.read` that settle a problem, one by one, and ``arguments`` the same
    as they are written.

    >>> data = problems_as_data([Problem("constant", "it has one value", ("a",), options=(("ignore", "a"),))])
    >>> data[0]["columns"], data[0]["options"], data[0]["arguments"]
    (['a'], [['ignore', 'a']], "ignore=['a']")
    """
    ordered = sorted(problems, key=lambda problem: problem.severity != "warning")  # sorted() keeps the order otherwise
    return [
        {
            "code": problem.code,
            "severity": problem.severity,
            "columns": list(problem.columns),
            "n": problem.n,
            "message": problem.message,
            "example": problem.example,
            "why": problem.why,
            "what_to_do": problem.what_to_do,
            "options": [list(option) for option in problem.options],
            "arguments": as_arguments(problem),
        }
        for problem in ordered
    ]
