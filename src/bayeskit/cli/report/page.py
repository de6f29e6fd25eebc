"""A report put together and written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayeskit.cli.report import sections
from bayeskit.cli.report.style import CSS

if TYPE_CHECKING:
    from bayeskit.cli.training import Training

# Nothing may be loaded and no script may run, whatever a cell of the table says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_report(path: Path, result: Training, command: str) -> None:
    """Write the report beside ``path`` and rename it, so that an old one stays whole until the end."""
    from bayeskit.io.container import beside

    with beside(path.absolute()) as file:
        file.write(report(result, command).encode("utf-8", "replace"))


def report(result: Training, command: str) -> str:
    """Return the report of a training as one HTML page."""
    parts = (
        sections.header(result),
        sections.columns(result),
        sections.balance(result),
        sections.leaderboard(result),
        sections.reliability(result),
        sections.confusion(result),
        sections.structure(result),
        sections.evidence(result),
        sections.value_tables(result),
        sections.how(result, command),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{sections.e(result.plan.name)} – bayeskit report</title><style>{CSS}</style></head>\n"
        f"<body><main>\n{''.join(parts)}\n</main></body></html>\n"
    )
