"""The problems of a table in a few words, and the options of the command that settle them."""

from __future__ import annotations

from shlex import quote

from bayeskit.table.problem import Problem

# Argument of the library → option of the command.
_OPTIONS = {"ignore": "--ignore", "kinds": "--kind", "missing": "--missing", "folds": "--folds", "text": "--text"}
_OPTIONS |= {"drop_duplicates": "--drop-duplicates", "drop_rare_classes": "--drop-rare-classes"}
_OPTIONS |= {"merge_labels": "--merge-labels"}
# Options that are written out; many columns are left out one by one.
MOST_OPTIONS = 4


def as_command(problem: Problem) -> str:
    """Return the options of the command that settle a problem.

    >>> as_command(Problem("constant", "1 in all rows", ("a b",), options=(("ignore", "a b"),)))
    "--ignore 'a b'"
    """
    words = [f"{_OPTIONS[name]} {quote(value)}" if value else _OPTIONS[name] for name, value in problem.options]
    return " ".join(words[:MOST_OPTIONS]) + (" …" if len(words) > MOST_OPTIONS else "")


def in_short(problem: Problem) -> str:
    """Return where and what a problem is, without the reason."""
    names = ", ".join(map(repr, problem.columns[:3])) + (", …" if len(problem.columns) > 3 else "")
    where = f"column{'s' * (len(problem.columns) > 1)} {names}: " if problem.columns else ""
    return f"{where}{problem.message}{f', such as {problem.example}' if problem.example else ''}"
