"""Tree-augmented naive Bayes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import conditional_information, n_threads
from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure, find_feature
from bayeskit.counts.families import FamilyCounts, Kind, sizes_of
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.information import maximum_spanning_tree


class TAN(SemiNaive):
    r"""Tree-augmented naive Bayes (Friedman, Geiger & Goldszmidt 1997).

    Each feature but the root has one parent besides the class. The tree is the spanning tree of greatest weight, where
    the weight of a pair is its conditional mutual information given the class,

    .. math:: I(x_i; x_j \mid c) = \sum P(x_i, x_j, c)
              \log \frac{P(x_i, x_j \mid c)}{P(x_i \mid c) P(x_j \mid c)},

    with all margins from the pair's own table, times the share of rows in which both are known: what the edge adds to
    the log-likelihood per row. Probabilities are smoothed by λ as in :class:`ODE`, the information is
    not. Any split into calls of ``partial_fit`` gives the tree of one ``fit`` on all rows, given the bins.

    Parameters
    ----------
    root : str or int, optional
        The feature without a parent, by name or position; by default the first. It sets the direction of the edges.
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
    information_ : array of shape (n_features, n_features)
        I(x_i; x_j | c) in nats.
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
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "root": (
            "a feature's name or position, or None",
            lambda value: value is None or (isinstance(value, str | int | np.integer) and not isinstance(value, bool)),
        ),
    }

    def __init__(
        self,
        root: Any = None,
        *,
        smoothing: float = 0.25,
        numeric: str = "mdl",
        bins: int = 10,
        unseen: str = "ignore",
        impossible: str = "error",
        kinds: Any = None,
        max_memory: float = 4.0,
    ) -> None:
        self.root = root
        self.smoothing = smoothing
        self.numeric = numeric
        self.bins = bins
        self.unseen = unseen
        self.impossible = impossible
        self.kinds = kinds
        self.max_memory = max_memory

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], y: Any, weight: Any) -> Kind:
        self._root(alone.schema.names)
        return "pairs"

    def _root(self, names: tuple[str, ...]) -> int:
        return 0 if self.root is None else find_feature(self.root, names, "root")

    def _structure(self, counts: FamilyCounts) -> Structure:
        names = counts.schema.names
        known = [j for j, size in enumerate(sizes_of(counts.schema)) if size]
        parents: list[tuple[int, ...]] = [()] * len(names)
        root = self._root(names)
        if known:
            weight = pair_gain(counts)[np.ix_(known, known)]
            tree = maximum_spanning_tree(weight, known.index(root) if root in known else 0)
            for j, parent in zip(known, tree.tolist(), strict=True):
                parents[j] = () if parent < 0 else (known[parent],)
        return Structure(names, tuple(parents))

    @property
    def information_(self) -> NDArray[np.float64]:
        """I(x_i; x_j | c) of each pair of features, in nats."""
        self._refuse_unfitted()
        return pair_information(self.counts_)


def pair_information(counts: FamilyCounts) -> NDArray[np.float64]:
    """Return the conditional mutual information of all pairs given the class, of shape (n_features, n_features)."""
    return _information(counts, 0.0)


def pair_gain(counts: FamilyCounts) -> NDArray[np.float64]:
    """Return what an edge between two features adds to the log-likelihood per row: I(x_i; x_j | c) times known share.

    Without missing cells this is the information itself. With them, a pair that few rows know cannot outweigh a pair
    that all rows know by the chance patterns of its few rows.
    """
    return _information(counts, float(counts.n_class.sum()))


def _information(counts: FamilyCounts, all_rows: float) -> NDArray[np.float64]:
    cells = np.ascontiguousarray(counts.pairs)
    threads = n_threads(8 * len(cells))
    return conditional_information(cells, sizes_of(counts.schema), len(counts.classes), all_rows, threads)
