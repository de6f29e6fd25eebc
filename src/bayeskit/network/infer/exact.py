"""The exact engine: a junction tree for the whole network, or a smaller network for one question: the cheaper one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from math import inf, isnan
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import PLANNABLE, SMALL_TREE, InferenceEngine, InferencePlan
from bayeskit.counts.memory import Memory, read_memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.factored import Factored
from bayeskit.network.infer.impossible_evidence import refuse_impossible
from bayeskit.network.infer.tree_size import TreeSize, refuse_large

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# The search for a good tree ends after this many tries or this much work (a few nanoseconds a unit, so at most a few
# seconds); easy networks end long before. The seed is fixed: the same network gives the same tree.
SEARCH_TRIES = 2000
SEARCH_WORK = 500_000_000
SEARCH_SEED = 0
# The search begins when questions have cost as much as it will, in estimated nanoseconds: this much, or a hundred
# nanoseconds for each cell of the first tree. So the total is at most about twice the cost of the better choice.
LEAST_SEARCH = 2e6
SEARCH_PER_CELL = 100.0
_MAX_BYTES = read_memory(MAX_MEMORY)
# A tree of at most SMALL_TREE cells answers about one variable faster than a shrunk network can be planned for it, and
# the first tree is paid back after about this many questions.
QUESTIONS_TO_COMPILE = 3
# Plans kept for evidence on the same variables.
KEPT_PLANS = 32

Ask = Callable[..., tuple[Any, float]]


class ExactEngine:
    """Exact inference for one network; plans are cached for queries of the same shape.

    The first query about all variables uses a tree from one greedy elimination. A better tree is searched when
    queries have cost as much as the search would, or when the first one does not fit the memory. Both give the same
    answers up to rounding.
    """

    def __init__(self, net: BayesianNetwork) -> None:
        self.net = net
        self.factored = Factored.of(net)
        self.native = self.factored.native()
        # Variable v owns the cells offsets[v] to offsets[v + 1]; hidden ones of the engine come after the network's.
        self.offsets = [0, *accumulate(self.factored.cards)]
        self._lock, self._keeping = Lock(), Lock()  # of the tree, and of the plans
        self._first = False  # a tree is there
        self._searched = False  # it is the one of the search
        self._search_pays = inf
        self._spent = 0.0
        self._asked = 0
        self._cells = sum(table.size for table in self.factored.tables)  # no tree is smaller
        self._plans: dict[tuple[object, ...], InferencePlan] = {}

    @property
    def n_cells(self) -> int:
        """The states of all variables of the network."""
        return self.offsets[len(self.net.names)]

    def compile(self) -> InferenceEngine:
        """Search a junction tree for the whole network, once."""
        with self._lock:
            self._search()
        return self.native

    def is_searched(self) -> bool:
        """Return whether the tree was optimised by a search."""
        return self._searched

    def tree(self, cost: float = 0.0) -> InferenceEngine:
        """Return the engine with a tree for a query of some estimated nanoseconds: an optimised one if that pays."""
        if self._searched:
            return self.native
        if not self._first:
            with self._lock:
                self._take_first()
        self._spent += cost
        # Another thread that searches is not waited for: the first tree serves meanwhile.
        if self._spent >= self._search_pays and self._lock.acquire(blocking=False):
            try:
                self._search()
            finally:
                self._lock.release()
        return self.native

    def _take_first(self) -> None:
        if not self._first:
            self.native.compile_quick()
            cells = self.native.entries
            # A first tree that is too large to plan is not tried.
            self._search_pays = (
                0.0 if cells > PLANNABLE else min(max(LEAST_SEARCH, SEARCH_PER_CELL * cells), SEARCH_WORK)
            )
            self._first = True

    def _search(self) -> None:
        if not self._searched:
            self.native.compile(SEARCH_TRIES, SEARCH_WORK, SEARCH_SEED)
            self._first = self._searched = True
            # Plans of the first tree stay right, but the new ones cost less.
            with self._keeping:
                for key in [key for key in self._plans if key[0] == "all"]:
                    del self._plans[key]

    def marginals(self, evidence: Evidence, limit: float = _MAX_BYTES) -> tuple[NDArray[np.float64], float]:
        """Return the marginals of all variables, one after another, and log P(evidence)."""
        arguments = self.factored.evidence(evidence).arguments()
        native = self.native if self._searched else self.tree()
        # A small tree is never sliced, so its plan is the same for all evidence.
        key = ("all", () if native.entries <= SMALL_TREE else tuple(arguments[0]))
        plan = self._plans.get(key) or self._keep(key, native.marginals(arguments[0]))
        if not self._searched:
            if 8.0 * plan.stored > limit:
                self.compile()
                return self.marginals(evidence, limit)
            self._spent += plan.cost
        if 8.0 * plan.stored > limit:
            refuse_large(self.factored.names, plan, limit)
        values, log = plan.marginals(*arguments)
        if values is None:
            # The evidence is impossible, or beyond doubles: the longer way tells which.
            values, log = self._ask(plan, plan.marginals, evidence, limit)
        return values[: self.n_cells], log

    def single(
        self, v: int, evidence: Evidence, limit: float = _MAX_BYTES
    ) -> tuple[NDArray[np.float64], float | Callable[[], float]]:
        """Return the marginal of one variable, and log P(evidence) or what computes it, where that is more work."""
        self._asked += 1
        pays = self._first or (self._asked > QUESTIONS_TO_COMPILE and self._cells <= SMALL_TREE)
        if pays and self.tree().entries <= SMALL_TREE:
            values, log = self.marginals(evidence, limit)
            return values[self.offsets[v] : self.offsets[v + 1]], log
        if v in evidence.states:
            log = self.log_evidence(evidence, limit)  # refuses impossible evidence
            return np.eye(self.net.cards[v])[evidence.states[v]], log
        return self.joint([v], evidence, limit)[0], partial(self.log_evidence, evidence, limit)

    def joint(
        self, targets: list[int], evidence: Evidence, limit: float = _MAX_BYTES
    ) -> tuple[NDArray[np.float64], float]:
        """Return the joint table of unobserved variables, flat, and the logarithm of a multiple of P(evidence)."""
        plan = self._plan_joint(targets, evidence, limit, with_evidence=False)
        return self._ask(plan, plan.joint, evidence, limit)

    def log_evidence(self, evidence: Evidence, limit: float = _MAX_BYTES) -> float:
        """Return log P(evidence); refuse impossible evidence."""
        plan = self._plan_joint([], evidence, limit, with_evidence=True)
        log: float = self._ask(plan, plan.joint, evidence, limit)[1]
        return log

    def log_probability(self, evidence: Evidence, limit: float = _MAX_BYTES) -> float:
        """Return log P(evidence), minus infinity where it is impossible."""
        plan = self._plan_joint([], evidence, limit, with_evidence=True)
        return self.run(plan, plan.joint, evidence, limit)[1]

    def maximum(self, sought: list[int], evidence: Evidence, limit: float = _MAX_BYTES) -> tuple[list[int], float]:
        """Return the most probable states of some variables, all others summed out, and log P(states, evidence)."""
        hard, _, soft, _ = self.factored.evidence(evidence).arguments()
        key = ("maximum", tuple(sought), tuple(hard), tuple(soft))
        plan = self._plans.get(key) or self._keep(key, self.native.maximum(sought, hard, soft))
        refuse_large(self.factored.names, plan, limit)
        return self._ask(plan, plan.maximum, evidence, limit)

    def run(self, plan: InferencePlan, ask: Ask, evidence: Evidence, limit: float) -> tuple[Any, float]:
        """Run a plan: an answer and log P(evidence), or None and minus infinity for impossible evidence."""
        arguments = self.factored.evidence(evidence).arguments()
        values, log = ask(*arguments)
        if isnan(log):  # the magnitudes are too much for doubles; wide numbers take twice the memory
            refuse_large(self.factored.names, plan, limit, n_bytes=16)
            values, log = ask(*arguments, True)
        return values, log

    def _ask(self, plan: InferencePlan, ask: Ask, evidence: Evidence, limit: float) -> tuple[Any, float]:
        values, log = self.run(plan, ask, evidence, limit)
        if values is None:
            refuse_impossible(self, evidence, limit)
        return values, log

    def _plan_joint(
        self, targets: list[int], evidence: Evidence, limit: float, *, with_evidence: bool
    ) -> InferencePlan:
        hard, _, soft, _ = self.factored.evidence(evidence).arguments()
        key = ("joint", tuple(targets), tuple(hard), tuple(soft), with_evidence)
        plan = self._plans.get(key) or self._keep(key, self.native.joint(targets, hard, soft, with_evidence))
        refuse_large(self.factored.names, plan, limit)
        return plan

    def _keep(self, key: tuple[object, ...], plan: InferencePlan) -> InferencePlan:
        with self._keeping:
            if len(self._plans) >= KEPT_PLANS:
                self._plans.pop(next(iter(self._plans)))
            self._plans[key] = plan
        return plan

    def size_of(self, plan: InferencePlan) -> TreeSize:
        """Return the size of a plan's tables."""
        return TreeSize.of(self.factored.names, plan)


def memory_in_bytes(max_memory: Memory) -> float:
    """Return a limit in bytes."""
    # The default is read once, since a small question takes microseconds.
    return _MAX_BYTES if max_memory is MAX_MEMORY else read_memory(max_memory)
