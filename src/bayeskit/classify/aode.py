"""Averaged one-dependence estimators, and their order two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.as_network import family_network
from bayeskit.classify.pair_network import pair_networks
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.spode import spode_families
from bayeskit.classify.structure import AveragedStructure, Structure
from bayeskit.counts.families import FamilyCounts, FamilyKind, sizes_of
from bayeskit.counts.memory import table_cells
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.averaged import AverageBeliefs, parent_joint
from bayeskit.estimate.averaged_back_off import BackOffAverage
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.sample_codes import sample_averaged, sample_members
from bayeskit.estimate.smoothing import BackOff, as_smoothing
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import a_table_smoothing, at_least

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


@dataclass(eq=False, repr=False)
class AODE(SemiNaive):
    r"""Averaged one-dependence estimators (Webb, Boughton & Wang 2005); ``n_parents=2`` is A2DE.

    .. math:: P(c, x) = \frac{1}{|U|} \sum_{i \in U} P(c, x_i) \prod_{j \ne i} P(x_j \mid c, x_i), \quad
              P(c, x_i) = \frac{|D_{c,x_i}| + λ}{N_i + λ K S_i}, \quad
              P(x_j \mid c, x_i) = \frac{|D_{c,x_i,x_j}| + λ}{|D_{c,x_i,\,x_j\ known}| + λ S_j}

    U are the super-parents whose value has at least ``min_rows`` rows in the fit, N_i is the number of rows in which
    x_i is known, and the joint P(c, x_i) is smoothed as a whole (not as P(c) P(x_i | c)). Where no super-parent
    qualifies, the next lower order is used, and finally naive Bayes.

    A missing cell is summed out of each SPODE, exactly: a super-parent that is missing takes part, summed over its
    values, whatever ``min_rows`` is; one that is missing in all training rows is left out where λ = 0. With
    ``min_rows=0`` the answer is therefore the exact sum over all values of the missing cells. With a larger m′ a
    row in which the cell is known may leave some super-parents out, so the mean is over other ones, and the sum over
    the cell's values is only approximately the result with the cell missing; :func:`value_of_information` is then
    approximate too. Rows are drawn (:meth:`sample_columns`, :func:`bayes_risk`) from the mean of all SPODEs. That is
    P(x) where every value has at least ``min_rows`` rows: with the default, always except for declared levels without
    rows. With a larger m′ the rows, and the risk estimated from them, are those of ``min_rows=0``.

    Parameters
    ----------
    min_rows : float, default 1
        m′, the number of rows that a super-parent's value must have.
    n_parents : {1, 2}, default 1
        The number of features in a super-parent.
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
        P(c): that of the smoothed joint P(c, x_i) above; or another one that takes its place in each SPODE,
        P(c) P(x_i | c), as in :class:`SPODE`.
    class_weight : dict or "balanced", optional
        The weight of each class, as in :class:`ODE`; ``min_rows`` then counts the weights.
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the counts and the tables made from them, or for the networks of ``n_parents=2``.


    Attributes
    ----------
    structure_ : AveragedStructure
        The structures that are averaged.
    counts_, schema_, classes_
        As in :class:`ODE`.

    References
    ----------
    Webb, Boughton & Wang (2005), Not so naive Bayes: aggregating one-dependence estimators, Machine Learning 58.
    Webb, Boughton, Zheng, Ting & Salem (2012), Learning by extrapolation from marginal to full-multivariate
    probability distributions: decreasingly naive Bayesian classification, Machine Learning 86.

    Examples
    --------
    >>> from bayeskit import AODE, datasets
    >>> model = AODE().fit(datasets.load_tennis(), target="play")
    >>> day = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "wind": [None]}
    >>> model.predict(day)
    array(['no'], dtype=object)
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "smoothing": a_table_smoothing,
        "min_rows": at_least(0),
        "n_parents": ("1 or 2", lambda value: value in (1, 2) and not isinstance(value, bool)),
    }

    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"AODE": {}, "A2DE": {"n_parents": 2}}

    @property
    def _title(self) -> str:
        return "A2DE" if self.n_parents == 2 else "AODE"

    min_rows: float = 1
    n_parents: int = 1

    @property
    def _counted_subsets(self) -> Literal["pairs", "triples"]:  # type: ignore[override]
        return "pairs" if self.n_parents == 1 else "triples"

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled) -> FamilyKind:
        return self._counted_subsets

    def _bytes_made(self, sizes: Sequence[int], n_classes: int, families: str | Sequence[Sequence[int]]) -> float:
        cells = table_cells(sizes, families)[1]
        weights = cells * n_classes * 8.0 if self.class_weight is not None else 0.0
        # Of each cell of the super-parents a mantissa and an exponent, and as much again where rows are left out.
        parents = table_cells(sizes, "pairs")[1] if self.n_parents == 2 else sum(sizes)
        return weights + 32.0 * parents * (-(-n_classes // 4) * 4)

    def _check(self, counts: FamilyCounts) -> None:
        super()._check(counts)
        if (counts.kind == "triples") != (self.n_parents == 2):
            raise BayeskitError(f"n_parents={self.n_parents} does not fit the counts of this model; call fit again.")

    def _refuse_together(self) -> None:
        if self.n_parents == 2 and isinstance(as_smoothing(self.smoothing), BackOff):
            raise BayeskitError(f"n_parents=2 takes a λ or an m; smoothing={self.smoothing!r} needs n_parents=1.")

    def _believe(self, counts: FamilyCounts) -> AverageBeliefs | BackOffAverage:
        counts, smooth, smoothing = self._weighted(counts), self.unseen == "smooth", as_smoothing(self.smoothing)
        if isinstance(smoothing, BackOff):
            return BackOffAverage(counts, smoothing, self.min_rows, smooth, self.prior)
        return AverageBeliefs(counts, self.smoothing, self.min_rows, smooth, self.prior)

    @property
    def structure_(self) -> AveragedStructure:
        """The structures that are averaged, one for each super-parent."""
        self._refuse_unfitted()
        names = self.schema_.names
        known = [j for j, size in enumerate(sizes_of(self.schema_)) if size]
        if len(known) < self._order:
            return AveragedStructure((Structure(names, ((),) * len(names), self._class_name),))
        members = []
        for parents in combinations(known, self._order):
            rest = {j: parents for j in range(len(names)) if j not in parents}
            within = {j: parents[:k] for k, j in enumerate(parents)}
            both = {**rest, **within}
            members.append(Structure(names, tuple(both[j] for j in range(len(names))), self._class_name))
        return AveragedStructure(tuple(members))

    @property
    def _order(self) -> int:
        return 2 if self.counts_.kind == "triples" else 1

    @property
    def tables_(self) -> dict[str, NamedTable]:
        """P(x_i, c) of each feature, the joint that its SPODE starts from."""
        self._refuse_unfitted()
        smoothing, classes, tables = as_smoothing(self._believed_with["smoothing"]), tuple(self.classes_.tolist()), {}
        smooth, counts = self._believed_with["unseen"] == "smooth", self._beliefs.counts
        for j, variable in enumerate(self.schema_):
            n = counts.column(j)
            if variable.n_values:
                if smooth:
                    n = np.vstack([n, np.zeros_like(n[:1])])
                if isinstance(self._beliefs, BackOffAverage):
                    member = self._beliefs.members[j]
                    joint = np.exp(member.log_prior + member.log_tables[0])
                else:
                    joint = parent_joint(n, smoothing, self._beliefs.prior, self.classes_)
                title = f"P({variable.name}, {self._class_name})"
                tables[variable.name] = NamedTable(title, (*variable.values, *("(unseen)",) * smooth), classes, joint)
        return tables

    @property
    def n_parameters_(self) -> int:
        r"""The number of free parameters, of the tables P(c, x_i, x_j …) that share their margins.

        .. math:: (K - 1) + K \sum_i (S_i - 1) + K \sum_{i < j} (S_i - 1)(S_j - 1)

        With ``n_parents=2`` the triples come in likewise. Where P(c) is given, the first term is 0.
        """
        self._refuse_unfitted()
        free = [size - 1 for size in sizes_of(self.schema_) if size]
        # With fewer columns than an order needs, the next lower order answers.
        subsets = chain.from_iterable(combinations(free, size) for size in range(1, self._order + 2))
        n_classes, prior = len(self.classes_), self._believed_with["prior"]
        learned = isinstance(prior, str) and prior != "uniform"
        return (n_classes - 1 if learned else 0) + n_classes * sum(map(prod, subsets))

    def _sample_codes(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        if isinstance(self._beliefs, BackOffAverage):
            return sample_members(list(self._beliefs.members.values()), n_rows, rng)
        believed = self._believed_with
        return sample_averaged(self._beliefs.counts, believed["smoothing"], believed["prior"], n_rows, rng)

    def _columns_used(self) -> list[int]:
        return list(range(len(self.schema_)))

    def to_network(self) -> BayesianNetwork:
        """Raise an error: an average of networks is not a network; `to_networks` returns them."""
        raise BayeskitError("AODE is the mean of several networks; to_networks() returns them.")

    def to_networks(self) -> list[BayesianNetwork]:
        """Return one network per super-parent; the mean of their joint probabilities is the model's.

        A super-parent is one feature, or with ``n_parents=2`` a pair: d (d − 1) / 2 networks, an error where they need
        more than ``max_memory``. ``min_rows`` decides which of them are averaged for a row; with 0 all of them.
        """
        self._refuse_unfitted()
        n_features, smooth = len(self.schema_), self._believed_with["unseen"] == "smooth"
        smoothing, prior = self._believed_with["smoothing"], self._believed_with["prior"]
        known = [j for j, size in enumerate(sizes_of(self.schema_)) if size]
        if self._order == 2 and len(known) > 1:
            return pair_networks(self._beliefs.counts, smoothing, smooth, self._class_name, self._limit.most, prior)
        return [
            family_network(
                FamilyBeliefs(self._beliefs.counts, spode_families(n_features, i), smoothing, smooth, i, prior),
                self._class_name,
                self.classes_,
            )
            for i in known
        ]
