"""K2: parents are added to each variable from those before it in an ordering, the best first, while it helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import LEAST_GAIN
from bayeskit.network.learn.constraints import Constraints, read_ordering
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask
from bayeskit.result import Result


@dataclass(frozen=True)
class ParentChoice(Result):
    """A step of K2: a variable, the parents that it took one by one, and its score without any and after each."""

    variable: str
    parents: tuple[str, ...]
    scores: tuple[float, ...]

    def __repr__(self) -> str:
        taken = "".join(f", with {p} {s:.6g}" for p, s in zip(self.parents, self.scores[1:], strict=True))
        return f"{self.variable}: alone {self.scores[0]:.6g}{taken}"


@dataclass(frozen=True)
class K2(SearchMethod):
    """K2: parents come before their children in an ordering, and are added one by one while it helps.

    Parameters
    ----------
    ordering : list of all columns
        Causes before effects.

    References
    ----------
    Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks, Machine Learning 9.
    """

    name = "k2"
    default_score = "k2"

    ordering: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.ordering, str):
            raise NetworkError(f"ordering of K2 must be a list of all columns; got {self.ordering!r}.")
        if self.ordering is not None:
            object.__setattr__(self, "ordering", tuple(self.ordering))

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the required arcs; refuse an ordering that does not name every column once."""
        read_ordering(self.ordering, names)
        return super().begin(names, limits)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the graph that K2 finds; Ctrl-C ends it, and the variables that were done keep their parents."""
        scores, limits, ordering = task.families, task.limits, read_ordering(self.ordering, task.rows.names)
        n = len(ordering)
        arcs = limits.required.copy()
        before = np.zeros(n, dtype=bool)
        local = np.array([scores.local(j, np.flatnonzero(arcs[:, j]).tolist()) for j in range(n)])
        path, reason, converged = [float(local.sum())], "each variable has its parents", True
        kept: list[ParentChoice | None] = [None]
        try:
            for step, j in enumerate(ordering, 1):
                taken, gained = [], [float(local[j])]
                while arcs[:, j].sum() < limits.max_parents:
                    wanted = before & limits.allowed[:, j] & ~arcs[:, j]
                    if not wanted.any():
                        break
                    with_one_more = scores.toggles(j, np.flatnonzero(arcs[:, j]).tolist(), wanted)
                    best = int(np.where(wanted, with_one_more, -np.inf).argmax())
                    if not with_one_more[best] > local[j] + LEAST_GAIN:
                        break
                    arcs[best, j] = True
                    local[j] = with_one_more[best]
                    taken.append(task.rows.names[best])
                    gained.append(float(local[j]))
                before[j] = True
                path.append(float(local.sum()))
                kept.append(ParentChoice(task.rows.names[j], tuple(taken), tuple(gained)))
                task.report(step, path[-1], arcs)
        except KeyboardInterrupt:
            reason, converged = "interrupted; the best network so far is kept", False
        return SearchResult(arcs, History(self.name, tuple(path), reason, converged, (), tuple(kept)))
