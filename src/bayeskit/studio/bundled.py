"""Bundled networks and tables, to try the page with."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from bayeskit import datasets

# Name → kind.
EXAMPLES = {
    "asia": "network",
    "burglary": "network",
    "campfire": "network",
    "heart": "table",
    "penguins": "table",
}


def example_file(name: str, folder: Path) -> Path:
    """Write an example to a folder and return its path."""
    if EXAMPLES[name] == "network":
        path = folder / f"{name}.bif"
        getattr(datasets, f"load_{name}")().write(path)
        return path
    path = folder / f"{name}.csv"
    with as_file(files("bayeskit.datasets").joinpath("data", f"{name}.csv")) as source:
        shutil.copyfile(source, path)
    return path
