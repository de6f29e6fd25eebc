"""Best CPU time of several runs, and the table that shows ours beside the peer's."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("RESULTS.md")


# Short work, ours or the peer's, is run again for so long: a busy moment of the machine outlasts a few runs of it.
LEAST_SECONDS = 0.3


def cpu_seconds(work: Callable[[], Any], runs: int = 5) -> float:
    """Return the least CPU time of several runs: a busy machine adds to a run, it never takes away."""
    best, spent, done = float("inf"), 0.0, 0
    while done < runs or (runs > 1 and spent < LEAST_SECONDS):
        start = time.process_time()
        work()
        last = time.process_time() - start
        best, spent, done = min(best, last), spent + last, done + 1
    return best


def wall_seconds(work: Callable[[], Any], runs: int = 5) -> float:
    """Return the least wall time of several runs, for what threads gain."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Row:
    """One line of a table: a task, our seconds, the peer and its seconds, and the ratio aimed at."""

    task: str
    ours: float
    peer: str
    theirs: float
    aim: float | None = None

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return self.theirs / self.ours

    def line(self) -> str:
        """Return the row as Markdown."""
        aim = "" if self.aim is None else f"{self.aim:g} ×"
        return (
            f"| {self.task} | {seconds(self.ours)} | {self.peer} {seconds(self.theirs)} | {self.ratio:.1f} × | {aim} |"
        )


def seconds(value: float) -> str:
    """Write a time with the unit that suits it.

    >>> seconds(0.0314), seconds(2.5e-6)
    ('31.4 ms', '2.5 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table."""
    head = "| task | bayeskit | peer | ratio | aim |\n|---|--:|--:|--:|--:|"
    return "\n".join([head, *(row.line() for row in rows)])


def write_section(title: str, command: str, body: str) -> None:
    """Put a section into RESULTS.md in place of the one of that title, and print it."""
    section = f"## {title}\n\n`{command}` on {platform.machine()}, Python {platform.python_version()}\n\n{body}\n"
    print(section)
    text = RESULTS.read_text(encoding="utf-8")
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    text = pattern.sub(lambda _: section + "\n", text) if pattern.search(text) else f"{text.rstrip()}\n\n{section}"
    RESULTS.write_text(text.rstrip() + "\n", encoding="utf-8")
