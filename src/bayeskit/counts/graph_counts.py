"""Counts for a network in which one variable is the class: families of columns within each class, and the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import Families, FamilyCounts
from bayeskit.counts.memory import MemoryLimit
from bayeskit.counts.table import TableCounts
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_field

# The parents of each column, and last those of the class; the class is the position after the last column.
Parents = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class GraphCounts(FamilyCounts):
    """Family counts that know the graph they were counted for; counts of another graph do not add.

    Each family is counted within each class, so that a table without the class is a sum over the classes, and the
    table of the class is that of its parents.
    """

    parents: Parents = ()

    @classmethod
    def of_graph(
        cls,
        alone: TableCounts,
        columns: list[NDArray[Any]],
        y: NDArray[Any],
        parents: Parents,
        weight: NDArray[np.float64] | None = None,
        limit: float = np.inf,
    ) -> GraphCounts:
        """Count coded columns for a graph; ``limit`` bytes are the most that the tables may take."""
        counts = FamilyCounts.of(alone, columns, y, families_of_graph(parents), weight, MemoryLimit(limit))
        return cls(counts.alone, counts.kind, counts.families, counts.cells, parents=parents)

    def _refuse_other_families(self, other: FamilyCounts) -> None:
        if not isinstance(other, GraphCounts) or self.parents != other.parents:
            raise MergeError(
                "the two sides have different graphs, so their counts do not add; learn the second from the first by "
                "partial_fit, or give both the same network."
            )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = super().to_parts()
        return {**meta, "graph": [list(above) for above in self.parents]}, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> GraphCounts:
        """Read what :meth:`to_parts` gave; the graph must be without a cycle, and the families its own."""
        counts = FamilyCounts.from_parts(meta, arrays)
        n = len(counts.schema) + 1
        graph = expect_field(meta, "graph", list)
        parents = tuple(tuple(above) for above in graph if isinstance(above, list))
        whole = all(type(p) is int and 0 <= p < n for above in parents for p in above)
        if len(parents) != n or not whole or not _is_acyclic(parents):
            raise ModelFileError("the graph of the counts is not one over their columns and the class without a cycle.")
        if counts.kind != "given" or counts.families != families_of_graph(parents):
            raise ModelFileError("the counts are not of the families of their graph.")
        return cls(counts.alone, counts.kind, counts.families, counts.cells, parents=parents)


def families_of_graph(parents: Parents) -> Families:
    """Return the families of two columns or more, each once, in increasing order.

    >>> families_of_graph(((), (0, 3), (0, 1), (0, 1)))
    ((0, 1), (0, 1, 2))
    """
    n = len(parents) - 1
    families = {tuple(sorted({*above, j} - {n})) for j, above in enumerate(parents)}
    return tuple(sorted(members for members in families if len(members) > 1))


def _is_acyclic(parents: Parents) -> bool:
    left = {j: set(above) for j, above in enumerate(parents)}
    while left:
        roots = [j for j, above in left.items() if not above & left.keys()]
        if not roots:
            return False
        for j in roots:
            del left[j]
    return True
