"""Decision-tree tables: rows that are the same in a context are written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bayeskit.errors import ModelFileError, NetworkError
from bayeskit.network.cpd.distribution import Codes, Distribution, Family, Form, Step, Table, probability
from bayeskit.network.cpd.written_form import WrittenForm

Node = tuple[int, tuple[int, ...]]  # the parent that is asked, and the node for each of its states
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class TreeCPD(Form):
    """A tree of questions about parents with a distribution in each leaf.

    Attributes
    ----------
    cards : tuple of int
        The number of states of each parent.
    nodes : tuple of (parent, children)
        Node 0 is the root; a child k ≥ 0 is node k, and −1 − l is leaf l. Without nodes there is one leaf.
    leaves : float64 array of shape (n_leaves, n_states)
    """

    cards: tuple[int, ...]
    nodes: tuple[Node, ...]
    leaves: Table

    kind: ClassVar[str] = "tree"
    title = "tree table"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return (*self.cards, int(self.leaves.shape[1]))

    @property
    def n_parameters(self) -> int:
        """The free numbers of the leaves."""
        return int(self.leaves.shape[0] * (self.leaves.shape[1] - 1))

    def __repr__(self) -> str:
        return f"tree table of {len(self.cards)} parents with {len(self.leaves)} leaves"

    def leaf_of(self, codes: Codes) -> Codes:
        """Return the leaf that each row of the parents' codes falls into."""
        at = np.zeros(len(codes), dtype=np.int64) if self.nodes else np.full(len(codes), -1, dtype=np.int64)
        for k, (parent, children) in enumerate(self.nodes):  # children come after their node
            here = np.flatnonzero(at == k)
            at[here] = np.array(children)[codes[here, parent]]
        return -1 - at

    def rows(self, codes: Codes) -> Table:
        """Return P(own states | parents) for each row of the parents' codes."""
        return np.asarray(self.leaves[self.leaf_of(codes)])

    @cached_property
    def _depths(self) -> list[list[int]]:
        level, levels = [0] if self.nodes else [], []
        while level:
            levels.append(level)
            level = [child for k in level for child in self.nodes[k][1] if child >= 0]
        return levels

    def steps(self, order: Sequence[int] | None = None) -> list[Step] | None:
        """Return the chain: the running state is the place in the tree; each step asks one parent at one depth."""
        asked = [(parent, level) for level in self._depths for parent in sorted({self.nodes[k][0] for k in level})]
        if not self.cards:
            return None
        if not asked:
            return [Step(0, np.repeat(self.leaves[:, None, :], self.cards[0], axis=1))]
        before: list[int] = [0]
        out = []
        for n, (parent, level) in enumerate(asked):
            moving = {k for k in level if self.nodes[k][0] == parent}
            last = n == len(asked) - 1
            after = sorted({c for k in before for c in (self.nodes[k][1] if k in moving else (k,))})
            table = np.zeros((len(before), self.cards[parent], self.shape[-1] if last else len(after)))
            for i, k in enumerate(before):
                for x in range(self.cards[parent]):
                    to = self.nodes[k][1][x] if k in moving else k
                    if last:
                        table[i, x] = self.leaves[-1 - to]
                    else:
                        table[i, x, after.index(to)] = 1.0
            out.append(Step(parent, table))
            before = after
        return out

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return fields and numbers."""
        nodes = [[parent, list(children)] for parent, children in self.nodes]
        return {"shape": list(self.shape), "nodes": nodes}, self.leaves.reshape(-1)

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> TreeCPD:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        nodes, n_leaves = meta.get("nodes"), numbers.size // max(shape[-1], 1)
        if not isinstance(nodes, list) or not n_leaves or n_leaves * shape[-1] != numbers.size:
            raise ModelFileError("a tree table needs nodes and leaves.")
        _check_reached_once(nodes, shape, n_leaves)
        leaves = numbers.reshape(n_leaves, shape[-1])
        if not ((leaves >= 0).all() and (abs(leaves.sum(axis=1) - 1.0) <= TOLERANCE).all()):
            raise ModelFileError("the leaves of a tree table are not distributions.")
        return cls(tuple(shape[:-1]), tuple((n[0], tuple(n[1])) for n in nodes), leaves)


def _check_reached_once(nodes: list[Any], shape: tuple[int, ...], n_leaves: int) -> None:
    """Refuse what is not one tree; then walking it takes no longer than reading it."""
    seen = [child for k, node in enumerate(nodes) for child in _children(k, node, shape, len(nodes), n_leaves)]
    expected = [*range(-n_leaves, 0), *range(1, len(nodes))] if nodes else []
    if sorted(seen) != expected or (not nodes and n_leaves != 1):
        raise ModelFileError("a tree table has nodes or leaves that are not reached once.")


def _children(k: int, node: Any, shape: tuple[int, ...], n_nodes: int, n_leaves: int) -> list[int]:
    """Return the children of a node in a file, if it is one."""
    fits = isinstance(node, list) and len(node) == 2 and isinstance(node[0], int) and isinstance(node[1], list)
    if not fits or not 0 <= node[0] < len(shape) - 1 or len(node[1]) != shape[node[0]]:
        raise ModelFileError(f"node {k} of a tree table is not a parent with one child per state.")
    if not all(isinstance(c, int) and (k < c < n_nodes or -n_leaves <= c < 0) for c in node[1]):
        raise ModelFileError(f"node {k} of a tree table has a child that is not there.")
    return list(node[1])


class TreeTable(WrittenForm):
    """A table in which some parents matter only in some contexts, written as questions.

    Parameters
    ----------
    tree : nested mapping
        A leaf is a distribution: one number per own state, or a mapping of state to number. A question is
        ``{parent: {state: tree, …}}`` with a tree for each state of the parent; ``...`` (Ellipsis) stands for all
        states that are not named.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> tree = TreeTable({"power": {"no": [1, 0], "yes": {"switch": {"no": [1, 0], "yes": [0.1, 0.9]}}}})
    >>> net = BayesianNetwork("power->light<-switch", tables={"power": [0, 1], "switch": [0.5, 0.5], "light": tree})
    >>> net.cpds[1]
    tree table of 2 parents with 3 leaves
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __repr__(self) -> str:
        return f"TreeTable({self.tree!r})"

    def bound(self, family: Family) -> Distribution:
        """Return the distribution for a family."""
        nodes: list[Node] = []
        leaves: list[Table] = []
        # Children are numbered after their node: a list of what is still to be read.
        waiting = [(self.tree, (), None)]  # type: list[tuple[Any, tuple[str, ...], tuple[int, int] | None]]
        slots: dict[tuple[int, int], int] = {}
        for tree, path, slot in waiting:
            question = _question(tree)
            if question is None:
                leaves.append(_leaf(family, tree, path))
                number = -len(leaves)
            else:
                parent, answers = question
                if parent not in family.parents:
                    raise NetworkError(
                        f"TreeTable of {family.name!r} asks for {parent!r}; its parents are "
                        f"{', '.join(family.parents)}."
                    )
                if parent in path:
                    raise NetworkError(f"TreeTable of {family.name!r} asks for {parent!r} twice on one path.")
                p, number = family.parents.index(parent), len(nodes)
                nodes.append((p, ()))
                for x, state in enumerate(family.parent_states[p]):
                    waiting.append((_answer(family, parent, state, answers), (*path, parent), (number, x)))
            if slot is not None:
                slots[slot] = number
        read = [(p, tuple(slots[k, x] for x in range(len(family.parent_states[p])))) for k, (p, _) in enumerate(nodes)]
        return TreeCPD(tuple(map(len, family.parent_states)), tuple(read), np.stack(leaves))


