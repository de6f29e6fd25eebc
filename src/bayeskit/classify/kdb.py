"""k-dependence Bayes: features ordered by their information about the class, each with up to k parents before it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.ode import given_structure
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure
from bayeskit.counts.families import Families, FamilyCounts, FamilyKind, Members
from bayeskit.counts.memory import MemoryLimit
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import class_order, pair_gain
from bayeskit.estimate.prefixes import prefix_losses
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing
from bayeskit.learn.labelled import Labelled, coded_under
from bayeskit.learn.parameters import a_table_smoothing, at_least
from bayeskit.learn.plan import Pass, Plan, counting, summing


@dataclass(eq=False, repr=False)
class KDB(SemiNaive):
    r"""k-dependence Bayesian classifier (Sahami 1996), and its selective form.

    Features are ordered by I(x_i; c), the most informative first. Each takes as parents, besides the class, the up to k
    features before it with the greatest I(x_i; x_j | c). Where cells are missing, each information is weighted by the
    share of rows in which its columns are known. Probabilities are smoothed by λ as in :class:`ODE`.

    With ``selective=True`` every k′ ≤ k and every number of features, in that order, is tried by leave-one-out in one
    pass over the rows, and the pair with the least root mean squared error of P(true class) is kept (selective KDB).

    With k ≤ 1 and without selection any split into calls of ``partial_fit`` gives the structure of one ``fit``;
    otherwise the first call fixes it, and says so.

    Parameters
    ----------
    k : int, default 1
        The largest number of parents of a feature besides the class; 0 is naive Bayes.
    selective : bool, default False
        Choose k′ ≤ k and the number of features by leave-one-out.
    smoothing : float, "back-off", Lidstone, MEstimate or BackOff, default 0.25
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
    selection_ : array of shape (k + 1, n_features + 1) or None
        The leave-one-out RMSE of each k′ and number of features, if ``selective=True``.
    structure_, counts_, schema_, classes_
        As in :class:`ODE`.

    References
    ----------
    Sahami (1996), Learning limited dependence Bayesian classifiers, KDD, section 3.
    Martínez, Webb, Chen & Zaidi (2016), Scalable learning of Bayesian network classifiers, JMLR 17.

    Examples
    --------
    >>> from bayeskit import KDB, datasets
    >>> model = KDB(k=2).fit(datasets.load_tennis(), target="play")
    >>> print(model.structure_)
    outlook     | play
    temperature | play, outlook, humidity
    humidity    | play, outlook
    wind        | play, outlook, humidity
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "smoothing": a_table_smoothing,
        "k": at_least(0, whole=True),
        "selective": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    }

    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"KDB": {}}

    k: int = 1
    _: KW_ONLY
    selective: bool = False

    def _refuse_together(self) -> None:
        if self.selective and not isinstance(as_smoothing(self.smoothing), SymmetricSmoothing):
            raise BayeskitError(
                f"selective=True tries all structures with one λ; smoothing={self.smoothing!r} needs selective=False."
            )

    @property
    def _learned_anew(self) -> bool:
        # All pairs are counted, and every structure with one parent can be read off them again.
        return self.k <= 1 and not self.selective

    @property
    def _counted_subsets(self) -> Literal["pairs"] | None:  # type: ignore[override]
        return "pairs" if self._learned_anew else None

    @property
    def _frozen(self) -> str | None:  # type: ignore[override]
        return None if self._learned_anew else "the structure"

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled) -> FamilyKind | FamilyCounts:
        if self._learned_anew:
            return "pairs"
        # Nothing is made of the pairs but the structure.
        pairs = FamilyCounts.of(alone, columns, rows.y, "pairs", rows.weight, MemoryLimit(self._limit.most))
        if not self.selective:
            return pairs.extend(columns, rows.y, kdb_structure(pairs, self.k).families, rows.weight, self._limit)
        return self._select(pairs, columns, rows.y, rows.weight)

    def _passes(self, plan: Plan) -> Generator[Pass, Any, FamilyCounts]:
        pairs = (yield counting(plan.with_families("pairs"))).counts
        if self._learned_anew:
            return pairs  # type: ignore[no-any-return]
        if not self.selective:
            families = kdb_structure(pairs, self.k).families
            return (yield counting(plan.with_families(families, pairs))).counts  # type: ignore[no-any-return]
        families, before, end = kdb_tree(class_order(pairs), pair_gain(pairs), self.k)
        counts = (yield counting(plan.with_families(families, pairs))).counts
        losses = yield summing(plan, _PrefixLosses(counts, before, self.smoothing, self.unseen == "smooth"))
        return self._best(counts, families, end, losses)

    def _select(self, pairs: FamilyCounts, columns: list[NDArray[Any]], y: Any, weight: Any) -> FamilyCounts:
        families, before, end = kdb_tree(class_order(pairs), pair_gain(pairs), self.k)
        counts = pairs.extend(columns, y, families, weight, self._limit)
        smooth = self.unseen == "smooth"
        losses = prefix_losses(counts, before, self.smoothing, columns, y, weight, smooth=smooth)
        return self._best(counts, families, end, losses)

    def _best(
        self, counts: FamilyCounts, families: Families, end: NDArray[np.int64], losses: NDArray[np.float64]
    ) -> FamilyCounts:
        rmse = np.sqrt(losses[end + 1] / float(counts.n_class.sum()))
        # Rounded, so that a tie goes to the smaller model and not to the last bit.
        best_k, n_features = np.unravel_index(np.round(rmse, 12).argmin(), rmse.shape)
        return counts.keep(tuple(families[f] for f in end[best_k, 1 : n_features + 1]), rmse)

    def _check(self, counts: FamilyCounts) -> None:
        super()._check(counts)
        if counts.kind != "given" and not self._learned_anew:
            raise BayeskitError(
                f"k={self.k} with selective={self.selective} does not fit the counts of this model; call fit again."
            )

    def _structure(self, counts: FamilyCounts) -> Structure:
        if counts.kind == "given":
            return given_structure(counts)
        return kdb_structure(counts, self.k)

    @property
    def selection_(self) -> NDArray[np.float64] | None:
        """The leave-one-out RMSE of each k′ (rows) and number of features (columns), if ``selective=True``."""
        return self.counts_.chosen_by  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _PrefixLosses:
    """The losses of the rows of a batch, under counts of all rows."""

    counts: FamilyCounts
    before: list[int]
    smoothing: Any
    smooth: bool

    def __call__(self, rows: Labelled) -> NDArray[np.float64]:
        columns, y = coded_under(rows, self.counts)
        given = (self.counts, self.before, self.smoothing, columns, y, rows.weight)
        return prefix_losses(*given, smooth=self.smooth)


