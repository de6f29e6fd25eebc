"""Independence by the tables: P(x, y | z) = P(x | z) P(y | z) for all states of positive probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeskit.network import dag
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


@dataclass(frozen=True)
class Independence(Result):
    """Whether two sets of variables are independent given a third; the largest difference is the reason.

    It is true or false in an ``if``.

    Attributes
    ----------
    independent : bool
        Whether they are independent.
    difference : float
        The largest ``abs(P(x, y | z) - P(x | z) P(y | z))`` over all states with P(z) > 0.
    reason : str
        One sentence that says where it is.
    """

    independent: bool
    difference: float
    reason: str

    def __bool__(self) -> bool:
        return self.independent

    def __repr__(self) -> str:
        return self.reason


def independence(net: BayesianNetwork, left: list[int], right: list[int], known: list[int], tol: float) -> Independence:
    """Compare the joint table of two sets given a third with the product of its margins."""
    if dag.open_trail(net.parents, left, right, known) is None:
        return Independence(True, 0.0, "independent: the graph alone d-separates them.")
    kept = _needed(net, [*left, *right], known)
    names = [net.names[i] for i in (*left, *right, *kept)]
    sizes = [int(np.prod([net.cards[i] for i in side], dtype=np.int64)) for side in (left, right, kept)]
    joint = net.joint(names).array.reshape(sizes)  # (x, y, z)
    evidence = joint.sum(axis=(0, 1))
    given = joint[:, :, evidence > 0] / evidence[evidence > 0]
    product = given.sum(axis=1)[:, None, :] * given.sum(axis=0)[None, :, :]
    difference = abs(given - product)
    worst = float(difference.max(initial=0.0))
    if worst <= tol:
        reason = f"independent: P(x, y | z) and P(x | z) P(y | z) differ by {worst:.2g} at the most."
        return Independence(True, worst, reason)
    # Rounded, so that ties are settled by order and not by the last bit.
    x, y, z = np.unravel_index(int(difference.round(12).argmax()), difference.shape)
    place = int(np.flatnonzero(evidence > 0)[z])
    states = [_states(net, side, int(k)) for side, k in ((left, x), (right, y), (kept, place))]
    bar = f" | {states[2]}" if states[2] else ""
    reason = (
        f"not independent: P({states[0]}, {states[1]}{bar}) = {given[x, y, z]:.6g}, but "
        f"P({states[0]}{bar}) P({states[1]}{bar}) = {product[x, y, z]:.6g}."
    )
    return Independence(False, worst, reason)


def _needed(net: BayesianNetwork, asked: list[int], known: list[int]) -> list[int]:
    """Leave out given variables that the graph separates from the queried ones: they change nothing."""
    kept = list(known)
    for z in known:
        rest = [other for other in kept if other != z]
        if dag.open_trail(net.parents, asked, [z], rest) is None:
            kept = rest
    return kept


def _states(net: BayesianNetwork, places: list[int], k: int) -> str:
    states = np.unravel_index(k, [net.cards[i] for i in places]) if places else ()
    return ", ".join(f"{net.names[i]}={net.states[i][int(s)]}" for i, s in zip(places, states, strict=True))
