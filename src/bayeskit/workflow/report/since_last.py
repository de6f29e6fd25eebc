"""What changed since the last report of the same target: each report holds a few numbers for the next one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.workflow.report.html import e, grid, section, short

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

_META = re.compile(r'<meta name="bayeskit-report" content="([^"]{2,200000})">')
# The beginning of a report in which its numbers are, in characters.
_HEAD = 400_000
MOST_NAMED = 10


@dataclass(frozen=True)
class ReportNumbers:
    """What a report says in a few numbers."""

    target: str
    date: str
    rows: int
    model: str
    measures: dict[str, tuple[float, float]]  # title → value, standard error
    columns: tuple[str, ...]  # that models used
    classes: tuple[str, ...]
    problems: tuple[str, ...]

    @classmethod
    def of(cls, result: Training) -> ReportNumbers:
        """Return the numbers of a training."""
        best = result.board.best.held_out[0]
        measures = {title: getattr(best, name) for name, title in result.measures.items()}
        return cls(
            result.table.target,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            result.table.n_rows,
            result.board.best.name,
            {title: (float(measure.value), float(measure.se)) for title, measure in measures.items()},
            tuple(result.table.features.source.names),
            tuple(map(str, result.table.labels.classes.tolist())),
            tuple(sorted({problem.code for problem in result.problems})),
        )

    @property
    def meta(self) -> str:
        """The numbers as an element of the head of a page."""
        return f'<meta name="bayeskit-report" content="{escape(json.dumps(vars(self)), quote=True)}">'

    @classmethod
    def read(cls, path: Path, target: str) -> ReportNumbers | None:
        """Return the numbers of a report that lies there, None where it is none or of another target."""
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                match = _META.search(file.read(_HEAD))
            if match is None:
                return None
            data = json.loads(unescape(match[1]))
            measures = {str(k): (float(value), float(se)) for k, (value, se) in data["measures"].items()}
            old = cls(
                str(data["target"]), str(data["date"]), int(data["rows"]), str(data["model"]), measures,
                *(tuple(map(str, data[name])) for name in ("columns", "classes", "problems")),
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # a page that somebody else wrote, or an older version
        return old if old.target == target else None


def since_last(old: ReportNumbers | None, new: ReportNumbers) -> str:
    """Compare a report with the one that it replaces."""
    if old is None:
        return ""
    rows: list[tuple[str, ...]] = [
        ("rows", f"{old.rows:,}", f"{new.rows:,}", f"{new.rows - old.rows:+,}"),
        ("model", old.model, new.model, ""),
    ]
    for title, (value, se) in new.measures.items():
        if title in old.measures:
            before = old.measures[title]
            words = [f"{before[0]:.4f} ± {before[1]:.4f}", f"{value:.4f} ± {se:.4f}", f"{value - before[0]:+.4f}"]
            rows.append((title, *words))
    for title, before_names, names in (
        ("columns", old.columns, new.columns),
        ("classes", old.classes, new.classes),
        ("data problems", old.problems, new.problems),
    ):
        gone, come = _not_in(before_names, names), _not_in(names, before_names)
        if gone or come:
            rows.append((title, gone and f"only before: {gone}", come and f"new: {come}", ""))
    return section(
        "changes",
        "What changed",
        f"This report replaces one of {e(old.date)}. The rows may differ, so that a difference of scores need not come "
        "from the model.",
        grid(("", "before", "now", "difference"), [("", [e(short(cell, 160)) for cell in row]) for row in rows], (3,)),
    )


def _not_in(names: tuple[str, ...], others: tuple[str, ...]) -> str:
    only: list[Any] = [name for name in names if name not in set(others)]
    shown = ", ".join(short(name, 30) for name in only[:MOST_NAMED])
    return shown + (f" and {len(only) - MOST_NAMED} more" if len(only) > MOST_NAMED else "")
