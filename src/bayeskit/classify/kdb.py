"""k-dependence Bayes: features in order of what they tell of the class, each with up to k parents before it."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.ode import given_structure
from bayeskit.classify.parameters import at_least
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure
from bayeskit.classify.tan import pair_gain
from bayeskit.counts.families import Families, FamilyCounts, Kind, Members, sizes_of
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import mutual_information
from bayeskit.estimate.prefixes import prefix_losses
from bayeskit.io.expect import expect_array


class KDB(SemiNaive):
    r"""k-dependence Bayesian classifier (Sahami 1996), and its selective form.

    Features are ordered by I(x_i; c), the most telling first. Each takes as parents, besides the class, the up to k
    features before it with the greatest I(x_i; x_j | c). Where cells are missing, each information counts by the share
    of rows in which its columns are known. Probabilities are smoothed by λ as in :class:`ODE`.

    With ``select=True`` every k′ ≤ k and every number of features, in that order, is tried by leave-one-out in one
    pass over the rows, and the pair with the least root mean squared error of P(true class) is kept (selective KDB).

    With k ≤ 1 and without selection any split into calls of ``partial_fit`` gives the structure of one ``fit``;
    otherwise the first call fixes it, and says so.

    Parameters
    ----------
    k : int, default 1
        The most parents a feature may have besides the class; 0 is naive Bayes.
    select : bool, default False
        Choose k′ ≤ k and the number of features by leave-one-out.
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
    selection_ : array of shape (k + 1, n_features + 1) or None
        The leave-one-out RMSE of each k′ and number of features, where ``select`` asked for it in ``fit``.
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
        "k": at_least(0, whole=True),
        "select": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    }

    _selection: NDArray[np.float64] | None = None

    def __init__(
        self,
        k: int = 1,
        *,
        select: bool = False,
        smoothing: float = 0.25,
        numeric: str = "mdl",
        bins: int = 10,
        unseen: str = "ignore",
        impossible: str = "error",
        kinds: Any = None,
        max_memory: float = 4.0,
    ) -> None:
        self.k = k
        self.select = select
        self.smoothing = smoothing
        self.numeric = numeric
        self.bins = bins
        self.unseen = unseen
        self.impossible = impossible
        self.kinds = kinds
        self.max_memory = max_memory

    @property
    def _learned_anew(self) -> bool:
        # All pairs are counted, and every structure with one parent can be read off them again.
        return self.k <= 1 and not self.select

    @property
    def _frozen(self) -> str | None:  # type: ignore[override]
        return None if self._learned_anew else "the structure"

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], y: Any, weight: Any) -> Kind | FamilyCounts:
        if self._learned_anew:
            self._selection = None
            return "pairs"
        pairs = FamilyCounts.of(alone, columns, y, "pairs", weight, self._limit)
        if not self.select:
            counts = pairs.extend(columns, y, kdb_structure(pairs, self.k).families, weight, self._limit)
            self._selection = None
            return counts
        return self._select(pairs, columns, y, weight)

    def _select(self, pairs: FamilyCounts, columns: list[NDArray[Any]], y: Any, weight: Any) -> FamilyCounts:
        families, before, end = kdb_tree(class_order(pairs), pair_gain(pairs), self.k)
        counts = pairs.extend(columns, y, families, weight, self._limit)
        losses = prefix_losses(counts, before, self.smoothing, columns, y, weight)
        rmse = np.sqrt(losses[end + 1] / float(pairs.n_class.sum()))
        # Rounded, so that a tie goes to the smaller model and not to the last bit.
        best_k, n_features = np.unravel_index(np.round(rmse, 12).argmin(), rmse.shape)
        self._selection = rmse
        return counts.keep(tuple(families[f] for f in end[best_k, 1 : n_features + 1]))

    def _structure(self, counts: FamilyCounts) -> Structure:
        if counts.kind == "given":
            return given_structure(counts)
        if not self._learned_anew:
            raise BayeskitError(
                f"k={self.k} with select={self.select} does not fit the counts of this model; call fit again."
            )
        return kdb_structure(counts, self.k)

    @property
    def selection_(self) -> NDArray[np.float64] | None:
        """The leave-one-out RMSE of each k′ (rows) and number of features (columns), where it was asked for."""
        self._refuse_unfitted()
        return self._selection

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = super()._to_file()
        return meta, arrays if self._selection is None else {**arrays, "selection": self._selection}

    @classmethod
    def _from_file(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        model = super()._from_file(meta, arrays)
        if "selection" in arrays:
            model._selection = expect_array(arrays, "selection", np.float64, (None, None))
        return model


def class_order(counts: FamilyCounts) -> list[int]:
    """Return the features that have values, the one that tells most of the class first, ties by position.

    What a feature tells is I(x_i; c) times the share of rows in which it is known.
    """
    known = [j for j, size in enumerate(sizes_of(counts.schema)) if size]
    information = {j: mutual_information(counts.column(j)) * float(counts.column(j).sum()) for j in known}
    return sorted(known, key=lambda j: (-information[j], j))


def kdb_families(order: list[int], information: NDArray[np.float64], k: int) -> Families:
    """Return each feature's family in the given order: up to k parents before it, the most informative."""
    return tuple((*sorted(ranked_parents(order, place, information)[:k]), j) for place, j in enumerate(order))


def ranked_parents(order: list[int], place: int, information: NDArray[np.float64]) -> list[int]:
    """Return the features before a place, those that tell most of the feature there first, ties by position."""
    return sorted(order[:place], key=lambda i: (-information[i, order[place]], i))


def kdb_tree(
    order: list[int], information: NDArray[np.float64], k: int
) -> tuple[Families, list[int], NDArray[np.int64]]:
    """Return the families of every k′ ≤ k as one tree, since a feature with few before it has the same ones for many.

    Returns
    -------
    families : tuple of tuples
        Each family once.
    before : list of int
        The position of the family that each stands behind, −1 for the first.
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
