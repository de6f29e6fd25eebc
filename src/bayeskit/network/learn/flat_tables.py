"""All tables of a network as one array, family after family, as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.values import ragged
from bayeskit.network.learn.pseudo_counts import TablePrior, estimate


@dataclass(frozen=True)
class FlatTables:
    """Where the table of each variable stands in one flat array.

    Examples
    --------
    >>> flat = FlatTables(("A", "B"), (2, 2), ((), (0,)))
    >>> flat.shapes, flat.split(np.arange(6.0))[1]
    (((2,), (2, 2)), array([[2., 3.],
           [4., 5.]]))
    """

    names: tuple[str, ...]
    cards: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each table: parents' states …, own states."""
        return tuple(tuple(self.cards[v] for v in (*above, i)) for i, above in enumerate(self.parents))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each table begins, and where the last ends."""
        return ragged([prod(shape) for shape in self.shapes])

    def split(self, flat: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the tables, as views."""
        return [flat[self.offsets[i] : self.offsets[i + 1]].reshape(shape) for i, shape in enumerate(self.shapes)]

    def join(self, tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the tables as one array."""
        return np.concatenate([np.asarray(table, dtype=np.float64).ravel() for table in tables])

    def pseudo_counts(self, prior: TablePrior) -> NDArray[np.float64]:
        """Return the pseudo-counts of all cells."""
        parts = [
            np.broadcast_to(prior.pseudo_counts(name, shape), shape)
            for name, shape in zip(self.names, self.shapes, strict=True)
        ]
        return self.join(parts)

    def estimate(
        self,
        counts: NDArray[np.float64],
        pseudo: NDArray[np.float64],
        keep: NDArray[np.float64] | None = None,
        touched: Sequence[bool] | None = None,
    ) -> NDArray[np.float64]:
        """Return all tables from counts; those that are not ``touched`` are taken from ``keep``."""
        if keep is None:
            parts = zip(self.split(counts), self.split(pseudo), strict=True)
            return self.join([estimate(n, alpha) for n, alpha in parts])
        out = keep.copy()
        for i, shape in enumerate(self.shapes):
            if touched is None or touched[i]:
                cells = slice(self.offsets[i], self.offsets[i + 1])
                out[cells] = estimate(counts[cells].reshape(shape), pseudo[cells].reshape(shape)).ravel()
        return out
