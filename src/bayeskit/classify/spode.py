"""Super-parent one-dependence estimator: one feature is a parent of all others."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.ode import given_structure
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure, find_feature
from bayeskit.counts.families import Families, FamilyCounts
from bayeskit.counts.table import TableCounts
from bayeskit.errors import TableError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.super_parent import super_parent_losses


class SPODE(SemiNaive):
    r"""Super-parent one-dependence estimator (SPODE).

    .. math:: P(c \mid x) \propto P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i), \quad
              P(c, x_i) = \frac{|D_{c,x_i}| + λ}{N_i + λ K S_i}, \quad
              P(x_j \mid c, x_i) = \frac{|D_{c,x_i,x_j}| + λ}{|D_{c,x_i,\,x_j\ known}| + λ S_j}

    N_i is the number of rows in which the super-parent x_i is known.

    Parameters
    ----------
    super_parent : str, int or "best", default "best"
        The feature that is a parent of all others, by name or position; "best" takes the one with the least
        leave-one-out error, then log-loss. A feature whose name is "best" is given by position.
    smoothing : float, default 0.25
        λ, as in :class:`ODE`, where ``numeric``, ``bins``, ``unseen``, ``impossible``, ``kinds`` and ``max_memory``
        are described too.
    numeric : {"mdl", "equal-width", "equal-frequency"}, default "mdl"
        How a column of numbers is cut into bins.
    bins : int, default 10
        How many bins to cut at the most; "mdl" finds the number itself.
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        What a value means that no row of the fit had.
    impossible : {"error", "prior"}, default "error"
        What to do with a row that no class can give.
    kinds : dict or str, optional
        What a column is, where the dtype does not tell.
    max_memory : float, default 4.0
        The most GiB that the counts may take.

    Attributes
    ----------
    super_parent_ : str
        The super-parent's name.
    structure_, counts_, schema_, classes_
        As in :class:`ODE`.

    Examples
    --------
    >>> from bayeskit import SPODE, datasets
    >>> model = SPODE("outlook").fit(datasets.load_tennis(), target="play")
    >>> print(model.structure_)
    outlook     | play
    temperature | play, outlook
    humidity    | play, outlook
    wind        | play, outlook
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "super_parent": (
            "a feature's name or position, or 'best'",
            lambda value: isinstance(value, str | int | np.integer) and not isinstance(value, bool),
        ),
    }

    def __init__(
        self,
        super_parent: Any = "best",
        *,
        smoothing: float = 0.25,
        numeric: str = "mdl",
        bins: int = 10,
        unseen: str = "ignore",
        impossible: str = "error",
        kinds: Any = None,
        max_memory: float = 4.0,
    ) -> None:
        self.super_parent = super_parent
        self.smoothing = smoothing
        self.numeric = numeric
        self.bins = bins
        self.unseen = unseen
        self.impossible = impossible
        self.kinds = kinds
        self.max_memory = max_memory

    @property
    def _frozen(self) -> str | None:  # type: ignore[override]
        return "the super-parent" if self.super_parent == "best" else None

    def _families(
        self, alone: TableCounts, columns: list[NDArray[Any]], y: Any, weight: Any
    ) -> Families | FamilyCounts:
        names = alone.schema.names
        if self.super_parent != "best":
            return spode_families(len(names), find_feature(self.super_parent, names, "super_parent"))
        candidates = [j for j, variable in enumerate(alone.schema) if variable.n_values]
        if not candidates:
            raise TableError("no column has a value in any row, so none can be the super-parent.")
        pairs = FamilyCounts.of(alone, columns, y, "pairs", weight, self._limit)
        losses = super_parent_losses(pairs, self.smoothing, columns, y, weight)
        best = min(candidates, key=lambda i: (losses[i, 0], losses[i, 1]))
        return pairs.keep(spode_families(len(names), best))

    def _structure(self, counts: FamilyCounts) -> Structure:
        return given_structure(counts)

    def _believe(self, counts: FamilyCounts) -> FamilyBeliefs:
        # A super-parent that has no value yet is no parent; its own family comes first in any case.
        first = counts.families[0][-1]
        super_parent = first if counts.schema[first].n_values else -1
        families = self._structure(counts).families
        return FamilyBeliefs(counts, families, self.smoothing, self.unseen == "smooth", super_parent)

    @property
    def super_parent_(self) -> str:
        """The super-parent's name."""
        self._refuse_unfitted()
        return str(self.schema_.names[self.counts_.families[0][-1]])


def spode_families(n_features: int, super_parent: int) -> Families:
    """Return the families of a SPODE, the super-parent's first.

    >>> spode_families(3, 1)
    ((1,), (1, 0), (1, 2))
    """
    return ((super_parent,), *((super_parent, j) for j in range(n_features) if j != super_parent))
