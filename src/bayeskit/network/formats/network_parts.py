"""The parts of a network as a file gives them, and errors with line and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError, NetworkFileError
from bayeskit.network import dag
from bayeskit.network.cpd.distribution import Distribution, Family
from bayeskit.network.cpd.table import MOST_AXES, TOLERANCE
from bayeskit.network.cpd.written_form import WrittenForm

# A file may ask for more numbers than it holds only where rows may be left out; this many more are granted.
SPARE_NUMBERS = 1 << 22
# No file holds as many; counting stops here.
MOST_NUMBERS = 10**15
# A formula is computed once for each configuration of its parents; the formulas of a file have this many together.
FORMULA_ROWS = 1 << 17
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
    """Names, states, parents and tables in the order of the file; ``places`` are where the tables stand in it.

    A table may also be a distribution, or one as a user writes it: a `NoisyMax`, an `Equation`. A real variable has no
    states. ``properties`` are what else the file says of a variable, by its name, and of the network, by "".
    """

    names: Sequence[str]
    states: Sequence[tuple[str, ...]]
    parents: Sequence[tuple[int, ...]]
    tables: Sequence[NDArray[np.float64] | Distribution | WrittenForm]
    places: Sequence[int]
    properties: Mapping[str, Mapping[str, str]] = MappingProxyType({})


def refuse(name: str, line: int, column: int, message: str) -> NoReturn:
    """Raise the one error of all readers; of a message with a very long name, the middle is left out."""
    if len(message) > MOST_MESSAGE:
        message = f"{message[: MOST_MESSAGE // 2]}…{message[-MOST_MESSAGE // 2 :]}"
    raise NetworkFileError(f"{name}, line {line}, column {column}: {message}")


def not_answered(source: FileText, at: int, name: str, kind: str) -> NoReturn:
    """Refuse a node that belongs to a decision network, by its name and kind."""
    source.fault(
        at,
        f"{name!r} is a {kind} node; decisions and utilities are not answered yet, only the network of chance nodes.",
    )


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
    return _bound(source, parts)


def _bound(source: FileText, parts: Parts) -> Parts:
    """Return the parts with each written form made a distribution; what it cannot be is a fault at its place."""
    if not any(isinstance(table, WrittenForm) for table in parts.tables):
        return parts
    tables, spare = [], FORMULA_ROWS
    for i, (table, at) in enumerate(zip(parts.tables, parts.places, strict=True)):
        real = [parts.names[p] for p in parts.parents[i] if not parts.states[p]]
        if parts.states[i] and real:
            source.fault(
                at,
                f"{parts.names[i]!r} is discrete and has the real parent {real[0]!r}; a discrete variable has discrete "
                "parents only.",
            )
        if isinstance(table, WrittenForm):
            spare -= table.formula_rows(tuple(len(parts.states[p]) for p in parts.parents[i]))
            if spare < 0:
                source.fault(at, f"the formula of {parts.names[i]!r} has too many configurations of its parents.")
            try:
                table = table.bound(Family.of(parts.names, parts.states, parts.parents, i))
            except NetworkError as error:
                source.fault(at, str(error))
        tables.append(table)
    return parts._replace(tables=tables)
