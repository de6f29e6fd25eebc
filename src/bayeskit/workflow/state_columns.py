"""A table file as columns of states, for learning a network: what `bayeskit learn` and the studio read."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.table.files import TableFile

# Whole numbers with at most this many distinct values are names of states.
MOST_STATES = 20


def read_states(file: TableFile, ignore: Collection[str] = ()) -> dict[str, Any]:
    """Return the columns of a file as `learn_structure` takes them: texts as states, other numbers as numbers.

    As when a file is read for training, few distinct whole numbers are names of states.
    """
    import numpy as np

    file.refuse_absent(ignore)
    table = file.read()
    columns: dict[str, Any] = {}
    for name in table.column_names:
        if name in ignore:
            continue
        values = table[name].to_pylist()
        known = {value for value in values if value is not None}
        whole = all(isinstance(value, int) and not isinstance(value, bool) for value in known)
        if whole and len(known) <= MOST_STATES:
            values = [None if value is None else str(value) for value in values]
        elif known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
            values = np.array([np.nan if value is None else value for value in values], dtype=float)
        columns[name] = values
    return columns
