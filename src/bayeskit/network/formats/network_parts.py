"""The parts of a network as a file gives them, and errors with line and column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkFileError
from bayeskit.network import dag
from bayeskit.network.cpd.table import MOST_AXES, TOLERANCE

# A file may ask for more numbers than it holds only where rows may be left out; this many more are granted.
SPARE_NUMBERS = 1 << 22
# No file holds as many; counting stops here.
MOST_NUMBERS = 10**15
# Characters of an error message.
MOST_MESSAGE = 1000


class FileText(NamedTuple):
    """The text of a file and what to call it in an error."""

    name: str
    text: str

    def fault(self, at: int, message: str) -> NoReturn:
        """Refuse the file; ``at`` is the position in the text."""
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        refuse(self.name, line, column, message)


class Parts(NamedTuple):
    """Names, states, parents and tables in the order of the file; ``places`` are where the tables stand in it."""

    names: Sequence[str]
    states: Sequence[tuple[str, ...]]
    parents: Sequence[tuple[int, ...]]
    tables: Sequence[NDArray[np.float64]]
    places: Sequence[int]


def refuse(name: str, line: int, column: int, message: str) -> NoReturn:
    """Raise the one error of all readers; of a message with a very long name, the middle is left out."""
    if len(message) > MOST_MESSAGE:
        message = f"{message[: MOST_MESSAGE // 2]}…{message[-MOST_MESSAGE // 2 :]}"
    raise NetworkFileError(f"{name}, line {line}, column {column}: {message}")


def checked_rows(
    source: FileText, at: int, variable: str, values: NDArray[np.float64], shape: tuple[int, ...], normalize: bool
) -> NDArray[np.float64]:
    """Return the numbers as a table of this shape whose rows sum to 1, or point to the place of the table."""
    if len(shape) > MOST_AXES:
        source.fault(at, f"{variable!r} has {len(shape) - 1} parents; a table can have at most {MOST_AXES - 1}.")
    size = table_size(shape)
    if values.size != size:
        needed = str(size) if size < MOST_NUMBERS else f"more than {MOST_NUMBERS:.0e}"
        source.fault(at, f"the table of {variable!r} has {values.size} numbers and needs {needed}.")
    rows = values.reshape(-1, shape[-1])
    if not (np.isfinite(rows) & (rows >= 0)).all():
        source.fault(
            at, f"the table of {variable!r} holds a number that is not a probability; probabilities are 0 or more."
        )
    sums = rows.sum(axis=1)
    if normalize and (sums > 0).all():
        rows = rows / sums[:, None]
    elif abs(sums - 1.0).max() > TOLERANCE:
        k = int(np.argmax(abs(sums - 1.0) > TOLERANCE))
        source.fault(
            at,
            f"row {k + 1} of the table of {variable!r} sums to {sums[k]:.10g}, not to 1 within {TOLERANCE:g}; "
            "correct it or pass normalize=True.",
        )
    return rows.reshape(shape)


def table_size(shape: tuple[int, ...]) -> int:
    """Return the number of numbers, or one above `MOST_NUMBERS` where it is larger than that.

    Thousands of parents would make an integer of thousands of digits, which takes long to multiply and to print.
    """
    size = 1
    for n in shape:
        size *= n
        if size > MOST_NUMBERS:
            return MOST_NUMBERS + 1
    return size


def check_parents(source: FileText, parts: Parts) -> Parts:
    """Refuse a file without variables, and a cycle at the place of one of its tables."""
    if not parts.names:
        source.fault(len(source.text), "the file has no variable; a network needs at least one.")
    if len(dag.topological_order(parts.parents)) < len(parts.names):
        cycle = dag.find_cycle(parts.parents)
        shown = " -> ".join(parts.names[i] for i in cycle)
        source.fault(parts.places[cycle[0]], f"the arcs form a cycle: {shown}.")
    return parts
