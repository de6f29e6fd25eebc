"""A chain of a given length as a Bayesian network, for exact questions and drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.learn.parameters import require_whole
from bayeskit.network.states import UNSEEN_STATE, state_names
from bayeskit.sequence.beliefs import ChainBeliefs
from bayeskit.table.schema import Schema, Variable

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


def chain_network(chain: ChainBeliefs, states: NDArray[Any], target: str, length: int) -> BayesianNetwork:
    """Return the network with ``target[t]`` and ``column[t]`` for each of ``length`` rows."""
    from bayeskit.network import BayesianNetwork

    require_whole("length", length)
    numeric = [variable.name for variable in chain.schema if variable.is_numeric]
    if numeric:
        raise NetworkError(f"column {numeric[0]!r} has a density; a network has tables; fit with numeric='frequency'.")
    names: list[str] = []
    values: list[tuple[str, ...]] = []
    parents: list[list[int]] = []
    tables: list[NDArray[np.float64]] = []
    variables: list[Variable] = []
    cells = [
        (variable, np.exp(parameters[:-1]).T)  # (n_states, n_values + 1): the last is what was not seen
        for variable, parameters in zip(chain.schema, chain.cells.parameters, strict=True)
        if variable.is_discrete and variable.n_values
    ]
    before = -1
    for t in range(length):
        state = Variable(f"{target}[{t}]", "categorical", tuple(states.tolist()), declared=True)
        here = len(names)
        names.append(state.name)
        values.append(state_names(state))
        parents.append([] if t == 0 else [before])
        tables.append(np.exp(chain.log_start if t == 0 else chain.log_step))
        variables.append(state)
        for variable, table in cells:
            known = state_names(variable)
            smooth = bool(table[0, : len(known)].sum() < 1.0 - 1e-9)  # a share is kept for what was not seen
            names.append(f"{variable.name}[{t}]")
            values.append((*known, UNSEEN_STATE) if smooth else known)
            parents.append([here])
            tables.append(np.ascontiguousarray(table if smooth else table[:, : len(known)]))
            variables.append(Variable(names[-1], variable.kind, variable.values, variable.edges, variable.declared))
        before = here
    return BayesianNetwork.from_tables(names, values, parents, tables, schema=Schema(tuple(variables)))
