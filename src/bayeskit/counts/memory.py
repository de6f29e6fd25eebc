"""How much memory tables of counts take, said before the work and refused above a limit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import comb, prod

from bayeskit.errors import BayeskitWarning, TooLargeError
from bayeskit.table.schema import Schema

# From here on the size is worth a word before the work starts.
WORTH_SAYING = 2**30


def table_cells(sizes: Sequence[int], families: str | Sequence[Sequence[int]]) -> tuple[int, int]:
    """Return how many families there are and how many cells their tables have for one class.

    All pairs and all triples are summed without writing them down: the sums of their products are the elementary
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


def refuse_too_large(
    sizes: Sequence[int],
    n_classes: int,
    families: str | Sequence[Sequence[int]],
    schema: Schema,
    limit: float,
    *,
    weighted: bool = False,
    stacklevel: int = 6,
) -> None:
    """Refuse tables of more than ``limit`` bytes, naming the sizes; warn of large ones."""
    n_families, cells = table_cells(sizes, families)
    need = cells * n_classes * (8 if weighted else 4)
    if need <= min(limit, WORTH_SAYING):
        return
    widest = sorted(range(len(sizes)), key=lambda j: -sizes[j])[:3]
    columns = ", ".join(f"'{schema.names[j]}' with {sizes[j]}" for j in widest)
    what = (
        f"the counts of {n_families} {'family' if n_families == 1 else 'families'} of columns for {n_classes} classes "
        f"need {readable(need)}; "
        f"the columns with most values are {columns}"
    )
    if need > limit:
        raise TooLargeError(
            f"{what}. The limit is {readable(limit)}: leave such columns out, cut them into fewer values, "
            "choose a simpler model, or raise max_memory."
        )
    warnings.warn(f"{what}.", BayeskitWarning, stacklevel=stacklevel)


def readable(n_bytes: float) -> str:
    """Write a number of bytes with the unit that suits it.

    >>> readable(576), readable(3 * 2**30)
    ('576 bytes', '3.0 GiB')
    """
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