def kdb_families(order: list[int], information: NDArray[np.float64], k: int) -> Families:
    """Return each feature's family in the given order: up to k parents before it, the most informative."""
    return tuple((*sorted(ranked_parents(order, place, information)[:k]), j) for place, j in enumerate(order))


def ranked_parents(order: list[int], place: int, information: NDArray[np.float64]) -> list[int]:
    """Return the features before a position, the most informative about the feature there first, ties by position."""
    return sorted(order[:place], key=lambda i: (-information[i, order[place]], i))


def kdb_tree(
    order: list[int], information: NDArray[np.float64], k: int
) -> tuple[Families, list[int], NDArray[np.int64]]:
    """Return the families of every k′ ≤ k as one tree, since features with few predecessors share families.

    Returns
    -------
    families : tuple of tuples
        Each family once.
    before : list of int
        The position of the family before each one, −1 for the first.
    end : int64 array of shape (k + 1, n_features + 1)
        The last family of each k′ and number of features, −1 where there is none.

    Examples
    --------
    >>> families, before, end = kdb_tree([2, 0, 1], np.ones((3, 3)), k=2)
    >>> families
    ((2,), (0,), (2, 0), (1,), (0, 1), (0, 2, 1))
    >>> before
    [-1, 0, 0, 1, 2, 2]
    >>> end
    array([[-1,  0,  1,  3],
           [-1,  0,  2,  4],
           [-1,  0,  2,  5]])
    """
    families: list[Members] = []
    before: list[int] = []
    end = np.full((k + 1, len(order) + 1), -1, dtype=np.int64)
    for place, j in enumerate(order):
        ranked = ranked_parents(order, place, information)
        for n_parents in range(min(k, place) + 1):
            end[n_parents:, place + 1] = len(families)
            before.append(int(end[n_parents, place]))
            families.append((*sorted(ranked[:n_parents]), j))
    return tuple(families), before, end


def kdb_structure(counts: FamilyCounts, k: int) -> Structure:
    """Return the structure that Sahami's rule gives for the counts of all pairs."""
    parents: list[tuple[int, ...]] = [()] * len(counts.schema)
    for members in kdb_families(class_order(counts), pair_gain(counts), k):
        parents[members[-1]] = members[:-1]
    return Structure(counts.schema.names, tuple(parents))
