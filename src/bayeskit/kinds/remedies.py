"""What settles problems of a table while it is read: spellings merged, copies and rare classes left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problems.duplicates import first_of_copies
from bayeskit.table.problems.label_variants import variants
from bayeskit.table.problems.rare_classes import FEW
from bayeskit.table.problems.read_table import examined

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.read_result import ReadTable
    from bayeskit.table.spellings import Spellings


@dataclass(frozen=True)
class Remedies:
    """What is done to the rows of a table before anything is learned from them."""

    merge_labels: bool = False  # other spellings of a value, of the target and of categorical columns
    drop_duplicates: bool = False  # rows that are equal to an earlier one, the label included
    drop_rare_classes: bool = False  # rows of classes with fewer rows than a cross-validation has folds

    def __bool__(self) -> bool:
        return self.merge_labels or self.drop_duplicates or self.drop_rare_classes


def proposed_spellings(table: ReadTable) -> dict[str, Spellings]:
    """Return the spellings to merge, column by column, as the check for label variants proposes them."""
    import pyarrow.compute as pc

    from bayeskit.table.missing_words import is_text

    merged: dict[str, Spellings] = {}
    for note in table.columns:
        column = table[note.name]
        if (note.kind == "categorical" or note.name == table.target) and is_text(column):
            counted = pc.value_counts(column.drop_null())
            levels, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
            # In the order of their names, as a column of codes holds them.
            order = sorted(range(len(levels)), key=levels.__getitem__)
            spellings = variants([levels[k] for k in order], [counts[k] for k in order])
            if spellings:
                merged[note.name] = dict(spellings)
    return merged


def kept_rows(table: ReadTable, remedies: Remedies) -> NDArray[np.bool_]:
    """Return which rows of the raw table are kept; rows without a label are."""
    labels = table.labels
    keep = np.ones(len(table), dtype=bool)
    if remedies.drop_duplicates:
        keep &= first_of_copies(examined(table.columns, table.data, table.source, table.target, labels))
    if remedies.drop_rare_classes and labels is not None:
        keep &= np.bincount(labels.y[keep], minlength=len(labels.classes))[labels.y] >= FEW
    rows = np.ones(table.raw.num_rows, dtype=bool)
    has_label = np.asarray(table.raw[table.target].is_valid()) if table.n_unlabelled else rows.copy()
    rows[has_label] = keep
    return rows


def placed(place: Callable[[int], str], rows: NDArray[np.bool_]) -> Callable[[int], str]:
    """Return where a row of a table is of which some rows were left out."""
    kept = np.flatnonzero(rows)
    return lambda row: place(int(kept[row]))


def with_spellings(raw: pa.Table, spellings: dict[str, Any]) -> pa.Table:
    """Return a raw table with the spellings of some columns replaced."""
    from bayeskit.table.spellings import respelled

    for name, meant in spellings.items():
        if name in raw.column_names:
            raw = raw.set_column(raw.column_names.index(name), name, respelled(raw[name], meant))
    return raw
