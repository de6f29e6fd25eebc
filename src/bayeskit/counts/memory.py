"""The memory that tables of counts need: computed before the work, an error above a limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np

from bayeskit.errors import BayeskitError, TooLargeError, warn_caller
from bayeskit.table.schema import Schema

# From this size on, a warning comes before the work starts.
WORTH_SAYING = 2**30

# A limit as a user writes it: a number of bytes, or text such as "4 GiB".
Memory = float | str

_UNITS = {"": 1, "b": 1, "bytes": 1}
_UNITS |= {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
_UNITS |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}
_AMOUNT = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def read_memory(limit: object) -> float:
    """Return an amount of memory in bytes.

    Parameters
    ----------
    limit : number or str
        Bytes, or text with a unit: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024), in any
        case. Infinity means no limit.

    Examples
    --------
    >>> read_memory("4 GiB") == 4 * 2**30, read_memory("1.5GB"), read_memory(2048)
    (True, 1500000000.0, 2048.0)
    """
    if isinstance(limit, str):
        amount = _AMOUNT.fullmatch(limit)
        if amount is not None and amount[2].lower() in _UNITS:
            return float(amount[1]) * _UNITS[amount[2].lower()]
    elif isinstance(limit, int | float | np.integer | np.floating) and not isinstance(limit, bool) and limit >= 0:
        return float(limit)
    raise BayeskitError(f"an amount of memory is a number of bytes or text such as '4 GiB'; got {limit!r}.")


def table_cells(sizes: Sequence[int], families: str | Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return how many families there are and how many cells their tables have for one class.

    All pairs and all triples are summed without listing them: the sums of their products are the elementary
    symmetric polynomials of the sizes.

    >>> table_cells([4, 4, 4], "pairs"), table_cells([4, 4, 4], "triples"), table_cells([4, 4, 4], [(0, 1)])
    ((3, 48), (4, 112), (1, 16))
    """
    if not isinstance(families, str):
        return len(families), sum(prod(sizes[j] for j in members) for members in families)
    one = two = three = 0
    for size in sizes:
        three, two, one = three + size * two, two + size * one, one + size
    n_pairs, n_triples = comb(len(sizes), 2), comb(len(sizes), 3)
    return (n_pairs, two) if families == "pairs" else (n_pairs + n_triples, two + three)


def table_bytes(n_cells: int, n_classes: int, *, weighted: bool) -> int:
    """Return the memory of tables with this many cells per class: four bytes per count, eight with weights."""
    return n_cells * n_classes * (8 if weighted else 4)


def nothing_made(sizes: Sequence[int], n_classes: int, families: str | Sequence[Sequence[int]]) -> float:
    """Return 0: counts of which nothing is made."""
    return 0.0


@dataclass(frozen=True)
class MemoryLimit:
    """The largest number of bytes in use at once: by counts, by other data, and by what is made from the counts."""

    most: float
    # How many bytes a model takes besides its counts, given the sizes of the columns, the classes and the families.
    made: Callable[[Sequence[int], int, str | Sequence[Sequence[int]]], float] = nothing_made

    def refuse_too_large(
        self,
        sizes: Sequence[int],
        n_classes: int,
        families: str | Sequence[Sequence[int]],
        schema: Schema,
        *,
        weighted: bool = False,
        beside: float = 0.0,
    ) -> None:
        """Raise an error for too large tables, with the sizes; warn of large ones. ``beside`` bytes are in use."""
        n_families, cells = table_cells(sizes, families)
        counts = table_bytes(cells, n_classes, weighted=weighted)
        need = counts + beside + self.made(sizes, n_classes, families)
        if need <= min(self.most, WORTH_SAYING):
            return
        widest = sorted(range(len(sizes)), key=lambda j: -sizes[j])[:3]
        columns = ", ".join(f"'{schema.names[j]}' with {sizes[j]}" for j in widest)
        what = (
            f"the counts of {n_families} {'family' if n_families == 1 else 'families'} of columns"
            f"{f' for {n_classes} classes' if n_classes > 1 else ''} need {readable(counts)}; "
            f"the columns with most values are {columns}."
        )
        if need > counts and not counts > self.most:
            what += f" With what is beside them and made of them, {readable(need)} are in use at once."
        if need > self.most:
            raise TooLargeError(
                f"{what} The limit is {readable(self.most)}: leave such columns out, cut them into fewer values, "
                "choose a simpler model, or raise max_memory."
            )
        warn_caller(what)


# Of each cell there is a count, its logarithm, what the kernel reads, and while these are made as much again.
BYTES_OF_A_CELL = 48
# Of each number there are its moments with twice the digits, mean, deviation, and what the kernel reads.
BYTES_OF_A_DENSITY = 160


def refuse_too_wide(schema: Schema, n_classes: int, limit: float) -> None:
    """Raise an error where the tables of the single columns would take more than ``limit`` bytes.

    Examples
    --------
    >>> from bayeskit.table.schema import Variable
    >>> refuse_too_wide(Schema((Variable("id", "categorical", tuple(range(1000))),)), 5, 100_000)
    Traceback (most recent call last):
    ...
    bayeskit.errors.TooLargeError: the tables of 1 column for 5 classes need 234.4 KiB; the columns with most values \
are 'id' with 1000. The limit is 97.7 KiB: leave such columns out, cut them into fewer values, or raise max_memory.
    """
    sizes = [variable.n_values if variable.is_discrete else 0 for variable in schema]
    need = n_classes * (sum(sizes) * BYTES_OF_A_CELL + len(schema.numeric) * BYTES_OF_A_DENSITY)
    if need <= limit:
        return
    widest = sorted(range(len(sizes)), key=lambda j: -sizes[j])[:3]
    columns = ", ".join(f"'{schema.names[j]}' with {sizes[j]}" for j in widest)
    named = f"{len(sizes)} column{'s' if len(sizes) > 1 else ''} for {n_classes} classes"
    raise TooLargeError(
        f"the tables of {named} need {readable(need)}; the columns with most values are {columns}. "
        f"The limit is {readable(limit)}: leave such columns out, cut them into fewer values, or raise max_memory."
    )


def refuse_too_many_words(n_words: int, n_classes: int, limit: float, column: str = "") -> None:
    """Raise an error where the table of words and classes by which texts are scored would take too many bytes.

    >>> refuse_too_many_words(2000, 500, 1e6)
    Traceback (most recent call last):
    ...
    bayeskit.errors.TooLargeError: the table of 2,000 words for 500 classes needs 7.6 MiB, and the limit is 976.6 KiB: \
keep fewer words, or group the classes.
    """
    need = 8.0 * n_words * n_classes
    if need > limit:
        of = f" of column '{column}'" if column else ""
        raise TooLargeError(
            f"the table of {n_words:,} words{of} for {n_classes:,} classes needs {readable(need)}, and the limit is "
            f"{readable(limit)}: keep fewer words, or group the classes."
        )


def readable(n_bytes: float) -> str:
    """Return a number of bytes with a suitable unit.

    >>> readable(576), readable(3 * 2**30)
    ('576 bytes', '3.0 GiB')
    """
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
