"""Ranked nodes: ordered states as stretches of 0 … 1, and a truncated normal around a weighted mean of the parents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import Distribution, Family, Table
from bayeskit.network.cpd.gaussian import is_number
from bayeskit.network.cpd.table import TableCPD, check_size
from bayeskit.network.cpd.written_form import WrittenForm, both

# Beyond it a row is even to seven digits, and differences of the normal lose theirs.
MOST_VARIANCE = 1e6
Function = Literal["mean", "min", "max", "mixminmax"]


class Ranked(WrittenForm):
    r"""A ranked node: states in order ("low", "medium", "high"), drawn towards a weighted mean of its parents.

    The states of each variable cut 0 … 1 into equal parts, in their order. The variable is a normal truncated to 0 … 1
    whose mean is a function of the parents' midpoints; its states get the mass of their parts.

    .. math:: y \sim \mathrm{TNormal}\left(\frac{\sum_i w_i x_i}{\sum_i w_i}, \sigma^2, 0, 1\right)

    Parameters
    ----------
    weights : mapping of parent to weight, optional
        Weights above 0. Parents may also be given as keywords.
    variance : float
        σ², above 0 and at most a million; .001 is very sure and .1 hardly so.
    function : {"mean", "min", "max", "mixminmax"}
        The weighted mean; the weighted minimum :math:`\min_i (w_i x_i + \sum_{j \ne i} x_j) / (w_i + n - 1)`; the
        maximum likewise; or :math:`(w_{min} \min x + w_{max} \max x) / (w_{min} + w_{max})`, whose two weights are
        given as ``mix``.
    against : set of str, optional
        Parents that draw the other way: 1 − x takes the place of x.
    points : int, default 1
        Points inside the part of each parent's state that are averaged over; 1 is the midpoint.

    References
    ----------
    Fenton, Neil & Caballero (2007), Using ranked nodes to model qualitative judgments in Bayesian networks.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     "skill{low|high}->quality{low|medium|high}<-effort{low|high}",
    ...     tables={"skill": [0.5, 0.5], "effort": [0.5, 0.5], "quality": Ranked(variance=0.05, skill=2, effort=1)},
    ... )
    >>> net["quality"]["high", "low"].round(3)
    array([0.132, 0.533, 0.335])
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        /,
        variance: float = 0.01,
        function: Function = "mean",
        mix: tuple[float, float] = (1.0, 1.0),
        against: Any = (),
        points: int = 1,
        **more: float,
    ) -> None:
        if function not in ("mean", "min", "max", "mixminmax"):
            raise NetworkError(f"Ranked: function must be 'mean', 'min', 'max' or 'mixminmax'; got {function!r}.")
        if not is_number(variance) or not 0 < variance <= MOST_VARIANCE:
            raise NetworkError(f"Ranked: variance must be above 0 and at most {MOST_VARIANCE:g}; got {variance!r}.")
        if not is_number(points) or points < 1 or points != int(points):
            raise NetworkError(f"Ranked: points must be a whole number of at least 1; got {points!r}.")
        self.weights: dict[str, float] = both("Ranked", weights, more)
        pair = tuple(mix) if np.shape(mix) == (2,) else (None,)
        if not all(is_number(w) and w > 0 for w in [*self.weights.values(), *pair]):
            raise NetworkError(
                f"Ranked: weights must be numbers above 0, and mix two of them; got {self.weights!r} and mix {mix!r}."
            )
        self.variance, self.function, self.mix, self.points = float(variance), function, mix, points
        self.against = frozenset([against] if isinstance(against, str) else against)

    def __repr__(self) -> str:
        shown = [("variance", self.variance), ("function", self.function), *self.weights.items()]
        return f"Ranked({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def bound(self, family: Family) -> Distribution:
        """Return the full table for a family."""
        weights = np.array([float(w) for w in family.match("Ranked", self.weights)])
        strange = self.against - set(family.parents)
        if strange:
            raise NetworkError(f"Ranked of {family.name!r}: against names {sorted(strange)[0]!r}, which is no parent.")
        check_size(family.name, family.shape)
        grids = [
            self._grid(len(states), name in self.against)
            for name, states in zip(family.parents, family.parent_states, strict=True)
        ]
        n = len(family.states)
        total = np.zeros((*(len(grid) for grid in grids), n))
        combinations = list(product(range(self.points), repeat=len(grids)))
        for chosen in combinations:
            axes = np.meshgrid(*(grid[:, k] for grid, k in zip(grids, chosen, strict=True)), indexing="ij")
            total += self._masses(self._mean(np.stack(axes, axis=-1), weights) if axes else np.array(0.5), n)
        table = total / len(combinations)
        return TableCPD(table / table.sum(axis=-1, keepdims=True))

    def _grid(self, n_states: int, turned: bool) -> Table:
        """Return the points of each state, (n_states, points)."""
        inside = (np.arange(self.points) + 0.5) / self.points
        grid = (np.arange(n_states)[:, None] + inside) / n_states
        return 1.0 - grid if turned else grid

    def _mean(self, x: Table, w: Table) -> Table:
        if self.function == "mean":
            share = w / w.max()  # sums of very large or very small weights leave the floats
            return np.asarray((x * share).sum(axis=-1) / share.sum())
        if self.function == "mixminmax":
            low, high = (each / max(self.mix) for each in self.mix)
            return np.asarray((low * x.min(axis=-1) + high * x.max(axis=-1)) / (low + high))
        others = x.sum(axis=-1, keepdims=True) - x
        each = (w * x + others) / (w + len(w) - 1)
        return np.asarray(each.min(axis=-1) if self.function == "min" else each.max(axis=-1))

    def _masses(self, mean: Table, n: int) -> Table:
        """Return the mass of n equal parts of 0 … 1 under a truncated normal."""
        from scipy.special import ndtr

        edges = (np.linspace(0.0, 1.0, n + 1) - mean[..., None]) / np.sqrt(self.variance)
        low, high = edges[..., :-1], edges[..., 1:]
        # Beyond the mean the upper tail is subtracted from the upper tail, so that small masses keep their digits.
        mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))
