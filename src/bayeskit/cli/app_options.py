"""Arguments of the library that its errors and notes name, and the options of the command that set them."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayeskit.table.problem import Problem

# Options of one problem that are written out; many columns are left out one by one.
MOST_WRITTEN = 4

OPTIONS = {
    "encoding": "--encoding",
    "converted": "--converted",
    "delimiter": "--delimiter",
    "kinds": "--kind NAME=KIND",
    "ignore": "--ignore",
    "folds": "--folds",
    "target": "--target",
    "decimal": "--decimal",
    "date_order": "--date-order",
    "missing": "--missing",
    "numeric": "--numeric",
    "force": "--force",
    "stream": "--no-stream",
    "text": "--text",
    "merge_labels": "--merge-labels",
    "drop_duplicates": "--drop-duplicates",
    "drop_rare_classes": "--drop-rare-classes",
    "sheet": "--sheet",
    "skip": "--skip",
}


def as_command(problem: Problem) -> str:
    """Return the options that settle a problem of a table, as they are typed.

    >>> from bayeskit.table.problem import Problem
    >>> as_command(Problem("outliers", "…", ("a b",), options=(("kinds", "a b=equal-frequency"),)))
    "--kind 'a b=equal-frequency'"
    """
    words = []
    for name, value in problem.options[:MOST_WRITTEN]:
        option = OPTIONS[name].split()[0]  # without its NAME=KIND
        words.append(f"{option} {quote(value)}" if value else option)
    return " ".join(words) + (" …" if len(problem.options) > MOST_WRITTEN else "")
