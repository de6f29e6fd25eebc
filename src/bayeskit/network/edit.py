"""Edited copies of a network: another table, arc, variable or name; unchanged tables are shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.cpd.given_table import read_cpd_table, states_of
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.cpd.table import TableCPD, check_size, check_table, default_table
from bayeskit.network.infer.evidence import distribution
from bayeskit.network.states import schema_of
from bayeskit.table.schema import Schema, Variable

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


class Editing:
    """The changes of a network; each returns a new one, and the tables that stay are the same arrays."""

    def with_table(self, name: str, table: Any, *, normalize: bool = False) -> BayesianNetwork:
        """Return the network with another table for a variable.

        Parameters
        ----------
        name : str
            The variable.
        table : array, dict, frame or distribution
            As in the constructor; parents and states stay.
        normalize : bool, default False
            Divide each row by its sum.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet").with_table("wet", {"no": [1, 0], "yes": [0.1, 0.9]})
        >>> net["wet"]
        rain  no   yes
        no    1    0
        yes   0.1  0.9
        """
        net = cast("BayesianNetwork", self)
        return _with_cpd(net, net.index(name), net.parents[net.index(name)], table, normalize)

    def with_arc(self, parent: str, child: str, table: Any = None) -> BayesianNetwork:
        """Return the network with one more arc; the parent comes after the child's other parents.

        Without a table the child does not depend on the new parent yet: its rows are repeated for each of its states,
        and a real variable has the slope 0.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> BayesianNetwork("a->b; c").with_arc("c", "b")["b"]
        a    c    no   yes
        no   no   0.5  0.5
        no   yes  0.5  0.5
        yes  no   0.5  0.5
        yes  yes  0.5  0.5
        """
        net = cast("BayesianNetwork", self)
        p, i = net.index(parent), net.index(child)
        if p in net.parents[i]:
            raise NetworkError(f"the arc {parent}->{child} is there already.")
        above = (*net.parents[i], p)
        check_size(child, tuple(net.cards[v] for v in (*above, i)))
        cpd = net.cpds[i]
        if table is None and isinstance(cpd, GaussianCPD | LinkCPD):
            table = cpd.with_parent(net.cards[p])
        elif table is None and net.cards[p]:
            rows = cpd.values
            table = np.broadcast_to(rows[..., None, :], (*rows.shape[:-1], net.cards[p], net.cards[i]))
        return _with_cpd(net, i, above, table, False)

    def without_arc(self, parent: str, child: str, table: Any = None) -> BayesianNetwork:
        r"""Return the network without an arc.

        Without a table the parent is averaged out of the child's, each of its states by its probability given the
        other parents, :math:`P(x \mid u) = \sum_p P(x \mid u, p)\,P(p \mid u)`: of all networks with the new graph
        this one is nearest in the sense of Kullback and Leibler. Where real variables are among them, the distribution
        that is left is to be given.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[1, 0], [0.5, 0.5]]})
        >>> net.without_arc("rain", "wet")["wet"]
        no   yes
        0.9  0.1
        """
        net = cast("BayesianNetwork", self)
        p, i = net.index(parent), net.index(child)
        if p not in net.parents[i]:
            raise NetworkError(f"there is no arc {parent}->{child}; the parents of {child!r} are {_listed(net, i)}.")
        above = tuple(v for v in net.parents[i] if v != p)
        if table is None and not all(net.cards[v] for v in (i, *net.parents[i])):
            raise NetworkError(
                f"the family of {child!r} has real variables, so {parent!r} cannot be averaged out of it: give the "
                "distribution that is left, table=…."
            )
        if table is None:
            table = _averaged(net, i, p)
        return _with_cpd(net, i, above, table, False)

    def with_variable(
        self, name: str, states: Sequence[Any] | None = None, *, parents: Sequence[str] = (), table: Any = None
    ) -> BayesianNetwork:
        """Return the network with one more variable; without a table its rows are uniform.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain").with_variable("umbrella", parents=["rain"], table=[[0.9, 0.1], [0.2, 0.8]])
        >>> net.arcs
        (('rain', 'umbrella'),)
        """
        net = cast("BayesianNetwork", self)
        if name in net:
            raise NetworkError(f"the network has a variable {name!r} already.")
        above = [parents] if isinstance(parents, str) else list(parents)
        named = states_of(None if states is None else [str(state) for state in states], table, above)
        names, all_states = (*net.names, name), (*net.states, tuple(named))
        places = (*net.parents, tuple(net.index(parent) for parent in above))
        if table is None:
            table = default_table(name, tuple(len(all_states[v]) for v in (*places[-1], len(net.names))), None)
        table = read_cpd_table(name, above, dict(zip(names, all_states, strict=True)), table)
        cpd = check_table(names, all_states, places, len(net.names), table, False)
        column = schema_of((name,), (named,)) if named else (Variable(name, "gaussian", numeric=True),)
        schema = Schema((*net.schema, *column), net.schema.named)
        return net._like(names, all_states, places, (*net.cpds, cpd), schema, net.target)

    def without_variable(self, name: str) -> BayesianNetwork:
        """Return the network without a variable; its arcs to children are averaged out first, as by `without_arc`.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[1, 0], [0.5, 0.5]]})
        >>> net.without_variable("rain")["wet"]
        no   yes
        0.9  0.1
        """
        net = cast("BayesianNetwork", self)
        gone = net.index(name)
        if len(net.names) == 1:
            raise NetworkError(f"{name!r} is the last variable of the network; one must stay.")
        for child in net.children[gone]:
            net = net.without_arc(name, net.names[child])
        kept = [v for v in range(len(net.names)) if v != gone]
        place = {v: k for k, v in enumerate(kept)}
        return net._like(
            [net.names[v] for v in kept],
            [net.states[v] for v in kept],
            [[place[p] for p in net.parents[v]] for v in kept],
            [net.cpds[v] for v in kept],
            Schema(tuple(net.schema[v] for v in kept), net.schema.named),
            None if net.target == name else net.target,
        )

    def do(self, actions: Mapping[str, object] | None = None, /, **more: object) -> BayesianNetwork:
        """Return the network after an intervention: arcs into the variables are cut, and their states are set.

        Parameters
        ----------
        actions : mapping of name to state, or to a distribution
            A distribution is a mapping of state to probability, or one number per state. Names that are words may also
            be given as keywords.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("Storm->Lightning->Thunder", random_tables=0).do(Lightning="yes")
        >>> net.arcs
        (('Lightning', 'Thunder'),)
        >>> net.tables[1]
        array([0., 1.])
        """
        if actions is not None and not isinstance(actions, Mapping):
            raise NetworkError(f"do maps variables to states, as do({{'smoke': 'yes'}}); got {actions!r}.")
        net = cast("BayesianNetwork", self)
        parents, cpds = list(net.parents), list(net.cpds)
        for name, value in {**(actions or {}), **more}.items():
            i = net.index(name)
            parents[i], cpds[i] = (), TableCPD(distribution(net, name, value))
        return net._like(net.names, net.states, parents, cpds, net.schema, net.target)

    def rename(
        self, names: Mapping[str, str] | None = None, *, states: Mapping[str, Mapping[Any, str]] | None = None
    ) -> BayesianNetwork:
        """Return the network with other names for variables, and for states.

        Parameters
        ----------
        names : mapping of old name to new, optional
        states : mapping of (old) variable name to a mapping of old state to new, optional
            The variable's values in tables are then these texts.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("a->b").rename({"a": "rain"}, states={"b": {"no": "dry", "yes": "wet"}})
        >>> net.names, net.states[1]
        (('rain', 'b'), ('dry', 'wet'))
        """
        net = cast("BayesianNetwork", self)
        new_names = list(net.names)
        for old, new in (names or {}).items():
            new_names[net.index(old)] = str(new)
        new_states = [list(named) for named in net.states]
        for name, changes in (states or {}).items():
            i = net.index(name)
            for old, text in changes.items():
                new_states[i][net.state(name, old)] = str(text)
        changed = {net.index(name) for name in states or {}}
        variables = [
            Variable(new, "categorical", tuple(named), declared=True) if i in changed else replace(variable, name=new)
            for i, (variable, new, named) in enumerate(zip(net.schema, new_names, new_states, strict=True))
        ]
        target = None if net.target is None else new_names[net.index(net.target)]
        return net._like(
            new_names, new_states, net.parents, net.cpds, Schema(tuple(variables), net.schema.named), target
        )


def _with_cpd(net: BayesianNetwork, i: int, above: tuple[int, ...], table: Any, normalize: bool) -> BayesianNetwork:
    states = dict(zip(net.names, net.states, strict=True))
    table = read_cpd_table(net.names[i], [net.names[p] for p in above], states, table)
    parents = (*net.parents[:i], above, *net.parents[i + 1 :])
    cpd = check_table(net.names, net.states, parents, i, table, normalize)
    return net._like(net.names, net.states, parents, (*net.cpds[:i], cpd, *net.cpds[i + 1 :]), net.schema, net.target)


def _listed(net: BayesianNetwork, i: int) -> str:
    return ", ".join(repr(net.names[p]) for p in net.parents[i]) or "none"


def _averaged(net: BayesianNetwork, i: int, p: int) -> NDArray[np.float64]:
    """Return Σ_p P(x | u, p) P(p | u); where u cannot occur, the states of p count equally."""
    axis = net.parents[i].index(p)
    weights = net.joint([net.names[v] for v in net.parents[i]]).array  # (parents' states …)
    total = weights.sum(axis=axis, keepdims=True)
    share = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / net.cards[p])
    rows = (net.cpds[i].values * share[..., None]).sum(axis=axis)
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))
