"""What is wrong with the table, as the first section of a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bayeskit.workflow.report.html import e, grid, section, short

if TYPE_CHECKING:
    from bayeskit.table.problem import Problem
    from bayeskit.workflow.training import Training

# Columns that are named in one line.
MOST_NAMED = 12


def data_problems(result: Training, settled_by: Callable[[Problem], str]) -> str:
    """List the problems of the table with what to do, the gravest first."""
    problems = result.problems
    if not problems:
        return section(
            "problems",
            "Data problems",
            "None was found: no column that gives the class away, no copies, no ids, no marks for missing cells.",
        )
    rows = [
        ("warn" if problem.severity == "warning" else "", _cells(problem, settled_by(problem))) for problem in problems
    ]
    return section(
        "problems",
        "Data problems",
        "Look at these before anything else: what may make the model worthless comes first. Each line says what would "
        "settle it.",
        grid(("where", "what", "why it matters", "what to do"), rows),
    )


def _cells(problem: Problem, settled_by: str) -> list[str]:
    names = ", ".join(e(short(name, 40)) for name in problem.columns[:MOST_NAMED])
    if len(problem.columns) > MOST_NAMED:
        names += f" and {len(problem.columns) - MOST_NAMED} more"
    example = f", such as {e(short(problem.example, 120))}" if problem.example else ""
    remedy = e(problem.what_to_do) + (f": <code>{e(settled_by)}</code>" if settled_by else "")
    where = f"{names or 'rows'}<br><small>{e(problem.code)}</small>"
    return [where, e(problem.message) + example, e(problem.why), remedy]
