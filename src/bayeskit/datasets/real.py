"""Three small real data sets whose licences allow shipping them."""

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


def load_nile() -> dict[str, list[Any]]:
    """Return the flow of the Nile at Aswan in 1871 to 1970, one row per year: a sequence with a change near 1899.

    The column ``flow`` is the annual volume in 10⁸ m³, 919.35 on average. The numbers are in the public domain.

    References
    ----------
    Cobb (1978), The problem of the Nile: conditional solution to a change-point problem, Biometrika 65, 243–251.

    Examples
    --------
    >>> nile = load_nile()
    >>> len(nile["year"]), nile["year"][0], sum(nile["flow"]) / 100
    (100, 1871, 919.35)
    """
    return _read("nile.csv")


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
