"""K2: parents are added to each variable from those before it in an ordering, the best first, while it helps."""

from __future__ import annotations

import numpy as np

from bayeskit.network.learn.climb import LEAST_GAIN
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.hill_climb import Arcs
from bayeskit.network.learn.history import LearningHistory, OnStep
from bayeskit.network.learn.structure_scores import StructureScores


def k2_search(
    scores: StructureScores, limits: Constraints, ordering: list[int], *, on_step: OnStep = None
) -> tuple[Arcs, LearningHistory]:
    """Return the graph that K2 finds; Ctrl-C ends it, and the variables that were done keep their parents.

    References
    ----------
    Cooper & Herskovits (1992), A Bayesian method for the induction of probabilistic networks, Machine Learning 9.
    """
    n = len(ordering)
    arcs = limits.required.copy()
    before = np.zeros(n, dtype=bool)
    local = np.array([scores.local(j, np.flatnonzero(arcs[:, j]).tolist()) for j in range(n)])
    path, reason, converged = [float(local.sum())], "each variable has its parents", True
    try:
        for step, j in enumerate(ordering, 1):
            while arcs[:, j].sum() < limits.max_parents:
                wanted = before & limits.allowed[:, j] & ~arcs[:, j]
                if not wanted.any():
                    break
                found = scores.toggles(j, np.flatnonzero(arcs[:, j]).tolist(), wanted)
                best = int(np.where(wanted, found, -np.inf).argmax())
                if not found[best] > local[j] + LEAST_GAIN:
                    break
                arcs[best, j] = True
                local[j] = found[best]
            before[j] = True
            path.append(float(local.sum()))
            if on_step is not None:
                on_step(step, path[-1], arcs)
    except KeyboardInterrupt:
        reason, converged = "interrupted; the best network so far is kept", False
    return arcs, LearningHistory("k2", tuple(path), reason, converged)
