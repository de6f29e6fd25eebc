"""The report as one HTML page, and written to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bayeskit.io.overwriting import MADE_BY
from bayeskit.language import get_language
from bayeskit.progress import report_step
from bayeskit.workflow.data_problems import as_arguments
from bayeskit.workflow.importance import ColumnImportance, column_importance
from bayeskit.workflow.report import by_class, by_group, curves_of_columns, data_problems, judged, overview, sections
from bayeskit.workflow.report.html import e, translated_page
from bayeskit.workflow.report.pictures import can_plot
from bayeskit.workflow.report.since_last import ReportNumbers, since_last
from bayeskit.workflow.report.style import CSS
from bayeskit.workflow.report.thresholds import SCRIPT_HASH, thresholds

if TYPE_CHECKING:
    from bayeskit.progress import Progress
    from bayeskit.table.problem import Problem
    from bayeskit.workflow.training import Training

# Nothing may be loaded, and no script but that of the slider may run, whatever a cell of the table says.
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '{SCRIPT_HASH}'"


def write_report(
    path: Path,
    result: Training,
    command: str = "",
    progress: Progress | None = None,
    settled_by: Callable[[Problem], str] = as_arguments,
) -> bool:
    """Write the report to a file and say whether it has its plots, which need matplotlib.

    ``settled_by`` writes what settles a problem of the table, as the reader of the report would type it.

    It is written to a new file that is then renamed, so that an old report stays whole until the end.
    """
    from bayeskit.io.container import atomic_write

    last = ReportNumbers.read(path, result.table.target)
    with atomic_write(path.absolute()) as file:
        file.write(report(result, command, progress, last, settled_by).encode("utf-8", "replace"))
    return can_plot()


def report(
    result: Training,
    command: str = "",
    progress: Progress | None = None,
    last: ReportNumbers | None = None,
    settled_by: Callable[[Problem], str] = as_arguments,
) -> str:
    """Return the report of a training as one HTML page.

    ``command`` is how it can be made again, and ``last`` what the report said that it replaces.
    """
    made: list[str] = []
    told: list[ColumnImportance] = []

    def importance() -> str:
        told.extend(column_importance(result))
        return by_class.importance(result, told)

    numbers = ReportNumbers.of(result)
    steps: dict[str, Callable[[], str]] = {
        "data problems": lambda: data_problems.data_problems(result, settled_by),
        "changes": lambda: since_last(last, numbers),
        "columns": lambda: overview.columns(result),
        "classes": lambda: overview.balance(result),
        "leaderboard": lambda: judged.leaderboard(result),
        "calibration": lambda: judged.reliability(result),
        "curves": lambda: judged.two_class_curves(result),
        "thresholds": lambda: thresholds(result),
        "confusion": lambda: judged.confusion(result),
        "groups": lambda: by_group.by_group(result),
        "learning curve": lambda: judged.learning(result),
        "importance": importance,
        "effects": lambda: curves_of_columns.effects(result, told),
        "values": lambda: by_class.value_tables(result, told),
        "structure": lambda: sections.structure(result),
        "explained rows": lambda: sections.evidence(result),
        "model card": lambda: sections.model_card(result, command),
    }
    for done, (name, make) in enumerate(steps.items()):
        report_step(progress, f"report: {name}", done, len(steps))
        made.append(make())
    return whole_page(result.table.target, overview.header(result), "".join(made), numbers.meta)


def whole_page(target: str, header: str, body: str, meta: str = "") -> str:
    """Return a page of sections under a header with a list of them; ``meta`` is an element of its head."""
    return translated_page(
        f'<!DOCTYPE html>\n<html lang="{"zh-CN" if get_language() == "zh" else "en"}" '
        f'{MADE_BY}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"{meta}<title>{e(target)} – bayeskit report</title><style>{CSS}</style></head>\n"
        f"<body><main>\n{header}{overview.contents(body)}{body}\n</main></body></html>\n"
    )
