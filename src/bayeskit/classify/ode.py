"""One-dependence estimators: each feature has at most one parent besides the class, given by the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from bayeskit.classify.semi_naive import SemiNaive
from bayeskit.classify.structure import Structure, find_feature
from bayeskit.counts.families import Families, FamilyCounts
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.parameters import a_table_smoothing
from bayeskit.learn.plan import Plan


@dataclass(eq=False, repr=False)
class ODE(SemiNaive):
    r"""One-dependence estimator with a given structure.

    .. math:: P(c \mid x) \propto P(c) \prod_j P(x_j \mid c, x_{pa(j)}), \quad
              P(x_j \mid c, u) = \frac{|D_{c,u,x_j}| + λ}{|D_{c,u,\,x_j\ known}| + λ S_j}

    A missing cell is summed out at prediction; at training the tables that need the cell skip the row (the
    available-case estimate).

    Parameters
    ----------
    parents : dict, optional
        Feature → its parent, by name or position. A feature that is not named has the class as its only parent.
    smoothing : float, "back-off", Lidstone, MEstimate or BackOff, default 0.25
        A number is λ: 0 is maximum likelihood, 1 is Laplace. ``MEstimate(m)`` adds m rows to each distribution, however
        many values it has. ``"back-off"`` smooths each table towards the one with one parent fewer, with a
        strength chosen by leave-one-out (:class:`BackOff`). The default did best on average over 51 public tables
        (benchmarks/ACCURACY.md).
    numeric : {"mdl", "equal-width", "equal-frequency"}, default "mdl"
        How numeric columns are binned. Edges are learned by ``fit`` or the first ``partial_fit``, then kept.
    bins : int, default 10
        The largest number of bins; "mdl" chooses the number itself.
    unseen : {"ignore", "error", "smooth"}, default "ignore"
        A value at prediction that was not seen in fit: treat it as missing, raise an error, or keep one more slot for
        it in every table (S_j + 1 in every denominator).
    impossible : {"error", "prior"}, default "error"
        A row that has probability 0 under every class (possible with λ = 0): raise an error that names the row, or
        predict the prior.
    kinds : dict or str, optional
        The kind of a column, by name or position, where the dtype does not decide it: "numeric", or a word of
        :func:`bayeskit.kinds.words` whose kind is counted by value. A single kind applies to all columns.
    prior : {"smoothed", "data", "uniform"}, array or dict, default "smoothed"
        P(c): smoothed by λ, relative frequencies, uniform, or given (a dict maps class to probability).
    class_weight : dict or "balanced", optional
        The weight of each class. The structure is learned from unweighted counts; the weights apply when they become
        probabilities.
    max_memory : number of bytes or str, default "4 GiB"
        The largest memory for the counts and the tables made from them; more is an error, raised before any counting,
        that names the sizes.

    Attributes
    ----------
    structure_ : Structure
        The parents of each feature; prints, and gives DOT text by ``to_dot()``.
    counts_, schema_, classes_ : FamilyCounts, Schema, array
        The sufficient statistics, which add and subtract; the columns; the class labels.

    Examples
    --------
    >>> from bayeskit import ODE, datasets
    >>> model = ODE(parents={"humidity": "outlook"}).fit(datasets.load_tennis(), target="play")
    >>> print(model.structure_)
    outlook     | play
    temperature | play
    humidity    | play, outlook
    wind        | play
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **SemiNaive._rules,
        "smoothing": a_table_smoothing,
        "parents": ("a dict of feature to parent, or None", lambda value: value is None or isinstance(value, Mapping)),
    }

    parents: Any = None

    def _families(self, alone: TableCounts, columns: list[NDArray[Any]], rows: Labelled) -> Families:
        return self._given_families(alone.schema.names)

    def _families_of_scan(self, plan: Plan) -> Families:
        return self._given_families(plan.schema.names)

    def _given_families(self, names: tuple[str, ...]) -> Families:
        parents: list[tuple[int, ...]] = [()] * len(names)
        for child, parent in (self.parents or {}).items():
            j = find_feature(child, names, "a key of parents")
            if parent is None:
                continue
            if isinstance(parent, list | tuple | set):
                raise BayeskitError(
                    f"the parent of '{names[j]}' is {parent!r}; a one-dependence estimator has one parent per feature. "
                    "KDB learns structures with more."
                )
            i = find_feature(parent, names, f"the parent of '{names[j]}'")
            parents[j] = (i,)
        return Structure(names, tuple(parents)).families

    def _structure(self, counts: FamilyCounts) -> Structure:
        return given_structure(counts)


def given_structure(counts: FamilyCounts) -> Structure:
    """Read the structure off the families that were counted; a parent that never had a value is left out."""
    parents: list[tuple[int, ...] | None] = [None] * len(counts.schema)
    for members in counts.families:
        known = all(counts.schema[j].n_values for j in members[:-1])
        parents[members[-1]] = members[:-1] if known else ()
    return Structure(counts.schema.names, tuple(parents))
