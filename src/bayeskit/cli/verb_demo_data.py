"""``bayeskit demo-data``: tables and networks to try the other commands on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer


@dataclass(frozen=True)
class Bundled:
    """A table or a network of the library."""

    loader: str  # of :mod:`bayeskit.datasets`
    what: str
    target: str = ""  # of a table


# In the order in which they are listed.
BUNDLED = {
    "heart": Bundled("load_heart", "303 patients, heart disease (Cleveland)", "disease"),
    "penguins": Bundled("load_penguins", "344 penguins of three species (Palmer)", "species"),
    "nile": Bundled("load_nile", "100 years of the Nile's flow, a series"),
    "tennis": Bundled("load_tennis", "14 days of play tennis (Quinlan, Mitchell)", "play"),
    "enjoy-sport": Bundled("load_enjoy_sport", "4 days of EnjoySport (Mitchell)", "enjoy"),
    "watermelon": Bundled("load_watermelon", "17 melons, watermelon data 3.0 (Zhou)", "好瓜"),
    "example-4.1": Bundled("load_fifteen", "15 rows of example 4.1 (Li)", "Y"),
    "asia": Bundled("load_asia", "network: the chest clinic (Lauritzen & Spiegelhalter)"),
    "burglary": Bundled("load_burglary", "network: the burglar alarm (Pearl)"),
    "campfire": Bundled("load_campfire", "network: storm, lightning and campfire (Mitchell)"),
}


def demo_data(
    name: Annotated[str | None, typer.Argument(help="The table or network.", show_default="list them")] = None,
) -> None:
    """Write a bundled table as CSV, or a bundled network as BIF, to try the other commands on.

    Without a name all of them are listed, with the column to predict.

    Example: bayeskit demo-data heart > heart.csv

    Example: bayeskit demo-data campfire > campfire.bif
    """
    from bayeskit import datasets
    from bayeskit.cli import screen
    from bayeskit.errors import TableError
    from bayeskit.table.names import not_found

    if name is None:
        rows = [(each, bundled.what, bundled.target) for each, bundled in BUNDLED.items()]
        screen.table(("name", "what", "target"), rows)
        return
    if name not in BUNDLED:
        raise TableError(not_found("table", name, list(BUNDLED)))
    data = getattr(datasets, BUNDLED[name].loader)()
    sys.stdout.buffer.write((_csv(data) if isinstance(data, dict) else _bif(data)).encode())
    sys.stdout.buffer.flush()


def _csv(columns: dict[str, list[Any]]) -> str:
    """Return a table as text; a missing cell is empty."""
    import csv
    from io import StringIO

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None or cell != cell else cell for cell in row])
    return out.getvalue()


def _bif(net: Any) -> str:
    """Return a network as text."""
    from pathlib import Path

    from bayeskit.network.formats.paths import format_of

    return format_of(Path("network.bif"))[0].write(net)
