"""Conventions are decided for the whole file: columns with a clear decimal sign or order of dates decide the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.table.conventions import Reading, read_written
from bayeskit.table.dates import find_order, year_last_of
from bayeskit.table.missing_words import is_text
from bayeskit.table.number_cells import decimal_vote
from bayeskit.table.ordered import MOST, ordered_levels

if TYPE_CHECKING:
    import pyarrow as pa

# Rows that are looked at first; of a column that leaves it open, all are.
_FIRST_ROWS = 1000


@dataclass(frozen=True)
class FileConventions:
    """How the numbers and dates of a file are written, as far as the user or its columns say."""

    decimal: str | None = None  # as the user said
    date_order: str | None = None
    file_decimal: str | None = None  # as all columns with a clear sign agree
    file_order: str | None = None
    ask: bool = False  # whether 2.781 could be 2781

    @classmethod
    def of(
        cls,
        table: pa.Table,
        names: Sequence[str],
        decimal: str | None,
        date_order: str | None,
        *,
        ask: bool,
        fractions: bool = False,
    ) -> FileConventions:
        """Let the columns vote; what the user said stands. Columns of ``fractions`` show a decimal point.

        >>> import pyarrow as pa
        >>> table = pa.table({"a": ["2.781", "1.024"], "b": ["0,37", "1,5"]})
        >>> FileConventions.of(table, ["a", "b"], None, None, ask=True).file_decimal
        ','
        """
        texts = [table[name] for name in names if is_text(table[name])]
        said = cls(decimal, date_order, ask=ask and decimal is None)
        if decimal is None:
            votes = {vote for column in texts if (vote := _vote(column)) is not None}
            votes |= {"."} if fractions else set()
            said = replace(said, file_decimal=votes.pop() if len(votes) == 1 else None, ask=ask or len(votes) > 1)
        if date_order is None:
            orders = {order for column in texts if (order := _order(column)) in ("dmy", "mdy")}
            said = replace(said, file_order=orders.pop() if len(orders) == 1 else None)
        return said

    def read(self, column: Any, *, number: bool) -> Reading:
        """Read one column of text."""
        reading = read_written(
            column,
            decimal=self.decimal,
            order=self.date_order or self.file_order,
            number=number,
            file_decimal=self.file_decimal,
            ask=self.ask,
        )
        return reading


def _vote(column: Any) -> str | None:
    import pyarrow.compute as pc

    first = pc.unique(column.slice(0, _FIRST_ROWS)).drop_null()
    if not pc.any(pc.match_substring_regex(first, r"\d[.,]\d|^[.,]\d")).as_py():
        return None
    vote = decimal_vote(first)
    return vote if vote is not None or len(column) <= _FIRST_ROWS else decimal_vote(pc.unique(column).drop_null())


def _order(column: Any) -> str | None:
    import pyarrow.compute as pc

    first = pc.unique(column.slice(0, _FIRST_ROWS)).drop_null()
    if not len(first) or year_last_of(first).mean() < 0.5:
        return None
    different = first if len(column) <= _FIRST_ROWS else pc.unique(column).drop_null()
    return find_order(different, np.ones(len(different)), None, 0.95)[0]


def in_order(reading: Reading) -> Reading:
    """Return a column of text whose values have an order of their own as categories in that order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = reading.column
    if reading.convention is not None or reading.said or not is_text(column):
        return reading
    if reading.coded is not None:
        values = reading.coded.chunk(0).dictionary
    else:
        first = pc.unique(column.slice(0, _FIRST_ROWS)).drop_null()
        values = first if len(first) > MOST else pc.unique(column).drop_null()
    if len(values) > MOST:
        return reading
    levels = ordered_levels(values.to_pylist())
    if levels is None:
        return reading
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    codes = pc.index_in(column, value_set=pa.array(levels, column.type))
    chunks = codes.chunks if isinstance(codes, pa.ChunkedArray) else [codes]
    arrays = [pa.DictionaryArray.from_arrays(chunk, pa.array(levels), ordered=True) for chunk in chunks]
    return Reading(pa.chunked_array(arrays, type=kind), said=f"in order: {', '.join(levels[:6])}")
