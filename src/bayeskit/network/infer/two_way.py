"""Two-way sensitivity: the probability of a state as a function of two numbers of the tables, exact."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.errors import ImpossibleEvidenceError, NetworkError
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Floats = NDArray[np.float64]
# Where the two numbers are tried: between these corners everything is a mean of what is there, and nothing cancels.
_CORNERS = (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class TwoWay(Result):
    r"""P(state | evidence) as a function of two numbers x and y of the tables.

    .. math:: P(t \mid e) = \frac{\bar x \bar y\, a_{00} + \bar x y\, a_{01} + x \bar y\, a_{10} + x y\, a_{11}}
              {\bar x \bar y\, b_{00} + \bar x y\, b_{01} + x \bar y\, b_{10} + x y\, b_{11}},
              \qquad \bar x = 1 - x

    Attributes
    ----------
    variable, state : str
        What the probability is of.
    names : tuple of two str
        The numbers, as ``P(xray=yes | lung=no)``.
    values : tuple of two float
        Their values in the tables.
    numerator, denominator : float64 arrays of shape (2, 2)
        a and b, both up to one factor: P(state, evidence) and P(evidence) where x = i and y = j.
    """

    variable: str
    state: str
    names: tuple[str, str]
    values: tuple[float, float]
    numerator: Floats
    denominator: Floats

    def probability_at(self, x: Any, y: Any) -> Any:
        """Return the probability for values of the two numbers; arrays give arrays."""
        one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if not ((one >= 0) & (one <= 1)).all() or not ((two >= 0) & (two <= 1)).all():
            raise NetworkError("the two numbers are probabilities, from 0 to 1.")
        with np.errstate(divide="ignore", invalid="ignore"):
            answer = _bilinear(self.numerator, one, two) / _bilinear(self.denominator, one, two)
        return float(answer) if answer.ndim == 0 else answer

    @property
    def probability(self) -> float:
        """The probability with the numbers as they are."""
        return float(self.probability_at(*self.values))

    def plot(self, ax: Any = None, *, level: float = 0.5, n: int = 101) -> Any:
        """Draw the probability over both numbers, with the line at which it is ``level`` and where the network is."""
        from bayeskit.plot.canvas import new_axes

        ax = new_axes(ax, (5.2, 4.2))
        grid = np.linspace(0.0, 1.0, n)
        shown = self.probability_at(grid[:, None], grid[None, :]).T
        image = ax.pcolormesh(grid, grid, shown, cmap="viridis", vmin=0.0, vmax=1.0, shading="gouraud")
        if np.nanmin(shown) < level < np.nanmax(shown):
            ax.contour(grid, grid, shown, levels=[level], colors="white")
        ax.plot(*self.values, marker="o", color="#D55E00", markeredgecolor="white")
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        ax.figure.colorbar(image, ax=ax, label=f"P({self.variable}={self.state})")
        return ax

    def __repr__(self) -> str:
        now = ", ".join(f"{name} = {value:.4g}" for name, value in zip(self.names, self.values, strict=True))
        ends = [float(self.probability_at(x, y)) for x in (0, 1) for y in (0, 1)]
        corners = ", ".join(f"{p:.4g}" for p in ends)
        what = f"P({self.variable}={self.state}) = {self.probability:.6g} at {now}"
        return f"{what}; at (0, 0), (0, 1), (1, 0), (1, 1): {corners}"


class TwoWayQueries:
    """Sensitivity to two numbers at once."""

    def two_way_sensitivity(
        self,
        target: str,
        first: tuple[Any, ...],
        second: tuple[Any, ...],
        *,
        given: Mapping[str, Any] | None = None,
        state: str | None = None,
        max_memory: Memory = MAX_MEMORY,
    ) -> TwoWay:
        """Return the probability of a state as a function of two numbers of the tables, exact.

        The other numbers of a row keep their proportions. The answer takes four questions, whatever is asked of it.

        Parameters
        ----------
        target : str
            The variable.
        first, second : tuple (variable, state) or (variable, state, {parent: state})
            The two numbers: P(variable = state | parents).
        given : mapping, optional
            Evidence.
        state : str, optional
            The state of the target; by default the most probable one.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("ill->test", tables={"ill": [0.99, 0.01], "test": [[0.95, 0.05], [0.1, 0.9]]})
        >>> both = net.two_way_sensitivity(
        ...     "ill", ("ill", "yes"), ("test", "yes", {"ill": "no"}), given={"test": "yes"}, state="yes"
        ... )
        >>> round(both.probability, 4), round(both.probability_at(0.1, 0.02), 4)
        (0.1538, 0.8333)
        """
        net = cast("BayesianNetwork", self)
        numbers = [_read(net, number) for number in (first, second)]
        if numbers[0][:2] == numbers[1][:2]:
            raise NetworkError("the two numbers are in one row of a table, so one decides about the other.")
        wanted = net.posterior(target, given=given, max_memory=max_memory)
        shown = wanted.best if state is None else state
        place = net.state(target, shown)
        joints = np.zeros((2, 2, len(wanted.states)))
        logs = np.full((2, 2), -np.inf)
        for i, x in enumerate(_CORNERS):
            for j, y in enumerate(_CORNERS):
                corner = _changed(_changed(net, numbers[0], x), numbers[1], y)
                # Evidence that is impossible in a corner has probability 0 there.
                with suppress(ImpossibleEvidenceError):
                    answer = corner.posterior(target, given=given, max_memory=max_memory)
                    joints[i, j], logs[i, j] = answer.array, answer.log_evidence if given else 0.0
        joints *= np.exp(logs - logs.max())[..., None]
        names = cast(Any, tuple(_shown(net, number) for number in numbers))
        values = cast(Any, tuple(float(net.tables[i][(*row, k)]) for i, row, k in numbers))
        return TwoWay(target, str(shown), names, values, joints[..., place], joints.sum(axis=-1))


Number = tuple[int, tuple[int, ...], int]


def _read(net: BayesianNetwork, number: Any) -> Number:
    """Return the variable, the row and the place of a number in its table."""
    if not isinstance(number, tuple) or len(number) not in (2, 3):
        raise NetworkError(f"a number is (variable, state) or (variable, state, {{parent: state}}); got {number!r}.")
    i = net.index(number[0])
    above = [net.names[p] for p in net.parents[i]]
    row = dict(number[2]) if len(number) == 3 else {}
    if set(row) != set(above):
        raise NetworkError(
            f"the number of {number[0]!r} needs a state for each of its parents, {above}; got {sorted(row)}."
        )
    return i, tuple(net.state(name, row[name]) for name in above), net.state(number[0], number[1])


def _shown(net: BayesianNetwork, number: Number) -> str:
    i, row, k = number
    given = ", ".join(f"{net.names[p]}={net.states[p][s]}" for p, s in zip(net.parents[i], row, strict=True))
    return f"P({net.names[i]}={net.states[i][k]}{' | ' + given if given else ''})"


def _changed(net: BayesianNetwork, number: Number, value: float) -> BayesianNetwork:
    """Return the network with another value of a number; the rest of its row keeps its proportions."""
    i, row, k = number
    table = net.tables[i].copy()
    rest = 1.0 - table[(*row, k)]
    if rest > 0:
        table[row] *= (1.0 - value) / rest
    else:  # nothing to keep the proportions of
        table[row] = (1.0 - value) / max(table.shape[-1] - 1, 1)
    table[(*row, k)] = value
    return net.with_table(net.names[i], table, normalize=True)


def _bilinear(c: Floats, x: Floats, y: Floats) -> Floats:
    below, above = 1.0 - x, 1.0 - y
    return np.asarray(below * above * c[0, 0] + below * y * c[0, 1] + x * above * c[1, 0] + x * y * c[1, 1])
