"""Arguments of the library that its errors and notes name, and the options of the command that set them."""

from __future__ import annotations

OPTIONS = {
    "encoding": "--encoding",
    "delimiter": "--delimiter",
    "kinds": "--kind NAME=KIND",
    "ignore": "--ignore",
    "folds": "--folds",
    "target": "--target",
    "decimal": "--decimal",
    "date_order": "--date-order",
    "missing": "--missing",
    "numeric": "--numeric",
    "force": "--force",
    "sheet": "--sheet",
    "skip": "--skip",
}
