"""The elimination order of missing parents, and the factors of each sum; the same for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from bayeskit.counts.families import Families


@dataclass(frozen=True)
class Factor:
    """A table of the model, or the result of an earlier sum, that mentions columns which may be missing."""

    # The family's number, or the column that was summed out.
    number: int
    is_message: bool
    # The columns that may be summed out, in the order of elimination.
    members: tuple[int, ...]


@dataclass(frozen=True)
class EliminationStep:
    """The sum over one column where it is missing: what it multiplies, and what the result still depends on."""

    column: int
    factors: tuple[Factor, ...]
    scope: tuple[int, ...]  # in the order of elimination
    level: int  # steps of one level do not need each other

    def message(self) -> Factor:
        """Return the result as a factor of later sums."""
        return Factor(self.column, True, self.scope)


def plan_elimination(families: Families, sizes: Sequence[int]) -> list[EliminationStep]:
    r"""Return the sums over all columns that are parents, for rows in which they are missing.

    A factor is used by the first of its columns that is missing, in the order of elimination; those before it are
    known, so that their values choose a slice. So one plan serves every pattern of missing cells:

    .. math:: m_j(s) = \sum_{x_j} \prod_{f \ni j} f(x_j, s)

    The order is greedy: next comes the column whose sum has the fewest cells.
    """
    parents = {parent for members in families for parent in members[:-1]}
    scopes = [{j for j in members if j in parents} for members in families]
    order = _greedy_order(parents, scopes, sizes)
    rank = {j: i for i, j in enumerate(order)}

    def ranked(members: set[int]) -> tuple[int, ...]:
        return tuple(sorted(members, key=rank.__getitem__))

    factors = [Factor(f, False, ranked(scope)) for f, scope in enumerate(scopes) if scope]
    steps: list[EliminationStep] = []
    levels: dict[int, int] = {}
    for j in order:
        used = tuple(factor for factor in factors if j in factor.members)
        scope = ranked({i for factor in used for i in factor.members if rank[i] > rank[j]})
        levels[j] = 1 + max((levels[factor.number] for factor in used if factor.is_message), default=0)
        steps.append(EliminationStep(j, used, scope, levels[j]))
        if scope:
            factors.append(steps[-1].message())
    return steps


def _greedy_order(columns: set[int], scopes: Sequence[set[int]], sizes: Sequence[int]) -> list[int]:
    near = {j: set().union(*(scope for scope in scopes if j in scope)) - {j} for j in columns}
    order = []
    while near:
        j = min(near, key=lambda i: (prod(sizes[k] for k in (i, *near[i])), i))
        order.append(j)
        around = near.pop(j)
        for i in around:
            near[i] = (near[i] | around) - {i, j}
    return order
