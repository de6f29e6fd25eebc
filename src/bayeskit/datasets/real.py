"""Two small real data sets whose licences allow shipping them."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any


def load_penguins() -> dict[str, list[Any]]:
    """Return 344 penguins of three species: mixed columns with missing cells; the target is ``species``.

    Data by Kristen Gorman and the Palmer Station LTER, released under CC0.

    References
    ----------
    Horst, Hill & Gorman (2020), palmerpenguins: Palmer Archipelago (Antarctica) penguin data.

    Examples
    --------
    >>> penguins = load_penguins()
    >>> len(penguins["species"]), penguins["sex"].count(None)
    (344, 11)
    """
    return _read("penguins.csv")


def load_heart() -> dict[str, list[Any]]:
    """Return 303 patients with or without heart disease: mixed columns, six missing cells; the target is ``disease``.

    The Cleveland part of the UCI heart disease data, CC BY 4.0. Columns and values carry readable names here.

    References
    ----------
    Janosi, Steinbrunn, Pfisterer & Detrano (1989), Heart Disease, UCI Machine Learning Repository.

    Examples
    --------
    >>> heart = load_heart()
    >>> len(heart["age"]), sorted(set(heart["disease"]))
    (303, ['no', 'yes'])
    """
    return _read("heart.csv")


def _read(name: str) -> dict[str, list[Any]]:
    text = files("bayeskit.datasets").joinpath("data", name).read_text(encoding="utf-8")
    head, *rows = csv.reader(text.splitlines())
    return {column: _typed([row[k] for row in rows]) for k, column in enumerate(head)}


def _typed(cells: list[str]) -> list[Any]:
    for number in (int, float):
        try:
            return [number(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [cell or None for cell in cells]
