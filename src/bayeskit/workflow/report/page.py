"""The report as one HTML page, and written to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bayeskit.io.overwriting import MADE_BY
from bayeskit.progress import report_step
from bayeskit.workflow.importance import ColumnImportance, column_importance
from bayeskit.workflow.report import by_class, judged, overview, sections
from bayeskit.workflow.report.html import e
from bayeskit.workflow.report.pictures import can_plot
from bayeskit.workflow.report.style import CSS

if TYPE_CHECKING:
    from bayeskit.progress import Progress
    from bayeskit.workflow.training import Training

# Nothing may be loaded and no script may run, whatever a cell of the table says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_report(path: Path, result: Training, command: str = "", progress: Progress | None = None) -> bool:
    """Write the report to a file and say whether it has its plots, which need matplotlib.

    It is written to a new file that is then renamed, so that an old report stays whole until the end.
    """
    from bayeskit.io.container import atomic_write

    with atomic_write(path.absolute()) as file:
        file.write(report(result, command, progress).encode("utf-8", "replace"))
    return can_plot()


def report(result: Training, command: str = "", progress: Progress | None = None) -> str:
    """Return the report of a training as one HTML page; ``command`` is how it can be made again."""
    made: list[str] = []
    told: list[ColumnImportance] = []

    def importance() -> str:
        told.extend(column_importance(result))
        return by_class.importance(result, told)

    steps: dict[str, Callable[[], str]] = {
        "columns": lambda: overview.columns(result),
        "classes": lambda: overview.balance(result),
        "leaderboard": lambda: judged.leaderboard(result),
        "calibration": lambda: judged.reliability(result),
        "curves": lambda: judged.two_class_curves(result),
        "confusion": lambda: judged.confusion(result),
        "importance": importance,
        "values": lambda: by_class.value_tables(result, told),
        "structure": lambda: sections.structure(result),
        "explained rows": lambda: sections.evidence(result),
        "model card": lambda: sections.model_card(result, command),
    }
    for done, (name, make) in enumerate(steps.items()):
        report_step(progress, f"report: {name}", done, len(steps))
        made.append(make())
    return whole_page(result.table.target, overview.header(result), "".join(made))


def whole_page(target: str, header: str, body: str) -> str:
    """Return a page of sections under a header with a list of them."""
    return (
        '<!DOCTYPE html>\n<html lang="en" '
        f'{MADE_BY}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{e(target)} – bayeskit report</title><style>{CSS}</style></head>\n"
        f"<body><main>\n{header}{overview.contents(body)}{body}\n</main></body></html>\n"
    )
