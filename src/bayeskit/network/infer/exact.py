"""The exact engine: a junction tree compiled once, or a network shrunk for one question, whichever costs less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import InferenceEngine, InferencePlan
from bayeskit.errors import TooLargeError
from bayeskit.network.infer.conflict import refuse_impossible
from bayeskit.network.infer.evidence import Evidence

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# The search for a good tree ends after this many tries or this much work (about a nanosecond a unit, so at most about
# a second); easy networks end long before. The seed is fixed: the same network gives the same tree.
SEARCH_TRIES = 2000
SEARCH_WORK = 500_000_000
SEARCH_SEED = 0
# Tables of at most this many bytes are allowed unless the caller says otherwise.
MEMORY_LIMIT = 4 << 30
# A tree of at most this many cells answers about one variable faster than a shrunk network can be planned for it, and
# compiling it is paid back after about this many questions.
SMALL_TREE = 30_000
QUESTIONS_TO_COMPILE = 100
# Plans kept for evidence on the same variables.
KEPT_PLANS = 32


@dataclass(frozen=True)
class TreeSize:
    """How large the tables of an exact answer are.

    Attributes
    ----------
    cells, n_bytes : float
        Of all cliques together.
    largest_clique : tuple of str
        The variables of the largest one.
    largest_cells : float
        Its cells.
    """

    cells: float
    largest_clique: tuple[str, ...]
    largest_cells: float

    @property
    def n_bytes(self) -> float:
        """Eight bytes a cell."""
        return 8.0 * self.cells

    def __repr__(self) -> str:
        return (
            f"{self.cells:.6g} cells ({_bytes(self.n_bytes)}); the largest clique has {self.largest_cells:.6g} cells "
            f"over {len(self.largest_clique)} variables"
        )


class ExactEngine:
    """Exact answers for one network; plans are kept for questions of the same shape."""

    def __init__(self, net: BayesianNetwork) -> None:
        self.net = net
        # Rows that miss 1 by the tolerance of `BayesianNetwork` are divided by their sum, so that leaving out what
        # cannot matter leaves the answer as it is.
        self._tables = [np.ascontiguousarray(t / t.sum(axis=-1, keepdims=True)) for t in net.tables]
        self.native = InferenceEngine(list(net.cards), [list(p) for p in net.parents], self._tables)
        self.offsets = [0, *accumulate(net.cards)]  # variable v owns the cells offsets[v] to offsets[v + 1]
        self._lock = Lock()
        self._compiled = False
        self._asked = 0
        self._cells = sum(table.size for table in self._tables)  # no tree is smaller
        self._plans: dict[tuple[object, ...], InferencePlan] = {}

    def compile(self) -> InferenceEngine:
        """Search a junction tree for the whole network, once."""
        with self._lock:
            if not self._compiled:
                self.native.compile(SEARCH_TRIES, SEARCH_WORK, SEARCH_SEED)
                self._compiled = True
        return self.native

    def marginals(self, evidence: Evidence, memory_limit: float = MEMORY_LIMIT) -> tuple[NDArray[np.float64], float]:
        """Return the marginals of all variables, one after another, and log P(evidence)."""
        hard, states, soft, likelihoods = evidence.arguments()
        native = self.native if self._compiled else self.compile()
        # A small tree is never sliced, so its plan is the same for all evidence.
        key = ("all", () if native.entries <= SMALL_TREE else tuple(hard))
        plan = self._plan(key, lambda: native.marginals(hard), memory_limit)
        values, log = plan.marginals(hard, states, soft, likelihoods)
        if values is None:
            refuse_impossible(self, evidence)
        return values, log

    def single(self, v: int, evidence: Evidence, memory_limit: float = MEMORY_LIMIT) -> NDArray[np.float64]:
        """Return the marginal of one variable."""
        self._asked += 1
        pays = self._compiled or (self._asked > QUESTIONS_TO_COMPILE and self._cells <= SMALL_TREE)
        if pays and self.compile().entries <= SMALL_TREE:
            values, _ = self.marginals(evidence, memory_limit)
            return np.asarray(values[self.offsets[v] : self.offsets[v + 1]])
        if v in evidence.states:
            self.log_evidence(evidence, memory_limit)  # refuses what cannot be
            return np.asarray(np.eye(self.net.cards[v])[evidence.states[v]])
        return self.joint([v], evidence, memory_limit)[0]

    def joint(
        self, targets: list[int], evidence: Evidence, memory_limit: float = MEMORY_LIMIT, *, with_evidence: bool = False
    ) -> tuple[NDArray[np.float64], float]:
        """Return the joint table of unobserved variables, flat, and log P(evidence) if asked for."""
        hard, states, soft, likelihoods = evidence.arguments()
        key = ("joint", tuple(targets), tuple(hard), tuple(soft), with_evidence)
        plan = self._plan(key, lambda: self.native.joint(targets, hard, soft, with_evidence), memory_limit)
        values, log = plan.joint(hard, states, soft, likelihoods)
        if values is None:
            refuse_impossible(self, evidence)
        return values, log

    def log_evidence(self, evidence: Evidence, memory_limit: float = MEMORY_LIMIT) -> float:
        """Return log P(evidence); refuse evidence that cannot be."""
        return self.joint([], evidence, memory_limit, with_evidence=True)[1]

    def is_possible(self, evidence: Evidence) -> bool:
        """Say whether evidence has a probability above 0."""
        hard, states, soft, likelihoods = evidence.arguments()
        return self.native.joint([], hard, soft, True).joint(hard, states, soft, likelihoods)[0] is not None

    def maximum(
        self, sought: list[int], evidence: Evidence, memory_limit: float = MEMORY_LIMIT
    ) -> tuple[list[int], float]:
        """Return the most probable states of some variables, all others summed out, and log P(states, evidence)."""
        hard, states, soft, likelihoods = evidence.arguments()
        key = ("maximum", tuple(sought), tuple(hard), tuple(soft))
        plan = self._plan(key, lambda: self.native.maximum(sought, hard, soft), memory_limit)
        best, log = plan.maximum(hard, states, soft, likelihoods)
        if best is None:
            refuse_impossible(self, evidence)
        return best, log

    def _plan(self, key: tuple[object, ...], make: Callable[[], InferencePlan], memory_limit: float) -> InferencePlan:
        plan = self._plans.get(key)
        if plan is None:
            plan = make()
            with self._lock:
                if len(self._plans) >= KEPT_PLANS:
                    self._plans.pop(next(iter(self._plans)))
                self._plans[key] = plan
        self.refuse_large(plan, memory_limit)
        return plan

    def refuse_large(self, plan: InferencePlan, memory_limit: float) -> None:
        """Refuse a plan whose tables do not fit, before any of them is made."""
        if 8.0 * plan.entries <= memory_limit:
            return
        size = self.size_of(plan)
        names = size.largest_clique
        shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        raise TooLargeError(
            f"the exact answer needs tables of {_bytes(size.n_bytes)}, over the limit of {_bytes(memory_limit)}; the "
            f"largest clique has {size.largest_cells:.3g} cells over {len(names)} variables: {shown}. Pass "
            "a larger memory_limit, or ask for single variables by posterior(…, method='weighting') or method='auto'."
        )

    def size_of(self, plan: InferencePlan) -> TreeSize:
        """Return the size of a plan's tables."""
        return TreeSize(plan.entries, tuple(self.net.names[v] for v in plan.largest_vars), plan.largest)


def _bytes(n: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024:
            return f"{n:.3g} {unit}"
        n /= 1024
    return f"{n:.3g} PiB"
