"""Super-parent one-dependence estimator: one feature is a parent of all others."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.ode import given_structure
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure, find_feature
from bayeskit.counts.families import Families, FamilyCounts
from bayeskit.counts.memory import MemoryLimit
from bayeskit.counts.table import TableCounts
from bayeskit.errors import TableError
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.estimate.super_parent import super_parent_losses
from bayeskit.learn.labelled import Labelled, coded_under
from bayeskit.learn.plan import Pass, Plan, counting, summing


@dataclass(eq=False, repr=False)
class SPODE(SemiNaive):
    r"""Super-parent one-dependence estimator (SPODE).

    .. math:: P(c \mid x) \propto P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i), \quad
              P(c, x_i) = \frac{|D_{c,x_i}| + λ}{N_i + λ K S_i}, \quad
              P(x_j \mid c, x_i) = \frac{|D_{c,x_i,x_j}| + λ}{|D_{c,x_i,\,x_j\ known}| + λ S_j}

    N_i is the number of rows in which the super-parent x_i is known.

    Parameters
    ----------
    super_parent : str, int or "best", default "best"
        The feature that is a parent of all others, by name or position; "best" is the first feature with the lowest
        :meth:`leave_one_out` error, and of those the lowest log-loss (``class_weight`` plays no part in the choice).
        A feature whose name is "best" is given by position.
    smoothing : float, Lidstone or MEstimate, default 0.25
        λ, as in :class:`ODE`, where ``numeric``, ``bins``, ``unseen``, ``impossible``, ``kinds`` and ``max_memory``
        are described too.
    numeric : {"mdl", "equal-width", "equal-frequency"}, default "mdl"
        How numeric columns are binned.
    bins : int, default 10
        The largest number of bins; "mdl" chooses the number itself.
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        How to treat a value that was not seen in fit.
    impossible : {"error", "prior"}, default "error"
        How to treat a row that has probability 0 under every class.
    kinds : dict or str, optional
        The kind of a column, where the dtype does not decide it.
    prior : {"smoothed", "data", "uniform"}, array or dict, default "smoothed"
        P(c), as in :class:`ODE`.
    class_weight : dict or "balanced", optional
        The weight of each class, as in :class:`ODE`.
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the counts.

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

    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"SPODE": {}}

    super_parent: Any = "best"

    @property
    def _frozen(self) -> str | None:  # type: ignore[override]
        return "the super-parent" if self.super_parent == "best" else None

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled) -> Families | FamilyCounts:
        names = alone.schema.names
        if self.super_parent != "best":
            return spode_families(len(names), find_feature(self.super_parent, names, "super_parent"))
        pairs = FamilyCounts.of(alone, columns, rows.y, "pairs", rows.weight, MemoryLimit(self._limit.most))
        settings = {"smooth": self.unseen == "smooth", "prior": self.prior}
        losses = super_parent_losses(pairs, self.smoothing, columns, rows.y, rows.weight, **settings)
        return _best(pairs, losses)

    def _passes(self, plan: Plan) -> Generator[Pass, Any, FamilyCounts]:
        names = plan.schema.names
        if self.super_parent != "best":
            families = spode_families(len(names), find_feature(self.super_parent, names, "super_parent"))
            return (yield counting(plan.with_families(families))).counts  # type: ignore[no-any-return]
        pairs = (yield counting(plan.with_families("pairs"))).counts
        losses = _Losses(pairs, self.smoothing, self.unseen == "smooth", self.prior)
        return _best(pairs, (yield summing(plan, losses)))

    def _structure(self, counts: FamilyCounts) -> Structure:
        return given_structure(counts)

    def _believe(self, counts: FamilyCounts) -> FamilyBeliefs:
        # A super-parent that has no value yet is no parent; its own family comes first in any case.
        first = counts.families[0][-1]
        super_parent = first if counts.schema[first].n_values else -1
        families = self._structure(counts).families
        smooth = self.unseen == "smooth"
        return FamilyBeliefs(self._weighted(counts), families, self.smoothing, smooth, super_parent, self.prior)

    @property
    def super_parent_(self) -> str:
        """The super-parent's name."""
        counts = self.counts_
        return str(counts.schema.names[counts.families[0][-1]])


@dataclass(frozen=True)
class _Losses:
    """The losses of the rows of a batch with each super-parent, under counts of all rows."""

    pairs: FamilyCounts
    smoothing: float | SymmetricSmoothing
    smooth: bool
    prior: Any

    def __call__(self, rows: Labelled) -> NDArray[np.float64]:
        columns, y = coded_under(rows, self.pairs)
        return super_parent_losses(
            self.pairs, self.smoothing, columns, y, rows.weight, smooth=self.smooth, prior=self.prior
        )


def _best(pairs: FamilyCounts, losses: NDArray[np.float64]) -> FamilyCounts:
    candidates = [j for j, variable in enumerate(pairs.schema) if variable.n_values]
    if not candidates:
        raise TableError("no column has a value in any row, so none can be the super-parent.")
    # Rounded, so that of columns that are equally good the first is taken, in whichever order the losses were added.
    per_row = np.round(losses / pairs.n_class.sum(), 12)
    best = min(candidates, key=lambda i: (per_row[i, 0], per_row[i, 1]))
    return pairs.keep(spode_families(len(pairs.schema), best))


def spode_families(n_features: int, super_parent: int) -> Families:
    """Return the families of a SPODE, the super-parent's first.

    >>> spode_families(3, 1)
    ((1,), (1, 0), (1, 2))
    """
    return ((super_parent,), *((super_parent, j) for j in range(n_features) if j != super_parent))