def _question(tree: Any) -> tuple[str, Mapping[Any, Any]] | None:
    if isinstance(tree, Mapping) and len(tree) == 1:
        ((name, answers),) = tree.items()
        if isinstance(answers, Mapping):
            return str(name), answers
    return None


def _answer(family: Family, parent: str, state: str, answers: Mapping[Any, Any]) -> Any:
    for given in answers:
        if given is not Ellipsis:
            family.state(parent, given)  # refuses a state that is not there
    named = {str(given): tree for given, tree in answers.items() if given is not Ellipsis}
    if state in named:
        return named[state]
    if Ellipsis in answers:
        return answers[Ellipsis]
    raise NetworkError(
        f"TreeTable of {family.name!r} has nothing for {parent}={state}; give every state, or ... for the others."
    )


def _leaf(family: Family, given: Any, path: Sequence[str]) -> Table:
    where = f"TreeTable of {family.name!r}{', below ' + ', '.join(path) if path else ''}"
    row = np.zeros(len(family.states))
    if isinstance(given, Mapping):
        for state, p in given.items():
            row[family.state(family.name, state)] = probability(p, f"{where}: {state}")
    elif np.shape(given) == row.shape:
        row[:] = [probability(p, where) for p in given]
    else:
        raise NetworkError(f"{where}: a leaf needs one number for each of {', '.join(family.states)}; got {given!r}.")
    if abs(row.sum() - 1.0) > TOLERANCE:
        raise NetworkError(f"{where}: a leaf sums to {row.sum():g}, not to 1.")
    return np.asarray(row / row.sum())
