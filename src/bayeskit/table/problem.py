"""A problem of a table: where it is, how much of it there is, why it matters and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.result import Result


@dataclass(frozen=True)
class Problem(Result):
    """Something that the user of a table should know before a model is learned from it.

    Examples
    --------
    >>> problem = Problem("constant", "it has one value in all rows", columns=("country",), what_to_do="leave it out")
    >>> print(problem)
    column 'country': it has one value in all rows. What to do: leave it out.
    """

    code: str  # its short name, such as "constant" or "duplicate rows"
    message: str  # what it is, in words, without a full stop at the end
    columns: tuple[str, ...] = ()  # the columns that it concerns; empty where it is the whole table
    n: int | None = None  # how many cells, rows or columns
    example: str = ""
    why: str = ""  # why it matters
    what_to_do: str = ""
    settled_by: str = ""  # the argument of :func:`bayeskit.read` that does it
    severity: str = "note"  # "note", or "warning" where a model learned from the table as it is would mislead
    # What does it: arguments with their values, such as ("ignore", "id"); "" is a switch.
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.columns[:5])) + (", …" if len(self.columns) > 5 else "")
        where = f"column{'s' * (len(self.columns) > 1)} {names}: " if self.columns else ""
        example = f", such as {self.example}" if self.example else ""
        said = [f"{where}{self.message}{example}.", f"{self.why}." if self.why else ""]
        return " ".join(filter(None, [*said, f"What to do: {self.what_to_do}." if self.what_to_do else ""]))
