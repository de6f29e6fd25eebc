"""Tree-augmented naive Bayes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure, find_feature
from bayeskit.counts.families import FamilyCounts, FamilyKind
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.information import (
    class_order,
    edge_cost,
    pair_gain,
    pair_information,
    pair_rows,
    tree_growth,
)
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import a_table_smoothing, one_of
from bayeskit.result import Result

# A parent must be known in this share of the rows in which its child is. The table of the child is counted in the rows
# that know both: of a parent that is known in a few rows, the child would be forgotten in all others.
LEAST_SHARE = 0.25


@dataclass(frozen=True)
class TreeStep(Result):
    """A step of growing the tree: the feature that joined it, by the heaviest edge that led out of it."""

    feature: str
    parent: str | None
    information: float

    def __repr__(self) -> str:
        return f"{self.parent} → {self.feature}  {self.information:.6f}" if self.parent else f"root {self.feature}"


@dataclass(eq=False, repr=False)
class TAN(SemiNaive):
    r"""Tree-augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    Each feature but the root has one parent besides the class. The tree is the spanning tree of greatest weight, where
    the weight of a pair is its conditional mutual information given the class,

    .. math:: I(x_i; x_j \mid c) = \sum P(x_i, x_j, c)
              \log \frac{P(x_i, x_j \mid c)}{P(x_i \mid c) P(x_j \mid c)},

    with all margins from the pair's own table, times the share of rows in which both are known: the gain of the edge
    in log-likelihood per row. With ``edges="penalized"`` what the parameters of the edge cost is subtracted, so that a
    table of few rows gets few edges or none, and the model is then naive Bayes. A pair
    without gain has no edge, and no column has a parent that is known in less than a quarter of its own rows; such
    columns are further roots. Probabilities are smoothed by λ as in :class:`ODE`, the information is not. Any split
    into calls of ``partial_fit`` gives the tree of one ``fit`` on all rows, given the bins.

    Parameters
    ----------
    edges : {"all", "penalized"}, default "all"
        "all" is the textbook's tree. "penalized" keeps an edge that gains more than
        :math:`\frac{1}{2N} \sum_c (\log N_c + 1)(S_i^c - 1)(S_j^c - 1)`, with the
        rows :math:`N_c` of class c and the number :math:`S_i^c` of values that column i has there; it predicts
        better on most tables, and ``compare`` and ``bayeskit train`` try it as TAN.
    root : str or int, optional
        The feature without a parent, by name or position; by default, of those with the fewest missing cells, the one
        with the most information about the class. It sets the direction of the edges.
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
    information_ : array of shape (n_features, n_features)
        I(x_i; x_j | c) in nats.
    steps_ : list of TreeStep
        The tree edge by edge, in the order in which it grew.
    structure_, counts_, schema_, classes_
        As in :class:`ODE`.

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), Bayesian network classifiers, Machine Learning 29, section 4.1.

    Examples
    --------
    >>> from bayeskit import TAN, datasets
    >>> model = TAN().fit(datasets.load_tennis(), target="play")
    >>> print(model.structure_)
    outlook     | play
    temperature | play, outlook
    humidity    | play, temperature
    wind        | play, outlook
    >>> forest = TAN(edges="penalized").fit(datasets.load_tennis(), target="play")
    >>> forest.structure_.arcs  # 14 rows do not pay for any edge
    ()
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "smoothing": a_table_smoothing,
        "edges": one_of("all", "penalized"),
        "root": (
            "a feature's name or position, or None",
            lambda value: value is None or (isinstance(value, str | int | np.integer) and not isinstance(value, bool)),
        ),
    }

    _compared_as: ClassVar[dict[str, dict[str, Any]]] = {"TAN": {"edges": "penalized"}}
    _counted_subsets = "pairs"

    root: Any = None
    _: KW_ONLY
    edges: str = "all"

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled) -> FamilyKind:
        self._root(alone.schema.names)
        return "pairs"

    def _check(self, counts: FamilyCounts) -> None:
        super()._check(counts)
        self._root(counts.schema.names)

    def _root(self, names: tuple[str, ...]) -> int | None:
        return None if self.root is None else find_feature(self.root, names, "root")

    def _growth(self, counts: FamilyCounts) -> list[tuple[int, int]]:
        """Return each feature with its parent, in the order in which the tree takes them; −1 is no parent."""
        names, rows = counts.schema.names, pair_rows(counts)
        known = np.flatnonzero(np.diag(rows))
        if not len(known):
            return []
        together, root = rows[np.ix_(known, known)], self._root(names)
        if root not in known:  # by default the most informative of the columns that are known in most rows
            widest = known[np.diag(together) == np.diag(together).max()]
            root = next(j for j in class_order(counts) if j in widest)
        start = int(np.flatnonzero(known == root)[0])
        gain = pair_gain(counts) - (edge_cost(counts) if self.edges == "penalized" else 0.0)
        gain = np.where(together >= LEAST_SHARE * np.diag(together), gain[np.ix_(known, known)], 0.0)
        places = [*known.tolist(), -1]
        return [(places[j], places[parent]) for j, parent in tree_growth(gain, start)]

    def _structure(self, counts: FamilyCounts) -> Structure:
        names = counts.schema.names
        parents: list[tuple[int, ...]] = [()] * len(names)
        for j, parent in self._growth(counts):
            parents[j] = () if parent < 0 else (parent,)
        return Structure(names, tuple(parents))

    @property
    def steps_(self) -> list[TreeStep]:
        """The tree edge by edge: each feature as it joined, its parent, and I(x_i; x_j | c) of the edge."""
        self._refuse_unfitted()
        model = self._now()  # by the settings that it was fitted with
        information, names = model.information_, model.counts_.schema.names
        return [
            TreeStep(names[j], None, 0.0) if parent < 0 else TreeStep(names[j], names[parent], information[j, parent])
            for j, parent in model._growth(model.counts_)
        ]

    @property
    def information_(self) -> NDArray[np.float64]:
        """I(x_i; x_j | c) of each pair of features, in nats."""
        self._refuse_unfitted()
        return pair_information(self.counts_)
